/* Seeding: what a server has before it is ready, from options and from files (docs/seeding.md). What is there already
 * is left as it is, so that every start may seed again; what a start that was killed has begun is done anew.
 *
 * It is made by requests of the services that the server makes to itself (service/own_request.h). Start-up thread, which
 * waits for the disk. */
#ifndef LAGRA_SEED_SEED_H
#define LAGRA_SEED_SEED_H

#include "service/server.h"

struct seed_options {
    const char *path; /* a file of JSON, or a folder of such; NULL: none */
    /* Names with commas between; NULL: none. */
    const char *containers;
    const char *queues;
    const char *tables;
    const char *shares;
};

/* accounts: those of the endpoints, to which accounts may be added. False after saying on stderr why not, and where. */
bool seed_run(const struct seed_options *options, const struct endpoint_set *endpoints,
              struct accounts *accounts);

#endif
