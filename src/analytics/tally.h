/* Counts of the requests in an hour or a minute, and the entity that stores them.
 * rest: Storage-Analytics-Metrics-Table-Schema */
#ifndef LAGRA_ANALYTICS_TALLY_H
#define LAGRA_ANALYTICS_TALLY_H

#include "observe/analytics_event.h"

struct tally {
    uint64_t ingress, egress; /* bytes including headers */
    uint64_t counts[ANALYTICS_OUTCOMES][ANALYTICS_WHO];
    double e2e_ms, server_ms; /* sums over successful requests */
};

void tally_count(struct tally *tally, const struct analytics_event *event);
/* Returns the entity without its keys, as JSON. */
struct bytes tally_write(struct arena *arena, const struct tally *tally);
/* Adds the counts in an entity. Returns false if it is malformed. */
bool tally_read(struct arena *arena, struct bytes json, struct tally *tally);

#endif
