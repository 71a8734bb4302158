/* The judge of the Queue service: as judge.h says of blobs. What a commit did is known at the
 * commit (queue_seen.h), and which commits a crash has left by the record engine's sequence number;
 * what can be asked must then be as the model has it.
 *
 * When all is quiet every message that is left is taken, over days, and what expires has to be
 * collected. */
#ifndef LAGRA_SIM_QUEUE_JUDGE_H
#define LAGRA_SIM_QUEUE_JUDGE_H

#include "services.h"

void queue_judge_begin(void);
void queue_begin_life(void);
void queue_requested(unsigned slot, const struct ask *ask);
void queue_committed(unsigned slot);
bool queue_has_committed(unsigned slot);
void queue_answered(unsigned slot, const struct reply *answer, bool may_fail);
bool queue_take_stock(struct server *server, bool may_fail);
void queue_check_end(struct server *server);

/* For scripts: the page behind the last one that the client was shown; `max` is 0 when there is
 * none. */
const struct page_ask *queue_next_page(unsigned client);

#endif
