/* What a start finds: the clock, dropped spaces, the end of the last extent (before anything is
 * served), and bytes in extents that no row of the index covers (deferred, by the collector). */
#ifndef LAGRA_STORE_EMBEDDED_RECOVERY_H
#define LAGRA_STORE_EMBEDDED_RECOVERY_H

#include <stdatomic.h>

#include "store/store.h"

struct embedded;

/* Start-up thread. returns STORE_OK, STORE_CORRUPT, STORE_IO */
enum store_result recovery_begin(struct embedded *embedded);
/* Frees what nothing refers to, and counts what is in use, in the extents that were there at
 * recovery_begin(). Ends early when *stop becomes true. Collector. */
void recovery_run(struct embedded *embedded, const atomic_bool *stop);

/* When the start fails after recovery_begin(). */
void recovery_release(struct embedded *embedded);

/* The index as it was at the beginning. */
struct recovery {
    struct cursor *index; /* NULL once through */
    uint32_t *ids;        /* of the extents there were, rising */
    size_t count;
    uint32_t open_id;  /* of the one that goes on; 0: none */
    uint64_t open_end; /* where it goes on */
};

#endif
