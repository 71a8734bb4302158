/* Names and paths: see path.h. */
#include "tree/path.h"

#include "tree/upcase.h"

struct bytes tree_key(struct arena *arena, enum tree_case rule, struct bytes text)
{
    return rule == TREE_CASE_IGNORED ? upcase_text(arena, text) : text;
}

enum tree_path_fault tree_name_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_name *ret_name)
{
    if (text.len == 0)
        return TREE_NAME_EMPTY;
    if (bytes_is(text, ".") || bytes_is(text, ".."))
        return TREE_NAME_DOTS;
    if (memchr(text.ptr, '\0', text.len))
        return TREE_NAME_HAS_NUL;
    if (!bytes_is_utf8(text))
        return TREE_PATH_NOT_UTF8;
    if (bytes_utf16_exceed(text, TREE_NAME_MAX))
        return TREE_NAME_TOO_LONG;
    *ret_name = (struct tree_name){ text, tree_key(arena, rule, text) };
    return TREE_PATH_OK;
}

static size_t count_names(struct bytes text)
{
    size_t count = 1;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == '/';
    return count;
}

enum tree_path_fault tree_path_parse(struct arena *arena, enum tree_case rule, struct bytes text,
                                     struct tree_path *ret_path)
{
    struct tree_name *names;
    struct bytes rest = text;
    size_t count;

    if (text.len == 0) {
        *ret_path = (struct tree_path){ .count = 0 };
        return TREE_PATH_OK;
    }
    /* Checked before decoding. A code unit takes at most three bytes, so this also limits the
     * bytes. */
    if (text.len > 3 * TREE_PATH_MAX || bytes_utf16_exceed(text, TREE_PATH_MAX))
        return TREE_PATH_TOO_LONG;
    count = count_names(text);
    if (count > TREE_DEPTH_MAX)
        return TREE_PATH_TOO_DEEP;
    names = arena_array(arena, count, sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
        struct bytes name;
        enum tree_path_fault fault;

        bytes_cut(rest, '/', &name, &rest);
        fault = tree_name_parse(arena, rule, name, &names[i]);
        if (fault)
            return fault;
    }
    *ret_path = (struct tree_path){ names, count };
    return TREE_PATH_OK;
}
