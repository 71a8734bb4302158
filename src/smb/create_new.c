/* A create that is neither a reconnect nor a replay: prepares the open. ms-smb2: 3.3.5.9 */
#include "smb/create.h"

struct smb_durable durable_of(const struct create *create, bool is_file, bool caches_handle)
{
    const struct durable_request *request = &create->contexts.durable;
    const struct durable_open opened = { .is_available = create->open.persists,
                                         .is_file = is_file,
                                         .caches_handle = caches_handle };
    struct smb_durable durable = { .kind = durable_granted(request, &opened) };

    if (durable.kind != DURABLE_NONE)
        durable.timeout_ms = durable_timeout_ms(request);
    return durable;
}

/* Requests the oplock or lease. */
static void ask_caching(struct smb_open *place, struct create *create)
{
    struct lease_context lease = { .is_lease = false };
    uint8_t request = caching_of_level(create->level);

    if (create->level == OPLOCK_LEASE && create->contexts.lease.is_lease) {
        lease = create->contexts.lease;
        request = lease.state;
    }
    if (request == 0 && !lease.is_lease)
        return;
    caching_join(place, &lease);
    create->open.caching = request;
    create->open.is_oplock = !lease.is_lease;
    create->open.is_lease = lease.is_lease;
    create->open.epoch = lease.epoch;
    create->open.caching_key = place->caching->listener.key;
}

/* Requests a persistent handle. Its state is stored in the commit that opens it, so that it
 * survives a server failure. */
static void ask_persistence(struct smb_request *request, struct create *create)
{
    const struct durable_open open = { .is_available = smb_tree_is_available(request->tree),
                                       .is_file = true };
    struct smb_open *place = request->open;

    if (durable_granted(&create->contexts.durable, &open) != DURABLE_PERSISTENT)
        return;
    place->durable = (struct smb_durable){
        .kind = DURABLE_PERSISTENT,
        .timeout_ms = durable_timeout_ms(&create->contexts.durable),
    };
    place->mode = create->options & OPTIONS_MODE;
    create->open.persists = true;
    create->open.durable.ticks = place->durable.timeout_ms * (TICKS_PER_SECOND / 1000);
    create->open.durable.of_client = open_encode_durable(place, request->message->arena);
}

enum smb_step create_new(struct smb_request *request, struct create *create)
{
    const struct durable_request *durable = &create->contexts.durable;

    create->open.tree_connect = &request->tree->tree_connect;
    create->open.snapshot = create->contexts.snapshot;
    create->open.descriptor = create->contexts.descriptor;
    create->open.session = request->session->id;
    create->open.client_address = request->message->connection->peer;
    if (durable->wants_2)
        open_set_create(request->open, &durable->create);
    create->open.makes_no_file = smb_is_full(request);
    ask_caching(request->open, create);
    ask_persistence(request, create);
    return smb_decide(request, handle_open_attempt, &create->open);
}
