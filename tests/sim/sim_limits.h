/* Limits of the server that no run of a few hundred requests comes near: in one run of four they are small, so that clients
 * fill them, are refused, and are served again when there is space. The server asks here (small_limits.h), and so do the
 * models: they know the refusals. */
#ifndef LAGRA_SIM_SIM_LIMITS_H
#define LAGRA_SIM_SIM_LIMITS_H

enum limit {
    LIMIT_OPENS,     /* of a file: OPENS_MAX */
    LIMIT_LOCKS,     /* of a file: BYTE_LOCKS_MAX */
    LIMIT_SNAPSHOTS, /* of a share: SHARE_SNAPSHOTS_MAX */
    LIMIT_STAGED,    /* blocks of a blob that are not committed: UNCOMMITTED_BLOCKS_MAX */
    LIMIT_APPENDED,  /* blocks of an append blob: APPENDED_BLOCKS_MAX */
    LIMITS,
};

/* Returns the limit in this run; `large` is that of the server. */
unsigned limit_of(enum limit limit, unsigned large);

/* Returns the size from which front ends of a cluster read bodies from the owner's files. */
unsigned limit_small_body(void);

#endif
