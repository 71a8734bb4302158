/* Reads a whole store while it is in use, to find lost data before a client needs it: every record,
 * and the bytes of every piece with their CRCs, from the disk instead of the page cache if the file
 * system supports it (O_DIRECT). The embedded store only.
 *
 * Records are read in key order, a few at a time, so a scrub can stop and continue later, even in
 * another process. Changes made in the meantime may or may not be read: the next pass reads
 * them. */
#ifndef LAGRA_STORE_SCRUB_H
#define LAGRA_STORE_SCRUB_H

#include "store/inspect.h"

struct scrub_listener {
    /* place: valid during the call. what: a phrase like "some of its bytes are damaged" */
    void (*damaged)(void *context, const struct record_place *place, const char *what);
    /* Reports the bytes read, and may wait, to limit the rate. Returns false to end the step. */
    bool (*read)(void *context, uint64_t bytes);
    void *context;
};

/* The position of a scrub. Belongs to one thread at a time. */
struct scrub;
/* place: from scrub_place() of an earlier scrub; empty: the beginning */
struct scrub *scrub_open(struct store *store, struct bytes place);
void scrub_close(struct scrub *scrub);
/* Opaque; changes with each step. Empty: the beginning. */
struct bytes scrub_place(const struct scrub *scrub);
uint64_t scrub_records(const struct scrub *scrub);

/* Reads some records and their pieces, for some milliseconds plus the time that the listener waits.
 * Waits for the disk.
 *
 * Returns STORE_OK there are more
 *         STORE_NOT_FOUND  the pass is complete
 *         STORE_CORRUPT    the records after this place are unreadable: reported; the pass ends */
enum store_result scrub_step(struct scrub *scrub, const struct scrub_listener *listener);

#endif
