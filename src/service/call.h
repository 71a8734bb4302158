/* A call: one authorized request in the words of the REST reference, made by routing from the raw
 * HTTP request. Lives in the exchange's arena; read-only once check() of its operation has run. */
#ifndef LAGRA_SERVICE_CALL_H
#define LAGRA_SERVICE_CALL_H

#include "auth/auth.h"
#include "base/gate.h"
#include "base/ids.h"
#include "concurrency/conditions.h"
#include "content/content.h"
#include "http/http.h"

struct operation;
struct service;

struct query_parameter {
    struct bytes name;  /* decoded, lower case */
    struct bytes value; /* decoded */
};

struct call {
    const struct service *service;
    const struct operation *operation;
    const struct request *request;
    struct arena *arena;
    const struct account *account; /* not NULL once the request is authenticated */
    struct bytes account_name;     /* without "-secondary" */
    bool secondary;                /* named with -secondary: reads only */
    bool loose; /* --loose: what is not built yet is ignored where it would be refused */
    /* "http://127.0.0.1:10000/devstoreaccount1": ServiceEndpoint in listings */
    struct bytes url_prefix;
    struct bytes container; /* decoded; ptr NULL at service level. Queue: the queue; and so on */
    struct bytes blob;      /* decoded; ptr NULL above blob level */
    const struct query_parameter *query;
    size_t query_count;
    struct bytes version; /* x-ms-version, "2026-10-06"; dates compare as text */
    struct conditions conditions;
    const struct guid *lease_id; /* x-ms-lease-id, or NULL */
    instant snapshot;            /* ?snapshot=, 0: none */
    struct guid request_id;
    struct body body;    /* complete when decide runs (BODY_MEMORY: inline, however long) */
    bool wants_md5;      /* set by check(): body.md5 is needed */
    bool wants_crc64;    /* as above: body.crc64 */
    uint32_t inline_max; /* bodies up to this stay in memory; check() may lower it */
    void *parameters;    /* the operation's own, set by check() */
    struct gate_request gate;
};

/* Value of a query parameter (name lower case); ptr NULL when absent. */
struct bytes call_query(const struct call *call, const char *name);
/* As request_header(). */
static inline struct bytes call_header(const struct call *call, const char *name)
{
    return request_header(call->request, name);
}
/* x-ms-version is at least this date. */
bool call_since(const struct call *call, const char *version);

#endif
