/* Reads, writes and flushes by SMB. MS-FSA 2.1.5.3, 2.1.5.4; decision: 357 */
#include "handles.h"

#include "base/clock.h"

static struct reply get(struct fixture *f)
{
    return ask(f, "GET /sha/x", NULL, NULL);
}

/* Rule: what is written is read, by SMB and by REST; a gap reads as zeros; nothing is read behind the end. */
static void bytes(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    enum error e;

    assert_int_equal(writes(f, &handle, 4, "four"), OK);
    assert_memory_equal(reads(f, &handle, 0, 100, &e), "\0\0\0\0four", 9);
    assert_int_equal(writes(f, &handle, 0, "zero"), OK);
    assert_string_equal(reads(f, &handle, 2, 4, &e), "rofo");
    assert_string_equal(reads(f, &handle, 8, 4, &e), "");
    assert_string_equal(reads(f, &handle, UINT64_MAX, 4, &e), "");
    assert_body(get(f), "zerofour");
    assert_int_equal(shown(f, &handle).length, 8);
    assert_int_equal(shown(f, &handle).allocated, FILE_CLUSTER_BYTES);
    assert_int_equal(writes(f, &handle, 0, ""), OK);
    assert_int_equal(shown(f, &handle).length, 8);
}

/* Rule: a write to the end is where the file ends when it is committed. */
static void at_end(void **state)
{
    struct body body = { .length = 3, .inline_bytes = BYTES("end") };
    struct handle_write write = { .tree_connect = the_mount(), .at_end = true, .body = &body };
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);

    write.handle = &handle;
    assert_int_equal(run(f, handle_write_attempt, &write), OK);
    assert_int_equal(run(f, handle_write_attempt, &write), OK);
    assert_body(get(f), "endend");
}

/* Rule: a large write goes by pieces, and is the same bytes. */
static void large(void **state)
{
    const size_t size = (size_t)600 << 10;
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    char *text = arena_bytes(handles_arena(), size + 1);
    enum error e;

    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + i / 7 % 26);
    text[size] = '\0';
    assert_int_equal(writes(f, &handle, 100, text), OK);
    assert_memory_equal(reads(f, &handle, 100, size, &e), text, size + 1);
    assert_memory_equal(reads(f, &handle, 5000, 300000, &e), text + 4900, 300000);
}

/* Rule: what a share has is bounded by its quota, and a file by its greatest length. */
static void bounds(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);

    assert_ok(ask(f, "PUT /sha?restype=share&comp=properties", "x-ms-share-quota: 1", NULL), 200);
    assert_int_equal(writes(f, &handle, (UINT64_C(1) << 30) - 3, "end"), OK);
    assert_int_equal(writes(f, &handle, (UINT64_C(1) << 30) - 3, "ends"), E_ShareSizeLimitReached);
    assert_int_equal(shown(f, &handle).length, UINT64_C(1) << 30);
    assert_int_equal(writes(f, &handle, FILE_LENGTH_MAX, "a"), E_InvalidRange);
    assert_int_equal(writes(f, &handle, UINT64_MAX, "a"), E_InvalidRange);
    assert_int_equal(writes(f, &handle, UINT64_MAX - 1, "abc"), E_InvalidRange);
}

/* Rule: a write by SMB is a change to REST: ETag and Last-Modified; a stale copy's state goes. */
static void seen_by_rest(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct reply before = get(f), after;

    assert_int_equal(writes(f, &handle, 0, "a"), OK);
    after = get(f);
    assert_string_not_equal(header_of(f, &before, "ETag"), header_of(f, &after, "ETag"));
}

/* Rule: zeros within the file; what lies behind it stays away. */
static void zeros(void **state)
{
    struct handle_zero zero = { .tree_connect = the_mount(), .offset = 2, .end = 100 };
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    enum error e;

    assert_int_equal(writes(f, &handle, 0, "abcd"), OK);
    zero.handle = &handle;
    assert_int_equal(run(f, handle_zero_attempt, &zero), OK);
    assert_memory_equal(reads(f, &handle, 0, 10, &e), "ab\0\0", 5);
    assert_int_equal(shown(f, &handle).length, 4);
    zero.offset = 4;
    assert_int_equal(run(f, handle_zero_attempt, &zero), OK);
}

/* Rule: directories have no bytes. */
static void directories(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened_directory(f, "dir", MAY_READ_DATA | MAY_WRITE_DATA);
    enum error e;

    assert_null(reads(f, &handle, 0, 1, &e));
    assert_int_equal(e, E_ResourceTypeMismatch);
    assert_int_equal(writes(f, &handle, 0, "a"), E_ResourceTypeMismatch);
}

/* Rule: a read sees the state it was decided on, whatever is written while it is read (promise 4). */
static void one_state(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct handle_read read = { .tree_connect = the_mount(), .handle = &handle, .length = 10 };
    struct input input = { .account = BYTES("devstoreaccount1") };
    struct problem problem;
    struct decision d = { .service = &file_service,
                          .input = &input,
                          .arena = handles_arena(),
                          .store = store_of(f),
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(handles_arena()) };
    struct handle_reading reading;
    char to[10];

    assert_int_equal(writes(f, &handle, 0, "before"), OK);
    d.attempt = arena_mark(handles_arena());
    assert_int_equal(deciding_attempt(&d, handle_read_attempt, &read), OK);
    handle_reading_begin(&d, &read, to, &reading);
    assert_int_equal(writes(f, &handle, 0, "after, and longer"), OK);
    assert_int_equal(handle_reading_load(&reading), OK);
    assert_int_equal(handle_reading_go_on(&reading, NULL), OK);
    assert_memory_equal(to, "before", 6);
    assert_int_equal(read.readable, 6);
    handle_reading_end(&reading);
    deciding_end(&d);
}

/* ---- times ---- */

static void flushes(struct fixture *f, struct held_handle *handle)
{
    struct handle_flush flush = { .tree_connect = the_mount(), .handle = handle };

    assert_int_equal(run(f, handle_flush_attempt, &flush), OK);
    handle->times = flush.times;
}

/* Rule: the handle that writes shows the time of before for two seconds; others show what is. */
static void first_write(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle other = opened(f, "x", MAY_READ_DATA, OPEN_EXISTING);
    instant created = shown(f, &handle).written, written;

    assert_int_equal(writes(f, &handle, 0, "a"), OK);
    written = decided_at();
    assert_int_equal(shown(f, &handle).written, created);
    assert_int_equal(shown(f, &other).written, written);
    clock_advance(3 * TICKS_PER_SECOND);
    assert_int_equal(shown(f, &handle).written, written);
    closed(f, &handle);
    assert_int_equal(shown(f, &other).written, written);
}

/* Rule: it does not show a second write, until it closes, which is when the file was written last. */
static void second_write(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle other = opened(f, "x", MAY_READ_DATA, OPEN_EXISTING);
    instant first, second;

    assert_int_equal(writes(f, &handle, 0, "a"), OK);
    first = decided_at();
    clock_advance(3 * TICKS_PER_SECOND);
    assert_int_equal(writes(f, &handle, 0, "b"), OK);
    second = decided_at();
    clock_advance(3 * TICKS_PER_SECOND);
    assert_int_equal(shown(f, &handle).written, first);
    assert_int_equal(shown(f, &other).written, second);
    closed(f, &handle);
    assert_true(shown(f, &other).written > second + 2 * TICKS_PER_SECOND);
}

/* Rule: a flush ends that. */
static void flush_shows(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    instant written;

    assert_int_equal(writes(f, &handle, 0, "a"), OK);
    written = decided_at();
    flushes(f, &handle);
    assert_int_equal(shown(f, &handle).written, written);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes),        TEST(at_end),       TEST(large),       TEST(bounds),
        TEST(seen_by_rest), TEST(zeros),        TEST(directories), TEST(one_state),
        TEST(first_write),  TEST(second_write), TEST(flush_shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
