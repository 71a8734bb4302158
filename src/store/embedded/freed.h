/* Pieces freed by commits. They wait until the commit is durable and no reader can see them
 * (stripes.h); then reclaim.h returns them to the file system. And the queue of the collector. */
#ifndef LAGRA_STORE_EMBEDDED_FREED_H
#define LAGRA_STORE_EMBEDDED_FREED_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "store/store.h"

struct freed_piece {
    uint32_t extent;
    uint32_t length;
    uint64_t offset;
};

/* Pieces freed by one commit. */
struct freed {
    struct freed *next;
    uint64_t sequence; /* of the commit; 0 means no commit ever referred to these pieces */
    size_t count;
    struct freed_piece pieces[];
};

struct reclaim {
    struct lock lock;
    struct freed *waiting;        /* under lock */
    void (*added)(void *context); /* called without the lock */
    void *context;
    _Atomic uint64_t pending_bytes; /* freed, but not yet returned or even passed to reclaim */
    _Atomic size_t under_way;       /* freed by commits, not yet completely returned or retained */
    /* Durable and unseen, but in extents held by a backup (extents.h). Used by the collector. */
    struct freed_piece *kept;
    size_t kept_count, kept_capacity;
};

void reclaim_init(struct reclaim *reclaim, void (*added)(void *context), void *context);
/* Discards the waiting lists; the next start finds their pieces by the index of pieces. */
void reclaim_release(struct reclaim *reclaim);

/* Allocates an empty list with space for some pieces. */
struct freed *freed_new(size_t room);
/* Counts the list as pending; called when its commit is done. */
void freed_count(struct reclaim *reclaim, const struct freed *freed);
/* Removes from the list a piece that is not returned now. */
void freed_uncount(struct reclaim *reclaim, const struct freed_piece *piece);
/* Takes over a list, if not NULL. Thread-safe. */
void reclaim_add(struct reclaim *reclaim, struct freed *freed);

/* The collector's queue: dropped spaces, freed pieces, and requests to wait for it. Filled by
 * commits, recovery and reclaim, emptied by the thread of collector.h. */

struct embedded;

struct space_list {
    struct guid *ids;
    size_t count, capacity;
};
void space_list_add(struct space_list *list, const struct guid *space);
/* Frees the memory of an empty list that was long. */
void space_list_trim(struct space_list *list);

struct collector {
    struct embedded *embedded;
    struct thread thread;
    atomic_bool stop; /* set with `stopping`, to end long work early */
    struct lock lock;
    pthread_cond_t work;
    pthread_cond_t answer;
    struct space_list spaces;    /* dropped, but not deleted yet; under lock */
    struct space_list postponed; /* could not be read; used by the thread */
    uint64_t retry_ms;           /* when to retry these; CLOCK_MONOTONIC */
    /* the sequence when records last gave back their space; used by the thread */
    uint64_t given_back;
    uint64_t given_back_ms;
    uint64_t round_ms;        /* when the last round of spaces ended; used by the thread */
    bool poked;               /* pieces were freed, or disk space is low; under lock */
    bool stopping;            /* under lock */
    uint64_t asked, answered; /* rounds requested by collector_wait(); under lock */
};

void collector_init(struct collector *collector, struct embedded *embedded);
void collector_release(struct collector *collector);

/* Schedules the deletion of the contents of a space. Thread-safe. */
void collector_add(struct collector *collector, const struct guid *space);
/* Wakes the collector when pieces were freed. context: the collector. Thread-safe. */
void collector_poke(void *context);
/* Waits until everything that can be collected now has been. */
void collector_wait(struct collector *collector);

#endif
