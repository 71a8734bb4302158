/* Serving: what `lagra` does without a command. */
#ifndef LAGRA_PROGRAM_SERVE_H
#define LAGRA_PROGRAM_SERVE_H

#include "program/options.h"
#include "service/operation.h"

/* In the order of enum service_index. */
extern const struct service *const services[SERVICE_COUNT];

/* Starts the server, serves until a signal ends it, and stops it. Returns the exit status. */
int serve(struct options *options);

#endif
