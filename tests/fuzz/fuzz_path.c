/* Paths of directories and files, and markers of lists of them. A path whose names are allowed is one that
 * the tree takes, with or without its trailing dots; a marker that is understood comes back from the name
 * that it holds. */
#include <stdlib.h>

#include "file/rest/request.h"
#include "fuzz.h"

static void check_path(struct arena *arena, struct bytes text, bool trailing_dots)
{
    struct file_resource named = { .base.level = LEVEL_PATH,
                                   .share = BYTES("share"),
                                   .path = text,
                                   .trailing_dots = trailing_dots };
    struct tree_path path;

    if (text.len == 0 || !bytes_is_utf8(text) || memchr(text.ptr, '\0', text.len) ||
        file_check_names(&named.base) != OK)
        return;
    if (file_path_parse(arena, text, trailing_dots, &path) != OK || path.count == 0 ||
        path.count > TREE_DEPTH_MAX)
        abort();
    for (size_t i = 0; i < path.count; i++) {
        struct bytes name = path.names[i].given;

        if (name.len == 0 || memchr(name.ptr, '/', name.len) ||
            (!trailing_dots && name.ptr[name.len - 1] == '.'))
            abort();
    }
}

static void check_marker(struct arena *arena, struct bytes text)
{
    struct bytes name = file_marker_name(arena, text), again;

    if (!name.ptr)
        return;
    again = file_marker_name(arena, file_marker(arena, name));
    if (!again.ptr || !bytes_equal(again, name))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 28);
    struct bytes text = bytes_of(data, size);

    check_path(arena, text, false);
    check_path(arena, text, true);
    check_marker(arena, text);
    arena_free(arena);
    return 0;
}
