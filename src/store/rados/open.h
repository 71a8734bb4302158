/* The engine on RADOS, over any port. */
#ifndef LAGRA_STORE_RADOS_OPEN_H
#define LAGRA_STORE_RADOS_OPEN_H

#include "store/rados/port.h"
#include "store/store.h"

/* So long a piece stays that nothing refers to any longer: whoever has read its name may still read it. */
#define RADOS_GRACE_TICKS (10 * 60 * TICKS_PER_SECOND)

/* Recovery of a larger object stops writes to it for seconds. */
#define RADOS_SPLIT_ROWS  50000u

struct rados_options {
    struct port *records, *pieces; /* pools; may be one. Of the caller, until `closed` */
    const char *pool_of_pieces;    /* its name, as root_make() was given it */
    void (*closed)(void *of);      /* the store is closed, and nothing is in flight; or NULL */
    void *closed_of;
    uint64_t grace_ticks; /* 0: RADOS_GRACE_TICKS */
    unsigned dead_ms;     /* 0: BEAT_DEAD_MS */
    unsigned patience_ms; /* 0: PATIENCE_MS */
    uint64_t again_ticks; /* 0: DEPARTED_AGAIN_TICKS */
    /* Others have taken this front end for dead: it is to end, and may be started again. Called once, by a thread of the
     * store; or NULL. */
    void (*failed)(void);
    uint32_t
        split_rows; /* that a shard may have (split.h), RADOS_SPLIT_ROWS. 0: shards are not split */
    uint32_t
        cut_rows; /* before large partitions get limbs (limb.h), where shards are split. 0: as many */
    uint32_t
        format_known; /* the newest that the front end knows; 0: FORMAT_NEWEST. Tests have newer programs */
    bool is_always_busy; /* tests: every partition is as one that many want (pending.h) */
};
/* The store was made by root_make(). Takes a number in the cluster that no front end had before. It waits for the cluster.
 * *ret_problem: a sentence if the result is not STORE_OK (static). Start-up. */
enum store_result store_open_rados(const struct rados_options *options, struct store **ret_store,
                                   const char **ret_problem);

#endif
