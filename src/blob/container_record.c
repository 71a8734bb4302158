/* The record of a container: LISTED "c" in partition (account space, container name).
 *
 *   version 1:  u8 1; space, 16 raw; created, ETag and modified, ticks; lease
 *               (concurrency/lease.h); u8 public access; bytes metadata (service/metadata.h);
 *               bytes policies (container_operations.c)
 *   version 2, of a soft-deleted container, whose key is "D", the time of the deletion, ticks be64,
 *               and "c":  version 1; expires, ticks; task, 16 raw
 *   versions 3 and 4: like 1 and 2, then bytes owner; of a container with a hierarchical namespace
 *   versions 5 to 8: like 1 to 4, then the immutability (immutability.h): u8 has versions,
 *               u8 mode, days, u8 append rule, extensions, bytes holds, u8 holds append,
 *               u8 is closed, bytes log
 *   versions 11, 12, 15 and 16: like 3, 4, 7 and 8, then the name of the root directory, 16 raw;
 *               u8 1 if the tree is shared (container_root.h)
 * To change the format: use a new version number, keep the old reader, and add a data folder in the
 * old format to the tests. */
#include "blob/blob.h"

#include <assert.h>

#include "blob/immutability.h"
#include "blob/record_parts.h"
#include "properties/soft_delete.h"
#include "service/small_record.h"
#include "service/usage.h"

/* What a version adds to version 1. */
#define RECORD_VERSION      1
#define KEPT                1
#define HIERARCHICAL        2
#define IMMUTABLE           4
#define ROOTED              8 /* only with HIERARCHICAL */
#define RECORD_VERSION_LAST (RECORD_VERSION + KEPT + HIERARCHICAL + IMMUTABLE + ROOTED)

static const struct bytes record_key = BYTES("c");

static void root_decode(struct decoder *in, struct container_root *ret_root)
{
    uint8_t is_shared;

    decode_fixed(in, ret_root->name.b, sizeof ret_root->name.b);
    is_shared = decode_u8(in);
    in->bad |= is_shared > 1 || guid_is_zero(&ret_root->name);
    ret_root->is_shared = is_shared == 1;
}

bool container_decode(struct bytes value, struct container *ret_container)
{
    struct container c = { 0 };
    struct decoder in;
    uint8_t access, version, form;

    decoder_init(&in, value);
    version = decode_u8(&in);
    if (version < RECORD_VERSION || version > RECORD_VERSION_LAST)
        return false;
    form = (uint8_t)(version - RECORD_VERSION);
    c.hierarchical = (form & HIERARCHICAL) != 0;
    decode_fixed(&in, c.space.b, sizeof c.space.b);
    c.created = decode_u64(&in);
    c.etag.v = decode_u64(&in);
    c.modified = decode_u64(&in);
    lease_decode(&in, &c.lease);
    access = decode_u8(&in);
    c.metadata = decode_bytes(&in);
    c.policies = decode_bytes(&in);
    if (form & KEPT) {
        c.expires = decode_u64(&in);
        decode_fixed(&in, c.task.b, sizeof c.task.b);
    }
    if (c.hierarchical)
        c.owner = decode_bytes(&in);
    if (form & IMMUTABLE)
        protection_decode(&in, &c.immutability);
    if (form & ROOTED)
        root_decode(&in, &c.root);
    if (!decoder_ok(&in) || access > ACCESS_CONTAINER || ((form & ROOTED) && !c.hierarchical))
        return false;
    c.public_access = (enum public_access)access;
    *ret_container = c;
    return true;
}

/* ---- the second record of the protection, in the space of the container ---- */

#define PROTECTION_VERSION 1

static const struct bytes protection_key = BYTES("i");

/* No blob name contains a null character. */
#define PROTECTION_PARTITION "\0protection"

struct partition container_protection_partition(struct arena *arena, struct guid space,
                                                const struct guid *root)
{
    char name[GUID_TEXT_SIZE];

    if (guid_is_zero(root))
        return (struct partition){ .space = space, .key = BYTES(PROTECTION_PARTITION) };
    guid_format(root, name);
    return (struct partition){ .space = space,
                               .key = arena_printf(arena, "%cprotection/%s", '\0', name) };
}

void container_protection_write(struct changes *changes, struct arena *arena,
                                const struct container_immutability *immutability)
{
    struct text out;

    text_init(&out, arena, 64 + immutability->log.len);
    encode_u8(&out, PROTECTION_VERSION);
    protection_encode(&out, immutability);
    changes_put(changes, RECORD_INNER, protection_key, text_bytes(&out), NULL, 0);
}

void container_protection_delete(struct changes *changes)
{
    changes_delete(changes, RECORD_INNER, protection_key);
}

enum store_result container_protection_read(struct read_view *view, struct arena *arena,
                                            struct container_immutability *ret_immutability)
{
    struct container_immutability read = { .has_versions = false };
    struct record record;
    struct decoder in;
    enum store_result result = read_view_get(view, RECORD_INNER, protection_key, arena, &record);

    if (result)
        return result;
    decoder_init(&in, record.value);
    in.bad = decode_u8(&in) != PROTECTION_VERSION;
    protection_decode(&in, &read);
    if (!decoder_ok(&in))
        return record_is_unknown("the protection of a container", record.value);
    *ret_immutability = read;
    return STORE_OK;
}

bool container_key_read(struct bytes key, instant *ret_deleted)
{
    return dated_key_take(&key, KEY_OF_DELETED, ret_deleted) && bytes_equal(key, record_key);
}

struct bytes container_record_key(struct arena *arena, instant deleted)
{
    struct text out;

    if (deleted == 0)
        return record_key;
    text_init(&out, arena, DATED_KEY_SIZE + record_key.len);
    dated_key_add(&out, KEY_OF_DELETED, deleted);
    text_add(&out, record_key);
    return text_bytes(&out);
}

enum store_result container_read_deleted(struct read_view *snapshot, struct arena *arena,
                                         instant deleted, struct container *ret_container)
{
    struct record record;
    enum store_result result;

    result = read_view_get(snapshot, RECORD_LISTED, container_record_key(arena, deleted), arena,
                           &record);
    if (result != STORE_OK)
        return result;
    if (!container_decode(record.value, ret_container))
        return record_is_unknown("a container's record", record.value);
    return STORE_OK;
}

enum store_result container_read(struct read_view *snapshot, struct arena *arena,
                                 struct container *ret_container)
{
    return container_read_deleted(snapshot, arena, 0, ret_container);
}

void container_write_deleted(struct changes *changes, struct arena *arena, instant deleted,
                             const struct container *container)
{
    bool is_immutable = container_has_immutability(&container->immutability);
    bool is_rooted = !guid_is_zero(&container->root.name);
    struct text out;

    assert(container->hierarchical || !is_rooted);
    text_init(&out, arena, 180 + container->metadata.len + container->policies.len);
    encode_u8(&out, (uint8_t)(RECORD_VERSION + (deleted > 0 ? KEPT : 0) +
                              (container->hierarchical ? HIERARCHICAL : 0) +
                              (is_immutable ? IMMUTABLE : 0) + (is_rooted ? ROOTED : 0)));
    encode_fixed(&out, container->space.b, sizeof container->space.b);
    encode_u64(&out, container->created);
    encode_u64(&out, container->etag.v);
    encode_u64(&out, container->modified);
    lease_encode(&out, &container->lease);
    encode_u8(&out, (uint8_t)container->public_access);
    encode_bytes(&out, container->metadata);
    encode_bytes(&out, container->policies);
    if (deleted > 0) {
        encode_u64(&out, container->expires);
        encode_fixed(&out, container->task.b, sizeof container->task.b);
    }
    if (container->hierarchical)
        encode_bytes(&out, container->owner);
    if (is_immutable)
        protection_encode(&out, &container->immutability);
    if (is_rooted) {
        encode_fixed(&out, container->root.name.b, sizeof container->root.name.b);
        encode_u8(&out, container->root.is_shared);
    }
    changes_put(changes, RECORD_LISTED, container_record_key(arena, deleted), text_bytes(&out),
                NULL, 0);
}

void container_write(struct changes *changes, struct arena *arena,
                     const struct container *container)
{
    container_write_deleted(changes, arena, 0, container);
}

void container_delete_deleted(struct changes *changes, struct arena *arena, instant deleted)
{
    changes_delete(changes, RECORD_LISTED, container_record_key(arena, deleted));
}

void container_delete_record(struct changes *changes)
{
    changes_delete(changes, RECORD_LISTED, record_key);
}

void container_write_changed(struct decision *d, struct container *container)
{
    container->etag = d->subject.etag = etag_after(container->etag, d->now);
    container->modified = d->subject.modified = d->now;
    container_write(d->changes, d->arena, container);
}

/* ---- storage used: service/usage.h ---- */

/* blob/blob.h */
#define KEY_OF_BASE "\xFF"

static bool is_container(const struct space_record *record, struct guid *ret_space,
                         uint64_t *ret_quota_bytes)
{
    struct container container;

    (void)ret_quota_bytes;
    if (!bytes_equal(record->record_key, record_key) ||
        !container_decode(record->value, &container))
        return false;
    *ret_space = container.space;
    return true;
}

static bool is_kept_container(const struct space_record *record, struct guid *ret_space)
{
    struct container container;
    instant deleted;

    if (!container_key_read(record->record_key, &deleted) || deleted == 0 ||
        !container_decode(record->value, &container))
        return false;
    *ret_space = container.space;
    return true;
}

/* Counts the bytes of a blob. It is not an object if it is a snapshot, was never committed, or is
 * soft-deleted. */
static void count_blob(const struct space_record *record, struct usage *usage)
{
    struct blob blob;
    bool is_base = bytes_is(record->record_key, KEY_OF_BASE);

    if ((!is_base && !bytes_has_prefix(record->record_key, blob_snapshot_prefix)) ||
        !blob_decode(record->value, &blob))
        return;
    if (blob.uncommitted) {
        usage->uncommitted += !blob_is_anchor(&blob);
        return;
    }
    usage->objects += is_base && blob.deletion.at == 0 && !blob.is_directory;
    usage->bytes += blob.content.length;
}

const struct usage_functions blob_usage = { .container = is_container,
                                            .kept = is_kept_container,
                                            .record = count_blob };
