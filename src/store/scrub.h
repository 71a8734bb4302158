/* Reads an entire store while it is in use, to find lost data before a client needs it. Reads
 * every record, and verifies the bytes of every piece against their CRCs, from the disk instead of
 * the page cache if the file system supports it (O_DIRECT). Only for the embedded store.
 *
 * Records are read in key order, a few at a time, so a scrub can stop and continue later, even in
 * another process. A pass may or may not read changes made during it; the next pass does. */
#ifndef LAGRA_STORE_SCRUB_H
#define LAGRA_STORE_SCRUB_H

#include "store/inspect.h"

struct scrub_listener {
    /* place: valid during the call. what: a phrase like "some of its bytes are damaged" */
    void (*damaged)(void *context, const struct record_place *place, const char *what);
    /* Called with the number of bytes read; may wait, to limit the rate. Returns false to end the
     * step. */
    bool (*read)(void *context, uint64_t bytes);
    void *context;
};

/* The position of a scrub. Belongs to one thread at a time. */
struct scrub;
/* place: from scrub_place() of an earlier scrub, or empty for the beginning */
struct scrub *scrub_open(struct store *store, struct bytes place);
void scrub_close(struct scrub *scrub);
/* Returns an opaque position, which changes with each step; empty at the beginning. */
struct bytes scrub_place(const struct scrub *scrub);
uint64_t scrub_records(const struct scrub *scrub);

/* Reads some records and their pieces, for some milliseconds plus the time that the listener waits.
 * Waits for the disk.
 *
 * Returns STORE_OK there are more records
 *         STORE_NOT_FOUND  the pass is complete
 *         STORE_CORRUPT    the records after this place are unreadable, which is reported; the
 *                          pass ends */
enum store_result scrub_step(struct scrub *scrub, const struct scrub_listener *listener);

#endif
