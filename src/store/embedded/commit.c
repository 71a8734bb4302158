/* From changes to a batch, and the batch into the key space. */
#include "store/embedded/commit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

#define DROPPED_VERSION 1
#define CLOCK_STEP      (TICKS_PER_SECOND / 10)

/* A batch being made. */
struct batch {
    struct embedded *embedded;
    rocksdb_writebatch_t *writes;
    struct freed *freed;    /* pieces that lose their last reference; NULL: none */
    size_t first_count;     /* pieces that get their first one */
    int64_t referred_bytes; /* by how much the index grows */
};

static void add_records(struct batch *batch, struct bytes prefix, const struct changes *changes)
{
    struct key key;

    key_init(&key);
    for (const struct change *c = changes_first(changes); c; c = c->next) {
        key_set_record(&key, c->family, prefix, c->key);
        if (c->is_delete)
            rocksdb_writebatch_delete(batch->writes, key.ptr, key.len);
        else
            rocksdb_writebatch_put(batch->writes, key.ptr, key.len, c->value.ptr, c->value.len);
    }
    key_release(&key);
}

/* References that a piece has now; 0 when it has no row. */
static enum store_result read_row(struct batch *batch, struct bytes key, uint32_t length,
                                  uint64_t *ret_references)
{
    struct keyspace *keyspace = &batch->embedded->keyspace;
    rocksdb_pinnableslice_t *value;
    struct piece_row row;
    enum store_result result = keyspace_get(keyspace, keyspace->read, key, &value);
    const char *bytes;
    size_t size;

    if (result == STORE_NOT_FOUND) {
        *ret_references = 0;
        return STORE_OK;
    }
    if (result)
        return result;
    bytes = rocksdb_pinnableslice_value(value, &size);
    result = piece_row_read(bytes_of(bytes, size), &row) && row.length == length ? STORE_OK
                                                                                 : STORE_CORRUPT;
    rocksdb_pinnableslice_destroy(value);
    if (result) {
        log_line(LOG_ERROR, "store: a row of the piece index is damaged");
        return result;
    }
    *ret_references = row.references;
    return STORE_OK;
}

static void add_freed(struct batch *batch, const struct piece_change *change, size_t room)
{
    if (!batch->freed) {
        batch->freed = freed_new(room);
    }
    batch->freed->pieces[batch->freed->count++] =
        (struct freed_piece){ change->extent, change->length, change->offset };
    batch->referred_bytes -= change->length;
}

/* The rows may be read before the stripe is locked: a piece belongs to one partition, and when that
 * has changed the commit is a conflict. */
static enum store_result add_piece_rows(struct batch *batch, const struct piece_change *pieces,
                                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct piece_row row = { .length = pieces[i].length };
        char key[KEY_PIECE_SIZE];
        char value[PIECE_ROW_SIZE_MAX];
        uint64_t before;
        enum store_result result;

        key_write_piece(key, pieces[i].extent, pieces[i].offset);
        result = read_row(batch, bytes_of(key, sizeof key), row.length, &before);
        if (result)
            return result;
        /* Either the partition has changed meanwhile, or this is damage: commit_inside() tells. */
        if (pieces[i].references < 0 && before < (uint64_t)-pieces[i].references)
            return STORE_CONFLICT;
        row.references = before + (uint64_t)pieces[i].references;
        if (row.references == 0) {
            rocksdb_writebatch_delete(batch->writes, key, sizeof key);
            add_freed(batch, &pieces[i], count);
            continue;
        }
        if (before == 0) {
            batch->first_count++;
            batch->referred_bytes += row.length;
        }
        rocksdb_writebatch_put(batch->writes, key, sizeof key, value, piece_row_write(value, row));
    }
    return STORE_OK;
}

static void add_drops(struct batch *batch, const struct guid *spaces, size_t count)
{
    static const char version = DROPPED_VERSION;

    for (size_t i = 0; i < count; i++) {
        struct key key;

        key_init(&key);
        key_set_space(&key, KEY_KIND_DROPPED, &spaces[i]);
        rocksdb_writebatch_put(batch->writes, key.ptr, key.len, &version, sizeof version);
        key_release(&key);
    }
}

/* After a restart the clock goes on behind the newest clock row, so that it does not go back. Not
 * each commit writes one: a row is CLOCK_STEP ahead, and commits up to it need none. They may rely
 * on it as soon as it is written, since the log keeps the order. Gives what is to be announced, 0
 * when there is nothing. The stripe is locked, so the rows of one stripe rise. */
static instant add_clock(struct batch *batch, const struct stripe *stripe, instant now)
{
    size_t number = (size_t)(stripe - batch->embedded->stripes);
    char key[KEY_CLOCK_SIZE] = { KEY_KIND_CLOCK };
    instant ahead = now + CLOCK_STEP;
    char value[8];

    if (now <= atomic_load(&batch->embedded->clock_ahead))
        return 0;
    be16_put(key + 1, (uint16_t)number);
    be64_put(value, ahead);
    rocksdb_writebatch_put(batch->writes, key, sizeof key, value, sizeof value);
    return ahead;
}

static void announce_clock(struct embedded *embedded, instant ahead)
{
    instant known = atomic_load(&embedded->clock_ahead);

    while (known < ahead && !atomic_compare_exchange_weak(&embedded->clock_ahead, &known, ahead))
        ;
}

static enum store_result batch_init(struct batch *batch, struct embedded *embedded,
                                    struct bytes prefix, const struct changes *changes)
{
    const struct piece_change *pieces;
    const struct guid *dropped;
    size_t piece_count, dropped_count;

    *batch = (struct batch){ .embedded = embedded, .writes = rocksdb_writebatch_create() };
    add_records(batch, prefix, changes);
    dropped = changes_dropped_spaces(changes, &dropped_count);
    add_drops(batch, dropped, dropped_count);
    pieces = changes_pieces(changes, &piece_count);
    return add_piece_rows(batch, pieces, piece_count);
}

static void batch_release(struct batch *batch)
{
    rocksdb_writebatch_destroy(batch->writes);
    free(batch->freed);
}

/* Writes the batch; the stripe is locked and is as the batch was made for. */
static enum store_result write_batch(struct batch *batch, struct stripe *stripe, uint32_t hash,
                                     struct embedded_snapshot *own)
{
    struct embedded *embedded = batch->embedded;
    struct freed *freed = batch->freed;

    stripe_before_write(embedded, stripe, own);
    if (keyspace_write(&embedded->keyspace, batch->writes)) {
        atomic_store(&embedded->failed, true);
        return STORE_IO;
    }
    stripe_changed(stripe, hash, keyspace_sequence(&embedded->keyspace));
    atomic_fetch_add(&embedded->piece_bytes, batch->referred_bytes);
    batch->freed = NULL;
    if (!freed)
        return STORE_OK;
    freed->sequence = stripe->sequence;
    freed_count(&embedded->reclaim, freed);
    if (!stripe_keep_freed(stripe, freed))
        reclaim_add(&embedded->reclaim, freed);
    return STORE_OK;
}

static enum store_result write_if_unchanged(struct batch *batch, struct embedded_snapshot *own,
                                            const struct changes *changes, instant now,
                                            uint64_t *ret_sequence)
{
    struct stripe *stripe = own->stripe;
    enum store_result result = STORE_CONFLICT;

    assert(!own->spent);
    lock_take(&stripe->lock);
    if (!snapshot_is_old(own)) {
        instant ahead = add_clock(batch, stripe, now);

        if (batch->first_count > 0) {
            const struct piece_change *pieces;
            size_t count;

            pieces = changes_pieces(changes, &count);
            extents_referred(&batch->embedded->extents, pieces, count, batch->first_count);
        }
        result = write_batch(batch, stripe, own->hash, own);
        if (!result) {
            announce_clock(batch->embedded, ahead);
            if (now > stripe->newest)
                stripe->newest = now;
        }
        *ret_sequence = stripe->sequence;
    }
    lock_give(&stripe->lock);
    return result;
}

static bool is_unchanged(const struct embedded_snapshot *own)
{
    bool old;

    lock_take(&own->stripe->lock);
    old = snapshot_is_old(own);
    lock_give(&own->stripe->lock);
    return !old;
}

static enum store_result commit_inside(struct embedded_snapshot *own, const struct changes *changes,
                                       instant now, const struct guid *dropped,
                                       size_t dropped_count, uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(own->snapshot.store);
    struct batch batch;
    enum store_result result;

    if (spaces_dropped_at(&embedded->spaces, &own->snapshot.space) > 0)
        return STORE_NOT_FOUND;
    result = batch_init(&batch, embedded, own->snapshot.prefix, changes);
    if (!result) {
        result = write_if_unchanged(&batch, own, changes, now, ret_sequence);
    } else if (result == STORE_CONFLICT && is_unchanged(own)) {
        log_line(LOG_ERROR, "store: a commit takes more references of a piece than there are");
        result = STORE_CORRUPT;
    }
    batch_release(&batch);
    if (result)
        return result;
    for (size_t i = 0; i < dropped_count; i++)
        spaces_add_dropped(&embedded->spaces, &dropped[i], *ret_sequence);
    return STORE_OK;
}

enum store_result embedded_commit(struct store *store, const struct commit_part *parts,
                                  size_t count, instant now, enum store_access access,
                                  uint64_t *ret_sequence)
{
    struct snapshot *snapshot = parts[0].snapshot;
    const struct changes *changes = parts[0].changes;
    struct embedded_snapshot *own = (struct embedded_snapshot *)snapshot;
    struct embedded *embedded = embedded_of(store);
    const struct guid *dropped;
    size_t dropped_count;
    enum store_result result;

    assert(count == 1);
    (void)access;
    if (atomic_load(&embedded->failed))
        return STORE_IO;
    dropped = changes_dropped_spaces(changes, &dropped_count);
    if (dropped_count > 0)
        spaces_enter_to_drop(&embedded->spaces, &snapshot->space, dropped, dropped_count);
    else
        spaces_enter(&embedded->spaces, &snapshot->space);
    result = commit_inside(own, changes, now, dropped, dropped_count, ret_sequence);
    if (dropped_count > 0)
        spaces_leave_dropped(&embedded->spaces, &snapshot->space, dropped, dropped_count);
    else
        spaces_leave(&embedded->spaces, &snapshot->space);

    /* A read that failed is not final: nothing was written. */
    if (result == STORE_IO && atomic_load(&embedded->failed))
        embedded_fail(embedded);
    if (result)
        return result;
    syncer_wrote(&embedded->syncer);
    for (size_t i = 0; i < dropped_count; i++)
        collector_add(&embedded->collector, &dropped[i]);
    return STORE_OK;
}

enum store_result commit_collected(struct embedded *embedded, struct bytes partition_prefix,
                                   const struct changes *changes)
{
    uint32_t hash = partition_hash(partition_prefix);
    struct stripe *stripe = stripe_of(embedded->stripes, hash);
    struct batch batch;
    enum store_result result = batch_init(&batch, embedded, partition_prefix, changes);

    if (!result) {
        lock_take(&stripe->lock);
        result = write_batch(&batch, stripe, hash, NULL);
        lock_give(&stripe->lock);
    }
    batch_release(&batch);
    if (result == STORE_IO && atomic_load(&embedded->failed))
        embedded_fail(embedded);
    syncer_wrote(&embedded->syncer);
    return result;
}

enum store_result commit_space_collected(struct embedded *embedded, const struct guid *space)
{
    rocksdb_writebatch_t *writes = rocksdb_writebatch_create();
    enum store_result result;
    struct key key;

    key_init(&key);
    key_set_space(&key, KEY_KIND_DROPPED, space);
    rocksdb_writebatch_delete(writes, key.ptr, key.len);
    key_release(&key);
    result = keyspace_write(&embedded->keyspace, writes);
    rocksdb_writebatch_destroy(writes);
    if (result)
        embedded_fail(embedded);
    syncer_wrote(&embedded->syncer);
    return result;
}
