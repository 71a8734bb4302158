/* Inside blob/ only: tiers of blobs: what they allow, what they are called, and the way back from the
 * archive to a tier that can be read, after a time, by a deferred task. One that is due and whose blob
 * waits for another instant has nothing to do. rest: Set-Blob-Tier */
#ifndef LAGRA_BLOB_TIER_H
#define LAGRA_BLOB_TIER_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Sets the tier that it has from now on; one that it was on the way to is given up. */
void blob_set_tier(struct blob *blob, enum access_tier tier, instant now);
/* How a blob comes back from the archive. */
struct rehydration {
    bool is_high;   /* its priority */
    uint64_t ticks; /* how long it takes */
};
/* The blob, whose tier is archive, is on its way to another. A function that writes it calls
 * rehydrate_defer(). */
void blob_rehydrate(struct blob *blob, enum access_tier to, const struct rehydration *how,
                    instant now);
/* What is refused of an archived blob: all that reads or changes its content, properties or
 * metadata.
 * returns OK, E_BlobArchived, E_BlobBeingRehydrated */
enum error blob_refuse_archived(const struct blob *blob);
/* May a blob of this type and length have the tier?
 * returns OK, E_AccessTierNotSupportedForBlobType, E_BlobTierInadequateForContentLength;
 * E_InvalidHeaderValue: a premium one of a block blob */
enum error tier_fits(struct decision *d, enum access_tier tier, enum blob_type type,
                     uint64_t length);
/* "Hot"... as wire text; NULL for TIER_NONE. */
const char *access_tier_text(enum access_tier tier);
/* "rehydrate-pending-to-hot".. of a blob that is on the way back. */
const char *archive_status_text(const struct blob *blob);

/* Stored, as expire_blocks.h says. */
enum { TASK_REHYDRATE = 0x110 };

/* Adds the task of a blob or snapshot whose rehydrated_at is set. */
void rehydrate_defer(struct changes *changes, const struct blob *blob);
/* Does it. */
task_fn rehydrate_blob;

#endif
