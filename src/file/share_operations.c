#include "file/share_operations.h"

#include "file/share_usage.h"
#include "service/placement.h"

/* ---- Create Share ---- */

/* Creates a share. Its space is new, so it contains nothing of a deleted share of the same name.
 *
 * returns OK, E_ShareAlreadyExists
 * rest: Create-Share; Azure's delay of 30 seconds after a deletion is not needed (decision: 13) */
enum error create_share_decide(struct decision *d, const struct create_share_parameters *p,
                               struct create_share_result *r)
{
    struct share share;
    enum store_result result = share_read(d->before, d->arena, share_itself, &share);
    bool is_elsewhere;
    enum error e;

    (void)r;
    if (!result)
        return E_ShareAlreadyExists;
    if (result != STORE_NOT_FOUND)
        return decision_fail_store(d, result);
    e = placement_of_new(d, &is_elsewhere);
    if (e || is_elsewhere)
        return e;
    share = (struct share){
        .space = p->space,
        .created = d->now,
        .quota_gib = p->quota_gib,
        .tier = p->tier,
        .tier_changed = d->now,
        .metadata = p->metadata,
    };
    share_write_changed(d, &share);
    return OK;
}

/* ---- Get and Set Share Properties, Get Share Stats ---- */

/* rest: Get-Share-Properties */
enum error get_share_properties_decide(struct decision *d,
                                       const struct get_share_properties_parameters *p,
                                       struct get_share_properties_result *r)
{
    (void)p;
    r->share = file_state(d)->share;
    return OK;
}

/* rest: Set-Share-Properties */
enum error set_share_properties_decide(struct decision *d,
                                       const struct set_share_properties_parameters *p,
                                       struct set_share_properties_result *r)
{
    struct share share = file_state(d)->share;

    (void)r;
    if (p->has_quota)
        share.quota_gib = p->quota_gib;
    if (p->has_tier && p->tier != share.tier) {
        share.has_moved = true;
        share.moved_from = share.tier;
        share.tier = p->tier;
        share.tier_changed = d->now;
    }
    share_write_changed(d, &share);
    return OK;
}

/* rest: Get-Share-Stats */
enum error get_share_stats_decide(struct decision *d, const struct get_share_stats_parameters *p,
                                  struct get_share_stats_result *r)
{
    (void)p;
    return share_usage_read(d, file_state(d)->share.space, &r->used_bytes);
}

void share_write_state(struct decision *d)
{
    share_write_changed(d, &file_state(d)->share);
}

/* ---- Lease Share ---- */

/* Leases a share or one of its snapshots. Changes neither ETag nor modification time.
 * rest: Lease-Share; semantics 3.5 */
enum error lease_share_decide(struct decision *d, const struct lease_share_parameters *p,
                              struct lease_share_result *r)
{
    struct share share = file_state(d)->share;
    enum error e = lease_perform(LEASE_OF_SHARE, &share.lease, &p->request, d->now, &r->lease);

    if (e)
        return e;
    share_write(d->changes, d->arena, share_snapshot_key(file_requested(d)->snapshot), &share);
    r->id = share.lease.id;
    return OK;
}

/* ---- Snapshot Share ---- */

/* Returns the date of a new snapshot, in whole seconds: the current one, or the first free one
 * after it. semantics 8.1; decision: 321 */
static instant next_date(const struct share *share, instant now)
{
    instant second = now / TICKS_PER_SECOND * TICKS_PER_SECOND;

    return second > share->newest_snapshot ? second : share->newest_snapshot + TICKS_PER_SECOND;
}

/* Takes a snapshot of the share's tree. rest: Snapshot-Share; semantics 0.5 */
enum error snapshot_share_decide(struct decision *d, const struct snapshot_share_parameters *p,
                                 struct snapshot_share_result *r)
{
    struct share share = file_state(d)->share, snapshot;
    struct tree tree;
    uint64_t generation = 0;
    enum tree_result result;

    if (share.snapshots >= SHARE_SNAPSHOTS_MAX)
        return E_ShareSnapshotCountExceeded;
    result = tree_open(&tree, d, share.space, TREE_CASE_IGNORED);
    if (!result)
        result = tree_snapshot(&tree, &generation);
    if (result)
        return decision_fail_store(d, tree.failed);
    decision_read_clock(d);
    share.newest_snapshot = next_date(&share, d->now);
    snapshot = share;
    snapshot.snapshots = 0;
    snapshot.lease = (struct lease){ .kind = 0 };
    if (p->metadata.len > 0) { /* decision: 315 */
        snapshot.metadata = p->metadata;
        snapshot.etag = d->subject.etag = etag_after(snapshot.etag, d->now);
        snapshot.modified = d->subject.modified = d->now;
    }
    snapshot.generation = generation;
    share.snapshots++;
    share_write(d->changes, d->arena, share_snapshot_key(share.newest_snapshot), &snapshot);
    share_write(d->changes, d->arena, share_itself, &share);
    r->snapshot = share.newest_snapshot;
    return OK;
}

/* List Shares: each share is a partition of the account's space, with the records of deleted
 * shares first, then the snapshots, then the share. rest: List-Shares */

enum error list_shares_decide(struct decision *d, const struct list_shares_parameters *p,
                              struct list_shares_result *r)
{
    return listing_of_space(d, file_account_space(d->input->account), &p->listing, p->from, p->sink,
                            &r->next);
}
