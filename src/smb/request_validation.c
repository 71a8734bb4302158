/* Request validation, in the order of MS-SMB2, before the command's own function runs. ms-smb2:
 * 3.3.5.2 */
#include "smb/commands.h"
#include "smb/dispatch.h"
#include "smb_session/channels.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include <assert.h>

#include "base/endian.h"

/* ---- message ids and credits ---- */

/* Returns the longest payload that CreditCharge must cover, from the lengths in the body. ms-smb2:
 * 3.3.5.2.5 */
static uint32_t longest(const struct smb_request *request)
{
    uint32_t most = 0;

    for (unsigned i = 0; i < SMB_CHARGES_MAX; i++) {
        size_t at = SMB_HEADER_SIZE + request->row->charge_at[i];

        if (request->row->charge_at[i] > 0 && at + 4 <= request->bytes.len) {
            uint32_t length = le32_get(request->bytes.ptr + at);

            most = length > most ? length : most;
        }
    }
    return most;
}

static uint32_t charge_needed(const struct smb_request *request)
{
    uint32_t most = longest(request);

    return most == 0 ? 1 : (most - 1) / 65536 + 1;
}

static uint32_t charge_paid(const struct smb_request *request)
{
    if (!request->message->connection->agreed.multi_credit || request->header.credit_charge == 0)
        return 1;
    return request->header.credit_charge;
}

/* Consumes the request's message ids. ms-smb2: 3.3.5.2.3 */
static bool take_ids(struct smb_request *request)
{
    return request->header.command == SMB_CANCEL ||
           credits_take(&request->message->connection->window, request->header.message_id,
                        charge_paid(request));
}

/* ---- related requests: ms-smb2 3.3.5.2.7.2 ---- */

static enum nt_status relate(struct smb_request *request)
{
    struct smb_message *message = request->message;

    request->is_related = request->header.flags & SMB_FLAG_RELATED;
    if (!request->is_related) {
        if (message->open)
            open_release(message->open);
        message->open = NULL;
        message->failed = STATUS_SUCCESS;
    } else if (!message->has_before) {
        return STATUS_INVALID_PARAMETER;
    } else {
        request->header.session_id = message->session_id;
        request->header.tree_id = message->tree_id;
    }
    message->session_id = request->header.session_id;
    message->tree_id = request->header.tree_id;
    return message->failed;
}

/* ---- session, signature and encryption ---- */

/* Verifies the signature, and requires one if the session does. ms-smb2: 3.3.5.2.4 */
static enum nt_status check_signature(struct smb_request *request)
{
    const struct smb_session *session = request->session;
    const struct signer *signer = session_signer(session, request->message->connection);

    if (request->message->sealed_for)
        return STATUS_SUCCESS;
    request->is_signed = request->header.flags & SMB_FLAG_SIGNED;
    if (request->is_signed)
        return signer && signer_verify(signer, request->bytes) ? STATUS_SUCCESS
                                                               : STATUS_ACCESS_DENIED;
    return signer && session->requires_signing ? STATUS_ACCESS_DENIED : STATUS_SUCCESS;
}

/* Checks that an encrypted message was encrypted by the session it names, and that a session with
 * EncryptData gets no other messages. ms-smb2: 3.3.5.2.1.1, 3.3.5.2.9 */
static enum nt_status check_seal(const struct smb_request *request)
{
    const struct smb_session *sealed_for = request->message->sealed_for;

    if (sealed_for)
        return sealed_for == request->session ? STATUS_SUCCESS : STATUS_ACCESS_DENIED;
    return request->session->seals && request->header.command != SMB_SESSION_SETUP
               ? STATUS_ACCESS_DENIED
               : STATUS_SUCCESS;
}

/* Returns whether the request binds the connection to a session; bind.c then finds the session and
 * verifies the signature. On a connection that is already bound, it is a reauthentication. */
static bool binds(const struct smb_request *request)
{
    size_t at = SMB_HEADER_SIZE + SESSION_FLAGS_AT;

    return request->header.command == SMB_SESSION_SETUP && request->header.session_id != 0 &&
           at < request->bytes.len && ((uint8_t)request->bytes.ptr[at] & SESSION_BINDS) &&
           !session_find(request->message->connection, request->header.session_id);
}

/* If the request belongs to a session of another connection and its signature verifies with that
 * session's key, signs the error response with that key. ms-smb2: 3.3.5.2.4, 3.3.4.1.1 */
static void sign_for_stranger(struct smb_request *request)
{
    struct smb_session *session;

    if (!(request->header.flags & SMB_FLAG_SIGNED) ||
        service_find_session(request, request->header.session_id, NOBODY_MOVES, &session) !=
            FOUND_HERE ||
        !signer_verify(session->signer, request->bytes))
        return;
    request->session = session_hold(session);
    request->is_signed = true;
}

/* Finds the session and checks signature and encryption. NEGOTIATE, the first SESSION_SETUP and
 * ECHO need no session. */
static enum nt_status find_session(struct smb_request *request)
{
    uint16_t command = request->header.command;
    struct smb_session *session;
    enum nt_status status;

    if (command == SMB_NEGOTIATE || binds(request) ||
        (request->header.session_id == 0 && command == SMB_SESSION_SETUP))
        return STATUS_SUCCESS;
    session = session_find(request->message->connection, request->header.session_id);
    if (!session) {
        sign_for_stranger(request);
        return request->row->needs == NEEDS_NOTHING && command != SMB_SESSION_SETUP
                   ? STATUS_SUCCESS
                   : STATUS_USER_SESSION_DELETED;
    }
    request->session = session_hold(session);
    status = check_signature(request);
    if (!status)
        status = check_seal(request);
    if (status)
        return status;
    if (request->message->sealed_for)
        session->has_sealed = true;
    /* When the client then logs on again, the SESSION_SETUP response gives the reason. decision:
     * 380 */
    if (session->state == SESSION_VALID && account_refuses_keys(session->of))
        session_end(session);
    return session->state == SESSION_VALID || request->row->needs == NEEDS_NOTHING
               ? STATUS_SUCCESS
               : STATUS_USER_SESSION_DELETED;
}

/* Attaches the session to a request that has already failed, so that the response is signed. */
static void attach_session(struct smb_request *request)
{
    struct smb_session *session =
        session_find(request->message->connection, request->header.session_id);

    if (!session || !session->signer)
        return;
    request->session = session_hold(session);
    request->is_signed = request->header.flags & SMB_FLAG_SIGNED;
}

/* ---- tree connect ---- */

/* Finds the tree connect if the command needs one. ms-smb2: 3.3.5.2.11 */
static enum nt_status find_tree(struct smb_request *request)
{
    struct smb_tree *tree;

    if (request->row->needs < NEEDS_TREE)
        return STATUS_SUCCESS;
    tree = request->header.flags & SMB_FLAG_ASYNC
               ? NULL
               : smb_tree_find(request->session, request->header.tree_id);
    if (!tree)
        return STATUS_NETWORK_NAME_DELETED;
    request->tree = smb_tree_hold(tree);
    return STATUS_SUCCESS;
}

/* ---- validation ---- */

/* Checks the structure size and the flags. ms-smb2: 3.3.5.2.6 */
static enum nt_status check_form(const struct smb_request *request)
{
    const struct smb_row *row = request->row;
    size_t least = SMB_HEADER_SIZE + (row->structure_size & ~1u);
    const char *body = request->bytes.ptr + SMB_HEADER_SIZE;

    if (request->header.flags & SMB_FLAG_ASYNC && row->command != SMB_CANCEL)
        return STATUS_INVALID_PARAMETER;
    /* the body is that of an oplock or a lease break; the command's function checks it */
    if (row->command == SMB_OPLOCK_BREAK)
        return request->bytes.len >= SMB_HEADER_SIZE + 2 ? STATUS_SUCCESS
                                                         : STATUS_INVALID_PARAMETER;
    if (request->bytes.len < least)
        return STATUS_INVALID_PARAMETER;
    return (uint8_t)body[0] == (row->structure_size & 0xFF) && body[1] == 0
               ? STATUS_SUCCESS
               : STATUS_INVALID_PARAMETER;
}

static enum nt_status check_compounding(const struct smb_request *request)
{
    bool is_alone = request->message->rest.len == 0 && !request->message->has_before;

    return request->row->compounding == ALONE && !is_alone ? STATUS_INVALID_PARAMETER
                                                           : STATUS_SUCCESS;
}

static enum nt_status admit_known(struct smb_request *request)
{
    enum nt_status status = find_session(request);

    if (!status)
        status = check_form(request);
    if (!status)
        status = check_compounding(request);
    if (!status && request->message->connection->agreed.multi_credit &&
        charge_needed(request) > charge_paid(request))
        status = STATUS_INVALID_PARAMETER;
    if (!status && longest(request) > SMB_COMPOUND_BYTES_MAX - request->message->bytes_asked)
        status = STATUS_INSUFFICIENT_RESOURCES;
    if (!status)
        request->message->bytes_asked += longest(request);
    if (!status)
        status = find_tree(request);
    if (!status && request->row->needs == NEEDS_FILE)
        status = request_find_open(request, request->row->file_at);
    return status;
}

/* Cancels the request identified by the AsyncId or MessageId of a CANCEL. ms-smb2: 3.3.5.16 */
static void cancel(const struct smb_request *by)
{
    const struct smb_header *header = &by->header;

    for (struct smb_message *message = by->message->connection->messages; message;
         message = message->next) {
        struct smb_request *request = message->current;

        if (!request || request == by || request->session != by->session)
            continue;
        if (header->flags & SMB_FLAG_ASYNC
                ? request->is_parked && request->async_id == header->async_id
                : request->header.message_id == header->message_id)
            request_cancel(request, STATUS_CANCELLED);
    }
}

/* Returns whether the command is allowed: only NEGOTIATE before a dialect is negotiated, and no
 * NEGOTIATE after. ms-smb2: 3.3.5.2.2, 3.3.5.4 */
static bool is_in_order(const struct smb_request *request)
{
    bool is_agreed = request->message->connection->agreed.dialect != SMB_NO_DIALECT;

    return is_agreed != (request->header.command == SMB_NEGOTIATE);
}

/* Returns true for a TREE_CONNECT of 3.1.1 that is neither signed nor encrypted and so does not
 * authenticate the negotiation. Guest and anonymous sessions, which would be exempt, do not exist.
 * ms-smb2: 3.3.5.7 */
static bool connects_unprotected(const struct smb_request *request)
{
    return request->header.command == SMB_TREE_CONNECT &&
           request->message->connection->agreed.dialect == SMB_311 && !request->is_signed &&
           !request->message->sealed_for;
}

enum nt_status request_admit(struct smb_request *request, bool *ret_breaks)
{
    enum nt_status status;

    *ret_breaks = !is_in_order(request) || !take_ids(request);
    if (*ret_breaks)
        return STATUS_INVALID_PARAMETER;
    status = relate(request);
    request->row = smb_row_find(request->header.command);
    if (!request->row)
        return STATUS_INVALID_PARAMETER;
    if (status)
        attach_session(request);
    else
        status = admit_known(request);
    if (!status && connects_unprotected(request))
        *ret_breaks = true;
    if (request->header.command == SMB_CANCEL) { /* never has a response */
        if (!status)
            cancel(request);
        return STATUS_SUCCESS;
    }
    return status;
}
