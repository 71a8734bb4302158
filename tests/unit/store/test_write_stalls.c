/* Commits while RocksDB has writers wait, until it has flushed or compacted more: a commit that may not wait
 * changes nothing, and one that may is made once, with its tasks. keyspace_write() (keyspace.h) is played. */
#include "conformance.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/thread.h"
#include "store/embedded/embedded_private.h"

enum store_result __real_keyspace_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch);
enum store_result __wrap_keyspace_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch);

static _Thread_local unsigned stalls, asked; /* others write what they like */
/* Not NULL: refuses until the list of tasks takes nothing that is due before `floor_wanted`. */
static _Thread_local struct embedded *floor_of;
static instant floor_wanted;
static atomic_bool is_stalled;
static enum store_result looked; /* by look_for_tasks() */

enum store_result __wrap_keyspace_write(struct keyspace *keyspace, rocksdb_writebatch_t *batch)
{
    asked++;
    if (floor_of && floor_of->deferred.floor < floor_wanted) { /* the commit holds its lock */
        atomic_store(&is_stalled, true);
        return STORE_WAIT;
    }
    if (stalls == 0)
        return __real_keyspace_write(keyspace, batch);
    stalls--;
    return STORE_WAIT;
}

/* How many tasks are due at `now`. */
static unsigned tasks_due(struct fixture *f, instant now)
{
    struct deferred_task task, after;
    unsigned count = 0;
    instant due;

    for (const struct deferred_task *from = NULL;
         store_task_next(f->store, now, from, f->arena, &task, &due) == STORE_OK; from = &after) {
        after = task;
        count++;
    }
    return count;
}

/* Puts "k" and adds a task, while RocksDB refuses so many writes. */
static enum store_result commit_stalled(struct fixture *f, unsigned refused,
                                        struct store_access access, instant due)
{
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    enum store_result result;
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"), bytes_from_string("v"), NULL, 0);
    changes_defer(changes, due, 1, bytes_from_string("payload"));
    stalls = refused;
    asked = 0;
    result = store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                          clock_above(read_view_instant(before)), access, &sequence);
    stalls = 0;
    read_view_close(before);
    return result;
}

static void a_commit_that_may_wait_is_made_once(void **state)
{
    struct fixture *f = *state;
    instant due = clock_now() + TICKS_PER_SECOND;

    assert_int_equal(commit_stalled(f, 3, STORE_MAY_BLOCK, due), STORE_OK);
    assert_int_equal(asked, 4);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "v");
    assert_int_equal(tasks_due(f, due), 1);
    fixture_reopen(f);
    assert_int_equal(tasks_due(f, due), 1);
}

/* Looks for tasks, as their runner does, while a commit waits: from then on none is due before now. */
static void *look_for_tasks(void *of)
{
    struct fixture *f = of;
    struct arena *arena = arena_new(1 << 20);
    struct deferred_task task;
    instant due;

    while (!atomic_load(&is_stalled))
        usleep(1000);
    looked = store_task_next(f->store, floor_wanted, NULL, arena, &task, &due);
    arena_free(arena);
    return NULL;
}

/* Rule: the task of a commit that waits is added once, though meanwhile the list has moved on, and it is due
 * later than it was at the first attempt. */
static void a_task_is_added_once(void **state)
{
    struct fixture *f = *state;
    instant now = clock_now();
    struct thread looker;

    floor_wanted = now;
    floor_of = embedded_of(f->store);
    assert_true(floor_of->deferred.floor < now);
    assert_true(thread_start(&looker, look_for_tasks, f));
    assert_int_equal(commit_stalled(f, 0, STORE_MAY_BLOCK, 1), STORE_OK);
    floor_of = NULL;
    thread_join(&looker);
    assert_int_equal(looked, STORE_NOT_FOUND);
    assert_true(asked > 1);
    assert_int_equal(tasks_due(f, clock_now()), 1);
    fixture_reopen(f);
    assert_int_equal(tasks_due(f, clock_now()), 1);
}

static void a_commit_that_may_not_changes_nothing(void **state)
{
    struct fixture *f = *state;
    instant due = clock_now() + TICKS_PER_SECOND;

    assert_int_equal(commit_stalled(f, 1, (struct store_access){ .may_block = false }, due),
                     STORE_WAIT);
    assert_int_equal(asked, 1);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "(none)");
    assert_int_equal(tasks_due(f, due), 0);
    assert_int_equal(commit_stalled(f, 0, (struct store_access){ .may_block = false }, due),
                     STORE_OK);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "v");
    assert_int_equal(tasks_due(f, due), 1);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(a_commit_that_may_wait_is_made_once, STORES_ON_DISK),
        TEST(a_task_is_added_once, STORES_ON_DISK),
        TEST(a_commit_that_may_not_changes_nothing, STORES_ON_DISK),
    };

    return conformance_run("stalls", tests, sizeof tests / sizeof tests[0]);
}
