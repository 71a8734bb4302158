/* Changes the protection of a container (internal to blob/), as only the operator does, and in Azure
 * the management API: `lagra container protect`. rest: Blob Containers (storagerp): Create Or
 * Update, Lock, Extend and Delete Immutability Policy; Set and Clear Legal Hold; decisions: 1405 to
 * 1408 */
#ifndef LAGRA_BLOB_CONTAINER_IMMUTABILITY_H
#define LAGRA_BLOB_CONTAINER_IMMUTABILITY_H

#include "blob/blob.h"

/* Tags of the legal holds of a container. docs: immutable-container-level-worm-policies "Limits" */
#define HOLDS_MAX      10u
#define HOLD_TAG_MIN   3u
#define HOLD_TAG_MAX   23u
/* Times that a locked policy can be extended. */
#define EXTENSIONS_MAX 5u

/* Changes. Stored in the log. */
enum protection_change {
    PROTECT_VERSIONS, /* enables immutable storage with versioning */
    PROTECT_POLICY,   /* sets an unlocked policy */
    PROTECT_LOCK,
    PROTECT_EXTEND,  /* extends a locked policy */
    PROTECT_REMOVE,  /* removes an unlocked policy */
    PROTECT_HOLD,    /* adds tags */
    PROTECT_RELEASE, /* removes tags */
    PROTECT_CLOSE,   /* before a deletion */
    PROTECT_OPEN,    /* undoes PROTECT_CLOSE */
};

struct protect_container_parameters {
    struct parameters base;
    enum protection_change change;
    uint32_t days; /* of a policy; 0: not sent */
    enum append_rule append;
    struct bytes tags; /* separated by commas; ptr NULL: not sent */
};
struct protect_container_result {
    struct result base;
    struct container_immutability immutability;
};
OPERATION_DECLARE(protect_container);

OPERATION_NO_PARAMETERS(get_container_protection);
struct get_container_protection_result {
    struct result base;
    struct container_immutability immutability;
};
OPERATION_DECLARE(get_container_protection);

/* Refuses to delete a container that the state protects, unless the operator does so, it is closed,
 * and there is no blob in it. Returns OK; E_ContainerHasLegalHold;
 * E_ContainerImmutableStorageWithVersioningEnabled; E_ContainerImmutabilityPolicyLocked;
 * E_BlobImmutableDueToPolicy; or an error of decision_fail_store(). */
enum error immutability_permit_drop(struct decision *d);

/* Describes a change in the log. */
struct protection_event {
    enum protection_change change;
    instant at;
    uint64_t days;
    struct bytes tags;
};
/* Reads the next event of a log; the strings point into it. Returns false at the end. */
bool protection_log_next(struct decoder *log, struct protection_event *ret_event);

#endif
