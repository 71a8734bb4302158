/* A share as an SMB client is connected to it (a tree connect), and what is decided of the share as a
 * whole. What SMB commands decide of files: handle.h. */
#ifndef LAGRA_FILE_MOUNT_H
#define LAGRA_FILE_MOUNT_H

#include "file/access_check.h"
#include "file/file.h"
#include "service/deciding.h"

/* Immutable; its owner keeps what it points to. Once its share is deleted, every attempt through it
 * returns E_ShareNotFound, also where another share has the name. */
struct mount {
    struct bytes account, share; /* names */
    struct guid space;           /* of the share that was there when it was connected */
    /* The caller; NULL: a superuser, to whom security descriptors do not apply. */
    const struct access_token *token;
};

/* Connects: result->space is the share's. The caller makes the mount.
 * returns OK, E_InvalidResourceName, E_OutOfRangeName, E_ShareNotFound */
struct mount_find {
    struct bytes account, share;
    /* ---- what comes of it ---- */
    struct guid space;
};
attempt_fn mount_find_attempt;

/* The share's room. rest: Get-Share-Stats, "x-ms-share-quota"
 * returns OK, E_ShareNotFound */
struct mount_size {
    const struct mount *mount;
    /* ---- what comes of it ---- */
    uint64_t quota_bytes, used_bytes; /* used may be more, when the quota was made less */
    instant created;
};
attempt_fn mount_size_attempt;

/* The snapshots of the share, which SMB shows as previous versions of all files (FSCTL_SRV_ENUMERATE_
 * SNAPSHOTS; an open names one by SMB2_CREATE_TIMEWARP_TOKEN). Their dates are of whole seconds.
 * returns OK, E_ShareNotFound */
struct mount_snapshots {
    const struct mount *mount;
    /* ---- what comes of it ---- */
    instant *dates; /* the oldest first; in the arena */
    size_t count;   /* at most SHARE_SNAPSHOTS_MAX */
};
attempt_fn mount_snapshots_attempt;

#endif
