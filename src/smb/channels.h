/* Channels: the connections of a session beside the one that it began on. ms-smb2: 3.3.1.14, 3.3.5.5.2
 *
 * A session stays in the connection that it began on, its home, with its opens, what they cache and what they watch;
 * if that connection ends while there are channels, it stays for the session, without a socket. All connections of a
 * session are one thread's (smb_host, move()). */
#ifndef LAGRA_SMB_CHANNELS_H
#define LAGRA_SMB_CHANNELS_H

#include "smb/message.h"
#include "smb/sessions.h"

/* Goes with its session or its connection. */
struct smb_channel {
    struct smb_channel *next; /* of the session */
    struct smb_channel *next_of_connection;
    struct smb_session *session;
    struct smb_connection *connection;
    struct spnego *logon; /* NULL: over */
    struct preauth preauth;
    struct signer *signer; /* NULL: it is not bound yet */
};
struct smb_channel *channel_new(struct smb_session *session, struct smb_connection *connection);
/* NULL: none. */
struct smb_channel *channel_find(const struct smb_session *session,
                                 const struct smb_connection *connection);
void channel_free(struct smb_channel *channel);
/* That are bound. */
bool session_has_channels(const struct smb_session *session);
/* By which its messages are signed on that connection. */
struct signer *session_signer(const struct smb_session *session,
                              const struct smb_connection *connection);
/* It lives on without that connection. */
bool session_outlives(const struct smb_session *session, const struct smb_connection *connection);
/* The connection on which its client gets notifications. */
struct smb_connection *session_way(const struct smb_session *session);
/* It shares a session with others. */
bool connection_is_joined(const struct smb_connection *connection);
/* It ends: it is no channel of anything any more. */
void connection_leave_channels(struct smb_connection *connection);

/* Of SESSION_SETUP: SMB2_SESSION_FLAG_BINDING, and where it is in the body. */
#define SESSION_BINDS    0x01u
#define SESSION_FLAGS_AT 2u

#endif
