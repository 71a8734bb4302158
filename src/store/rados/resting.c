#include "store/rados/resting.h"

#include <assert.h>

static struct rados_snapshot *first_of(const struct resting_commit *commit)
{
    return rados_snapshot_of(commit->parts[0].snapshot);
}

/* Waits for what was read ahead, and lets nobody go before it where it changes something. */
static void stand_apart(const struct resting_commit *commit, struct resting *resting)
{
    const struct view *fetched = rados_fetched_ahead(commit->access);

    for (size_t i = 0; i < commit->count; i++) {
        const struct rados_snapshot *snapshot = rados_snapshot_of(commit->parts[i].snapshot);

        assert(!view_link(snapshot->view) || snapshot->view == fetched);
        if (!commit->parts[i].changes || !rados_is_busy(commit->rados, snapshot->stripe))
            continue;
        pending_stand_apart(commit->rados->pending, &snapshot->partition, commit->sequence);
        resting->is_apart = true;
    }
    resting->awaited = fetched ? view_sequence(fetched) : 0;
}

/* The state that it will leave, if that can be kept; *ret_link: of those who will rest on it. */
static struct view *state_after(const struct resting_commit *commit, struct shard_link **ret_link)
{
    struct rados_snapshot *snapshot = first_of(commit);
    struct view_changes changes = { .changes = commit->work->changes,
                                    .after = transaction_after(commit->transaction),
                                    .link = shard_link_new(),
                                    .sequence = outcomes_read(commit->sequence) };
    struct view *after = view_ahead(snapshot->view, &changes);

    if (after) {
        *ret_link = changes.link;
        return after;
    }
    shard_link_release(changes.link);
    if (view_was_read_much(snapshot->view)) {
        atomic_store(&snapshot->stripe->large_until, clock_now() + RADOS_BUSY_TICKS);
        atomic_store(&snapshot->stripe->busy_until, 0);
    }
    return NULL;
}

/* Is it a commit that others may rest on, of a partition that many want? */
static bool may_be_rested_on(const struct resting_commit *commit)
{
    const struct view *fetched = rados_fetched_ahead(commit->access);
    const struct view *own = first_of(commit)->view;

    return commit->work && rados_is_busy(commit->rados, first_of(commit)->stripe) &&
           !partition_is_locked(view_header(own)) && (!fetched || fetched == own);
}

enum store_result resting_begin(const struct resting_commit *commit, struct resting *ret_resting)
{
    struct rados_snapshot *snapshot = first_of(commit);
    struct pending *pending = commit->rados->pending;
    struct shard_link *link = NULL;
    struct view *after = may_be_rested_on(commit) ? state_after(commit, &link) : NULL;
    enum pending_added added;

    *ret_resting = (struct resting){ .link = NULL };
    if (!after) {
        stand_apart(commit, ret_resting);
        return STORE_OK;
    }
    added =
        pending_add(pending, snapshot->view, after, &ret_resting->rests_on, &ret_resting->awaited);
    view_close(after);
    if (added != PENDING_ADDED)
        shard_link_release(link);
    switch (added) {
    case PENDING_ADDED:
        ret_resting->link = link;
        rados_set_busy(snapshot->stripe);
        transaction_link(commit->transaction, link, ret_resting->rests_on);
        break;
    case PENDING_BEHIND:
        ret_resting->is_behind = true;
        break;
    case PENDING_LATE:
        if (commit->access
                .may_block) /* it is shown nothing that is pending, and would come too late again */
            pending_close(pending, &snapshot->partition);
        return STORE_CONFLICT;
    }
    return STORE_OK;
}

void resting_end(struct rados *rados, const struct partition *partition, uint64_t sequence,
                 const struct resting *resting, bool is_kept)
{
    if (resting->link)
        pending_end(rados->pending, partition, resting->link, is_kept);
    if (resting->is_apart)
        pending_apart_ended(rados->pending, partition, sequence);
}

void resting_release(struct resting *resting)
{
    shard_link_release(resting->link);
    shard_link_release(resting->rests_on);
    *resting = (struct resting){ .link = NULL };
}
