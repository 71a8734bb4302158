/* The starts of the server as the store keeps them, and what they say of the ends of persistent handles. decision: 990 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "opens/open_record.h"
#include "service/deciding.h"
#include "service/names.h"

#define SECOND TICKS_PER_SECOND

static struct store *store;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    store = store_open_memory();
    arena = arena_new(16 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    store_close(store);
    arena_free(arena);
    return 0;
}

static struct partition of_starts(void)
{
    return (struct partition){ account_space("starts", bytes_from_string("")), BYTES("") };
}

/* The next process; returns its epoch. */
static uint64_t start_after(uint64_t ticks)
{
    clock_advance(ticks);
    assert_true(open_epoch_record(store, true));
    return open_epoch();
}

static bool has_record(struct bytes *ret_value)
{
    struct read_view *snapshot = read_view_open(store, of_starts(), STORE_MAY_BLOCK);
    struct record record;
    enum store_result result =
        read_view_get(snapshot, RECORD_INNER, (struct bytes)BYTES("s"), arena, &record);

    read_view_close(snapshot);
    *ret_value = record.value;
    return !result;
}

static void write_record(struct bytes value)
{
    struct read_view *snapshot = read_view_open(store, of_starts(), STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    const struct commit_part part = { .snapshot = snapshot, .changes = changes };
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, (struct bytes)BYTES("s"), value, NULL, 0);
    assert_int_equal(store_commit(store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
}

static bool has_ended(uint64_t epoch, uint64_t ticks)
{
    return open_epoch_end_of(epoch, ticks) <= clock_now();
}

/* Rule: a handle has ended if a later process has lasted as long as it is kept; its own process does not count. */
static void ends(void **state)
{
    uint64_t first = start_after(0), second, third, fourth;

    (void)state;
    second = start_after(100 * SECOND);
    assert_int_equal(open_epoch_end_of(first, 60 * SECOND), second + 60 * SECOND);
    third = start_after(50 * SECOND);
    assert_true(has_ended(first, 50 * SECOND));
    assert_false(has_ended(first, 60 * SECOND));
    assert_int_equal(open_epoch_end_of(first, 60 * SECOND), third + 60 * SECOND);
    assert_false(has_ended(second, 50 * SECOND));
    fourth = start_after(20 * SECOND);
    assert_true(has_ended(first, 50 * SECOND));
    assert_true(has_ended(second, 20 * SECOND));
    assert_false(has_ended(second, 50 * SECOND));
    assert_false(has_ended(third, 20 * SECOND));
    assert_int_equal(open_epoch_end_of(third, SECOND), fourth + SECOND);
}

/* Rule: after a long time two starts are kept; of many short ones as many as fit, and then the oldest handles end
 * early rather than come back. */
static void bounds(void **state)
{
    uint64_t first = start_after(0), second, last;
    struct bytes value;

    (void)state;
    second = start_after(SECOND);
    for (unsigned i = 0; i < STARTS_MAX + 9; i++)
        start_after((200 - i) * SECOND);
    assert_true(has_record(&value));
    assert_int_equal(value.ptr[1], STARTS_MAX);
    assert_true(has_ended(first, 200 * SECOND));
    assert_true(has_ended(second, 198 * SECOND));
    assert_false(has_ended(first, 202 * SECOND));
    last = start_after(2 * HANDLE_TIMEOUT_TICKS_MAX);
    assert_true(has_record(&value));
    assert_int_equal(value.ptr[1], 2);
    assert_true(has_ended(first, HANDLE_TIMEOUT_TICKS_MAX));
    assert_int_equal(open_epoch_end_of(last - 1, SECOND), last + SECOND);
}

/* Rule: a process without opens leaves no list, and is added to one that exists. */
static void without_opens(void **state)
{
    uint64_t first, second;
    struct bytes value;

    (void)state;
    assert_true(open_epoch_record(store, false));
    assert_false(has_record(&value));
    first = start_after(0);
    clock_advance(SECOND);
    assert_true(open_epoch_record(store, false));
    second = open_epoch();
    start_after(60 * SECOND);
    assert_int_equal(open_epoch_end_of(first, 60 * SECOND), second + 60 * SECOND);
}

/* Rule: what version 1 has written is read, byte by byte; one that makes no sense is left as it is, and is damage. */
static void version_1(void **state)
{
    static const char good[] = "\1\3\1\x7\5\6\x9\0";
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = { { "", 0 },
                { "\2\1\1\0", 4 },         /* another version */
                { "\1\0", 2 },             /* no start */
                { "\1\1\1\1", 4 },         /* the newest has ended */
                { "\1\2\1\0\2\0", 6 },     /* one before has not */
                { "\1\2\2\1\2\0", 6 },     /* not ascending */
                { "\1\3\1\5\2\5\3\0", 8 }, /* not longer than a later one */
                { "\1\1\1\0\0", 5 },       /* more */
                { "\1\2\1\5\2", 5 } };     /* less */
    const struct partition at = of_starts();
    struct partition other = { .space = guid_new(), .key = BYTES("") };
    struct bytes key = BYTES("s"), value;

    (void)state;
    value = bytes_of(good, sizeof good - 1);
    assert_int_equal(start_record_inspect(&at, key, value), START_RECORD);
    assert_int_equal(start_record_inspect(&other, key, value), NO_START_RECORD);
    assert_int_equal(start_record_inspect(&at, (struct bytes)BYTES("t"), value),
                     START_RECORD_DAMAGED);
    write_record(value);
    start_after(0);
    assert_int_equal(open_epoch_end_of(0, 7), 16);
    assert_int_equal(open_epoch_end_of(1, 6), 15);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_record(bytes_of(bad[i].bytes, bad[i].size));
        assert_int_equal(start_record_inspect(&at, key, bytes_of(bad[i].bytes, bad[i].size)),
                         START_RECORD_DAMAGED);
        assert_false(open_epoch_record(store, true));
        assert_true(has_record(&value));
        assert_int_equal(value.len, bad[i].size);
        assert_int_equal(open_epoch_end_of(1, 7), open_epoch() + 7);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(ends), TEST(bounds), TEST(without_opens),
                                        TEST(version_1) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
