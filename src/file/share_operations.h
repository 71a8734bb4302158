/* Operations on shares: parameters and results. The functions are in share_operations.c,
 * delete_share.c, and rest/. */
#ifndef LAGRA_FILE_SHARE_OPERATIONS_H
#define LAGRA_FILE_SHARE_OPERATIONS_H

#include "file/file.h"
#include "service/deferred_tasks.h"
#include "service/listing.h"

struct create_share_parameters {
    struct parameters base;
    struct guid space; /* new for each incarnation of a share, so it is empty */
    uint32_t quota_gib;
    enum share_tier tier;
    struct bytes metadata;
};
OPERATION_NO_RESULT(create_share);
OPERATION_DECLARE(create_share);

OPERATION_NO_PARAMETERS(get_share_properties);
struct get_share_properties_result {
    struct result base;
    struct share share;
};
OPERATION_DECLARE(get_share_properties);

struct set_share_properties_parameters {
    struct parameters base;
    bool has_quota, has_tier; /* otherwise unchanged */
    uint32_t quota_gib;
    enum share_tier tier;
};
OPERATION_NO_RESULT(set_share_properties);
OPERATION_DECLARE(set_share_properties);

/* Member of struct container_type (properties/metadata_acl.h). */
void share_write_state(struct decision *d);

OPERATION_NO_PARAMETERS(get_share_stats);
struct get_share_stats_result {
    struct result base;
    uint64_t used_bytes;
};
OPERATION_DECLARE(get_share_stats);

struct lease_share_parameters {
    struct parameters base;
    struct lease_request request;
};
struct lease_share_result {
    struct result base;
    struct lease_result lease;
    struct guid id; /* lease id */
};
OPERATION_DECLARE(lease_share);

struct snapshot_share_parameters {
    struct parameters base;
    struct bytes metadata; /* of the snapshot; empty: copy the share's */
};
struct snapshot_share_result {
    struct result base;
    instant snapshot;
};
OPERATION_DECLARE(snapshot_share);

/* How Delete Share treats the share's snapshots. */
enum delete_snapshots {
    SNAPSHOTS_REFUSED,       /* fail if there are any */
    SNAPSHOTS_DELETED,       /* delete them; fail if any is leased */
    SNAPSHOTS_DELETED_LEASED /* delete them, even if leased */
};
struct delete_share_parameters {
    struct parameters base;
    enum delete_snapshots snapshots;
};
OPERATION_NO_RESULT(delete_share);
OPERATION_DECLARE(delete_share);

struct restore_share_parameters {
    struct parameters base;
    instant deleted; /* deletion time; identifies the share among the deleted shares of its name */
};
OPERATION_NO_RESULT(restore_share);
OPERATION_DECLARE(restore_share);

struct list_shares_parameters {
    struct parameters base;
    struct listing listing;
    struct listing_place from;
    struct listing_sink *sink;
};
struct list_shares_result {
    struct result base;
    struct listing_place next; /* start of the next page; name.ptr NULL if none */
};
OPERATION_DECLARE(list_shares);

/* ---- deferred tasks ---- */

/* Deferred tasks of the File service, stored, so values must not change. */
enum { TASK_COLLECT_SNAPSHOTS = 0x300, TASK_EXPIRE_SHARE = 0x301 };

/* Deletes, in steps, data that only deleted snapshots have retained. */
task_fn collect_snapshots;
/* Purges a soft-deleted share when its retention has expired. */
task_fn expire_share;

#endif
