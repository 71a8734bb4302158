/* Posting to a connection, running internal requests, and closing after errors; used
 * throughout smb/. */
#include "smb_session/message.h"

#include <assert.h>

#include "base/log.h"

bool smb_break(struct smb_connection *connection, const char *why)
{
    if (!connection->is_broken && !connection->ends)
        log_line(LOG_INFO, "SMB connection of %.*s is closed: %s", BYTES_ARG(connection->peer),
                 why);
    connection->is_broken = true;
    return false;
}

void smb_post(struct smb_connection *connection, struct smb_request *request)
{
    struct smb_host *host = connection->host;

    if (request) {
        struct smb_request *first = atomic_load(&connection->woken);

        do
            request->next_woken = first;
        while (!atomic_compare_exchange_weak(&connection->woken, &first, request));
    }
    host->post(host);
}

void smb_run(struct smb_request *request)
{
    struct smb_connection *connection = request->message->connection;

    assert(request->message->is_own && !request->next_woken);
    *connection->last_own = request;
    connection->last_own = &request->next_woken;
    if (connection->depth == 0) /* called from a step of another connection */
        smb_post(connection, NULL);
}

void smb_post_news(struct smb_connection *connection)
{
    atomic_fetch_add(&connection->posters, 1);
    smb_post(connection, NULL);
    atomic_fetch_sub(&connection->posters, 1);
}
