/* Commits, in the order of their locks: spaces, then stripes, then the write. */
#include "store/embedded/commit.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/embedded/admission.h"
#include "store/embedded/batch.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/measured.h"
#include "store/record_key.h"

/* A commit in progress. */
struct commit {
    struct embedded *embedded;
    const struct commit_part *parts;
    size_t count;
    instant now;
    struct store_access access;
    struct batch batch;
    struct space_set spaces;
    struct stripe *stripes[COMMIT_PARTS_MAX]; /* of all parts, in ascending order */
    size_t stripe_count;
    struct stripe *changed[COMMIT_PARTS_MAX]; /* of parts with changes, in ascending order */
    size_t changed_count;
    uint64_t sequence; /* once written */
};

static struct embedded_snapshot *snapshot_of(const struct commit_part *part)
{
    return (struct embedded_snapshot *)part->snapshot;
}

/* Inserts a stripe in order, unless it is in the list. */
static void add_stripe(struct stripe **list, size_t *count, struct stripe *stripe)
{
    size_t at = *count;

    while (at > 0 && list[at - 1] > stripe)
        at--;
    if (at > 0 && list[at - 1] == stripe)
        return;
    assert(*count < COMMIT_PARTS_MAX);
    memmove(&list[at + 1], &list[at], (*count - at) * sizeof list[0]);
    list[at] = stripe;
    (*count)++;
}

static void add_spaces_of(struct commit *commit, const struct changes *changes)
{
    size_t count;
    const struct guid *spaces = changes_dropped_spaces(changes, &count);

    for (size_t i = 0; i < count; i++)
        space_set_add_exclusive(&commit->spaces, &spaces[i]);
}

static void find_locks(struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct commit_part *part = &commit->parts[i];

        space_set_add_shared(&commit->spaces, &part->snapshot->space);
        if (part->changes) {
            add_spaces_of(commit, part->changes);
            add_stripe(commit->changed, &commit->changed_count, snapshot_of(part)->stripe);
        }
        add_stripe(commit->stripes, &commit->stripe_count, snapshot_of(part)->stripe);
    }
    assert(commit->changed_count > 0 && commit->changed_count <= commit->stripe_count);
}

static void lock_stripes(struct stripe **stripes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (i == 0)
            lock_acquire(&stripes[i]->lock);
        else
            lock_acquire_next(&stripes[i]->lock, &stripes[i - 1]->lock);
}

static void unlock_stripes(struct stripe **stripes, size_t count)
{
    for (size_t i = count; i > 0; i--)
        lock_release(&stripes[i - 1]->lock);
}

/* With the locks of the spaces. */
static enum store_result check_spaces(const struct commit *commit)
{
    const struct spaces *spaces = &commit->embedded->spaces;

    for (size_t i = 0; i < commit->count; i++)
        if (spaces_dropped_at(spaces, &commit->parts[i].snapshot->space) > 0)
            return STORE_NOT_FOUND;
    if (store_has_returned(&commit->embedded->store, commit->access))
        return STORE_CONFLICT;
    for (size_t i = 0; i < commit->count; i++)
        if (commit->parts[i].changes && !commit->access.holds_space &&
            spaces_is_held(spaces, &commit->parts[i].snapshot->space))
            return STORE_BUSY;
    for (size_t i = 0; i < commit->count; i++)
        if (commit->parts[i].changes &&
            spaces_round_is_old(spaces, snapshot_of(&commit->parts[i])->round))
            return STORE_CONFLICT; /* its space may have been dropped and forgotten since */
    return STORE_OK;
}

/* With the locks of the stripes. */
static bool is_unchanged(const struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++)
        if (snapshot_is_old(snapshot_of(&commit->parts[i])))
            return false;
    return true;
}

/* Retains the pieces that the commit frees while a snapshot may see them. The stripes have been
 * joined, so any of them will do. */
static void keep_freed(struct batch *batch, struct stripe *stripe, uint64_t sequence)
{
    struct reclaim *reclaim = &batch->embedded->reclaim;
    struct freed *freed = batch->freed;

    batch->freed = NULL;
    if (!freed)
        return;
    assert(freed->count > 0 && !freed->next);
    freed->sequence = sequence;
    freed_count(reclaim, freed);
    if (!stripe_keep_freed(stripe, freed))
        reclaim_add(reclaim, freed);
}

enum store_result commit_write_rows(struct embedded *embedded, rocksdb_writebatch_t *writes)
{
    enum store_result result = keyspace_write(&embedded->keyspace, writes);

    if (result == STORE_OK) {
        states_wrote(&embedded->states, writes);
        space_watch_wrote(&embedded->watch, writes);
    }
    if (result == STORE_OK || result == STORE_WAIT)
        return result;
    if (result == STORE_SHORTAGE) {
        embedded_starve(embedded);
        return result;
    }
    atomic_store(&embedded->failed, true);
    return STORE_IO;
}

/* Writes the batch for these stripes, which are locked and unchanged. Returns the results of
 * commit_write_rows(). */
static enum store_result write_batch(struct batch *batch, struct stripe **stripes, size_t count,
                                     uint64_t *ret_sequence)
{
    struct embedded *embedded = batch->embedded;
    enum store_result result;

    assert(count > 0 && count <= COMMIT_PARTS_MAX);
    for (size_t i = 0; i < count; i++)
        stripe_give_view(embedded, stripes[i]);
    result = commit_write_rows(embedded, batch->writes);
    if (result)
        return result;
    *ret_sequence = keyspace_sequence(&embedded->keyspace);
    atomic_fetch_add(&embedded->piece_bytes, batch->referred_bytes);
    if (batch->first_count > 0)
        extents_referred(&embedded->extents, batch->pieces, batch->piece_count, batch->first_count);
    if (batch->has_pieces)
        stripes_join(stripes, count);
    keep_freed(batch, stripes[0], *ret_sequence);
    return STORE_OK;
}

/* Another partition of the stripe may have had a later commit. */
static void raise_newest(struct stripe *stripe, instant now)
{
    stripe->newest = now > stripe->newest ? now : stripe->newest + 1;
}

/* Records in memory the changes of the write. With all locks. */
static void note_changes(struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++) {
        struct embedded_snapshot *own = snapshot_of(&commit->parts[i]);

        if (!commit->parts[i].changes)
            continue;
        assert(commit->sequence >= own->snapshot.sequence);
        snapshot_spend(own);
        stripe_changed(commit->embedded, own->stripe, own->hash, commit->sequence,
                       own->snapshot.prefix, commit->parts[i].changes);
        raise_newest(own->stripe, commit->now);
    }
}

/* The snapshots of parts with changes need no view, because they are about to be spent. With the
 * locks of the stripes. */
static void set_committing(const struct commit *commit, bool committing)
{
    for (size_t i = 0; i < commit->count; i++)
        if (commit->parts[i].changes)
            snapshot_of(&commit->parts[i])->committing = committing;
}

/* With the locks of the spaces. */
static enum store_result write_if_unchanged(struct commit *commit)
{
    enum store_result result = STORE_CONFLICT;

    lock_stripes(commit->stripes, commit->stripe_count);
    if (is_unchanged(commit)) {
        instant ahead = batch_add_clock(&commit->batch, commit->changed[0], commit->now);

        set_committing(commit, true);
        result =
            write_batch(&commit->batch, commit->changed, commit->changed_count, &commit->sequence);
        if (!result) {
            batch_announce_clock(commit->embedded, ahead);
            note_changes(commit);
        } else {
            set_committing(commit, false);
        }
    }
    unlock_stripes(commit->stripes, commit->stripe_count);
    return result;
}

static void note_spaces(struct commit *commit)
{
    struct spaces *spaces = &commit->embedded->spaces;

    for (size_t i = 0; i < commit->count; i++) {
        const struct changes *changes = commit->parts[i].changes;
        const struct guid *list;
        size_t count;

        if (!changes)
            continue;
        list = changes_dropped_spaces(changes, &count);
        for (size_t k = 0; k < count; k++)
            spaces_add_dropped(spaces, &list[k], commit->sequence);
    }
}

static void take_back(struct batch *batch)
{
    char *error = NULL;

    rocksdb_writebatch_rollback_to_save_point(batch->writes, &error);
    assert(!error); /* there is a save point */
}

static void add_task(struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++)
        if (commit->parts[i].changes)
            batch_add_tasks(&commit->batch, commit->parts[i].snapshot->prefix,
                            commit->parts[i].changes);
}

/* Returns STORE_WAIT if RocksDB would have made the write wait; nothing has changed. */
static enum store_result try_commit(struct commit *commit)
{
    struct embedded *embedded = commit->embedded;
    enum store_result result;

    if (commit->batch.has_tasks) {
        /* Everything added from here on is added again by the next attempt. */
        rocksdb_writebatch_set_save_point(commit->batch.writes);
        deferred_enter(&embedded->deferred);
        add_task(commit);
    }
    spaces_enter_set(&embedded->spaces, &commit->spaces);
    result = check_spaces(commit);
    if (!result)
        result = write_if_unchanged(commit);
    if (!result)
        note_spaces(commit);
    spaces_leave_set(&embedded->spaces, &commit->spaces);
    if (commit->batch.has_tasks) {
        deferred_leave(&embedded->deferred);
        if (result)
            take_back(&commit->batch);
    }
    return result;
}

static enum store_result make_batch(struct commit *commit)
{
    const struct piece_change *pieces;
    enum store_result result;
    size_t piece_count;

    for (size_t i = 0; i < commit->count; i++) {
        const struct commit_part *part = &commit->parts[i];

        if (part->changes)
            batch_add_changes(&commit->batch, part->snapshot->prefix, &part->snapshot->space,
                              part->changes);
    }
    result = commit_pieces(commit->parts, commit->count, &pieces, &piece_count);
    return result ? result : batch_add_pieces(&commit->batch, pieces, piece_count, commit->access);
}

/* Determines why a piece does not have the references that the changes depend on: a conflict or
 * damage. */
static enum store_result explain_conflict(struct commit *commit)
{
    bool unchanged;

    lock_stripes(commit->stripes, commit->stripe_count);
    unchanged = is_unchanged(commit);
    unlock_stripes(commit->stripes, commit->stripe_count);
    if (!unchanged)
        return STORE_CONFLICT;
    log_line(LOG_ERROR, "store: a record refers to a piece that has fewer references");
    return STORE_CORRUPT;
}

/* Waits for RocksDB without any lock, so that a commit that may wait does not block those that may
 * not. */
static enum store_result run_commit(struct commit *commit)
{
    enum store_result result = make_batch(commit);

    if (result == STORE_CONFLICT)
        return explain_conflict(commit);
    if (result)
        return result;
    for (;;) {
        result = try_commit(commit);
        if (result != STORE_WAIT || !commit->access.may_block)
            break;
        keyspace_pause();
    }
    return result;
}

static void collect_dropped(struct commit *commit)
{
    for (size_t i = 0; i < commit->count; i++) {
        const struct guid *dropped;
        size_t count = 0;

        if (commit->parts[i].changes)
            dropped = changes_dropped_spaces(commit->parts[i].changes, &count);
        for (size_t k = 0; k < count; k++)
            collector_add(&commit->embedded->collector, &dropped[k]);
    }
}

enum store_result embedded_commit(struct store *store, const struct commit_part *parts,
                                  size_t count, instant now, struct store_access access,
                                  uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    struct commit commit = {
        .embedded = embedded, .parts = parts, .count = count, .now = now, .access = access
    };
    enum store_result result;

    if (atomic_load(&embedded->failed))
        return STORE_IO;
    if (atomic_load(&embedded->starved))
        return STORE_SHORTAGE;
    result = admission_of_commit(embedded, parts, count, access);
    if (result)
        return result;
    for (size_t i = 0; i < count; i++)
        assert(!snapshot_of(&parts[i])->spent);
    find_locks(&commit);
    batch_init(&commit.batch, embedded);
    result = run_commit(&commit);
    batch_release(&commit.batch);
    /* A failed read is not final: nothing was written. */
    if (result == STORE_IO && atomic_load(&embedded->failed))
        embedded_fail(embedded);
    if (result == STORE_CONFLICT)
        measured_conflict();
    if (result)
        return result;
    measured_commit();
    assert(commit.sequence > 0);
    *ret_sequence = commit.sequence;
    if (access.at_leisure)
        syncer_wrote_at_leisure(&embedded->syncer);
    else
        syncer_wrote(&embedded->syncer);
    if (commit.batch.task_due < INSTANT_MAX)
        deferred_added(&embedded->deferred, commit.batch.task_due);
    collect_dropped(&commit);
    return STORE_OK;
}

enum store_result commit_collected(struct embedded *embedded, struct bytes partition_prefix,
                                   const struct space_drop *drop, struct changes *changes)
{
    uint32_t hash = partition_hash(partition_prefix);
    struct stripe *stripe = stripe_of(embedded->stripes, hash);
    struct commit_part part = { .changes = changes };
    const struct piece_change *pieces;
    size_t piece_count;
    struct batch batch;
    enum store_result result;

    batch_init(&batch, embedded);
    batch_add_changes(&batch, partition_prefix, &drop->space, changes);
    result = commit_pieces(&part, 1, &pieces, &piece_count);
    if (!result)
        result = batch_add_pieces(&batch, pieces, piece_count, STORE_MAY_BLOCK);
    while (!result) {
        uint64_t sequence;

        spaces_enter(&embedded->spaces, &drop->space);
        lock_acquire(&stripe->lock);
        result = spaces_drop_stands(&embedded->spaces, drop)
                     ? write_batch(&batch, &stripe, 1, &sequence)
                     : STORE_CONFLICT;
        if (!result)
            stripe_changed(embedded, stripe, hash, sequence, partition_prefix, changes);
        lock_release(&stripe->lock);
        spaces_leave(&embedded->spaces, &drop->space);
        if (result != STORE_WAIT)
            break;
        keyspace_pause();
        result = STORE_OK;
    }
    batch_release(&batch);
    if (result == STORE_IO && atomic_load(&embedded->failed))
        embedded_fail(embedded);
    syncer_wrote(&embedded->syncer);
    return result;
}

enum store_result commit_collected_rows(struct embedded *embedded, const struct space_drop *drop,
                                        rocksdb_writebatch_t *writes, bool is_last)
{
    struct spaces *spaces = &embedded->spaces;
    struct space_set set = { 0 };
    enum store_result result = STORE_WAIT;

    if (is_last)
        space_set_add_exclusive(&set, &drop->space);
    else
        space_set_add_shared(&set, &drop->space);
    while (result == STORE_WAIT) {
        spaces_enter_set(spaces, &set);
        result =
            spaces_drop_stands(spaces, drop) ? commit_write_rows(embedded, writes) : STORE_CONFLICT;
        if (!result && is_last)
            spaces_set_collected(spaces, &drop->space);
        spaces_leave_set(spaces, &set);
        if (result == STORE_WAIT)
            keyspace_pause();
    }
    if (result == STORE_IO)
        embedded_fail(embedded);
    syncer_wrote(&embedded->syncer);
    return result;
}

/* If the space is no longer dropped, the row was restored and must not be deleted. */
enum store_result embedded_delete_row(struct store *store, const struct guid *space,
                                      struct bytes key)
{
    struct embedded *embedded = embedded_of(store);
    rocksdb_writebatch_t *writes;
    struct space_drop drop;
    enum store_result result;

    if (!spaces_find_drop(&embedded->spaces, space, &drop))
        return STORE_OK;
    writes = rocksdb_writebatch_create();
    rocksdb_writebatch_delete(writes, key.ptr, key.len);
    result = commit_collected_rows(embedded, &drop, writes, false);
    rocksdb_writebatch_destroy(writes);
    return result == STORE_CONFLICT ? STORE_OK : result;
}

bool embedded_hold_space(struct store *store, const struct guid *space)
{
    return spaces_hold(&embedded_of(store)->spaces, space);
}

void embedded_release_space(struct store *store, const struct guid *space)
{
    spaces_let_go(&embedded_of(store)->spaces, space);
}
