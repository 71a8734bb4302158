/* Disconnect: preserves durable opens whose connection or session ends. ms-smb2: 3.3.7.1 */
#include "smb_session/caching.h"
#include "smb_session/durable.h"
#include "smb_session/durable_scavenger.h"
#include "smb_session/service.h"

#include <assert.h>

struct bytes open_encode_durable(const struct smb_open *open, struct arena *arena)
{
    const struct smb_caching *caching = open->caching;
    struct durable_state state = {
        .kind = open->durable.kind,
        .create = open->create,
        .client = open->tree->session->connection->agreed.client_guid,
        .timeout_ms = open->durable.timeout_ms,
        .mode = open->mode,
        .position = open->position,
        .allocated = open->allocated,
        .locks = bytes_of(open->locks, open->locks ? LOCK_SEQUENCES : 0),
    };

    if (caching) {
        state.is_lease = caching->lease.is_lease;
        state.lease_key = caching->lease.key;
        state.has_caching = true;
        state.caching_key = caching->listener.key;
    }
    return durable_encode(arena, &state);
}

static enum smb_step leaving_begin(struct smb_request *request, struct wire_reader *r)
{
    struct handle_disconnect *leave = arena_alloc(request->message->arena, sizeof *leave);
    const struct smb_open *open = request->open;

    (void)r;
    leave->close.tree_connect = &request->tree->tree_connect;
    leave->close.handle = &open->handle;
    leave->durable = (struct durable_handle_state){
        .ticks = open->durable.timeout_ms * (TICKS_PER_SECOND / 1000),
        .granted = open->handle.granted,
        .times = open->handle.times,
        .of_client = open_encode_durable(open, request->message->arena),
    };
    request->parameters = leave;
    return smb_decide(request, handle_disconnect_attempt, leave);
}

/* Returns the identity of the create for replay detection: zeros if the open has been used, because
 * then its client has the response. */
static struct scavenger_create known_by(const struct smb_open *open)
{
    if (!open->is_fresh || !open->has_create)
        return (struct scavenger_create){ .create = { { 0 } } };
    return (struct scavenger_create){ .client = open->tree->session->connection->agreed.client_guid,
                                      .create = open->create };
}

static enum smb_step leaving_decided(struct smb_request *request)
{
    const struct handle_disconnect *leave = request->parameters;
    struct durable_scavenger *scavenger = request->message->connection->service->scavenger;
    const struct tree_connect *tree_connect = &request->tree->tree_connect;
    const struct scavenger_create by = known_by(request->open);

    if (!request->error && leave->stays)
        scavenger_add(scavenger, tree_connect, &request->open->handle, &by, leave->until);
    else
        scavenger_release(scavenger, tree_connect->account);
    return open_closed(request);
}

static const struct smb_row leaving = {
    .command = SMB_CLOSE,
    .name = "leaving",
    .begin = leaving_begin,
    .decided = leaving_decided,
};

void open_leave_unfound(struct smb_open *open)
{
    struct durable_scavenger *scavenger = open->tree->session->connection->service->scavenger;

    assert(!open->is_open);
    if (open->durable.kind == DURABLE_NONE ||
        !scavenger_reserve(scavenger, open->tree->tree_connect.account))
        open_close_unfound(open);
    else
        smb_run(request_of_own(open, &leaving));
}

void open_leave(struct smb_open *open)
{
    assert(open->is_open);
    open->is_open = false;
    open_leave_unfound(open);
}
