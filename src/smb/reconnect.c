/* Reconnect of a disconnected durable open: reads and checks the stored state, then restores the
 * open on this connection. ms-smb2: 3.3.5.9.7, 3.3.5.9.12 */
#include "smb/create.h"
#include "smb_session/durable_scavenger.h"
#include "smb_session/service.h"

enum smb_step reconnect_begin(struct smb_request *request, struct create *create)
{
    struct reconnect *reconnect = &create->reconnect;

    reconnect->disconnected.tree_connect = &request->tree->tree_connect;
    reconnect->disconnected.id = create->contexts.durable.id;
    return smb_decide(request, disconnected_handle_attempt, &reconnect->disconnected);
}

/* Maps a deleted share to STATUS_OBJECT_NAME_NOT_FOUND: its durable opens do not exist either. */
static enum nt_status status_of(enum error e)
{
    return e == E_ShareNotFound ? STATUS_OBJECT_NAME_NOT_FOUND : nt_status_of(e);
}

static enum nt_status check(struct smb_request *request, const struct create *create,
                            struct durable_state *ret_state)
{
    const struct reconnect *reconnect = &create->reconnect;
    const struct lease_context *lease = &create->contexts.lease;
    const struct durable_return by = {
        .request = &create->contexts.durable,
        .client = request->message->connection->agreed.client_guid,
        .is_lease = lease->is_lease,
        .lease_key = lease->key,
    };

    if (request->error)
        return status_of(request->error);
    if (!durable_decode(reconnect->disconnected.durable.of_client, ret_state))
        return STATUS_OBJECT_NAME_NOT_FOUND;
    return durable_may_return(ret_state, &by);
}

/* Checks the stored state and starts the reconnect. Listens for breaks first, so that none is
 * missed. With a lease the name must match too. */
static enum smb_step found(struct smb_request *request, struct create *create)
{
    struct reconnect *reconnect = &create->reconnect;
    const struct smb_connection *connection = request->message->connection;
    struct lease_context *lease = &create->contexts.lease;
    struct handle_reconnect *back = &reconnect->back;
    enum nt_status status = check(request, create, &reconnect->state);

    if (status == STATUS_OBJECT_NAME_NOT_FOUND && create->contexts.durable.wants_2) {
        /* A replayed create whose open has been closed since: opens the file again. */
        scavenger_remove(request->message->connection->service->scavenger,
                         reconnect->disconnected.id);
        create->contexts.durable.returns_2 = false;
        return create_new(request, create);
    }
    if (!status && reconnect->state.is_lease &&
        smb_read_names(request->message->arena, create->path, &back->names, &back->name_count))
        status = STATUS_INVALID_PARAMETER;
    if (status)
        return smb_refuse(request, status);
    if (reconnect->state.has_caching)
        caching_join_again(request->open, lease, &reconnect->state.caching_key);
    reconnect->is_found = true;
    back->tree_connect = &request->tree->tree_connect;
    back->handle = &reconnect->disconnected.handle;
    back->session = request->session->id;
    back->client_address = connection->peer;
    return smb_decide(request, handle_reconnect_attempt, back);
}

/* Restores the open from the stored state. */
static enum smb_step came_back(struct smb_request *request, struct create *create)
{
    const struct reconnect *reconnect = &create->reconnect;
    const struct durable_state *state = &reconnect->state;
    struct smb_open *open = request->open;

    create->came_back = true;
    create->open.action = OPENED_EXISTING;
    create->open.handle = reconnect->disconnected.handle;
    create->open.info = reconnect->back.info;
    create->open.given = reconnect->back.given;
    scavenger_remove(request->message->connection->service->scavenger, reconnect->disconnected.id);
    open->handle = reconnect->disconnected.handle;
    open->is_open = true;
    open->mode = state->mode;
    open->position = state->position;
    open->allocated = state->allocated;
    open_show_allocated(open, &create->open.info);
    /* it may have written before the disconnect; CLOSE then waits for durability */
    open->has_written = true;
    open->channel.sequence = (uint16_t)request->header.status;
    if (state->locks.ptr)
        memcpy(open_lock_sequences(open), state->locks.ptr, LOCK_SEQUENCES);
    if (state->kind != DURABLE_1)
        open_set_create(open, &state->create);
    open->durable = (struct smb_durable){ .kind = state->kind, .timeout_ms = state->timeout_ms };
    create->durable = open->durable;
    open->is_fresh = create->contexts.durable.wants_2; /* the create may be replayed again */
    if (request->tree->ends || request->session->state != SESSION_VALID) {
        open_leave(open);
        return smb_refuse(request, STATUS_NETWORK_NAME_DELETED);
    }
    if (open->caching)
        caching_granted(open);
    message_set_open(request->message, open);
    return smb_refuse(request, STATUS_SUCCESS);
}

enum smb_step reconnect_decided(struct smb_request *request, struct create *create)
{
    if (!create->reconnect.is_found)
        return found(request, create);
    if (request->error == E_InvalidInput)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (request->error)
        return smb_refuse(request, status_of(request->error));
    return came_back(request, create);
}
