/* The web console: pages that a browser shows, on the management port. docs/console.md
 *
 *   GET  /, /console           on to /console/
 *   GET  /console/..           the pages (assets.h), for everybody: nothing of the server is in them
 *   ..   /console/api/..       what the pages ask the server itself (api.c)
 *   ..   /console/data/SERVICE/..  a request to that service, relayed (relay.c)
 *
 * (1) Who signs in is an operator, by a link that `lagra console` prints, or the holder of an account's key. Either
 *     has a session (sessions.h): a cookie, and a token that its pages send along.
 * (2) A request that another site's page makes is refused, and so is one by a name that a stranger's DNS may
 *     have pointed at this machine (http/site.h).
 * (3) What the pages do to data they do by requests of the services with a shared access signature, as other
 *     clients do: nothing here decides what is allowed. decision: 550 */
#ifndef LAGRA_CONSOLE_CONSOLE_H
#define LAGRA_CONSOLE_CONSOLE_H

#include "service/server.h"

struct console_options {
    const struct endpoint_set *endpoints;
    struct http_server *const *servers; /* of the endpoints, in their order; NULL: not served */
    struct store *store;
    const struct accounts *accounts;
    struct bytes names; /* further names of this host, separated by commas */
    bool
        has_faults; /* rules of faults are asked for at this port, and by anybody: admin/testing.h */
};

struct console;
struct console *console_new(const struct console_options *options);
void console_free(struct console *console);

/* Whether this build has the pages: one that was made without npm has not. */
bool console_is_built(void);
/* Takes a sample when one is due. Every second or so. Main thread. */
void console_look(struct console *console);

/* The secret of a link that is good for one sign-in, soon; ends with a NUL. The oldest of many is good no longer.
 * Any thread. */
#define CONSOLE_LINK_SIZE 65
void console_make_link(struct console *console, char ret_link[CONSOLE_LINK_SIZE]);

/* Is the request for the console? */
bool console_is_asked(const struct request *request);
/* Serves it. In head() of the management port, which returns what this returns. */
enum http_step console_serve(struct exchange *exchange, struct console *console);
/* Whether a request for the console, of an operation beyond its own, is an operator's. False: *ret_step answers
 * it. In head(). */
bool console_admits_operator(struct exchange *exchange, struct console *console,
                             enum http_step *ret_step);
/* For on_round(): as services have it. */
void console_round(void);

#endif
