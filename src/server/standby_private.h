/* Describes the cells of a cluster as a front end sees them. Internal to server/standby*.c. */
#ifndef LAGRA_SERVER_STANDBY_PRIVATE_H
#define LAGRA_SERVER_STANDBY_PRIVATE_H

#include "base/file.h"
#include "cluster/candidate.h"
#include "cluster/fence.h"
#include "server/standby.h"

/* A cell as this process sees it. Used by the watching thread only, except the candidate. */
struct contender {
    struct candidate candidate;
    struct fence fence;
    uint64_t fence_from_ns, nudge_from_ns;
    bool is_silent, hangs; /* already logged */
    bool has_owner;        /* owned by another front end that renews its lease */
    bool has_failed;       /* cannot be owned */
    uint64_t foreign;      /* last incarnation logged by standby_log_foreign() */
    /* Links to owners of earlier incarnations are closed at left_ns; 0 means there are none. Set by
     * the main thread for our own cell. */
    _Atomic uint64_t left, left_ns;
    char problem[256]; /* last one logged */
};

/* On the heap, since hanging threads refer to it. */
struct standby {
    const struct options *options;
    struct front *front;
    struct http_server *const *servers; /* NULL once they are being stopped */
    struct candidacy candidacy;
    char address[STANDBY_ADDRESS_MAX], forward[ADDRESS_TEXT_MAX], smb[OWNER_SMB_MAX + 1];
    uint32_t owned;        /* the owned cell, or 0 */
    uint64_t taken_ns;     /* when it was taken over, by clock_boot_ns() */
    bool is_open;          /* the file of a cell could be opened */
    bool has_ended;        /* set by standby_stop() if no thread was left behind */
    struct thread watcher; /* runs once a cell is owned */
    struct thread lister;
    char *pins_path;
    struct file_mark pins_seen, key_seen; /* of the lister */
    atomic_bool watcher_ends, lists;      /* lists: the listing thread runs */
    atomic_uint count;                    /* of contenders; the listing thread adds some */
    struct contender contenders[CLUSTER_CELLS_MAX];
};

/* ---- standby_log.c: each problem is logged once ---- */

/* Logs that the owner has stopped renewing its lease. */
void standby_log_silence(struct contender *c, const struct options *options,
                         const struct candidate_found *found);
/* Logs that the file system does not respond. */
void standby_log_hang(struct contender *c, const struct candidate_found *found);
void standby_log_problem(struct contender *c, const struct candidate_found *found);
/* Returns true if the owner's version understands no request of this front end. */
bool standby_is_foreign(const struct owner_record *record);
/* Logs that nothing can be forwarded to such an owner. */
void standby_log_foreign(struct contender *c, const struct owner_record *record);

#endif
