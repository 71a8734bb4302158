/* What the server read of soft delete when it decided: seen where it does (kept_seen.c), which knows the server's
 * headers alone, since they have names that the model has too. */
#ifndef LAGRA_SIM_KEPT_VIEW_H
#define LAGRA_SIM_KEPT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/* What a request, or a job of the server, was decided on. */
struct kept_view {
    uint64_t now;     /* ticks; 0: not known */
    bool has_policy;  /* the rest was read, too */
    uint64_t expires; /* of what is deleted now; 0: nothing is kept */
    unsigned days;
    bool allows_permanent;
    bool is_versioned; /* what is overwritten or deleted stays as a version */
    uint64_t
        space; /* first bytes of the GUID of the container's space; 0 if no container was read */
    uint64_t deleted_at; /* the instant at which a container is deleted, in ticks */
    bool has_kept_base;  /* the name has a record of a blob that was soft-deleted, expired or not */
};

/* Of the request, or the job, of the calling thread: what it has read since it began. */
struct kept_view *kept_here(void);
/* The operation on a blob is decided at that instant, in ticks. */
void kept_entered(uint64_t now);
/* The newest instant at which the server may have deleted for good what has expired. */
uint64_t kept_latest(void);

#endif
