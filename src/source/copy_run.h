/* Pending copies, carried on in the background: a job reads the source, and makes decisions of the service
 * whose destination it is. */
#ifndef LAGRA_SOURCE_COPY_RUN_H
#define LAGRA_SOURCE_COPY_RUN_H

#include "service/copy_state.h"
#include "service/deferred_tasks.h"
#include "source/open_source.h"
#include "source/pending_source.h"

/* What is left to do. */
struct copy_found {
    struct pending_source *pending; /* the beginning of the service's own */
    /* Into a sparse content, which may be too long for one commit; else all at once. */
    bool by_steps;
    uint64_t copied, total; /* by steps: so far */
    bool is_there;          /* by steps: all is, but it was not completed */
};

/* What is to become of the pending copy, and what it needs. */
struct copy_verdict {
    enum { COPY_SHOWS, COPY_STEPS, COPY_COMPLETES, COPY_ENDS } kind;
    uint64_t copied; /* it shows how far it is */
    const struct copied_step *step;
    const struct body *body; /* it is complete: of one that is copied all at once */
    const struct copied_bytes *bytes;
    enum copy_status status; /* it ends without its bytes */
    struct bytes description;
};

/* The pending copies of a service. */
struct pending_copies {
    /* Reads the destination, whose partition is open, and what is left to do; sets d->state.
     * returns OK, E_NoPendingCopyOperation, as a read */
    enum error (*find)(struct decision *d, const struct guid *id, struct copy_found *ret_found);
    /* After find(). returns as the service's own decisions; E_ServerBusy: somebody else has gone on */
    enum error (*decide)(struct decision *d, struct copy_found *found,
                         const struct copy_verdict *verdict);
    /* The content whose differences to the source are copied; left as it is: all of the source is.
     * NULL: always so. */
    enum error (*find_older)(struct gathering *g, struct copy_found *found,
                             const struct open_source *open, struct content *ret_older);
    uint64_t steps_max; /* the longest source that is copied by steps */
};

/* From the service's task, which found this copy pending: sees to it that it is under way in this process, and
 * that the task comes back to look again; so one goes on after a restart. task: of the destination's
 * partition. */
void copy_run(struct decision *d, const struct deferred_task *task,
              const struct pending_source *pending, const struct pending_copies *of,
              const struct endpoint *endpoint);

#endif
