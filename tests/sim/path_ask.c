/* See path_ask.h. */
#include "path_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const path_filesystems[1] = { "fsys" };
const char *const path_op_names[PATH_OPS] = {
    [PATH_CREATE_FILESYSTEM] = "Filesystem Create",
    [PATH_CREATE_FILE] = "Path Create (file)",
    [PATH_CREATE_DIRECTORY] = "Path Create (directory)",
    [PATH_PUT] = "Put Blob",
    [PATH_APPEND] = "Path Update (append)",
    [PATH_FLUSH] = "Path Update (flush)",
    [PATH_SET_PROPERTIES] = "Path Update (setProperties)",
    [PATH_SET_READERS] = "Path Update (setAccessControl)",
    [PATH_RENAME] = "Path Create (rename)",
    [PATH_DELETE] = "Path Delete",
    [PATH_READ] = "Path Read",
    [PATH_GET_PROPERTIES] = "Path Get Properties",
    [PATH_GET_ACCESS] = "Path Get Properties (getAccessControl)",
    [PATH_LIST] = "Path List",
};

static const char names[PATH_NAMES + 1] = "abc";

void path_text(unsigned place, char to[PATH_TEXT_SIZE])
{
    char back[PATH_TEXT_SIZE];
    size_t used = 0;

    for (; place > 0; place = path_parent(place)) {
        back[used++] = names[(place - 1) % PATH_NAMES];
        if (path_parent(place) > 0)
            back[used++] = '/';
    }
    for (size_t i = 0; i < used; i++)
        to[i] = back[used - 1 - i];
    to[used] = '\0';
}

unsigned path_place(const char *text, size_t length)
{
    unsigned place = 0;

    for (size_t i = 0; i < length; i += 2) {
        const char *name = memchr(names, text[i], PATH_NAMES);

        if (!name || place >= PATH_DIRECTORIES || (i + 1 < length && text[i + 1] != '/'))
            return PATH_PLACES;
        place = PATH_NAMES * place + 1 + (unsigned)(name - names);
    }
    return place;
}

bool path_is_below(unsigned place, unsigned above)
{
    while (place > above)
        place = path_parent(place);
    return place == above;
}

unsigned path_moved(unsigned place, unsigned from, unsigned to)
{
    unsigned parent;

    if (place == from)
        return to;
    parent = path_moved(path_parent(place), from, to);
    return parent < PATH_DIRECTORIES ? PATH_NAMES * parent + 1 + (place - 1) % PATH_NAMES
                                     : PATH_PLACES;
}

void path_ask_format(const struct path_ask *ask, char *to, size_t size)
{
    static const char *const conditions[] = { "", " If-Match", " If-None-Match:*" };
    char path[PATH_TEXT_SIZE], source[PATH_TEXT_SIZE] = "";

    path_text(ask->place, path);
    if (ask->op == PATH_RENAME)
        path_text(ask->from, source);
    (void)snprintf(to, size,
                   "%s /%s%s%s%s%s %" PRIX64 "%s%s%s value=%u position=%u seed=%" PRIu64
                   " length=%u%s%s max=%u next=%u",
                   path_op_names[ask->op], path, source[0] ? " from /" : "", source,
                   ask->by_blob ? " as blob" : "", conditions[ask->condition], ask->etag,
                   ask->source_etag > 0 ? " with a source condition" : "",
                   ask->is_legacy ? " mode=legacy" : "", ask->is_recursive ? " recursive" : "",
                   ask->value, ask->position, ask->content.seed, ask->content.length,
                   ask->keeps_rest ? " keeps the rest" : "", ask->flushes ? " flushes" : "",
                   ask->max, ask->next);
}
