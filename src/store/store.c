/* The public functions of store.h that only call the engine, and the texts for results. */
#include "store/store_private.h"

#include <assert.h>

#include "base/sleeper.h"
#include "store/keyring.h"
#include "store/record_key.h"
#include "base/log.h"

const char *store_result_text(enum store_result result)
{
    static const char *const texts[] = {
        [STORE_OK] = "ok",
        [STORE_NOT_FOUND] = "not found",
        [STORE_CONFLICT] = "the partition has changed",
        [STORE_CORRUPT] = "stored data is damaged",
        [STORE_IO] = "the disk failed",
        [STORE_FULL] = "no space left",
        [STORE_SHORTAGE] = "descriptors or memory ran out",
        [STORE_BUSY] = "another process uses this data directory",
        [STORE_WAIT] = "not yet",
    };

    assert((size_t)result < sizeof texts / sizeof texts[0]);
    return texts[result];
}

/* Asserts that the result of a read or a commit is allowed by store.h: STORE_WAIT only if the
 * access may not block, and no result of other functions. */
static void assert_result(enum store_result result, struct store_access access)
{
    assert(result != STORE_WAIT || !access.may_block);
    assert(result != STORE_BUSY);
}

static void assert_snapshot(const struct read_view *snapshot)
{
    assert(snapshot->store && snapshot->store->operations);
    assert(snapshot->prefix.len > KEY_SPACE_SIZE);
}

void store_close(struct store *store)
{
    assert(store && store->operations);
    store->operations->close(store);
}

unsigned store_descriptors(struct store *store)
{
    return store->operations->descriptors ? store->operations->descriptors(store) : 0;
}

bool store_healthy(struct store *store)
{
    return store->operations->healthy(store);
}

bool store_wants_reopening(struct store *store)
{
    return store->operations->wants_reopening && store->operations->wants_reopening(store);
}

bool store_figures(struct store *store, struct store_figures *ret_figures)
{
    return store->operations->figures && store->operations->figures(store, ret_figures);
}

bool store_is_full(struct store *store)
{
    return store->operations->is_full && store->operations->is_full(store);
}

struct read_view *read_view_open(struct store *store, struct partition partition,
                                 struct store_access access)
{
    struct read_view *snapshot = store->operations->read_view_open(store, partition);

    assert_snapshot(snapshot);
    /* a lagging view returns a snapshot of its store */
    assert(snapshot->store == store || snapshot->store->lag);
    assert(guid_equal(&snapshot->space, &partition.space));
    snapshot->access = access;
    return snapshot;
}

void read_view_close(struct read_view *snapshot)
{
    struct store *store = snapshot->store;
    struct lag_state *shown = snapshot->shown;

    assert_snapshot(snapshot);
    store->operations->read_view_close(snapshot);
    if (shown)
        lag_leave(store->lag, shown);
}

bool read_view_is_newest(const struct read_view *snapshot)
{
    const struct store_operations *operations = snapshot->store->operations;

    assert_snapshot(snapshot);
    return operations->read_view_is_newest && operations->read_view_is_newest(snapshot);
}

struct store_access read_view_access(const struct read_view *snapshot)
{
    return snapshot->access;
}

void read_view_set_access(struct read_view *snapshot, struct store_access access)
{
    assert_snapshot(snapshot);
    snapshot->access = access;
}

uint64_t read_view_sequence(const struct read_view *snapshot)
{
    return snapshot->sequence;
}

instant read_view_instant(const struct read_view *snapshot)
{
    return snapshot->newest;
}

bool read_view_is_deleted(const struct read_view *snapshot)
{
    return snapshot->gone;
}

/* prefix: prefix of keys that may be read ahead, or NULL */
static enum store_result get(struct read_view *snapshot, enum record_family family,
                             const struct bytes *prefix, struct bytes key, struct arena *arena,
                             struct record *ret_record)
{
    const struct store_operations *operations = snapshot->store->operations;
    enum store_result result;
    struct record record;
    struct key full, end;

    assert_snapshot(snapshot);
    if (snapshot->gone)
        return STORE_NOT_FOUND;
    key_init(&full);
    key_set_record(&full, family, snapshot->prefix, key);
    if (prefix && operations->get_ahead) {
        key_init(&end);
        key_set_record(&end, family, snapshot->prefix, *prefix);
        key_set_end(&end);
        result = operations->get_ahead(snapshot, key_bytes(&full), key_bytes(&end), arena, &record);
        key_release(&end);
    } else {
        result = operations->get(snapshot, key_bytes(&full), arena, &record);
    }
    key_release(&full);
    assert_result(result, snapshot->access);
    if (result)
        return result;
    assert(record.piece_count == 0 || record.pieces);
    record.key = arena_copy(arena, key);
    if (arena_is_exhausted(arena))
        return STORE_SHORTAGE;
    *ret_record = record;
    return STORE_OK;
}

enum store_result read_view_get(struct read_view *snapshot, enum record_family family,
                                struct bytes key, struct arena *arena, struct record *ret_record)
{
    return get(snapshot, family, NULL, key, arena, ret_record);
}

enum store_result read_view_get_ahead(struct read_view *snapshot, enum record_family family,
                                      struct bytes prefix, struct bytes key, struct arena *arena,
                                      struct record *ret_record)
{
    return get(snapshot, family, &prefix, key, arena, ret_record);
}

enum store_result store_commit(struct store *store, const struct commit_part *parts, size_t count,
                               instant now, struct store_access access, uint64_t *ret_sequence)
{
    bool changes = false;
    enum store_result result;

    assert(count > 0 && count <= COMMIT_PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_snapshot(parts[i].snapshot);
        assert(parts[i].snapshot->store == store);
        for (size_t j = 0; j < i; j++)
            assert(!bytes_equal(parts[i].snapshot->prefix, parts[j].snapshot->prefix));
        changes = changes || parts[i].changes;
    }
    assert(changes);
    for (size_t i = 0; i < count; i++)
        if (parts[i].snapshot->gone)
            return STORE_NOT_FOUND;
    if (store->lag)
        lag_commits(store->lag);
    result = store->operations->commit(store, parts, count, now, access, ret_sequence);
    if (result != STORE_BUSY)
        assert_result(result, access);
    return result;
}

void store_checkpoint_clock(struct store *store)
{
    if (store->operations->checkpoint_clock)
        store->operations->checkpoint_clock(store);
}

instant store_time_passed(struct store *store, instant t)
{
    (void)store;
    return clock_without_steps(t);
}

instant store_time_shown(struct store *store, instant passed)
{
    (void)store;
    return clock_with_steps(passed);
}

void store_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter)
{
    store->operations->wait_durable(store, sequence, waiter);
}

enum store_result store_durable(struct store *store, uint64_t sequence)
{
    enum store_result result = store->operations->durable(store, sequence);

    assert(result == STORE_OK || result == STORE_WAIT || result == STORE_IO);
    return result;
}

enum store_result store_await(struct store *store, uint64_t sequence)
{
    enum store_result result = store_durable(store, sequence);
    struct sleeper sleeper;

    if (result != STORE_WAIT)
        return result;
    sleeper_init(&sleeper);
    do {
        store_wait_durable(store, sequence, sleeper_arm(&sleeper));
        sleeper_wait(&sleeper);
        result = store_durable(store, sequence);
    } while (result == STORE_WAIT);
    sleeper_release(&sleeper);
    assert(result != STORE_WAIT);
    return result;
}

enum store_result store_count(struct store *store, struct guid space, struct bytes name,
                              struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence)
{
    enum store_result result;
    struct key key;

    key_init(&key);
    key_set_counter(&key, &space, name);
    result =
        store->operations->count(store, &space, key_bytes(&key), access, ret_sum, ret_sequence);
    key_release(&key);
    assert_result(result, access);
    return result;
}

const struct keyring *store_keyring(const struct store *store)
{
    return store->keyring;
}

void store_collect_now(struct store *store, struct store_usage *ret_usage)
{
    store->operations->collect_now(store, ret_usage);
}

#ifdef LAGRA_GATES
void store_drop_caches(struct store *store)
{
    if (store->operations->drop_caches)
        store->operations->drop_caches(store);
}
#endif

enum store_result store_inspect(struct store *store, inspect_visit *visit, inspect_say *say,
                                void *context)
{
    assert(store->operations->inspect);
    return store->operations->inspect(store, visit, say, context);
}

bool store_hold_space(struct store *store, struct guid space)
{
    return store->operations->hold_space && store->operations->hold_space(store, &space);
}

void store_release_space(struct store *store, struct guid space)
{
    if (store->operations->release_space)
        store->operations->release_space(store, &space);
}

enum store_result store_backup_begin(struct store *store, struct backup_state *ret_state)
{
    enum store_result result = STORE_NOT_FOUND;

    if (store->operations->backup_begin)
        result = store->operations->backup_begin(store, ret_state);
    assert(result != STORE_WAIT && result != STORE_CONFLICT);
    return result;
}

bool store_backup_copied(struct store *store, uint32_t extent)
{
    return store->operations->backup_copied(store, extent);
}

bool store_backup_end(struct store *store)
{
    return store->operations->backup_end(store);
}

struct store_state *store_keep_state(struct store *store)
{
    return store->operations->keep_state ? store->operations->keep_state(store) : NULL;
}

void store_drop_state(struct store *store, struct store_state *state)
{
    store->operations->drop_state(store, state);
}

enum store_result store_return_to(struct store *store, struct store_state *state,
                                  const struct guid *except, uint64_t *ret_sequence)
{
    if (store->lag)
        lag_commits(store->lag);
    return store->operations->return_to(store, state, except, ret_sequence);
}

void store_restart_decisions(struct store *store, struct guid space)
{
    store->operations->restart_decisions(store, &space);
}

uint64_t store_returns(const struct store *store)
{
    return atomic_load(&store->returns) + 1;
}
