/* The listeners of the services: HTTP servers at the addresses that the options name. */
#ifndef LAGRA_PROGRAM_SERVICE_LISTENER_H
#define LAGRA_PROGRAM_SERVICE_LISTENER_H

#include "http/http.h"
#include "program/certificate.h"
#include "program/options.h"

struct service_listener {
    const char *name; /* of the service */
    const struct http_application *application;
    void *tag; /* http_start() */
};

/* Starts the listener of a service. Returns NULL after saying why on stderr. Main thread. */
struct http_server *service_listener_start(const struct options *options, size_t service,
                                           const struct http_limits *limits,
                                           const struct certificate *certificate,
                                           const struct service_listener *of);
/* Lets `lagra health --running` find it at this port. Main thread. */
void service_listener_announce(const struct options *options, size_t service, uint16_t port,
                               bool is_https, const char *name);

#endif
