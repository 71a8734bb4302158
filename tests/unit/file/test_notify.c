/* What those who watch directories are told, of changes by SMB and by REST. MS-FSCC 2.7.1; decision: 358 */
#include "handles.h"

#include <stdio.h>

#include "file/notify.h"

struct watching {
    struct watcher watcher;
    char told[1000]; /* "+name -name *name old>new !" */
};

static void told(struct watcher *watcher, const struct change_news *news)
{
    struct watching *w = (struct watching *)(void *)watcher;
    size_t length = strlen(w->told);
    char sign = news->action == CHANGE_ADDED          ? '+'
                : news->action == CHANGE_REMOVED      ? '-'
                : news->action == CHANGE_MODIFIED     ? '*'
                : news->action == CHANGE_WATCHED_GONE ? '!'
                                                      : '>';

    (void)snprintf(w->told + length, sizeof w->told - length, "%s%c%.*s%s%.*s", length ? " " : "",
                   sign, BYTES_ARG(news->path), news->new_path.ptr ? ">" : "",
                   BYTES_ARG(news->new_path));
}

static void watch(struct watching *w, uint64_t directory, uint32_t filter, bool is_recursive)
{
    *w = (struct watching){ .watcher = { .space = the_mount()->space,
                                         .directory = directory,
                                         .filter = filter,
                                         .is_recursive = is_recursive,
                                         .changed = told } };
    watcher_add(&w->watcher);
}

#define assert_told(w, text)                                                                       \
    do {                                                                                           \
        assert_string_equal((w)->told, text);                                                      \
        (w)->told[0] = '\0';                                                                       \
    } while (0)

#define NAMES (CHANGE_FILE_NAME | CHANGE_DIRECTORY_NAME)
#define ALL   0x1FFu

static enum error renames(struct fixture *f, const struct held_handle *handle, const char *to)
{
    struct handle_rename rename = { .mount = the_mount(), .handle = handle };

    rename.names = names_of(to, &rename.name_count);
    return run(f, handle_rename_attempt, &rename);
}

/* Rule: each change by SMB is told once, to those who watch it. */
static void by_smb(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_READ_DATA), file;
    struct handle_set_basic basic = { .mount = the_mount(),
                                      .handle = &file,
                                      .has_attributes = true,
                                      .attributes = ATTRIBUTE_HIDDEN };
    struct watching all, names, root, deep, other;

    watch(&all, directory.node, ALL, false);
    watch(&names, directory.node, NAMES, false);
    watch(&root, TREE_ROOT, ALL, false);
    watch(&deep, TREE_ROOT, ALL, true);
    watch(&other, directory.node + 1, ALL, true);
    file = opened(f, "dir\\x", MAY_RWD, OPEN_NEW);
    assert_told(&all, "+x");
    assert_told(&names, "+x");
    assert_told(&deep, "+dir/x");
    assert_int_equal(writes(f, &file, 0, "a"), OK);
    assert_told(&all, "*x");
    assert_told(&deep, "*dir/x");
    assert_int_equal(run(f, handle_set_basic_attempt, &basic), OK);
    assert_told(&all, "*x");
    assert_told(&deep, "*dir/x");
    assert_int_equal(renames(f, &file, "dir\\y"), OK);
    assert_told(&all, ">x>y");
    assert_told(&deep, ">dir/x>dir/y");
    assert_told(&names, ">x>y");
    assert_int_equal(renames(f, &file, "z"), OK);
    assert_told(&all, "-y");
    assert_told(&root, "+z");
    assert_told(&deep, "-dir/y +z");
    assert_told(&names, "-y");
    assert_int_equal(sets_pending(f, &file, true), OK);
    assert_told(&root, "");
    assert_true(closed(f, &file));
    assert_told(&root, "-z");
    assert_told(&deep, "-z");
    assert_told(&other, "");
    watcher_remove(&all.watcher);
    watcher_remove(&names.watcher);
    watcher_remove(&root.watcher);
    watcher_remove(&deep.watcher);
    watcher_remove(&other.watcher);
}

/* Rule: what is refused is not told; nor what happens after the watch. */
static void not_told(void **state)
{
    struct fixture *f = *state;
    struct held_handle file = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct handle_open again = asked("x", MAY_RWD, OPEN_NEW);
    struct watching w;

    watch(&w, TREE_ROOT, ALL, true);
    assert_int_equal(run(f, handle_open_attempt, &again), E_ResourceAlreadyExists);
    assert_int_equal(writes(f, &file, UINT64_MAX, "a"), E_InvalidRange);
    assert_told(&w, "");
    watcher_remove(&w.watcher);
    assert_int_equal(writes(f, &file, 0, "a"), OK);
    assert_told(&w, "");
}

/* Rule: a directory that is to be deleted, or is, ends the watches of it. */
static void gone(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_DELETE);
    struct watching w;

    watch(&w, directory.node, ALL, false);
    assert_int_equal(sets_pending(f, &directory, true), OK);
    assert_told(&w, "!");
    watcher_remove(&w.watcher);
    assert_true(closed(f, &directory));
    assert_ok(ask(f, "PUT /sha/dir?restype=directory", NULL, NULL), 201);
    directory = opened_directory(f, "dir", MAY_READ_ATTRIBUTES);
    closed(f, &directory);
    watch(&w, directory.node, ALL, false);
    assert_ok(ask(f, "DELETE /sha/dir?restype=directory", NULL, NULL), 202);
    assert_told(&w, "!");
    watcher_remove(&w.watcher);
}

/* Rule: changes by REST are told as those by SMB, by the names as they are written there, whatever case was asked for; a
 * name that stays as it is is no change. decision: 358, 625 */
static void by_rest(void **state)
{
    static const struct {
        const char *target, *headers, *body, *told;
    } steps[] = {
        { "PUT /sha/dir?restype=directory", NULL, NULL, "+dir" },
        { "PUT /sha/dir/x", "x-ms-type: file\nx-ms-content-length: 10", NULL, "+dir/x" },
        { "PUT /sha/dir/x", "x-ms-type: file\nx-ms-content-length: 10", NULL, "*dir/x" },
        { "PUT /sha/dir/x?comp=range", "x-ms-write: update\nx-ms-range: bytes=0-0", "x", "*dir/x" },
        { "PUT /sha/dir/x?comp=range", "x-ms-write: clear\nx-ms-range: bytes=0-0", NULL, "*dir/x" },
        { "PUT /sha/dir/x?comp=properties", "x-ms-content-length: 5", NULL, "*dir/x" },
        { "PUT /sha/dir?restype=directory&comp=properties", "x-ms-file-attributes: Hidden", NULL,
          "*dir" },
        { "PUT /sha/dir/y?comp=rename",
          "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/dir/x", NULL,
          ">dir/x>dir/y" },
        { "GET /sha/dir/y", NULL, NULL, "" },
        { "PUT /sha/dir/y?comp=rename",
          "x-ms-file-rename-replace-if-exists: true\n"
          "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/dir/Y",
          NULL, "" },
        { "PUT /sha/dir/Y?comp=rename",
          "x-ms-file-rename-replace-if-exists: true\n"
          "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/dir/Y",
          NULL, ">dir/y>dir/Y" },
        { "PUT /sha/dir/y?comp=properties", "x-ms-content-length: 6", NULL, "*dir/Y" },
        { "DELETE /sha/dir/y", NULL, NULL, "-dir/Y" },
    };
    struct fixture *f = *state;
    struct watching w;

    watch(&w, TREE_ROOT, ALL, true);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_true(ask(f, steps[i].target, steps[i].headers, steps[i].body).status < 300);
        assert_told(&w, steps[i].told);
    }
    watcher_remove(&w.watcher);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(by_smb), TEST(not_told), TEST(gone), TEST(by_rest) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
