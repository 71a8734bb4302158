/* Reading all of a store while it serves, to find what its disk has lost before somebody asks for it: every record,
 * and the bytes of every piece against their CRCs, read from the disk and not from memory where the file system can
 * (O_DIRECT). The embedded store only.
 *
 * Records are read in the order of their keys, a few at a time, so a scrub can stop and go on at a place later, also
 * in another process. What is changed meanwhile may be read or not: what is written is checked by the next pass. */
#ifndef LAGRA_STORE_SCRUB_H
#define LAGRA_STORE_SCRUB_H

#include "store/inspect.h"

struct scrub_listener {
    /* place: valid during the call. what: words, "some of its bytes are damaged" */
    void (*damaged)(void *context, const struct record_place *place, const char *what);
    /* So many bytes have been read: waits as long as it likes. False: the step is to end */
    bool (*read)(void *context, uint64_t bytes);
    void *context;
};

/* Where a scrub goes on. Belongs to one thread at a time. */
struct scrub;
/* place: of scrub_place(), of a scrub before; empty: from the beginning. */
struct scrub *scrub_open(struct store *store, struct bytes place);
void scrub_close(struct scrub *scrub);
/* Opaque; changes with each step. Empty: at the beginning. */
struct bytes scrub_place(const struct scrub *scrub);
uint64_t scrub_records(const struct scrub *scrub);

/* Reads some records and what they refer to: as many as take some milliseconds, but for what the listener waits.
 * Waits for the disk.
 * returns STORE_OK         there are more
 *         STORE_NOT_FOUND  that were all
 *         STORE_CORRUPT    the records behind this place cannot be read: reported, the pass is over */
enum store_result scrub_step(struct scrub *scrub, const struct scrub_listener *listener);

#endif
