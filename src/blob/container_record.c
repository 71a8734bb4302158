/* The record of a container: LISTED "c" in partition (account space, container name).
 *
 *   version 1:  u8 1; space, 16 raw; created, ETag and modified, ticks; lease
 *               (concurrency/lease.h); u8 public access; bytes metadata (service/metadata.h);
 *               bytes policies (container_operations.c)
 * To change it: a new version number, the old reader kept, a data folder of the old form added to
 * the tests. */
#include "blob/blob.h"

#include "service/small_record.h"

#define RECORD_VERSION 1

static const struct bytes record_key = BYTES("c");

bool container_decode(struct bytes value, struct container *ret_container)
{
    struct container c = { 0 };
    struct decoder in;
    uint8_t access;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    decode_fixed(&in, c.space.b, sizeof c.space.b);
    c.created = decode_u64(&in);
    c.etag.v = decode_u64(&in);
    c.modified = decode_u64(&in);
    lease_decode(&in, &c.lease);
    access = decode_u8(&in);
    c.metadata = decode_bytes(&in);
    c.policies = decode_bytes(&in);
    if (!decoder_ok(&in) || access > ACCESS_CONTAINER)
        return false;
    c.public_access = (enum public_access)access;
    *ret_container = c;
    return true;
}

enum store_result container_read(struct snapshot *snapshot, struct arena *arena,
                                 struct container *ret_container)
{
    struct record record;
    enum store_result result;

    result = snapshot_get(snapshot, RECORD_LISTED, record_key, arena, &record);
    if (result != STORE_OK)
        return result;
    if (!container_decode(record.value, ret_container))
        return record_is_unknown("a container's record", record.value);
    return STORE_OK;
}

void container_write(struct changes *changes, struct arena *arena,
                     const struct container *container)
{
    struct text out;

    text_init(&out, arena, 128 + container->metadata.len + container->policies.len);
    encode_u8(&out, RECORD_VERSION);
    encode_fixed(&out, container->space.b, sizeof container->space.b);
    encode_u64(&out, container->created);
    encode_u64(&out, container->etag.v);
    encode_u64(&out, container->modified);
    lease_encode(&out, &container->lease);
    encode_u8(&out, (uint8_t)container->public_access);
    encode_bytes(&out, container->metadata);
    encode_bytes(&out, container->policies);
    changes_put(changes, RECORD_LISTED, record_key, text_bytes(&out), NULL, 0);
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
