/* Messages: what came in a frame, split into its requests, one after the other. ms-smb2: 3.3.5.2 */
#include "smb/message.h"

#include <assert.h>
#include <stdlib.h>

#include "smb/negotiate.h"
#include "smb/opens.h"

static void message_free(struct smb_message *message)
{
    struct smb_connection *connection = message->connection;
    struct smb_message **at = &connection->messages;

    assert(!message->answer_arena && !message->last_signs);
    while (*at != message)
        at = &(*at)->next;
    *at = message->next;
    connection->work_bytes -= message->size;
    for (struct smb_request *request = message->first; request; request = request->next)
        request_over(request);
    if (message->open)
        open_release(message->open);
    if (message->sealed_for)
        session_release(message->sealed_for);
    arena_free(message->arena);
}

/* Opens a sealed frame in place. returns what was in it; ptr NULL: it is to be closed.
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

/* A list of requests of a compound. ms-smb2: 3.3.5.2.7 */
static bool split(struct smb_message *message, struct bytes rest)
{
    struct smb_request *request = NULL;

    for (;;) {
        struct wire_reader r;
        uint32_t next;

        request = message_add(message, request);
        wire_reader_init(&r, rest);
        if (!smb_header_read(&r, &request->header))
            return false;
        next = request->header.next_command;
        if (request->header.flags & SMB_FLAG_RESPONSE)
            return false;
        if (next > 0 && (next < SMB_HEADER_SIZE || next % 8 || next >= rest.len))
            return false;
        request->bytes = next > 0 ? bytes_of(rest.ptr, next) : rest;
        if (next == 0)
            return true;
        rest = bytes_from(rest, next);
    }
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
            return smb_break(connection, "an SMB1 message that is no negotiation");
        }
    } else {
        if (kind == SMB_FRAME_SEALED)
            bytes = unseal(message, bytes);
        if (!bytes.ptr || !split(message, bytes)) {
            message_free(message);
            return smb_break(connection, "a message that is malformed, or sealed by nobody");
        }
    }
    message_run(message);
    return !connection->is_broken;
}

void message_run(struct smb_message *message)
{
    assert(!message->runs);
    message->runs = true;
    while (message->current) {
        struct smb_request *request = message->current;

        if (request->state == ADMIT || request->state == BEGIN)
            message->before = arena_mark(message->arena);
        if (!message->connection->is_broken || message->is_own || request->state != ADMIT)
            request_run(request);
        else
            request->state = ANSWERED;
        if (request->state != ANSWERED) {
            message->runs = false;
            return;
        }
        request_over(request);
        arena_rewind(message->arena, message->before);
        arena_end_decision(message->arena);
        message->has_before = true;
        message->current = request->next;
    }
    message_flush(message);
    message_free(message);
}
