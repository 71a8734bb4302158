/* Listeners of the services: HTTP servers at the addresses in the options. Main thread. */
#ifndef LAGRA_SERVER_LISTENERS_H
#define LAGRA_SERVER_LISTENERS_H

#include "http/http.h"
#include "server/certificate.h"
#include "server/options.h"

struct service_listener {
    const char *name; /* name of the service, for messages */
    const struct http_application *application;
    void *tag; /* passed to http_start() */
};

/* Starts the listener of a service. Returns NULL after printing why; on stdout if the service is
 * optional, else on stderr. */
struct http_server *service_listener_start(const struct options *options, size_t service,
                                           const struct http_limits *limits,
                                           const struct certificate *certificate,
                                           const struct service_listener *of);
/* Announces the service to `lagra health --running`. */
void service_listener_announce(const struct options *options, size_t service, uint16_t port,
                               bool is_https, const char *name);

#endif
