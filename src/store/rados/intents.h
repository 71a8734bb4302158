/* The numbers that a front end gives to its pieces. They are reserved in the cluster, INTENT_NUMBERS at a time, before one is
 * used (front_end_rows.h): so whoever finds that the front end has died knows where to look for pieces that no commit
 * names. An intent goes when each of its numbers is settled: its piece is committed, or deleted. Any thread. */
#ifndef LAGRA_STORE_RADOS_INTENTS_H
#define LAGRA_STORE_RADOS_INTENTS_H

#include "store/rados/arrival.h"
#include "store/store.h"

/* After a reservation that failed so long nothing is tried. */
#define INTENTS_PAUSE_MS 500u

struct intents;
/* records: the pool. */
struct intents *intents_new(struct port *records, uint32_t incarnation);
/* Nothing may be under way. */
void intents_free(struct intents *intents);
/* The next number. Never waits.
 * *ret_arrival  of STORE_WAIT: to be waited for, and dropped; then the same call again
 * returns       STORE_OK; STORE_WAIT; STORE_FULL: the pool is; STORE_IO: it cannot be reserved, or others have taken this
 *               front end for dead: logged */
enum store_result intents_take(struct intents *intents, uint64_t *ret_number,
                               struct arrival **ret_arrival);
/* The piece of that number is committed, or deleted, or was never written. */
void intents_settle(struct intents *intents, uint64_t number);
/* Until nothing is under way. */
void intents_wait(struct intents *intents);

#endif
