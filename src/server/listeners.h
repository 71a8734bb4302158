/* Listeners of the services: HTTP servers at the addresses in the options, and the SMB endpoint.
 * Main thread. */
#ifndef LAGRA_SERVER_LISTENERS_H
#define LAGRA_SERVER_LISTENERS_H

#include "http/http.h"
#include "server/certificate.h"
#include "server/options.h"
#include "smb/connection.h"

struct service_listener {
    const char *name; /* name of the service, for messages */
    const struct http_application *application;
    void *tag; /* passed to http_start() */
};

/* Starts the listener of a service. Returns NULL after printing why on stderr. */
struct http_server *service_listener_start(const struct options *options, size_t service,
                                           const struct http_limits *limits,
                                           const struct certificate *certificate,
                                           const struct service_listener *of);
/* Announces the service to `lagra health --running`. */
void service_listener_announce(const struct options *options, size_t service, uint16_t port,
                               bool is_https, const char *name);

struct net_limits;
struct net_server;

struct smb_listener {
    struct smb_service *service;
    struct net_server *server; /* or NULL if it is not served */
};

/* Starts the SMB endpoint if the options ask for it.
 * tenure   checked before packets are sent, or NULL
 * limits   of the other services; workers and connections are taken from them
 * returns  false, after printing why on stderr; the caller must call smb_listener_stop() even
 * then */
bool smb_listener_start(const struct options *options, const struct net_limits *limits,
                        struct store *store, const struct accounts *accounts,
                        struct decision_pool *pool, const struct tenure *tenure,
                        struct smb_listener *ret_listener);
/* Stops the endpoint, before the objects it was started with are freed. */
void smb_listener_stop(struct smb_listener *listener, unsigned grace_s);

#endif
