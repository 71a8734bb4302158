/* Adds up the usage of accounts whose data is in several cells of a cluster.
 *
 * (1) Capacity. Twice a second, the owner of each other cell reports the bytes of accounts with a
 *     capacity limit to the owner of the root, which responds with their bytes in all other cells.
 *     Each owner checks writes against the sum. The figures of other cells may be up to a second
 *     old, so all cells together may exceed a limit by the bytes accepted in that time. When a cell
 *     gets a new owner, its last report is used until the new owner has counted.
 * (2) `lagra usage` makes all owners count now, and adds up their results.
 *
 * Requests (cluster/peer.h, base/codec.h):
 *
 *   /-/account-bytes  u8 1 (version), u64 cell, entries. Response: u8 1, entries. An entry is u8 1,
 *                     bytes: the account, u8 flags (1: counted, 2: a request has been refused since
 *                     then), u64 bytes. u8 0 ends the entries.
 *   /-/usage          u8 1. Response: u8 1; for each account and service u8 1, account,
 *                     service, u64 containers, objects, bytes, quota; for each of the largest
 *                     containers u8 2, the same fields and its name; then u8 0.
 *
 * decision: 1101 */
#ifndef LAGRA_ADMIN_CELL_USAGE_H
#define LAGRA_ADMIN_CELL_USAGE_H

#include "auth/auth.h"
#include "cluster/peer.h"

#define CELL_BYTES_PATH     "/-/account-bytes"
#define CELL_BYTES_BODY_MAX ((size_t)1 << 20)
#define CELL_USAGE_PATH     "/-/usage"
#define CELL_USAGE_BODY_MAX 64u

/* Reports the bytes of this cell's accounts to the root, and stores its response. May wait for
 * another machine. Called on a single thread, in cells other than the root. */
void cell_usage_report(struct peers *peers, uint32_t cell, struct accounts *accounts);

/* Handles CELL_BYTES_PATH in the root (peer_requests.h). context: struct endpoint_set */
int cell_bytes_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);
/* Handles CELL_USAGE_PATH. context: struct endpoint_set */
int cell_usage_serve(void *context, struct bytes body, struct arena *arena, struct text *ret_body);

#endif
