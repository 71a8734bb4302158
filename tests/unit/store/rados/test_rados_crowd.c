/* How many ops a crowd of clients takes, and how long it waits: by a clock of the test's own, on the RADOS in memory.
 * store/rados/crowd.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "../../../rados/fake.h"
#include "base/clock.h"
#include "store/rados/crowd.h"
#include "store/rados/row_key.h"
#include "store/rados/shard.h"

#define OBJECT  "shard"
#define OP_MS   8u
#define CLIENTS 32u
#define NEVER   UINT64_MAX

/* Commits again and again. */
struct client {
    struct waiter waiter; /* first */
    struct shard_commit commit;
    struct shard_change change;
    char name[8];
    uint64_t comes_ms, came_ms;
    unsigned answered;
    uint64_t longest_ms; /* of its answers */
};

static struct {
    struct fake *fake;
    struct port *port;
    void (*send)(struct port *port, const char *object, struct port_op *op);
    struct shard *shard;
    struct arena *arena;
    uint64_t now_ms, attempts;
    struct port_op *op; /* in flight */
    uint64_t answer_ms, pause_ms;
    struct waiter *pause;
    unsigned ops, pauses;
    struct client clients[CLIENTS];
    unsigned back_ms; /* so long after its answer a client comes back; 0: it does not */
} world;

uint64_t __wrap_clock_monotonic_ms(void);
uint64_t __wrap_clock_monotonic_ms(void)
{
    return world.now_ms;
}

static void send(struct port *port, const char *object, struct port_op *op)
{
    (void)port;
    assert_string_equal(object, OBJECT);
    assert_null(world.op);
    world.op = op;
    world.answer_ms = world.now_ms + OP_MS;
    world.ops++;
}

static void note_pause(struct port *port, unsigned ms, struct waiter *waiter)
{
    (void)port;
    assert_null(world.pause);
    assert_in_range(ms, 1, CROWD_WAIT_MS_MAX);
    world.pause = waiter;
    world.pause_ms = world.now_ms + ms;
    world.pauses++;
}

static void run(void)
{
    while (fake_step(world.fake))
        ;
}

static void answered(struct waiter *waiter)
{
    struct client *client = (struct client *)(void *)waiter;
    uint64_t took_ms = world.now_ms - client->came_ms;

    assert_int_equal(client->commit.result, STORE_OK);
    client->answered++;
    client->longest_ms = took_ms > client->longest_ms ? took_ms : client->longest_ms;
    client->comes_ms = world.back_ms > 0 ? world.now_ms + world.back_ms : NEVER;
}

static void come(struct client *client)
{
    struct bytes name = bytes_from_string(client->name);
    struct bytes row = fake_row(world.fake, OBJECT, row_key_header(world.arena, name));

    client->came_ms = world.now_ms;
    client->comes_ms = NEVER;
    client->waiter.wake = answered;
    client->change = (struct shard_change){
        .key = row_key_record(world.arena, RECORD_LISTED, name, bytes_from_string("r")),
        .value = bytes_from_string("v"),
    };
    client->commit = (struct shard_commit){
        .partition_key = name,
        .now = 1000,
        .attempt = { 1, ++world.attempts },
        .changes = &client->change,
        .waiter = &client->waiter,
    };
    assert_int_equal(partition_header_read(row, &client->commit.seen), STORE_OK);
    shard_commit(world.shard, &client->commit);
}

/* What is next happens; false: nothing until then. */
static bool step(uint64_t until_ms)
{
    uint64_t next_ms = world.op ? world.answer_ms : NEVER;
    struct client *client = NULL;

    if (world.pause && world.pause_ms < next_ms)
        next_ms = world.pause_ms;
    for (unsigned i = 0; i < CLIENTS; i++)
        if (world.clients[i].comes_ms < next_ms) {
            client = &world.clients[i];
            next_ms = client->comes_ms;
        }
    if (next_ms > until_ms)
        return false;
    world.now_ms = next_ms;
    if (client) {
        come(client);
    } else if (world.pause && world.pause_ms == next_ms) {
        struct waiter *waiter = world.pause;

        world.pause = NULL;
        waiter->wake(waiter);
    } else {
        struct port_op *op = world.op;

        world.op = NULL;
        world.send(world.port, OBJECT, op);
        run();
    }
    return true;
}

/* How much was answered meanwhile. */
static unsigned pass(unsigned ms)
{
    uint64_t until_ms = world.now_ms + ms;
    unsigned before = 0, after = 0;

    for (unsigned i = 0; i < CLIENTS; i++)
        before += world.clients[i].answered;
    while (step(until_ms))
        ;
    world.now_ms = until_ms;
    for (unsigned i = 0; i < CLIENTS; i++)
        after += world.clients[i].answered;
    return after - before;
}

static void ignore(struct port_op *op)
{
    port_op_free(op);
}

static int set_up(void **state)
{
    const struct shard_bounds bounds = { .state = SHARD_LIVE, .epoch = 1 };

    (void)state;
    memset(&world, 0, sizeof world);
    world.now_ms = 1000;
    world.fake = fake_new((struct fake_options){ .seed = 1 });
    world.port = fake_client(world.fake);
    world.arena = arena_new(64u << 20);
    shard_create(world.port, OBJECT, &bounds, ignore, NULL);
    run();
    assert_int_equal(
        shard_new(world.port, OBJECT, fake_row(world.fake, OBJECT, row_key_bounds()), &world.shard),
        STORE_OK);
    world.send = world.port->send;
    world.port->send = send;
    world.port->pause = note_pause;
    for (unsigned i = 0; i < CLIENTS; i++) {
        world.clients[i].comes_ms = NEVER;
        snprintf(world.clients[i].name, sizeof world.clients[i].name, "p%u", i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    world.back_ms = 0;
    (void)pass(100);
    shard_free(world.shard);
    arena_free(world.arena);
    fake_free(world.fake);
    return 0;
}

/* All of a crowd go together, however they have begun. */
static void crowd(void **state)
{
    unsigned done, ops;

    (void)state;
    world.back_ms = 4;
    for (unsigned i = 0; i < CLIENTS; i++)
        world.clients[i].comes_ms = world.now_ms + i % 11;
    (void)pass(200);
    ops = world.ops;
    done = pass(1200);
    assert_in_range(world.ops - ops, 95,
                    105); /* of 8 ms and 4 ms each; without, 150 of 16 commits */
    assert_in_range(done, 31 * (world.ops - ops), CLIENTS * (world.ops - ops));
}

/* Who comes alone is not held back. */
static void alone(void **state)
{
    (void)state;
    world.back_ms = 1;
    world.clients[0].comes_ms = world.now_ms;
    (void)pass(1000);
    assert_in_range(world.clients[0].answered, 110, 112);
    assert_int_equal(world.clients[0].longest_ms, OP_MS);
    assert_int_equal(world.pauses, 0);
}

/* Nor are those who come by chance, a few while an op is in flight. */
static void few_by_chance(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        world.clients[i % CLIENTS].comes_ms = world.now_ms + (i * 7) % 5;
        (void)pass(5);
    }
    assert_int_equal(world.pauses, 0);
}

/* Those who come back later than an op takes are answered within three: the one in flight, a wait, and their own. */
static void slow_to_return(void **state)
{
    (void)state;
    world.back_ms = 40;
    for (unsigned i = 0; i < CLIENTS; i++)
        world.clients[i].comes_ms = world.now_ms + i % 3;
    assert_true(pass(1000) > 1000 / (world.back_ms + 3 * OP_MS) * CLIENTS);
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_in_range(world.clients[i].longest_ms, OP_MS, 3 * OP_MS);
}

/* A crowd that goes is waited for once, as long as an op takes. */
static void crowd_that_goes(void **state)
{
    struct client *last = &world.clients[0];

    (void)state;
    world.back_ms = 4;
    for (unsigned i = 0; i < CLIENTS; i++)
        world.clients[i].comes_ms = world.now_ms + i % 11;
    (void)pass(200);
    world.back_ms = 0;
    (void)pass(13); /* each has its last answer, or has just come */
    last->longest_ms = 0;
    world.pauses = 0;
    (void)pass(3);
    last->comes_ms = world.now_ms + 1;
    world.back_ms = 1;
    for (unsigned i = 1; i < CLIENTS; i++)
        world.clients[i].comes_ms = NEVER;
    (void)pass(500);
    assert_in_range(last->longest_ms, OP_MS, 2 * OP_MS);
    assert_in_range(last->answered, 50, 100);
    assert_in_range(world.pauses, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(crowd, set_up, tear_down),
        cmocka_unit_test_setup_teardown(alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(few_by_chance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_to_return, set_up, tear_down),
        cmocka_unit_test_setup_teardown(crowd_that_goes, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
