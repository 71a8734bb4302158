/* The engines and the fixture of the stores' conformance tests, and waiting. */
#include "conformance.h"

#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX        96
#define ARENA_MAX_BYTES (256u << 20)
#define WAIT_MAX_S      60

static enum store_result open_memory(const char *folder, struct store **ret_store)
{
    (void)folder;
    *ret_store = store_open_memory();
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

static const struct engine engines[] = {
    { "memory", false, open_memory },
    { "embedded", true, open_embedded },
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

            if (tests[t].wanted == STORES_ON_DISK && !engines[e].on_disk)
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
