/* What somebody waits for, once: the answer of an op, or the end of something that takes several. Who waits and
 * who tells hold it, and whoever shares it; the last one to let go frees it. */
#ifndef LAGRA_STORE_RADOS_ARRIVAL_H
#define LAGRA_STORE_RADOS_ARRIVAL_H

#include "base/waiter.h"
#include "store/rados/port.h"

struct arrival;

struct arrival *arrival_new(void);
/* Of who tells, once: the waiter, if any, is woken. */
void arrival_tell(struct arrival *arrival);
/* As arrival_tell(), and arrival_answer() is that of another, which has come. */
void arrival_pass(struct arrival *arrival, struct arrival *answer);
/* Of who waits: the waiter is not woken after this call, if it was not before. */
void arrival_cancel(struct arrival *arrival);
/* For somebody who neither waits nor tells: to be dropped by him too. */
struct arrival *arrival_share(struct arrival *arrival);
/* Of who waits. If there is an op that is answered only later, it is freed then. No waiter may be waiting, unless it is
 * another's, with whom it is shared. */
void arrival_drop(struct arrival *arrival);
bool arrival_has_come(struct arrival *arrival);
/* Wakes the waiter, once, when it has come; perhaps in this call. */
void arrival_wait(struct arrival *arrival, struct waiter *waiter);
/* The next of several that one after the other are held in the same place: drops the one there, takes this, and has `then`
 * woken when it has come. */
void arrival_await(struct arrival **held, struct arrival *arrival, struct waiter *waiter,
                   void (*then)(struct waiter *waiter));
/* On this thread. */
void arrival_block(struct arrival *arrival);

/* An op for arrival_send(). */
struct port_op *arrival_op(void);
/* Sends it: it belongs to what is returned, and can be looked at once that has come. */
struct arrival *arrival_send(struct port *port, const char *object, struct port_op *op);
/* That op, once it has come. */
const struct port_op *arrival_answer(const struct arrival *arrival);

#endif
