/* The collector's queue: dropped spaces, freed pieces, and requests to wait for it. Filled by
 * commits, recovery and reclaim, emptied by the thread of collector.h. */
#ifndef LAGRA_STORE_EMBEDDED_COLLECTOR_QUEUE_H
#define LAGRA_STORE_EMBEDDED_COLLECTOR_QUEUE_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "store/store.h"

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
    atomic_bool stop; /* set with `stopping`: long work ends early */
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

/* Schedules the deletion of the contents of a space. Any thread. */
void collector_add(struct collector *collector, const struct guid *space);
/* Wakes the collector when pieces were freed. context: the collector. Any thread. */
void collector_poke(void *context);
/* Waits until everything that can be collected now has been. */
void collector_wait(struct collector *collector);

#endif
