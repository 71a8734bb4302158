/* What is counted of the requests of an hour or a minute, and the entity that it is stored as.
 * rest: Storage-Analytics-Metrics-Table-Schema */
#ifndef LAGRA_ANALYTICS_TALLY_H
#define LAGRA_ANALYTICS_TALLY_H

#include "service/analytics_event.h"

struct tally {
    uint64_t ingress, egress; /* bytes, those of heads too */
    uint64_t counts[ANALYTICS_OUTCOMES][ANALYTICS_WHO];
    double e2e_ms, server_ms; /* sums over those that succeeded */
};

void tally_count(struct tally *tally, const struct analytics_event *event);
/* The entity without its keys, as JSON. */
struct bytes tally_write(struct arena *arena, const struct tally *tally);
/* Adds what an entity says. returns false: malformed */
bool tally_read(struct arena *arena, struct bytes json, struct tally *tally);

#endif
