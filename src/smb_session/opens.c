/* The opens of a connection: lookup by FileId and CreateGuid, references, removal. */
#include "smb_session/opens.h"

#include <assert.h>
#include <stdlib.h>

#include "base/endian.h"
#include "smb_session/message.h"
#include "smb_session/service.h"

#define CREATE_BUCKETS 256u

/* The volatile id has the slot in its low half and the use count of the slot in its high half. */
struct open_table {
    struct smb_open **slots;
    uint32_t *uses;
    uint32_t size, count, next;
    struct smb_open *creates[CREATE_BUCKETS]; /* by CreateGuid */
};

#define OPENS_AT_FIRST 64u
_Static_assert(SMB_OPENS_MAX % OPENS_AT_FIRST == 0, "it doubles");

struct open_table *open_table_new(void)
{
    return xcalloc(1, sizeof(struct open_table));
}

void open_table_free(struct open_table *table)
{
    assert(table->count == 0);
    free(table->slots);
    free(table->uses);
    free(table);
}

/* Finds a free slot. Returns false if SMB_OPENS_MAX is reached. */
static bool find_slot(struct open_table *table, uint32_t *ret_slot)
{
    uint32_t size = table->size ? table->size * 2 : OPENS_AT_FIRST;

    if (table->count == table->size) {
        if (table->size >= SMB_OPENS_MAX)
            return false;
        table->slots = xrealloc(table->slots, size * sizeof *table->slots);
        table->uses = xrealloc(table->uses, size * sizeof *table->uses);
        memset(table->slots + table->size, 0, (size - table->size) * sizeof *table->slots);
        memset(table->uses + table->size, 0, (size - table->size) * sizeof *table->uses);
        table->next = table->size;
        table->size = size;
    }
    while (table->slots[table->next])
        table->next = (table->next + 1) % table->size;
    *ret_slot = table->next;
    return true;
}

struct smb_open *open_new(struct smb_tree *tree)
{
    struct open_table *table = tree->session->connection->opens;
    struct smb_open *open;
    uint32_t slot;

    if (!find_slot(table, &slot))
        return NULL;
    open = xcalloc(1, sizeof *open);
    open->tree = smb_tree_hold(tree);
    open->holders = 1; /* released by open_gone() */
    open->volatile_id = (uint64_t)++table->uses[slot] << 32 | slot;
    table->slots[slot] = open;
    table->count++;
    tree->open_count++;
    tree->session->open_count++;
    return open;
}

struct smb_open *open_find(const struct smb_session *session, const struct smb_tree *tree,
                           uint64_t persistent, uint64_t volatile_id)
{
    const struct open_table *table = session->connection->opens;
    uint32_t slot = (uint32_t)volatile_id;
    struct smb_open *open = slot < table->size ? table->slots[slot] : NULL;

    if (!open || !open->is_open || open->volatile_id != volatile_id ||
        open_persistent_id(open) != persistent || (tree && open->tree != tree) ||
        open->tree->session != session)
        return NULL;
    return open;
}

static struct smb_open **create_bucket(struct open_table *table, const struct guid *create)
{
    return &table->creates[guid_hash(create) % CREATE_BUCKETS];
}

void open_allocate(struct smb_open *open, uint64_t bytes)
{
    bool counts = open->handle.kind == TREE_FILE && bytes <= FILE_LENGTH_MAX;

    open->allocated =
        counts ? (bytes + FILE_CLUSTER_BYTES - 1) / FILE_CLUSTER_BYTES * FILE_CLUSTER_BYTES : 0;
}

void open_show_allocated(const struct smb_open *open, struct handle_info *info)
{
    if (info->allocated < open->allocated)
        info->allocated = open->allocated;
}

void open_set_create(struct smb_open *open, const struct guid *create)
{
    struct smb_open **at = create_bucket(open->tree->session->connection->opens, create);

    assert(!open->has_create);
    open->has_create = true;
    open->create = *create;
    open->next_create = *at;
    *at = open;
}

static void drop_create(struct smb_open *open)
{
    struct smb_open **at = create_bucket(open->tree->session->connection->opens, &open->create);

    while (*at != open)
        at = &(*at)->next_create;
    *at = open->next_create;
    open->has_create = false;
}

struct smb_open *open_find_create(const struct smb_session *session, const struct guid *create)
{
    struct smb_open *open = *create_bucket(session->connection->opens, create);

    while (open && (open->tree->session != session || !guid_equal(&open->create, create)))
        open = open->next_create;
    return open;
}

uint8_t *open_lock_sequences(struct smb_open *open)
{
    if (!open->locks)
        open->locks = memset(xmalloc(LOCK_SEQUENCES), LOCK_SEQUENCE_NONE, LOCK_SEQUENCES);
    return open->locks;
}

void open_release(struct smb_open *open)
{
    struct smb_tree *tree = open->tree;

    assert(open->holders > 0);
    if (--open->holders > 0)
        return;
    free((char *)(uintptr_t)open->listing.pattern.ptr);
    free((char *)(uintptr_t)open->listing.at.name.ptr);
    free((char *)(uintptr_t)open->path.ptr);
    free(open->locks);
    free(open);
    smb_tree_release(tree);
}

static void begin_work(struct smb_request *request)
{
    assert(request->open && !request->is_in_work);
    request->is_in_work = true;
    request->open->in_work++;
}

void open_ends_work(struct smb_request *request)
{
    if (!request->is_in_work)
        return;
    request->is_in_work = false;
    assert(request->open->in_work > 0);
    if (--request->open->in_work == 1 && request->open->closed_by)
        request_wake(request->open->closed_by);
}

void open_remove(struct smb_open *open)
{
    struct smb_tree *tree = open->tree;
    struct smb_session *session = tree->session;
    struct open_table *table = session->connection->opens;

    assert(table->slots[(uint32_t)open->volatile_id] == open && !open->is_open);
    if (open->has_create)
        drop_create(open);
    table->slots[(uint32_t)open->volatile_id] = NULL;
    table->count--;
    session->open_count--;
    if (--tree->open_count == 0 && tree->awaited_by)
        request_wake(tree->awaited_by);
    if (session->open_count == 0 && session->awaited_by)
        request_wake(session->awaited_by);
    if (session->open_count == 0 && session->state == SESSION_ENDS)
        service_remove_session(session->connection->service, session);
    open_release(open);
}

void message_set_open(struct smb_message *message, struct smb_open *open)
{
    struct smb_open *before = message->open;

    message->open = open_hold(open);
    if (before)
        open_release(before);
}

struct smb_open *opens_next(const struct open_table *table, uint32_t *slot)
{
    while (*slot < table->size) {
        struct smb_open *open = table->slots[(*slot)++];

        if (open && open->is_open)
            return open;
    }
    return NULL;
}

/* ---- open of a request ---- */

/* Checks ChannelSequence, which is in the low half of the Status field of requests. ms-smb2:
 * 3.3.5.2.10 */
static bool begin_sequence(struct smb_request *request, struct smb_open *open)
{
    uint16_t command = request->header.command;
    bool modifies = command == SMB_WRITE || command == SMB_SET_INFO || command == SMB_IOCTL;

    if (request->message->connection->agreed.dialect < SMB_300)
        return true;
    request->has_sequence =
        channel_sequence_begin(&open->channel, (uint16_t)request->header.status, modifies,
                               request->header.flags & SMB_FLAG_REPLAY, &request->sequence_change);
    return request->has_sequence;
}

enum nt_status request_find_open(struct smb_request *request, size_t file_at)
{
    const char *id = request->bytes.ptr + SMB_HEADER_SIZE + file_at;
    struct smb_message *message = request->message;
    struct smb_open *open;

    assert(request->bytes.len >= SMB_HEADER_SIZE + file_at + 16);
    /* A related request with this FileId uses the open of the previous request. ms-smb2:
     * 3.3.5.2.7.2 */
    if (request->is_related && le64_get(id) == UINT64_MAX && le64_get(id + 8) == UINT64_MAX) {
        if (!message->open)
            return STATUS_INVALID_PARAMETER;
        open = message->open->is_open ? message->open : NULL;
    } else {
        open = open_find(request->session, request->tree, le64_get(id), le64_get(id + 8));
    }
    if (!open)
        return STATUS_FILE_CLOSED;
    if (!begin_sequence(request, open))
        return STATUS_FILE_NOT_AVAILABLE;
    open->is_fresh = false;
    request->open = open_hold(open);
    begin_work(request);
    message_set_open(message, open);
    return STATUS_SUCCESS;
}
