/* Responses: appended to those of the compound, signed, encrypted and sent. ms-smb2: 3.3.4.1 */
#include "smb_session/channels.h"
#include "smb_session/opens.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "base/memory_budget.h"

/* Space before the first response in a buffer: frame length and transform header. */
#define FRAME_SIZE   4u
#define ANSWERS_AT   (FRAME_SIZE + SMB_TRANSFORM_SIZE)
#define NEXT_AT      20u /* NextCommand in the header */
#define ANSWER_GUESS 512u
/* Space after the data of a response, for padding. */
#define BEHIND_ROOM  8u

/* Signs the last response, whose padding has been appended, and adds it to the preauthentication
 * hash. */
static void seal_last(struct smb_message *message)
{
    uint8_t *at = (uint8_t *)message->answer.ptr + message->last_at;
    size_t size = message->answer.len - message->last_at;

    if (message->last_signs) {
        signer_sign(message->last_signer, at, size);
        session_release(message->last_signs);
        message->last_signs = NULL;
    }
    if (message->adds_to)
        preauth_add(message->adds_to, bytes_of(at, size));
    message->adds_to = NULL;
}

/* ---- sending ---- */

void smb_packet_free(struct smb_packet *packet)
{
    arena_free(packet->arena);
}

/* Sends a buffer whose messages start at ANSWERS_AT, encrypted if `sealed_for` is set. */
static void send(struct smb_connection *connection, struct arena *arena, struct text *text,
                 struct smb_session *sealed_for)
{
    struct smb_packet *packet = arena_alloc(arena, sizeof *packet);
    uint8_t *at = (uint8_t *)text->ptr + (sealed_for ? 0 : SMB_TRANSFORM_SIZE);
    size_t size = text->len - (sealed_for ? 0 : SMB_TRANSFORM_SIZE);

    if (sealed_for &&
        !sealer_seal(sealed_for->sealer, sealed_for->id, at + FRAME_SIZE, size - FRAME_SIZE)) {
        arena_free(arena);
        smb_break(connection, "a session has used its key up");
        return;
    }
    be32_put(at, (uint32_t)(size - FRAME_SIZE));
    *packet = (struct smb_packet){ .bytes = at, .size = size, .arena = arena };
    connection->unsent_bytes += size;
    connection->host->send(connection->host, packet);
}

void message_holds_breaks(struct smb_message *message)
{
    message->connection->unflushed += !message->holds_breaks;
    message->holds_breaks = true;
}

/* Ends the delay of message_holds_breaks(). */
static void let_breaks_go(struct smb_message *message)
{
    struct smb_connection *connection = message->connection;

    if (!message->holds_breaks)
        return;
    message->holds_breaks = false;
    assert(connection->unflushed > 0);
    if (--connection->unflushed == 0 && atomic_load(&connection->has_posted_breaks))
        smb_post(connection, NULL);
}

void message_flush(struct smb_message *message)
{
    struct smb_connection *connection = message->connection;
    struct arena *arena = message->answer_arena;

    let_breaks_go(message);
    if (!arena)
        return;
    seal_last(message);
    message->answer_arena = NULL;
    if (connection->ends || connection->is_broken || message->answer.len == 0)
        arena_free(arena);
    else
        send(connection, arena, &message->answer, message->sealed_for);
}

/* ---- building a response ---- */

static void open_answer(struct smb_message *message, size_t capacity)
{
    if (message->answer_arena)
        return;
    message->answer_arena = arena_new_charged(SMB_ANSWER_ARENA_MAX, MEMORY_SMB_RESPONSE);
    arena_charge_to(message->answer_arena, message->connection->memory);
    text_init(&message->answer, message->answer_arena, capacity);
}

/* Returns the offset of the next response's header, aligned to 8 bytes after the last response.
 * ms-smb2: 3.3.4.1.3 */
static size_t next_at(const struct smb_message *message)
{
    if (!message->answer_arena || message->answer.len == 0)
        return ANSWERS_AT;
    return message->last_at + (message->answer.len - message->last_at + 7) / 8 * 8;
}

char *message_room(struct smb_request *request, size_t fixed, size_t size)
{
    struct smb_message *message = request->message;
    size_t at = next_at(message) + SMB_HEADER_SIZE + fixed;

    if (!memory_budget_covers(message->connection->memory, size)) {
        memory_budget_refused();
        return NULL;
    }
    open_answer(message, at + size + BEHIND_ROOM);
    text_reserve(&message->answer, at - message->answer.len + size + BEHIND_ROOM);
    return message->answer.ptr + at;
}

/* Starts the next response, and completes the last one with NextCommand and its signature. */
static void begin_answer(struct smb_message *message, struct wire_writer *w)
{
    size_t at = next_at(message);
    bool is_first = at == ANSWERS_AT;

    open_answer(message, ANSWER_GUESS);
    *w = (struct wire_writer){ .out = &message->answer, .start = message->last_at };
    wire_put_zeros(w, at - message->answer.len);
    if (!is_first) {
        wire_set_u32(w, NEXT_AT, (uint32_t)(at - message->last_at));
        seal_last(message);
    }
    message->last_at = at;
    wire_writer_init(w, &message->answer);
}

void answer_error_body(struct smb_request *request, struct wire_writer *w)
{
    (void)request;
    wire_put_u16(w, 9); /* StructureSize */
    /* ErrorContextCount, Reserved, ByteCount, one byte of ErrorData */
    wire_put_zeros(w, 1 + 1 + 4 + 1);
}

/* Writes the header of a response. ms-smb2: 3.3.4.1 */
static void write_header(struct smb_request *request, enum nt_status status, uint16_t credits,
                         struct wire_writer *w)
{
    struct smb_header header = {
        .credit_charge = request->header.credit_charge,
        .status = nt_status_value(status),
        .command = request->header.command,
        .credits = credits,
        .flags =
            SMB_FLAG_RESPONSE | (request->header.flags & (SMB_FLAG_RELATED | SMB_FLAG_PRIORITY)),
        .message_id = request->header.message_id,
        .session_id = request->header.session_id,
    };

    if (request->is_parked) {
        header.flags |= SMB_FLAG_ASYNC;
        header.async_id = request->async_id;
    } else {
        header.process_id = request->header.process_id;
        header.tree_id = request->header.tree_id;
    }
    smb_header_write(w, &header);
}

/* Returns whether the response is signed. Encrypted responses are not. ms-smb2: 3.3.4.1.1 */
static bool is_to_be_signed(const struct smb_request *request)
{
    return request->session && request->session->signer && !request->message->sealed_for &&
           (request->is_signed || request->session->requires_signing);
}

void message_answer(struct smb_request *request, enum nt_status status, smb_body_fn *body)
{
    struct smb_message *message = request->message;
    struct smb_connection *connection = message->connection;
    struct wire_writer w;
    uint16_t credits = 0;

    log_line(LOG_DEBUG, "%.*s SMB %s: %s", BYTES_ARG(connection->peer),
             request->row ? request->row->name : "unknown", nt_status_name(status));
    if (message->is_own || connection->ends)
        return;
    smb_log(request, status);
    if (!request->is_parked) /* a parked request got its credits with the interim response */
        credits = credits_grant(&connection->window, request->header.credits);
    begin_answer(message, &w);
    write_header(request, status, credits, &w);
    body(request, &w);
    smb_count(request, status, message->answer.len - message->last_at);
    smb_pay(request, message->answer.len - message->last_at);
    if (is_to_be_signed(request)) {
        message->last_signs = session_hold(request->session);
        message->last_signer = session_signer(request->session, connection);
    }
    if (request->is_parked)
        message_flush(message);
}

/* Sends the interim response. It is never signed, because its AES-GMAC nonce would be that of the
 * final response. ms-smb2: 3.3.4.2 */
void message_interim(struct smb_request *request)
{
    struct smb_message *message = request->message;
    struct smb_connection *connection = message->connection;
    struct wire_writer w;

    assert(request->is_parked);
    message_flush(message);
    if (connection->ends)
        return;
    begin_answer(message, &w);
    write_header(request, STATUS_PENDING,
                 credits_grant(&connection->window, request->header.credits), &w);
    answer_error_body(request, &w);
    message_flush(message);
}

/* ---- notifications ---- */

/* Sends a notification: without message id and credits, and unsigned; encrypted if the client has
 * sent encrypted messages. ms-smb2: 3.3.4.6, 3.3.4.7 */
void smb_tell(struct smb_connection *connection, struct smb_session *session, uint16_t command,
              struct bytes body)
{
    const struct smb_header header = {
        .command = command,
        .flags = SMB_FLAG_RESPONSE,
        .message_id = UINT64_MAX,
    };
    struct arena *arena;
    struct wire_writer w;
    struct text text;

    if (connection->ends || connection->is_broken)
        return;
    arena = arena_new(SMB_ANSWER_ARENA_MAX);
    text_init(&text, arena, ANSWER_GUESS);
    wire_writer_init(&w, &text);
    wire_put_zeros(&w, ANSWERS_AT);
    wire_writer_init(&w, &text);
    smb_header_write(&w, &header);
    wire_put(&w, body);
    send(connection, arena, &text, session && session->has_sealed ? session : NULL);
}
