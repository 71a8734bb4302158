/* How a pending copy ends beside SMB clients that have its file open. file/pending_file.h; decisions: 490, 500 */
#include "pending_world.h"

#include <stdio.h>

#include "opens/change_notification.h"
#include "opens/open_record.h"

/* An SMB client has it open for reading. locked: bytes of it */
static void opens(struct world *w, struct open_entry *open, uint8_t share, uint16_t locked)
{
    struct changes *changes = changes_new(w->arena);
    const struct byte_lock lock = { .range = { 1000, 1 }, .owner = open->id };
    struct open_set set = { .opens = open, .open_count = 1, .lock_count = locked };

    open->open.share = share;
    open_set_write(changes, w->arena, &set);
    if (locked > 0)
        byte_locks_write(changes, w->arena, &lock, 1);
    commits(w, changes);
}

static void aborts(struct world *w, int status, const char *code)
{
    const char *id = "01020300-0000-0000-0000-000000000000";
    struct reply reply =
        askf(w->f, "x-ms-copy-action: abort", NULL, "PUT /sha/f?comp=copy&copyid=%s", id);

    if (code)
        assert_answer(reply, status, code);
    else
        assert_ok(reply, status);
}

/* Rule: an SMB client that does not let others write, or has locked any bytes, holds up the last commit alone,
 * however the copy ends. semantics 8.2; decisions: 490, 500 */
static void waits_for_handles(void **state)
{
    struct world *w = *state;
    struct open_entry open = { .id = clock_now(),
                               .epoch = open_epoch(),
                               .open = { .access = ACCESS_READ, .caching = NO_CACHING } };

    opens(w, &open, 0, 0);
    assert_int_equal(steps(w, 0, LENGTH), OK);
    assert_int_equal(act(w, COMPLETE), E_ServerBusy);
    assert_int_equal(act(w, FAIL), E_ServerBusy);
    aborts(w, 409, "SharingViolation");
    opens(w, &open, ACCESS_ALL, 1);
    assert_int_equal(act(w, COMPLETE), E_ServerBusy);
    assert_int_equal(act(w, FAIL), E_ServerBusy);
    aborts(w, 409, "FileLockConflict");
    assert_status(w, "pending", "200000");
    open_epoch_begin(); /* its process has ended */
    assert_int_equal(act(w, COMPLETE), OK);
    assert_status(w, "success", "200000");
}

/* Rule: what SMB clients have cached of a file that becomes empty is taken from them first. decision: 500 */
static void caches_end_with_it(void **state)
{
    struct world *w = *state;
    struct caching_entry caching = {
        .caching = { .holds = CACHING_READ, .breaks_to = CACHING_READ }, .reported = CACHING_READ
    };
    struct open_entry open = { .id = clock_now(),
                               .epoch = open_epoch(),
                               .open = {
                                   .access = ACCESS_READ, .share = ACCESS_ALL, .caching = 0 } };
    struct open_set set = {
        .opens = &open, .open_count = 1, .cachings = &caching, .caching_count = 1
    };
    struct changes *changes = changes_new(w->arena);
    struct read_view *before;
    struct open_set now;
    struct bytes value;

    open_set_write(changes, w->arena, &set);
    commits(w, changes);
    aborts(w, 204, NULL);
    before = read_view_open(store_of(w->f), w->partition, STORE_MAY_BLOCK);
    assert_int_equal(open_set_get(before, w->arena, &value), STORE_OK);
    assert_true(open_set_decode(w->arena, value, 0, 0, &now));
    read_view_close(before);
    assert_int_equal(now.caching_count, 1);
    assert_int_equal(now.cachings[0].caching.holds, 0);
    assert_status(w, "aborted", "0");
}

/* ---- who watches the directory ---- */

static char heard[40];

static void hear(struct watcher *watcher, const struct change_notification *news)
{
    size_t length = strlen(heard);

    (void)watcher;
    (void)snprintf(heard + length, sizeof heard - length, "%d%.*s ", (int)news->action,
                   BYTES_ARG(news->path));
}

/* Rule: who watches the directory is told when the copy has ended, by its job or aborted. decision: 625 */
static void tells_its_end(void **state)
{
    struct world *w = *state;
    struct watcher watcher = {
        .space = w->space, .directory = TREE_ROOT, .filter = CHANGE_LAST_WRITE, .changed = hear
    };

    heard[0] = '\0';
    watcher_add(&watcher);
    assert_int_equal(steps(w, 0, HALF), OK);
    assert_string_equal(heard, "");
    assert_int_equal(act(w, FAIL), OK);
    assert_string_equal(heard, "3f ");
    watcher_remove(&watcher);
}

static void tells_that_it_is_aborted(void **state)
{
    struct world *w = *state;
    struct watcher watcher = {
        .space = w->space, .directory = TREE_ROOT, .filter = CHANGE_SIZE, .changed = hear
    };

    heard[0] = '\0';
    watcher_add(&watcher);
    aborts(w, 204, NULL);
    assert_string_equal(heard, "3f ");
    watcher_remove(&watcher);
}

static void tells_that_it_is_there(void **state)
{
    struct world *w = *state;
    struct watcher watcher = {
        .space = w->space, .directory = TREE_ROOT, .filter = CHANGE_LAST_WRITE, .changed = hear
    };

    heard[0] = '\0';
    watcher_add(&watcher);
    assert_int_equal(steps(w, 0, LENGTH), OK);
    assert_int_equal(act(w, COMPLETE), OK);
    assert_string_equal(heard, "3f ");
    watcher_remove(&watcher);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pending_set_up, pending_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(waits_for_handles),        TEST(caches_end_with_it),     TEST(tells_its_end),
        TEST(tells_that_it_is_aborted), TEST(tells_that_it_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
