/* Protects blobs from changes and deletion by retention policies and legal holds (internal to blob/
 * and dfs/).
 *
 * A container is in one of three kinds:
 *   (none)      nothing is protected
 *   container   a policy (days since a blob's creation) or legal holds protect all its blobs
 *   versions    "immutable storage with versioning": each blob, snapshot and version has a policy
 *               (with the time of its end) and a hold of its own; overwriting creates a version
 *
 * immutability_permit() decides by the NEEDS_ bits of an operation, in its own commit. The policies
 * of blobs are in the partition of the blob. Those of a container are in another partition, which a
 * write does not guard: instead, the commit that protects a container makes all decisions that began
 * before it start again (container_immutability.c).
 *
 * Time: only decision.now counts, which no restart and no adjustment of the wall clock sets back.
 * docs/immutability.md says what is promised. rest: Set-Blob-Immutability-Policy,
 * Set-Blob-Legal-Hold; docs: immutable-version-level-worm-policies,
 * immutable-container-level-worm-policies; decisions: 1400 to 1411,
 * 1450 */
#ifndef LAGRA_BLOB_IMMUTABILITY_H
#define LAGRA_BLOB_IMMUTABILITY_H

#include "blob/blob.h"

/* Days of a retention: 400 years. docs: immutable-storage-overview */
#define POLICY_DAYS_MAX 146000u

/* ---- policies and holds of blobs ---- */

/* A policy and a hold, as requested for a blob. */
struct immutability_request {
    bool has_policy; /* the next two were sent: */
    enum policy_mode mode;
    instant until;
    bool has_hold; /* the next one was sent: */
    bool hold;
};

/* Sets the policy and the hold of a new version: those of the request, or the default policy of the
 * container.
 *
 * Returns OK; E_BlobOperationNotSupported if the container does not have them; E_InvalidHeaderValue
 * if the policy has ended or is too long. */
enum error immutability_give(struct decision *d, const struct immutability_request *request,
                             struct blob *blob);
/* Does the same for a request without both. */
void immutability_give_default(struct decision *d, struct blob *blob);

/* Returns true if a policy or hold of its own protects a blob from deletion. */
static inline bool blob_is_protected(const struct blob *blob, instant now)
{
    return blob->immutability.has_hold || blob->immutability.until > now;
}

/* ---- rules ---- */

/* Refuses an operation with these NEEDS_ bits, or NEEDS_DESTROY (not of an empty directory), or NEEDS_NAME and NEEDS_DESTROY for
 * a rename or the deletion of a directory that is not empty, on the blob of the state, in the
 * container of the state; for a rename from another container, also in that one. Returns OK,
 * E_BlobImmutableDueToLegalHold, E_BlobImmutableDueToPolicy; E_ContainerBeingDeleted if the
 * container is closed. */
enum error immutability_permit(struct decision *d, unsigned needs);
/* Refuses the deletion of the snapshots of the blob of the state. Returns like
 * immutability_permit(), or an error of decision_fail_store(). */
enum error immutability_permit_snapshots(struct decision *d);

/* Returns true if a file has expired, and the container of the state does not retain it. */
bool file_has_expired(struct decision *d, const struct blob *blob);
/* Returns true if a policy or hold of the container retains the blob. */
bool container_retains(const struct container_immutability *of, const struct blob *blob,
                       instant now);
/* Returns the error that refuses to overwrite the blobs of the container: OK,
 * E_BlobImmutableDueToLegalHold, E_BlobImmutableDueToPolicy. */
enum error container_refuses_changes(const struct container_immutability *of);
/* Returns true unless the container never had any of it. */
bool container_has_immutability(const struct container_immutability *immutability);
/* Returns true if a policy or hold of the container protects its blobs. */
static inline bool container_protects(const struct container_immutability *immutability)
{
    return !immutability->has_versions &&
           (immutability->mode != POLICY_NONE || immutability->holds.len > 0);
}

#endif
