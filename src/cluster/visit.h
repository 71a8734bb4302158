/* A request at a front end of a cluster with several cells: it is executed here, if its container is in the cell that this
 * process owns, or forwarded. Where the cell turns out not to have the container, the request is forwarded after all, to
 * where the root says that it is. An http_application for the ports of the services; internal to front.c. */
#ifndef LAGRA_CLUSTER_VISIT_H
#define LAGRA_CLUSTER_VISIT_H

#include "cluster/front.h"

/* As http_application.head(), for requests that are not about this process. new_at: the door at which it has arrived, in
 * the first call */
enum http_step visit_head(struct exchange *exchange, const struct front_door *new_at);
/* The others, where exchange->guide is not NULL. */
enum http_step visit_body(struct exchange *exchange, struct bytes data, size_t *ret_taken);
enum http_step visit_end(struct exchange *exchange);
void visit_done(struct exchange *exchange);

#endif
