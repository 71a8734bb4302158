/* Serves SMB. A front end of a cluster does so also while it stands by: clients that ask for a
 * share of another cell are referred to the host that the owner of that cell has published in
 * its record. Referrals have no port: clients use that of their first connection, or 445. Main
 * thread. decision: 1120 */
#ifndef LAGRA_SERVER_SMB_ENDPOINT_H
#define LAGRA_SERVER_SMB_ENDPOINT_H

#include "server/cell.h"
#include "server/credentials.h"
#include "server/options.h"
#include "smb/connection.h"

struct net_limits;
struct net_server;

struct smb_endpoint {
    struct smb_referrer referrer; /* must be first */
    struct peers *peers;          /* NULL if clients are never referred */
    bool stands_by;               /* no cell is owned; constant while a server runs */
    struct smb_service *service;
    struct net_server *server; /* NULL if SMB is not served */
};

/* Serves SMB if the options ask for it.
 *
 * store    may be NULL while the front end stands by; then pool is NULL, too
 * tenure   checked before packets are sent, or NULL
 * limits   of the other services; SMB has as many workers and connections
 * returns  false after printing why on stderr; the caller must call smb_endpoint_stop() even
 *          then */
bool smb_endpoint_start(struct smb_endpoint *endpoint, const struct options *options,
                        const struct net_limits *limits, const struct accounts *accounts,
                        struct store *store, struct decision_pool *pool,
                        const struct tenure *tenure);
/* Stops serving, before the objects that it was started with are freed. */
void smb_endpoint_stop(struct smb_endpoint *endpoint, unsigned grace_s);

/* Serves SMB while the front end waits for a cell, provided the cluster has a key, without which
 * clients cannot be referred. Follows the accounts of the root. Returns the results of
 * smb_endpoint_start(). */
bool smb_endpoint_stand_by(struct smb_endpoint *endpoint, const struct options *options,
                           const struct net_limits *limits, struct credentials *credentials,
                           struct cell *cell);
/* Closes the connections once a cell is owned. Sets the port in the options, so that it remains the
 * same. */
void smb_endpoint_end_stand_by(struct smb_endpoint *endpoint, struct options *options);

#endif
