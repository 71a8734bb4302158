/* Placements under any order of steps: containers are created and deleted by front ends whose requests are lost or arrive at any time, with what
 * the front ends knew when they sent them; rows of the root are checked at any time, and the check may stop after each of its steps. Three
 * cells, each a store of its own. A name is in one cell at most, that is where the root says, and when all is quiet it can be
 * created. The steps are drawn; a failure prints the seed. service/placement.h; decisions: 993 to 995, 1093 */
#include "../request/fixture.h"

#include <inttypes.h>

#include "service/deferred_tasks.h"
#include "service/placement.h"
#include "service/small_record.h"

#define CELLS     3u /* the root is the first one */
#define NAMES     2u
#define FRONTS    3u
#define REQUESTS  8u
#define SEEDS     500u
#define STEPS     400u
/* Between two cells and the root, while nothing else happens. */
#define MOVES_MAX 4u

static const struct guid space = { { 9 } };
static const struct service service = { .name = "blob" };
static const struct bytes container_key = BYTES("c");
static const char *const names[NAMES] = { "a", "b" };

/* A request on its way. */
struct sent {
    bool is_sent;
    bool creates; /* or deletes */
    unsigned front, name;
    uint32_t cell;
    uint64_t placement;
    unsigned moves;
};

/* A check of a row, between its steps. */
struct check {
    struct decision d;
    struct problem problem;
    struct placement row;
    bool is_open, is_released;
};

static struct store *stores[CELLS];
static struct arena *arena;
static struct placement known[FRONTS][NAMES]; /* cell 0: not known */
static struct sent requests[REQUESTS];
static struct check checks[NAMES];
static uint64_t seed, state;

static unsigned draw(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % below);
}

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("seed %" PRIu64 ": %s", seed, #condition);                                    \
    } while (0)

static void open_name(struct decision *d, uint32_t cell, unsigned name)
{
    d->store = stores[cell - 1];
    d->service = &service;
    d->arena = arena;
    d->access = STORE_MAY_BLOCK;
    d->changes = changes_new(arena);
    d->partition = (struct partition){ .space = space, .key = bytes_from_string(names[name]) };
    decision_open_subject(d, d->partition);
    decision_read_clock(d);
}

static bool exists(struct decision *d)
{
    struct record record;

    return read_view_get(d->before, RECORD_LISTED, container_key, arena, &record) == STORE_OK;
}

static bool is_in(uint32_t cell, unsigned name)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .problem = &problem };
    bool is_there;

    open_name(&d, cell, name);
    is_there = exists(&d);
    deciding_end(&d);
    return is_there;
}

/* Returns the row, or a cell of 0. */
static struct placement row_of(unsigned name)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .problem = &problem };
    struct placement row;

    open_name(&d, 1, name);
    if (placement_read(d.before, arena, &row))
        row.cell = 0;
    deciding_end(&d);
    return row;
}

/* ---- requests ---- */

static enum error create_container(struct decision *d)
{
    bool is_elsewhere = false;
    enum error e = exists(d) ? E_ContainerAlreadyExists : placement_of_new(d, &is_elsewhere);

    if (e)
        return e;
    if (is_elsewhere) {
        d->problem->elsewhere = d->result->placed;
        return deciding_commit(d) ? DECIDE_AGAIN : E_MisdirectedRequest;
    }
    changes_put(d->changes, RECORD_LISTED, container_key, bytes_from_string("container"), NULL, 0);
    return deciding_commit(d);
}

static enum error remove_container(struct decision *d)
{
    if (!exists(d))
        return placement_missing(d, d->before, E_ContainerNotFound);
    changes_delete(d->changes, RECORD_LISTED, container_key);
    assert_int_equal(placement_deleted(d), STORE_OK);
    return deciding_commit(d);
}

static enum error execute(const struct sent *sent, struct placement *ret_elsewhere)
{
    const struct input input = { .placement = sent->placement,
                                 .place_in = sent->cell > 1 ? 0 : (uint32_t[]){ 0, 2, 3 }[draw(3)],
                                 .account = BYTES("account") };
    struct problem problem = { .detail = NULL };
    struct result result = { .now = 0 };
    struct decision d = { .input = &input, .problem = &problem, .result = &result };
    enum error e;

    open_name(&d, sent->cell, sent->name);
    e = sent->creates ? create_container(&d) : remove_container(&d);
    *ret_elsewhere = problem.elsewhere;
    deciding_end(&d);
    return e;
}

/* As forward_learn(). */
static void learn(struct sent *sent, struct placement where)
{
    struct placement *known_here = &known[sent->front][sent->name];

    if (where.cell == 0 && known_here->incarnation <= sent->placement)
        *known_here = where;
    else if (where.cell > 0 && where.incarnation >= known_here->incarnation)
        *known_here = where;
    sent->cell = where.cell ? where.cell : 1;
    sent->placement = where.cell ? where.incarnation : 0;
    sent->moves++;
}

static void send_request(struct sent *sent, bool creates, unsigned front, unsigned name)
{
    struct placement where = known[front][name];

    *sent = (struct sent){ .is_sent = true,
                           .creates = creates,
                           .front = front,
                           .name = name,
                           .cell = where.cell ? where.cell : 1,
                           .placement = where.cell ? where.incarnation : 0 };
}

/* Lets the request arrive. Returns its outcome, or E_MisdirectedRequest if it is on its way to another cell. */
static enum error arrive(struct sent *sent)
{
    struct placement elsewhere = { .cell = 0 };
    enum error e = execute(sent, &elsewhere);

    EXPECT(e == OK || e == E_MisdirectedRequest || e == E_ContainerAlreadyExists ||
           e == E_ContainerNotFound);
    if (e == E_MisdirectedRequest)
        learn(sent, elsewhere);
    else
        sent->is_sent = false;
    return e;
}

/* ---- the end of placements ---- */

static void begin_check(struct check *check, unsigned name)
{
    memset(check, 0, sizeof *check);
    check->d.problem = &check->problem;
    open_name(&check->d, 1, name);
    check->is_open = placement_read(check->d.before, arena, &check->row) == STORE_OK;
    if (!check->is_open)
        deciding_end(&check->d);
}

/* Asks the cell. */
static void ask_release(struct check *check, unsigned name)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .problem = &problem };
    enum placement_release release;

    open_name(&d, check->row.cell, name);
    assert_int_equal(placement_release(&d, check->row.incarnation, &release), STORE_OK);
    check->is_released = release == PLACEMENT_RELEASED;
    if (check->is_released)
        assert_int_equal(deciding_commit(&d), OK);
    deciding_end(&d);
}

/* The root may have changed the partition meanwhile: then the check begins again, as the task does. */
static void end_check(struct check *check)
{
    if (check->is_released) {
        placement_remove(check->d.changes, &check->row);
        (void)deciding_commit(&check->d);
    }
    deciding_end(&check->d);
    check->is_open = false;
}

static void step_check(unsigned name)
{
    struct check *check = &checks[name];

    if (!check->is_open) {
        begin_check(check, name);
    } else if (!check->is_released) {
        ask_release(check, name);
        if (!check->is_released)
            end_check(check);
    } else {
        if (draw(8) == 0) /* the root dies before it commits */
            check->is_released = false;
        end_check(check);
    }
}

/* ---- what holds ---- */

static void check_name(unsigned name)
{
    struct placement row = row_of(name);
    unsigned count = 0;

    for (uint32_t cell = 1; cell <= CELLS; cell++) {
        if (!is_in(cell, name))
            continue;
        count++;
        EXPECT(cell == (row.cell ? row.cell : 1));
    }
    EXPECT(count <= 1);
}

static void step(void)
{
    struct sent *sent = &requests[draw(REQUESTS)];

    switch (draw(6)) {
    case 0:
        step_check(draw(NAMES));
        break;
    case 1:
        if (draw(4) == 0)
            sent->is_sent = false; /* its front end dies */
        break;
    default:
        if (!sent->is_sent)
            send_request(sent, draw(2), draw(FRONTS), draw(NAMES));
        else
            (void)arrive(sent);
    }
    for (unsigned name = 0; name < NAMES; name++)
        check_name(name);
}

/* Checks the row until it is gone, or its container is there. */
static void complete_checks(unsigned name)
{
    unsigned steps = 0;

    while (checks[name].is_open || (row_of(name).cell > 0 && !is_in(row_of(name).cell, name))) {
        EXPECT(++steps < 100);
        step_check(name);
    }
}

/* All that is on its way arrives, all rows without a container are removed, and each front end can create each name. */
static void come_to_rest(void)
{
    for (unsigned name = 0; name < NAMES; name++)
        complete_checks(name);
    for (unsigned i = 0; i < REQUESTS; i++)
        for (unsigned moves = 0; requests[i].is_sent; moves++) {
            EXPECT(moves <= MOVES_MAX);
            (void)arrive(&requests[i]);
        }
    for (unsigned name = 0; name < NAMES; name++)
        for (unsigned front = 0; front < FRONTS; front++) {
            struct sent sent;

            complete_checks(name);
            check_name(name);
            for (unsigned deletes = 0; deletes < 2; deletes++) {
                send_request(&sent, deletes == 0, front, name);
                while (arrive(&sent) == E_MisdirectedRequest)
                    EXPECT(sent.moves <= MOVES_MAX);
                EXPECT(is_in(row_of(name).cell ? row_of(name).cell : 1, name) == (deletes == 0));
            }
        }
}

static void walk(void)
{
    arena = arena_new((size_t)16 << 20);
    memset(known, 0, sizeof known);
    memset(requests, 0, sizeof requests);
    memset(checks, 0, sizeof checks);
    for (unsigned i = 0; i < CELLS; i++)
        stores[i] = store_open_memory();
    for (unsigned i = 0; i < STEPS; i++)
        step();
    come_to_rest();
    for (unsigned name = 0; name < NAMES; name++)
        if (checks[name].is_open)
            deciding_end(&checks[name].d);
    for (unsigned i = 0; i < CELLS; i++)
        store_close(stores[i]);
    arena_free(arena);
}

static void any_order(void **of)
{
    (void)of;
    for (seed = 1; seed <= SEEDS; seed++) {
        state = seed * 0x9e3779b97f4a7c15u;
        walk();
    }
}

/* Deletes the first name in a cell, and begins another decision there. */
static void open_deleted(struct decision *d, uint32_t cell)
{
    arena = arena_new((size_t)1 << 20);
    stores[cell - 1] = store_open_memory();
    open_name(d, cell, 0);
    recent_deletion_write(d->changes, arena, d->now);
    assert_int_equal(deciding_commit(d), OK);
    deciding_end(d);
    open_name(d, cell, 0);
}

/* The check that follows a creation may come right after a deletion. The name stays in its cell, which has the record of the
 * deletion, until that record is forgotten. service/small_record.h */
static void released_after_deletion(void **of)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .problem = &problem };
    enum placement_release release;

    (void)of;
    open_deleted(&d, 2);
    assert_int_equal(placement_release(&d, 1, &release), STORE_OK);
    assert_int_equal(release, PLACEMENT_IN_USE);
    d.now += 31 * TICKS_PER_SECOND;
    assert_int_equal(placement_release(&d, 1, &release), STORE_OK);
    assert_int_equal(release, PLACEMENT_RELEASED);
    deciding_end(&d);
    store_close(stores[1]);
    arena_free(arena);
}

static bool has_release_record(void)
{
    struct problem problem = { .detail = NULL };
    struct decision d = { .problem = &problem };
    struct record record;
    enum store_result result;

    open_name(&d, 2, 0);
    result = read_view_get(d.before, RECORD_INNER, bytes_from_string("n"), arena, &record);
    deciding_end(&d);
    assert_true(result == STORE_OK || result == STORE_NOT_FOUND);
    return result == STORE_OK;
}

/* The record of a release is deleted when it refuses no requests any more. A second release makes it last longer. */
static void releases_are_forgotten(void **of)
{
    const struct service *services[] = { &service };
    enum placement_release release;
    instant first = 0;
    bool left;

    (void)of;
    arena = arena_new(SIZE_MAX);
    stores[1] = store_open_memory();
    for (uint64_t incarnation = 1; incarnation <= 2; incarnation++) {
        struct problem problem = { .detail = NULL };
        struct decision d = { .problem = &problem };

        open_name(&d, 2, 0);
        if (incarnation == 1)
            first = d.now;
        else
            d.now = first + 60 * TICKS_PER_SECOND;
        assert_int_equal(placement_release(&d, incarnation, &release), STORE_OK);
        assert_int_equal(release, PLACEMENT_RELEASED);
        assert_int_equal(deciding_commit(&d), OK);
        deciding_end(&d);
    }
    (void)tasks_run_due(stores[1], services, NULL, 1,
                        first + (PLACEMENT_RELEASED_S + 1) * TICKS_PER_SECOND, &left);
    assert_false(left);
    assert_true(has_release_record());
    (void)tasks_run_due(stores[1], services, NULL, 1,
                        first + (PLACEMENT_RELEASED_S + 61) * TICKS_PER_SECOND, &left);
    assert_false(has_release_record());
    store_close(stores[1]);
    arena_free(arena);
}

/* So does a name that was in the root. */
static void placed_after_deletion(void **of)
{
    const struct input input = { .place_in = 2, .account = BYTES("account") };
    struct problem problem = { .detail = NULL };
    struct result result = { .now = 0 };
    struct decision d = { .input = &input, .problem = &problem, .result = &result };
    bool is_elsewhere;

    (void)of;
    open_deleted(&d, 1);
    assert_int_equal(placement_of_new(&d, &is_elsewhere), OK);
    assert_false(is_elsewhere);
    d.now += 31 * TICKS_PER_SECOND;
    assert_int_equal(placement_of_new(&d, &is_elsewhere), OK);
    assert_true(is_elsewhere);
    deciding_end(&d);
    store_close(stores[0]);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(any_order),
                                        cmocka_unit_test(released_after_deletion),
                                        cmocka_unit_test(placed_after_deletion),
                                        cmocka_unit_test(releases_are_forgotten) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
