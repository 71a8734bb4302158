/* The engines and the fixture of the stores' conformance tests, and waiting. */
#include "conformance.h"

#include <assert.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../rados/live.h"
#include "late.h"
#include "store/rados/open.h"
#include "store/rados/rados_private.h"
#include "store/rados/root.h"
#include "store/rados/split_shard.h"

#define RUNS_MAX        96
#define ARENA_MAX_BYTES (256u << 20)
#define WAIT_MAX_S      60
#define CUT_ROWS        2u
#define SHARDS_MAX      64u

static enum store_result open_memory(const char *folder, struct store **ret_store)
{
    (void)folder;
    *ret_store = store_open_memory();
    return STORE_OK;
}

/* The slow store in front of memory, without what only callers that repeat themselves can bear. */
static enum store_result open_late(const char *folder, struct store **ret_store)
{
    struct store *inner;

    (void)folder;
    inner = store_open_memory();
    *ret_store = store_open_late(inner, (struct late_options){ .fetches = 30 });
    return STORE_OK;
}

static enum store_result open_embedded(const char *folder, struct store **ret_store)
{
    const struct store_options options = { .location = folder, .sync = true };
    const char *problem = NULL;
    enum store_result result = store_open_embedded(&options, ret_store, &problem);

    if (result)
        print_message("not opened: %s\n", problem ? problem : "(no reason given)");
    return result;
}

static void close_pool(void *of)
{
    live_free(of);
}

/* The store on RADOS over a pool in memory, of this store alone, which applies some ops twice and answers some
 * late. */
static enum store_result open_pool(uint32_t split_rows, struct store **ret_store)
{
    /* Nobody else changes partitions here: they are cut after commits of the test. */
    struct live *live = live_new((struct fake_options){ .seed = 7, .resent = 20, .late = 10 });
    const struct rados_options options = {
        .is_always_busy = true,
        .records = live_port(live),
        .pieces = live_port(live),
        .pool_of_pieces = "pool",
        .closed = close_pool,
        .closed_of = live,
        .split_rows = split_rows,
        .cut_rows = UINT32_MAX,
    };
    const char *problem = NULL;
    enum store_result result = root_make(options.records, options.pool_of_pieces, &problem);

    if (!result)
        result = store_open_rados(&options, ret_store, &problem);

    if (result)
        print_message("not opened: %s\n", problem);
    return result;
}

static enum store_result open_rados(const char *folder, struct store **ret_store)
{
    (void)folder;
    return open_pool(0, ret_store);
}

/* Shards are split all the time. */
static enum store_result open_rados_split(const char *folder, struct store **ret_store)
{
    (void)folder;
    return open_pool(6, ret_store);
}

/* Partitions are cut after each commit. */
static _Atomic(struct store *) store_with_limbs;

static enum store_result open_rados_limbs(const char *folder, struct store **ret_store)
{
    enum store_result result = open_pool(0, ret_store);

    (void)folder;
    atomic_store(&store_with_limbs, result ? NULL : *ret_store);
    return result;
}

struct snapshot *open_to_read(struct store *store, struct partition partition)
{
    struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);

    while (store == atomic_load(&store_with_limbs) && snapshot_hold(snapshot) == STORE_CONFLICT) {
        snapshot_close(snapshot);
        snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);
    }
    return snapshot;
}

/* Others are not cut. */
struct shard_names {
    char names[SHARDS_MAX][SHARD_NAME_SIZE];
    unsigned count;
};

static void add_name(void *context, const char *object)
{
    struct shard_names *names = context;
    struct guid space;

    if (names->count < SHARDS_MAX && shard_name_space(object, &space))
        memcpy(names->names[names->count++], object, SHARD_NAME_SIZE);
}

void cut_partitions(struct store *store)
{
    struct rados *rados = rados_of(store);
    struct shard_names names = { .count = 0 };

    if (store != atomic_load(&store_with_limbs))
        return;
    assert_true(port_each_object(rados->port, add_name, &names));
    for (unsigned i = 0; i < names.count; i++)
        (void)split_shard(rados->shards, names.names[i], UINT32_MAX, CUT_ROWS);
}

static const struct engine engines[] = {
    { "memory", false, false, open_memory },
    { "late", false, false, open_late },
    { "embedded", true, false, open_embedded },
    { "rados", false, true, open_rados },
    { "rados-split", false, true, open_rados_split },
    { "rados-limbs", false, true, open_rados_limbs },
};

const struct engine *engine_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (strcmp(engines[i].name, name) == 0)
            return &engines[i];
    return NULL;
}

/* ---- the fixture ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

/* One test on one engine. */
struct run {
    const struct engine *engine;
    const struct conformance_test *test;
};

static int setup(void **state)
{
    const struct run *run = *state;
    const char *parent = getenv("LAGRA_TEST_FOLDERS");
    struct fixture *fixture = xcalloc(1, sizeof *fixture);

    fixture->engine = run->engine;
    fixture->test = run->test;
    if (snprintf(fixture->folder, sizeof fixture->folder, "%s/conformance-XXXXXX",
                 parent ? parent : ".") >= (int)sizeof fixture->folder)
        return -1;
    if (!mkdtemp(fixture->folder))
        return -1;
    atomic_store(&store_with_limbs, NULL);
    if (fixture->engine->open(fixture->folder, &fixture->store))
        return -1;
    fixture->arena = arena_new(ARENA_MAX_BYTES);
    fixture->partition = partition_of(guid_new(), "partition");
    *state = fixture;
    return 0;
}

static void run_conformance(void **state)
{
    struct fixture *fixture = *state;

    fixture->test->run(state);
    fixture->passed = true;
}

/* A store whose test failed is left open, since the test has left snapshots and stages open. */
static int teardown(void **state)
{
    struct fixture *fixture = *state;

    if (fixture->store && fixture->passed)
        store_close(fixture->store);
    (void)nftw(fixture->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

void fixture_reopen(struct fixture *fixture)
{
    if (fixture->store)
        store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(fixture->engine->open(fixture->folder, &fixture->store), STORE_OK);
    assert_true(store_healthy(fixture->store));
}

int conformance_run(const char *group, const struct conformance_test *tests, size_t count)
{
    const char *only = getenv("LAGRA_STORE");
    struct CMUnitTest list[RUNS_MAX];
    struct run runs[RUNS_MAX];
    size_t listed = 0;
    int failed;

    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++)
        for (size_t t = 0; t < count; t++) {
            char *name;

            if ((tests[t].wanted == STORES_ON_DISK && !engines[e].on_disk) ||
                (tests[t].wanted == LOCAL_STORES && engines[e].is_remote))
                continue;
            if (only && strcmp(only, engines[e].name) != 0)
                continue;
            assert(listed < RUNS_MAX);
            if (asprintf(&name, "%s: %s", engines[e].name, tests[t].name) < 0)
                abort();
            runs[listed] = (struct run){ &engines[e], &tests[t] };
            list[listed] =
                (struct CMUnitTest){ name, run_conformance, setup, teardown, &runs[listed] };
            listed++;
        }
    failed = _cmocka_run_group_tests(group, list, listed, NULL, NULL);
    for (size_t i = 0; i < listed; i++)
        free((void *)(uintptr_t)list[i].name);
    return failed;
}

/* ---- waiting ---- */

static void wake_blocking(struct waiter *waiter)
{
    struct blocking_waiter *blocking = (struct blocking_waiter *)(void *)waiter;

    pthread_mutex_lock(&blocking->mutex);
    blocking->woken++;
    pthread_cond_signal(&blocking->condition);
    pthread_mutex_unlock(&blocking->mutex);
}

void blocking_init(struct blocking_waiter *blocking)
{
    *blocking = (struct blocking_waiter){ .waiter.wake = wake_blocking };
    pthread_mutex_init(&blocking->mutex, NULL);
    pthread_cond_init(&blocking->condition, NULL);
}

void blocking_release(struct blocking_waiter *blocking)
{
    pthread_mutex_destroy(&blocking->mutex);
    pthread_cond_destroy(&blocking->condition);
}

void blocking_wait(struct blocking_waiter *blocking)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAIT_MAX_S;
    pthread_mutex_lock(&blocking->mutex);
    while (blocking->woken == 0) {
        int result = pthread_cond_timedwait(&blocking->condition, &blocking->mutex, &until);

        assert(result == 0); /* else a wake was lost */
    }
    blocking->woken = 0;
    pthread_mutex_unlock(&blocking->mutex);
}

unsigned blocking_woken(struct blocking_waiter *blocking)
{
    unsigned woken;

    pthread_mutex_lock(&blocking->mutex);
    woken = blocking->woken;
    pthread_mutex_unlock(&blocking->mutex);
    return woken;
}

void wait_durable(struct store *store, uint64_t sequence)
{
    struct blocking_waiter blocking;

    blocking_init(&blocking);
    store_wait_durable(store, sequence, &blocking.waiter);
    blocking_wait(&blocking);
    blocking_release(&blocking);
}
