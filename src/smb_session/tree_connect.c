/* TREE_CONNECT and TREE_DISCONNECT, for shares of the session's account and for IPC$, which clients
 * probe and which has no pipes. ms-smb2: 3.3.5.7, 3.3.5.8 */
#include "smb_session/negotiate.h"
#include "smb_session/service.h"
#include "smb_session/sessions.h"

#include "handles/tree_connect.h"

#define SHARE_TYPE_DISK    0x01u
#define SHARE_TYPE_PIPE    0x02u
#define ACCESS_EVERY       0x001F01FFu /* FILE_ALL_ACCESS; files may grant less */

#define SHARE_IS_AVAILABLE 0x00000010u /* SMB2_SHARE_CAP_CONTINUOUS_AVAILABILITY */

/* ShareFlags: no client-side caching (0 is manual caching). */
#define SHARE_NO_CACHING   0x00000030u

struct connecting_tree {
    bool is_pipes;
    struct tree_connect_find find;
};

/* Returns the share of \\server\share, or ptr NULL if malformed. */
static struct bytes share_of_path(struct bytes path)
{
    struct bytes server, share, rest;

    if (!bytes_has_prefix(path, bytes_from_string("\\\\")))
        return bytes_of(NULL, 0);
    bytes_cut(bytes_from(path, 2), '\\', &server, &share);
    if (!share.ptr || server.len == 0)
        return bytes_of(NULL, 0);
    bytes_cut(share, '\\', &share, &rest);
    return rest.ptr ? bytes_of(NULL, 0) : share;
}

enum smb_step smb_tree_connect_begin(struct smb_request *request, struct wire_reader *r)
{
    struct connecting_tree *connecting = arena_alloc(request->message->arena, sizeof *connecting);
    uint16_t offset, length;
    struct bytes path, share;

    request->parameters = connecting;
    wire_skip(r, 2); /* Flags, used by clustered servers */
    offset = wire_u16(r);
    length = wire_u16(r);
    path = wire_buffer(r, offset, length, SMB_HEADER_SIZE + 8);
    if (!wire_ok(r) || !wire_utf8(request->message->arena, path, &path))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (request->session->tree_count >= SMB_TREES_MAX)
        return smb_refuse(request, STATUS_INSUFFICIENT_RESOURCES);
    share = share_of_path(path);
    if (!share.ptr)
        return smb_refuse(request, STATUS_BAD_NETWORK_NAME);
    connecting->is_pipes = bytes_is_nocase(share, "IPC$");
    if (!connecting->is_pipes && !request->message->connection->service->store)
        return smb_refuse(request, STATUS_BAD_NETWORK_NAME);
    /* Share names are lowercase; clients send any case. */
    connecting->find = (struct tree_connect_find){
        .account = bytes_from_string(request->session->account),
        .share = arena_copy_lower(request->message->arena, share),
    };
    return connecting->is_pipes ? smb_tree_connect_decided(request)
                                : smb_decide(request, tree_connect_find_attempt, &connecting->find);
}

/* Responds to another account's share, or to an invalid name, as to a missing share. */
enum smb_step smb_tree_connect_decided(struct smb_request *request)
{
    const struct connecting_tree *connecting = request->parameters;
    struct smb_session *session = request->session;
    struct bytes share = connecting->find.share;
    struct smb_tree *tree;

    if (request->error == E_ShareNotFound || request->error == E_InvalidResourceName ||
        request->error == E_OutOfRangeName)
        return smb_refuse(request, STATUS_BAD_NETWORK_NAME);
    if (request->error)
        return smb_refuse(request, nt_status_of(request->error));
    if (session->state != SESSION_VALID)
        return smb_refuse(request, STATUS_USER_SESSION_DELETED);
    tree = smb_tree_new(session);
    tree->is_pipes = connecting->is_pipes;
    tree->tree_connect = (struct tree_connect){
        .account = bytes_from_string(session->account),
        .share = bytes_of(memcpy(xmalloc(share.len), share.ptr, share.len), share.len),
        .space = connecting->find.space,
    };
    if (session->connection->service->options.enforce_acls) {
        tree->token = access_token_of_account(tree->tree_connect.account);
        tree->tree_connect.token = &tree->token;
    }
    request->tree = smb_tree_hold(tree);
    request->header.tree_id = request->message->tree_id = tree->id;
    return smb_refuse(request, STATUS_SUCCESS);
}

void smb_tree_connect_answer(struct smb_request *request, struct wire_writer *w)
{
    bool is_pipes = request->tree->is_pipes;
    bool is_available = smb_tree_is_available(request->tree);

    wire_put_u16(w, 16); /* StructureSize */
    wire_put_u8(w, is_pipes ? SHARE_TYPE_PIPE : SHARE_TYPE_DISK);
    wire_put_u8(w, 0);
    wire_put_u32(w, is_pipes ? SHARE_NO_CACHING : 0);       /* ShareFlags */
    wire_put_u32(w, is_available ? SHARE_IS_AVAILABLE : 0); /* Capabilities */
    wire_put_u32(w, ACCESS_EVERY);
}

bool smb_tree_is_available(const struct smb_tree *tree)
{
    return !tree->is_pipes &&
           (tree->session->connection->agreed.capabilities & SMB_CAP_PERSISTENT_HANDLES);
}

enum smb_step smb_tree_disconnect_begin(struct smb_request *request, struct wire_reader *r)
{
    (void)r;
    smb_tree_end(request->tree);
    return smb_tree_disconnect_go_on(request);
}

/* Waits until the opens of the tree connect are closed. */
enum smb_step smb_tree_disconnect_go_on(struct smb_request *request)
{
    struct smb_tree *tree = request->tree;

    if (tree->open_count == 0)
        return smb_refuse(request, STATUS_SUCCESS);
    tree->awaited_by = request;
    return STEP_AWAIT;
}
