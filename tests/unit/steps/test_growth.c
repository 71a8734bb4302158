/* The steps of a request grow no faster than n log n in the size of the set that it touches. decision: 973 */
#include "handles.h"
#include "steps.h"

#include <math.h>
#include <stdio.h>

#include "base/arena.h"
#include "handles/durable_handle.h"

/* Sizes of the set, and the part of a small one that is subtracted: what does not depend on it. */
#define SMALL  25u
#define MEDIUM 100u
#define LARGE  400u
/* Between two sizes steps may grow by this more than n log n: records split, and sets are kept in arrays that double. */
#define SLACK  1.5

/* Prepares a set of `size`, and returns the steps of the request that touches it. */
typedef uint64_t growing_fn(struct fixture *f, unsigned size);

static uint64_t steps_of(growing_fn *grows, unsigned size)
{
    void *state = NULL;
    uint64_t steps;

    assert_int_equal(handles_setup(&state), 0);
    steps = grows(state, size);
    assert_int_equal(handles_teardown(&state), 0);
    return steps;
}

/* Fails if steps grow faster than n log n from a set of MEDIUM to one of LARGE elements. */
static void expect_growth(growing_fn *grows)
{
    double small = (double)steps_of(grows, SMALL), medium = (double)steps_of(grows, MEDIUM);
    double large = (double)steps_of(grows, LARGE);
    double may = SLACK * (LARGE * log(LARGE)) / (MEDIUM * log(MEDIUM));

    print_message("%.0f, %.0f, %.0f steps\n", small, medium, large);
    if (medium > small)
        assert_true(large - small <= may * (medium - small));
    else
        assert_true(large <= may * medium);
}

/* ---- open files ---- */

static const char *numbered(const char *format, unsigned number)
{
    return arena_string(handles_arena(), arena_printf(handles_arena(), "%s%06u", format, number));
}

static void open_many(struct fixture *f, const char *path, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        opened(f, path, MAY_RWD, OPEN_OR_NEW);
}

static uint64_t opens(struct fixture *f, unsigned size)
{
    uint64_t before;

    open_many(f, "x", size);
    before = steps_now();
    opened(f, "x", MAY_RWD, OPEN_OR_NEW);
    return steps_now() - before;
}

static uint64_t closes(struct fixture *f, unsigned size)
{
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_OR_NEW);
    uint64_t before;

    open_many(f, "x", size);
    before = steps_now();
    closed(f, &handle);
    return steps_now() - before;
}

static uint64_t lock_all(struct fixture *f, const struct held_handle *handle, unsigned size,
                         enum lock_action action)
{
    struct lock_element *elements = arena_array(handles_arena(), size, sizeof *elements);
    struct handle_lock lock = {
        .tree_connect = the_mount(), .handle = handle, .elements = elements, .count = size
    };
    uint64_t before = steps_now();

    for (unsigned i = 0; i < size; i++)
        elements[i] = (struct lock_element){ { 2 * (uint64_t)i, 1 }, action };
    assert_int_equal(run(f, handle_lock_attempt, &lock), OK);
    assert_int_equal(lock.stopped, OK);
    return steps_now() - before;
}

static uint64_t locks(struct fixture *f, unsigned size)
{
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_OR_NEW);

    return lock_all(f, &handle, size, LOCK_EXCLUSIVE);
}

static uint64_t unlocks(struct fixture *f, unsigned size)
{
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_OR_NEW);

    lock_all(f, &handle, size, LOCK_EXCLUSIVE);
    return lock_all(f, &handle, size, LOCK_RELEASED);
}

/* The client of a handle with cached handles is gone. */
static void open_and_leave(struct fixture *f)
{
    struct handle_open open = asked("x", MAY_READ_DATA, OPEN_OR_NEW);
    struct handle_disconnect leave = { .close = { .tree_connect = the_mount(),
                                                  .handle = &open.handle } };

    open.share = RWD;
    open.caching = CACHING_READ | CACHING_HANDLE;
    open.durable =
        (struct durable_handle_state){ .ticks = 60 * TICKS_PER_SECOND, .of_client = BYTES("kept") };
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    leave.durable = open.durable;
    leave.durable.granted = open.handle.granted;
    assert_int_equal(run(f, handle_disconnect_attempt, &leave), OK);
    assert_true(leave.stays);
}

static uint64_t conflicting_open(struct fixture *f, unsigned size)
{
    struct handle_open open = asked("x", MAY_RWD, OPEN_OR_NEW);
    uint64_t before;

    for (unsigned i = 0; i < size; i++)
        open_and_leave(f);
    open.share = 0;
    before = steps_now();
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    return steps_now() - before;
}

static uint64_t lists_handles(struct fixture *f, unsigned size)
{
    uint64_t before;

    open_many(f, "x", size);
    before = steps_now();
    assert_ok(ask(f, "GET /sha/x?comp=listhandles", NULL, NULL), 200);
    return steps_now() - before;
}

/* A directory is renamed while files elsewhere in the share are open. */
static uint64_t renames_a_directory(struct fixture *f, unsigned size)
{
    struct held_handle directory = opened_directory(f, "d", MAY_RWD);
    struct handle_rename rename = { .tree_connect = the_mount(), .handle = &directory };
    uint64_t before;

    for (unsigned i = 0; i < size; i++)
        opened(f, numbered("f", i), MAY_RWD, OPEN_OR_NEW);
    rename.names = names_of("e", &rename.name_count);
    before = steps_now();
    assert_int_equal(run(f, handle_rename_attempt, &rename), OK);
    return steps_now() - before;
}

/* ---- blobs ---- */

static uint64_t steps_of_request(struct fixture *f, const char *target, const char *body,
                                 int status)
{
    uint64_t before = steps_now();

    assert_ok(ask(f, target, NULL, body), status);
    return steps_now() - before;
}

/* Stages blocks, and returns a list of them. */
static const char *stage(struct fixture *f, unsigned size)
{
    struct text list;

    fixture_serve(f, NULL);
    text_init(&list, handles_arena(), 0);
    text_add_string(&list, "<BlockList>");
    for (unsigned i = 0; i < size; i++) {
        assert_ok(askf(f, NULL, "block", "PUT /box/b?comp=block&blockid=%08u", i), 201);
        text_printf(&list, "<Latest>%08u</Latest>", i);
    }
    text_add_string(&list, "</BlockList>");
    return arena_string(handles_arena(), text_bytes(&list));
}

static uint64_t puts_a_block_list(struct fixture *f, unsigned size)
{
    return steps_of_request(f, "PUT /box/b?comp=blocklist", stage(f, size), 201);
}

/* As above, in the place of one with as many blocks. */
static uint64_t replaces_a_block_list(struct fixture *f, unsigned size)
{
    const char *list = stage(f, size);

    assert_ok(ask(f, "PUT /box/b?comp=blocklist", NULL, list), 201);
    stage(f, size);
    return steps_of_request(f, "PUT /box/b?comp=blocklist", list, 201);
}

static uint64_t gets_a_block_list(struct fixture *f, unsigned size)
{
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", NULL, stage(f, size)), 201);
    return steps_of_request(f, "GET /box/b?comp=blocklist", NULL, 200);
}

static uint64_t lists_blobs(struct fixture *f, unsigned size)
{
    fixture_serve(f, NULL);
    for (unsigned i = 0; i < size; i++)
        assert_ok(askf(f, "x-ms-blob-type: BlockBlob", "b", "PUT /box/b%06u", i), 201);
    return steps_of_request(f, "GET /box?restype=container&comp=list", NULL, 200);
}

/* ---- the counter ---- */

/* A set that is searched once for each element grows too fast: this is what the others are held against. */
static uint64_t squared(struct fixture *f, unsigned size)
{
    uint64_t before = steps_now();

    for (unsigned i = 0; i < size; i++)
        lists_handles(f, i / 8 + 1);
    return steps_now() - before;
}

static void sees_squares(void **state)
{
    double medium = (double)steps_of(squared, MEDIUM / 4);
    double large = (double)steps_of(squared, LARGE / 4);

    (void)state;
    assert_true(large > SLACK * (LARGE * log(LARGE)) / (MEDIUM * log(MEDIUM)) * medium);
}

#define GROWTH(grows)                                                                              \
    static void grows##_grows(void **state)                                                        \
    {                                                                                              \
        (void)state;                                                                               \
        expect_growth(grows);                                                                      \
    }
GROWTH(opens)
GROWTH(closes)
GROWTH(locks)
GROWTH(unlocks)
GROWTH(conflicting_open)
GROWTH(lists_handles)
GROWTH(renames_a_directory)
GROWTH(puts_a_block_list)
GROWTH(replaces_a_block_list)
GROWTH(gets_a_block_list)
GROWTH(lists_blobs)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_squares),
        cmocka_unit_test(opens_grows),
        cmocka_unit_test(closes_grows),
        cmocka_unit_test(locks_grows),
        cmocka_unit_test(unlocks_grows),
        cmocka_unit_test(conflicting_open_grows),
        cmocka_unit_test(lists_handles_grows),
        cmocka_unit_test(renames_a_directory_grows),
        cmocka_unit_test(puts_a_block_list_grows),
        cmocka_unit_test(replaces_a_block_list_grows),
        cmocka_unit_test(gets_a_block_list_grows),
        cmocka_unit_test(lists_blobs_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
