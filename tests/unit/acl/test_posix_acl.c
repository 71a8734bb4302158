/* POSIX ACLs: changes, inheritance, checks and records. acl/posix_acl.h; source:
 * data-lake-storage-access-control; decisions: 1241 to 1244 */
#include "acl/posix_acl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OID  "72a3f86f-271f-439e-b031-25678907d381"
#define BASE "user::rwx,group::r-x,other::---"

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1u << 24);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static bool change_of(struct posix_acl *acl, enum posix_change how, const char *text,
                      bool is_directory)
{
    struct posix_entries entries;

    assert_true(posix_entries_parse(bytes_from_string(text), how, &entries));
    return posix_acl_change(acl, how, &entries, is_directory);
}

static struct posix_acl acl_of(const char *text)
{
    struct posix_acl acl;

    posix_acl_init(&acl, true);
    assert_true(change_of(&acl, POSIX_SET, text, true));
    return acl;
}

static void assert_text(const struct posix_acl *acl, const char *text)
{
    assert_string_equal(arena_string(arena, posix_entries_text(arena, &acl->entries)), text);
}

static void assert_mode(const struct posix_acl *acl, const char *text)
{
    assert_string_equal(arena_string(arena, posix_mode_text(arena, acl)), text);
}

/* ---- changes ---- */

static void new_acls(void **state)
{
    struct posix_acl acl;

    (void)state;
    posix_acl_init(&acl, true);
    assert_text(&acl, BASE);
    assert_mode(&acl, "rwxr-x---");
    assert_true(bytes_is(acl.owner, "$superuser") && bytes_is(acl.group, "$superuser"));
    posix_acl_init(&acl, false);
    assert_mode(&acl, "rw-r-----");
}

/* The recorded sequence of set, modify and remove; the mask remains when the user is removed. */
static void recorded_changes(void **state)
{
    struct posix_acl acl;

    (void)state;
    posix_acl_init(&acl, true);
    assert_true(
        change_of(&acl, POSIX_SET, "user:" OID ":rwx,user::rwx,group::r--,other::---", true));
    assert_text(&acl, "user::rwx,user:" OID ":rwx,group::r--,mask::rwx,other::---");
    assert_mode(&acl, "rwxrwx---+");
    assert_true(change_of(&acl, POSIX_MODIFY, "group::rw-", true));
    assert_text(&acl, "user::rwx,user:" OID ":rwx,group::rw-,mask::rwx,other::---");
    assert_true(change_of(&acl, POSIX_REMOVE, "user:" OID ":", true));
    assert_text(&acl, "user::rwx,group::rw-,mask::rw-,other::---");
    assert_mode(&acl, "rwxrw----+");
    assert_true(change_of(&acl, POSIX_SET, "user::rw-,group::rw-,other::rw-", true));
    assert_mode(&acl, "rw-rw-rw-");
    /* entries that do not exist */
    assert_true(change_of(&acl, POSIX_REMOVE,
                          "mask,default:user,default:group,user:" OID ",group:" OID
                          ",default:user:" OID ",default:group:" OID,
                          true));
    assert_text(&acl, "user::rw-,group::rw-,other::rw-");
}

struct change_case {
    const char *before;
    enum posix_change how;
    const char *change;
    const char *after; /* NULL if refused */
};

static void changes(void **state)
{
    static const struct change_case cases[] = {
        /* an explicit mask is unchanged; a change of the scope recomputes it */
        { BASE, POSIX_MODIFY, "user:a:rwx,mask::r--",
          "user::rwx,user:a:rwx,group::r-x,mask::r--,other::---" },
        { "user::rwx,user:a:rwx,group::r-x,mask::r--,other::---", POSIX_MODIFY, "user:a:-w-",
          "user::rwx,user:a:-w-,group::r-x,mask::rwx,other::---" },
        { "user::rwx,user:a:rwx,group::r-x,mask::r--,other::---", POSIX_MODIFY, "mask::---",
          "user::rwx,user:a:rwx,group::r-x,mask::---,other::---" },
        { "user::rwx,user:a:rwx,group::r-x,mask::r--,other::---", POSIX_MODIFY,
          "default:user:b:r--",
          "user::rwx,user:a:rwx,group::r-x,mask::r--,other::---,default:user::rwx,default:user:b:r-"
          "-,default:group::r-x,default:mask::r-x,default:other::---" },
        { BASE, POSIX_MODIFY, "group:g:-w-",
          "user::rwx,group::r-x,group:g:-w-,mask::rwx,other::---" },
        { BASE, POSIX_MODIFY, "mask::r--", "user::rwx,group::r-x,mask::r--,other::---" },
        /* ids are compared without case, and shown as in the newest change */
        { "user::rwx,user:Ab:rwx,group::r-x,other::---", POSIX_MODIFY, "user:aB:---",
          "user::rwx,user:aB:---,group::r-x,mask::r-x,other::---" },
        { "user::rwx,user:Ab:rwx,group::r-x,other::---", POSIX_REMOVE, "user:ab,mask", BASE },
        /* a mask that is needed cannot be removed */
        { "user::rwx,user:a:rwx,group::r-x,other::---", POSIX_REMOVE, "mask", NULL },
        { "user::rwx,group::r-x,mask::r--,other::---", POSIX_REMOVE, "mask", BASE },
        /* entries without a name cannot be removed, and must be set */
        { BASE, POSIX_REMOVE, "user", NULL },
        { BASE, POSIX_REMOVE, "group", NULL },
        { BASE, POSIX_REMOVE, "other", NULL },
        { BASE, POSIX_SET, "user::rwx,group::r-x", NULL },
        { BASE, POSIX_SET, "user::rwx,other::r-x", NULL },
        { BASE, POSIX_SET, "group::rwx,other::r-x", NULL },
        { BASE, POSIX_SET, "default:user::rwx,default:group::r-x,default:other::---", NULL },
        /* default entries are completed from the access entries */
        { BASE, POSIX_SET, BASE ",default:other::r--",
          BASE ",default:user::rwx,default:group::r-x,default:other::r--" },
        { BASE ",default:user::r--", POSIX_REMOVE, "default:user",
          BASE ",default:user::rwx,default:group::r-x,default:other::---" },
        { BASE ",default:user::r--", POSIX_REMOVE, "default:user,default:group,default:other",
          BASE },
        /* set replaces all entries, also the default ones */
        { BASE ",default:user::r--", POSIX_SET, "user::r--,group::r--,other::r--",
          "user::r--,group::r--,other::r--" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct posix_acl acl = acl_of(cases[i].before), before = acl;
        bool changed = change_of(&acl, cases[i].how, cases[i].change, true);

        assert_int_equal(changed, cases[i].after != NULL);
        if (changed)
            assert_text(&acl, cases[i].after);
        else
            assert_text(&acl, arena_string(arena, posix_entries_text(arena, &before.entries)));
    }
}

static void files_have_no_default_entries(void **state)
{
    struct posix_entries entries;
    struct posix_acl acl;

    (void)state;
    posix_acl_init(&acl, false);
    assert_false(change_of(&acl, POSIX_MODIFY, "default:user:a:rwx", false));
    assert_false(change_of(&acl, POSIX_SET, BASE ",default:user::rwx", false));
    assert_true(
        posix_entries_parse(bytes_from_string("default:user:a:rwx,user:b:r--,default:mask::r--"),
                            POSIX_MODIFY, &entries));
    posix_entries_without_defaults(&entries);
    assert_int_equal(entries.count, 1);
    assert_true(posix_acl_change(&acl, POSIX_MODIFY, &entries, false));
    assert_text(&acl, "user::rw-,user:b:r--,group::r--,mask::r--,other::---");
}

/* Each scope has up to 32 entries: 28 of them are named. */
static void scopes_are_limited(void **state)
{
    struct posix_acl acl = acl_of(BASE);

    (void)state;
    for (int scope = 0; scope < 2; scope++)
        for (unsigned i = 0; i < 30; i++) {
            const char *text = arena_string(
                arena, arena_printf(arena, "%suser:u%02u:r--", scope ? "default:" : "", i));

            assert_int_equal(change_of(&acl, POSIX_MODIFY, text, true), i < 28);
        }
    assert_int_equal(acl.entries.count, POSIX_ENTRIES_MAX);
    assert_true(change_of(&acl, POSIX_MODIFY, "user:u00:---,default:user:u27:rwx", true));
}

/* The group bits of a mode change the mask, if there is one. */
static void modes(void **state)
{
    struct posix_acl acl = acl_of("user::rwx,user:a:rwx,group::r-x,other::---");

    (void)state;
    posix_acl_set_mode(&acl, 01640);
    assert_text(&acl, "user::rw-,user:a:rwx,group::r-x,mask::r--,other::---");
    assert_mode(&acl, "rw-r----T+");
    assert_int_equal(posix_acl_mode(&acl), 01640);
    acl = acl_of(BASE);
    posix_acl_set_mode(&acl, 0643);
    assert_text(&acl, "user::rw-,group::r--,other::-wx");
    assert_false(acl.is_sticky);
}

/* ---- inheritance ---- */

struct heir {
    const char *parent;
    bool is_directory, has_mode;
    unsigned mode, umask;
    const char *acl;
};

#define DEFAULTS                                                                                   \
    "default:user::rwx,default:user:a:rwx,default:group::r-x,default:mask::rwx,default:other::r-x"

static void inheritance(void **state)
{
    static const struct heir cases[] = {
        { BASE, true, false, 0, POSIX_UMASK, "user::rwx,group::r-x,other::---" },
        { BASE, false, false, 0, POSIX_UMASK, "user::rw-,group::r--,other::---" },
        { BASE, true, true, 0777, 0057,
          "user::rwx,group::-w-,other::---" }, /* as documented: 0720 */
        { BASE, false, true, 0777, 0, "user::rwx,group::rwx,other::rwx" },
        { BASE, true, true, 0777, POSIX_UMASK, "user::rwx,group::r-x,other::---" },
        /* named access entries are not inherited */
        { "user::rwx,user:a:rwx,group::r-x,other::---", true, false, 0, 0,
          "user::rwx,group::rwx,other::rwx" },
        /* default entries are, and the umask is ignored */
        { BASE "," DEFAULTS, true, false, 0, 0777,
          "user::rwx,user:a:rwx,group::r-x,mask::rwx,other::r-x," DEFAULTS },
        { BASE "," DEFAULTS, false, false, 0, 0777,
          "user::rw-,user:a:rwx,group::r-x,mask::rw-,other::r--" },
        { BASE "," DEFAULTS, true, true, 0510, 0,
          "user::r-x,user:a:rwx,group::r-x,mask::--x,other::---," DEFAULTS },
        { BASE ",default:other::rwx", false, true, 0654, 0, "user::rw-,group::r-x,other::r--" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct posix_creation creation = { .owner = BYTES(OID),
                                           .has_mode = cases[i].has_mode,
                                           .mode = cases[i].mode,
                                           .umask = cases[i].umask };
        struct posix_acl parent = acl_of(cases[i].parent), acl;

        parent.group = bytes_from_string("staff");
        posix_acl_inherit(&parent, &creation, cases[i].is_directory, &acl);
        assert_text(&acl, cases[i].acl);
        assert_true(bytes_is(acl.owner, OID) && bytes_is(acl.group, "staff") && !acl.is_sticky);
        creation.has_mode = true;
        creation.mode = 01777;
        posix_acl_inherit(&parent, &creation, cases[i].is_directory, &acl);
        assert_true(acl.is_sticky);
    }
}

/* Rule: entries and group of the request replace inherited ones. decision: 1290 */
static void given_entries(void **state)
{
    struct posix_acl parent = acl_of(BASE "," DEFAULTS), given = acl_of(BASE), acl;
    struct posix_creation creation = {
        .owner = BYTES(OID), .group = BYTES("crew"), .umask = 0777, .entries = &given.entries
    };

    (void)state;
    parent.group = bytes_from_string("staff");
    for (unsigned is_directory = 0; is_directory < 2; is_directory++) {
        posix_acl_inherit(&parent, &creation, is_directory, &acl);
        assert_text(&acl, BASE);
        assert_true(bytes_is(acl.owner, OID) && bytes_is(acl.group, "crew") && !acl.is_sticky);
    }
}

/* ---- checks ---- */

/* The documented algorithm, for every combination of the entries that may apply. */
static unsigned expected(bool owns, bool named, bool in_group, bool in_named_group, bool masked,
                         const unsigned *p)
{
    unsigned mask = masked ? p[4] : 7;

    if (owns)
        return p[0];
    if (named)
        return p[1] & mask;
    if (in_group || in_named_group)
        return ((in_group ? p[2] : 0) | (in_named_group ? p[3] : 0)) & mask;
    return p[5];
}

static void check_caller(const struct posix_acl *acl, unsigned who, bool masked, const unsigned *p)
{
    static const struct bytes both[] = { BYTES("STAFF"), BYTES("crew") };
    struct posix_caller caller = {
        .oid = who & 1   ? bytes_from_string("OWNER")
               : who & 2 ? bytes_from_string("Ann")
                         : bytes_from_string("bob"),
        .groups = who & 4 ? both : both + 1,
        .group_count = (who >> 2 & 1) + (who >> 3 & 1),
    };
    unsigned granted = expected(who & 1, !(who & 1) && who & 2, who & 4, who & 8, masked, p);

    if ((who & 12) == 4)
        caller.group_count = 1;
    assert_int_equal(posix_acl_is_owner(acl, &caller), who & 1);
    for (unsigned wanted = 0; wanted < 8; wanted++)
        assert_int_equal(posix_acl_permits(acl, &caller, wanted), (granted & wanted) == wanted);
}

static void every_access(void **state)
{
    static const char *const texts[] = { "---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx" };

    (void)state;
    /* six permissions, each of some values, with and without named entries and a mask */
    for (unsigned n = 0; n < 4 * 4 * 4 * 4 * 4 * 4; n++) {
        static const unsigned values[] = { 0, 5, 2, 7 };
        unsigned p[6];
        struct posix_acl acl;

        for (unsigned i = 0; i < 6; i++)
            p[i] = values[n >> 2 * i & 3];
        acl = acl_of(arena_string(
            arena,
            arena_printf(arena, "user::%s,user:ann:%s,group::%s,group:crew:%s,mask::%s,other::%s",
                         texts[p[0]], texts[p[1]], texts[p[2]], texts[p[3]], texts[p[4]],
                         texts[p[5]])));
        acl.owner = bytes_from_string("owner");
        acl.group = bytes_from_string("staff");
        for (unsigned who = 0; who < 16; who++)
            check_caller(&acl, who, true, p);
        acl = acl_of(arena_string(arena, arena_printf(arena, "user::%s,group::%s,other::%s",
                                                      texts[p[0]], texts[p[2]], texts[p[5]])));
        acl.owner = bytes_from_string("owner");
        acl.group = bytes_from_string("staff");
        for (unsigned who = 0; who < 8; who++)
            if (!(who & 2))
                check_caller(&acl, who, false, p);
        arena_free(arena);
        arena = arena_new(1u << 24);
    }
}

/* Default entries grant nothing. */
static void default_entries_grant_nothing(void **state)
{
    struct posix_acl acl = acl_of("user::---,group::---,other::---,default:user:bob:rwx,"
                                  "default:group::rwx,default:other::rwx");
    struct posix_caller caller = { .oid = BYTES("bob"), .groups = &acl.group, .group_count = 1 };

    (void)state;
    assert_false(posix_acl_permits(&acl, &caller, POSIX_READ));
    assert_true(posix_is_member(&caller, acl.group));
}

static void sticky_directories(void **state)
{
    struct posix_acl directory = acl_of(BASE), child = acl_of(BASE);
    struct posix_caller ann = { .oid = BYTES("ann") }, bob = { .oid = BYTES("bob") };

    (void)state;
    child.owner = ann.oid;
    assert_true(posix_acl_may_unlink(&directory, &child, &bob));
    directory.is_sticky = true;
    assert_true(posix_acl_may_unlink(&directory, &child, &ann));
    assert_false(posix_acl_may_unlink(&directory, &child, &bob));
    directory.owner = bob.oid;
    assert_true(posix_acl_may_unlink(&directory, &child, &bob));
}

/* The documented table of required permissions, cell by cell. */
static void required_permissions(void **state)
{
    static const struct {
        enum posix_operation operation;
        const char *parent, *self;
        enum posix_who who;
    } table[] = {
        { POSIX_READS, "---", "r--", POSIX_ANYONE },
        { POSIX_SHOWS_STATUS, "---", "---", POSIX_ANYONE },
        { POSIX_WRITES, "---", "rw-", POSIX_ANYONE },
        { POSIX_CREATES, "-wx", "---", POSIX_ANYONE },
        { POSIX_DELETES, "-wx", "---", POSIX_ANYONE },
        { POSIX_DELETES_TREE, "-wx", "rwx", POSIX_ANYONE },
        { POSIX_LISTS, "---", "r-x", POSIX_ANYONE },
        { POSIX_CHANGES_ACL, "---", "---", POSIX_THE_OWNER },
        { POSIX_CHANGES_GROUP, "---", "---", POSIX_THE_OWNER },
        { POSIX_CHANGES_OWNER, "---", "---", POSIX_ONLY_SUPERUSER },
    };

    (void)state;
    assert_int_equal(sizeof table / sizeof table[0], POSIX_OPERATIONS);
    for (size_t i = 0; i < POSIX_OPERATIONS; i++) {
        const struct posix_requirement *found = &posix_requirements[table[i].operation];
        const char *text = arena_string(arena, arena_printf(arena, "user::%s,group::%s,other::---",
                                                            table[i].parent, table[i].self));

        assert_int_equal(posix_acl_mode(&(struct posix_acl){ .entries = acl_of(text).entries }),
                         found->parent << 6 | found->self << 3);
        assert_int_equal(found->who, table[i].who);
    }
}

/* ---- records ---- */

static void assert_survives(const struct posix_acl *acl, bool is_directory)
{
    struct bytes record = posix_acl_encode(arena, acl, is_directory);
    struct posix_acl read;

    assert_true(posix_acl_decode(record, is_directory, &read));
    assert_true(bytes_equal(read.owner, acl->owner) && bytes_equal(read.group, acl->group));
    assert_int_equal(read.is_sticky, acl->is_sticky);
    assert_text(&read, arena_string(arena, posix_entries_text(arena, &acl->entries)));
    for (size_t len = 0; record.ptr && len < record.len; len++)
        assert_false(posix_acl_decode(bytes_of(record.ptr, len), is_directory, &read));
}

static void records(void **state)
{
    static const char *const texts[] = {
        BASE,
        "user::---,group::---,other::---",
        "user::rwx,group::r-x,mask::r--,other::---",
        "user::rwx,user:a:r--,user:b:---,group::r-x,group:c:-w-,mask::rwx,other::--x," DEFAULTS,
    };
    struct posix_acl acl;

    (void)state;
    for (int is_directory = 0; is_directory < 2; is_directory++) {
        posix_acl_init(&acl, is_directory);
        assert_null(posix_acl_encode(arena, &acl, is_directory).ptr);
        assert_non_null(posix_acl_encode(arena, &acl, !is_directory).ptr);
        assert_survives(&acl, is_directory);
        acl.owner = bytes_from_string(OID);
        assert_survives(&acl, is_directory);
        posix_acl_init(&acl, is_directory);
        acl.group = bytes_from_string(OID);
        assert_survives(&acl, is_directory);
        posix_acl_init(&acl, is_directory);
        acl.is_sticky = true;
        assert_survives(&acl, is_directory);
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        acl = acl_of(texts[i]);
        acl.owner = bytes_from_string("ann");
        acl.group = bytes_from_string("staff");
        acl.is_sticky = i % 2;
        assert_survives(&acl, true);
    }
    acl = acl_of(BASE "," DEFAULTS);
    assert_true(posix_acl_decode(posix_acl_encode(arena, &acl, true), true, &acl));
    assert_false(posix_acl_decode(posix_acl_encode(arena, &acl, true), false, &acl));
}

/* The bytes of version 1, and bytes that are not a record. */
static void bytes_of_records(void **state)
{
    static const struct bytes wrong[] = {
        BYTES("\x02\xe8\x03\x01\x01\x00"), /* version */
        BYTES("\x01\x80\x10\x01\x01\x00"), /* mode */
        BYTES("\x01\xe8\x03\x01\x01\x01\x05\x02"
              "a"),                                /* a name without a mask */
        BYTES("\x01\xe8\x03\x01\x01\x01\x07\x01"), /* an owner twice */
        BYTES("\x01\xe8\x03\x01\x01\x01\x17\x02"
              "a"),                                /* a mask with a name */
        BYTES("\x01\xe8\x03\x01\x01\x01\x57\x01"), /* unknown bits */
        BYTES("\x01\xe8\x03\x01\x01\x01\x27\x01"), /* one default entry only */
        BYTES("\x01\xe8\x03\x01\x01\x00\x00"),     /* longer */
        BYTES("\x01\xe8\x03\x01\x01\x3e"),         /* too many */
    };
    struct posix_acl acl = acl_of("user::rwx,user:a:r-x,group::r-x,other::---");
    struct bytes record = posix_acl_encode(arena, &acl, true);

    (void)state;
    assert_true(bytes_equal(record, (struct bytes)BYTES("\x01\xe8\x03\x01\x01\x02\x05\x02"
                                                        "a\x15\x01")));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(posix_acl_decode(wrong[i], true, &acl));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(new_acls),
        TEST(recorded_changes),
        TEST(changes),
        TEST(files_have_no_default_entries),
        TEST(scopes_are_limited),
        TEST(modes),
        TEST(inheritance),
        TEST(given_entries),
        TEST(every_access),
        TEST(default_entries_grant_nothing),
        TEST(sticky_directories),
        TEST(required_permissions),
        TEST(records),
        TEST(bytes_of_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
