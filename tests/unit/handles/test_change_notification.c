/* What those who watch directories are told, of changes by SMB and by REST. MS-FSCC 2.7.1; decision: 358 */
#include "handles.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "opens/break_notification.h"
#include "opens/change_notification.h"

struct watching {
    struct watcher watcher;
    char told[1000]; /* "+name -name *name old>new !" */
};

static void told(struct watcher *watcher, const struct change_notification *news)
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
    struct handle_rename rename = { .tree_connect = the_mount(), .handle = handle };

    rename.names = names_of(to, &rename.name_count);
    return run(f, handle_rename_attempt, &rename);
}

/* Rule: each change by SMB is told once, to those who watch it. */
static void by_smb(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_READ_DATA), file;
    struct handle_set_basic basic = { .tree_connect = the_mount(),
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

/* ---- reports of different shares and leases run in parallel ---- */

#define MEET_MAX_S 20

/* The first callback waits until the second one has run. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned called;
    bool is_late; /* the second one did not run within MEET_MAX_S */
} meeting = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void meet(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += MEET_MAX_S;
    pthread_mutex_lock(&meeting.mutex);
    meeting.called++;
    pthread_cond_broadcast(&meeting.changed);
    while (meeting.called < 2 && !meeting.is_late)
        meeting.is_late = pthread_cond_timedwait(&meeting.changed, &meeting.mutex, &until) != 0;
    pthread_mutex_unlock(&meeting.mutex);
}

static void meet_changed(struct watcher *watcher, const struct change_notification *news)
{
    (void)watcher;
    (void)news;
    meet();
}

static void meet_asked(struct break_listener *listener, const struct break_notification *news,
                       bool is_first)
{
    (void)listener;
    (void)news;
    (void)is_first;
    meet();
}

/* Reports a change or a break as a commit does. of: the number of the share, or of the key */
static void report(uint8_t of, bool is_break)
{
    const struct guid id = { { of } };
    struct arena *arena = arena_new(1 << 16);
    struct decision d = { .arena = arena };
    struct tree tree = { .d = &d, .space = id };

    if (is_break)
        break_notification_add(&d, &(struct break_notification){ .key = id });
    else
        notify_gone(&tree, 7);
    d.on_commit->run(d.on_commit);
    arena_free(arena);
}

static void *report_first_change(void *unused)
{
    report(1, false);
    return unused;
}

static void *report_first_break(void *unused)
{
    report(1, true);
    return unused;
}

/* Reports twice, the first one on another thread, and returns whether both ran at the same time. */
static bool run_together(void *(*first)(void *unused), bool is_break)
{
    pthread_t thread;

    meeting.called = 0;
    meeting.is_late = false;
    assert_int_equal(pthread_create(&thread, NULL, first, NULL), 0);
    pthread_mutex_lock(&meeting.mutex);
    while (meeting.called == 0)
        pthread_cond_wait(&meeting.changed, &meeting.mutex);
    pthread_mutex_unlock(&meeting.mutex);
    report(2, is_break);
    pthread_join(thread, NULL);
    return !meeting.is_late;
}

/* Rule: a commit does not wait for the watchers of another share, nor for the listeners of another lease. */
static void in_parallel(void **state)
{
    struct watcher watchers[2];
    struct break_listener listeners[2];

    (void)state;
    for (uint8_t i = 0; i < 2; i++) {
        const struct guid id = { { (uint8_t)(i + 1) } };

        watchers[i] =
            (struct watcher){ .space = id, .directory = 7, .filter = ALL, .changed = meet_changed };
        listeners[i] = (struct break_listener){ .key = id, .on_break = meet_asked };
        watcher_add(&watchers[i]);
        break_listener_add(&listeners[i]);
    }
    assert_true(run_together(report_first_change, false));
    assert_true(run_together(report_first_break, true));
    for (unsigned i = 0; i < 2; i++) {
        watcher_remove(&watchers[i]);
        break_listener_remove(&listeners[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(by_smb), TEST(not_told), TEST(gone), TEST(by_rest),
                                        TEST(in_parallel) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
