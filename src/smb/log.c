/* Commands in the access log and in the audit log (service/access_log.h). */
#include "service/access_log.h"
#include "smb/create.h"

#define PATH_MAX_BYTES 1024u

/* "share/folder/file"; names are those of a CREATE as they were asked for. */
static size_t write_path(const struct smb_request *request, char path[PATH_MAX_BYTES])
{
    const struct create *create = request->row->command == SMB_CREATE ? request->parameters : NULL;
    size_t count = create ? create->open.name_count : 0, at = 0;

    for (size_t i = 0; i <= count && request->tree; i++) {
        struct bytes name = i == 0 ? request->tree->mount.share : create->open.names[i - 1];

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
