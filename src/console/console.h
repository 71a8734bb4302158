/* The web console: pages for a browser, on the management port. docs/console.md
 *
 *   GET  /, /console           redirects to /console/
 *   GET  /console/..           the pages (assets.h), which are public because they contain no
 *                              data of the server
 *   ..   /console/api/..       requests of the pages to the server itself (api.c)
 *   ..   /console/data/SERVICE/..  requests relayed to that service (relay.c)
 *
 * (1) Users are operators, who sign in with a link printed by `lagra console`, or holders of an
 *     account key. Both have a session (sessions.h), with a cookie and a token that its pages
 *     send.
 * (2) Requests from pages of other sites are refused, as are requests to a host name that someone
 *     else's DNS may have pointed to this machine (http/site.h).
 * (3) The pages access data with service requests and a shared access signature, like other
 *     clients, so the services decide about authorization. decision: 550 */
#ifndef LAGRA_CONSOLE_CONSOLE_H
#define LAGRA_CONSOLE_CONSOLE_H

#include "service/server.h"

struct console_options {
    const struct endpoint_set *endpoints;
    /* servers of the endpoints, in their order; NULL if not served */
    struct http_server *const *servers;
    /* Application that serves relayed requests, and its listener_tag for each endpoint. It may
     * forward them to another server. */
    const struct http_application *services;
    void *service_tags[ENDPOINTS_MAX];
    struct store *store;
    const struct accounts *accounts;
    struct bytes names; /* additional names of this host, separated by commas */
    bool has_faults;    /* this port serves fault rules, to everyone (admin/testing.h) */
};

struct console;
struct console *console_new(const struct console_options *options);
void console_free(struct console *console);

/* Returns true if this build includes the pages, which requires npm. */
bool console_is_built(void);
/* Takes a sample if one is due. Called about once a second, on the main thread only. */
void console_look(struct console *console);

/* Creates the NUL-terminated secret of a link, which is valid for one sign-in within five minutes.
 * Only the newest LINKS_MAX links are valid. Thread-safe. */
#define CONSOLE_LINK_SIZE 65
void console_make_link(struct console *console, char ret_link[CONSOLE_LINK_SIZE]);

/* Returns true if the request is for the console. */
bool console_is_asked(const struct request *request);
/* Serves the request. Called by head() of the management port, which returns the result. */
enum http_step console_serve(struct exchange *exchange, struct console *console);
/* Returns true if a console request for an operation outside of the console is from an operator;
 * otherwise sets *ret_step to the response. Called by head(). */
bool console_admits_operator(struct exchange *exchange, struct console *console,
                             enum http_step *ret_step);
/* Called by on_round(), as in the services. */
void console_round(void);

#endif
