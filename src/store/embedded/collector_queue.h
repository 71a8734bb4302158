/* What the collector is to do: dropped spaces, freed pieces, questions whether it is done. Filled
 * by commits, recovery and reclaim, emptied by the thread of collector.h. */
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
/* Gives back the room of an empty list that was long. */
void space_list_trim(struct space_list *list);

struct collector {
    struct embedded *embedded;
    struct thread thread;
    atomic_bool stop; /* set with `stopping`: long work ends early */
    struct lock lock;
    pthread_cond_t work;
    pthread_cond_t answer;
    struct space_list spaces;    /* dropped, contents still there; under lock */
    struct space_list postponed; /* could not be read just now; of the thread */
    uint64_t retry_ms;           /* when these are tried again; CLOCK_MONOTONIC */
    uint64_t given_back; /* the sequence when records last gave back their space; of the thread */
    uint64_t given_back_ms;
    uint64_t round_ms;        /* when the last round of spaces ended; of the thread */
    bool poked;               /* freed pieces were added, or the disk is low; under lock */
    bool stopping;            /* under lock */
    uint64_t asked, answered; /* rounds asked for by collector_wait(); under lock */
};

void collector_init(struct collector *collector, struct embedded *embedded);
void collector_release(struct collector *collector);

/* The contents of this space may go. Any thread. */
void collector_add(struct collector *collector, const struct guid *space);
/* There are freed pieces. context: the collector. Any thread. */
void collector_poke(void *context);
/* Waits until all that can be collected now is. */
void collector_wait(struct collector *collector);

#endif
