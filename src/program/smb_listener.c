/* See smb_listener.h. */
#include "program/smb_listener.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/logons.h"
#include "smb/server.h"

bool smb_listener_start(const struct options *options, const struct net_limits *limits,
                        struct store *store, const struct accounts *accounts,
                        struct decide_pool *pool, const struct tenure *tenure,
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
