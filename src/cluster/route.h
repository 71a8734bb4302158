/* Where the requests of a front end go that does not own the cell: the owner, as the record in the cell's file `owner` names
 * it. The main thread passes on what the candidate's thread has read; workers look it up here, and never wait for a
 * file system. */
#ifndef LAGRA_CLUSTER_ROUTE_H
#define LAGRA_CLUSTER_ROUTE_H

#include "base/address.h"
#include "base/lock.h"
#include "base/waiter.h"
#include "cluster/owner_record.h"
#include "http/http.h"

/* The internal endpoint of a cell's owner. */
struct owner_target {
    uint32_t cell;
    uint64_t incarnation;
    uint8_t address[ADDRESS_SIZE];
    uint16_t port;
};

struct route {
    struct lock lock; /* RANK_CELLS */
    /* Under lock. */
    bool is_open;    /* the front end stands by */
    bool has_target; /* there is an owner that renews its lease and can be reached */
    struct owner_target target;
    uint64_t refused;       /* incarnation that has left the cell, whatever the record says */
    uint64_t asked_ns;      /* start of the last read of the record, by clock_boot_ns() */
    struct waiter *waiting; /* for another read */
    uint64_t woken_ns;      /* the main thread's */
};

enum route_found {
    ROUTE_FOUND,
    ROUTE_NO_OWNER, /* for now */
    ROUTE_CLOSED,   /* the front end stands by no more */
};

void route_init(struct route *route);
/* Returns the owner that a request goes to. It will be found by the account and the name in the request's path once there
 * are several cells; today there is one.
 *
 * ret_asked_ns  when the last read of its record started, by clock_boot_ns() */
enum route_found route_find(struct route *route, const struct request *request,
                            struct owner_target *ret_target, uint64_t *ret_asked_ns);
/* Wakes the waiter after the record was read once more, or after half a second. It may be woken before this returns.
 * Thread-safe. */
void route_wait(struct route *route, struct waiter *waiter);
/* Notes the cell's record, or NULL if its owner is not known or does not renew its lease, and when the last read of it
 * started. Returns true if requests go to another incarnation than before. Main thread, several times a second. */
bool route_saw(struct route *route, const struct owner_record *record, uint64_t asked_ns);
/* Notes that the owner of this incarnation refuses all requests, because it leaves the cell. Thread-safe. */
void route_refused(struct route *route, uint64_t incarnation);
/* Wakes all waiters. Thread-safe. */
void route_wake(struct route *route);
/* Nothing is forwarded any more. Main thread. */
void route_close(struct route *route);

#endif
