/* Commits for which nobody waits are synced together, and as soon as any other when somebody does wait
 * (store.h, `at_leisure`). keyspace_write_log() is counted. */
#include "conformance.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/thread.h"
#include "store/embedded/embedded_private.h"

#define ROUNDS  20
/* What the rounds take together at most: each is over before its commit would be durable by itself. */
#define MS_MAX  (ROUNDS * STORE_LEISURE_MS * 3u / 4)
#define POLL_NS 100000u

enum store_result __real_keyspace_write_log(const struct keyspace *keyspace, bool sync);
enum store_result __wrap_keyspace_write_log(const struct keyspace *keyspace, bool sync);

static atomic_uint syncs;

enum store_result __wrap_keyspace_write_log(const struct keyspace *keyspace, bool sync)
{
    atomic_fetch_add(&syncs, 1);
    return __real_keyspace_write_log(keyspace, sync);
}

static uint64_t commit_at_leisure(struct fixture *f, size_t size)
{
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct store_access access = { .may_block = true, .at_leisure = true };
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"),
                bytes_of(arena_bytes(f->arena, size), size), NULL, 0);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                                  clock_above(read_view_instant(before)), access, &sequence),
                     STORE_OK);
    read_view_close(before);
    return sequence;
}

/* Until nothing is on its way any more. */
static void rest(struct fixture *f)
{
    wait_durable(f->store, put_text(f->store, f->partition, "k", "v"));
}

/* Rule: nobody waits, and one sync is for all that came in STORE_LEISURE_MS; then they are durable all the same. */
static void many_are_one_sync(void **state)
{
    struct fixture *f = *state;
    struct embedded *embedded = (struct embedded *)(void *)f->store;
    uint64_t began, last = 0, took;
    unsigned before;

    rest(f);
    before = atomic_load(&syncs);
    began = clock_monotonic_ms();
    for (unsigned i = 0; i < 100; i++) {
        last = commit_at_leisure(f, 10);
        thread_sleep_ns(POLL_NS);
    }
    took = clock_monotonic_ms() - began;
    assert_true(atomic_load(&syncs) - before <= took / STORE_LEISURE_MS + 1);
    while (!syncer_covers(&embedded->syncer, last))
        thread_sleep_ns(POLL_NS); /* the test's time limit ends it */
}

/* Rule: who waits, also for what somebody else wrote, has it synced at once. */
static void who_waits_waits_no_longer(void **state)
{
    struct fixture *f = *state;
    uint64_t began = clock_monotonic_ms();

    for (unsigned i = 0; i < ROUNDS; i++)
        wait_durable(f->store, commit_at_leisure(f, 10));
    assert_true(clock_monotonic_ms() - began < MS_MAX);
}

/* Rule: what would fill the log's buffer is not left for a commit to write. */
static void much_is_synced_at_once(void **state)
{
    struct fixture *f = *state;
    uint64_t began;

    rest(f);
    began = clock_monotonic_ms();
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned before = atomic_load(&syncs);

        for (unsigned k = 0; k < 16; k++)
            commit_at_leisure(f, 64u << 10);
        while (atomic_load(&syncs) == before)
            thread_sleep_ns(POLL_NS);
    }
    assert_true(clock_monotonic_ms() - began < MS_MAX);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(many_are_one_sync, STORES_ON_DISK),
        TEST(who_waits_waits_no_longer, STORES_ON_DISK),
        TEST(much_is_synced_at_once, STORES_ON_DISK),
    };

    return conformance_run("leisure", tests, sizeof tests / sizeof tests[0]);
}
