/* The listeners of the services: HTTP servers at the addresses that the options name. */
#ifndef LAGRA_SERVER_LISTENERS_H
#define LAGRA_SERVER_LISTENERS_H

#include "http/http.h"
#include "server/certificate.h"
#include "server/options.h"
#include "smb/connection.h"

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

/* The SMB endpoint as the program starts and stops it. Main thread. */

struct net_limits;
struct net_server;

struct smb_listener {
    struct smb_service *service;
    struct net_server *server; /* NULL: not served */
};

/* tenure  by which packets are sent; NULL: none is needed
 * limits  those of the other services: workers and connections are as theirs
 * returns false, after saying why on stderr; smb_listener_stop() is due all the same */
bool smb_listener_start(const struct options *options, const struct net_limits *limits,
                        struct store *store, const struct accounts *accounts,
                        struct decide_pool *pool, const struct tenure *tenure,
                        struct smb_listener *ret_listener);
/* Before what it was started with is given back. */
void smb_listener_stop(struct smb_listener *listener, unsigned grace_s);

#endif
