/* Routes requests for cells that this process does not own: finds each cell's owner, as named by
 * the record in the cell's file `owner`. One thread publishes the records read by the candidates'
 * threads. Workers look them up here and never wait for a file system. */
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
    uint64_t renewed_ns; /* last renewal that was read, by the owner's clock */
    unsigned version;    /* version of the protocol used with the owner */
};

/* A cell of the cluster. */
struct route_cell {
    uint32_t cell;
    bool is_ours;    /* owned by this process */
    bool has_target; /* it has an owner that renews its lease and understands our requests */
    bool serves;     /* the owner executes requests */
    struct owner_target target;
    uint64_t refused;            /* last incarnation known to have left the cell */
    uint64_t asked_ns;           /* start of the last read of the record, by clock_boot_ns() */
    uint64_t used_bytes;         /* of the cell, as counted by its owner */
    char smb[OWNER_SMB_MAX + 1]; /* of the owner; "" if none */
};

struct route {
    struct lock lock; /* RANK_CELLS */
    /* Protected by the lock. */
    bool is_open;
    unsigned count;
    struct route_cell cells[CLUSTER_CELLS_MAX]; /* sorted by number */
    struct waiter *waiting;                     /* waiters for another read of a record */
    uint64_t woken_ns;
    struct pins *pins;      /* protected by the lock; NULL if not read yet */
    atomic_bool is_divided; /* the cluster has several cells */
};

enum route_found {
    ROUTE_FOUND,
    ROUTE_NO_OWNER, /* no owner for now, or the cell is not known yet */
    ROUTE_CLOSED,   /* nothing is forwarded any more */
};

void route_init(struct route *route);
/* Adds a cell, unless it exists. Thread-safe. */
void route_add(struct route *route, uint32_t cell);
/* Copies the numbers of all cells, sorted. Returns their number. Thread-safe. */
unsigned route_cells(struct route *route, uint32_t cells[CLUSTER_CELLS_MAX]);
/* Returns true if there are several cells. Thread-safe. */
bool route_is_divided(struct route *route);
/* Returns true if this process owns the cell. Thread-safe. */
bool route_is_ours(struct route *route, uint32_t cell);
/* Copies the numbers of the cells without an owner that executes requests, sorted. Returns their
 * number. Thread-safe. */
unsigned route_unserved(struct route *route, uint32_t cells[CLUSTER_CELLS_MAX]);
/* Finds the owner to which requests for a cell are sent. Thread-safe.
 *
 * ret_asked_ns  start of the last read of its record, by clock_boot_ns() */
enum route_found route_find(struct route *route, uint32_t cell, struct owner_target *ret_target,
                            uint64_t *ret_asked_ns);
/* Returns true if the last read of the cell's record shows that this incarnation has no lease any
 * more. Thread-safe. */
bool route_has_lost(struct route *route, uint32_t cell, uint64_t incarnation);
/* Copies the host to which SMB clients are referred for a cell of another owner. Returns false if
 * the cell has no owner, or its owner does not serve SMB. Thread-safe. */
bool route_find_smb(struct route *route, uint32_t cell, char ret_host[OWNER_SMB_MAX + 1]);
/* Chooses the cell for a new container of the account; 0 means the root cell. Returns the cell to
 * which the account is pinned, even if it is missing or has no owner, unless it is drained.
 * Otherwise returns the cell with the fewest bytes among those that have an owner and are not
 * drained. Thread-safe. */
uint32_t route_choose(struct route *route, struct bytes account);
/* Returns the cell with the fewest bytes among those that have an owner and are not drained, or 0
 * if there is none. Thread-safe. */
uint32_t route_least_used(struct route *route, const struct pins *pins);
/* Replaces the pins, taking ownership of them. Thread-safe. */
void route_set_pins(struct route *route, struct pins *pins);
/* Frees the pins, once no request is being executed. */
void route_release(struct route *route);
/* Sets the number of bytes in our own cell. Thread-safe. */
void route_set_used(struct route *route, uint32_t cell, uint64_t used_bytes);
/* Wakes the waiter after the next read of a record, or after half a second. It may be woken before
 * this returns. Thread-safe. */
void route_wait(struct route *route, struct waiter *waiter);
/* Stores the result of the last read of a cell's record, which started at `asked_ns`. `record` is
 * NULL if the owner is unknown or does not renew its lease. Returns true if the requests' target
 * changes to another incarnation. Called several times a second, by one thread. */
bool route_saw(struct route *route, uint32_t cell, const struct owner_record *record,
               uint64_t asked_ns);
/* Marks the cell as owned by this process; until the store is open, requests of this process for
 * the cell go to its own internal endpoint. Wakes all waiters. Thread-safe. */
void route_take(struct route *route, const struct owner_record *record);
/* Records that the owner with this incarnation is leaving the cell; from now on that owner refuses
 * requests for it. Thread-safe. */
void route_refused(struct route *route, uint32_t cell, uint64_t incarnation);
/* Wakes all waiters. Thread-safe. */
void route_wake(struct route *route);
/* Stops all forwarding. Main thread. */
void route_close(struct route *route);
/* Finds owners again after route_close(), for requests of this process. Called on the main thread
 * once no server forwards any more. */
void route_reopen(struct route *route);

/* Returns the tag of connections to an owner (net_peer.tag). Tags of one cell are ordered by
 * incarnation, and are all below route_tag(cell + 1, 0). */
uint64_t route_tag(uint32_t cell, uint64_t incarnation);

#endif
