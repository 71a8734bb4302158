/* Authentication, shared by new sessions and channels. README.md, invariant 9 */
#include "base/episode.h"
#include "base/log.h"
#include "service/waiting.h"
#include "auth/logons.h"
#include "smb_session/session_setup.h"
#include "smb_session/service.h"
#include "smb_protocol/spnego.h"

void connection_authenticated(struct smb_connection *connection, const struct account *account)
{
    if (connection->is_authenticated)
        return;
    connection->is_authenticated = true;
    connection->memory.account = memory_share_of_account(account);
    connection->host->authenticated(connection->host, account);
}

bool session_setup_may_try(const struct smb_connection *connection)
{
    return logons_may_try(connection->service->logons, connection->host->address, clock_wall());
}

enum nt_status session_setup_locked_out(void)
{
    episode_refused(EPISODE_LOGONS);
    return STATUS_ACCOUNT_LOCKED_OUT;
}

/* Interval of checks whether a delayed logon may proceed. */
#define LOOKED_AT_TICKS (TICKS_PER_SECOND / 4)

bool session_setup_hold(struct smb_request *request)
{
    struct session_setup *setup = request->parameters;
    struct smb_connection *connection = request->message->connection;
    instant now = clock_now();

    if (setup->held_until == 0) {
        if (connection->holds_logon)
            return false;
        connection->holds_logon = true;
        setup->held_until = now + connection->service->options.logon_patience_s * TICKS_PER_SECOND;
    }
    episode_goes_on(EPISODE_LOGONS, NULL);
    return now < setup->held_until && waiters_delay(now + LOOKED_AT_TICKS, request_arm(request));
}

void smb_session_setup_over(struct smb_request *request)
{
    const struct session_setup *setup = request->parameters;

    if (setup->held_until > 0)
        request->message->connection->holds_logon = false;
}

static void failed(struct smb_connection *connection)
{
    logons_failed(connection->service->logons, connection->host->address, clock_wall());
    log_line(LOG_INFO, "SMB logon of %.*s refused", BYTES_ARG(connection->peer));
}

/* Returns whether an authenticated client may use the connection. decision: 364, 380, 1438 */
static enum nt_status check_account(const struct smb_connection *connection,
                                    const struct account *account)
{
    if (connection->host->is_forwarded && account_is_confined(account))
        return STATUS_ACCESS_DENIED;
    if (account_is_disabled(account))
        return STATUS_ACCOUNT_DISABLED;
    return account_refuses_keys(account) ? STATUS_ACCESS_DENIED : STATUS_SUCCESS;
}

enum nt_status session_setup_step(struct smb_request *request, struct spnego **logon,
                                  struct preauth *preauth)
{
    struct session_setup *setup = request->parameters;
    struct smb_connection *connection = request->message->connection;
    bool is_hashed = preauth && connection->agreed.dialect == SMB_311;

    if (!*logon)
        *logon = spnego_new(connection->service->accounts, NULL);
    if (is_hashed)
        preauth_add(preauth, request->bytes);
    switch (
        spnego_step(*logon, request->message->arena, setup->given, clock_wall(), &setup->token)) {
    case SPNEGO_MORE:
        if (is_hashed)
            request->message->adds_to = preauth;
        return STATUS_MORE_PROCESSING_REQUIRED;
    case SPNEGO_DONE:
        return check_account(connection, spnego_account(*logon));
    case SPNEGO_REFUSED:
        failed(connection);
        return STATUS_LOGON_FAILURE;
    case SPNEGO_MALFORMED:
        break;
    }
    return STATUS_INVALID_PARAMETER;
}
