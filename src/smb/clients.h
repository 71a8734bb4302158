/* What is told to a client (struct smb_client) by whichever of its connections: a break of a lease, by the first of its
 * sessions, the oldest first, that can; the one that has the lease open can, unless it ends.
 * ms-smb2: 3.3.4.7; decision: 626
 *
 *     lease_tell() -> the first session -> on its thread: can it be told? -> sent
 *                           ^                                  |
 *                           +---------- the next one <---------+ no */
#ifndef LAGRA_SMB_CLIENTS_H
#define LAGRA_SMB_CLIENTS_H

#include "smb/sessions.h"

/* Size of a lease break notification behind its header. ms-smb2: 2.2.23.2 */
#define LEASE_BREAK_SIZE  44u
/* Sessions of a client that may refuse a break before it goes to the one that has the lease open. */
#define LEASE_TELLERS_MAX 8u

/* Tells the client of this session of a break. Owner's thread. body: LEASE_BREAK_SIZE */
void lease_tell(struct smb_session *session, const uint8_t *body);
/* What is to be told by sessions of this connection, or by others where these have ended. Owner's thread. */
void leases_told(struct smb_connection *connection);

#endif
