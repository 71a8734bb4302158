/* An SMB connection as a state machine: it receives complete messages, sends frames and is woken by
 * posts. It has no socket, so unit tests, fuzzers and the simulator drive it like smb/server.c.
 * README.md describes the path of a message, the states and the invariants.
 *
 *     machine = smb_connection_new(service, host, peer)
 *     smb_connection_take(machine, message, ..)  pass a complete message, without its 4-byte length
 *     host->send(host, packet)                   send a frame, with its 4-byte length
 *     host->post(host)                           from any thread: call smb_connection_run() soon
 *     smb_connection_sent(machine, size)         `size` bytes of frames have been sent
 *     smb_connection_end(machine)                the socket is closed, or about to be
 *     host->ended(host)                          the machine may be freed
 *
 * A machine is called by one thread at a time, its owner's; only host->post() is called by other
 * threads. No function waits for a disk, for another client's lock, or for another machine. */
#ifndef LAGRA_SMB_CONNECTION_H
#define LAGRA_SMB_CONNECTION_H

#include "smb_session/host.h"

/* Maximum size of a message after and before authentication. A longer message ends the connection
 * before it is received. ms-smb2: 3.3.5.2 */
#define SMB_MESSAGE_MAX           ((size_t)(1u << 20) + (64u << 10))
#define SMB_MESSAGE_MAX_UNTRUSTED ((size_t)128 << 10)

/* peer: as shown in lists of handles, for example "203.0.113.7:53412"; copied */
struct smb_connection *smb_connection_new(struct smb_service *service, struct smb_host *host,
                                          struct bytes peer);
/* Frees the connection, after host->ended() or if no message was ever passed. */
void smb_connection_free(struct smb_connection *connection);

/* Returns the maximum size of the next message. */
size_t smb_connection_message_max(const struct smb_connection *connection);
/* Returns whether another message may be passed now. Returns false while too many bytes of earlier
 * messages are in progress or unsent; ask again after smb_connection_run() and
 * smb_connection_sent(). */
bool smb_connection_has_room(const struct smb_connection *connection);

/* Processes a message.
 *
 * arena    holds the message, which may be modified; always owned by the machine afterwards; may
 *          grow to SMB_MESSAGE_ARENA_MAX (limits.h). NULL means the message is copied
 *
 * Returns false if the connection must be closed (not an SMB message, a transform header with a
 * wrong signature, message ids outside the window: ms-smb2 3.3.5.2); the owner then calls
 * smb_connection_end(). */
bool smb_connection_take(struct smb_connection *connection, struct bytes message,
                         struct arena *arena);
/* Resumes woken requests. Returns false like smb_connection_take(). */
bool smb_connection_run(struct smb_connection *connection);
void smb_connection_sent(struct smb_connection *connection, size_t size);

/* Stops accepting messages, cancels parked requests, and closes handles, sessions and tree connects
 * step by step, sending nothing. Finally calls host->ended(), possibly before it returns. */
void smb_connection_end(struct smb_connection *connection);

#endif
