/* Inside source/ only: what a job that copies decides and commits, on the state of the destination as it is
 * then. */
#ifndef LAGRA_SOURCE_COPY_COMMIT_H
#define LAGRA_SOURCE_COPY_COMMIT_H

#include "service/background.h"
#include "source/copy_run.h"

struct copy_job {
    struct background_job base; /* first */
    const struct pending_copies *of;
    const struct endpoint *endpoint;
    struct guid space;
    size_t key_length;
    char key[]; /* of the partition of the destination */
};

/* A job while it runs. */
struct copying {
    struct source_watch watch; /* first */
    struct copy_job *job;
    struct arena *arena;
    struct partition partition;
    struct copy_found found; /* at its beginning */
    uint64_t seen;           /* newest sequence of what was read of the source */
    struct problem problem;
    instant shown; /* when progress was written last */
};

/* Decides and commits it. What was read of the source must have come to be before anything is made of it.
 * A commit that never came to be is made again while what it needs is here, not after the source has
 * been read once more.
 * returns OK, E_NoPendingCopyOperation (also when the space of the destination is gone), E_ServerBusy, as the decisions of
 *         the service */
enum error copy_commit(struct copying *c, const struct copy_verdict *verdict);
/* Reads what is left to do. Returns false where there is nothing, or nobody can say now what: the task
 * comes again. */
bool copy_find_pending(struct copying *c);

#endif
