/* Breaks of leases are sent to a client (struct smb_client) on any of its connections: by the oldest of its sessions that
 * can send it. If none can, the session that has the lease open sends it, even if its client does not read,
 * unless it has ended.
 * ms-smb2: 3.3.4.7; decision: 626
 *
 *     client_break_lease() -> the oldest session -> on its thread: can it send? -> sent
 *                                   ^                              |
 *                                   +-------- the next one <-------+ no */
#ifndef LAGRA_SMB_CLIENTS_H
#define LAGRA_SMB_CLIENTS_H

#include "smb/sessions.h"

/* Size of a lease break notification behind its header. ms-smb2: 2.2.23.2 */
#define LEASE_BREAK_SIZE    44u
/* Sessions of a client that may refuse a break before it goes to the one that has the lease open. */
#define CLIENT_REFUSALS_MAX 8u

/* Sends a break to the client of this session. Owner's thread. body: LEASE_BREAK_SIZE */
void client_break_lease(struct smb_session *session, const uint8_t *body);
/* Sends the breaks that were handed to sessions of this connection, or hands them on where these have ended. Owner's thread. */
void client_breaks_send(struct smb_connection *connection);

#endif
