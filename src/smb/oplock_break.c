/* OPLOCK_BREAK: acknowledgement of an oplock or lease break. ms-smb2: 2.2.24, 2.2.25, 3.3.5.22 */
#include "smb/commands.h"
#include "smb_session/caching.h"

#include "base/endian.h"

#define OPLOCK_SIZE 24u
#define LEASE_SIZE  36u

struct acknowledgement {
    struct handle_acknowledge acknowledge;
    bool is_lease;
    struct guid lease_key;
    unsigned number; /* number of the break, or 0 if this connection does not have the lease */
};

static enum smb_step decide(struct smb_request *request, struct acknowledgement *a, uint64_t node,
                            const struct break_acknowledgment *answer)
{
    a->acknowledge = (struct handle_acknowledge){ .tree_connect = &request->tree->tree_connect,
                                                  .node = node,
                                                  .answer = *answer };
    request->parameters = a;
    return smb_decide(request, handle_acknowledge_attempt, &a->acknowledge);
}

/* Starts an oplock break acknowledgement. ms-smb2: 3.3.5.22.1 */
static enum smb_step begin_oplock(struct smb_request *request, struct wire_reader *r,
                                  struct acknowledgement *a)
{
    uint8_t level = wire_u8(r);
    struct break_acknowledgment answer = { .keeps = caching_of_level(level) };
    const struct smb_caching *caching;
    enum nt_status status;

    if (request->bytes.len < SMB_HEADER_SIZE + OPLOCK_SIZE)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    status = request_find_open(request, request->row->file_at);
    if (status)
        return smb_refuse(request, status);
    caching = request->open->caching;
    if (!caching || caching->lease.is_lease)
        return smb_refuse(request, STATUS_INVALID_OPLOCK_PROTOCOL);
    if (level != OPLOCK_NONE && level != OPLOCK_II)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    answer.key = caching->listener.key;
    a->number = caching->breaks;
    return decide(request, a, caching->node, &answer);
}

/* Starts a lease break acknowledgement, on any connection of the client. ms-smb2: 3.3.5.22.2 */
static enum smb_step begin_lease(struct smb_request *request, struct wire_reader *r,
                                 struct acknowledgement *a)
{
    struct smb_connection *connection = request->session->connection;
    const struct smb_caching *caching;
    struct break_acknowledgment answer = { .keeps = 0 };
    uint64_t node;
    uint32_t keeps;

    wire_skip(r, 2 + 4); /* Reserved, Flags */
    a->is_lease = true;
    a->lease_key = wire_guid(r);
    keeps = wire_u32(r);
    wire_skip(r, 8); /* LeaseDuration */
    if (!wire_ok(r))
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    answer.key = caching_key(connection, &a->lease_key);
    if (!break_listener_find(&request->tree->tree_connect.space, &answer.key, &node))
        return smb_refuse(request, STATUS_OBJECT_NAME_NOT_FOUND);
    if (keeps & ~(uint32_t)CACHING_ALL)
        return smb_refuse(request, STATUS_REQUEST_NOT_ACCEPTED);
    answer.keeps = (uint8_t)keeps;
    caching = caching_find(connection, &a->lease_key);
    a->number = caching ? caching->breaks : 0;
    return decide(request, a, node, &answer);
}

enum smb_step smb_oplock_break_begin(struct smb_request *request, struct wire_reader *r)
{
    struct acknowledgement *a = arena_alloc(request->message->arena, sizeof *a);

    switch (le16_get(request->bytes.ptr + SMB_HEADER_SIZE)) {
    case OPLOCK_SIZE:
        return begin_oplock(request, r, a);
    case LEASE_SIZE:
        return begin_lease(request, r, a);
    default:
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    }
}

/* Returns the caching, or NULL if its opens have been closed. */
static struct smb_caching *find(struct smb_request *request, const struct acknowledgement *a)
{
    return a->is_lease ? caching_find(request->session->connection, &a->lease_key)
                       : request->open->caching;
}

enum smb_step smb_oplock_break_decided(struct smb_request *request)
{
    const struct acknowledgement *a = request->parameters;
    struct smb_caching *caching = find(request, a);

    if (request->error == E_ResourceNotFound)
        return smb_refuse(request,
                          a->is_lease ? STATUS_UNSUCCESSFUL : STATUS_INVALID_OPLOCK_PROTOCOL);
    if (request->error == E_InvalidInput)
        return smb_refuse(request, STATUS_REQUEST_NOT_ACCEPTED);
    if (!request->error && caching)
        caching_acknowledged(caching, a->number, a->acknowledge.answer.keeps);
    return smb_refuse(request, nt_status_of(request->error));
}

void smb_oplock_break_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct acknowledgement *a = request->parameters;

    if (a->is_lease) {
        wire_put_u16(w, LEASE_SIZE);
        wire_put_zeros(w, 2 + 4);
        wire_put_guid(w, &a->lease_key);
        wire_put_u32(w, a->acknowledge.answer.keeps);
        wire_put_u64(w, 0);
        return;
    }
    wire_put_u16(w, OPLOCK_SIZE);
    wire_put_u8(w, level_of_caching(a->acknowledge.answer.keeps));
    wire_put_zeros(w, 1 + 4);
    wire_put_u64(w, open_persistent_id(request->open));
    wire_put_u64(w, request->open->volatile_id);
}
