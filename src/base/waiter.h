/* Waits for an event without occupying a thread: a node that its owner embeds, with a function
 * that is called once, on any thread, when the event has happened. The function must be short
 * and must not block; it usually resumes a suspended exchange. Between arming and wake() the
 * node belongs to the module that it was passed to; wake() may run before the arming call has
 * returned. */
#ifndef LAGRA_BASE_WAITER_H
#define LAGRA_BASE_WAITER_H

#include <stdint.h>

struct waiter {
    void (*wake)(struct waiter *waiter);
    /* ---- owned by the module that the waiter was passed to ---- */
    struct waiter *next;
    /* points to the pointer to this waiter; NULL if it is not in a doubly linked list */
    struct waiter **link;
    void *place;       /* the list, if there are several */
    uint64_t sequence; /* sequence or time for which it waits */
};

#endif
