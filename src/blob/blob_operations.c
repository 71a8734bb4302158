/* Operations on blobs of every type: properties and metadata, reading, leases, snapshots, tiers. */
#include "blob/access_time.h"
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/encryption.h"
#include "blob/tier.h"
#include "blob/keep_blob.h"

/* ---- properties ---- */

/* rest: Get-Blob-Properties */
enum error get_blob_properties_decide(struct decision *d,
                                      const struct get_blob_properties_parameters *p,
                                      struct get_blob_properties_result *r)
{
    (void)p;
    r->blob = blob_state(d)->blob;
    return encryption_open(d, &r->blob);
}

/* Returns OK, E_SequenceNumberIncrementTooLarge. */
static enum error change_sequence_number(const struct set_blob_properties_parameters *p,
                                         struct blob *blob)
{
    switch (p->action) {
    case SEQUENCE_KEPT:
        break;
    case SEQUENCE_MAX:
        if (blob->sequence_number < p->sequence_number)
            blob->sequence_number = p->sequence_number;
        break;
    case SEQUENCE_UPDATE:
        blob->sequence_number = p->sequence_number;
        break;
    case SEQUENCE_INCREMENT:
        if (blob->sequence_number == SEQUENCE_NUMBER_MAX)
            return E_SequenceNumberIncrementTooLarge;
        blob->sequence_number++;
        break;
    }
    return OK;
}

static enum error change_page_blob(struct decision *d,
                                   const struct set_blob_properties_parameters *p,
                                   struct blob *blob)
{
    enum error e = change_sequence_number(p, blob);
    enum store_result result;

    if (e || !p->has_length)
        return e;
    result = content_resize(d->before, d->changes, d->arena, &blob->content, blob->etag.v,
                            p->length, &d->leaves_more);
    return result ? decision_fail_content(d, result) : OK;
}

/* Replaces all HTTP properties: those absent from the request are cleared. They are kept only if
 * the request sets only the size or sequence number of a page blob. rest: Set-Blob-Properties
 * "Remarks" */
enum error set_blob_properties_decide(struct decision *d,
                                      const struct set_blob_properties_parameters *p,
                                      struct set_blob_properties_result *r)
{
    struct blob blob;
    enum error e;

    r->is_page_blob = blob_state(d)->blob.type == BLOB_PAGE;
    if ((p->has_length || p->action != SEQUENCE_KEPT) && !r->is_page_blob)
        return E_InvalidBlobType;
    /* No key is needed for what is not encrypted, but one that is sent must be right. The Azure SDK for
     * JavaScript resizes without the key, in its test against the service. decision: 1421 */
    e = d->input->key ? encryption_check(d, &blob_state(d)->blob.encryption) : OK;
    if (!e)
        e = blob_begin_change(d, &blob);
    if (!e)
        e = change_page_blob(d, p, &blob);
    if (e)
        return e;
    if (!p->keeps_http)
        blob.http = p->http;
    blob.copy = (struct copy_state){ .status = COPY_NONE }; /* rest: Get-Blob-Properties */
    blob_change(d, &blob_state(d)->blob, &blob);
    r->sequence_number = blob.sequence_number;
    return OK;
}

/* ---- metadata ---- */

/* rest: Get-Blob-Metadata */
enum error get_blob_metadata_decide(struct decision *d,
                                    const struct get_blob_metadata_parameters *p,
                                    struct get_blob_metadata_result *r)
{
    struct blob blob = blob_state(d)->blob;
    enum error e = encryption_open(d, &blob);

    (void)p;
    if (!e)
        r->metadata = blob_shown_metadata(d->arena, &blob);
    return e;
}

/* Replaces all metadata of a blob. Its content is unchanged. rest: Set-Blob-Metadata */
enum error set_blob_metadata_decide(struct decision *d,
                                    const struct set_blob_metadata_parameters *p,
                                    struct set_blob_metadata_result *r)
{
    struct blob blob;
    const struct blob *was = &blob_state(d)->blob;
    enum error e = encryption_check_metadata(d, was, was->is_directory);

    if (!e)
        e = blob_begin_change(d, &blob);
    if (!e)
        e = version_begin(d, d->input->account, &blob);
    if (e)
        return e;
    encryption_set_metadata(d, &blob, p->metadata);
    blob_change(d, &blob_state(d)->blob, &blob);
    r->version = blob_version_id(&blob);
    return OK;
}

/* ---- expiry ---- */

/* ETag and Last-Modified are unchanged, as recorded. rest: Set-Blob-Expiry; decision: 1293 */
enum error set_blob_expiry_decide(struct decision *d, const struct set_blob_expiry_parameters *p,
                                  struct set_blob_expiry_result *r)
{
    struct blob blob = blob_state(d)->blob;
    enum error e = expiry_set(d, &p->expiry, &blob);

    (void)r;
    if (!e && blob.expiry.at != blob_state(d)->blob.expiry.at)
        blob_change(d, &blob_state(d)->blob, &blob);
    return e;
}

/* Get Blob: a blob or snapshot, or a range of it. The bytes are read while they are sent, from the
 * snapshot of the partition on which the decision was made (promise 4). */

/* rest: Get-Blob; semantics 5 */
enum error get_blob_decide(struct decision *d, const struct get_blob_parameters *p,
                           struct get_blob_result *r)
{
    enum error e;

    r->blob = blob_state(d)->blob;
    r->notes_access = access_is_due(d, &r->blob);
    r->at = d->partition;
    e = encryption_open(d, &r->blob);
    if (!e)
        e = blob_refuse_archived(&r->blob);
    return e ? e : read_range_find(d, &p->range, r->blob.content.length, &r->part);
}

/* Lease Blob and Lease Container: apply the state machine of concurrency/lease.h to a stored lease.
 * They change no ETag or modification time. rest: Lease-Blob, Lease-Container; semantics 3.1 */

enum error lease_blob_decide(struct decision *d, const struct lease_blob_parameters *p,
                             struct lease_blob_result *r)
{
    struct blob blob = blob_state(d)->blob;
    enum error e = lease_perform(LEASE_OF_BLOB, &blob.lease, &p->request, d->now, &r->lease);

    if (e)
        return e;
    blob_change(d, &blob_state(d)->blob, &blob);
    r->id = blob.lease.id;
    return OK;
}

enum error lease_container_decide(struct decision *d, const struct lease_container_parameters *p,
                                  struct lease_container_result *r)
{
    struct container container = blob_state(d)->container;
    enum error e =
        lease_perform(LEASE_OF_CONTAINER, &container.lease, &p->request, d->now, &r->lease);

    if (e)
        return e;
    container_write(d->changes, d->arena, &container);
    r->id = container.lease.id;
    return OK;
}

/* ---- Snapshot Blob: retains the current state of a blob under a new date ---- */

/* In all ten recordings, the version that Snapshot Blob creates has an id one millisecond later. If
 * the ids of the blob are already ahead of the clock, it is one tick later, so that they do not get
 * further and further ahead. decision: 804 */
#define TICKS_AHEAD (TICKS_PER_SECOND / 1000)

static instant id_after(const struct decision *d, const struct blob *was, instant date)
{
    bool is_ahead = was->newest_version + 1 >= d->now;

    return date + (is_ahead ? 1 : TICKS_AHEAD);
}

/* Adds the snapshot as a holder of the content and, with versioning, also a version with the old
 * id. */
static enum error keep_version(struct decision *d, struct blob *base, struct blob *snapshot)
{
    const struct blob *was = &blob_state(d)->blob;
    struct blob version =
        keep_record(was, blob_version_ref(was->is_version ? was->newest_version : d->now));
    struct content kept[2];
    enum error e = keep_shared(d, &base->content, 2, kept);

    if (e)
        return e;
    version.content = kept[0];
    snapshot->content = kept[1];
    if (version.ref.at == d->now)
        snapshot->ref.at = d->now + 1;
    base->is_version = true;
    base->newest_version = id_after(d, was, snapshot->ref.at);
    blob_change(d, NULL, &version);
    return OK;
}

/* Clients see no change of the base except its version id. A snapshot with its own metadata has its
 * own ETag. rest: Snapshot-Blob; semantics 0.5, 5 */
enum error snapshot_blob_decide(struct decision *d, const struct snapshot_blob_parameters *p,
                                struct snapshot_blob_result *r)
{
    struct blob base = blob_state(d)->blob, snapshot;
    struct retention retention;
    enum store_result result;
    enum error e = encryption_check(d, &base.encryption);

    if (!e)
        e = blob_refuse_archived(&base);
    if (e)
        return e;
    result = retention_find(d, d->input->account, &retention);
    if (result)
        return decision_fail_store(d, result);
    snapshot = keep_record(&base, blob_snapshot_ref(d->now));
    base.without_snapshots = false;
    if (base.type == BLOB_BLOCK)
        content_expect_runs(&base.content); /* of a flush */
    e = retention.is_versioned ? keep_version(d, &base, &snapshot)
                               : keep_shared(d, &base.content, 1, &snapshot.content);
    if (e)
        return e;
    if (p->metadata.len > 0) {
        encryption_set_metadata(d, &snapshot, p->metadata);
        snapshot.etag = d->subject.etag = etag_after(snapshot.etag, d->now);
        snapshot.modified = d->subject.modified = d->now;
    }
    blob_change(d, NULL, &snapshot);
    if (retention.is_versioned || base.content.form == CONTENT_SPARSE ||
        blob_state(d)->blob.without_snapshots ||
        base.content.is_alone != blob_state(d)->blob.content.is_alone)
        blob_change(d, &blob_state(d)->blob, &base);
    r->snapshot = snapshot.ref.at;
    r->version = blob_version_id(&base);
    return OK;
}

/* Set Blob Tier: hot, cool, cold or archive for block blobs; a premium disk tier for page blobs.
 * ETag and Last-Modified do not change. rest: Set-Blob-Tier; decision: 86 */

/* Sets the tier of a page blob: not lower than one that was set explicitly, and large enough. */
static enum error set_premium(struct decision *d, struct blob *blob, enum access_tier tier)
{
    enum error e = tier_fits(d, tier, blob->type, blob->content.length);

    if (blob->type == BLOB_PAGE && blob->tier != TIER_NONE && tier < blob->tier)
        return E_CannotChangeToLowerTier;
    if (!e)
        blob_set_tier(blob, tier, d->now);
    return e;
}

/* Starts the rehydration of an archived blob. If it is already being rehydrated, only the priority
 * may be raised. Snapshots and versions are not rehydrated, as in the real service.
 *
 * Returns OK, E_BlobBeingRehydrated, E_BlobOperationNotSupported. */
static enum error rehydrate(struct decision *d, const struct set_blob_tier_parameters *p,
                            struct blob *blob)
{
    if (!blob_ref_is_base(blob->ref))
        return E_BlobOperationNotSupported;
    if (blob->rehydrates_to != TIER_NONE &&
        (p->tier != blob->rehydrates_to || (blob->is_rehydrated_fast && !p->rehydration.is_high)))
        return E_BlobBeingRehydrated;
    if (blob->rehydrates_to != TIER_NONE && p->rehydration.is_high == blob->is_rehydrated_fast)
        return OK;
    blob_rehydrate(blob, p->tier, &p->rehydration, d->now);
    rehydrate_defer(d->changes, blob);
    return OK;
}

enum error set_blob_tier_decide(struct decision *d, const struct set_blob_tier_parameters *p,
                                struct set_blob_tier_result *r)
{
    struct blob blob = blob_state(d)->blob;
    enum error e =
        encryption_check(d, &blob.encryption); /* always refused; decisions: 1421, 1462 */

    if (e)
        return e;
    if (tier_is_premium(p->tier)) {
        e = set_premium(d, &blob, p->tier);
    } else if (blob.type != BLOB_BLOCK) {
        return E_AccessTierNotSupportedForBlobType;
    } else if (blob.tier == TIER_ARCHIVE &&
               (p->tier != TIER_ARCHIVE || blob.rehydrates_to != TIER_NONE)) {
        e = rehydrate(d, p, &blob);
        r->is_pending = true;
    } else {
        blob_set_tier(&blob, p->tier, d->now);
    }
    if (e)
        return e;
    blob_change(d, &blob_state(d)->blob, &blob);
    return OK;
}
