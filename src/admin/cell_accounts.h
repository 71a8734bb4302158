/* Copies accounts, encryption scopes and service properties between the cells of a cluster. The
 * root cell stores them, and every other cell has a copy in its own store, so that keys and
 * retention policies remain in effect there while the root is unavailable. Every half second, the
 * owner of another cell sends
 * the root a POST of /-/account-records (cluster/peer.h):
 *
 *   request   u8 1 (version); u64 digest of the cell's records, or 0
 *   response  u8 1; u64 digest of the root's records; if it differs, for each record u8 1 and as
 *             bytes: the service ("" for accounts), the account ("" for the record of all
 *             accounts), key, value; then u8 0
 *
 * Records are stored unchanged (stored_accounts.h, stored_scopes.h, service_properties.h) and never
 * deleted.
 * decision: 996 */
#ifndef LAGRA_ADMIN_CELL_ACCOUNTS_H
#define LAGRA_ADMIN_CELL_ACCOUNTS_H

#include <stdatomic.h>

#include "auth/auth.h"
#include "base/thread.h"
#include "cluster/peer.h"
#include "service/server.h"

#define CELL_ACCOUNTS_PATH     "/-/account-records"
#define CELL_ACCOUNTS_BODY_MAX 64u

/* Handles the request at the root (peer_requests.h). context: struct endpoint_set */
int cell_accounts_serve(void *context, struct bytes body, struct arena *arena,
                        struct text *ret_body);

/* Follower of the root, in another cell. */
struct cell_accounts {
    struct peers *peers;
    uint32_t cell; /* cell owned by this process; 0 if none */
    /* store of the cell; NULL if no cell is owned: accounts are then only copied into memory */
    struct store *store;
    struct accounts *accounts;
    struct encryption_scopes *scopes;
    struct thread thread;
    atomic_bool ends;
};

/* Starts a thread that copies changes from the root. The caller sets the members above and zeroes
 * the others. Returns false if the thread cannot be started. */
bool cell_accounts_start(struct cell_accounts *follower);
/* Stops the thread. Called before the peers and the store are closed, even if the follower was
 * never started. */
void cell_accounts_stop(struct cell_accounts *follower);

#endif
