/* Starting and stopping the management port (admin/management.h), as the options say. Main thread. */
#ifndef LAGRA_SERVER_MANAGEMENT_PORT_H
#define LAGRA_SERVER_MANAGEMENT_PORT_H

#include "admin/management.h"
#include "admin/saved_states.h"
#include "server/certificate.h"

struct management_port {
    struct management management;
    struct saved_states saved;
    struct http_server *server; /* NULL: not served */
};

/* Descriptors that are set aside for it. */
unsigned management_descriptors(const struct options *options);
/* Starts the management port unless the options turn it off.
 *
 * of  what it shows, for as long as it runs; the rest of it comes from the options
 * returns false after saying on stderr why not; true without a server where nobody has asked for one and its port
 * is taken, which is said */
bool management_start(const struct options *options, const struct certificate *certificate,
                      const struct management *of, struct management_port *ret_port);
/* Starts it with metrics and health only, for a front end of a cluster that stands by: `health` serves the latter. Stopped by
 * management_stop(). Returns like management_start(). */
bool management_stand_by(const struct options *options, const struct certificate *certificate,
                         const struct http_application *health, void *tag,
                         struct management_port *ret_port);
/* Ends it, so that management_start() can serve the same port. */
void management_end_stand_by(struct management_port *port);
/* Says where it is served, and how to sign in to the console. */
void management_print(const struct options *options, const struct management_port *port,
                      bool is_secure);
/* Counts what accounts keep: now and then where metrics or a limit want it, else when asked. NULL after saying
 * on stderr why not. */
struct usage_survey *usage_start(const struct options *options,
                                 const struct endpoint_set *endpoints, struct store *store,
                                 struct accounts *accounts);
/* Also of one that was not started. */
void management_stop(struct management_port *port);
/* The rest, which the admin socket asks: after that has stopped. */
void management_release(struct management_port *port);

#endif
