/* Locks that front ends have left go by themselves, though nobody writes, or reads, where they are. store/rados/transaction.h,
 * own_tasks.h, on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "../../../rados/live.h"
#include "base/sleeper.h"
#include "store/rados/blocking.h"
#include "store/rados/row_key.h"
#include "store/rados/transaction.h"
#include "store/record_value.h"

/* A commit over three partitions is some 30 ops, where shards are made and hints written. */
enum { PARTS = 3, CUTS = 60, INCARNATION = 77 };

static const struct partition apart[PARTS] = {
    { { { 1 } }, { "a", 1 } },
    { { { 2 } }, { "b", 1 } },
    { { { 3 } }, { "c", 1 } },
};

/* Of one shard, and the locks of the first two, but for the last, would be noted in one slot: find_alike() */
static char names[PARTS][8];
static struct partition alike[PARTS];

static const struct partition *places = apart;

static void find_alike(void)
{
    unsigned other = 0;

    for (unsigned i = 0; i < PARTS; i++) {
        (void)snprintf(names[i], sizeof names[i], "%c", 'a' + (int)i);
        alike[i] = (struct partition){ { { 4 } }, bytes_from_string(names[i]) };
    }
    do
        (void)snprintf(names[1], sizeof names[1], "b%u", other++);
    while (row_slot_of(bytes_from_string(names[1])) != row_slot_of(alike[0].key));
    alike[1].key = bytes_from_string(names[1]);
}

/* A front end without threads of its own, so that what it sends is always the same. */
struct writer {
    struct transaction_owner owner; /* first */
    struct waiter *waiter;
    enum store_result result;
};

static void decided(struct transaction_owner *owner, enum store_result result)
{
    ((struct writer *)(void *)owner)->result = result;
}

static void ended(struct transaction_owner *owner)
{
    struct waiter *waiter = ((struct writer *)(void *)owner)->waiter;

    waiter->wake(waiter);
}

/* Puts the record into all of them, or does not. */
static enum store_result put_all(struct port *port)
{
    struct shards *shards = shards_new(port, INCARNATION);
    struct arena *arena = arena_new(1u << 20);
    struct writer writer = { .owner = { decided, ended } };
    struct transaction *transaction = transaction_new(shards, arena, clock_now(), &writer.owner);
    const struct partition_header absent = { .version = 0 };
    struct bytes value =
        row_value_write(arena, record_value_encode(arena, bytes_from_string("v"), NULL, 0));
    struct sleeper sleeper;

    for (unsigned i = 0; i < PARTS; i++)
        part_work_set(transaction_add(transaction, &places[i], &absent, false), arena,
                      row_key_record(arena, RECORD_LISTED, places[i].key, bytes_from_string("k")),
                      value);
    sleeper_init(&sleeper);
    writer.waiter = sleeper_arm(&sleeper);
    transaction_start(transaction);
    sleeper_wait(&sleeper);
    shards_wait_idle(shards, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    shards_free(shards);
    arena_free(arena);
    return writer.result;
}

/* Rows of a shard that belong to a transaction. */
struct left {
    struct port *port;
    unsigned locks, others, tasks;
};

static void count_row(struct left *left, struct arena *arena, const struct port_row *row)
{
    struct partition_header header;
    struct row_name name;

    assert_true(row_key_read(row->key, arena, &name));
    if (name.kind == ROW_HEADER) {
        assert_int_equal(partition_header_read(row->value, &header), STORE_OK);
        left->locks += partition_is_locked(&header);
    }
    left->others += name.kind == ROW_PREPARED || name.kind == ROW_DECIDED ||
                    (name.kind == ROW_SLOT && row->value.len > 0);
    left->tasks += name.kind == ROW_TASK;
}

static struct left look(struct port *port)
{
    struct left left = { .port = port };

    for (unsigned i = 0; i < (places == alike ? 1 : PARTS); i++) {
        struct port_op *op = arrival_op();
        struct port_step *list =
            port_list(op, (struct bytes){ NULL, 0 }, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
        char object[SHARD_NAME_SIZE];
        struct arrival *arrival;

        shard_name(&places[i].space, 0, 0, object);
        arrival = send_block(port, object, op);
        assert_true(op->result == PORT_OK || op->result == PORT_ABSENT);
        for (uint32_t k = 0; !op->result && k < list->row_count; k++)
            count_row(&left, op->arena, &list->rows[k]);
        arrival_drop(arrival);
    }
    return left;
}

static unsigned records(struct store *store, struct arena *arena)
{
    unsigned count = 0;

    for (unsigned i = 0; i < PARTS; i++) {
        struct snapshot *snapshot = snapshot_open(store, places[i], STORE_MAY_BLOCK);
        struct record record;

        count += snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("k"), arena, &record) ==
                 STORE_OK;
        snapshot_close(snapshot);
    }
    return count;
}

/* One that is cut off after so many ops; then another does what is due. Returns how many locks there were meanwhile. */
static unsigned die_after(unsigned ops, bool is_next_applied)
{
    struct live *live = live_new((struct fake_options){ .seed = ops + 1 });
    struct port *port = live_client(live), *other = live_client(live);
    struct arena *arena = arena_new(1u << 20);
    struct left before, after;
    struct store_usage usage;
    struct store *store;
    unsigned found;

    live_cut(live, port, ops, is_next_applied);
    (void)put_all(port);
    before = look(other);
    store = live_open(other, 0);
    store_collect_now(store, &usage);
    after = look(other);
    assert_int_equal(after.locks, 0);
    assert_int_equal(after.others, 0);
    assert_int_equal(after.tasks, 0);
    found = records(store, arena);
    assert_true(found == 0 || found == PARTS);
    store_close(store);
    live_free(live);
    arena_free(arena);
    return before.locks;
}

/* Rule: at whichever op of a commit over several partitions a front end dies, nothing of it is left once its tasks were
 * due. */
static void left_by_the_dead(void **state)
{
    unsigned locks = 0;

    places = *state;
    for (unsigned ops = 0; ops < CUTS; ops++) {
        locks += die_after(ops, false);
        locks += die_after(ops, true);
    }
    print_message("%u locks were left\n", locks);
    assert_true(locks > 8); /* else no death was where it matters */
}

/* Rule: a commit goes through, whichever partitions it is of (decision 843), and who ends its commits itself leaves no
 * tasks. */
static void left_by_none(void **state)
{
    struct live *live = live_new((struct fake_options){ .seed = 9 });
    struct left left;

    places = *state;
    assert_int_equal(put_all(live_port(live)), STORE_OK);
    left = look(live_client(live));
    assert_int_equal(left.locks, 0);
    assert_int_equal(left.others, 0);
    assert_int_equal(left.tasks, 0);
    live_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(left_by_the_dead, (void *)(uintptr_t)apart),
        cmocka_unit_test_prestate(left_by_none, (void *)(uintptr_t)apart),
        cmocka_unit_test_prestate(left_by_the_dead, alike),
        cmocka_unit_test_prestate(left_by_none, alike),
    };

    find_alike();

    return cmocka_run_group_tests(tests, NULL, NULL);
}
