/* Somebody who waits for something without holding a thread: a node that its owner embeds, and a
 * function called once, from any thread, when the wait is over. The function must be short and must
 * not wait: it usually resumes a suspended exchange. Between arming and wake() the node
 * belongs to whom it was given to; wake() may run before the arming call has returned. */
#ifndef LAGRA_BASE_WAITER_H
#define LAGRA_BASE_WAITER_H

#include <stdint.h>

struct waiter {
    void (*wake)(struct waiter *waiter);
    struct waiter *next; /* of the holder */
    uint64_t sequence;   /* of the holder: what is waited for */
};

#endif
