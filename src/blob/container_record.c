/* The record of a container: LISTED "c" in partition (account space, container name).
 *
 *   version 1:  u8 1; space, 16 raw; created, ETag and modified, ticks; lease
 *               (concurrency/lease.h); u8 public access; bytes metadata (service/metadata.h);
 *               bytes policies (container_operations.c)
 *   version 2, of a soft-deleted container, whose key is "D", the time of the deletion, ticks be64,
 *               and "c":  version 1; expires, ticks; task, 16 raw
 *   versions 3 and 4: like 1 and 2, then bytes owner; of a container with a hierarchical namespace
 *   versions 5 and 6: like 3 and 4, then name of the root directory, 16 raw; u8 1 if the tree is
 *               shared (container_root.h)
 * To change the format: use a new version number, keep the old reader, and add a data folder in the
 * old format to the tests. */
#include "blob/blob.h"

#include <assert.h>

#include "properties/soft_delete.h"
#include "service/small_record.h"
#include "service/usage.h"

#define RECORD_VERSION      1
#define RECORD_VERSION_KEPT 2
#define HIERARCHICAL        2 /* added to the version */
#define WITH_ROOT           4 /* added instead, for a root directory with a name */

static const struct bytes record_key = BYTES("c");

bool container_decode(struct bytes value, struct container *ret_container)
{
    struct container c = { 0 };
    struct decoder in;
    uint8_t access, version, is_shared = 0;

    decoder_init(&in, value);
    version = decode_u8(&in);
    if (version < RECORD_VERSION || version > RECORD_VERSION_KEPT + WITH_ROOT)
        return false;
    c.hierarchical = version > RECORD_VERSION_KEPT;
    decode_fixed(&in, c.space.b, sizeof c.space.b);
    c.created = decode_u64(&in);
    c.etag.v = decode_u64(&in);
    c.modified = decode_u64(&in);
    lease_decode(&in, &c.lease);
    access = decode_u8(&in);
    c.metadata = decode_bytes(&in);
    c.policies = decode_bytes(&in);
    if (version % 2 == RECORD_VERSION_KEPT % 2) {
        c.expires = decode_u64(&in);
        decode_fixed(&in, c.task.b, sizeof c.task.b);
    }
    if (c.hierarchical)
        c.owner = decode_bytes(&in);
    if (version > RECORD_VERSION_KEPT + HIERARCHICAL) {
        decode_fixed(&in, c.root.name.b, sizeof c.root.name.b);
        is_shared = decode_u8(&in);
        if (guid_is_zero(&c.root.name) || is_shared > 1)
            return false;
    }
    if (!decoder_ok(&in) || access > ACCESS_CONTAINER)
        return false;
    c.public_access = (enum public_access)access;
    c.root.is_shared = is_shared;
    *ret_container = c;
    return true;
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
    bool has_root = !guid_is_zero(&container->root.name);
    struct text out;

    assert(container->hierarchical || !has_root);
    text_init(&out, arena, 180 + container->metadata.len + container->policies.len);
    encode_u8(&out, (uint8_t)((deleted > 0 ? RECORD_VERSION_KEPT : RECORD_VERSION) +
                              (has_root                  ? WITH_ROOT
                               : container->hierarchical ? HIERARCHICAL
                                                         : 0)));
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
    if (has_root) {
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
