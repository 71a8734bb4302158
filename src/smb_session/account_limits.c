/* The limits of an account (auth/account_limits.h) for SMB. A command beyond the rate is delayed
 * until the rate allows it, because SMB has no status that asks clients to retry later. decision:
 * 892 */
#include "auth/account_limits.h"
#include "smb_session/message.h"
#include "smb_session/service.h"
#include "smb_session/sessions.h"

/* Returns the account of the session if it has limits, or NULL. */
static const struct account *limited_account(const struct smb_request *request)
{
    const struct account *account = request->session ? request->session->of : NULL;

    return account_hindrances(account) & ACCOUNT_IS_LIMITED ? account : NULL;
}

/* Returns whether the rates apply to the command. Commands that end something or let other clients
 * proceed are never delayed. */
static bool is_paced(const struct smb_request *request)
{
    switch (request->header.command) {
    case SMB_TREE_CONNECT:
    case SMB_CREATE:
    case SMB_FLUSH:
    case SMB_READ:
    case SMB_WRITE:
    case SMB_IOCTL:
    case SMB_QUERY_DIRECTORY:
    case SMB_QUERY_INFO:
    case SMB_SET_INFO:
        return true;
    default:
        return false;
    }
}

static enum account_way way_of(const struct smb_request *request)
{
    uint16_t command = request->header.command;

    return command == SMB_READ || command == SMB_QUERY_DIRECTORY || command == SMB_QUERY_INFO
               ? WAY_OUT
               : WAY_IN;
}

uint64_t smb_pace(const struct smb_request *request)
{
    const struct account *account = limited_account(request);
    uint64_t now_ns = clock_monotonic_ns(), wait_ns = 0;

    if (!account || !is_paced(request))
        return 0;
    if (account_admit(account, way_of(request), now_ns, &wait_ns))
        return wait_ns;
    account_pay(account, WAY_IN, request->bytes.len - SMB_HEADER_SIZE, now_ns);
    return 0;
}

void smb_pay(const struct smb_request *request, size_t answered)
{
    const struct account *account = limited_account(request);

    if (account && is_paced(request))
        account_pay(account, WAY_OUT, answered - SMB_HEADER_SIZE, clock_monotonic_ns());
}

bool smb_may_keep(const struct smb_request *request, uint64_t bytes)
{
    const struct account *account = limited_account(request);

    return !account || bytes == 0 || account_keep(account, bytes);
}

bool smb_is_full(const struct smb_request *request)
{
    const struct account *account = limited_account(request);

    return account && account_is_full(account);
}

void smb_refused_full(const struct smb_request *request)
{
    const struct account *account = limited_account(request);

    if (account)
        (void)account_keep(account, 0);
}
