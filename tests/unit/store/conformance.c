/* The engines, the fixture and the helpers of the stores' conformance tests. */
#include "conformance.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MAX        64
#define WAIT_MAX_S      60
#define READING_MAX     (256u << 20)
#define READ_STEP_BYTES 100000u

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
    struct fixture *fixture = xcalloc(1, sizeof *fixture);

    fixture->engine = run->engine;
    fixture->test = run->test;
    (void)snprintf(fixture->folder, sizeof fixture->folder, "conformance-XXXXXX");
    if (!mkdtemp(fixture->folder))
        return -1;
    if (fixture->engine->open(fixture->folder, &fixture->store))
        return -1;
    fixture->arena = arena_new(READING_MAX);
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

/* ---- records ---- */

struct partition partition_of(struct guid space, const char *key)
{
    return (struct partition){ space, bytes_from_string(key) };
}

enum store_result commit_new(struct store *store, struct partition partition,
                             const struct changes *changes, uint64_t *ret_sequence)
{
    enum store_result result;
    uint64_t sequence = 0;

    do {
        struct snapshot *snapshot = snapshot_open(store, partition);

        result = store_commit(store, snapshot, changes, clock_now(), &sequence);
        snapshot_close(snapshot);
    } while (result == STORE_CONFLICT);
    if (!result && ret_sequence)
        *ret_sequence = sequence;
    return result;
}

uint64_t put_text(struct store *store, struct partition partition, const char *key,
                  const char *value)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    uint64_t sequence = 0;

    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_from_string(value), NULL, 0);
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    arena_free(arena);
    return sequence;
}

uint64_t delete_key(struct store *store, struct partition partition, const char *key)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    uint64_t sequence = 0;

    changes_delete(changes, RECORD_LISTED, bytes_from_string(key));
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    arena_free(arena);
    return sequence;
}

const char *get_text(struct snapshot *snapshot, struct arena *arena, const char *key)
{
    struct record record;
    enum store_result result =
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string(key), arena, &record);

    if (result == STORE_NOT_FOUND)
        return "(none)";
    return result ? store_result_text(result) : arena_string(arena, record.value);
}

const char *get_now(struct store *store, struct partition partition, struct arena *arena,
                    const char *key)
{
    struct snapshot *snapshot = snapshot_open(store, partition);
    const char *value = get_text(snapshot, arena, key);

    snapshot_close(snapshot);
    return value;
}

const char *scan_text(struct snapshot *snapshot, struct arena *arena, struct bytes prefix,
                      struct bytes from)
{
    struct scan *scan = scan_open(snapshot, RECORD_LISTED, prefix, from);
    enum store_result result;
    struct record record;
    struct text text;

    text_init(&text, arena, 1024);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK)
        text_printf(&text, "%s%.*s=%.*s", text.len > 0 ? " " : "", BYTES_ARG(record.key),
                    BYTES_ARG(record.value));
    scan_close(scan);
    if (result != STORE_NOT_FOUND)
        text_add_string(&text, store_result_text(result));
    return arena_string(arena, text_bytes(&text));
}

const char *walk_text(struct walk *walk, struct arena *arena)
{
    enum store_result result;
    struct walked walked;
    struct text text;

    text_init(&text, arena, 1024);
    while ((result = walk_next(walk, &walked)) == STORE_OK)
        text_printf(&text, "%s%.*s/%.*s=%.*s", text.len > 0 ? " " : "",
                    BYTES_ARG(walked.partition_key), BYTES_ARG(walked.record_key),
                    BYTES_ARG(walked.value));
    if (result != STORE_NOT_FOUND)
        text_add_string(&text, store_result_text(result));
    return arena_string(arena, text_bytes(&text));
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

/* ---- pieces ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

void pattern_fill(char *to, size_t length, uint64_t seed, uint64_t offset)
{
    uint64_t stream = mix(seed + 0x9e3779b97f4a7c15ull);

    for (size_t done = 0; done < length;) {
        uint64_t word = mix(stream + (offset + done) / 8);
        size_t skip = (offset + done) % 8;
        size_t take = 8 - skip < length - done ? 8 - skip : length - done;

        memcpy(to + done, (const char *)&word + skip, take);
        done += take;
    }
}

bool pattern_matches(const char *data, size_t length, uint64_t seed, uint64_t offset)
{
    char expected[4096];

    for (size_t done = 0; done < length;) {
        size_t take = length - done < sizeof expected ? length - done : sizeof expected;

        pattern_fill(expected, take, seed, offset + done);
        if (memcmp(data + done, expected, take) != 0)
            return false;
        done += take;
    }
    return true;
}

/* Writes one chunk, waiting where it must. */
static enum store_result write_chunk(struct stage *stage, struct bytes chunk,
                                     struct blocking_waiter *blocking)
{
    while (chunk.len > 0) {
        size_t taken = 0;
        enum store_result result = stage_write(stage, chunk, &blocking->waiter, &taken);

        if (result && result != STORE_WAIT)
            return result;
        assert(taken <= chunk.len && (result || taken == chunk.len));
        chunk = bytes_from(chunk, taken);
        if (result == STORE_WAIT)
            blocking_wait(blocking);
    }
    return STORE_OK;
}

enum store_result stage_pattern(struct store *store, uint64_t length, uint64_t seed,
                                size_t chunk_max, struct stage **ret_stage)
{
    struct stage *stage = stage_open(store, seed % 2 == 0 ? length : UINT64_MAX);
    struct random random = { seed + 1 };
    struct blocking_waiter blocking;
    enum store_result result = STORE_OK;
    char *chunk = xmalloc(chunk_max);

    blocking_init(&blocking);
    for (uint64_t at = 0; at < length && !result;) {
        size_t size = 1 + (size_t)random_below(&random, chunk_max);

        if (size > length - at)
            size = (size_t)(length - at);
        pattern_fill(chunk, size, seed, at);
        result = write_chunk(stage, bytes_of(chunk, size), &blocking);
        at += size;
    }
    while (!result && (result = stage_finish(stage, &blocking.waiter)) == STORE_WAIT) {
        blocking_wait(&blocking);
        result = STORE_OK;
    }
    blocking_release(&blocking);
    free(chunk);
    *ret_stage = stage;
    return result;
}

uint64_t put_stream(struct store *store, struct partition partition, const char *key,
                    uint64_t length, uint64_t seed)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    const struct piece *pieces;
    struct stage *stage;
    uint64_t sequence = 0;
    size_t count;

    assert_int_equal(stage_pattern(store, length, seed, 300000, &stage), STORE_OK);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_from_string("stream"), pieces,
                count);
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    stage_close(stage);
    arena_free(arena);
    return sequence;
}

uint64_t delete_stream(struct store *store, struct partition partition, const char *key)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    struct snapshot *snapshot = snapshot_open(store, partition);
    struct record record;
    uint64_t sequence = 0;

    assert_int_equal(snapshot_get(snapshot, RECORD_LISTED, bytes_from_string(key), arena, &record),
                     STORE_OK);
    changes_delete(changes, RECORD_LISTED, record.key);
    changes_release(changes, record.pieces, record.piece_count);
    assert_int_equal(store_commit(store, snapshot, changes, clock_now(), &sequence), STORE_OK);
    snapshot_close(snapshot);
    arena_free(arena);
    return sequence;
}

static bool piece_matches(struct store *store, const struct piece *piece, uint64_t seed,
                          uint64_t stream_offset)
{
    char *buffer = xmalloc(READ_STEP_BYTES);
    bool same = true;

    for (uint32_t at = 0; at < piece->length && same; at += READ_STEP_BYTES) {
        uint32_t rest = piece->length - at;
        uint32_t length = rest < READ_STEP_BYTES ? rest : READ_STEP_BYTES;

        same = piece_read(store, piece, at, length, buffer, NULL) == STORE_OK &&
               pattern_matches(buffer, length, seed, stream_offset + at);
    }
    free(buffer);
    return same;
}

bool stream_matches(struct store *store, struct snapshot *snapshot, const char *key,
                    uint64_t length, uint64_t seed)
{
    struct arena *arena = arena_new(READING_MAX);
    struct record record;
    uint64_t at = 0;
    bool same =
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string(key), arena, &record) == STORE_OK;

    for (size_t i = 0; same && i < record.piece_count; i++) {
        same = piece_matches(store, &record.pieces[i], seed, at);
        at += record.pieces[i].length;
    }
    arena_free(arena);
    return same && at == length;
}

struct store_usage usage_now(struct store *store)
{
    struct store_usage usage;

    store_collect_now(store, &usage);
    return usage;
}

void assert_all_given_back(struct store *store)
{
    struct store_usage usage = usage_now(store);

    assert_int_equal(usage.piece_bytes, 0);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(usage.allocated_bytes <= EMPTY_ALLOCATED_MAX);
}

/* ---- chance ---- */

uint64_t random_next(struct random *random)
{
    random->state += 0x9e3779b97f4a7c15ull;
    return mix(random->state);
}

uint64_t random_below(struct random *random, uint64_t below)
{
    return random_next(random) % below;
}
