/* A connection: processes messages, resumes woken requests, and ends once both are done. */
#include "smb/connection.h"
#include "smb/dispatch.h"
#include "smb_session/channels.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#include "smb_session/caching.h"
#include "smb_session/clients.h"
#include "smb_session/service.h"

struct smb_connection *smb_connection_new(struct smb_service *service, struct smb_host *host,
                                          struct bytes peer)
{
    struct smb_connection *connection = xcalloc(1, sizeof *connection);

    connection->service = service;
    connection->host = host;
    connection->memory.client = memory_share_of_client(connection);
    connection->peer = bytes_of(memcpy(xmalloc(peer.len + 1), peer.ptr, peer.len), peer.len);
    connection->opens = open_table_new();
    connection->last_own = &connection->own;
    credits_init(&connection->window);
    atomic_init(&connection->woken, NULL);
    atomic_init(&connection->has_posted_breaks, false);
    atomic_init(&connection->posted_breaks, NULL);
    atomic_init(&connection->has_client_breaks, false);
    atomic_init(&connection->sessions_end, false);
    atomic_init(&connection->posters, 0);
    atomic_init(&connection->called_by, NULL);
    atomic_init(&connection->called_to, NULL);
    return connection;
}

void smb_connection_free(struct smb_connection *connection)
{
    assert(!connection->sessions && !connection->channels && !connection->messages);
    assert(connection->parked_count == 0);
    open_table_free(connection->opens);
    free((char *)(uintptr_t)connection->peer.ptr);
    free(connection);
}

size_t smb_connection_message_max(const struct smb_connection *connection)
{
    return connection->is_authenticated ? SMB_MESSAGE_MAX : SMB_MESSAGE_MAX_UNTRUSTED;
}

bool smb_connection_has_room(const struct smb_connection *connection)
{
    return connection->work_bytes < SMB_WORK_BYTES_MAX &&
           connection->unsent_bytes < SMB_UNSENT_BYTES_MAX;
}

/* ---- end ---- */

/* Reports the end to the host once nothing else refers to the connection and no thread is posting
 * to it. */
static void settle(struct smb_connection *connection)
{
    if (connection->depth > 0 || !connection->ends || connection->has_ended ||
        connection->messages || connection->sessions)
        return;
    while (atomic_load(&connection->posters) > 0)
        sched_yield();
    client_breaks_send(connection); /* breaks queued for ended sessions are passed on */
    connection->has_ended = true;
    connection->host->ended(connection->host);
}

static bool leave(struct smb_connection *connection)
{
    bool is_broken = connection->is_broken;

    assert(connection->depth > 0);
    message_run_own(connection);
    connection->depth--;
    settle(connection); /* may free the connection */
    return !is_broken;
}

/* Handles another connection's request to move this one, which shares no session, to the thread
 * identified by called_to. Wakes that request once this connection has moved, or cannot move. */
static void answer_call(struct smb_connection *connection)
{
    struct smb_request *by = atomic_load(&connection->called_by);
    const void *place = atomic_load(&connection->called_to);

    if (!by || !place)
        return;
    if (place != connection->host->place(connection->host) && !connection->ends &&
        !connection_is_joined(connection)) {
        connection->host->move(connection->host, place);
        smb_post(connection, NULL);
        return;
    }
    atomic_store(&connection->called_to, NULL);
    atomic_store(&connection->called_by, NULL);
    pause_wake(&by->driver.pause);
}

/* Returns whether the request is a create that its client may replay on another channel. ms-smb2:
 * 3.3.5.9.10 */
static bool goes_on(const struct smb_request *request)
{
    return request->row && request->row->command == SMB_CREATE && request->open &&
           request->open->has_create &&
           session_outlives(request->session, request->message->connection);
}

/* Cancels parked requests, whose responses cannot be sent. */
static void cancel_parked(struct smb_connection *connection)
{
    for (struct smb_message *message = connection->messages; message; message = message->next)
        if (message->current && !message->is_own && !goes_on(message->current))
            request_cancel(message->current, STATUS_CANCELLED);
}

void smb_connection_end(struct smb_connection *connection)
{
    connection->depth++;
    connection->ends = true;
    cancel_parked(connection);
    connection_leave_channels(connection);
    answer_call(connection);
    for (struct smb_session *session = connection->sessions, *next; session; session = next) {
        next = session->next;
        session_hold(session);
        if (session->state != SESSION_ENDS && !session_has_channels(session))
            session_end(session);
        next = session->next;
        session_release(session);
    }
    leave(connection);
}

/* ---- input and output ---- */

/* Sends pending breaks and change notifications, before the next message is processed. */
static void send_news(struct smb_connection *connection)
{
    if (connection->unflushed == 0 && atomic_exchange(&connection->has_posted_breaks, false))
        caching_send_breaks(connection);
    client_breaks_send(connection);
    watches_answer(connection);
}

bool smb_connection_take(struct smb_connection *connection, struct bytes message,
                         struct arena *arena)
{
    assert(!connection->ends && message.len <= smb_connection_message_max(connection));
    if (connection->is_broken) {
        arena_free(arena);
        return false;
    }
    connection->depth++;
    message_take(connection, message, arena);
    send_news(connection);
    return leave(connection);
}

static void end_sessions(struct smb_connection *connection)
{
    for (struct smb_session *session = connection->sessions, *next; session; session = next) {
        session_hold(session);
        if (atomic_exchange(&session->is_to_end, false) && session->state != SESSION_ENDS)
            session_end(session);
        next = session->next;
        session_release(session);
    }
}

/* Removes and returns the woken requests, in the order in which they were woken. */
static struct smb_request *take_woken(struct smb_connection *connection)
{
    struct smb_request *last = atomic_exchange(&connection->woken, NULL), *first = NULL;

    while (last) {
        struct smb_request *next = last->next_woken;

        last->next_woken = first;
        first = last;
        last = next;
    }
    return first;
}

bool smb_connection_run(struct smb_connection *connection)
{
    struct smb_request *request;

    connection->depth++;
    answer_call(connection);
    connection_close_some(connection);
    if (atomic_exchange(&connection->sessions_end, false))
        end_sessions(connection);
    /* Requests woken after this point have posted the connection again. They run later, so that
     * other connections of the thread are served. */
    request = take_woken(connection);
    while (request) {
        struct smb_request *next = request->next_woken;

        message_run(request->message);
        request = next;
    }
    send_news(connection);
    return leave(connection);
}

void smb_connection_sent(struct smb_connection *connection, size_t size)
{
    assert(size <= connection->unsent_bytes);
    connection->unsent_bytes -= size;
}
