/* Scrubs the store of a running server (store/scrub.h): a low-priority thread reads everything at a
 * limited rate, periodically or on request, and logs corruption. Its progress is stored in the data
 * directory, so a pass resumes after a restart.
 *
 *   scrub   "lagra scrub 1", start, bytes, records, errors, end and errors of the last pass,
 *           position (hex), one per line; the last line has the CRC-32C of the others. A corrupt
 *           file is ignored. */
#ifndef LAGRA_ADMIN_SCRUBBER_H
#define LAGRA_ADMIN_SCRUBBER_H

#include "base/dates.h"
#include "base/lock.h"
#include "base/thread.h"
#include "store/scrub.h"

#define SCRUB_RATE_DEFAULT ((uint64_t)16 << 20) /* bytes per second */

struct scrub_options {
    struct store *store;
    const char *location; /* data directory */
    /* Interval between the end of a pass and the start of the next; 0 means only on request. */
    uint64_t every_ms;
    uint64_t rate; /* maximum bytes per second */
    /* Writes the name of a corrupt record for the log. */
    void (*describe)(void *context, const struct record_place *place, char *name, size_t size);
    void *context;
};

struct scrub_state {
    bool is_running;
    instant began;                   /* start of the current or last pass; 0 if never started */
    uint64_t bytes, records, errors; /* of that pass */
    instant last_end;                /* 0 if none has ended */
    uint64_t last_errors;
    uint64_t ended; /* number of passes ended in this process */
};

struct scrubber;
/* Returns NULL if no thread could be started. */
struct scrubber *scrubber_start(const struct scrub_options *options);
/* Interrupts and ends the thread. Call before closing the store. */
void scrubber_stop(struct scrubber *scrubber);

#endif
