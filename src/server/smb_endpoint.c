/* See smb_endpoint.h. */
#include "server/smb_endpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/logons.h"
#include "service/names.h"
#include "service/placement_move.h"
#include "service/waiting.h"
#include "smb/server.h"

/* Concurrent lookups of all accounts, and of one account. */
#define THREADS_MAX        4u
#define OF_ACCOUNT         2u
/* An owner that hangs is noticed after its lease, and is not asked again. */
#define REQUEST_TIMEOUT_MS 1000u
#define RESPONSE_MAX       1024u

/* ---- referrals ---- */

static struct smb_endpoint *endpoint_of(struct smb_referrer *referrer)
{
    return (struct smb_endpoint *)(void *)referrer;
}

static bool refers(struct smb_referrer *referrer)
{
    struct smb_endpoint *endpoint = endpoint_of(referrer);

    return endpoint->stands_by || route_is_divided(endpoint->peers->route);
}

static bool root_has_owner(struct smb_endpoint *endpoint)
{
    struct owner_target target;
    uint64_t asked_ns;

    return route_find(endpoint->peers->route, CLUSTER_ROOT, &target, &asked_ns) == ROUTE_FOUND;
}

/* Asks the root for the cell of a share. Returns its status: 200 if *ret_cell is set. */
static int find_cell(struct smb_endpoint *endpoint, struct bytes account, struct bytes share,
                     struct arena *arena, uint32_t *ret_cell)
{
    struct move move = { .service = BYTES("file"), .account = account, .key = share };
    struct peer_request request = { .cell = CLUSTER_ROOT,
                                    .path = MOVE_LOCATE_PATH,
                                    .response_max = RESPONSE_MAX,
                                    .timeout_ms = REQUEST_TIMEOUT_MS,
                                    .is_repeatable = true };
    struct peer_response response;
    struct decoder in;
    struct text body;

    if (!root_has_owner(endpoint))
        return 503;
    text_init(&body, arena, 128);
    move_write(&body, &move);
    request.body = text_bytes(&body);
    if (peer_ask(endpoint->peers, &request, arena, &response) != PEER_OK)
        return 503;
    decoder_init(&in, response.body);
    if (response.status == 200 && !move_read(&in, &move))
        return 503;
    *ret_cell = move.from;
    return response.status;
}

static enum smb_referred find(struct smb_referrer *referrer, struct bytes account,
                              struct bytes share, struct arena *arena, struct bytes *ret_host)
{
    struct smb_endpoint *endpoint = endpoint_of(referrer);
    char host[OWNER_SMB_MAX + 1];
    uint32_t cell = 0;
    int status;

    if (name_check(share))
        return SMB_NOT_REFERRED;
    status = find_cell(endpoint, account, share, arena, &cell);
    if (status == 404)
        return SMB_NOT_REFERRED;
    if (status != 200)
        return SMB_REFERRAL_UNKNOWN;
    if (route_is_ours(endpoint->peers->route, cell))
        return SMB_NOT_REFERRED;
    if (!route_find_smb(endpoint->peers->route, cell, host))
        return SMB_REFERRAL_UNKNOWN;
    *ret_host = arena_copy(arena, bytes_from_string(host));
    return SMB_REFERRED;
}

/* ---- serving ---- */

static bool no_thread(void)
{
    fprintf(stderr, "lagra: the SMB endpoint: cannot start a thread\n");
    return false;
}

bool smb_endpoint_start(struct smb_endpoint *endpoint, const struct options *options,
                        const struct net_limits *limits, const struct accounts *accounts,
                        struct store *store, struct decision_pool *pool,
                        const struct tenure *tenure)
{
    struct smb_options smb = { .allow_unencrypted = options->smb_allow_unencrypted,
                               .enforce_acls = options->smb_enforce_acls,
                               .logon_patience_s = LOGON_PATIENCE_S,
                               .counted_as = SERVICE_FILE,
                               .tenure = tenure,
                               .referrer = endpoint->peers ? &endpoint->referrer : NULL };
    struct net_listen where = { .host = options->smb.host,
                                .port = options->smb.port,
                                .proxies = &options->proxies };
    struct net_limits own = smb_limits_default;
    const char *problem = "";

    if (!options->smb.wanted)
        return true;
#ifdef LAGRA_GATES
    smb.always_wait = getenv("LAGRA_ALWAYS_WAIT") != NULL;
#endif
    own.workers = limits->workers;
    own.connections_max = limits->connections_max;
    own.connections_per_address_max = limits->connections_per_address_max;
    endpoint->stands_by = !store;
    if (endpoint->peers)
        endpoint->referrer.pool =
            decision_pool_new(THREADS_MAX, (struct pool_shares){ .account = OF_ACCOUNT });
    if (endpoint->peers && !endpoint->referrer.pool)
        return no_thread();
    endpoint->service = smb_service_new(&smb, store, accounts, pool);
    if (!smb_service_start(endpoint->service))
        return no_thread();
    endpoint->server = net_start(&where, &own, &smb_protocol, endpoint->service, &problem);
    if (!endpoint->server) {
        fprintf(stderr, "lagra: the SMB endpoint: %s\n", problem);
        return false;
    }
    if (!options->silent && store) {
        printf(strchr(where.host, ':') ? "Lagra smb service listens on smb://[%s]:%u\n"
                                       : "Lagra smb service listens on smb://%s:%u\n",
               where.host, net_port(endpoint->server));
        fflush(stdout);
    }
    return true;
}

void smb_endpoint_stop(struct smb_endpoint *endpoint, unsigned grace_s)
{
    if (endpoint->server)
        net_stop(endpoint->server, grace_s);
    if (endpoint->service)
        smb_service_free(endpoint->service);
    if (endpoint->referrer.pool)
        decision_pool_free(endpoint->referrer.pool);
    endpoint->server = NULL;
    endpoint->service = NULL;
    endpoint->referrer.pool = NULL;
}

/* ---- standing by ---- */

bool smb_endpoint_stand_by(struct smb_endpoint *endpoint, const struct options *options,
                           const struct net_limits *limits, struct credentials *credentials,
                           struct cell *cell)
{
    if (!options->smb.wanted || !cell->key)
        return true;
    *endpoint = (struct smb_endpoint){ .referrer = { .refers = refers, .find = find },
                                       .peers = &cell->peers };
    if (!waiters_start())
        return no_thread();
    return credentials_stand_by(options, options_are_loopback(options), credentials) &&
           cell_follow(cell, NULL, credentials) &&
           smb_endpoint_start(endpoint, options, limits, credentials->accounts, NULL, NULL, NULL);
}

void smb_endpoint_end_stand_by(struct smb_endpoint *endpoint, struct options *options)
{
    if (!endpoint->server)
        return;
    options->smb.port = net_port(endpoint->server);
    waiters_stop();
    smb_endpoint_stop(endpoint, 0);
}
