/* Seeding: initial resources from options and files (docs/initial-data.md), created before the
 * server is ready. Existing ones are left unchanged, so that every start may seed again; resources
 * left incomplete by a killed start are created again.
 *
 * Resources are created by internal requests to the services (request/internal_request.h). Called
 * on the startup thread; blocks on disk I/O. */
#ifndef LAGRA_SEED_SEED_H
#define LAGRA_SEED_SEED_H

#include "service/server.h"

struct seed_options {
    const char *path; /* a JSON file, or a directory of such files; NULL if none */
    /* Names separated by commas; NULL if none. */
    const char *containers;
    const char *queues;
    const char *tables;
    const char *shares;
    bool hierarchical; /* kind of new accounts whose kind the file does not specify */
};

/* Seeds the server. accounts: those of the endpoints, to which accounts may be added. Returns false
 * after printing the problem and its position to stderr. */
bool seed_run(const struct seed_options *options, const struct endpoint_set *endpoints,
              struct accounts *accounts);

#endif
