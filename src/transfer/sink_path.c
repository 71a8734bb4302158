/* Creates files and directories of hierarchical accounts on a server: see sink.h.
 * rest: Path-Create, Path-Update, Set-Blob-Expiry */
#include "transfer/sink.h"

#include <inttypes.h>

#include "base/encode.h"
#include "base/url.h"
#include "base/xml.h"

#define PART_BYTES      ((uint64_t)8 << 20)
#define METADATA        "x-ms-meta-"
#define STATUS_CONFLICT 409

bool sink_has_access(const struct item *item)
{
    for (size_t i = 0; i < item->headers.count; i++) {
        if (item_is_tree_header(item->headers.of[i].name))
            return true;
    }
    return false;
}

/* ---- access control ---- */

static void add_access(struct arena *arena, struct header_list *headers, const struct item *item)
{
    static const char *const names[] = { ITEM_OWNER, ITEM_GROUP, ITEM_ACL };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        sink_header(arena, headers, names[i], item_find_header(item, names[i]));
}

static bool set_access_control(struct worker *worker, struct bytes path, struct header_list headers)
{
    const struct sink_request request = {
        .method = "PATCH",
        .service = ENDPOINT_DFS,
        .path = path,
        .query = bytes_from_string("action=setAccessControl"),
        .headers = headers,
        .body = bytes_of("", 0),
    };

    return sink_ask(worker, &request, NULL);
}

/* Sets the sticky bit of a directory. A request sets either the list or the permissions. */
static bool set_sticky(struct worker *worker, const struct item *item, struct bytes path)
{
    struct bytes permissions = item_find_header(item, ITEM_PERMISSIONS);
    struct header_list headers = { .count = 0 };

    sink_header(worker->arena, &headers, ITEM_PERMISSIONS, permissions);
    return !permissions.ptr || set_access_control(worker, path, headers);
}

static bool set_list(struct worker *worker, const struct item *item, struct bytes path)
{
    struct header_list headers = { .count = 0 };

    add_access(worker->arena, &headers, item);
    return (headers.count == 0 || set_access_control(worker, path, headers)) &&
           set_sticky(worker, item, path);
}

bool sink_set_access(struct worker *worker, const struct item *item, struct bytes path)
{
    struct arena *arena = worker->arena;
    struct bytes expiry = item_find_header(item, ITEM_EXPIRY);
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_BLOB,
                                    .path = path,
                                    .query = bytes_from_string("comp=expiry"),
                                    .body = bytes_of("", 0) };

    sink_header(arena, &request.headers, "x-ms-expiry-option", bytes_from_string("Absolute"));
    sink_header(arena, &request.headers, ITEM_EXPIRY, expiry);
    return set_list(worker, item, path) && (!expiry.ptr || sink_ask(worker, &request, NULL));
}

/* ---- headers of Path Create ---- */

/* Returns the metadata as the value of x-ms-properties; ptr NULL if it has none. */
static struct bytes properties(struct arena *arena, const struct item *item)
{
    struct text text;

    text_init(&text, arena, 64);
    for (size_t i = 0; i < item->headers.count; i++) {
        const struct fetch_header *header = &item->headers.of[i];

        if (!bytes_has_prefix(header->name, bytes_from_string(METADATA)))
            continue;
        if (text.len > 0)
            text_add_char(&text, ',');
        text_add(&text, bytes_from(header->name, sizeof METADATA - 1));
        text_add_char(&text, '=');
        text_add(&text, base64_encode(arena, header->value));
    }
    return text.len > 0 ? text_bytes(&text) : (struct bytes){ NULL, 0 };
}

/* Returns the item's HTTP headers and metadata, as the endpoint names them. */
static struct header_list create_headers(struct arena *arena, const struct item *item)
{
    static const char *const names[][2] = {
        { ITEM_CONTENT_TYPE, "x-ms-content-type" },
        { "x-ms-blob-content-encoding", "x-ms-content-encoding" },
        { "x-ms-blob-content-language", "x-ms-content-language" },
        { "x-ms-blob-cache-control", "x-ms-cache-control" },
        { "x-ms-blob-content-disposition", "x-ms-content-disposition" },
    };
    struct header_list headers = { .count = 0 };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        sink_header(arena, &headers, names[i][1], item_find_header(item, names[i][0]));
    sink_header(arena, &headers, "x-ms-properties", properties(arena, item));
    return headers;
}

/* ---- what Path Create does not set ---- */

/* Sends the tags, "key=value&..", as XML. */
static bool put_tags(struct worker *worker, const struct item *item, struct bytes path)
{
    struct bytes rest = item_find_header(item, "x-ms-tags"), name, value;
    struct arena *arena = worker->arena;
    struct text xml;
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_BLOB,
                                    .path = path,
                                    .query = bytes_from_string("comp=tags") };

    if (!rest.ptr)
        return true;
    text_init(&xml, arena, 256);
    xml_open(&xml, "Tags");
    xml_open(&xml, "TagSet");
    while (url_take_parameter(&rest, &name, &value)) {
        xml_open(&xml, "Tag");
        xml_element(&xml, "Key", percent_decode(arena, name));
        xml_element(&xml, "Value", percent_decode(arena, value));
        xml_close(&xml, "Tag");
    }
    xml_close(&xml, "TagSet");
    xml_close(&xml, "Tags");
    request.body = text_bytes(&xml);
    return sink_ask(worker, &request, NULL);
}

static bool put_tier(struct worker *worker, const struct item *item, struct bytes path)
{
    struct bytes tier = item_find_header(item, "x-ms-access-tier");
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_BLOB,
                                    .path = path,
                                    .query = bytes_from_string("comp=tier"),
                                    .body = bytes_of("", 0) };

    sink_header(worker->arena, &request.headers, "x-ms-access-tier", tier);
    return !tier.ptr || sink_ask(worker, &request, NULL);
}

/* ---- directories ---- */

/* Creates the directory with its list, or changes an existing one. */
static bool make_directory(struct worker *worker, const struct item *item, struct bytes path)
{
    struct arena *arena = worker->arena;
    struct header_list headers = create_headers(arena, item);
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_DFS,
                                    .path = path,
                                    .query = bytes_from_string("resource=directory"),
                                    .headers = headers,
                                    .body = bytes_of("", 0),
                                    .accepted = STATUS_CONFLICT };
    int status;

    add_access(arena, &request.headers, item);
    sink_header(arena, &request.headers, "If-None-Match", bytes_from_string("*"));
    if (!sink_ask(worker, &request, &status))
        return false;
    if (status != STATUS_CONFLICT)
        return set_sticky(worker, item, path);
    request.headers = create_headers(arena, item);
    request.accepted = 0;
    return sink_ask(worker, &request, NULL) && set_list(worker, item, path);
}

bool sink_put_folder(struct worker *worker, const struct item *item)
{
    struct arena *arena = worker->arena;
    struct bytes path = sink_path(arena, item->parent, item->name);

    if (item->name.len == 0)
        return set_list(worker, item, arena_printf(arena, "%.*s/", BYTES_ARG(path)));
    return make_directory(worker, item, path) && put_tags(worker, item, path);
}

/* ---- files ---- */

static bool create(struct sink_state *s, bool is_empty)
{
    struct arena *arena = s->worker->arena;
    struct bytes expiry = item_find_header(s->item, ITEM_EXPIRY);
    struct sink_request request = { .method = "PUT",
                                    .service = ENDPOINT_DFS,
                                    .path = s->path,
                                    .query = bytes_from_string("resource=file"),
                                    .headers = create_headers(arena, s->item),
                                    .body = bytes_of("", 0) };

    add_access(arena, &request.headers, s->item);
    if (expiry.ptr)
        sink_header(arena, &request.headers, "x-ms-expiry-option", bytes_from_string("Absolute"));
    sink_header(arena, &request.headers, ITEM_EXPIRY, expiry);
    sink_header(arena, &request.headers, ITEM_CONTEXT, item_find_header(s->item, ITEM_CONTEXT));
    if (is_empty)
        sink_header(arena, &request.headers, "x-ms-content-md5",
                    item_find_header(s->item, "x-ms-blob-content-md5"));
    return sink_ask(s->worker, &request, NULL);
}

static bool append(struct sink_state *s, uint64_t at, uint64_t length)
{
    struct arena *arena = s->worker->arena;
    struct arena_mark mark = arena_mark(arena);
    struct sink_request request = {
        .method = "PATCH",
        .service = ENDPOINT_DFS,
        .path = s->path,
        .query = arena_printf(arena, "action=append&position=%" PRIu64, at),
    };
    uint8_t digest[MD5_SIZE];
    bool appended = sink_state_read(s, at, length, &request.body);

    if (appended) {
        md5_of(request.body, digest);
        sink_header(arena, &request.headers, "Content-MD5",
                    base64_encode(arena, bytes_of(digest, sizeof digest)));
        appended = sink_ask(s->worker, &request, NULL);
    }
    arena_rewind(arena, mark);
    return appended;
}

static bool flush(struct sink_state *s)
{
    struct arena *arena = s->worker->arena;
    struct sink_request request = {
        .method = "PATCH",
        .service = ENDPOINT_DFS,
        .path = s->path,
        .query = arena_printf(arena, "action=flush&close=true&position=%" PRIu64, s->item->size),
        .body = bytes_of("", 0),
    };

    sink_header(arena, &request.headers, "x-ms-content-md5",
                item_find_header(s->item, "x-ms-blob-content-md5"));
    return sink_ask(s->worker, &request, NULL);
}

bool sink_put_path(struct sink_state *s)
{
    uint64_t size = s->item->size;

    if (!create(s, size == 0))
        return false;
    for (uint64_t at = 0; at < size; at += PART_BYTES) {
        if (!append(s, at, size - at < PART_BYTES ? size - at : PART_BYTES))
            return false;
    }
    return sink_state_check_md5(s) && (size == 0 || flush(s)) &&
           set_sticky(s->worker, s->item, s->path) && put_tags(s->worker, s->item, s->path) &&
           put_tier(s->worker, s->item, s->path);
}
