/* Inside blob/rest/ only: what a job that copies decides and commits, on the state of the destination as
 * it is then. */
#ifndef LAGRA_BLOB_REST_COPY_COMMIT_H
#define LAGRA_BLOB_REST_COPY_COMMIT_H

#include "blob/pending_copy.h"
#include "source/open_source.h"
#include "service/background.h"

struct copy_job {
    struct background_job base; /* first */
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
    struct pending_copy pending; /* as it was found first */
    uint64_t copied, total;      /* of a page blob: as it was found first */
    uint64_t seen;               /* newest sequence of what was read of the source */
    struct problem problem;
    instant shown; /* when progress was written last */
};

/* What is to become of the pending copy, and what it needs. */
struct verdict {
    enum { SHOW, PAGES, COMPLETE, END } kind;
    uint64_t copied;                  /* SHOW */
    const struct copied_pages *pages; /* PAGES */
    const struct body *body;
    const struct copied_bytes *bytes; /* COMPLETE */
    enum copy_status status;          /* END */
    struct bytes description;
};

/* Decides and commits it. What was read of the source must have come to be before anything is made of it.
 * A commit that never came to be is made again while what it needs is here, not after the source has
 * been read once more.
 * returns OK, E_NoPendingCopyOperation (also when the container is gone), E_ServerBusy, as the decisions of
 *         blob/pending_copy.h */
enum error copy_commit(struct copying *c, const struct verdict *verdict);
/* Reads what is left to do. Returns false where there is nothing, or nobody can say now what: the task
 * comes again. */
bool copy_find_pending(struct copying *c);

#endif
