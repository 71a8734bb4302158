/* Runs pending copies in the background: a job reads the source, and runs decisions of the
 * destination's service. */
#ifndef LAGRA_SOURCE_COPY_RUN_H
#define LAGRA_SOURCE_COPY_RUN_H

#include "service/copy_state.h"
#include "service/deferred_tasks.h"
#include "source/open_source.h"
#include "source/pending_source.h"

/* Remaining work of a pending copy. */
struct copy_found {
    struct pending_source *pending; /* start of the service's own struct */
    /* copied in steps into sparse content, because it may be too long for one commit; otherwise
     * copied at once */
    bool by_steps;
    uint64_t copied, total; /* in steps: progress */
    instant previous;       /* in steps: copies the differences from this snapshot; 0 means all */
    bool is_there;          /* in steps: all bytes are copied, but the copy is not completed */
    /* set by decide(): the copy has ended with this error, because its destination may not be
     * changed any more; OK if it has not */
    enum error refusal;
};

/* The next change of a pending copy, with its data. */
struct copy_verdict {
    enum { COPY_SHOWS, COPY_STEPS, COPY_COMPLETES, COPY_ENDS } kind;
    uint64_t copied; /* updates the progress */
    const struct copied_step *step;
    const struct body *body; /* completes a copy that is copied all at once */
    const struct copied_bytes *bytes;
    enum copy_status status; /* final status if it ends without success */
    struct bytes description;
};

/* The pending copies of a service. */
struct pending_copies {
    /* Reads the destination, whose partition is open, and the remaining work; sets d->state.
     * Returns OK, E_NoPendingCopyOperation, or a read error. */
    enum error (*find)(struct decision *d, const struct guid *id, struct copy_found *ret_found);
    /* Called after find(). Returns the errors of the service's decisions; E_ServerBusy if another
     * job has made progress. */
    enum error (*decide)(struct decision *d, struct copy_found *found,
                         const struct copy_verdict *verdict);
    uint64_t steps_max; /* maximum size of a source copied in steps */
};

/* Called by the service's task that found a pending copy: ensures that a job for it is running in
 * this process, and reschedules the task to check on it, so that copies continue after a restart.
 * task: of the destination's partition. */
void copy_run(struct decision *d, const struct deferred_task *task,
              const struct pending_source *pending, const struct pending_copies *of,
              const struct endpoint *endpoint);

#endif
