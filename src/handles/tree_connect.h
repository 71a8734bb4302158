/* Tree connects: an SMB client's connection to a share, and decisions on the share. For decisions
 * on files see handle.h. */
#ifndef LAGRA_HANDLES_TREE_CONNECT_H
#define LAGRA_HANDLES_TREE_CONNECT_H

#include "acl/access_check.h"
#include "file/file.h"
#include "service/deciding.h"

/* Immutable; the owner keeps the referenced data valid. After the share is deleted, every attempt
 * through the tree connect returns E_ShareNotFound, even if another share has taken the name. */
struct tree_connect {
    struct bytes account, share; /* names */
    struct guid space;           /* of the share at connect time */
    /* The caller, or NULL for a superuser, who is not subject to security descriptors. */
    const struct access_token *token;
};

/* Looks up a share for a tree connect. The caller builds the tree connect from the results.
 * Returns OK, E_InvalidResourceName, E_OutOfRangeName, E_ShareNotFound. */
struct tree_connect_find {
    struct bytes account, share;
    /* ---- results ---- */
    struct guid space;
};
attempt_fn tree_connect_find_attempt;

/* Returns the size of the share. rest: Get-Share-Stats, "x-ms-share-quota"
 * returns OK, E_ShareNotFound */
struct tree_connect_size {
    const struct tree_connect *tree_connect;
    /* ---- results ---- */
    uint64_t quota_bytes, used_bytes; /* used_bytes may exceed a quota that was lowered */
    instant created;
};
attempt_fn tree_connect_size_attempt;

/* Lists the share's snapshots, which SMB shows as previous versions of all files
 * (FSCTL_SRV_ENUMERATE_SNAPSHOTS; SMB2_CREATE_TIMEWARP_TOKEN opens one). Dates are whole seconds.
 * Returns OK, E_ShareNotFound. */
struct tree_connect_snapshots {
    const struct tree_connect *tree_connect;
    /* ---- results ---- */
    instant *dates; /* oldest first; in the arena */
    size_t count;   /* at most SHARE_SNAPSHOTS_MAX */
};
attempt_fn tree_connect_snapshots_attempt;

#endif
