/* Replay of a create whose response the client may not have received: responds with the existing
 * open, and with as much of the requested caching as that open has. ms-smb2: 3.3.5.9.10 */
#include "smb/create.h"
#include "smb_session/durable_scavenger.h"
#include "smb_session/service.h"

static bool is_of_lease(const struct smb_open *open, const struct lease_context *lease)
{
    bool has_lease = open->caching && open->caching->lease.is_lease;

    return has_lease == lease->is_lease &&
           (!has_lease || guid_equal(&open->caching->lease.key, &lease->key));
}

enum nt_status create_replayed_find(const struct smb_request *request, const struct create *create,
                                    struct smb_open **ret_open)
{
    struct smb_open *open = NULL;

    *ret_open = NULL;
    if (create->contexts.durable.wants_2)
        open = open_find_create(request->session, &create->contexts.durable.create);
    if (!open)
        return STATUS_SUCCESS;
    if (!(request->header.flags & SMB_FLAG_REPLAY))
        return STATUS_DUPLICATE_OBJECTID;
    if (!open->is_open)
        return STATUS_FILE_NOT_AVAILABLE;
    /* the handle was used, so the client has received the response; as in Windows, this is a
     * new create */
    if (!open->is_fresh)
        return STATUS_SUCCESS;
    if (open->tree != request->tree || !is_of_lease(open, &create->contexts.lease))
        return STATUS_ACCESS_DENIED;
    *ret_open = open;
    return STATUS_SUCCESS;
}

void create_replayed_find_disconnected(const struct smb_request *request, struct create *create)
{
    const struct smb_connection *connection = request->message->connection;
    struct durable_request *durable = &create->contexts.durable;
    const struct scavenger_create by = { .client = connection->agreed.client_guid,
                                         .create = durable->create };

    if (!durable->wants_2 || !(request->header.flags & SMB_FLAG_REPLAY))
        return;
    durable->id =
        scavenger_find(connection->service->scavenger, &request->tree->tree_connect.space, &by);
    durable->returns_2 = durable->id > 0;
}

enum smb_step create_replayed_begin(struct smb_request *request, struct create *create,
                                    struct smb_open *open)
{
    request->open = open_hold(open);
    request->parameters = create;
    create->is_replay = true;
    create->replay.tree_connect = &request->tree->tree_connect;
    create->replay.handle = &open->handle;
    return smb_decide(request, handle_replay_attempt, &create->replay);
}

enum smb_step create_replayed_decided(struct smb_request *request, struct create *create)
{
    struct smb_open *open = request->open;
    bool is_file = open->handle.kind == TREE_FILE;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    create->open.action = (enum open_action)open->action;
    create->open.info = create->replay.info;
    open_show_allocated(open, &create->open.info);
    create->open.given = create->replay.given;
    create->open.persists = open->durable.kind == DURABLE_PERSISTENT;
    if (!create->contexts.lease.is_lease)
        create->open.given.holds &= caching_of_level(create->level);
    create->durable = durable_of(create, is_file, create->open.given.holds & CACHING_HANDLE);
    message_set_open(request->message, open);
    return smb_refuse(request, STATUS_SUCCESS);
}
