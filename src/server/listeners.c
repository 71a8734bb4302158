/* Listeners of the services: see listeners.h. */
#include "server/listeners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/logons.h"
#include "base/log.h"
#include "server/running_servers.h"
#include "smb/server.h"

struct http_server *service_listener_start(const struct options *options, size_t service,
                                           const struct http_limits *limits,
                                           const struct certificate *certificate,
                                           const struct service_listener *of)
{
    const struct listen_options *listen = &options->listen[service];
    struct http_limits own = *limits;
    struct net_listen where = {
        .host = listen->host,
        .port = listen->port,
        .cert_pem = certificate->chain,
        .key_pem = certificate->key,
        .proxies = &options->proxies,
    };
    const char *problem = "";
    struct http_server *server;

    if (listen->keep_alive_s > 0)
        own.net.idle_s = listen->keep_alive_s;
    server = http_start(&where, &own, of->application, of->tag, &problem);
    if (!server)
        fprintf(stderr, "lagra: the %s service: %s\n", of->name, problem);
    return server;
}

void service_listener_announce(const struct options *options, size_t service, uint16_t port,
                               bool is_https, const char *name)
{
    struct running_service found = {
        .service = (enum service_index)service,
        .is_https = is_https,
        .awaits_header = running_awaits_header(options, options->listen[service].host),
        .listen = options->listen[service],
    };

    found.listen.port = port;
    if (!running_announce(&found))
        log_line(LOG_WARN, "`lagra health --running` will not find the %s service", name);
}

bool smb_listener_start(const struct options *options, const struct net_limits *limits,
                        struct store *store, const struct accounts *accounts,
                        struct decision_pool *pool, const struct tenure *tenure,
                        struct smb_listener *ret_listener)
{
    struct smb_options smb = { .allow_unencrypted = options->smb_allow_unencrypted,
                               .enforce_acls = options->smb_enforce_acls,
                               .logon_patience_s = LOGON_PATIENCE_S,
                               .counted_as = SERVICE_FILE,
                               .tenure = tenure };
    struct net_listen where = { .host = options->smb.host,
                                .port = options->smb.port,
                                .proxies = &options->proxies };
    struct net_limits own = smb_limits_default;
    const char *problem = "";

    *ret_listener = (struct smb_listener){ .server = NULL };
    if (!options->smb.wanted)
        return true;
#ifdef LAGRA_GATES
    smb.always_wait = getenv("LAGRA_ALWAYS_WAIT") != NULL;
#endif
    own.workers = limits->workers;
    own.connections_max = limits->connections_max;
    own.connections_per_address_max = limits->connections_per_address_max;
    ret_listener->service = smb_service_new(&smb, store, accounts, pool);
    if (!smb_service_start(ret_listener->service))
        return false;
    ret_listener->server = net_start(&where, &own, &smb_protocol, ret_listener->service, &problem);
    if (!ret_listener->server) {
        fprintf(stderr, "lagra: the SMB endpoint: %s\n", problem);
        return false;
    }
    if (!options->silent) {
        printf(strchr(where.host, ':') ? "Lagra smb service listens on smb://[%s]:%u\n"
                                       : "Lagra smb service listens on smb://%s:%u\n",
               where.host, net_port(ret_listener->server));
        fflush(stdout);
    }
    return true;
}

void smb_listener_stop(struct smb_listener *listener, unsigned grace_s)
{
    if (listener->server)
        net_stop(listener->server, grace_s);
    if (listener->service)
        smb_service_free(listener->service);
    *listener = (struct smb_listener){ .server = NULL };
}
