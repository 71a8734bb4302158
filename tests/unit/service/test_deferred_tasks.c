/* Deferred tasks that cannot be done: they keep nobody waiting, are tried again ever more seldom, and
 * are done once they can be. decision: 246; service/deferred_tasks.h */
#include "service/deferred_tasks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/log.h"
#include "service/operation.h"
#include "service/task_retry.h"

enum {
    FAILING = 0x901,
    DONE = 0x902,
    UNKNOWN = 0x903,
    GONE = 0x904,
    AGAIN = 0x905,
    LARGE = 0x906,
    AWAY = 0x907
};

static unsigned tried, done;
static bool is_mended;

static enum store_result be_tried(struct decision *d, const struct deferred_task *task,
                                  const struct endpoint *endpoint)
{
    (void)d;
    (void)endpoint;
    tried++;
    assert_int_equal(task->kind, FAILING);
    assert_true(bytes_is(task->payload, "what it holds"));
    return is_mended ? STORE_OK : STORE_CORRUPT;
}

static enum store_result succeed(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    (void)endpoint;
    assert_true(bytes_is(task->payload, "what it holds"));
    assert_true(d->now > 0);
    done++;
    return STORE_OK;
}

/* There is nothing left that it could be done to. */
static enum store_result find_nothing(struct decision *d, const struct deferred_task *task,
                                      const struct endpoint *endpoint)
{
    (void)d;
    (void)task;
    (void)endpoint;
    tried++;
    return STORE_NOT_FOUND;
}

static enum store_result come_again_at_once(struct decision *d, const struct deferred_task *task,
                                            const struct endpoint *endpoint)
{
    (void)endpoint;
    tried++;
    changes_defer(d->changes, 1, AGAIN, task->payload);
    return STORE_OK;
}

/* Two of them do not fit the memory that a task may hold. */
static enum store_result hold_much(struct decision *d, const struct deferred_task *task,
                                   const struct endpoint *endpoint)
{
    (void)endpoint;
    (void)task;
    assert_non_null(arena_bytes(d->arena, (size_t)40 << 20));
    done++;
    return is_mended ? STORE_OK : STORE_CORRUPT;
}

/* Another cell cannot be reached. */
static enum store_result find_no_owner(struct decision *d, const struct deferred_task *task,
                                       const struct endpoint *endpoint)
{
    (void)d;
    (void)task;
    (void)endpoint;
    tried++;
    return is_mended ? STORE_OK : STORE_BUSY;
}

/* The last is no part of the service's list. */
static const struct task_handler kinds[] = {
    { FAILING, "test", be_tried },  { DONE, "test", succeed },
    { GONE, "test", find_nothing }, { AGAIN, "test", come_again_at_once },
    { LARGE, "test", hold_much },   { AWAY, "test", find_no_owner },
    { UNKNOWN, "test", succeed }
};
static const struct service service = { .name = "test",
                                        .task_handlers = kinds,
                                        .task_handler_count = sizeof kinds / sizeof kinds[0] - 1 };
static const struct service without_tasks = { .name = "other" };

struct fixture {
    struct store *store;
    struct partition partition;
    struct arena *arena;
    instant now;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    f->store = store_open_memory();
    f->arena = arena_new(SIZE_MAX);
    f->now = clock_now() + TICKS_PER_SECOND;
    f->partition.key = bytes_from_string("k");
    tried = done = 0;
    is_mended = false;
    *state = f;
    f->partition.space = guid_new();
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    store_close(f->store);
    arena_free(f->arena);
    free(f);
    return 0;
}

static void add_with(struct fixture *f, uint32_t kind, instant due, struct bytes payload)
{
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;

    changes_defer(changes, due, kind, payload);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                                  clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(before);
}

static void add(struct fixture *f, uint32_t kind, instant due)
{
    add_with(f, kind, due, bytes_from_string("what it holds"));
}

/* Says when the next one is due. */
static instant look_at(struct fixture *f, instant now, bool *ret_left)
{
    const struct service *services[] = { &without_tasks, &service };

    return tasks_run_due(f->store, services, NULL, 2, now, ret_left);
}

static bool run_at(struct fixture *f, instant now)
{
    bool left;

    look_at(f, now, &left);
    return left;
}

/* Hundreds of items that fail, or that nobody knows, do not keep those behind them from being done. */
static void others_go_on(void **state)
{
    struct fixture *f = *state;

    for (instant i = 0; i < 600; i++)
        add(f, i % 2 ? FAILING : UNKNOWN, f->now - 1000 + i);
    add(f, DONE, f->now);
    for (int looks = 0; looks < 5 && done == 0; looks++)
        run_at(f, f->now);
    assert_int_equal(done, 1);
}

/* In three hours an item is tried 12 times in the first, then once in each; and it is there with all that
 * it was added with until it succeeds. */
static void seldom_and_never_given_up(void **state)
{
    struct fixture *f = *state;

    add(f, FAILING, f->now);
    for (instant s = 0; s < 3 * 3600; s++)
        run_at(f, f->now + s * TICKS_PER_SECOND);
    assert_in_range(tried, 13, 15);
    is_mended = true;
    tried = 0;
    for (instant s = 0; s <= 3600; s += 60)
        run_at(f, f->now + (3 * 3600 + s) * TICKS_PER_SECOND);
    assert_int_equal(tried, 1);
    assert_false(run_at(f, f->now + 1000000 * TICKS_PER_SECOND));
    assert_int_equal(tried, 1);
}

/* A task that waits for another cell is done within 16 seconds of that cell's return, however long that was away. */
static void soon_after_a_cell_returns(void **state)
{
    struct fixture *f = *state;
    instant s;

    add(f, AWAY, f->now);
    for (s = 0; s < 3600; s++)
        run_at(f, f->now + s * TICKS_PER_SECOND);
    assert_in_range(tried, 200, 3600 / 16 + 10);
    is_mended = true;
    tried = 0;
    for (; s < 3600 + 17; s++)
        run_at(f, f->now + s * TICKS_PER_SECOND);
    assert_int_equal(tried, 1);
}

/* An item of a space that is dropped is not kept, whatever it came to. */
static void dropped_space(void **state)
{
    struct fixture *f = *state;
    struct partition other = { guid_new(), bytes_from_string("o") };
    struct read_view *before = read_view_open(f->store, other, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;

    add(f, FAILING, f->now);
    changes_drop_space(changes, f->partition.space);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                                  clock_above(read_view_instant(before)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(before);
    assert_false(run_at(f, f->now));
    assert_false(run_at(f, f->now + 1000000 * TICKS_PER_SECOND));
    assert_true(tried <= 1);
}

/* A look says whether some failed, and when the next one is due. */
static void what_a_look_says(void **state)
{
    struct fixture *f = *state;
    instant later;
    bool left;

    assert_true(look_at(f, f->now, &left) == INSTANT_MAX);
    assert_false(left);
    add(f, DONE, f->now);
    add(f, DONE, f->now + 7);
    assert_true(look_at(f, f->now, &left) == f->now + 7);
    assert_false(left);
    assert_int_equal(done, 1);
    assert_true(look_at(f, f->now + 7, &left) == INSTANT_MAX);
    later = f->now + TICKS_PER_SECOND;
    add(f, FAILING, later);
    assert_true(look_at(f, later, &left) == later + TICKS_PER_SECOND); /* it was put off */
    assert_true(left);
}

/* What is damaged stays, and keeps nobody behind it waiting. */
static void damaged_items(void **state)
{
    struct fixture *f = *state;

    for (instant i = 0; i < 3; i++)
        add_with(f, TASK_RETRY, f->now - 10 + i, bytes_from_string("\2nonsense"));
    add(f, DONE, f->now);
    assert_true(run_at(f, f->now));
    assert_int_equal(done, 1);
    assert_true(run_at(f, f->now));
}

/* An item that finds nothing is done with. */
static void nothing_left_to_do(void **state)
{
    struct fixture *f = *state;

    add(f, GONE, f->now);
    assert_false(run_at(f, f->now));
    assert_false(run_at(f, f->now + 1000000 * TICKS_PER_SECOND));
    assert_int_equal(tried, 1);
}

/* A look ends, whatever comes meanwhile. */
static void items_that_come_again(void **state)
{
    struct fixture *f = *state;
    bool left;

    add(f, AGAIN, 1);
    assert_true(look_at(f, f->now, &left) <= f->now);
    assert_false(left);
    assert_in_range(tried, 1, 1000);
}

/* What a task held is given back before the next one, whether it was done or has failed. */
static void memory_is_of_one_task(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 3; i++)
        add(f, LARGE, f->now);
    assert_true(run_at(f, f->now));
    assert_int_equal(done, 3);
    is_mended = true;
    assert_false(run_at(f, f->now + TICKS_PER_SECOND));
    assert_int_equal(done, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(others_go_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seldom_and_never_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(soon_after_a_cell_returns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dropped_space, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_look_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_items, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_left_to_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(items_that_come_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_is_of_one_task, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
