/* The endpoint of a service: what its requests are executed with. request/ has their path. */
#ifndef LAGRA_SERVICE_SERVER_H
#define LAGRA_SERVICE_SERVER_H

#include <stdatomic.h>

#include "fetch/fetch.h"
#include "service/background.h"
#include "service/decide_pool.h"
#include "service/operation.h"

struct server_options {
    bool product_style_url;  /* account.blob.localhost hosts (default true) */
    bool skip_version_check; /* accept anything as x-ms-version */
    bool no_public_access;   /* containers cannot be opened to the public, and none is */
    bool loose;              /* ignore unknown headers and parameters that are refused otherwise */
    uint64_t rehydrate_seconds; /* how long an archived blob takes to come back */
    bool always_wait;           /* test builds: decide as if nothing were in memory at first */
};

struct endpoint;
struct other_cells;
struct peers;
struct task_runner;

/* All services that a process serves. */
#define ENDPOINTS_MAX 4
struct endpoint_set {
    const struct endpoint *endpoints;
    size_t count;
    atomic_uint ports[ENDPOINTS_MAX]; /* that they listen on; 0: not yet */
    atomic_bool is_stopping;          /* says that it is not ready, and serves as ever */
    struct task_runner *tasks;        /* NULL: none runs */
};

/* What request.listener_tag points to. */
struct endpoint {
    const struct service *service;
    const struct endpoint_set *all; /* NULL: it is the only one */
    struct store *store;
    struct store *secondary; /* what the secondary endpoint shows of it; NULL: the same */
    const struct accounts *accounts;
    const struct trust_holder *trust; /* NULL: no bearer tokens */
    const struct server_options *options;
    struct decide_pool *pool;
    struct fetcher *fetcher;       /* of sources on other servers; NULL: none */
    struct background *background; /* NULL: none */
    struct peers *peers;           /* owners of other cells; NULL: none can be asked */
    struct route *places; /* of a root cell: chooses cells for new containers; NULL: created here */
    const struct other_cells *cells; /* of a root cell; NULL: there are no other cells */
    struct decide_pool *gather_pool; /* of what may take long: gathering, copies; NULL: `pool` */
};

/* Returns the endpoint of a service, or NULL if there is none of that name. */
const struct endpoint *endpoint_find(const struct endpoint_set *all, struct bytes service);

#endif
