/* What reads many partitions meets what is decided and not settled. store/rados/walk.h, on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "../../../rados/fake.h"
#include "store/rados/transaction.h"
#include "store/rados/walk.h"

/* Killed front ends leave what they had in memory. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}

enum { SEEDS = 24 };

/* Of spaces of one lane each. */
static const struct partition first = { { { 0 } }, BYTES("a") };
static const struct partition primary = { { { 1 } }, BYTES("b") };

struct lone {
    struct transaction_owner owner; /* first */
    bool is_decided;
};

static void decided(struct transaction_owner *owner, enum store_result result)
{
    assert_int_equal(result, STORE_OK);
    ((struct lone *)(void *)owner)->is_decided = true;
}

static void ended(struct transaction_owner *owner)
{
    (void)owner;
}

/* A commit over two partitions, in the first of which there are a LISTED record, one of an index, and a count; its front
 * end is killed as soon as it is decided. */
static void leave_decided(struct fake *fake, struct arena *arena)
{
    struct port *port = fake_client(fake);
    struct shards *shards = shards_new(port, 1);
    const struct partition_header absent = { .version = 0 };
    struct lone lone = { .owner = { decided, ended } };
    struct transaction *t = transaction_new(shards, arena, 5, &lone.owner);
    struct part_work *work = transaction_add(t, &first, &absent, false);

    part_work_set(work, arena,
                  row_key_record(arena, RECORD_LISTED, first.key, bytes_from_string("n")),
                  row_value_write(arena, bytes_from_string("v")));
    part_work_set(work, arena, row_key_index(arena, bytes_from_string("i"), first.key),
                  row_value_write(arena, bytes_from_string("w")));
    part_work_count(work, arena, bytes_from_string("c"), 3);
    (void)transaction_add(t, &primary, &absent, false);
    transaction_start(t);
    while (!lone.is_decided)
        assert_true(fake_step(fake));
    fake_client_kill(fake, port);
}

static void ignore(struct waiter *waiter)
{
    (void)waiter;
}

static void wait_for(struct fake *fake, struct walk *walk)
{
    struct waiter waiter = { .wake = ignore };

    arrival_wait(walk_arrival(walk), &waiter);
    while (fake_step(fake))
        ;
}

static void expect_row(struct fake *fake, struct walk *walk, const char *from, const char *value)
{
    enum store_result result;
    struct bytes key, found;

    while ((result = walk_next(walk, bytes_from_string(from), &key, &found)) == STORE_WAIT)
        wait_for(fake, walk);
    assert_int_equal(result, STORE_OK);
    assert_true(bytes_is(found, value));
}

static void expect_sum(struct fake *fake, struct walk *walk, int64_t expected)
{
    enum store_result result;
    int64_t sum = 0;

    while ((result = walk_sum(walk, bytes_from_string("c"), &sum)) == STORE_WAIT)
        wait_for(fake, walk);
    assert_int_equal(result, STORE_OK);
    assert_int_equal(sum, expected);
}

/* Rule: a walk shows what was decided before it began, though its partition is still locked: slots say so. */
static void decided_is_seen(void **state)
{
    static const enum walk_kind kinds[] = { WALK_LISTED, WALK_INDEX, WALK_COUNTERS };

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct fake *fake = fake_new((struct fake_options){ .seed = seed });
        struct arena *arena = arena_new(1u << 20);
        struct shards *shards = shards_new(fake_client(fake), 2);
        enum walk_kind kind = kinds[seed % 3];
        struct walk *walk = walk_open(shards, &first.space, kind);

        leave_decided(fake, arena);
        if (kind == WALK_COUNTERS)
            expect_sum(fake, walk, 3);
        else
            expect_row(fake, walk, kind == WALK_LISTED ? "L" : "I",
                       kind == WALK_LISTED ? "v" : "w");
        walk_close(walk);
        while (fake_step(fake))
            ;
        shards_free(shards);
        fake_free(fake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decided_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
