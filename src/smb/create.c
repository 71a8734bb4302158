/* CREATE: opens a file or directory, with its create contexts. ms-smb2: 2.2.13, 2.2.14, 3.3.5.9 */
#include "smb/create.h"
#include "smb/file_information.h"

#include <assert.h>

#define IMPERSONATION_LAST    3u
#define OPTION_DIRECTORY      0x00000001u
#define OPTION_NON_DIRECTORY  0x00000040u
#define OPTION_TREE           0x00000080u /* FILE_CREATE_TREE_CONNECTION */
#define OPTION_DELETE         0x00001000u /* FILE_DELETE_ON_CLOSE */
#define OPTION_BY_ID          0x00002000u /* FILE_OPEN_BY_FILE_ID */
#define OPTION_RESERVE_FILTER 0x00100000u
#define OPTIONS_NOT_SUPPORTED (OPTION_TREE | OPTION_BY_ID | OPTION_RESERVE_FILTER)
#define OPTIONS_UNKNOWN       0xFF000000u
#define ATTRIBUTES_KNOWN      0x00007FB7u
#define ACCESS_RESERVED       0x0CE0FE00u

/* ---- request ---- */

static enum nt_status check_options(struct handle_open *open, uint32_t options)
{
    bool is_directory = options & OPTION_DIRECTORY;

    if (options & OPTIONS_UNKNOWN)
        return STATUS_INVALID_PARAMETER;
    if (options & OPTIONS_NOT_SUPPORTED)
        return STATUS_NOT_SUPPORTED;
    if (is_directory && options & OPTION_NON_DIRECTORY)
        return STATUS_INVALID_PARAMETER;
    if (is_directory &&
        (open->disposition == OPEN_SUPERSEDES || open->disposition >= OPEN_OVERWRITES))
        return STATUS_INVALID_PARAMETER;
    open->kind = is_directory                     ? OPEN_DIRECTORY
                 : options & OPTION_NON_DIRECTORY ? OPEN_FILE
                                                  : OPEN_ANY_KIND;
    open->deletes = options & OPTION_DELETE;
    if (open->deletes && !(access_mask_mapped(open->desired) & (MAY_DELETE | MAY_MAXIMUM)))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static enum nt_status read_fixed(struct wire_reader *r, struct create *create)
{
    struct handle_open *open = &create->open;
    uint32_t contexts_at, contexts_size;
    uint16_t path_at, path_size;

    wire_skip(r, 1); /* SecurityFlags */
    create->level = wire_u8(r);
    create->impersonation = wire_u32(r);
    wire_skip(r, 8 + 8); /* SmbCreateFlags, Reserved */
    open->desired = wire_u32(r);
    open->attributes = wire_u32(r);
    create->share = wire_u32(r);
    create->disposition = wire_u32(r);
    create->options = wire_u32(r);
    path_at = wire_u16(r);
    path_size = wire_u16(r);
    contexts_at = wire_u32(r);
    contexts_size = wire_u32(r);
    create->path = wire_buffer(r, path_at, path_size, SMB_HEADER_SIZE + 56);
    create->contexts.bytes = wire_buffer(r, contexts_at, contexts_size, SMB_HEADER_SIZE + 56);
    return wire_ok(r) && path_size % 2 == 0 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* Checks the fixed part, which is ignored on a reconnect. */
static enum nt_status check_fixed(struct create *create)
{
    struct handle_open *open = &create->open;

    if (create->disposition > OPEN_OVERWRITES_OR_NEW || create->share > ACCESS_ALL ||
        open->attributes & ~ATTRIBUTES_KNOWN)
        return STATUS_INVALID_PARAMETER;
    if (create->impersonation > IMPERSONATION_LAST)
        return STATUS_BAD_IMPERSONATION_LEVEL;
    if (open->desired == 0 || open->desired & ACCESS_RESERVED)
        return STATUS_ACCESS_DENIED;
    open->share = (uint8_t)create->share;
    open->disposition = (enum open_disposition)create->disposition;
    return check_options(open, create->options);
}

static enum nt_status read_create(struct smb_request *request, struct wire_reader *r,
                                  struct create *create)
{
    struct arena *arena = request->message->arena;
    const struct durable_request *durable = &create->contexts.durable;
    enum nt_status status = read_fixed(r, create);

    if (!status && !wire_utf8(arena, create->path, &create->path))
        status = STATUS_OBJECT_NAME_INVALID;
    if (!status)
        status =
            create_contexts_read(&create->contexts, request->message->connection->agreed.dialect);
    if (status || durable->returns_1 || durable->returns_2)
        return status;
    status = check_fixed(create);
    return status
               ? status
               : smb_read_names(arena, create->path, &create->open.names, &create->open.name_count);
}

enum smb_step smb_create_begin(struct smb_request *request, struct wire_reader *r)
{
    struct create *create = arena_alloc(request->message->arena, sizeof *create);
    const struct durable_request *durable = &create->contexts.durable;
    struct smb_open *place;
    enum nt_status status;

    if (request->tree->is_pipes) /* named pipes are not supported */
        return smb_refuse(request, STATUS_OBJECT_NAME_NOT_FOUND);
    status = read_create(request, r, create);
    if (status)
        return smb_refuse(request, status);
    status = create_replayed_find(request, create, &place);
    if (status)
        return smb_refuse(request, status);
    if (place)
        return create_replayed_begin(request, create, place);
    create_replayed_find_disconnected(request, create);
    place = open_new(request->tree);
    if (!place)
        return smb_refuse(request, STATUS_INSUFFICIENT_RESOURCES);
    request->open = open_hold(place);
    request->parameters = create;
    request->names = create->open.names;
    request->name_count = create->open.name_count;
    if (durable->returns_1 || durable->returns_2)
        return reconnect_begin(request, create);
    return create_new(request, create);
}

/* ---- result ---- */

static enum nt_status refusal(const struct create *create, enum error e)
{
    if (e == E_ResourceTypeMismatch && create->open.disposition == OPEN_NEW)
        return STATUS_OBJECT_NAME_COLLISION; /* MS-FSA 2.1.5.1.2 */
    if (e == E_ResourceTypeMismatch)
        return create->open.kind == OPEN_DIRECTORY ? STATUS_NOT_A_DIRECTORY
                                                   : STATUS_FILE_IS_A_DIRECTORY;
    if (e == E_ReadOnlyAttribute)
        return create->open.deletes ? STATUS_CANNOT_DELETE : STATUS_ACCESS_DENIED;
    if (e == E_AuthorizationPermissionMismatch && create->open.desired & MAY_ACCESS_SACL)
        return STATUS_PRIVILEGE_NOT_HELD; /* needs SeSecurityPrivilege */
    return e == E_ServerBusy ? STATUS_INSUFFICIENT_RESOURCES : nt_status_of(e);
}

/* Stores the path of an open in a share snapshot, where nothing can be renamed. */
static void keep_path(struct smb_open *open, struct arena *arena, const struct handle_open *opened)
{
    struct text path;

    text_init(&path, arena, 256);
    for (size_t i = 0; i < opened->name_count; i++) {
        if (i > 0)
            text_add_char(&path, '/');
        text_add(&path, opened->names[i]);
    }
    open->path = bytes_of(xmalloc(path.len + 1), path.len);
    memcpy((char *)(uintptr_t)open->path.ptr, path.ptr, path.len);
}

/* Sets the durability that the granted caching allows. A persistent open already has its
 * durability. */
static void become_durable(struct smb_open *open, struct create *create)
{
    bool is_file = open->handle.kind == TREE_FILE && open->handle.snapshot == 0;
    bool caches_handle = open->caching && (create->open.given.holds & CACHING_HANDLE);

    open->durable = create->durable = durable_of(create, is_file, caches_handle);
}

enum smb_step smb_create_decided(struct smb_request *request)
{
    struct create *create = request->parameters;
    struct smb_open *open = request->open;

    if (create->contexts.durable.returns_1 || create->contexts.durable.returns_2)
        return reconnect_decided(request, create);
    if (create->is_replay)
        return create_replayed_decided(request, create);
    if (request->error == E_InsufficientAccountCapacity)
        smb_refused_full(request);
    if (request->error)
        return smb_refuse(request, refusal(create, request->error));
    open->handle = create->open.handle;
    open->action = create->open.action;
    open->channel.sequence = (uint16_t)request->header.status;
    open->is_open = open->is_fresh = true;
    open->mode = create->options & OPTIONS_MODE;
    if (create->open.action != OPENED_EXISTING)
        open_allocate(open, create->contexts.allocation);
    open_show_allocated(open, &create->open.info);
    if (open->handle.snapshot > 0)
        keep_path(open, request->message->arena, &create->open);
    if (create->open.lasts || open->durable.kind == DURABLE_PERSISTENT) /* ms-smb2: 3.3.5.9.10 */
        request->lasting = LASTING;
    /* The session or tree connect has ended during the decision, or the lease key is in use for
     * another file. ms-smb2: 3.3.5.9.8 */
    if (request->tree->ends || request->session->state != SESSION_VALID) {
        open_close(open);
        return smb_refuse(request, STATUS_NETWORK_NAME_DELETED);
    }
    if (open->caching && !caching_granted(open)) {
        open_close(open);
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    }
    become_durable(open, create);
    message_set_open(request->message, open);
    return smb_refuse(request, STATUS_SUCCESS);
}

/* Removes the pending open of a failed create. */
void smb_create_over(struct smb_request *request)
{
    if (!request->open->is_open && !request->open->handle.granted)
        open_gone(request->open);
}

static uint8_t level_given(const struct create *create)
{
    if (create->came_back ? create->contexts.lease.is_lease : create->level == OPLOCK_LEASE)
        return create->contexts.lease.is_lease ? OPLOCK_LEASE : OPLOCK_NONE;
    return level_of_caching(create->open.given.holds);
}

void smb_create_answer(struct smb_request *request, struct wire_writer *w)
{
    struct create *create = request->parameters;
    const struct handle_info *info = &create->open.info;
    size_t contexts_at;

    if (request->open->caching)
        caching_answer(request->open->caching, request->message, &create->open.given);
    wire_put_u16(w, 89); /* StructureSize */
    wire_put_u8(w, level_given(create));
    wire_put_u8(w, 0);
    wire_put_u32(w, create->open.action);
    smb_put_info_times(w, info);
    wire_put_u64(w, info->allocated);
    wire_put_u64(w, info->length);
    wire_put_u32(w, smb_attributes(info));
    wire_put_u32(w, 0);
    wire_put_u64(w, open_persistent_id(request->open));
    wire_put_u64(w, request->open->volatile_id);
    contexts_at = wire_place(w);
    wire_put_u32(w, 0);
    wire_put_u32(w, 0);
    create_contexts_write(&create->contexts, request->open, &create->durable, &create->open, w,
                          contexts_at);
}
