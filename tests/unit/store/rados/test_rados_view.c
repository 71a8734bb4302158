/* A view shows one state of one partition, or says that it is gone; most of it in one op.
 * store/rados/view.h, on the RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../rados/fake.h"
#include "store/rados/row_key.h"
#include "store/rados/view.h"
#include "store/record_value.h"

#define B(s) bytes_from_string(s)

struct fixture {
    struct fake *fake;
    struct port *port;
    struct shards *shards;
    struct guid space; /* of one lane */
    char object[SHARD_NAME_SIZE];
    struct arena *arena;
    uint64_t version;
};

static void ignore(struct port_op *op)
{
    port_op_free(op);
}

static void run(struct fixture *f)
{
    while (fake_step(f->fake))
        ;
}

static struct port_op *op_new(void)
{
    return port_op_new(ignore, NULL);
}

static void set_row(struct fixture *f, struct bytes key, struct bytes value)
{
    struct port_op *op = op_new();

    port_set(op, key, value);
    port_send(f->port, f->object, op);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 1 };

    f->fake = fake_new((struct fake_options){ .seed = 3 });
    f->port = fake_client(f->fake);
    f->shards = shards_new(f->port, 1);
    f->arena = arena_new(64u << 20);
    shard_name(&f->space, 0, 0, f->object);
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    run(f);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    run(f);
    shards_free(f->shards);
    arena_free(f->arena);
    fake_free(f->fake);
    free(f);
    return 0;
}

/* As a commit does, in one op; nothing waits for it. */
static void put(struct fixture *f, const char *partition, enum record_family family,
                const char *key, const char *value)
{
    struct port_op *op = op_new();
    struct partition_header header = { .version = ++f->version, .attempts = { { 1, f->version } } };

    port_set(op, row_key_header(f->arena, B(partition)), partition_header_write(f->arena, &header));
    port_set(op, row_key_record(f->arena, family, B(partition), B(key)),
             row_value_write(f->arena, record_value_encode(f->arena, B(value), NULL, 0)));
    port_send(f->port, f->object, op);
}

struct counted {
    struct waiter waiter; /* first */
    unsigned woken;
};

static void wake(struct waiter *waiter)
{
    ((struct counted *)(void *)waiter)->woken++;
}

/* As a caller does: again when it is woken. */
static enum store_result get(struct fixture *f, struct view *view, enum record_family family,
                             const char *key, struct record *ret_record)
{
    enum store_result result;

    while ((result = view_get(view, family, B(key), f->arena, ret_record)) == STORE_WAIT) {
        struct counted counted = { .waiter = { .wake = wake } };

        arrival_wait(view_arrival(view), &counted.waiter);
        run(f);
        assert_int_equal(counted.woken, 1);
    }
    return result;
}

static struct view *open_view(struct fixture *f, const char *partition)
{
    return view_open(f->shards, &(struct partition){ f->space, B(partition) });
}

static void expect(struct fixture *f, struct view *view, enum record_family family, const char *key,
                   const char *value)
{
    struct record record;

    if (!value) {
        assert_int_equal(get(f, view, family, key, &record), STORE_NOT_FOUND);
        return;
    }
    assert_int_equal(get(f, view, family, key, &record), STORE_OK);
    assert_true(bytes_is(record.value, value));
}

/* All there is of a small partition, and what is not there, comes with one op; nothing of others. */
static void small_partition(void **state)
{
    struct fixture *f = *state;
    struct view *view;
    uint64_t before;

    put(f, "p", RECORD_LISTED, "a", "listed");
    put(f, "p", RECORD_INNER, "a", "inner");
    put(f, "p", RECORD_INNER, "", "empty key");
    put(f, "p\x01", RECORD_INNER, "b", "another's");
    put(f, "pp", RECORD_LISTED, "b", "another's");
    run(f);
    before = fake_applied(f->fake);
    view = open_view(f, "p");
    expect(f, view, RECORD_LISTED, "a", "listed");
    expect(f, view, RECORD_INNER, "a", "inner");
    expect(f, view, RECORD_INNER, "", "empty key");
    expect(f, view, RECORD_LISTED, "b", NULL);
    expect(f, view, RECORD_INNER, "b", NULL);
    assert_int_equal(fake_applied(f->fake) - before, 1);
    assert_int_equal(view_header(view)->version, 3);
    view_close(view);

    before = fake_applied(f->fake);
    view = open_view(f, "none");
    expect(f, view, RECORD_LISTED, "a", NULL);
    assert_int_equal(view_header(view)->version, 0);
    assert_int_equal(fake_applied(f->fake) - before, 1);
    view_close(view);
}

/* Who asks while a first read is in flight shares the next one, and sees what was written before he asked. decision: 812 */
static void shared_first_reads(void **state)
{
    struct fixture *f = *state;
    struct counted counted = { .waiter = { .wake = wake } };
    struct view *first = open_view(f, "p"), *others[3];
    uint64_t before;

    put(f, "p", RECORD_LISTED, "a", "old");
    run(f);
    before = fake_applied(f->fake);
    assert_int_equal(view_begin(first), STORE_WAIT);
    put(f, "p", RECORD_LISTED, "a", "new");
    for (unsigned i = 0; i < 3; i++) {
        others[i] = open_view(f, "p");
        assert_int_equal(view_begin(others[i]), STORE_WAIT);
    }
    view_close(others[2]); /* who leaves takes nothing from the others */
    arrival_wait(view_arrival(first), &counted.waiter);
    run(f);
    assert_int_equal(counted.woken, 1);
    assert_int_equal(fake_applied(f->fake) - before, 3);
    expect(f, first, RECORD_LISTED, "a", "old");
    view_close(first);
    for (unsigned i = 0; i < 2; i++) {
        expect(f, others[i], RECORD_LISTED, "a", "new");
        view_close(others[i]);
    }
    assert_int_equal(fake_applied(f->fake) - before, 3);
}

/* Beyond the first read each record is an op, once. */
static void large_partition(void **state)
{
    struct fixture *f = *state;
    struct view *view;
    uint64_t before;
    char key[8];

    for (unsigned i = 0; i < 2 * VIEW_INNER_ROWS; i++) {
        snprintf(key, sizeof key, "%04u", 2 * i);
        put(f, "p", RECORD_INNER, key, key);
        put(f, "p", RECORD_LISTED, key, key);
    }
    run(f);
    view = open_view(f, "p");
    before = fake_applied(f->fake);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 4 * VIEW_INNER_ROWS; i++) {
            snprintf(key, sizeof key, "%04u", i);
            expect(f, view, RECORD_INNER, key, i % 2 == 0 ? key : NULL);
        }
    /* One that brings the first records; then one for each key behind the last of these. */
    assert_int_equal(fake_applied(f->fake) - before,
                     1 + 4 * VIEW_INNER_ROWS - (2 * (VIEW_INNER_ROWS - 1) + 1));
    expect(f, view, RECORD_LISTED, "0190", "0190");
    expect(f, view, RECORD_LISTED, "0191", NULL);
    view_close(view);
}

/* A state that is gone: what was read stays, the next read is a conflict, and so is all after it. */
static void changed_partition(void **state)
{
    struct fixture *f = *state;
    struct view *view;
    struct record record;
    char key[8];

    for (unsigned i = 0; i < VIEW_INNER_ROWS + 2; i++) {
        snprintf(key, sizeof key, "%04u", i);
        put(f, "p", RECORD_INNER, key, "old");
    }
    run(f);
    view = open_view(f, "p");
    expect(f, view, RECORD_INNER, "0000", "old");
    put(f, "q", RECORD_INNER, "0000", "another's");
    run(f);
    expect(f, view, RECORD_INNER, "0048", "old");
    put(f, "p", RECORD_INNER, "0000", "new");
    run(f);
    expect(f, view, RECORD_INNER, "0001", "old");
    expect(f, view, RECORD_INNER, "0048", "old");
    assert_int_equal(get(f, view, RECORD_INNER, "0049", &record), STORE_CONFLICT);
    assert_int_equal(get(f, view, RECORD_INNER, "0001", &record), STORE_CONFLICT);
    view_close(view);
}

/* Bounds that change and still have the partition are none of a reader's business; the end of the space is. */
static void changed_bounds(void **state)
{
    struct fixture *f = *state;
    struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 2 };
    struct view *view, *seen;
    struct record record;
    char key[8];

    for (unsigned i = 0; i < VIEW_LISTED_ROWS + 3; i++) {
        snprintf(key, sizeof key, "%04u", i);
        put(f, "p", RECORD_LISTED, key, key);
    }
    run(f);
    view = open_view(f, "p");
    seen = open_view(f, "p");
    expect(f, view, RECORD_LISTED, "0000", "0000");
    expect(f, seen, RECORD_LISTED, "0000", "0000");
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    run(f);
    expect(f, view, RECORD_LISTED, "0017", "0017");
    bounds.state = SHARD_SEALED;
    set_row(f, row_key_bounds(), shard_bounds_write(f->arena, &bounds));
    run(f);
    assert_int_equal(get(f, view, RECORD_LISTED, "0018", &record), STORE_CONFLICT);
    view_close(view);
    expect(f, seen, RECORD_LISTED, "0000", "0000");
    assert_false(view_is_gone(seen));
    view_close(seen);
    view = open_view(f, "p");
    expect(f, view, RECORD_LISTED, "0000", NULL);
    assert_true(view_is_gone(view));
    view_close(view);
}

/* A read waits for the writes that were sent before it. */
static void behind_a_write(void **state)
{
    struct fixture *f = *state;
    struct view *view = open_view(f, "p");

    put(f, "p", RECORD_LISTED, "a", "v");
    expect(f, view, RECORD_LISTED, "a", "v");
    view_close(view);
}

static void damage(void **state)
{
    struct fixture *f = *state;
    struct record record;
    struct view *view;

    put(f, "p", RECORD_LISTED, "a", "v");
    set_row(f, row_key_record(f->arena, RECORD_LISTED, B("p"), B("b")), B("not summed up"));
    run(f);
    view = open_view(f, "p");
    expect(f, view, RECORD_LISTED, "a", "v");
    assert_int_equal(get(f, view, RECORD_LISTED, "b", &record), STORE_CORRUPT);
    view_close(view);
    set_row(f, row_key_header(f->arena, B("p")), B("damaged"));
    run(f);
    view = open_view(f, "p");
    assert_int_equal(get(f, view, RECORD_LISTED, "a", &record), STORE_CORRUPT);
    view_close(view);
}

/* A shard that is not there has nothing yet. */
static void absent_shard(void **state)
{
    struct fixture *f = *state;
    struct port_op *op = op_new();
    struct view *view = open_view(f, "p");

    port_delete_object(op);
    port_send(f->port, f->object, op);
    expect(f, view, RECORD_LISTED, "a", NULL);
    expect(f, view, RECORD_LISTED, "a", NULL);
    assert_false(view_is_gone(view));
    assert_int_equal(view_header(view)->version, 0);
    view_close(view);
}

static enum store_result wait_again(struct fixture *f, struct view *view)
{
    struct counted counted = { .waiter = { .wake = wake } };

    arrival_wait(view_arrival(view), &counted.waiter);
    run(f);
    assert_int_equal(counted.woken, 1);
    return STORE_WAIT;
}

/* Records one after another, in growing pages; all of them once the view is held, whatever is written then. */
static void scans_and_holds(void **state)
{
    struct fixture *f = *state;
    struct view *view, *late;
    struct bytes key = { NULL, 0 }, value;
    enum store_result result;
    char text[8];
    unsigned seen = 0;

    for (unsigned i = 0; i < 700; i++) {
        snprintf(text, sizeof text, "%04u", i);
        put(f, "p", RECORD_INNER, text, text);
    }
    put(f, "q", RECORD_INNER, "0000", "another's");
    run(f);
    view = open_view(f, "p");
    late = open_view(f, "p");
    do {
        result = view_next(view, RECORD_INNER, key, seen > 0, f->arena, &key, &value);
        if (result == STORE_WAIT) {
            (void)wait_again(f, view);
        } else if (result == STORE_OK) {
            snprintf(text, sizeof text, "%04u", seen++);
            assert_true(bytes_is(key, text));
        }
    } while (result != STORE_NOT_FOUND);
    assert_int_equal(seen, 700);
    view_close(view);

    view = open_view(f, "p");
    while ((result = view_read_all(view)) == STORE_WAIT)
        (void)wait_again(f, view);
    assert_int_equal(result, STORE_OK);
    expect(f, late, RECORD_INNER, "0000", "0000");
    put(f, "p", RECORD_INNER, "0600", "new");
    run(f);
    expect(f, view, RECORD_INNER, "0600", "0600");
    while ((result = view_read_all(late)) == STORE_WAIT)
        (void)wait_again(f, late);
    assert_int_equal(result, STORE_CONFLICT);
    view_close(view);
    view_close(late);
}

/* Closed before the answer, and after it without another look. */
static void closed_early(void **state)
{
    struct fixture *f = *state;
    struct counted counted = { .waiter = { .wake = wake } };
    struct record record;
    struct view *view = open_view(f, "p");

    assert_int_equal(view_get(view, RECORD_LISTED, B("a"), f->arena, &record), STORE_WAIT);
    view_close(view);
    run(f);
    view = open_view(f, "p");
    assert_int_equal(view_get(view, RECORD_LISTED, B("a"), f->arena, &record), STORE_WAIT);
    assert_int_equal(view_get(view, RECORD_LISTED, B("a"), f->arena, &record), STORE_WAIT);
    run(f);
    arrival_wait(view_arrival(view), &counted.waiter);
    assert_int_equal(counted.woken, 1);
    view_close(view);
}

/* Locked by a transaction whose primary, of the same shard, has a row that says it was decided. */
static void lock_decided(struct fixture *f, const char *partition)
{
    const struct partition_header header = {
        .version = 5,
        .attempts = { { 9, 1 } },
        .lock = { .transaction = { 9, 2 },
                  .primary_space = f->space,
                  .primary_key = B("primary"),
                  .version_to_be = 6 },
    };
    struct part_work work;

    part_work_init(&work);
    set_row(f, row_key_decided(f->arena, B("primary"), 9, 2), B("1"));
    set_row(f, row_key_prepared(f->arena, B(partition), 0),
            row_value_write(f->arena, part_work_write(&work, f->arena)));
    set_row(f, row_key_header(f->arena, B(partition)), partition_header_write(f->arena, &header));
    run(f);
}

/* A lock that cannot be settled ends the read. */
static void damaged_lock(void **state)
{
    struct fixture *f = *state;
    struct record record;
    struct view *view;

    lock_decided(f, "p");
    set_row(f, row_key_prepared(f->arena, B("p"), 0), B("not summed up"));
    run(f);
    view = open_view(f, "p");
    assert_int_equal(get(f, view, RECORD_LISTED, "k", &record), STORE_IO);
    view_close(view);
}

/* A lock that a reader has begun to resolve is settled though the reader has gone; until then the shards are in use. */
static void closed_while_settling(void **state)
{
    struct fixture *f = *state;
    struct counted idle = { .waiter = { .wake = wake } };
    struct partition_header header;
    struct record record;
    struct view *view = open_view(f, "p");

    lock_decided(f, "p");
    for (unsigned answers = 0; answers < 2; answers++) { /* the partition, the primary */
        assert_int_equal(view_get(view, RECORD_LISTED, B("k"), f->arena, &record), STORE_WAIT);
        (void)wait_again(f, view);
    }
    assert_int_equal(view_get(view, RECORD_LISTED, B("k"), f->arena, &record), STORE_WAIT);
    view_close(view);
    shards_wait_idle(f->shards, &idle.waiter);
    assert_int_equal(idle.woken, 0);
    run(f);
    assert_int_equal(idle.woken, 1);
    assert_int_equal(partition_header_read(
                         fake_row(f->fake, f->object, row_key_header(f->arena, B("p"))), &header),
                     STORE_OK);
    assert_false(partition_is_locked(&header));
    assert_int_equal(header.version, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_first_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_partition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(behind_a_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(absent_shard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scans_and_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(closed_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_lock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(closed_while_settling, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
