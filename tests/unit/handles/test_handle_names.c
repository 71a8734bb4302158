/* Renaming and listing by SMB, and patterns of names. MS-FSA 2.1.5.15.12, 2.1.5.6.3, 2.1.4.4 */
#include "handles.h"

#include "opens/handle_index.h"
#include "handles/handle_private.h"
#include "handles/name_pattern.h"
#include "opens/open_record.h"
#include "service/waiting.h"

#define URL "http://localhost/devstoreaccount1/sha"

/* ---- patterns ---- */

/* Rule: the wildcards of MS-FSA 2.1.4.4, without regard to case. */
static void patterns(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        { "*", "a.b", true },
        { "", "a", true },
        { "a", "A", true },
        { "a", "ab", false },
        { "*.txt", "a.TXT", true },
        { "*.txt", "a.txt.b", false },
        { "*.*", "a", false },
        { "*.*", "a.", true },
        { "?", "a", true },
        { "?", "", false },
        { "??", "a", false },
        { "a?c", "abc", true },
        { "<.txt", "a.b.txt", true },
        { "<.txt", "a.txt.b", false },
        { "<", "a.b", false },
        { "<b", "a.b", true },
        { "<", "ab", true },
        { ">>>", "ab", true },
        { ">", "ab", false },
        { ">.>", "a.b", true },
        { ">>.b", "a.b", true },
        { "a\"b", "a.b", true },
        { "a\"", "a", true },
        { "a\"b", "ab", false },
        { "<\"*", "ab", true },
        { "<\"*", "a.b", true },
        { "\xC3\xA4*", "\xC3\x84x", true },
        { "?", "\xC3\xA4", true },
        { "**a**", "bab", true },
        { ".", ".", true },
        { "..", "..", true },
        { ".*", "..", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct name_pattern pattern;
        struct bytes key =
            tree_key(handles_arena(), TREE_CASE_IGNORED, bytes_from_string(cases[i].name));

        assert_true(
            name_pattern_parse(handles_arena(), bytes_from_string(cases[i].pattern), &pattern));
        if (name_pattern_matches(&pattern, key) != cases[i].matches)
            fail_msg("%s and %s", cases[i].pattern, cases[i].name);
    }
}

/* Whether a pattern matches a name, straight from the definition of its wildcards. MS-FSA 2.1.4.4 */
static bool matches_by_definition(const char *pattern, const char *name, const char *last_dot)
{
    bool is_dot = *name == '.';

    switch (*pattern) {
    case '\0':
        return *name == '\0';
    case '*':
        return matches_by_definition(pattern + 1, name, last_dot) ||
               (*name && matches_by_definition(pattern, name + 1, last_dot));
    case '<':
        if (matches_by_definition(pattern + 1, name, last_dot))
            return true;
        return *name &&
               matches_by_definition(name == last_dot ? pattern + 1 : pattern, name + 1, last_dot);
    case '>':
        if (*name == '\0' || is_dot)
            return matches_by_definition(pattern + 1, name, last_dot) ||
                   (is_dot && name[1] == '\0' &&
                    matches_by_definition(pattern + 1, name + 1, last_dot));
        return matches_by_definition(pattern + 1, name + 1, last_dot);
    case '?':
        return *name && matches_by_definition(pattern + 1, name + 1, last_dot);
    case '"':
        return *name == '\0' || is_dot
                   ? matches_by_definition(pattern + 1, is_dot ? name + 1 : name, last_dot)
                   : false;
    default:
        return *pattern == *name && matches_by_definition(pattern + 1, name + 1, last_dot);
    }
}

/* Every pattern of up to four of the wildcards, a letter and a dot against every name of up to five characters. */
static void patterns_exhaustively(void **state)
{
    static const char in_patterns[] = "*?<>\"A.", in_names[] = "AB.";
    char text[5] = "", name[6] = "";

    (void)state;
    for (unsigned p = 1; p < 8 * 8 * 8 * 8; p++) {
        struct name_pattern pattern;
        size_t length = 0;

        for (unsigned rest = p; rest % 8 > 0; rest /= 8)
            text[length++] = in_patterns[rest % 8 - 1];
        text[length] = '\0';
        if (length == 0 ||
            !name_pattern_parse(handles_arena(), bytes_from_string(text), &pattern) ||
            strcmp(text, "..") == 0 || strcmp(text, ".") == 0)
            continue;
        for (unsigned n = 1; n < 4 * 4 * 4 * 4 * 4; n++) {
            const char *last_dot;
            size_t size = 0;

            for (unsigned rest = n; rest % 4 > 0; rest /= 4)
                name[size++] = in_names[rest % 4 - 1];
            name[size] = '\0';
            last_dot = strrchr(name, '.');
            if (size > 0 && name_pattern_matches(&pattern, bytes_from_string(name)) !=
                                matches_by_definition(text, name, last_dot))
                fail_msg("%s and %s", text, name);
        }
    }
}

/* ---- listing ---- */

struct collecting {
    struct list_sink sink;
    struct text text; /* names, each with a space behind it */
    size_t room;      /* for so many */
};

static void begin(struct list_sink *sink)
{
    text_init(&((struct collecting *)(void *)sink)->text, handles_arena(), 64);
}

static bool add(struct list_sink *sink, const struct listed *entry)
{
    struct collecting *c = (struct collecting *)(void *)sink;

    if (c->room == 0)
        return false;
    c->room--;
    text_add(&c->text, entry->name);
    if (entry->info.kind == TREE_FILE)
        text_add(&c->text, arena_printf(handles_arena(), "=%u", (unsigned)entry->info.length));
    text_add_char(&c->text, ' ');
    return true;
}

/* One page, in front of `from`. */
static const char *page(struct fixture *f, const struct held_handle *handle, const char *pattern,
                        size_t max, size_t room, struct list_position *from)
{
    struct collecting c = { .sink = { begin, add }, .room = room };
    struct handle_list list = { .tree_connect = the_mount(),
                                .handle = handle,
                                .pattern = bytes_from_string(pattern),
                                .from = *from,
                                .max = max,
                                .sink = &c.sink };

    assert_int_equal(run(f, handle_list_attempt, &list), OK);
    *from = list.next;
    return arena_string(handles_arena(), text_bytes(&c.text));
}

static const char *all(struct fixture *f, const struct held_handle *handle, const char *pattern)
{
    struct list_position from = { .stage = LIST_DOT };
    const char *names = page(f, handle, pattern, 100, 100, &from);

    assert_int_equal(from.stage, LIST_END);
    return names;
}

static void make(struct fixture *f, const char *path)
{
    struct held_handle handle = opened(f, path, MAY_RWD, OPEN_NEW);

    closed(f, &handle);
}

/* Rule: all of a directory in order, by a pattern, in pages by what there is room for. */
static void lists(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_READ_DATA);
    struct list_position from = { .stage = LIST_DOT };
    struct held_handle file;

    make(f, "dir\\b.txt");
    make(f, "dir\\A.txt");
    file = opened_directory(f, "dir\\c", MAY_READ_DATA);
    closed(f, &file);
    file = opened(f, "dir\\d", MAY_RWD, OPEN_NEW);
    assert_int_equal(writes(f, &file, 0, "four"), OK);
    assert_string_equal(all(f, &directory, "*"), ". .. A.txt=0 b.txt=0 c d=4 ");
    assert_string_equal(all(f, &directory, "*.TXT"), "A.txt=0 b.txt=0 ");
    assert_string_equal(all(f, &directory, "B.txt"), "b.txt=0 ");
    assert_string_equal(all(f, &directory, "b"), "");
    assert_string_equal(all(f, &directory, "b*"), "b.txt=0 ");
    assert_string_equal(all(f, &directory, "nothing*"), "");
    /* What is to be deleted is there. */
    assert_int_equal(sets_pending(f, &file, true), OK);
    assert_string_equal(all(f, &directory, "d"), "d=4 ");
    /* By entries that it may have, and by room. */
    assert_string_equal(page(f, &directory, "*", 3, 100, &from), ". .. A.txt=0 ");
    assert_string_equal(page(f, &directory, "*", 100, 1, &from), "b.txt=0 ");
    assert_string_equal(page(f, &directory, "*", 100, 0, &from), "");
    assert_string_equal(page(f, &directory, "*", 100, 100, &from), "c d=4 ");
    assert_int_equal(from.stage, LIST_END);
    from = (struct list_position){ .stage = LIST_DOT };
    assert_string_equal(page(f, &directory, "*", 1, 100, &from), ". ");
    assert_string_equal(page(f, &directory, "*", 1, 100, &from), ".. ");
    assert_string_equal(page(f, &directory, "*", 1, 100, &from), "A.txt=0 ");
}

/* Rule: List Directories and Files leaves out what is to be deleted. semantics 8.3 */
static void rest_hides(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "b", MAY_RWD, OPEN_NEW);
    struct reply list;

    make(f, "a");
    assert_int_equal(sets_pending(f, &handle, true), OK);
    list = ask(f, "GET /sha?restype=directory&comp=list", NULL, NULL);
    assert_non_null(strstr(arena_string(handles_arena(), list.body), "<Name>a</Name>"));
    assert_null(strstr(arena_string(handles_arena(), list.body), "<Name>b</Name>"));
    assert_int_equal(sets_pending(f, &handle, false), OK);
    list = ask(f, "GET /sha?restype=directory&comp=list", NULL, NULL);
    assert_non_null(strstr(arena_string(handles_arena(), list.body), "<Name>b</Name>"));
    assert_int_equal(sets_pending(f, &handle, true), OK);
    open_epoch_begin(); /* its process has ended: nothing is to be deleted any more */
    list = ask(f, "GET /sha?restype=directory&comp=list", NULL, NULL);
    assert_non_null(strstr(arena_string(handles_arena(), list.body), "<Name>b</Name>"));
}

/* ---- renaming ---- */

static enum error renames(struct fixture *f, const struct held_handle *handle, const char *to,
                          bool replaces)
{
    struct handle_rename rename = { .tree_connect = the_mount(),
                                    .handle = handle,
                                    .replaces = replaces };

    rename.names = names_of(to, &rename.name_count);
    return run(f, handle_rename_attempt, &rename);
}

static bool is_there(struct fixture *f, const char *head)
{
    return ask(f, head, NULL, NULL).status == 200;
}

/* Rule: each case of MS-FSA 2.1.5.15.12. The file "x" is renamed, beside the file "y" and the directory "dir". */
static void rename_files(void **state)
{
    static const struct {
        const char *to;
        bool replaces;
        enum error error;
    } cases[] = {
        { "z", false, OK },
        { "dir\\z", false, OK },
        { "X", false, OK },
        { "y", false, E_ResourceAlreadyExists },
        { "y", true, OK },
        { "dir", true, E_AuthorizationPermissionMismatch },
        { "no\\z", false, E_ParentNotFound },
        { "a:b", false, E_InvalidResourceName },
        { "", false, E_AuthorizationPermissionMismatch },
    };
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_READ_DATA);

    closed(f, &directory);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_OR_NEW);
        struct held_handle other = opened(f, "y", MAY_RWD, OPEN_OR_NEW);
        struct handle_query query = { .tree_connect = the_mount(),
                                      .handle = &handle,
                                      .wants_path = true };

        closed(f, &other);
        assert_int_equal(renames(f, &handle, cases[i].to, cases[i].replaces), cases[i].error);
        assert_int_equal(run(f, handle_query_attempt, &query), OK);
        assert_true(bytes_is(query.path, cases[i].error          ? "x"
                                         : cases[i].to[0] == 'd' ? "dir/z"
                                                                 : cases[i].to));
        assert_int_equal(sets_pending(f, &handle, true), OK);
        assert_true(closed(f, &handle));
    }
}

/* Rule: what is open in a snapshot of the share is not renamed, and the file of today is not either.
 * rest: Snapshot-Share "read-only" */
static void rename_in_a_snapshot(void **state)
{
    struct fixture *f = *state;
    struct tree_connect_snapshots dates = { .tree_connect = the_mount() };
    struct held_handle today = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct handle_open old = asked("x", MAY_READ_DATA, OPEN_EXISTING);

    assert_ok(ask(f, "PUT /sha?restype=share&comp=snapshot", NULL, NULL), 201);
    assert_int_equal(run(f, tree_connect_snapshots_attempt, &dates), OK);
    assert_int_equal(dates.count, 1);
    old.snapshot = dates.dates[0];
    assert_int_equal(run(f, handle_open_attempt, &old), OK);
    assert_int_equal(renames(f, &old.handle, "z", false), E_ShareSnapshotOperationNotSupported);
    assert_true(is_there(f, "HEAD /sha/x"));
    assert_false(is_there(f, "HEAD /sha/z"));
    closed(f, &old.handle);
    assert_int_equal(renames(f, &today, "z", false), OK);
    closed(f, &today);
}

/* Rule: what is open or read-only is not replaced, nor what REST has leased. */
static void replaced(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle other = opened(f, "y", MAY_READ_ATTRIBUTES, OPEN_NEW);

    assert_int_equal(renames(f, &handle, "y", true), E_AuthorizationPermissionMismatch);
    closed(f, &other);
    assert_ok(ask(f, "PUT /sha/y?comp=properties", "x-ms-file-attributes: ReadOnly", NULL), 200);
    assert_int_equal(renames(f, &handle, "y", true), E_AuthorizationPermissionMismatch);
    assert_ok(ask(f, "PUT /sha/y?comp=properties", "x-ms-file-attributes: None", NULL), 200);
    assert_ok(ask(f, "PUT /sha/y?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1",
                  NULL),
              201);
    assert_int_equal(renames(f, &handle, "y", true), E_AuthorizationPermissionMismatch);
    assert_ok(ask(f, "PUT /sha/y?comp=lease", "x-ms-lease-action: break", NULL), 202);
    assert_int_equal(renames(f, &handle, "y", true), OK);
    assert_false(is_there(f, "HEAD /sha/x"));
    assert_true(is_there(f, "HEAD /sha/y"));
}

/* Rule: the directory of the new name must bear that a name is made in it, as one who may write it and shares
 * reading and writing. MS-FSA 2.1.5.15.12 */
static void directory_opens(void **state)
{
    static const struct {
        uint32_t desired;
        uint8_t share;
        enum error error;
    } cases[] = {
        { MAY_READ_DATA, RWD, OK },     { MAY_READ_DATA, R, E_SharingViolation },
        { MAY_READ_DATA, R | W, OK },   { MAY_DELETE, RWD, E_SharingViolation },
        { MAY_READ_ATTRIBUTES, 0, OK },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct held_handle made = opened_directory(f, "dir", MAY_READ_ATTRIBUTES);
        struct handle_open open = asked("dir", cases[i].desired, OPEN_EXISTING);
        struct held_handle file = opened(f, "dir\\x", MAY_RWD, OPEN_OR_NEW);

        open.share = cases[i].share;
        assert_int_equal(run(f, handle_open_attempt, &open), OK);
        assert_int_equal(renames(f, &file, "dir\\y", false), cases[i].error);
        if (!cases[i].error)
            assert_int_equal(renames(f, &file, "dir\\x", false), OK);
        closed(f, &file);
        closed(f, &open.handle);
        closed(f, &made);
    }
}

/* Rule: a directory is renamed with what is below it, unless something of that is open, or it would be below
 * itself. */
static void directories(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_DELETE);
    struct held_handle file = opened(f, "dir\\x", MAY_RWD, OPEN_NEW);
    struct held_handle beside = opened(f, "y", MAY_RWD, OPEN_NEW);

    assert_int_equal(renames(f, &directory, "to", false), E_AuthorizationPermissionMismatch);
    closed(f, &file);
    assert_int_equal(renames(f, &directory, "dir\\in", false), E_InvalidInput);
    assert_int_equal(renames(f, &directory, "y", true), E_AuthorizationPermissionMismatch);
    assert_int_equal(renames(f, &directory, "to", false), OK);
    assert_true(is_there(f, "HEAD /sha/to/x"));
    closed(f, &beside);
}

static void renames_dir(struct fixture *f, void *of)
{
    assert_int_equal(renames(f, of, "to", false), OK);
}

static void opens_x(struct fixture *f, void *of)
{
    *(struct held_handle *)of = opened(f, "dir\\x", MAY_RWD, OPEN_EXISTING);
}

static void makes_y(struct fixture *f, void *of)
{
    *(struct held_handle *)of = opened(f, "dir\\y", MAY_RWD, OPEN_NEW);
}

/* Rule: the open handles that prevent the rename of a directory are those that exist when it is decided. One that is opened before
 * it is committed moves with its file. A path below is not opened once the rename is committed, and a file that is
 * created in the directory has it decided again. decision: 1061 */
static void open_beside_rename(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_DELETE), file;
    struct handle_rename rename = { .tree_connect = the_mount(), .handle = &directory };
    struct handle_open open = asked("dir\\x", MAY_RWD, OPEN_EXISTING);
    struct handle_query query = { .tree_connect = the_mount(),
                                  .handle = &file,
                                  .wants_path = true };
    enum error e;

    make(f, "dir\\x");
    rename.names = names_of("to", &rename.name_count);
    e = run_around(f, handle_rename_attempt, &rename, &(struct between){ makes_y, &file });
    assert_int_equal(e, DECIDE_AGAIN);
    closed(f, &file);
    e = run_around(f, handle_open_attempt, &open, &(struct between){ renames_dir, &directory });
    assert_int_equal(e, DECIDE_AGAIN);
    assert_int_equal(run(f, handle_open_attempt, &open), E_ParentNotFound);
    assert_int_equal(renames(f, &directory, "dir", false), OK);
    e = run_around(f, handle_rename_attempt, &rename, &(struct between){ opens_x, &file });
    assert_int_equal(e, OK);
    assert_int_equal(run(f, handle_query_attempt, &query), OK);
    assert_true(bytes_is(query.path, "to/x"));
    assert_int_equal(writes(f, &file, 0, "four"), OK);
    assert_int_equal(renames(f, &directory, "dir", false), E_AuthorizationPermissionMismatch);
    closed(f, &file);
}

static unsigned woken;

static void count(struct waiter *waiter)
{
    (void)waiter;
    woken++;
}

/* Rule: a request that waits for a node is decided again when its path does not lead there any more: when the file is renamed
 * or a directory above it, over REST or SMB, and when the share is deleted. The rename of another file does not wake it.
 * decision: 1060 */
static void moves_wake(void **state)
{
    static const struct {
        const char *head, *headers;
        unsigned woken;
    } cases[] = {
        { "PUT /sha/other2?comp=rename", "x-ms-file-rename-source: " URL "/other", 0 },
        { "PUT /sha/dir/y?comp=rename", "x-ms-file-rename-source: " URL "/dir/x", 1 },
        { "PUT /sha/to?restype=directory&comp=rename", "x-ms-file-rename-source: " URL "/dir", 1 },
        { "DELETE /sha?restype=share", NULL, 1 },
    };
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_READ_DATA);
    struct held_handle file = opened(f, "dir\\x", MAY_RWD, OPEN_NEW);
    const struct waiter_key key = { .space = the_mount()->space, .node = file.node };
    struct waiter waiter = { .wake = count };

    closed(f, &directory);
    make(f, "other");
    woken = 0;
    assert_int_equal(waiters_add(&key, waiters_turn(), INSTANT_MAX, &waiter), WAITING_KEPT);
    assert_int_equal(renames(f, &file, "dir\\z", false), OK);
    assert_int_equal(woken, 1);
    assert_int_equal(renames(f, &file, "dir\\x", false), OK);
    closed(f, &file);
    directory = opened_directory(f, "dir", MAY_DELETE);
    assert_int_equal(waiters_add(&key, waiters_turn(), INSTANT_MAX, &waiter), WAITING_KEPT);
    assert_int_equal(renames(f, &directory, "away", false), OK);
    assert_int_equal(woken, 2);
    assert_int_equal(renames(f, &directory, "dir", false), OK);
    closed(f, &directory);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status;

        woken = 0;
        assert_int_equal(waiters_add(&key, waiters_turn(), INSTANT_MAX, &waiter), WAITING_KEPT);
        status = ask(f, cases[i].head, cases[i].headers, NULL).status;
        assert_true(status == 200 || status == 202);
        assert_int_equal(woken, cases[i].woken);
        waiters_remove(&waiter);
    }
}

/* Handles of a node in the list of handles. */
struct put_handles {
    uint64_t node, first;
    size_t count;
};

static enum error put_handles(struct decision *d, void *of)
{
    const struct put_handles *put = of;
    enum error e = handle_begin(d, the_mount(), 0);

    for (size_t i = 0; i < put->count && !e; i++)
        handle_put(
            d->changes, d->arena,
            &(struct handle){ .node = put->node, .id = put->first + i, .epoch = open_epoch() });
    return e;
}

#define PUT_AT_ONCE 5000u

/* Rule: any number of handles of a process that has ended does not prevent a rename. */
static void stale_below(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_DELETE);
    struct held_handle file = opened(f, "dir\\x", MAY_RWD, OPEN_NEW);
    struct put_handles put = { .node = file.node, .first = 1, .count = PUT_AT_ONCE };

    for (; put.first <= HANDLE_WORK_MAX; put.first += PUT_AT_ONCE)
        assert_int_equal(run(f, put_handles, &put), OK);
    assert_int_equal(renames(f, &directory, "to", false), E_AuthorizationPermissionMismatch);
    open_epoch_begin();
    directory = opened_directory(f, "dir", MAY_DELETE);
    assert_int_equal(renames(f, &directory, "to", false), OK);
    assert_true(is_there(f, "HEAD /sha/to/x"));
}

struct look_below {
    uint64_t directory;
    unsigned work;
};

static enum error look_below(struct decision *d, void *of)
{
    struct look_below *look = of;
    enum error e = handle_begin(d, the_mount(), 0);

    if (!e)
        assert_int_equal(handle_open_below(&file_state(d)->tree, look->directory, &look->work),
                         STORE_NOT_FOUND);
    return e;
}

/* Rule: handles elsewhere in the share cost a rename one record for each handle and for each directory above one. */
static void renames_are_linear(void **state)
{
    static const char path[] = "a\\a\\a\\a\\a\\a\\a\\a";
    enum { HANDLES = 500, NODES = 9 };
    struct fixture *f = *state;
    struct held_handle file, directory = opened_directory(f, "dir", MAY_DELETE);
    struct put_handles put = { .first = 1, .count = HANDLES };
    struct look_below look = { .directory = directory.node };
    char part[sizeof path];

    for (size_t i = 1; i < sizeof path; i += 2) {
        struct held_handle made;

        memcpy(part, path, i);
        part[i] = '\0';
        made = opened_directory(f, part, MAY_READ_ATTRIBUTES);
        closed(f, &made);
    }
    file = opened(f, arena_string(handles_arena(), arena_printf(handles_arena(), "%s\\x", path)),
                  MAY_RWD, OPEN_NEW);
    put.node = file.node;
    assert_int_equal(run(f, put_handles, &put), OK);
    assert_int_equal(run(f, look_below, &look), OK);
    assert_in_range(look.work, HANDLES, HANDLES + NODES + 3); /* the two that are open; the end */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(patterns),           TEST(patterns_exhaustively), TEST(lists),
        TEST(rest_hides),         TEST(rename_files),          TEST(rename_in_a_snapshot),
        TEST(replaced),           TEST(directory_opens),       TEST(directories),
        TEST(stale_below),        TEST(renames_are_linear),    TEST(moves_wake),
        TEST(open_beside_rename),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
