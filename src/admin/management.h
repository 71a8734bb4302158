/* The management port, for operators:
 *
 *   GET /metrics   all metrics in Prometheus' text format; docs/monitoring.md lists them
 *   /, /console/.. the web console, which has its own sessions (console/console.h);
 *                  POST /console/api/admin/OPERATION runs an operation of admin.h, for operators
 *                  only
 *   GET /-/live, /-/ready   as on the service ports, without a token
 *   /-/..          with --testing: requests for tests of clients (testing.h)
 *
 * Requests from pages of other sites are refused (http/site.h, decision 551). Without a token,
 * which is possible only on loopback, all local users have access; with a token, only clients that
 * send `Authorization: Bearer TOKEN`. */
#ifndef LAGRA_ADMIN_MANAGEMENT_H
#define LAGRA_ADMIN_MANAGEMENT_H

#include "admin/admin.h"
#include "admin/usage_survey.h"
#include "console/console.h"
#include "http/http.h"
#include "service/deferred_tasks.h"

/* Maximum number of concurrent responses that the kernel sends from a file, for blobs shown in the
 * console. */
#define MANAGEMENT_FILES_MAX   8u
/* Minimum length of the token, so that it cannot be guessed. */
#define MANAGEMENT_TOKEN_LEAST 16u

/* The tag of a server of this application (http_start()). */
struct management {
    struct store *store;
    struct usage_survey *usage;
    const struct endpoint_set *endpoints;
    /* servers of the endpoints, in their order; NULL if not served */
    struct http_server *const *servers;
    struct console *console;                 /* NULL if not served */
    const struct http_application *services; /* as in struct console_options */
    void *service_tags[ENDPOINTS_MAX];
    const struct admin *admin;  /* application for operators' requests from the console */
    struct bytes token;         /* ptr NULL means no token required */
    struct bytes names;         /* additional names of this host, separated by commas */
    struct task_runner *tasks;  /* with --testing: notified when the clock is moved; else NULL */
    struct saved_states *saved; /* with --testing: used by the pool's thread */
    struct decision_pool *pool; /* with --testing: one thread */
    bool has_smb;
    /* Serves /-/live and /-/ready of a front end of a cluster; else NULL. */
    const struct http_application *health;
    void *health_tag;    /* its listener_tag */
    bool is_standing_by; /* the front end owns no cell, so only /metrics and health are served */
    uint64_t started_s;  /* Unix time */
};

extern const struct http_application management_application;
/* Returns limits for a port with few clients. */
struct http_limits management_limits(void);

#endif
