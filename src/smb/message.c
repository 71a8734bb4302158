/* Messages: received frames, whose requests are processed one after the other. ms-smb2: 3.3.5.2 */
#include "smb/dispatch.h"
#include "smb_session/message.h"

#include <assert.h>
#include <stdlib.h>

#include "smb_session/negotiate.h"
#include "smb_session/opens.h"

static void message_free(struct smb_message *message)
{
    struct smb_connection *connection = message->connection;
    struct smb_message **at = &connection->messages;

    assert(!message->answer_arena && !message->last_signs && !message->current);
    while (*at != message)
        at = &(*at)->next;
    *at = message->next;
    connection->work_bytes -= message->size;
    if (message->open)
        open_release(message->open);
    if (message->sealed_for)
        session_release(message->sealed_for);
    arena_free(message->arena);
}

/* Decrypts a frame in place. Returns its messages, or ptr NULL if the connection must be closed.
 * ms-smb2: 3.3.5.2.1.1 */
static struct bytes unseal(struct smb_message *message, struct bytes frame)
{
    struct bytes nothing = { NULL, 0 };
    struct smb_transform transform;
    struct smb_session *session;

    if (!smb_transform_read(frame, &transform))
        return nothing;
    session = session_find(message->connection, transform.session_id);
    if (!session || !session->opener ||
        !sealer_open(session->opener, (uint8_t *)(uintptr_t)frame.ptr, frame.len))
        return nothing;
    message->sealed_for = session_hold(session);
    frame = bytes_from(frame, SMB_TRANSFORM_SIZE);
    return smb_frame_kind(frame) == SMB_FRAME_PLAIN ? frame : nothing;
}

/* Reads the header of the first request of a compound. *ret_next: offset of the next request, or 0.
 * Returns false if it is malformed. */
static bool read_header(struct bytes compound, struct smb_header *ret_header, uint32_t *ret_next)
{
    struct wire_reader r;

    wire_reader_init(&r, compound);
    if (!smb_header_read(&r, ret_header) || ret_header->flags & SMB_FLAG_RESPONSE)
        return false;
    *ret_next = ret_header->next_command;
    return *ret_next == 0 ||
           (*ret_next >= SMB_HEADER_SIZE && *ret_next % 8 == 0 && *ret_next < compound.len);
}

/* Checks the headers of all requests before the first one starts. ms-smb2: 3.3.5.2.7 */
static bool check_compound(struct bytes rest)
{
    struct smb_header header;
    uint32_t next;

    for (;;) {
        if (!read_header(rest, &header, &next))
            return false;
        if (next == 0)
            return true;
        rest = bytes_from(rest, next);
    }
}

/* Creates the next request, from a header that check_compound() has accepted. */
static void next_request(struct smb_message *message)
{
    struct smb_request *request = message_add(message);
    struct bytes rest = message->rest;
    uint32_t next = 0;
    bool is_checked = read_header(rest, &request->header, &next);

    assert(is_checked);
    (void)is_checked;
    request->bytes = next > 0 ? bytes_of(rest.ptr, next) : rest;
    message->rest = next > 0 ? bytes_from(rest, next) : bytes_of(NULL, 0);
}

bool message_take(struct smb_connection *connection, struct bytes bytes, struct arena *arena)
{
    enum smb_frame kind = smb_frame_kind(bytes);
    struct smb_message *message;

    if (kind != SMB_FRAME_PLAIN && kind != SMB_FRAME_SEALED && kind != SMB_FRAME_SMB1) {
        arena_free(arena);
        return smb_break(connection, "a frame that is neither SMB2 nor sealed");
    }
    if (!arena) {
        arena = smb_message_arena(connection);
        bytes = arena_copy(arena, bytes);
    }
    message = message_new(connection, arena, bytes.len);
    if (kind == SMB_FRAME_SMB1) {
        if (!negotiate_smb1(message, bytes)) {
            message_free(message);
            return smb_break(connection, "an SMB1 message that is not a negotiation");
        }
    } else {
        if (kind == SMB_FRAME_SEALED)
            bytes = unseal(message, bytes);
        if (!bytes.ptr || !check_compound(bytes)) {
            message_free(message);
            return smb_break(connection,
                             "a message that is malformed, or encrypted for an unknown session");
        }
        message->rest = bytes;
        next_request(message);
    }
    message_run(message);
    return !connection->is_broken;
}

void message_run_own(struct smb_connection *connection)
{
    if (connection->runs_own) /* the outer call runs them */
        return;
    connection->runs_own = true;
    while (connection->own) {
        struct smb_request *request = connection->own;

        connection->own = request->next_woken;
        if (!connection->own)
            connection->last_own = &connection->own;
        request->next_woken = NULL;
        message_run(request->message);
    }
    connection->runs_own = false;
}

void message_run(struct smb_message *message)
{
    struct smb_connection *connection = message->connection;

    assert(!message->runs);
    message->runs = true;
    while (message->current) {
        struct smb_request *request = message->current;

        if (!connection->is_broken || message->is_own || request->state != ADMIT)
            request_run(request);
        else
            request->state = ANSWERED;
        message_run_own(connection);
        if (request->state != ANSWERED) {
            message->runs = false;
            return;
        }
        request_over(request);
        arena_rewind(message->arena, message->before);
        arena_end_decision(message->arena);
        message->has_before = true;
        message->current = NULL;
        if (message->rest.len > 0)
            next_request(message);
    }
    message_flush(message);
    message_free(message);
}
