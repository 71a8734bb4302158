/* SESSION_SETUP and LOGOFF. Users are accounts, with either of their keys; there are no guests.
 * Errors before the end of authentication reveal nothing about the account. ms-smb2: 3.3.5.5,
 * 3.3.5.6 */
#include "smb_session/session_setup.h"
#include "smb_session/channels.h"

#include <assert.h>

#include "smb_session/negotiate.h"
#include "smb_session/service.h"
#include "smb_protocol/spnego.h"

#define SESSION_ENCRYPTED 0x04u /* SESSION_FLAG_ENCRYPT_DATA in the response */

/* ---- end of authentication ---- */

/* Derives the session's keys after the first authentication. ms-smb2: 3.3.5.5.3 */
static void take_keys(struct smb_session *session, struct bytes session_key)
{
    const struct smb_agreement *agreed = &session->connection->agreed;
    struct smb_keys keys;

    smb_keys_derive(agreed->dialect, agreed->cipher, session_key, &session->preauth, &keys);
    session->signer = signer_new(agreed->signing, keys.signing);
    if (agreed->cipher != CIPHER_NONE) {
        session->sealer = sealer_new(agreed->cipher, keys.sealing);
        session->opener = sealer_new(agreed->cipher, keys.opening);
    }
    smb_keys_wipe(&keys);
}

static void drop_logon(struct smb_session *session)
{
    spnego_free(session->logon);
    session->logon = NULL;
}

static bool is_account_of(const struct smb_session *session, struct bytes name)
{
    return bytes_is(name, session->account);
}

/* Makes the session valid. A session that cannot be encrypted is rejected unless the operator
 * allows it. */
static enum nt_status become_valid(struct smb_session *session, struct smb_request *request)
{
    struct session_setup *setup = request->parameters;
    struct smb_connection *connection = session->connection;
    struct bytes name = account_name(spnego_account(session->logon));

    if (connection->agreed.cipher == CIPHER_NONE && !connection->service->options.allow_unencrypted)
        return STATUS_ACCESS_DENIED;
    assert(name.len < sizeof session->account);
    memcpy(session->account, name.ptr, name.len);
    session->of = spnego_account(session->logon);
    take_keys(session, spnego_session_key(session->logon));
    session->seals = !connection->service->options.allow_unencrypted;
    session->requires_signing |= connection->agreed.client_requires_signing;
    session->state = SESSION_VALID;
    service_list_session(connection->service, session);
    setup->previous_end.waiter = request_arm(request);
    setup->awaits_previous =
        service_end_previous(connection->service, setup->previous, session, &setup->previous_end);
    /* signed even if not negotiated: proves that the server has the key */
    request->is_signed = true;
    connection_authenticated(connection, session->of);
    return STATUS_SUCCESS;
}

static enum nt_status logged_on(struct smb_session *session, struct smb_request *request)
{
    enum nt_status status = STATUS_SUCCESS;

    /* After reauthentication a session retains its account and its first keys. ms-smb2:
     * 3.3.5.5.2 */
    if (session->state == SESSION_VALID) {
        if (!is_account_of(session, account_name(spnego_account(session->logon))))
            status = STATUS_ACCESS_DENIED;
    } else {
        status = become_valid(session, request);
    }
    drop_logon(session);
    return status;
}

/* ---- SESSION_SETUP ---- */

/* Rejects the request and ends its session, even one that was valid. ms-smb2: 3.3.5.5.3 */
static enum smb_step refuse_logon(struct smb_request *request, enum nt_status status)
{
    struct smb_session *session = request->session;

    if (session && session->state != SESSION_ENDS)
        session_end(session);
    return smb_refuse(request, status);
}

static enum smb_step step(struct smb_request *request)
{
    struct smb_session *session = request->session;
    const struct session_setup *setup = request->parameters;
    bool is_first = session->state != SESSION_VALID;
    enum nt_status status =
        session_setup_step(request, &session->logon, is_first ? &session->preauth : NULL);

    if (!status)
        status = logged_on(session, request);
    if (setup->awaits_previous)
        return STEP_WAIT;
    return !status || status == STATUS_MORE_PROCESSING_REQUIRED ? smb_refuse(request, status)
                                                                : refuse_logon(request, status);
}

/* Authenticates without binding; called again after a wait. */
static enum smb_step log_on(struct smb_request *request)
{
    const struct session_setup *setup = request->parameters;
    struct smb_session *session = request->session;

    if (session->state == SESSION_ENDS)
        return smb_refuse(request, STATUS_USER_SESSION_DELETED);
    if (setup->awaits_previous)
        return smb_refuse(request, STATUS_SUCCESS);
    if (!session_setup_may_try(request->message->connection))
        return session_setup_hold(request) ? STEP_WAIT
                                           : refuse_logon(request, session_setup_locked_out());
    if (setup->mode & SMB_SIGNING_REQUIRED && session->state != SESSION_VALID)
        session->requires_signing = true;
    return step(request);
}

enum smb_step smb_session_setup_go_on(struct smb_request *request)
{
    return request->session ? log_on(request) : bind_go_on(request);
}

enum smb_step smb_session_setup_begin(struct smb_request *request, struct wire_reader *r)
{
    struct smb_connection *connection = request->message->connection;
    uint8_t flags = wire_u8(r);
    uint16_t offset, length;
    struct session_setup *setup = arena_alloc(request->message->arena, sizeof *setup);

    request->parameters = setup;
    setup->mode = wire_u8(r);
    wire_skip(r, 4 + 4); /* Capabilities, Channel */
    offset = wire_u16(r);
    length = wire_u16(r);
    setup->previous = wire_u64(r);
    setup->given = wire_buffer(r, offset, length, SMB_HEADER_SIZE + 24);
    if (!wire_ok(r))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    setup->binds = flags & SESSION_BINDS;
    if (setup->binds && !request->session)
        return bind_go_on(request);
    if (setup->binds && request->session->connection == connection)
        return smb_refuse(request, STATUS_REQUEST_NOT_ACCEPTED);
    if (!request->session) {
        if (connection->session_count >=
            (connection->is_authenticated ? SMB_SESSIONS_MAX : SMB_SESSIONS_AT_FIRST))
            return smb_refuse(request, STATUS_INSUFFICIENT_RESOURCES);
        request->session = session_hold(session_new(connection));
        request->header.session_id = request->session->id; /* for the response */
    }
    return log_on(request);
}

void smb_session_setup_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct session_setup *setup = request->parameters;
    bool seals = request->session->seals && request->status == STATUS_SUCCESS;

    wire_put_u16(w, 9); /* StructureSize */
    wire_put_u16(w, seals ? SESSION_ENCRYPTED : 0);
    wire_put_u16(w, SMB_HEADER_SIZE + 8);
    wire_put_u16(w, (uint16_t)setup->token.len);
    wire_put(w, setup->token);
}

/* ---- LOGOFF: ms-smb2 3.3.5.6 ---- */

enum smb_step smb_logoff_begin(struct smb_request *request, struct wire_reader *r)
{
    struct smb_session *session = request->session;

    (void)r;
    session_end(session);
    return smb_logoff_go_on(request);
}

/* Waits until the session's opens are closed. */
enum smb_step smb_logoff_go_on(struct smb_request *request)
{
    struct smb_session *session = request->session;

    if (session->open_count == 0)
        return smb_refuse(request, STATUS_SUCCESS);
    session->awaited_by = request;
    return STEP_AWAIT;
}
