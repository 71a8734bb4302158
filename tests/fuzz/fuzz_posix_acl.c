/* POSIX access control lists: the first byte says whether a record, permissions, or entries to set,
 * modify or remove follow. An accepted list is written as text and as a record, and both are read
 * as the same list again. */
#include <stdlib.h>

#include "acl/posix_acl.h"
#include "fuzz.h"

/* Compares a list with another one by their records. */
static bool is_same(struct arena *arena, const struct posix_acl *left,
                    const struct posix_acl *right, bool is_directory)
{
    struct bytes one = posix_acl_encode(arena, left, is_directory);
    struct bytes other = posix_acl_encode(arena, right, is_directory);

    return !one.ptr == !other.ptr && bytes_equal(one, other);
}

static void check_list(struct arena *arena, const struct posix_acl *acl, bool is_directory)
{
    static const struct posix_caller nobody = { .oid = BYTES("nobody") };
    struct bytes record = posix_acl_encode(arena, acl, is_directory);
    struct posix_acl again, child;
    struct posix_entries entries;
    struct posix_creation creation = { .owner = BYTES("owner"), .umask = POSIX_UMASK };

    if (!posix_acl_decode(record, is_directory, &again) ||
        !is_same(arena, acl, &again, is_directory))
        abort();
    if (!posix_entries_parse(posix_entries_text(arena, &acl->entries), POSIX_SET, &entries) ||
        !posix_acl_change(&again, POSIX_SET, &entries, is_directory) ||
        !is_same(arena, acl, &again, is_directory))
        abort();
    posix_acl_set_mode(&again, posix_acl_mode(acl));
    if (!is_same(arena, acl, &again, is_directory))
        abort();
    (void)posix_mode_text(arena, acl);
    (void)posix_acl_permits(acl, &nobody, POSIX_READ);
    for (int i = 0; is_directory && i < 2; i++) {
        posix_acl_inherit(acl, &creation, i == 1, &child);
        if (!posix_acl_decode(posix_acl_encode(arena, &child, i == 1), i == 1, &again) ||
            !is_same(arena, &child, &again, i == 1))
            abort();
    }
}

/* Sets the entries of a new file or directory, or changes those of a list that has some. */
static void change_list(struct arena *arena, struct bytes text, enum posix_change how)
{
    static const struct bytes some = BYTES("user::rwx,user:u:r-x,group::r-x,mask::r-x,other::---");

    for (int i = 0; i < 2; i++) {
        struct posix_entries entries;
        struct posix_acl acl;

        posix_acl_init(&acl, i == 1);
        if (!posix_entries_parse(some, POSIX_SET, &entries) ||
            !posix_acl_change(&acl, POSIX_SET, &entries, i == 1))
            abort();
        if (posix_entries_parse(text, how, &entries) &&
            posix_acl_change(&acl, how, &entries, i == 1))
            check_list(arena, &acl, i == 1);
    }
}

static void check_mode(struct arena *arena, struct bytes text)
{
    struct posix_acl acl;
    unsigned mode, umask;

    posix_acl_init(&acl, true);
    if (posix_mode_parse(text, &mode)) {
        if (mode & ~POSIX_MODE_ALL)
            abort();
        posix_acl_set_mode(&acl, mode);
        if (posix_acl_mode(&acl) != mode)
            abort();
        check_list(arena, &acl, true);
    }
    if (posix_umask_parse(text, &umask) && umask & ~POSIX_MODE_ALL)
        abort();
    if (posix_permissions_parse(text, &mode) && mode > 7)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1u << 24);
    struct bytes rest = bytes_of(data + 1, size > 0 ? size - 1 : 0);
    struct posix_acl acl;

    switch (size > 0 ? data[0] : 'm') {
    case 's':
        change_list(arena, rest, POSIX_SET);
        break;
    case 'c':
        change_list(arena, rest, POSIX_MODIFY);
        break;
    case 'r':
        change_list(arena, rest, POSIX_REMOVE);
        break;
    case 'b':
        if (rest.len > 0 && posix_acl_decode(rest, true, &acl))
            check_list(arena, &acl, true);
        break;
    default:
        check_mode(arena, rest);
        break;
    }
    arena_free(arena);
    return 0;
}
