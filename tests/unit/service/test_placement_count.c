/* How many names of an account are placed in each cell: as many as there are rows, whatever becomes of the commits. Lists ask the
 * cells that have any. service/placement.h; decision: 1006 */
#include "../request/fixture.h"

#include "service/placement.h"

static struct store *store;
static struct arena *arena;

static const struct guid space = { { 9 } };

/* Opens the partition of the name. */
static void open_name(struct decision *d, const char *name)
{
    d->store = store;
    d->arena = arena;
    d->access = STORE_MAY_BLOCK;
    d->changes = changes_new(arena);
    d->partition = (struct partition){ .space = space, .key = bytes_from_string(name) };
    decision_open_subject(d, d->partition);
    decision_read_clock(d);
}

/* Places the name in a cell. commits: or gives up before that */
static void place(const char *name, uint32_t cell, bool commits)
{
    static const struct service service = { .name = "blob" };
    const struct input input = { .place_in = cell, .account = BYTES("account") };
    struct problem problem = { .detail = NULL };
    struct result result = { .now = 0 };
    struct decision d = {
        .input = &input, .problem = &problem, .result = &result, .service = &service
    };
    bool is_elsewhere;

    open_name(&d, name);
    assert_int_equal(placement_of_new(&d, &is_elsewhere), OK);
    assert_true(is_elsewhere);
    if (commits)
        assert_int_equal(deciding_commit(&d), OK);
    deciding_end(&d);
}

static void end(const char *name)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .problem = &problem };
    struct placement row;

    open_name(&d, name);
    assert_int_equal(placement_read(d.before, arena, &row), STORE_OK);
    placement_remove(d.changes, &row);
    assert_int_equal(deciding_commit(&d), OK);
    deciding_end(&d);
}

static void assert_counts(int64_t of_second, int64_t of_third)
{
    int64_t count = -1;

    assert_int_equal(placement_count(store, space, 2, STORE_MAY_BLOCK, &count), STORE_OK);
    assert_int_equal(count, of_second);
    assert_int_equal(placement_count(store, space, 3, STORE_MAY_BLOCK, &count), STORE_OK);
    assert_int_equal(count, of_third);
}

static void as_many_as_there_are_rows(void **state)
{
    (void)state;
    store = store_open_memory();
    arena = arena_new(1 << 20);
    assert_counts(0, 0);
    place("a", 2, true);
    place("b", 3, true);
    place("c", 3, true);
    place("d", 3, false);
    assert_counts(1, 2);
    end("b");
    assert_counts(1, 1);
    end("a");
    place("a", 3, true);
    assert_counts(0, 2);
    arena_free(arena);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(as_many_as_there_are_rows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
