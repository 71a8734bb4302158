/* Access log, audit log (observe/access_log.h) and Storage Analytics metrics. */
#include "observe/access_log.h"
#include "observe/analytics_event.h"
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#define PATH_MAX_BYTES 1024u

/* Writes the path "share/folder/file", with the names of a CREATE as requested. Returns its
 * length. */
static size_t write_path(const struct smb_request *request, char path[PATH_MAX_BYTES])
{
    size_t at = 0;

    for (size_t i = 0; i <= request->name_count && request->tree; i++) {
        struct bytes name = i == 0 ? request->tree->tree_connect.share : request->names[i - 1];

        if (name.len + 1 > PATH_MAX_BYTES - at)
            break;
        if (i > 0)
            path[at++] = '/';
        if (name.len > 0)
            memcpy(path + at, name.ptr, name.len);
        at += name.len;
    }
    return at;
}

void smb_log(const struct smb_request *request, enum nt_status status)
{
    const struct smb_row *row = request->row;
    char path[PATH_MAX_BYTES];
    struct smb_logged logged;

    if (!row || !access_log_wants_smb(row->changes))
        return;
    logged = (struct smb_logged){
        .command = row->name,
        .status = nt_status_name(status),
        .changes = row->changes,
        .account = bytes_from_string(request->session ? request->session->account : NULL),
        .client = request->message->connection->peer,
        .handle = request->open ? request->open->volatile_id : 0,
    };
    logged.path = bytes_of(path, write_path(request, path));
    access_log_smb(&logged);
}

/* Returns the outcome that metrics report for the corresponding HTTP status (status.c). */
static enum analytics_outcome outcome_of(enum nt_status status)
{
    if (!nt_status_is_error(status) || status == STATUS_MORE_PROCESSING_REQUIRED)
        return OUTCOME_SUCCESS;
    if (status == STATUS_ACCESS_DENIED || status == STATUS_LOGON_FAILURE ||
        status == STATUS_ACCOUNT_DISABLED || status == STATUS_ACCOUNT_LOCKED_OUT)
        return OUTCOME_AUTHORIZATION;
    if (status == STATUS_INSUFFICIENT_RESOURCES || status == STATUS_INSUFF_SERVER_RESOURCES)
        return OUTCOME_THROTTLING;
    if (status == STATUS_IO_TIMEOUT)
        return OUTCOME_SERVER_TIMEOUT;
    if (status == STATUS_INTERNAL_ERROR || status == STATUS_UNEXPECTED_IO_ERROR ||
        status == STATUS_DATA_ERROR)
        return OUTCOME_SERVER_OTHER;
    return OUTCOME_CLIENT_OTHER;
}

void smb_count(const struct smb_request *request, enum nt_status status, size_t answered)
{
    const struct account *account = request->session ? request->session->of : NULL;
    unsigned service = request->message->connection->service->options.counted_as;

    if (!account || !request->row || !analytics_counts(account, service))
        return;
    analytics_count(&(struct analytics_event){
        .account = account,
        .service = service,
        .command = request->row->name,
        .is_counted = true,
        .outcome = outcome_of(status),
        .ended = clock_wall(),
        .all_ns = clock_monotonic_ns() - request->began_ns,
        .received = request->bytes.len - SMB_HEADER_SIZE,
        .sent = answered - SMB_HEADER_SIZE,
        .request_head_bytes = SMB_HEADER_SIZE,
        .response_head_bytes = SMB_HEADER_SIZE,
    });
}
