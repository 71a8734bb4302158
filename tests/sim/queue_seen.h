/* What the server decided: the instant of its decision and the messages that it was about, as the
 * decide functions returned them. So the judge knows at a commit which messages a get has taken,
 * though its answer comes later, or never; that the answer says the same is judged when it
 * comes. */
#ifndef LAGRA_SIM_QUEUE_SEEN_H
#define LAGRA_SIM_QUEUE_SEEN_H

#include "queue_ask.h"

struct queue_seen {
    bool decided;
    uint64_t now;    /* instant: 100 ns since the year 1 */
    uint64_t passed; /* the same, as visibility and expiry go */
    unsigned count;
    unsigned char ids[MESSAGES_SHOWN][MESSAGE_ID_SIZE];
};

/* Of the last decision for the client. */
const struct queue_seen *queue_seen(unsigned slot);
void queue_seen_clear(unsigned slot);
/* What times are shown later by now. */
uint64_t queue_seen_shift(void);

#endif
