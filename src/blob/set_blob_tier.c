/* Set Blob Tier: hot, cool, cold or archive for block blobs; a premium disk tier for page blobs.
 * ETag and Last-Modified do not change. rest: Set-Blob-Tier; decision: 86 */
#include "blob/tier.h"
#include "blob/blob_operations.h"

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
    enum error e = OK;

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
