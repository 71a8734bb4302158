/* What is known of spaces: dropped ones are known as long as somebody may have their ids, and then
 * forgotten; who changes a space does not wait for a gap between readers. store/embedded/spaces.h;
 * decision: 248 */
#include "conformance.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "store/embedded/spaces.h"

static void drop(struct spaces *spaces, const struct guid *space)
{
    struct space_set set = { 0 };

    space_set_add_exclusive(&set, space);
    spaces_enter_set(spaces, &set);
    spaces_add_dropped(spaces, space, 7);
    spaces_leave_set(spaces, &set);
}

static uint64_t dropped_at(struct spaces *spaces, const struct guid *space)
{
    uint64_t sequence;

    spaces_enter(spaces, space);
    sequence = spaces_dropped_at(spaces, space);
    spaces_leave(spaces, space);
    return sequence;
}

static size_t room(const struct spaces *spaces)
{
    size_t entries = 0;

    for (unsigned i = 0; i < SPACE_LOCKS; i++)
        entries += spaces->locks[i].capacity;
    return entries;
}

#define COUNT 100000u

/* 100,000 dropped spaces take no memory some time after they were collected. */
static void forgotten_when_collected(void **state)
{
    struct spaces *spaces = xcalloc(1, sizeof *spaces);
    struct guid *ids = xcalloc(COUNT, sizeof ids[0]), kept = guid_new();

    (void)state;
    spaces_init(spaces);
    drop(spaces, &kept);
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] = guid_new();
        drop(spaces, &ids[i]);
        if (i % 2 == 0)
            spaces_collected(spaces, &ids[i]);
    }
    for (unsigned round = 1; round < SPACE_ROUNDS; round++)
        spaces_end_round(spaces);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(dropped_at(spaces, &ids[i]), 7);
    spaces_end_round(spaces);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(dropped_at(spaces, &ids[i]), i % 2 ? 7 : 0);
    for (size_t i = 1; i < COUNT; i += 2)
        spaces_collected(spaces, &ids[i]);
    assert_int_equal(spaces->collected, COUNT / 2);
    for (unsigned round = 0; round < SPACE_ROUNDS; round++)
        spaces_end_round(spaces);
    assert_int_equal(spaces->collected, 0);
    assert_int_equal(dropped_at(spaces, &kept), 7);
    assert_true(room(spaces) <= 16);
    spaces_release(spaces);
    free(spaces);
    free(ids);
}

/* ---- who comes first ---- */

/* Counted from when the writer is about to ask: it may have to wait for a processor too. */
#define PASSES 10000000u

static struct spaces *crowded;
static struct guid crowded_space;
static _Atomic unsigned inside;
static atomic_bool asks, has_entered;
static _Atomic unsigned long passes;

/* Leaves when another one has come, so that the lock is never free; or when none can come. */
static void *read_by_turns(void *argument)
{
    (void)argument;
    while (!has_entered && passes < PASSES) {
        spaces_enter(crowded, &crowded_space);
        inside++;
        for (int i = 0; i < 1000 && inside < 2 && !has_entered; i++)
            sched_yield();
        inside--;
        passes += asks;
        spaces_leave(crowded, &crowded_space);
    }
    return NULL;
}

static void *change(void *argument)
{
    (void)argument;
    asks = true;
    drop(crowded, &crowded_space);
    has_entered = true;
    return NULL;
}

/* A writer enters while there is always a reader. */
static void writers_enter(void **state)
{
    pthread_t readers[4], writer;

    (void)state;
    crowded = xcalloc(1, sizeof *crowded);
    crowded_space = guid_new();
    spaces_init(crowded);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_by_turns, NULL), 0);
    while (inside == 0)
        sched_yield();
    assert_int_equal(pthread_create(&writer, NULL, change, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(readers[i], NULL);
    pthread_join(writer, NULL);
    assert_true(passes < PASSES);
    spaces_release(crowded);
    free(crowded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgotten_when_collected),
        cmocka_unit_test(writers_enter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
