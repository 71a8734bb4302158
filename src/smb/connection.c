/* A connection: what is passed in goes to its messages, what was woken goes on, and the end waits for both. */
#include "smb/smb_private.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

#include "smb/caching.h"

struct smb_connection *smb_connection_new(struct smb_service *service, struct smb_host *host,
                                          struct bytes peer)
{
    struct smb_connection *connection = xcalloc(1, sizeof *connection);

    connection->service = service;
    connection->host = host;
    connection->peer = bytes_of(memcpy(xmalloc(peer.len + 1), peer.ptr, peer.len), peer.len);
    connection->opens = open_table_new();
    connection->run_message = message_run;
    connection->find_row = smb_row_find;
    credits_init(&connection->window);
    atomic_init(&connection->woken, NULL);
    atomic_init(&connection->breaks_come, false);
    atomic_init(&connection->sessions_end, false);
    atomic_init(&connection->posters, 0);
    return connection;
}

void smb_connection_free(struct smb_connection *connection)
{
    assert(!connection->sessions && !connection->messages && connection->parked_count == 0);
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

/* ---- the end ---- */

/* Nothing refers to it but the host, once no thread is inside of a post to it. */
static void settle(struct smb_connection *connection)
{
    if (connection->depth > 0 || !connection->ends || connection->has_ended ||
        connection->messages || connection->sessions)
        return;
    while (atomic_load(&connection->posters) > 0)
        sched_yield();
    connection->has_ended = true;
    connection->host->ended(connection->host);
}

static bool leave(struct smb_connection *connection)
{
    bool is_broken = connection->is_broken;

    assert(connection->depth > 0);
    connection->depth--;
    settle(connection); /* may be the last of it */
    return !is_broken;
}

void smb_connection_end(struct smb_connection *connection)
{
    connection->depth++;
    connection->ends = true;
    for (struct smb_session *session = connection->sessions, *next; session; session = next) {
        next = session->next;
        session_hold(session);
        if (session->state != SESSION_ENDS)
            session_end(session);
        next = session->next;
        session_release(session);
    }
    leave(connection);
}

/* ---- in and out ---- */

/* What its own messages and others have told it, before the next message is looked at. */
static void send_news(struct smb_connection *connection)
{
    if (atomic_exchange(&connection->breaks_come, false))
        caching_send_breaks(connection);
    watches_answer(connection);
}

bool smb_connection_take(struct smb_connection *connection, struct bytes message)
{
    assert(!connection->ends && message.len <= smb_connection_message_max(connection));
    if (connection->is_broken)
        return false;
    connection->depth++;
    message_take(connection, message);
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

/* In the order in which they were woken. */
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
    if (atomic_exchange(&connection->sessions_end, false))
        end_sessions(connection);
    while ((request = take_woken(connection))) {
        while (request) {
            struct smb_request *next = request->next_woken;

            message_run(request->message);
            request = next;
        }
    }
    send_news(connection);
    return leave(connection);
}

void smb_connection_sent(struct smb_connection *connection, size_t size)
{
    assert(size <= connection->unsent_bytes);
    connection->unsent_bytes -= size;
}
