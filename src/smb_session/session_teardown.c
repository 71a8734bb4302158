/* Teardown of sessions and tree connects: cancels their parked requests and closes their opens, but
 * preserves the durable opens of a session. ms-smb2: 3.3.5.6, 3.3.5.8, 3.3.7.1 */
#include "smb_session/channels.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include <assert.h>

/* Cancels the parked requests of one connection with a status that tells the client why. As in
 * Windows, a waiting LOCK succeeds, as if it had been granted and then released with its handle.
 * decision: 376 */
static void cancel_in(const struct smb_connection *connection, const struct smb_session *session,
                      const struct smb_tree *tree)
{
    for (struct smb_message *message = connection->messages; message; message = message->next) {
        struct smb_request *request = message->current;

        if (!request || request->session != session || (tree && request->tree != tree))
            continue;
        request_cancel(request, request->row && request->row->command == SMB_LOCK ? STATUS_SUCCESS
                                : tree ? STATUS_NETWORK_NAME_DELETED
                                       : STATUS_USER_SESSION_DELETED);
    }
}

static void cancel_parked(const struct smb_session *session, const struct smb_tree *tree)
{
    cancel_in(session->connection, session, tree);
    for (const struct smb_channel *channel = session->channels; channel; channel = channel->next)
        cancel_in(channel->connection, session, tree);
}

/* ---- closing opens, up to SMB_CLOSED_AT_ONCE at a time ---- */

static void add_leaving(struct smb_connection *connection, struct smb_open *open)
{
    open->is_open = false;
    open->next_leaving = NULL;
    *(connection->leaving ? &connection->last_leaving->next_leaving : &connection->leaving) = open;
    connection->last_leaving = open;
}

static void leave_opens(const struct smb_session *session)
{
    struct smb_connection *connection = session->connection;
    struct smb_open *open;

    /* Durable handles first, since their client may be reconnecting already. */
    for (uint32_t slot = 0; (open = opens_next(connection->opens, &slot));)
        if (open->tree->session == session && open->durable.kind != DURABLE_NONE)
            add_leaving(connection, open);
    for (uint32_t slot = 0; (open = opens_next(connection->opens, &slot));)
        if (open->tree->session == session)
            add_leaving(connection, open);
    connection_close_some(connection);
}

static void close_opens(const struct smb_tree *tree)
{
    struct smb_connection *connection = tree->session->connection;
    struct smb_open *open;

    for (uint32_t slot = 0; (open = opens_next(connection->opens, &slot));)
        if (open->tree == tree) {
            open->durable.kind = DURABLE_NONE;
            add_leaving(connection, open);
        }
    connection_close_some(connection);
}

void connection_close_some(struct smb_connection *connection)
{
    struct smb_open *open;

    for (unsigned i = 0; i < SMB_CLOSED_AT_ONCE && (open = connection->leaving); i++) {
        connection->leaving = open->next_leaving;
        open_leave_unfound(open);
    }
    if (connection->leaving)
        smb_post(connection, NULL);
}

void session_end(struct smb_session *session)
{
    assert(session->state != SESSION_ENDS);
    session->state = SESSION_ENDS;
    service_unlist_session(session->connection->service, session);
    cancel_parked(session, NULL);
    leave_opens(session);
    while (session->trees)
        smb_tree_end(session->trees);
    if (session->open_count == 0)
        service_remove_session(session->connection->service, session);
    session_release(session);
}

/* Unbinds the connection from the sessions of others. A session without any connection left
 * ends. */
void connection_leave_channels(struct smb_connection *connection)
{
    while (connection->channels) {
        struct smb_session *session = connection->channels->session;

        channel_free(connection->channels);
        if (session->connection->ends && session->state != SESSION_ENDS &&
            !session_has_channels(session))
            session_end(session);
    }
}

void smb_tree_end(struct smb_tree *tree)
{
    struct smb_session *session = tree->session;
    struct smb_tree **at = &session->trees;

    while (*at != tree)
        at = &(*at)->next;
    *at = tree->next;
    tree->ends = true;
    session->tree_count--;
    if (session->state != SESSION_ENDS) {
        cancel_parked(session, tree);
        close_opens(tree);
    }
    smb_tree_release(tree);
}
