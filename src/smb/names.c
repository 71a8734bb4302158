/* Path names in CREATE and renames. */
#include "smb/opens.h"

#define NAMES_MAX 256u /* more than a path can have */

/* Replaces each '/' by a backslash, as both separate names. decision: 444 */
static struct bytes with_backslashes(struct arena *arena, struct bytes path)
{
    char *copy;

    if (!memchr(path.ptr, '/', path.len))
        return path;
    copy = arena_bytes(arena, path.len);
    for (size_t i = 0; i < path.len; i++)
        copy[i] = path.ptr[i] == '/' ? '\\' : path.ptr[i];
    return bytes_of(copy, path.len);
}

/* Streams are not supported. ".." is resolved lexically: decision 377. ms-smb2: 3.3.5.9 */
enum nt_status smb_read_names(struct arena *arena, struct bytes path,
                              const struct bytes **ret_names, size_t *ret_count)
{
    struct bytes *names = arena_array(arena, NAMES_MAX, sizeof *names);
    size_t count = 0;

    path = with_backslashes(arena, path);
    if (path.len > 0 && path.ptr[0] == '\\')
        return STATUS_INVALID_PARAMETER;
    if (memchr(path.ptr, ':', path.len))
        return STATUS_OBJECT_NAME_INVALID;
    for (struct bytes rest = path; path.len > 0 && rest.ptr;) {
        struct bytes name;

        bytes_cut(rest, '\\', &name, &rest);
        if (name.len == 0 || count == NAMES_MAX)
            return STATUS_OBJECT_NAME_INVALID;
        if (!bytes_is(name, ".."))
            names[count++] = name;
        else if (count-- == 0)
            return STATUS_OBJECT_PATH_SYNTAX_BAD;
    }
    *ret_names = names;
    *ret_count = count;
    return STATUS_SUCCESS;
}
