/* Creation of messages and requests. */
#include "smb_session/message.h"
#include "smb_session/opens.h"

#include <assert.h>

struct arena *smb_message_arena(const struct smb_connection *connection)
{
    struct arena *arena = arena_new_charged(SMB_MESSAGE_ARENA_MAX, MEMORY_SMB_REQUEST);

    arena_charge_to(arena, connection->memory);
    return arena;
}

struct smb_message *message_new(struct smb_connection *connection, struct arena *arena, size_t size)
{
    struct smb_message *message = arena_alloc(arena, sizeof *message);

    message->arena = arena;
    message->connection = connection;
    message->began_ns = clock_monotonic_ns();
    message->next = connection->messages;
    connection->messages = message;
    message_charge(message, size);
    return message;
}

void message_charge(struct smb_message *message, size_t size)
{
    message->size += size;
    message->connection->work_bytes += size;
}

_Static_assert(offsetof(struct smb_request, decision) + sizeof(struct decision) ==
                   sizeof(struct smb_request),
               "what message_add() does not zero is at the end");

struct smb_request *message_add(struct smb_message *message)
{
    struct smb_request *request;

    assert(!message->current);
    message->before = arena_mark(message->arena);
    request = arena_alloc_head(message->arena, sizeof *request,
                               offsetof(struct smb_request, decision.parts));
    request->message = message;
    request->began_ns = message->began_ns;
    request->state = ADMIT;
    request_init_pause(request);
    message->current = request;
    return request;
}

struct smb_request *request_of_own(struct smb_open *open, const struct smb_row *row)
{
    struct smb_connection *connection = open->tree->session->connection;
    struct smb_message *message = message_new(connection, smb_message_arena(connection), 0);
    struct smb_request *request = message_add(message);

    message->is_own = true;
    request->row = row;
    request->state = BEGIN;
    request->session = session_hold(open->tree->session);
    request->tree = smb_tree_hold(open->tree);
    request->open = open_hold(open);
    return request;
}
