/* Lease breaks are sent to a client (struct smb_client) rather than to a session: the oldest of its
 * sessions that can send delivers them. If none can, the session that opened the file does, even if
 * its client does not read, unless that session has ended. ms-smb2: 3.3.4.7; decision: 626
 *
 *     client_break_lease() -> the oldest session -> on its thread: can it send? -> sent
 *                                   ^                              |
 *                                   +-------- the next one <-------+ no */
#ifndef LAGRA_SMB_SESSION_CLIENTS_H
#define LAGRA_SMB_SESSION_CLIENTS_H

#include "smb_session/sessions.h"

/* Size of a lease break notification after its header. ms-smb2: 2.2.23.2 */
#define LEASE_BREAK_SIZE    44u
/* Number of sessions that may decline a break before the session that opened the file sends it. */
#define CLIENT_REFUSALS_MAX 8u

/* Sends a break to the client of this session. Called on the owner's thread. body: LEASE_BREAK_SIZE
 * bytes */
void client_break_lease(struct smb_session *session, const uint8_t *body);
/* Sends the breaks passed to sessions of this connection, or passes them on if the session has
 * ended. Called on the owner's thread. */
void client_breaks_send(struct smb_connection *connection);

#endif
