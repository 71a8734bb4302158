/* The tests of the interface to RADOS, and of group commit, on a cluster: what the fake does, Ceph does.
 * LAGRA_RADOS_CONF: its ceph.conf; LAGRA_RADOS_POOL: a pool whose objects may go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sleeper.h"
#include "conformance.h"
#include "store/rados/port_librados.h"
#include "store/rados/row_key.h"
#include "store/rados/shard.h"

#define SHARD    "shard"
#define COMMITS  400u
#define PER_WAVE 100u

static void settle(struct port_under_test *under_test)
{
    port_settle_librados(under_test->port);
}

static void ignore(struct port_op *op)
{
    port_op_free(op);
}

/* All objects of the tests are gone. */
static void clear(struct port *port)
{
    static const char *const objects[] = { "none", "made", "new", "o", "list", SHARD };

    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        struct port_op *op = port_op_new(ignore, NULL);

        port_delete_object(op);
        port_send(port, objects[i], op);
    }
    port_settle_librados(port);
}

static int set_up(void **state)
{
    static struct port_under_test under_test;
    const char *conf = getenv("LAGRA_RADOS_CONF"), *pool = getenv("LAGRA_RADOS_POOL"), *problem;

    if (!conf || !pool || !port_open_librados(conf, pool, &under_test.port, &problem))
        return -1;
    under_test.settle = settle;
    clear(under_test.port);
    *state = &under_test;
    return 0;
}

static int tear_down(void **state)
{
    struct port_under_test *under_test = *state;

    clear(under_test->port);
    port_close_librados(under_test->port);
    return 0;
}

static void no_cluster(void **state)
{
    const char *problem = NULL;
    struct port *port;

    (void)state;
    assert_false(port_open_librados("/nonexistent/ceph.conf", "rep", &port, &problem));
    assert_non_null(problem);
}

struct wave {
    struct sleeper sleepers[PER_WAVE];
    struct shard_commit commits[PER_WAVE];
};

/* Commits that arrive together go together, and each is there. */
static void group_commit(void **state)
{
    struct port_under_test *under_test = *state;
    const struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 1 };
    struct arena *arena = arena_new(64u << 20);
    struct wave *wave = calloc(1, sizeof *wave);
    struct partition_header seen[PER_WAVE] = { { .version = 0 } };
    struct shard *shard;

    shard_create(under_test->port, SHARD, &bounds, ignore, NULL);
    settle(under_test);
    assert_int_equal(shard_new(under_test->port, SHARD, shard_bounds_write(arena, &bounds), &shard),
                     STORE_OK);
    for (unsigned i = 0; i < PER_WAVE; i++)
        sleeper_init(&wave->sleepers[i]);
    for (unsigned number = 0; number < COMMITS; number++) {
        unsigned i = number % PER_WAVE;
        struct shard_change *change = arena_alloc(arena, sizeof *change);
        struct bytes key = arena_printf(arena, "p%u", i);

        *change = (struct shard_change){
            .key = row_key_record(arena, RECORD_LISTED, key, bytes_from_string("r")),
            .value = arena_printf(arena, "%u", number),
        };
        wave->commits[i] = (struct shard_commit){
            .partition_key = key,
            .seen = seen[i],
            .now = 1000,
            .attempt = { 1, number + 1 },
            .changes = change,
            .waiter = sleeper_arm(&wave->sleepers[i]),
        };
        seen[i] = partition_header_after(&seen[i], 1000, wave->commits[i].attempt);
        shard_commit(shard, &wave->commits[i]);
        for (unsigned k = 0; i == PER_WAVE - 1 && k < PER_WAVE; k++) {
            sleeper_wait(&wave->sleepers[k]);
            assert_int_equal(wave->commits[k].result, STORE_OK);
        }
    }
    settle(under_test);
    shard_free(shard);
    for (unsigned i = 0; i < PER_WAVE; i++)
        sleeper_release(&wave->sleepers[i]);
    free(wave);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CONFORMANCE_TESTS(set_up, tear_down),
        cmocka_unit_test(no_cluster),
        cmocka_unit_test_setup_teardown(group_commit, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
