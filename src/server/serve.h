/* Runs a server. This is what `lagra` does without a command. */
#ifndef LAGRA_SERVER_SERVE_H
#define LAGRA_SERVER_SERVE_H

#include "server/options.h"
#include "service/operation.h"

/* In the order of enum service_index. */
extern const struct service *const services[SERVICE_COUNT];

/* Starts the server, serves until a signal ends it, and stops it. Returns the exit status. */
int serve(struct options *options);

#endif
