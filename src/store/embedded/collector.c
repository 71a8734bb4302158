/* Deletes the contents of dropped spaces, partition by partition, and freed pieces. */
#include "store/embedded/collector.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/reclaim.h"
#include "store/embedded/records_files.h"
#include "store/embedded/recovery.h"
#include "store/record_key.h"
#include "store/record_value.h"

#define BATCH_RECORDS   256
#define BATCH_ARENA_MAX (256u << 20)
#define GATHER_MS       10
#define RETRY_MS        5000
#define LOW_MS          1000
#define ROUND_MS        60000 /* of spaces.h */
#define CURSOR_RECORDS  4096  /* a cursor holds old state; it is renewed after this many records */

static bool must_stop(const struct collector *collector)
{
    return atomic_load(&collector->stop) || atomic_load(&collector->embedded->failed);
}

/* Adds the deletion of the record under the cursor. */
static enum store_result add_record(struct cursor *cursor, enum record_family family,
                                    size_t prefix_size, struct changes *changes,
                                    struct arena *arena)
{
    const struct piece *pieces;
    struct bytes payload;
    size_t count;
    enum store_result result = record_value_decode(cursor->value, arena, &payload, &pieces, &count);

    if (result) {
        log_line(LOG_ERROR, "store: a record of a dropped space is corrupt");
        return result;
    }
    changes_delete(changes, family, bytes_from(cursor->key, prefix_size));
    changes_release(changes, pieces, count);
    return STORE_OK;
}

/* Deletes a run of records of one partition, starting with the current one of the cursor.
 * *ret_moved: result of moving to the next record */
static enum store_result collect_run(struct collector *collector, struct cursor *cursor,
                                     const struct space_drop *drop, enum record_family family,
                                     size_t *ret_count, enum store_result *ret_moved)
{
    struct arena *arena = arena_new(BATCH_ARENA_MAX);
    struct changes *changes = changes_new(arena);
    struct bytes escaped, record_key, prefix;
    enum store_result result = STORE_CORRUPT;
    enum store_result moved = STORE_OK;
    size_t count = 0;

    if (!key_split(cursor->key, &escaped, &record_key)) {
        log_line(LOG_ERROR, "store: a key of a dropped space is corrupt");
        goto out;
    }
    prefix = arena_copy(arena, bytes_of(cursor->key.ptr, cursor->key.len - record_key.len));
    do {
        result = add_record(cursor, family, prefix.len, changes, arena);
        if (result)
            goto out;
        count++;
        moved = embedded_cursor_next(cursor);
    } while (!moved && count < BATCH_RECORDS && bytes_has_prefix(cursor->key, prefix));
    result = commit_collected(collector->embedded, prefix, drop, changes);
    *ret_count += count;
    *ret_moved = moved;
out:
    arena_free(arena);
    return result;
}

/* Deletes up to CURSOR_RECORDS records of a family. Returns STORE_NOT_FOUND if none are left. */
static enum store_result collect_some(struct collector *collector, const struct space_drop *drop,
                                      enum record_family family, struct key *from)
{
    struct store *store = &collector->embedded->store;
    enum store_result result, moved;
    struct cursor *cursor;
    struct key end;
    size_t count = 0;

    key_init(&end);
    key_set_space(&end, family == RECORD_LISTED ? KEY_KIND_LISTED : KEY_KIND_INNER, &drop->space);
    key_set_end(&end);
    cursor = cursor_open(store, key_bytes(&end));
    key_release(&end);
    moved = embedded_cursor_seek(cursor, key_bytes(from));
    result = moved;
    while (!result && !moved && count < CURSOR_RECORDS && !must_stop(collector))
        result = collect_run(collector, cursor, drop, family, &count, &moved);
    if (!result && !moved)
        key_set_raw(from, cursor->key);
    embedded_cursor_close(cursor);
    return result ? result : moved;
}

/* Deletes up to BATCH_RECORDS rows of a kind that no reader can see any more, because an iterator
 * over them has its own state. Returns STORE_NOT_FOUND if none are left. */
static enum store_result collect_rows(struct collector *collector, const struct space_drop *drop,
                                      char kind, struct key *from)
{
    rocksdb_writebatch_t *writes = rocksdb_writebatch_create();
    enum store_result result, written;
    struct cursor *cursor;
    struct key end;
    size_t count = 0;

    key_init(&end);
    key_set_space(&end, kind, &drop->space);
    key_set_end(&end);
    cursor = cursor_open(&collector->embedded->store, key_bytes(&end));
    key_release(&end);
    result = embedded_cursor_seek(cursor, key_bytes(from));
    for (; !result && count < BATCH_RECORDS; count++) {
        rocksdb_writebatch_delete(writes, cursor->key.ptr, cursor->key.len);
        result = embedded_cursor_next(cursor);
    }
    if (!result)
        key_set_raw(from, cursor->key);
    embedded_cursor_close(cursor);
    written =
        count > 0 ? commit_collected_rows(collector->embedded, drop, writes, false) : STORE_OK;
    rocksdb_writebatch_destroy(writes);
    return written ? written : result;
}

/* Returns STORE_OK when no index record and no counter of the space is left; STORE_WAIT if the
 * collector must stop. */
static enum store_result collect_index(struct collector *collector, const struct space_drop *drop)
{
    static const char kinds[] = { KEY_KIND_INDEX, KEY_KIND_COUNTER };
    enum store_result result = STORE_NOT_FOUND;

    for (size_t i = 0; i < sizeof kinds && result == STORE_NOT_FOUND; i++) {
        struct key from;

        key_init(&from);
        key_set_space(&from, kinds[i], &drop->space);
        do
            result = collect_rows(collector, drop, kinds[i], &from);
        while (!result && !must_stop(collector));
        key_release(&from);
    }
    if (!result)
        return STORE_WAIT;
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Deletes the row that names the space, which must be last. */
static enum store_result forget_space(struct collector *collector, const struct space_drop *drop)
{
    rocksdb_writebatch_t *writes = rocksdb_writebatch_create();
    enum store_result result;
    struct key key;

    key_init(&key);
    key_set_space(&key, KEY_KIND_DROPPED, &drop->space);
    rocksdb_writebatch_delete(writes, key.ptr, key.len);
    key_release(&key);
    result = commit_collected_rows(collector->embedded, drop, writes, true);
    rocksdb_writebatch_destroy(writes);
    return result;
}

/* Returns STORE_OK when nothing of the space is left; STORE_WAIT if the collector must stop;
 * STORE_CONFLICT if the drop was undone. */
static enum store_result collect_space(struct collector *collector, const struct space_drop *drop)
{
    for (enum record_family family = RECORD_LISTED; family <= RECORD_INNER; family++) {
        enum store_result result = STORE_OK;
        struct key from;

        key_init(&from);
        key_set_space(&from, family == RECORD_LISTED ? KEY_KIND_LISTED : KEY_KIND_INNER,
                      &drop->space);
        while (!result && !must_stop(collector)) {
            result = collect_some(collector, drop, family, &from);
            reclaim_step(collector->embedded);
        }
        key_release(&from);
        if (!result)
            return STORE_WAIT; /* continued by the next start */
        if (result == STORE_CONFLICT)
            return result;
        if (result != STORE_NOT_FOUND) {
            log_line(LOG_ERROR, "store: a dropped space is not collected: %s",
                     store_result_text(result));
            return result;
        }
    }
    return collect_index(collector, drop);
}

/* Retries unreadable spaces later, but corrupt ones only after the next start. */
static void postpone(struct collector *collector, const struct guid *space,
                     enum store_result result)
{
    if (result == STORE_CORRUPT || must_stop(collector))
        return;
    if (collector->postponed.count == 0)
        collector->retry_ms = clock_monotonic_ms() + RETRY_MS;
    space_list_add(&collector->postponed, space);
}

static void retry_postponed(struct collector *collector)
{
    struct space_list *list = &collector->postponed;

    if (list->count == 0 || clock_monotonic_ms() < collector->retry_ms)
        return;
    while (list->count > 0)
        collector_add(collector, &list->ids[--list->count]);
    space_list_trim(list);
}

/* While disk space is low, only deletes succeed, so they must free their space now. */
static void look_after_disk(struct collector *collector)
{
    struct embedded *embedded = collector->embedded;
    uint64_t sequence = keyspace_sequence(&embedded->keyspace);
    struct sizes sizes;

    disk_space_tend(&embedded->space);
    sizes = sizes_of(embedded->space.reserve, disk_space_is_roomy(&embedded->space));
    keyspace_set_levels(&embedded->keyspace, &sizes);
    if (disk_space_is_low(&embedded->space))
        records_empty_aside(embedded->space.folder);
    if (disk_space_is_low(&embedded->space) && embedded->reclaim.kept_count > 0)
        reclaim_press(embedded);
    if (!disk_space_is_low(&embedded->space) || sequence == collector->given_back ||
        clock_monotonic_ms() - collector->given_back_ms < LOW_MS)
        return;
    keyspace_give_back(&embedded->keyspace);
    collector->given_back = sequence;
    collector->given_back_ms = clock_monotonic_ms();
}

static bool forgets_spaces(const struct collector *collector)
{
    return atomic_load(&collector->embedded->spaces.collected) > 0;
}

/* Ends at most one round, however long ago the last one was. */
static void look_after_rounds(struct collector *collector)
{
    uint64_t now = clock_monotonic_ms();

    if (!forgets_spaces(collector) || now - collector->round_ms < ROUND_MS)
        return;
    collector->round_ms = now;
    spaces_end_round(&collector->embedded->spaces);
}

/* Collects a space completely, unless it is no longer dropped. */
static enum store_result collect(struct collector *collector, const struct guid *space)
{
    struct spaces *spaces = &collector->embedded->spaces;
    enum store_result result = STORE_CONFLICT;
    struct space_drop drop;

    while (result == STORE_CONFLICT && spaces_find_drop(spaces, space, &drop)) {
        result = collect_space(collector, &drop);
        if (!result)
            result = forget_space(collector, &drop);
    }
    return result == STORE_CONFLICT ? STORE_OK : result;
}

/* Does one round of all work; returns true if something is still waiting for the disk. */
static bool work(struct collector *collector)
{
    bool left;

    retry_postponed(collector);
    look_after_disk(collector);
    look_after_rounds(collector);
    for (;;) {
        enum store_result result;
        struct guid space;
        bool found;

        lock_acquire(&collector->lock);
        found = collector->spaces.count > 0;
        if (found)
            space = collector->spaces.ids[--collector->spaces.count];
        else
            space_list_trim(&collector->spaces);
        lock_release(&collector->lock);
        if (!found || must_stop(collector))
            break;
        result = collect(collector, &space);
        if (result)
            postpone(collector, &space, result);
    }
    /* This comes first: pieces freed by an ending stage are queued before it stops being
     * counted. */
    left = atomic_load(&collector->embedded->ending_stages) > 0;
    left = reclaim_step(collector->embedded) || left;
    extents_sweep(&collector->embedded->extents);
    return left;
}

/* Waits until there is work. Freed pieces are accumulated, unless collector_wait() requests a
 * round. Caller holds the lock. */
static void wait_for_work(struct collector *collector, bool left)
{
    int longest = left                                             ? GATHER_MS
                  : disk_space_is_low(&collector->embedded->space) ? LOW_MS
                  : collector->postponed.count > 0                 ? RETRY_MS
                  : forgets_spaces(collector)                      ? ROUND_MS
                                                                   : -1;

    while (!collector->stopping && collector->asked == collector->answered && !collector->poked &&
           collector->spaces.count == 0)
        if (!lock_wait(&collector->lock, &collector->work, longest))
            return;
    if (!collector->stopping && collector->asked == collector->answered &&
        collector->spaces.count == 0)
        lock_wait(&collector->lock, &collector->work, GATHER_MS);
}

static void *collect_over_and_over(void *argument)
{
    struct collector *collector = argument;
    bool left = false;

    recovery_run(collector->embedded, &collector->stop);
    lock_acquire(&collector->lock);
    while (!collector->stopping) {
        uint64_t asked;

        wait_for_work(collector, left);
        asked = collector->asked;
        collector->poked = false;
        lock_release(&collector->lock);
        left = work(collector);
        lock_acquire(&collector->lock);
        /* Wait until all freed pieces are durable, unless the disk has failed. */
        if (!left || atomic_load(&collector->embedded->failed)) {
            collector->answered = asked;
            pthread_cond_broadcast(&collector->answer);
        } else if (asked > collector->answered && !collector->stopping) {
            lock_wait(&collector->lock, &collector->work, GATHER_MS);
        }
    }
    collector->answered = collector->asked;
    pthread_cond_broadcast(&collector->answer);
    lock_release(&collector->lock);
    return NULL;
}

bool collector_start(struct collector *collector)
{
    return thread_start(&collector->thread, collect_over_and_over, collector);
}

void collector_stop(struct collector *collector)
{
    lock_acquire(&collector->lock);
    collector->stopping = true;
    atomic_store(&collector->stop, true);
    pthread_cond_signal(&collector->work);
    lock_release(&collector->lock);
    thread_join(&collector->thread);
}
