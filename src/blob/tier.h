/* Internal to blob/ and dfs/: access tiers, their names, the operations they allow, and
 * rehydration: an archived blob becomes readable after some time, by a deferred task. A task that
 * is due at another time than its blob does nothing. rest: Set-Blob-Tier */
#ifndef LAGRA_BLOB_TIER_H
#define LAGRA_BLOB_TIER_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Sets the tier and cancels a rehydration. */
void blob_set_tier(struct blob *blob, enum access_tier tier, instant now);
/* How a blob is rehydrated. */
struct rehydration {
    bool is_high;   /* high priority */
    uint64_t ticks; /* duration */
};
/* Starts the rehydration of an archived blob. The caller that writes it calls rehydrate_defer(). */
void blob_rehydrate(struct blob *blob, enum access_tier to, const struct rehydration *how,
                    instant now);
/* Refuses operations on an archived blob that read or change its content, properties or metadata.
 *
 * Returns OK, E_BlobArchived, E_BlobBeingRehydrated. */
enum error blob_refuse_archived(const struct blob *blob);
/* Checks that a blob of this type and length may have the tier.
 *
 * Returns OK, E_AccessTierNotSupportedForBlobType, E_BlobTierInadequateForContentLength;
 * E_InvalidHeaderValue: a premium tier for a block blob. */
enum error tier_fits(struct decision *d, enum access_tier tier, enum blob_type type,
                     uint64_t length);
/* Returns "Hot" and so on; NULL for TIER_NONE. */
const char *access_tier_text(enum access_tier tier);
/* Returns "rehydrate-pending-to-hot" and so on, for a blob that is being rehydrated. */
const char *archive_status_text(const struct blob *blob);

/* Stored, see uncommitted.h. */
enum { TASK_REHYDRATE = 0x110 };

/* Adds the task of a blob or snapshot whose rehydrated_at is set. */
void rehydrate_defer(struct changes *changes, const struct blob *blob);
/* Runs the task. */
task_fn rehydrate_blob;

#endif
