/* See create_contexts.h. Unknown contexts are ignored. */
#include "smb/create_contexts.h"
#include "smb/file_information.h"

#include <assert.h>

#include "base/endian.h"

#define LEASE_SIZE_1     32u
#define LEASE_SIZE_2     52u
#define LEASE_BREAKS     0x2u /* SMB2_LEASE_FLAG_BREAK_IN_PROGRESS */
#define LEASE_PARENT     0x4u /* SMB2_LEASE_FLAG_PARENT_LEASE_KEY_SET */

#define DURABLE_PERSISTS 0x2u /* SMB2_DHANDLE_FLAG_PERSISTENT */

/* ---- reading ---- */

static enum nt_status read_lease(struct bytes data, struct create_contexts *contexts)
{
    struct lease_context *lease = &contexts->lease;
    struct wire_reader r;
    uint32_t state, flags;

    if (data.len != LEASE_SIZE_1 && data.len != LEASE_SIZE_2)
        return STATUS_INVALID_PARAMETER;
    wire_reader_init(&r, data);
    lease->is_lease = true;
    lease->version = data.len == LEASE_SIZE_1 ? 1 : 2;
    lease->key = wire_guid(&r);
    state = wire_u32(&r);
    flags = wire_u32(&r);
    wire_skip(&r, 8); /* LeaseDuration */
    if (lease->version == 2) {
        lease->has_parent = flags & LEASE_PARENT;
        lease->parent = wire_guid(&r);
        lease->epoch = wire_u16(&r);
    }
    lease->state = state & CACHING_ALL;
    if (!(lease->state & CACHING_READ)) /* required for all caching. ms-smb2: 3.3.5.9.8 */
        lease->state = 0;
    return STATUS_SUCCESS;
}

static enum nt_status read_time_warp(struct bytes data, struct create_contexts *contexts)
{
    if (data.len != 8)
        return STATUS_INVALID_PARAMETER;
    contexts->snapshot = filetime_instant(le64_get(data.ptr));
    return STATUS_SUCCESS;
}

static enum nt_status read_descriptor(struct bytes data, struct create_contexts *contexts)
{
    contexts->descriptor = data;
    return STATUS_SUCCESS;
}

static enum nt_status read_maximum(struct bytes data, struct create_contexts *contexts)
{
    contexts->wants_maximum = true;
    return data.len == 0 || data.len == 8 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static enum nt_status read_ids(struct bytes data, struct create_contexts *contexts)
{
    contexts->wants_ids = true;
    return data.len == 0 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static enum nt_status read_allocation(struct bytes data, struct create_contexts *contexts)
{
    if (data.len != 8)
        return STATUS_INVALID_PARAMETER;
    contexts->allocation = le64_get(data.ptr);
    return STATUS_SUCCESS;
}

static enum nt_status read_attributes(struct bytes data, struct create_contexts *contexts)
{
    (void)contexts;
    return data.len == 0 ? STATUS_SUCCESS : STATUS_EAS_NOT_SUPPORTED;
}

/* Read durable handle contexts. Reserved fields are ignored; DHnQ consists of reserved fields only.
 * ms-smb2: 2.2.13.2.3, 2.2.13.2.4, 2.2.13.2.11, 2.2.13.2.12 */
static enum nt_status read_durable_1(struct bytes data, struct create_contexts *contexts)
{
    contexts->durable.wants_1 = true;
    return data.len == 16 ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static enum nt_status read_return_1(struct bytes data, struct create_contexts *contexts)
{
    if (data.len != 16)
        return STATUS_INVALID_PARAMETER;
    contexts->durable.returns_1 = true;
    contexts->durable.id = le64_get(data.ptr);
    return STATUS_SUCCESS;
}

static enum nt_status read_durable_2(struct bytes data, struct create_contexts *contexts)
{
    struct durable_request *durable = &contexts->durable;
    struct wire_reader r;

    if (data.len != 32)
        return STATUS_INVALID_PARAMETER;
    wire_reader_init(&r, data);
    durable->wants_2 = true;
    durable->timeout_ms = wire_u32(&r);
    durable->is_persistent = wire_u32(&r) & DURABLE_PERSISTS;
    wire_skip(&r, 8);
    durable->create = wire_guid(&r);
    return STATUS_SUCCESS;
}

static enum nt_status read_return_2(struct bytes data, struct create_contexts *contexts)
{
    struct durable_request *durable = &contexts->durable;
    struct wire_reader r;

    if (data.len != 36)
        return STATUS_INVALID_PARAMETER;
    wire_reader_init(&r, data);
    durable->returns_2 = true;
    durable->id = wire_u64(&r);
    wire_skip(&r, 8); /* FileId.Volatile of the lost connection */
    durable->create = wire_guid(&r);
    durable->is_persistent = wire_u32(&r) & DURABLE_PERSISTS;
    return STATUS_SUCCESS;
}

/* Reads a context; ignores contexts of a dialect newer than the connection's. */
static enum nt_status read_context(struct bytes name, struct bytes data, enum smb_dialect dialect,
                                   struct create_contexts *contexts)
{
    static const struct {
        const char *name;
        enum smb_dialect since;
        enum nt_status (*read)(struct bytes data, struct create_contexts *contexts);
    } known[] = {
        { "RqLs", SMB_210, read_lease },      { "TWrp", SMB_210, read_time_warp },
        { "SecD", SMB_210, read_descriptor }, { "MxAc", SMB_210, read_maximum },
        { "QFid", SMB_210, read_ids },        { "AlSi", SMB_210, read_allocation },
        { "ExtA", SMB_210, read_attributes }, { "DHnQ", SMB_210, read_durable_1 },
        { "DHnC", SMB_210, read_return_1 },   { "DH2Q", SMB_300, read_durable_2 },
        { "DH2C", SMB_300, read_return_2 },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bytes_is(name, known[i].name) && dialect >= known[i].since)
            return known[i].read(data, contexts);
    return STATUS_SUCCESS;
}

enum nt_status create_contexts_read(struct create_contexts *contexts, enum smb_dialect dialect)
{
    struct bytes rest = contexts->bytes;
    enum nt_status status = STATUS_SUCCESS;

    for (unsigned count = 0; rest.len > 0 && !status; count++) {
        struct wire_reader r;
        uint32_t next, data_size;
        uint16_t name_at, name_size, data_at;
        struct bytes name, data;

        wire_reader_init(&r, rest);
        next = wire_u32(&r);
        if (next > 0 && next < rest.len)
            wire_reader_init(&r, bytes_of(rest.ptr, next));
        wire_seek(&r, 4, 0);
        name_at = wire_u16(&r);
        name_size = wire_u16(&r);
        wire_skip(&r, 2);
        data_at = wire_u16(&r);
        data_size = wire_u32(&r);
        name = wire_buffer(&r, name_at, name_size, 16);
        data = wire_buffer(&r, data_at, data_size, 16);
        if (!wire_ok(&r) || count == SMB_CONTEXTS_MAX || next % 8 || (next > 0 && next >= rest.len))
            return STATUS_INVALID_PARAMETER;
        status = read_context(name, data, dialect, contexts);
        rest = next > 0 ? bytes_from(rest, next) : bytes_of(rest.ptr, 0);
    }
    return status ? status : durable_check(&contexts->durable);
}

/* ---- writing ---- */

/* Offsets of the first and last context, for linking the next one. */
struct list {
    struct wire_writer *w;
    size_t first, last; /* 0 before the first context */
};

static void begin(struct list *list, const char name[4], uint32_t size)
{
    struct wire_writer *w = list->w;

    wire_put_padding(w, 8);
    if (list->last > 0)
        wire_set_u32(w, list->last, (uint32_t)(wire_place(w) - list->last));
    else
        list->first = wire_place(w);
    list->last = wire_place(w);
    wire_put_u32(w, 0);  /* Next */
    wire_put_u16(w, 16); /* NameOffset */
    wire_put_u16(w, 4);
    wire_put_u16(w, 0);
    wire_put_u16(w, 24); /* DataOffset */
    wire_put_u32(w, size);
    wire_put(w, bytes_of(name, 4));
    wire_put_zeros(w, 4);
}

static void put_lease(struct list *list, const struct smb_open *open,
                      const struct handle_open *opened)
{
    const struct lease_context *lease = &open->caching->lease;
    bool is_second = lease->version == 2;

    begin(list, "RqLs", is_second ? LEASE_SIZE_2 : LEASE_SIZE_1);
    wire_put_guid(list->w, &lease->key);
    wire_put_u32(list->w, opened->given.holds);
    wire_put_u32(list->w, (opened->given.breaks ? LEASE_BREAKS : 0) |
                              (is_second && lease->has_parent ? LEASE_PARENT : 0));
    wire_put_u64(list->w, 0);
    if (!is_second)
        return;
    wire_put_guid(list->w, &lease->parent);
    wire_put_u16(list->w, opened->given.epoch);
    wire_put_u16(list->w, 0);
}

static void put_ids(struct list *list, const struct smb_open *open)
{
    begin(list, "QFid", 32);
    wire_put_u64(list->w, open->handle.node);
    wire_put_u64(list->w, smb_volume_id(open->tree));
    wire_put_zeros(list->w, 16);
}

/* Writes the granted durability; on a reconnect only if the create was a replay. ms-smb2:
 * 2.2.14.2.3, 2.2.14.2.12 */
static void put_durable(struct list *list, const struct create_contexts *contexts,
                        const struct smb_durable *durable)
{
    bool has_come_back =
        contexts->durable.returns_1 || (contexts->durable.returns_2 && !contexts->durable.wants_2);

    if (durable->kind == DURABLE_NONE || has_come_back)
        return;
    begin(list, durable->kind == DURABLE_1 ? "DHnQ" : "DH2Q", 8);
    if (durable->kind == DURABLE_1) {
        wire_put_u64(list->w, 0);
        return;
    }
    wire_put_u32(list->w, durable->timeout_ms);
    wire_put_u32(list->w, durable->kind == DURABLE_PERSISTENT ? DURABLE_PERSISTS : 0);
}

void create_contexts_write(const struct create_contexts *contexts, const struct smb_open *open,
                           const struct smb_durable *durable, const struct handle_open *opened,
                           struct wire_writer *w, size_t fixed_at)
{
    struct list list = { .w = w };

    if (contexts->lease.is_lease && open->caching && open->caching->lease.is_lease)
        put_lease(&list, open, opened);
    if (contexts->wants_maximum) {
        begin(&list, "MxAc", 8);
        wire_put_u32(w, 0); /* QueryStatus */
        wire_put_u32(w, opened->maximum);
    }
    if (contexts->wants_ids)
        put_ids(&list, open);
    put_durable(&list, contexts, durable);
    if (list.last == 0)
        return;
    wire_set_u32(w, fixed_at, (uint32_t)list.first);
    wire_set_u32(w, fixed_at + 4, (uint32_t)(wire_place(w) - list.first));
}
