/* The format that front ends write by: raised only while all who live know it, and nobody comes up who does not.
 * store/rados/formats.h; the engine on a RADOS in memory */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "../../../rados/live.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"
#include "store/rados/root.h"

#define OLD     FORMAT_NEWEST
#define NEW     (FORMAT_NEWEST + 1)
#define WAIT_MS 60000u
#define STEP_MS 20u
#define UNKNOWN                                                                                    \
    "its format was raised to one that this program does not know: a newer one is needed"
#define NOT_ALL "not all front ends that live know the new format"
#define DEAD_MS 2500u

static int set_up(void **state)
{
    const char *problem;
    struct live *live = live_new((struct fake_options){ .seed = 1, .resent = 5, .late = 5 });

    *state = live;
    return root_make(live_port(live), LIVE_POOL, &problem) ? -1 : 0;
}

static int tear_down(void **state)
{
    live_free(*state);
    return 0;
}

static enum store_result try_open(struct port *port, uint32_t known, struct store **ret_store,
                                  const char **ret_problem)
{
    const struct rados_options options = { .records = port,
                                           .pieces = port,
                                           .pool_of_pieces = LIVE_POOL,
                                           .format_known = known,
                                           .dead_ms = DEAD_MS };

    return store_open_rados(&options, ret_store, ret_problem);
}

static struct store *open_by(struct live *live, uint32_t known)
{
    const char *problem;
    struct store *store;

    assert_int_equal(try_open(live_client(live), known, &store, &problem), STORE_OK);
    return store;
}

static uint32_t format_of(struct store *store)
{
    return beat_format(rados_of(store)->beat);
}

/* Heartbeats tell. */
static void expect_format(struct store *store, uint32_t format)
{
    for (unsigned ms = 0; format_of(store) != format && ms < WAIT_MS; ms += STEP_MS)
        usleep(STEP_MS * 1000);
    assert_int_equal(format_of(store), format);
}

static void expect_raise(struct live *live, uint32_t format, const char *why_not)
{
    const char *problem = NULL;

    assert_int_equal(format_raise(live_port(live), format, &problem),
                     why_not ? STORE_IO : STORE_OK);
    if (why_not)
        assert_string_equal(problem, why_not);
}

static void expect_refused(struct live *live, uint32_t known)
{
    const char *problem;
    struct store *store;

    assert_int_equal(try_open(live_client(live), known, &store, &problem), STORE_IO);
    assert_string_equal(problem, UNKNOWN);
}

/* Front ends are replaced one by one: the old format is written by as long as one of them is old. Then it is raised while they
 * serve, and an old one does not come up any more. */
static void replaced_one_by_one(void **state)
{
    struct live *live = *state;
    struct store *old = open_by(live, OLD), *other = open_by(live, OLD), *one, *two;

    assert_int_equal(format_of(old), OLD);
    expect_raise(live, OLD, NULL); /* it is that */
    store_close(other);
    one = open_by(live, NEW);
    assert_int_equal(format_of(one), OLD);
    expect_raise(live, NEW, NOT_ALL);
    store_close(open_by(live, OLD)); /* it may be put back */
    store_close(old);
    two = open_by(live, NEW);
    expect_raise(live, NEW, NULL);
    expect_raise(live, NEW, NULL);
    expect_format(one, NEW);
    expect_format(two, NEW);
    expect_refused(live, OLD);
    expect_raise(live, OLD, UNKNOWN);
    store_close(one);
    store_close(two);
    expect_refused(live, OLD);
    one = open_by(live, NEW + 1);
    assert_int_equal(format_of(one), NEW);
    store_close(one);
}

/* An old one that was killed may live, until others know better. */
static void one_that_was_killed(void **state)
{
    struct live *live = *state;
    struct port *port = live_client(live);
    const char *problem;
    struct store *doomed, *other;
    enum store_result raised = STORE_IO;

    assert_int_equal(try_open(port, OLD, &doomed, &problem), STORE_OK);
    live_cut(live, port, 0, false);
    other = open_by(live, NEW);
    expect_raise(live, NEW, NOT_ALL);
    for (unsigned ms = 0; raised && ms < WAIT_MS; ms += STEP_MS) {
        raised = format_raise(live_port(live), NEW, &problem);
        usleep(STEP_MS * 1000);
    }
    assert_int_equal(raised, STORE_OK);
    store_close(other);
    store_close(doomed);
}

/* Whoever has seen the format, and comes up by it when it has been raised, is refused; and the raise where one has come up since
 * all were looked at. */
static void at_once(void **state)
{
    struct live *live = *state;
    struct port *port = live_port(live);
    struct format_row seen, now;
    const char *problem;
    struct port_op *op;

    assert_int_equal(root_check(port, LIVE_POOL, &problem), STORE_OK);
    assert_int_equal(root_check(port, "other", &problem), STORE_IO);
    assert_int_equal(format_look(port, OLD, &seen, &problem), STORE_OK);
    assert_int_equal(seen.format, FORMAT_NEWEST); /* of a new store */
    expect_raise(live, NEW, NULL);                /* nobody lives */
    op = arrival_op();
    format_join(op, 7, OLD, &seen);
    assert_int_equal(run_block(port, BEAT_OBJECT, op), PORT_REFUSED);
    assert_int_equal(format_look(port, OLD, &now, &problem), STORE_IO);
    assert_string_equal(problem, UNKNOWN);
    assert_int_equal(format_look(port, NEW, &now, &problem), STORE_OK);
    op = arrival_op();
    format_join(op, 7, NEW, &now);
    port_set(op, living_key(op->arena, 7), living_value());
    (void)run_block(port, BEAT_OBJECT, op); /* resent, it is refused: port.h (6) */
    seen = now;
    assert_int_equal(format_look(port, NEW, &now, &problem), STORE_OK);
    assert_true(now.starts > seen.starts);
    expect_raise(live, NEW + 1, NOT_ALL);
}

/* A row that is damaged is no format. */
static void damaged(void **state)
{
    struct live *live = *state;
    struct port_op *op = arrival_op();
    const char *problem;
    struct store *store;

    store_close(open_by(live, OLD));
    port_set(op, format_key(), bytes_from_string("4"));
    assert_int_equal(run_block(live_port(live), BEAT_OBJECT, op), PORT_OK);
    assert_int_equal(try_open(live_client(live), NEW, &store, &problem), STORE_IO);
    assert_string_equal(problem, "which format it has cannot be read");
    expect_raise(live, NEW, "which front ends live cannot be read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replaced_one_by_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_was_killed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
