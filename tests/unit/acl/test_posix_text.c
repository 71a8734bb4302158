/* The text of POSIX ACLs and modes: parsed and printed as recorded from the real service, and as
 * documented. acl/posix_acl.h; rest: Path-Update "x-ms-acl", "x-ms-permissions", "x-ms-umask" */
#include "acl/posix_acl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OID "72a3f86f-271f-439e-b031-25678907d381"

/* Every mode is parsed from both forms, and printed as the symbolic one. */
static void every_mode(void **state)
{
    struct arena *arena = arena_new(1u << 24);

    (void)state;
    for (unsigned mode = 0; mode <= POSIX_MODE_ALL; mode++) {
        char octal[8], symbolic[12];
        struct posix_acl acl;
        unsigned got;

        snprintf(octal, sizeof octal, "%04o", mode);
        for (int i = 0; i < 9; i++)
            symbolic[i] = mode >> (8 - i) & 1 ? "rwx"[i % 3] : '-';
        symbolic[9] = '\0';
        if (mode & POSIX_STICKY)
            symbolic[8] = mode & 1 ? 't' : 'T';
        assert_true(posix_mode_parse(bytes_from_string(octal), &got) && got == mode);
        assert_true(posix_mode_parse(bytes_from_string(symbolic), &got) && got == mode);
        posix_acl_init(&acl, true);
        posix_acl_set_mode(&acl, mode);
        assert_true(posix_acl_mode(&acl) == mode);
        assert_true(bytes_is(posix_mode_text(arena, &acl), symbolic));
        assert_true(posix_umask_parse(bytes_from_string(octal), &got) == (mode <= 0777));
    }
    arena_free(arena);
}

static void malformed_modes(void **state)
{
    static const char *const wrong[] = { "",           "asdf",       "777",        "00777",
                                         "2000",       "7777",       "0778",       "rwxrwxrw",
                                         "rwxrwxrwxx", "xwrrwxrwx",  "rwtrwxrwx",  "rwxrwxrws",
                                         "RWXRWXRWX",  "rwxr-x---+", " rwxr-x---", "-0777" };
    unsigned mode;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(posix_mode_parse(bytes_from_string(wrong[i]), &mode));
    assert_false(posix_umask_parse(bytes_from_string("rwxrwxrwx"), &mode));
    assert_false(posix_umask_parse(bytes_from_string("27"), &mode));
}

/* Texts that the real service has returned are printed as they were parsed. */
static void recorded_texts(void **state)
{
    static const char *const texts[] = {
        "user::rw-,group::rw-,other::rw-",
        "user::rwx,group::rw-,mask::rw-,other::---",
        "user::rwx,user:" OID ":rwx,group::r--,mask::rwx,other::---",
        "user::rwx,group::r-x,other::rwx",
        "user::--x,group::--x,other::--x",
        "user::rwx,user:a:r--,user:b:---,group::r-x,group:c:-w-,mask::rwx,other::--x,"
        "default:user::rwx,default:user:a:r--,default:group::r-x,default:group:c:-wx,"
        "default:mask::r-x,default:other::---",
    };
    struct arena *arena = arena_new(1u << 20);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct posix_entries entries;

        assert_true(posix_entries_parse(bytes_from_string(texts[i]), POSIX_SET, &entries));
        assert_true(bytes_is(posix_entries_text(arena, &entries), texts[i]));
        assert_true(posix_entries_parse(bytes_from_string(texts[i]), POSIX_MODIFY, &entries));
        assert_false(posix_entries_parse(bytes_from_string(texts[i]), POSIX_REMOVE, &entries));
    }
    arena_free(arena);
}

/* Entries to remove have no permissions; the colon after an id is optional. */
static void removals(void **state)
{
    static const char *const texts[] = {
        "mask,default:user,default:group,user:" OID ",group:" OID ",default:user:" OID
        ",default:group:" OID,
        "user:" OID ":",
        "mask:",
        "mask::",
        "default:mask",
    };
    struct posix_entries entries;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_true(posix_entries_parse(bytes_from_string(texts[i]), POSIX_REMOVE, &entries));
        assert_false(posix_entries_parse(bytes_from_string(texts[i]), POSIX_SET, &entries));
        assert_false(posix_entries_parse(bytes_from_string(texts[i]), POSIX_MODIFY, &entries));
    }
    assert_true(posix_entries_parse(bytes_from_string(texts[0]), POSIX_REMOVE, &entries));
    assert_int_equal(entries.count, 7);
    assert_true(entries.of[1].is_default && entries.of[1].type == POSIX_USER &&
                entries.of[1].id.len == 0);
    assert_true(!entries.of[3].is_default && bytes_is(entries.of[3].id, OID));
}

static void malformed_entries(void **state)
{
    static const char *const wrong[] = {
        "",
        ",",
        "asdf",
        "user",
        "user:",
        "user::",
        "user::rw",
        "user::rwxx",
        "user::7",
        "user::rxw",
        "user::RWX",
        "user::r-x,",
        ",user::r-x",
        "user::r-x,,group::r-x",
        "user::r-x;group::r-x",
        "user::r-x, group::r-x",
        "owner::rwx",
        "User::rwx",
        "mask:a:rwx",
        "other:a:rwx",
        "default::rwx",
        "default:default:user::rwx",
        "access:user::rwx",
        "user:a b:rwx",
        "user:a\x7f:rwx",
        "user:a:b:rwx",
        "user:a:rwx:",
        /* twice */
        "user::rwx,user::rwx",
        "user:a:rwx,user:a:---",
        "user:a:rwx,user:A:rwx",
        "default:mask::rwx,default:mask::r--",
    };
    struct posix_entries entries;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(posix_entries_parse(bytes_from_string(wrong[i]), POSIX_SET, &entries));
        assert_false(posix_entries_parse(bytes_from_string(wrong[i]), POSIX_MODIFY, &entries));
    }
    assert_true(posix_entries_parse(bytes_from_string("user::rwx,default:user::rwx,user:a:rwx"),
                                    POSIX_SET, &entries));
}

/* Ids have up to 256 characters; a text has up to 64 entries. */
static void limits_of_texts(void **state)
{
    char id[POSIX_ID_MAX + 8];
    struct arena *arena = arena_new(1u << 20);
    struct posix_entries entries;
    struct text text;

    (void)state;
    memset(id, 'a', sizeof id);
    for (size_t len = POSIX_ID_MAX; len <= POSIX_ID_MAX + 1; len++) {
        struct bytes one = arena_printf(arena, "user:%.*s:rwx", (int)len, id);

        assert_true(posix_entries_parse(one, POSIX_SET, &entries) == (len == POSIX_ID_MAX));
    }
    text_init(&text, arena, 64);
    for (unsigned i = 0; i <= POSIX_ENTRIES_MAX; i++) {
        if (i > 0)
            assert_true(posix_entries_parse(text_bytes(&text), POSIX_MODIFY, &entries) &&
                        entries.count == i);
        text_printf(&text, "%suser:u%u:r--", i > 0 ? "," : "", i);
    }
    assert_false(posix_entries_parse(text_bytes(&text), POSIX_MODIFY, &entries));
    arena_free(arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode),        cmocka_unit_test(malformed_modes),
        cmocka_unit_test(recorded_texts),    cmocka_unit_test(removals),
        cmocka_unit_test(malformed_entries), cmocka_unit_test(limits_of_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
