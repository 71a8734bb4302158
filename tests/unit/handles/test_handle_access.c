/* What security descriptors let the user of an account do by SMB, beside a superuser who may do everything: opening,
 * making, overwriting, deleting, renaming, and the descriptors themselves.
 * MS-FSA 2.1.5.1.1, 2.1.5.1.2.1, 2.1.5.15.12, 2.1.5.17; decision: 440 */
#include "handles.h"

#include "acl/sid.h"

#define DENIED E_AuthorizationPermissionMismatch

static struct access_token token;

/* The share as the user is connected to it. */
static const struct tree_connect *user(void)
{
    static struct tree_connect tree_connect;

    tree_connect = *the_mount();
    token = access_token_of_account(tree_connect.account);
    tree_connect.token = &token;
    return &tree_connect;
}

static const char *sid_text(struct bytes sid)
{
    struct text text;

    text_init(&text, handles_arena(), 64);
    sid_add_text(&text, sid);
    return arena_string(handles_arena(), text_bytes(&text));
}

/* A descriptor with these entries, in which @ is the user. */
static struct bytes descriptor(const char *owner, const char *entries)
{
    struct security_descriptor sd;
    struct text text;

    (void)user();
    text_init(&text, handles_arena(), 256);
    text_printf(&text, "O:%sG:SYD:", *owner == '@' ? sid_text(access_token_user(&token)) : owner);
    for (; *entries; entries++)
        if (*entries == '@')
            text_add_string(&text, sid_text(access_token_user(&token)));
        else
            text_add_char(&text, *entries);
    assert_true(sddl_read(handles_arena(), text_bytes(&text), &sd));
    return security_descriptor_encode(handles_arena(), &sd);
}

/* Makes "path" as a superuser, with such a descriptor. */
static void make(struct fixture *f, const char *path, enum open_kind kind, const char *owner,
                 const char *entries)
{
    struct handle_open open = asked(path, MAY_ALL, OPEN_NEW);

    open.kind = kind;
    open.descriptor = descriptor(owner, entries);
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    closed(f, &open.handle);
}

/* The user opens "path", and closes it again if that goes well. */
static enum error tries_as(struct fixture *f, const char *path, uint32_t desired,
                           enum open_disposition disposition, enum open_kind kind,
                           struct handle_open *ret_open)
{
    struct handle_open open = asked(path, desired, disposition);
    enum error e;

    open.tree_connect = user();
    open.kind = kind;
    e = run(f, handle_open_attempt, &open);
    if (!e)
        closed(f, &open.handle);
    *ret_open = open;
    return e;
}

static enum error tries(struct fixture *f, const char *path, uint32_t desired,
                        enum open_disposition disposition)
{
    struct handle_open open;

    return tries_as(f, path, desired, disposition, OPEN_ANY_KIND, &open);
}

/* Rule: what the file's descriptor grants is granted, and what it does not is refused; a superuser is asked nothing;
 * as much as is allowed is what it says, and what is asked beside that has to be allowed too. */
static void files_descriptor(void **state)
{
    struct fixture *f = *state;
    struct handle_open open;

    make(f, "f", OPEN_FILE, "SY", "(A;;FR;;;@)");
    assert_int_equal(tries(f, "f", MAY_READ_DATA, OPEN_EXISTING), OK);
    assert_int_equal(tries(f, "f", MAY_GENERIC_READ, OPEN_EXISTING), OK);
    assert_int_equal(tries(f, "f", MAY_WRITE_DATA, OPEN_EXISTING), DENIED);
    assert_int_equal(tries(f, "f", MAY_READ_DATA | MAY_WRITE_DAC, OPEN_EXISTING), DENIED);
    assert_int_equal(tries_as(f, "f", MAY_MAXIMUM, OPEN_EXISTING, OPEN_FILE, &open), OK);
    assert_int_equal(open.handle.granted, 0x120089);
    assert_int_equal(open.maximum, 0x120089);
    assert_int_equal(tries(f, "f", MAY_MAXIMUM | MAY_WRITE_DATA, OPEN_EXISTING), DENIED);
    opened(f, "f", MAY_ALL | MAY_ACCESS_SACL, OPEN_EXISTING);
}

/* Rule: the owner may read and write the list, unless an entry is for OWNER RIGHTS. */
static void owner(void **state)
{
    struct fixture *f = *state;

    make(f, "mine", OPEN_FILE, "@", "");
    make(f, "limited", OPEN_FILE, "@", "(A;;FR;;;OW)");
    assert_int_equal(tries(f, "mine", MAY_WRITE_DAC | MAY_READ_CONTROL, OPEN_EXISTING), OK);
    assert_int_equal(tries(f, "mine", MAY_WRITE_OWNER, OPEN_EXISTING), DENIED);
    assert_int_equal(tries(f, "limited", MAY_WRITE_DAC, OPEN_EXISTING), DENIED);
    assert_int_equal(tries(f, "limited", MAY_READ_DATA, OPEN_EXISTING), OK);
}

/* Rule: the directory lets delete by DELETE_CHILD and read attributes by LIST_DIRECTORY, itself not. */
static void directorys_descriptor(void **state)
{
    struct fixture *f = *state;

    make(f, "d", OPEN_DIRECTORY, "SY", "(A;;DCCC;;;WD)"); /* DC: 0x2, CC: 0x1 */
    make(f, "d\\f", OPEN_FILE, "SY", "");
    assert_int_equal(tries(f, "d\\f", MAY_READ_ATTRIBUTES, OPEN_EXISTING), OK);
    assert_int_equal(tries(f, "d\\f", MAY_DELETE, OPEN_EXISTING), DENIED);
    assert_int_equal(tries(f, "d", MAY_READ_ATTRIBUTES, OPEN_EXISTING), OK); /* by the root */
    make(f, "e", OPEN_DIRECTORY, "SY", "(A;;0x40;;;WD)");
    make(f, "e\\f", OPEN_FILE, "SY", "");
    assert_int_equal(tries(f, "e\\f", MAY_DELETE, OPEN_EXISTING), OK);
    assert_int_equal(tries(f, "e\\f", MAY_READ_ATTRIBUTES, OPEN_EXISTING), DENIED);
    assert_int_equal(tries(f, "e", MAY_DELETE, OPEN_EXISTING), DENIED);
}

/* Rule: a file is made where files may be added, a directory where directories may; below a directory that may not be
 * gone through too. */
static void making(void **state)
{
    struct fixture *f = *state;
    struct handle_open open;

    make(f, "files", OPEN_DIRECTORY, "SY", "(A;;0x2;;;WD)");
    make(f, "dirs", OPEN_DIRECTORY, "SY", "(A;;0x4;;;WD)");
    make(f, "closed", OPEN_DIRECTORY, "SY", "");
    make(f, "closed\\open", OPEN_DIRECTORY, "SY", "(A;;FA;;;WD)");
    assert_int_equal(tries(f, "files\\a", MAY_READ_DATA, OPEN_NEW), OK);
    assert_int_equal(tries(f, "dirs\\a", MAY_READ_DATA, OPEN_NEW), DENIED);
    assert_int_equal(tries(f, "closed\\a", MAY_READ_DATA, OPEN_OR_NEW), DENIED);
    assert_int_equal(tries(f, "closed\\open\\a", MAY_READ_DATA, OPEN_OVERWRITES_OR_NEW), OK);
    assert_int_equal(tries_as(f, "files\\d", MAY_READ_DATA, OPEN_NEW, OPEN_DIRECTORY, &open),
                     DENIED);
    assert_int_equal(tries_as(f, "dirs\\d", MAY_READ_DATA, OPEN_NEW, OPEN_DIRECTORY, &open), OK);
}

static const char *shown_of(struct fixture *f, const char *path)
{
    struct held_handle handle = opened(f, path, MAY_READ_CONTROL, OPEN_EXISTING);
    struct handle_query query = { .tree_connect = the_mount(), .handle = &handle };
    struct security_descriptor sd;

    query.wants_descriptor = DESCRIPTOR_ALL;
    assert_int_equal(run(f, handle_query_attempt, &query), OK);
    assert_true(security_descriptor_decode(handles_arena(), query.descriptor, &sd));
    closed(f, &handle);
    return arena_string(handles_arena(), sddl_write(handles_arena(), &sd));
}

/* Of the user's, with this behind owner and group. */
static const char *expected(const char *rest)
{
    const char *who = sid_text(access_token_user(&token));
    const char *group = sid_text(access_token_group(&token));
    struct text text;

    text_init(&text, handles_arena(), 256);
    text_printf(&text, "O:%sG:%s", who, group);
    for (; *rest; rest++)
        if (*rest == '@')
            text_add_string(&text, who);
        else
            text_add_char(&text, *rest);
    return arena_string(handles_arena(), text_bytes(&text));
}

/* Rule: who makes it owns it, and gets what it asked for, whatever is inherited; what it may from then on is what the
 * inherited list says. What a superuser makes is the system's. */
static void maker(void **state)
{
    struct fixture *f = *state;
    struct handle_open open;

    make(f, "d", OPEN_DIRECTORY, "SY", "(A;;FA;;;WD)(A;OICI;FR;;;CO)");
    assert_int_equal(tries_as(f, "d\\f", MAY_ALL, OPEN_NEW, OPEN_FILE, &open), OK);
    assert_int_equal(open.handle.granted, MAY_ALL);
    assert_int_equal(open.maximum, 0x120089 | MAY_WRITE_DAC | MAY_DELETE);
    assert_string_equal(shown_of(f, "d\\f"), expected("D:(A;;FR;;;@)S:NO_ACCESS_CONTROL"));
    assert_int_equal(tries(f, "d\\f", MAY_WRITE_DATA, OPEN_EXISTING), DENIED);
    assert_int_equal(tries_as(f, "d\\g", MAY_MAXIMUM, OPEN_NEW, OPEN_FILE, &open), OK);
    assert_int_equal(open.handle.granted, MAY_ALL);
    assert_int_equal(tries(f, "r", MAY_READ_DATA, OPEN_NEW), OK);
    assert_string_equal(shown_of(f, "r"),
                        expected("D:AI(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)(A;ID;0x1301bf;;;AU)"
                                 "(A;ID;FA;;;SY)(A;ID;FA;;;@)S:NO_ACCESS_CONTROL"));
    opened(f, "d\\s", MAY_READ_DATA, OPEN_NEW);
    assert_string_equal(shown_of(f, "d\\s"), "O:SYG:SYD:(A;;FR;;;SY)S:NO_ACCESS_CONTROL");
}

/* Rule: to overwrite takes the right to write data, extended attributes and attributes, to supersede that to delete in
 * the place of the first, whatever is asked for. */
static void overwriting(void **state)
{
    static const struct {
        const char *rights;
        enum open_disposition disposition;
        enum error error;
    } cases[] = {
        { "0x120089", OPEN_OVERWRITES, DENIED },        { "0x12019f", OPEN_OVERWRITES, OK },
        { "0x12018f", OPEN_OVERWRITES, DENIED },        { "0x12009f", OPEN_OVERWRITES, DENIED },
        { "0x12019f", OPEN_SUPERSEDES, DENIED },        { "0x13019d", OPEN_SUPERSEDES, OK },
        { "0x13019d", OPEN_OVERWRITES_OR_NEW, DENIED }, { "0x1", OPEN_OR_NEW, OK },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = textf(f, "o%zu", i);

        make(f, path, OPEN_FILE, "SY", textf(f, "(A;;%s;;;@)", cases[i].rights));
        if (tries(f, path, MAY_READ_DATA, cases[i].disposition) != cases[i].error)
            fail_msg("case %zu", i);
    }
}

/* The user renames "from", which it may delete, to "to". */
static enum error renames(struct fixture *f, const char *from, const char *to, bool replaces)
{
    struct handle_open open = asked(from, MAY_DELETE, OPEN_EXISTING);
    struct handle_rename rename = { .tree_connect = user(),
                                    .handle = &open.handle,
                                    .replaces = replaces };
    enum error e;

    open.tree_connect = user();
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    rename.names = names_of(to, &rename.name_count);
    e = run(f, handle_rename_attempt, &rename);
    closed(f, &open.handle);
    return e;
}

/* Rule: a name is given where one may be made, and takes another's place where that may be deleted. */
static void renaming(void **state)
{
    struct fixture *f = *state;

    make(f, "from", OPEN_DIRECTORY, "SY", "(A;;0x40;;;WD)");
    make(f, "to", OPEN_DIRECTORY, "SY", "(A;;0x2;;;WD)");
    make(f, "from\\a", OPEN_FILE, "SY", "");
    make(f, "from\\d", OPEN_DIRECTORY, "SY", "");
    make(f, "to\\theirs", OPEN_FILE, "SY", "(A;;FR;;;WD)");
    make(f, "to\\old", OPEN_FILE, "SY", "(A;;SD;;;WD)");
    assert_int_equal(renames(f, "from\\a", "from\\b", false), DENIED);
    assert_int_equal(renames(f, "from\\d", "to\\d", false), DENIED);
    assert_int_equal(renames(f, "from\\a", "to\\theirs", true), DENIED);
    assert_int_equal(renames(f, "from\\a", "to\\theirs", false), E_ResourceAlreadyExists);
    assert_int_equal(renames(f, "from\\a", "to\\old", true), OK);
    assert_answer(ask(f, "HEAD /sha/from/a", NULL, NULL), 404, "ResourceNotFound");
}

static enum error sets(struct fixture *f, const char *path, uint32_t parts, struct bytes sd)
{
    struct handle_open open = asked(path, MAY_WRITE_DAC | MAY_WRITE_OWNER, OPEN_EXISTING);
    struct handle_set_descriptor set = {
        .tree_connect = user(), .handle = &open.handle, .parts = parts, .descriptor = sd
    };
    enum error e;

    open.tree_connect = user();
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    e = run(f, handle_set_descriptor_attempt, &set);
    closed(f, &open.handle);
    return e;
}

/* Rule: without privileges one gives nothing to others, and neither reads nor sets what is audited, in what one makes
 * too. */
static void no_privileges(void **state)
{
    struct fixture *f = *state;
    struct handle_open open = asked("new", MAY_READ_DATA, OPEN_NEW);

    make(f, "f", OPEN_FILE, "@", "(A;;FA;;;@)");
    assert_int_equal(sets(f, "f", DESCRIPTOR_OWNER, descriptor("LS", "")), DENIED);
    assert_int_equal(sets(f, "f", DESCRIPTOR_OWNER, descriptor("AU", "")), OK);
    assert_int_equal(sets(f, "f", DESCRIPTOR_OWNER, descriptor("@", "")), OK);
    assert_int_equal(sets(f, "f", DESCRIPTOR_SACL, descriptor("@", "")), DENIED);
    assert_int_equal(tries(f, "f", MAY_ACCESS_SACL, OPEN_EXISTING), DENIED);
    assert_int_equal(tries(f, "new", MAY_ACCESS_SACL, OPEN_NEW), DENIED);
    open.tree_connect = user();
    open.descriptor = descriptor("LS", "(A;;FA;;;WD)");
    assert_int_equal(run(f, handle_open_attempt, &open), DENIED);
    assert_answer(ask(f, "HEAD /sha/new", NULL, NULL), 404, "ResourceNotFound");
}

/* Rule: what is set has no generic rights where it applies to the file itself, and is one of inherited entries only if
 * that is asked for too. [MS-DTYP] 2.4.6 */
static void what_is_set(void **state)
{
    struct fixture *f = *state;

    make(f, "f", OPEN_FILE, "SY", "(A;;FA;;;WD)");
    assert_int_equal(sets(f, "f", DESCRIPTOR_DACL,
                          descriptor("SY", "AI(A;;GR;;;WD)(A;OIIO;GR;;;WD)(A;ID;0xe0000;;;WD)")),
                     OK);
    assert_string_equal(
        shown_of(f, "f"),
        "O:SYG:SYD:(A;;FR;;;WD)(A;OIIO;GR;;;WD)(A;ID;RCWDWO;;;WD)S:NO_ACCESS_CONTROL");
    assert_int_equal(sets(f, "f", DESCRIPTOR_DACL, descriptor("SY", "ARAI(A;;FA;;;WD)")), OK);
    assert_string_equal(shown_of(f, "f"), "O:SYG:SYD:AI(A;;FA;;;WD)S:NO_ACCESS_CONTROL");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_descriptor), TEST(owner),         TEST(directorys_descriptor),
        TEST(making),           TEST(maker),         TEST(overwriting),
        TEST(renaming),         TEST(no_privileges), TEST(what_is_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
