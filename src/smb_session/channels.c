/* See channels.h. */
#include "smb_session/channels.h"

#include <assert.h>
#include <stdlib.h>

#include "smb_protocol/spnego.h"

struct smb_channel *channel_new(struct smb_session *session, struct smb_connection *connection)
{
    struct smb_channel *channel = xcalloc(1, sizeof *channel);

    assert(session->connection != connection && !channel_find(session, connection));
    channel->session = session;
    channel->connection = connection;
    channel->preauth = connection->agreed.preauth;
    channel->next = session->channels;
    session->channels = channel;
    session->channel_count++;
    channel->next_of_connection = connection->channels;
    connection->channels = channel;
    return channel;
}

struct smb_channel *channel_find(const struct smb_session *session,
                                 const struct smb_connection *connection)
{
    struct smb_channel *channel = session->channels;

    while (channel && channel->connection != connection)
        channel = channel->next;
    return channel;
}

void channel_free(struct smb_channel *channel)
{
    struct smb_channel **at = &channel->session->channels;

    while (*at != channel)
        at = &(*at)->next;
    *at = channel->next;
    channel->session->channel_count--;
    at = &channel->connection->channels;
    while (*at != channel)
        at = &(*at)->next_of_connection;
    *at = channel->next_of_connection;
    spnego_free(channel->logon);
    signer_free(channel->signer);
    free(channel);
}

bool session_has_channels(const struct smb_session *session)
{
    for (const struct smb_channel *channel = session->channels; channel; channel = channel->next)
        if (channel->signer)
            return true;
    return false;
}

/* Before the channel is bound, the key of the session's first connection signs its messages.
 * ms-smb2: 3.3.4.1.1 */
struct signer *session_signer(const struct smb_session *session,
                              const struct smb_connection *connection)
{
    const struct smb_channel *channel = channel_find(session, connection);

    return channel && channel->signer ? channel->signer : session->signer;
}

bool session_outlives(const struct smb_session *session, const struct smb_connection *connection)
{
    if (session->state != SESSION_VALID)
        return false;
    if (session->connection != connection && !session->connection->ends)
        return true;
    for (const struct smb_channel *channel = session->channels; channel; channel = channel->next)
        if (channel->signer && channel->connection != connection)
            return true;
    return false;
}

struct smb_connection *session_way(const struct smb_session *session)
{
    if (session->connection->ends)
        for (const struct smb_channel *channel = session->channels; channel;
             channel = channel->next)
            if (channel->signer)
                return channel->connection;
    return session->connection;
}

bool connection_is_joined(const struct smb_connection *connection)
{
    if (connection->channels)
        return true;
    for (const struct smb_session *session = connection->sessions; session; session = session->next)
        if (session->channels)
            return true;
    return false;
}
