/* SESSION_SETUP that binds the connection, as a channel, to a session of another connection.
 * ms-smb2: 3.3.5.5, 3.3.5.5.2
 *
 *     find session -> (move to its thread -> find it) -> check -> authenticate -> derive key */
#include "smb_session/session_setup.h"
#include "smb_session/channels.h"

#include <assert.h>

#include "smb_session/service.h"
#include "smb_protocol/spnego.h"

/* Maximum number of moves to the session's thread, since the session may move too. */
#define MOVES_MAX 4u

/* Checks whether the session may be bound, in the order of Samba, whose tests expect these
 * statuses. */
static enum nt_status check(const struct smb_request *request, const struct smb_session *session)
{
    const struct smb_connection *connection = request->message->connection;
    const struct smb_agreement *ours = &connection->agreed;
    const struct smb_agreement *its = &session->connection->agreed;

    if (!(request->header.flags & SMB_FLAG_SIGNED))
        return STATUS_INVALID_PARAMETER;
    if (its->signing == SIGNING_AES_GMAC && ours->signing != its->signing)
        return STATUS_REQUEST_OUT_OF_SEQUENCE;
    if (ours->signing == SIGNING_AES_GMAC && ours->signing != its->signing)
        return STATUS_NOT_SUPPORTED;
    if (ours->dialect < SMB_300)
        return STATUS_REQUEST_NOT_ACCEPTED;
    if (ours->dialect != its->dialect || ours->cipher != its->cipher)
        return STATUS_INVALID_PARAMETER;
    return signer_verify(session->signer, request->bytes) ? STATUS_SUCCESS : STATUS_ACCESS_DENIED;
}

/* ---- end of authentication ---- */

static enum nt_status bound(struct smb_request *request, struct smb_channel *channel)
{
    struct smb_session *session = channel->session;
    struct smb_connection *connection = channel->connection;
    uint8_t key[SIGNING_KEY_SIZE];

    if (!bytes_is(account_name(spnego_account(channel->logon)), session->account))
        return STATUS_ACCESS_DENIED;
    smb_channel_key_derive(connection->agreed.dialect, spnego_session_key(channel->logon),
                           &channel->preauth, key);
    channel->signer = signer_new(connection->agreed.signing, key);
    explicit_bzero(key, sizeof key);
    spnego_free(channel->logon);
    channel->logon = NULL;
    request->is_signed = true;
    connection_authenticated(connection, session->of);
    return STATUS_SUCCESS;
}

static enum smb_step step(struct smb_request *request, struct smb_channel *channel)
{
    enum nt_status status = session_setup_step(request, &channel->logon, &channel->preauth);

    if (!status)
        status = bound(request, channel);
    if (status && status != STATUS_MORE_PROCESSING_REQUIRED)
        channel_free(channel); /* the session is unchanged */
    return smb_refuse(request, status);
}

/* ---- finding the session ---- */

static enum smb_step bind(struct smb_request *request, struct smb_session *session)
{
    struct smb_connection *connection = request->message->connection;
    struct smb_channel *channel = channel_find(session, connection);
    enum nt_status status = check(request, session);

    request->session = session_hold(session);
    request->is_signed = request->header.flags & SMB_FLAG_SIGNED;
    if (status)
        return smb_refuse(request, status);
    if (!session_setup_may_try(connection))
        return smb_refuse(request, session_setup_locked_out());
    if (!channel && session->channel_count + 1 >= SMB_CHANNELS_MAX)
        return smb_refuse(request, STATUS_INSUFFICIENT_RESOURCES);
    return step(request, channel ? channel : channel_new(session, connection));
}

/* Continues the binding. A connection that shares sessions with others cannot move without them. */
enum smb_step bind_go_on(struct smb_request *request)
{
    struct session_setup *setup = request->parameters;
    bool stays = connection_is_joined(request->message->connection);
    struct waiter *waiter = request_arm(request);
    struct smb_session *session;

    switch (service_find_session(request, request->header.session_id,
                                 setup->moves++ == MOVES_MAX ? NOBODY_MOVES
                                 : stays                     ? IT_MOVES
                                                             : WE_MOVE,
                                 &session)) {
    case FOUND_HERE:
        return bind(request, session);
    case FOUND_ELSEWHERE:
        if (setup->moves > MOVES_MAX)
            return smb_refuse(request, STATUS_REQUEST_NOT_ACCEPTED);
        if (!stays)
            waiter->wake(waiter);
        return STEP_WAIT;
    case FOUND_NOTHING:
        break;
    }
    return smb_refuse(request, STATUS_USER_SESSION_DELETED);
}
