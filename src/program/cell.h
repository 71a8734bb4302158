/* The cell of a front end (--cluster): standing by until one can be owned, and giving it up. See
 * docs/cells.md for what operators see of it. */
#ifndef LAGRA_PROGRAM_CELL_H
#define LAGRA_PROGRAM_CELL_H

#include "cluster/front.h"
#include "cluster/owner.h"
#include "program/options.h"
#include "program/signals.h"

struct cell {
    struct owner owner;
    struct front front;
    struct front_door doors[SERVICE_COUNT];
    struct http_application application; /* of the doors */
    uint64_t serves_from_ns;             /* when the lease of the owner before has ended */
    char *location;                      /* of its data folder, or NULL if no cell is owned */
};

enum cell_result {
    CELL_OWNED,
    CELL_STOPPED, /* a signal ended the wait */
    CELL_FAILED,  /* said why on stderr */
};

/* Prepares the doors of the services. application: of all services. Main thread. */
void cell_init(struct cell *cell, const struct http_application *application);
/* Waits until a cell is owned: one that is free, or whose owner has died, or was fenced by
 * --fenceCommand after it went silent. The listeners may run already; they answer 503.
 *
 * blob_port  that others are told
 * Main thread, which handles signals meanwhile. */
enum cell_result cell_acquire(struct cell *cell, const struct options *options, uint16_t blob_port,
                              const struct signal_watch *signals);
/* Serves: waits until the lease of the owner before has ended, and has the doors pass requests on.
 * tags: of the services. Main thread. */
void cell_serve(struct cell *cell, void *const tags[SERVICE_COUNT]);
/* Gives the cell up, if one is owned. The store is closed. Main thread. */
void cell_release(struct cell *cell);

#endif
