/* FSCTL_DFS_GET_REFERRALS and FSCTL_DFS_GET_REFERRALS_EX: which front end of a cluster serves a
 * share of the session's account. A share is in one cell as a whole, so each share is a link of its
 * own, like a "msdfs proxy" share of Samba, and no tree connect has the DFS capability. ms-smb2:
 * 3.3.5.15.2; ms-dfsc: 3.2.4.2; decision: 1120 */
#include "smb/ioctl.h"

#include "smb_protocol/dfs_referral.h"
#include "smb_session/negotiate.h"
#include "smb_session/service.h"

struct referral {
    struct smb_referrer *referrer;
    struct dfs_referral_request request;
    struct bytes account;
    struct arena *arena;
    /* results of dfs_referrals_load() */
    enum smb_referred referred;
    struct bytes host;
};

enum smb_step dfs_referrals_begin(struct smb_request *request, struct ioctl *ioctl)
{
    const struct smb_connection *connection = request->message->connection;
    struct arena *arena = request->message->arena;
    struct referral *referral = arena_alloc(arena, sizeof *referral);
    enum nt_status status;

    if (!(connection->agreed.capabilities & SMB_CAP_DFS))
        return smb_refuse(request, STATUS_FS_DRIVER_REQUIRED);
    if (ioctl->persistent != UINT64_MAX || ioctl->volatile_id != UINT64_MAX)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    status = dfs_referral_read(arena, ioctl->input, ioctl->code == FSCTL_DFS_GET_REFERRALS_EX,
                               &referral->request);
    if (status)
        return smb_refuse(request, status);
    referral->referrer = connection->service->options.referrer;
    referral->account = bytes_from_string(request->session->account);
    referral->arena = arena;
    request->pool = referral->referrer->pool;
    ioctl->parameters = referral;
    return STEP_LOAD;
}

/* Share names are lowercase; clients send any case. */
void dfs_referrals_load(struct ioctl *ioctl)
{
    struct referral *referral = ioctl->parameters;
    struct bytes share = arena_copy_lower(referral->arena, referral->request.share);

    referral->referred = referral->referrer->find(referral->referrer, referral->account, share,
                                                  referral->arena, &referral->host);
}

enum smb_step dfs_referrals_go_on(struct smb_request *request, struct ioctl *ioctl)
{
    const struct referral *referral = ioctl->parameters;

    switch (referral->referred) {
    case SMB_NOT_REFERRED:
        return smb_refuse(request, STATUS_NOT_FOUND);
    case SMB_REFERRAL_UNKNOWN:
        return smb_refuse(request, STATUS_INSUFF_SERVER_RESOURCES);
    case SMB_REFERRED:
        break;
    }
    ioctl->output = dfs_referral_write(referral->arena, &referral->request, referral->host);
    if (ioctl->output.len <= ioctl->output_max)
        return smb_refuse(request, STATUS_SUCCESS);
    ioctl->output = bytes_of("", 0);
    return smb_refuse(request, STATUS_BUFFER_OVERFLOW);
}
