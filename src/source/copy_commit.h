/* Internal to source/: the decisions and commits of a copy job, on the current state of the
 * destination. */
#ifndef LAGRA_SOURCE_COPY_COMMIT_H
#define LAGRA_SOURCE_COPY_COMMIT_H

#include "service/background.h"
#include "source/copy_run.h"

struct copy_job {
    struct background_job base; /* must be first */
    const struct pending_copies *of;
    const struct endpoint *endpoint;
    struct guid space;
    size_t key_length;
    char key[]; /* key of the destination's partition */
};

/* A running job. */
struct copying {
    struct source_watch watch; /* must be first */
    struct copy_job *job;
    struct arena *arena;
    struct partition partition;
    struct copy_found found; /* as read at the start */
    uint64_t seen;           /* newest sequence of the data read from the source */
    struct problem problem;
    instant shown;      /* time of the last progress update */
    enum error refusal; /* why the last commit ended the copy; OK if it did not */
};

/* Decides and commits the verdict. Data read from the source must be committed before its copy is
 * committed. Retries a failed commit while its data is in memory, instead of reading the source
 * again. Returns OK, E_NoPendingCopyOperation (also if the space of the destination was dropped),
 * E_ServerBusy, errors of the service's decisions, or c->refusal if the copy has ended with it. */
enum error copy_commit(struct copying *c, const struct copy_verdict *verdict);
/* Reads the remaining work. Returns false if none exists, or it cannot be determined now; the
 * task will be retried. */
bool copy_find_pending(struct copying *c);

#endif
