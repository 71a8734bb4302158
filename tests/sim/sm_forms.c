/* See sm_forms.h. */
#include "sm_forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs_model.h"
#include "sm_list.h"
#include "sm_watch.h"
#include "smb_protocol/wire.h"

/* MS-SMB2 2.2.13.1.1: beside reading attributes */
static const uint32_t rights[3] = { 0x00000001, 0x00000002, 0x00010000 };
#define RIGHTS_ALWAYS   0x00100080u /* READ_ATTRIBUTES, SYNCHRONIZE */
#define DIRECTORY       0x00000001u
#define NON_DIRECTORY   0x00000040u
#define WRITE_THROUGH   0x00000001u
#define INFO_FILE       1u
#define INFO_QUERY_MAX  64u
#define CLASS_STANDARD  5u /* of FileInformationClass. MS-FSCC 2.4 */
#define CLASS_RENAME    10u
#define CLASS_DELETE    13u
#define CLASS_LENGTH    20u
#define DELETE_ON_CLOSE 0x00001000u
#define KEPT_MS         300000u
#define PERSISTENT      2u
#define LOCK_SHARED     0x01u
#define LOCK_EXCLUSIVE  0x02u
#define LOCK_RELEASED   0x04u
#define LOCK_AT_ONCE    0x10u

static void put_path(struct wire_writer *w, const struct fs_path *path)
{
    for (unsigned i = 0; i < path->depth; i++) {
        if (i > 0)
            wire_put_u16(w, '\\');
        wire_put_utf16(w, bytes_from_string(fs_name_bytes[path->cases >> i & 1][path->names[i]]));
    }
}

static void put_handle(struct wire_writer *w, const struct sm_ask *ask)
{
    wire_put_u64(w, ask->handle.persistent);
    wire_put_u64(w, ask->handle.volatile_id);
}

/* RequestedOplockLevel. MS-SMB2 2.2.13 */
static uint8_t level_of(const struct sm_ask *ask)
{
    if (ask->caching == 0)
        return 0;
    return ask->key > 0                 ? 0xFF
           : ask->caching == CACHES_ALL ? 0x09
           : ask->caching & CACHES_W    ? 0x08
                                        : 0x01;
}

/* ---- contexts of a create: MS-SMB2 2.2.13.2 ---- */

static void put_context(struct wire_writer *w, const char *name, uint32_t size, bool is_last)
{
    wire_put_u32(w, is_last ? 0 : (24 + size + 7) / 8 * 8);
    wire_put_u16(w, 16);
    wire_put_u16(w, 4);
    wire_put_u16(w, 0);
    wire_put_u16(w, 24);
    wire_put_u32(w, size);
    wire_put(w, bytes_from_string(name));
    wire_put_u32(w, 0);
}

/* SMB2_CREATE_REQUEST_LEASE_V2: 2.2.13.2.10 */
static void put_lease(struct wire_writer *w, const struct sm_ask *ask, bool is_last)
{
    put_context(w, "RqLs", 52, is_last);
    wire_put_u64(w, ask->key);
    wire_put_zeros(w, 8);
    wire_put_u32(w, ask->caching);
    wire_put_zeros(w, 4 + 8 + 16 + 4);
}

/* SMB2_CREATE_DURABLE_HANDLE_REQUEST_V2, SMB2_CREATE_DURABLE_HANDLE_RECONNECT_V2: 2.2.13.2.11, 2.2.13.2.12 */
static void put_durable(struct wire_writer *w, const struct sm_ask *ask)
{
    bool returns = ask->op == SM_RETURN;

    wire_put_padding(w, 8);
    put_context(w, returns ? "DH2C" : "DH2Q", returns ? 36 : 32, true);
    if (returns) {
        put_handle(w, ask);
    } else {
        wire_put_u32(w, ask->kept_s > 0 ? ask->kept_s * 1000 : KEPT_MS);
        wire_put_u32(w, ask->persists ? PERSISTENT : 0);
        wire_put_zeros(w, 8);
    }
    wire_put_u64(w, ask->create);
    wire_put_zeros(w, 8);
    if (returns)
        wire_put_u32(w, ask->persists ? PERSISTENT : 0);
}

static void put_open(struct wire_writer *w, const struct sm_ask *ask)
{
    static const uint32_t kinds[] = { [SM_FILE] = NON_DIRECTORY, [SM_DIRECTORY] = DIRECTORY };
    bool has_lease = ask->caching > 0 && ask->key > 0;
    uint32_t access = RIGHTS_ALWAYS;
    size_t size_at, contexts;

    for (unsigned i = 0; i < 3; i++)
        access |= ask->access >> i & 1 ? rights[i] : 0;
    wire_put_u16(w, 57);
    wire_put_u8(w, 0);
    wire_put_u8(w, level_of(ask));
    wire_put_u32(w, 2); /* Impersonation */
    wire_put_zeros(w, 16);
    wire_put_u32(w, access);
    wire_put_u32(w, 0);
    wire_put_u32(w, ask->share);
    wire_put_u32(w, (uint32_t)ask->disposition);
    wire_put_u32(w, kinds[ask->kind] | (ask->deletes ? DELETE_ON_CLOSE : 0));
    wire_put_u16(w, SMB_HEADER_SIZE + 56);
    size_at = wire_place(w);
    wire_put_u16(w, 0);
    wire_put_zeros(w, 8); /* no contexts */
    put_path(w, &ask->path);
    wire_set_u16(w, size_at, (uint16_t)(wire_place(w) - size_at - 10));
    wire_put_u16(w, 0);
    if (has_lease || ask->create > 0) {
        wire_put_padding(w, 8);
        wire_set_u32(w, size_at + 2, (uint32_t)wire_place(w));
        contexts = wire_place(w);
        if (has_lease)
            put_lease(w, ask, ask->create == 0);
        if (ask->create > 0)
            put_durable(w, ask);
        wire_set_u32(w, size_at + 6, (uint32_t)(wire_place(w) - contexts));
    }
}

static void put_read(struct wire_writer *w, const struct sm_ask *ask)
{
    uint32_t slot = fs_slot_bytes();

    wire_put_u16(w, 49);
    wire_put_u16(w, 0);
    wire_put_u32(w, (ask->to - ask->from) * slot);
    wire_put_u64(w, (uint64_t)ask->from * slot);
    put_handle(w, ask);
    wire_put_zeros(w, 17);
}

static void put_write(struct wire_writer *w, const struct sm_ask *ask)
{
    uint32_t slot = fs_slot_bytes(), size = (ask->to - ask->from) * slot;
    unsigned char *bytes = malloc(size);

    pattern_fill(ask->seed, (uint64_t)ask->from * slot, bytes, size);
    wire_put_u16(w, 49);
    wire_put_u16(w, SMB_HEADER_SIZE + 48);
    wire_put_u32(w, size);
    wire_put_u64(w, (uint64_t)ask->from * slot);
    put_handle(w, ask);
    wire_put_zeros(w, 12);
    wire_put_u32(w, ask->write_through ? WRITE_THROUGH : 0);
    wire_put(w, bytes_of(bytes, size));
    free(bytes);
}

static void put_close(struct wire_writer *w, const struct sm_ask *ask)
{
    wire_put_u16(w, 24);
    wire_put_zeros(w, 6);
    put_handle(w, ask);
}

static void put_set(struct wire_writer *w, const struct sm_ask *ask, unsigned class, size_t size)
{
    wire_put_u16(w, 33);
    wire_put_u8(w, INFO_FILE);
    wire_put_u8(w, (uint8_t) class);
    wire_put_u32(w, (uint32_t)size);
    wire_put_u16(w, SMB_HEADER_SIZE + 32);
    wire_put_u16(w, 0);
    wire_put_u32(w, 0);
    put_handle(w, ask);
}

static void put_length(struct wire_writer *w, const struct sm_ask *ask)
{
    put_set(w, ask, CLASS_LENGTH, 8);
    wire_put_u64(w, (uint64_t)ask->length * fs_slot_bytes());
}

static void put_delete(struct wire_writer *w, const struct sm_ask *ask)
{
    put_set(w, ask, CLASS_DELETE, 1);
    wire_put_u8(w, ask->deletes);
}

static void put_rename(struct wire_writer *w, const struct sm_ask *ask)
{
    size_t begin, at;

    put_set(w, ask, CLASS_RENAME, 0);
    begin = wire_place(w);
    wire_put_u8(w, ask->replaces);
    wire_put_zeros(w, 7 + 8);
    at = wire_place(w);
    wire_put_u32(w, 0);
    put_path(w, &ask->path);
    wire_set_u32(w, at, (uint32_t)(wire_place(w) - at - 4));
    wire_put_u32(w, 0);
    wire_set_u32(w, SMB_HEADER_SIZE + 4, (uint32_t)(wire_place(w) - begin));
}

static void put_query(struct wire_writer *w, const struct sm_ask *ask)
{
    wire_put_u16(w, 41);
    wire_put_u8(w, INFO_FILE);
    wire_put_u8(w, CLASS_STANDARD);
    wire_put_u32(w, INFO_QUERY_MAX);
    wire_put_zeros(w, 2 + 2 + 4 + 4 + 4);
    put_handle(w, ask);
    wire_put_u8(w, 0);
}

static void put_range(struct wire_writer *w, const struct sm_ask *ask, uint32_t flags)
{
    uint32_t slot = fs_slot_bytes();

    wire_put_u16(w, 48);
    wire_put_u16(w, 1);
    wire_put_u32(w, 0); /* LockSequence: none is kept */
    put_handle(w, ask);
    wire_put_u64(w, (uint64_t)ask->from * slot);
    wire_put_u64(w, (uint64_t)(ask->to - ask->from) * slot);
    wire_put_u32(w, flags);
    wire_put_u32(w, 0);
}

static void put_lock(struct wire_writer *w, const struct sm_ask *ask)
{
    put_range(w, ask,
              (ask->is_exclusive ? LOCK_EXCLUSIVE : LOCK_SHARED) |
                  (ask->waits_ns > 0 ? 0 : LOCK_AT_ONCE));
}

static void put_unlock(struct wire_writer *w, const struct sm_ask *ask)
{
    put_range(w, ask, LOCK_RELEASED);
}

static const struct {
    uint16_t command;
    void (*put)(struct wire_writer *w, const struct sm_ask *ask);
} forms[SM_OPS] = {
    [SM_OPEN] = { SMB_CREATE, put_open },
    [SM_RETURN] = { SMB_CREATE, put_open },
    [SM_READ] = { SMB_READ, put_read },
    [SM_WRITE] = { SMB_WRITE, put_write },
    [SM_SET_LENGTH] = { SMB_SET_INFO, put_length },
    [SM_FLUSH] = { SMB_FLUSH, put_close },
    [SM_QUERY] = { SMB_QUERY_INFO, put_query },
    [SM_LIST] = { SMB_QUERY_DIRECTORY, sm_list_write },
    [SM_NOTIFY] = { SMB_CHANGE_NOTIFY, sm_watch_write },
    [SM_LOCK] = { SMB_LOCK, put_lock },
    [SM_UNLOCK] = { SMB_LOCK, put_unlock },
    [SM_SET_DELETE] = { SMB_SET_INFO, put_delete },
    [SM_RENAME] = { SMB_SET_INFO, put_rename },
    [SM_CLOSE] = { SMB_CLOSE, put_close },
};

uint16_t sm_form_command(enum sm_op op)
{
    return forms[op].command;
}

void sm_form_put(struct wire_writer *w, const struct sm_ask *ask)
{
    forms[ask->op].put(w, ask);
}

/* ---- for people ---- */

void sm_ask_format(const struct sm_ask *ask, char *to, size_t size)
{
    static const char *const names[SM_OPS] = {
        "nothing", "Open",   "Return", "Read", "Write",  "Set length",
        "Flush",   "Query",  "List",   "Lock", "Unlock", "Set delete",
        "Rename",  "Notify", "Listen", "Stop", "Close",  "Hang up",
    };
    static const char *const dispositions[SM_DISPOSITIONS] = {
        "SUPERSEDE", "OPEN", "CREATE", "OPEN_IF", "OVERWRITE", "OVERWRITE_IF",
    };
    static const char *const masks[8] = { "-", "R", "W", "RW", "D", "RD", "WD", "RWD" };
    char path[120] = "";
    size_t used = 0;

    for (unsigned i = 0; i < ask->path.depth && used + 12 < sizeof path; i++)
        used += (size_t)snprintf(path + used, sizeof path - used, "\\%s",
                                 fs_name_bytes[ask->path.cases >> i & 1][ask->path.names[i]]);
    if (ask->op == SM_OPEN)
        (void)snprintf(to, size, "SMB Open %s of %s'%s' for %s shared %s%s, %s %u%s%s",
                       dispositions[ask->disposition],
                       ask->kind == SM_FILE        ? "file "
                       : ask->kind == SM_DIRECTORY ? "directory "
                                                   : "",
                       path, masks[ask->access], masks[ask->share], ask->deletes ? " deleting" : "",
                       ask->key > 0 ? "lease" : "oplock", ask->caching,
                       ask->persists     ? " persistent"
                       : ask->is_durable ? " durable"
                                         : "",
                       ask->replays ? ", twice" : "");
    for (unsigned i = 0; i < ask->then_count; i++) {
        used = strlen(to);
        (void)snprintf(to + used, size - used, " + %s", names[ask->then[i]]);
    }
    if (ask->op == SM_OPEN)
        return;
    if (ask->op == SM_LIST)
        (void)snprintf(to, size, "SMB List '%s' from %u%s%s by open %llu, sure of %x",
                       sm_patterns[ask->scan.pattern].text, ask->scan.from,
                       ask->restarts ? " anew" : "", ask->is_single ? " one" : "",
                       (unsigned long long)ask->handle.open, ask->scan.sure);
    else if (ask->op == SM_NOTIFY)
        (void)snprintf(to, size, "SMB Notify by open %llu filter %x room %u%s",
                       (unsigned long long)ask->handle.open, ask->filter, ask->room,
                       ask->is_recursive ? " of its tree" : "");
    else
        (void)snprintf(
            to, size,
            "SMB %s by open %llu (%llx.%llx) slots %u..%u seed=%u length=%u%s%s%s%s to '%s' %u s",
            names[ask->op], (unsigned long long)ask->handle.open,
            (unsigned long long)ask->handle.persistent, (unsigned long long)ask->handle.volatile_id,
            ask->from, ask->to, ask->seed, ask->length, ask->write_through ? " through" : "",
            ask->deletes ? " deleting" : "", ask->replaces ? " replacing" : "",
            ask->is_exclusive ? " exclusive" : "", path, (unsigned)(ask->waits_ns / 1000000000));
}
