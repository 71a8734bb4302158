/* Starts and stops the management port (admin/management.h). Main thread. */
#ifndef LAGRA_SERVER_MANAGEMENT_PORT_H
#define LAGRA_SERVER_MANAGEMENT_PORT_H

#include "admin/management.h"
#include "admin/saved_states.h"
#include "server/certificate.h"

struct management_port {
    struct management management;
    struct saved_states saved;
    struct http_server *server; /* or NULL if it is not served */
};

/* Returns the number of descriptors reserved for the port. */
unsigned management_descriptors(const struct options *options);
/* Starts the management port, unless the options turn it off.
 * of       sources of its responses; the remaining members are set from the options
 * returns  false after printing why on stderr; true without a server if the options do not ask for
 *          the port and it is taken, which is logged */
bool management_start(const struct options *options, const struct certificate *certificate,
                      const struct management *of, struct management_port *ret_port);
/* Starts the port with metrics and health only, for a front end of a cluster that stands by.
 * `health` serves the latter. Stopped by management_stop(). Returns the results of
 * management_start(). */
bool management_stand_by(const struct options *options, const struct certificate *certificate,
                         const struct http_application *health, void *tag,
                         struct management_port *ret_port);
/* Stops the stand-by port, so that management_start() can serve the same port. */
void management_end_stand_by(struct management_port *port);
/* Prints the address, and how to sign in to the console. */
void management_print(const struct options *options, const struct management_port *port,
                      bool is_secure);
/* Starts the survey of the storage used by accounts: periodically if metrics or a limit need it,
 * otherwise on request. Returns NULL after printing why on stderr. */
struct usage_survey *usage_start(const struct options *options,
                                 const struct endpoint_set *endpoints, struct store *store,
                                 struct accounts *accounts);
/* Stops the port, even if it was not started. */
void management_stop(struct management_port *port);
/* Frees objects that the admin socket still uses. Called once that has stopped. */
void management_release(struct management_port *port);

#endif
