/* The scrub of a running server (store/scrub.h): a thread that gives way to those that serve, reads everything at a
 * limited speed now and then or when it is asked to, and logs what is damaged. How far it is lies in the data
 * folder, so a pass goes on after a restart.
 *
 *   scrub   "lagra scrub 1", began, bytes, records, errors, last end, its errors, place (hex): a line each; a last
 *           line with the CRC-32C of those before. A file that is damaged says nothing. */
#ifndef LAGRA_ADMIN_SCRUBBER_H
#define LAGRA_ADMIN_SCRUBBER_H

#include "base/dates.h"
#include "base/lock.h"
#include "base/thread.h"
#include "store/scrub.h"

#define SCRUB_RATE_DEFAULT ((uint64_t)16 << 20) /* bytes a second */

struct scrub_options {
    struct store *store;
    const char *location; /* data folder */
    /* A pass begins so long after the end of the last one; 0: when it is asked for */
    uint64_t every_ms;
    uint64_t rate; /* at most so many bytes a second */
    /* Writes the name of what is damaged, for the log. */
    void (*describe)(void *context, const struct record_place *place, char *name, size_t size);
    void *context;
};

struct scrub_state {
    bool is_running;
    instant began;                   /* the pass that runs, or the last one; 0: none */
    uint64_t bytes, records, errors; /* of it */
    instant last_end;                /* 0: none has ended */
    uint64_t last_errors;
    uint64_t ended; /* passes, in this process */
};

struct scrubber;
/* NULL: no thread. */
struct scrubber *scrubber_start(const struct scrub_options *options);
/* Ends it where it is. Before the store is closed. */
void scrubber_stop(struct scrubber *scrubber);
/* Begins a pass, unless one runs. rate: of this pass, or from now on of the one that runs; 0: it stays as it is, at
 * first as the options say. Any thread, as the next. */
void scrubber_ask(struct scrubber *scrubber, uint64_t rate);
struct scrub_state scrubber_state(struct scrubber *scrubber);

#endif
