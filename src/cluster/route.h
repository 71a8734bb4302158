/* Where requests go that are for a cell that this process does not own: its owner, as the record in the cell's file `owner`
 * names it. One thread passes on what the candidates' threads have read; workers look it up here, and never wait for a
 * file system. */
#ifndef LAGRA_CLUSTER_ROUTE_H
#define LAGRA_CLUSTER_ROUTE_H

#include <stdatomic.h>

#include "base/address.h"
#include "base/lock.h"
#include "base/waiter.h"
#include "cluster/folder.h"
#include "cluster/owner_record.h"
#include "cluster/pins.h"

/* The internal endpoint of a cell's owner. */
struct owner_target {
    uint32_t cell;
    uint64_t incarnation;
    uint8_t address[ADDRESS_SIZE];
    uint16_t port;
};

/* A cell of the cluster. */
struct route_cell {
    uint32_t cell;
    bool is_ours;    /* this process owns it */
    bool has_target; /* there is an owner that renews its lease and can be reached */
    struct owner_target target;
    uint64_t refused;    /* incarnation that has left the cell, whatever the record says */
    uint64_t asked_ns;   /* start of the last read of the record, by clock_boot_ns() */
    uint64_t used_bytes; /* of the cell, as its owner counts them */
};

struct route {
    struct lock lock; /* RANK_CELLS */
    /* Under lock. */
    bool is_open;
    unsigned count;
    struct route_cell cells[CLUSTER_CELLS_MAX]; /* by number */
    struct waiter *waiting;                     /* for another read */
    uint64_t woken_ns;
    struct pins *pins;      /* under lock; NULL: none are known yet */
    atomic_bool is_divided; /* there are several cells */
};

enum route_found {
    ROUTE_FOUND,
    ROUTE_NO_OWNER, /* for now; also of a cell that is not known yet */
    ROUTE_CLOSED,   /* nothing is forwarded any more */
};

void route_init(struct route *route);
/* Adds a cell, unless it is known. Thread-safe. */
void route_add(struct route *route, uint32_t cell);
/* Copies the numbers of all cells, sorted. Returns how many. Thread-safe. */
unsigned route_cells(struct route *route, uint32_t cells[CLUSTER_CELLS_MAX]);
/* Returns true if there are several cells. Thread-safe. */
bool route_is_divided(struct route *route);
/* Returns true if this process owns the cell. Thread-safe. */
bool route_is_ours(struct route *route, uint32_t cell);
/* Returns the owner that requests for a cell go to. Thread-safe.
 *
 * ret_asked_ns  when the last read of its record started, by clock_boot_ns() */
enum route_found route_find(struct route *route, uint32_t cell, struct owner_target *ret_target,
                            uint64_t *ret_asked_ns);
/* Returns the cell for a new container of the account, or 0 for the root: the one that it is pinned to, even if that is missing
 * or has no owner, unless that is drained; or else the one with the fewest bytes of those that have an owner and are not drained.
 * Thread-safe. */
uint32_t route_choose(struct route *route, struct bytes account);
/* Returns the cell with the fewest bytes of those that have an owner and are not drained, or 0. Thread-safe. */
uint32_t route_least_used(struct route *route, const struct pins *pins);
/* Replaces the pins, which the route then owns. Thread-safe. */
void route_set_pins(struct route *route, struct pins *pins);
/* Frees the pins, once no request is executed any more. */
void route_release(struct route *route);
/* Notes how many bytes our own cell has. Thread-safe. */
void route_set_used(struct route *route, uint32_t cell, uint64_t used_bytes);
/* Wakes the waiter after a record was read once more, or after half a second. It may be woken before this returns.
 * Thread-safe. */
void route_wait(struct route *route, struct waiter *waiter);
/* Notes a cell's record, or NULL if its owner is not known or does not renew its lease, and when the last read of it
 * started. Returns true if requests go to another incarnation than before. Called several times a second, by one thread. */
bool route_saw(struct route *route, uint32_t cell, const struct owner_record *record,
               uint64_t asked_ns);
/* This process owns the cell from now on, and what others would forward goes to its own internal endpoint. Wakes all waiters.
 * Thread-safe. */
void route_take(struct route *route, const struct owner_record *record);
/* Notes that the owner of this incarnation refuses all requests for the cell, because it leaves it. Thread-safe. */
void route_refused(struct route *route, uint32_t cell, uint64_t incarnation);
/* Wakes all waiters. Thread-safe. */
void route_wake(struct route *route);
/* Nothing is forwarded any more. Main thread. */
void route_close(struct route *route);

/* Returns the tag of connections to an owner (net_peer.tag): those of one cell are ordered by incarnation, and are all below
 * route_tag(cell + 1, 0). */
uint64_t route_tag(uint32_t cell, uint64_t incarnation);

#endif
