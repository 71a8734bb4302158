/* A request at a front end of a cluster with several cells. It is executed here if its container is
 * in the cell that this process owns, and forwarded otherwise. If the cell turns out not to have
 * the container, the request is forwarded to the cell that the root names. Implements an
 * http_application for the services' ports; internal to front.c. */
#ifndef LAGRA_CLUSTER_VISIT_H
#define LAGRA_CLUSTER_VISIT_H

#include "cluster/front.h"

/* Implements http_application.head() for requests that do not concern this process itself. new_at:
 * the door at which the request arrived, in the first call */
enum http_step visit_head(struct exchange *exchange, const struct front_door *new_at);
/* Implement the other functions, once exchange->guide is set. */
enum http_step visit_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step visit_end(struct exchange *exchange);
void visit_done(struct exchange *exchange);

#endif
