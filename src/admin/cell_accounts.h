/* Accounts and service properties of a cluster: the root cell keeps them, and every other cell has a copy in its own store, so
 * that keys and retention hold there too, also while the root is away. The owner of another cell asks the root each half a second,
 * by a POST of /-/account-records (cluster/peer.h):
 *
 *   request   u8 1 (version); u64 digest of what the cell has, or 0
 *   response  u8 1; u64 digest of what the root has; if that is another, for each record u8 1 and as bytes: the service, "" for
 *             accounts; the account, "" for all accounts; key; value; then u8 0
 *
 * Records are stored as they are: stored_accounts.h, service_properties.h. None is ever deleted. decision: 996 */
#ifndef LAGRA_ADMIN_CELL_ACCOUNTS_H
#define LAGRA_ADMIN_CELL_ACCOUNTS_H

#include <stdatomic.h>

#include "auth/auth.h"
#include "base/thread.h"
#include "cluster/peer.h"
#include "service/server.h"

#define CELL_ACCOUNTS_PATH     "/-/account-records"
#define CELL_ACCOUNTS_BODY_MAX 64u

/* At the root: handler of the request (peer_requests.h). context: struct endpoint_set */
int cell_accounts_serve(void *context, struct bytes body, struct arena *arena,
                        struct text *ret_body);

/* In another cell. */
struct cell_accounts {
    struct peers *peers;
    uint32_t cell;       /* owned by this process; 0 if none */
    struct store *store; /* or NULL if no cell is owned; accounts are then put in force only */
    struct accounts *accounts;
    struct thread thread;
    atomic_bool ends;
};

/* Starts to follow the root. The fields above are set, the rest is zeroed. Returns false if no thread can be started. */
bool cell_accounts_start(struct cell_accounts *follower);
/* Ends it, before its peers and its store. Also of one that was not started. */
void cell_accounts_stop(struct cell_accounts *follower);

#endif
