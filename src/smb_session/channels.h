/* Multichannel: connections bound to a session in addition to its first one. ms-smb2: 3.3.1.14,
 * 3.3.5.5.2
 *
 * A session belongs to its home, the connection it was created on, with its opens, caching and
 * watches. If the home loses its socket while other channels exist, it lives on for the session.
 * All connections of a session run on one thread (smb_host, move()). */
#ifndef LAGRA_SMB_SESSION_CHANNELS_H
#define LAGRA_SMB_SESSION_CHANNELS_H

#include "smb_session/message.h"
#include "smb_session/sessions.h"

/* Freed with its session or its connection, whichever ends first. */
struct smb_channel {
    struct smb_channel *next; /* in the session's list */
    struct smb_channel *next_of_connection;
    struct smb_session *session;
    struct smb_connection *connection;
    struct spnego *logon; /* NULL once authenticated */
    struct preauth preauth;
    struct signer *signer; /* NULL until bound */
};
struct smb_channel *channel_new(struct smb_session *session, struct smb_connection *connection);
/* Returns NULL if the connection is not a channel of the session. */
struct smb_channel *channel_find(const struct smb_session *session,
                                 const struct smb_connection *connection);
void channel_free(struct smb_channel *channel);
/* Returns whether the session has bound channels. */
bool session_has_channels(const struct smb_session *session);
/* Returns the signing key of the session on this connection. */
struct signer *session_signer(const struct smb_session *session,
                              const struct smb_connection *connection);
/* Returns whether the session continues without this connection. */
bool session_outlives(const struct smb_session *session, const struct smb_connection *connection);
/* Returns the connection on which notifications are sent to the client. */
struct smb_connection *session_way(const struct smb_session *session);
/* Returns whether the connection shares a session with another one. */
bool connection_is_joined(const struct smb_connection *connection);
/* Unbinds an ending connection from the sessions of other connections. */
void connection_leave_channels(struct smb_connection *connection);

/* SMB2_SESSION_FLAG_BINDING, and the offset of Flags in the SESSION_SETUP body. */
#define SESSION_BINDS    0x01u
#define SESSION_FLAGS_AT 2u

#endif
