/* Recovery at startup: the clock, dropped spaces, the end of the last extent (before requests are
 * served), and bytes in extents that no row of the index covers (later, by the collector). */
#ifndef LAGRA_STORE_EMBEDDED_RECOVERY_H
#define LAGRA_STORE_EMBEDDED_RECOVERY_H

#include <stdatomic.h>

#include "store/store.h"

struct embedded;

/* Called on the startup thread. Returns STORE_OK, STORE_CORRUPT, STORE_IO. */
enum store_result recovery_begin(struct embedded *embedded);
/* Frees unreferenced bytes, and counts used ones, in the extents that existed at recovery_begin().
 * Ends early when *stop becomes true. Called by the collector. */
void recovery_run(struct embedded *embedded, const atomic_bool *stop);

/* For a start that fails after recovery_begin(). */
void recovery_release(struct embedded *embedded);

/* The index as of recovery_begin(). */
struct recovery {
    struct cursor *index; /* NULL once done */
    uint32_t *ids;        /* of the existing extents, ascending */
    size_t count;
    uint32_t open_id;  /* of the extent that is continued; 0 means none */
    uint64_t open_end; /* where it is continued */
};

#endif
