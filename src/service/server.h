/* Endpoint of a service: everything that its requests need. request/ processes them. */
#ifndef LAGRA_SERVICE_SERVER_H
#define LAGRA_SERVICE_SERVER_H

#include <stdatomic.h>

#include "fetch/fetch.h"
#include "service/background.h"
#include "service/decide_pool.h"
#include "service/operation.h"

struct server_options {
    bool product_style_url;  /* account.blob.localhost hosts (default true) */
    bool skip_version_check; /* accept any x-ms-version */
    bool no_public_access;   /* containers cannot allow public access */
    bool loose;              /* ignore unknown headers and parameters that are otherwise refused */
    uint64_t rehydrate_seconds; /* time to rehydrate an archived blob */
    bool always_wait;           /* test builds: first decide as if nothing were in memory */
};

struct endpoint;
struct other_cells;
struct peers;
struct task_runner;
struct usage_survey;

/* All services of a process. */
#define ENDPOINTS_MAX 5
struct endpoint_set {
    const struct endpoint *endpoints;
    size_t count;
    atomic_uint ports[ENDPOINTS_MAX]; /* listening ports; 0 if not listening yet */
    atomic_bool is_stopping;          /* reports not ready, but still serves requests */
    struct task_runner *tasks;        /* NULL if not running */
    struct usage_survey *usage;       /* for other cells; NULL if none is served */
};

/* request.listener_tag points to an endpoint. */
struct endpoint {
    const struct service *service;
    const struct endpoint_set *all; /* NULL if it is the only one */
    struct store *store;
    struct store *secondary; /* state shown by the secondary endpoint; NULL for `store` */
    const struct accounts *accounts;
    const struct trust_holder *trust; /* NULL if bearer tokens are disabled */
    const struct server_options *options;
    struct decision_pool *pool;
    struct fetcher *fetcher;       /* for sources on other servers; NULL if disabled */
    struct background *background; /* NULL if none */
    struct peers *peers;           /* owners of other cells; NULL if none can be reached */
    /* in a root cell: chooses cells for new containers; NULL to create them here */
    struct route *places;
    const struct other_cells *cells;   /* in a root cell; NULL if there are no other cells */
    struct decision_pool *gather_pool; /* for long work: gathering, copies; NULL for `pool` */
};

/* Returns the endpoint of the service with this name, or NULL if none exists. */
const struct endpoint *endpoint_find(const struct endpoint_set *all, struct bytes service);
/* Returns the endpoint with this label of a host name ("blob" in account.blob.localhost) if it has
 * the same data as `endpoint`, or NULL. */
const struct endpoint *endpoint_labelled(const struct endpoint *endpoint, struct bytes label);
/* Returns the endpoint that serves a request: the host name's endpoint if it has the same data as
 * the port's (account.dfs.localhost at the Blob service's port), otherwise the port's. A request in
 * the protocol of the service that has the data is served by that service. decision: 1200 */
const struct endpoint *endpoint_of_request(const struct endpoint *endpoint,
                                           const struct request *request);

#endif
