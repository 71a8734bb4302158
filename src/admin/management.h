/* What operators ask the server itself, on a port of its own:
 *
 *   GET /metrics   everything that is counted, in Prometheus' text form. docs/metrics.md lists it
 *   /, /console/.. the web console, which has sessions of its own (console/console.h). What only operators may ask
 *                  there, POST /console/api/admin/OPERATION, is an operation of admin.h
 *   GET /-/live, /-/ready   as at the services, without a token
 *   /-/..          with --testing: what tests of clients ask (testing.h)
 *
 * Requests of other sites' pages are refused (http/site.h, decision 551).
 * On loopback everybody on the machine may ask; on other addresses, and wherever a token is given, only who
 * sends `Authorization: Bearer TOKEN`. */
#ifndef LAGRA_ADMIN_MANAGEMENT_H
#define LAGRA_ADMIN_MANAGEMENT_H

#include "admin/admin.h"
#include "admin/usage_survey.h"
#include "console/console.h"
#include "http/http.h"
#include "service/deferred_tasks.h"

/* Answers at a time that the kernel sends from a file: of blobs that the console shows. */
#define MANAGEMENT_FILES_MAX   8u
/* A shorter token is guessed. */
#define MANAGEMENT_TOKEN_LEAST 16u

/* The tag of a server of this application (http_start()). */
struct management {
    struct store *store;
    struct usage_survey *usage;
    const struct endpoint_set *endpoints;
    struct http_server *const *servers; /* of the endpoints, in their order; NULL: not served */
    struct console *console;            /* NULL: it is not served */
    const struct admin *admin;          /* whom the console passes operators on to */
    struct bytes token;                 /* ptr NULL: nobody is asked for one */
    struct bytes names;                 /* further names of this host, separated by commas */
    struct task_runner *tasks;  /* with --testing: it looks at a clock that was moved; else NULL */
    struct saved_states *saved; /* with it: of the pool */
    struct decide_pool *pool;   /* with it: one thread */
    bool has_smb;
    /* While a front end of a cluster stands by there is only /metrics, and /-/live and /-/ready, which this application
     * serves: else NULL. */
    const struct http_application *standing_by;
    void *standing_by_tag; /* its listener_tag */
    uint64_t started_s;    /* since 1970 */
};

extern const struct http_application management_application;
/* Of a port that few ask at. */
struct http_limits management_limits(void);

#endif
