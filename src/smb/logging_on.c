/* What every logon does, whether it begins a session or joins one. README.md, invariant 9 */
#include "base/episode.h"
#include "base/log.h"
#include "smb/logons.h"
#include "smb/session_setup.h"

void connection_authenticated(struct smb_connection *connection)
{
    if (connection->is_authenticated)
        return;
    connection->is_authenticated = true;
    connection->host->authenticated(connection->host);
}

bool session_setup_may_try(const struct smb_connection *connection)
{
    bool may = logons_may_try(connection->service->logons, connection->host->address, clock_wall());

    if (!may)
        episode_refused(EPISODE_LOGONS);
    return may;
}

void session_setup_failed(struct smb_connection *connection)
{
    logons_failed(connection->service->logons, connection->host->address, clock_wall());
    log_line(LOG_INFO, "SMB logon of %.*s refused", BYTES_ARG(connection->peer));
}
