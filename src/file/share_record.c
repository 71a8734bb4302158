/* The records of a share and of its snapshots: LISTED "s" and "S" <date of the snapshot, ticks be64>
 * in partition (account space, share name).
 *
 *   version 1:  u8 1; space, 16 raw; generation; created, ETag and modified, ticks; lease
 *               (concurrency/lease.h); quota, GiB; u8 tier; tier changed, ticks; snapshots; newest
 *               snapshot, ticks; bytes metadata (service/metadata.h); bytes policies
 *               (auth/policies.h)
 * To change it: a new version number, the old reader kept, a data folder of the old form added to
 * the tests. */
#include "file/file.h"

#include "base/endian.h"
#include "service/small_record.h"

#define RECORD_VERSION  1
#define KEY_OF_SNAPSHOT 'S'

static const struct bytes share_key = BYTES("s");
static const struct bytes snapshot_prefix = BYTES("S");

struct bytes share_record_key(struct arena *arena, instant snapshot)
{
    char *key;

    if (snapshot == 0)
        return share_key;
    key = arena_bytes(arena, 1 + 8);
    key[0] = KEY_OF_SNAPSHOT;
    be64_put(key + 1, snapshot);
    return bytes_of(key, 1 + 8);
}

static bool read_key(struct bytes key, instant *ret_snapshot)
{
    *ret_snapshot = 0;
    if (bytes_equal(key, share_key))
        return true;
    if (key.len != 1 + 8 || key.ptr[0] != KEY_OF_SNAPSHOT)
        return false;
    *ret_snapshot = be64_get(key.ptr + 1);
    return *ret_snapshot > 0;
}

static bool decode_value(struct bytes value, struct share *ret_share)
{
    struct share s = { .generation = 0 };
    struct decoder in;
    uint64_t quota, snapshots;
    uint8_t tier;

    decoder_init(&in, value);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    decode_fixed(&in, s.space.b, sizeof s.space.b);
    s.generation = decode_u64(&in);
    s.created = decode_u64(&in);
    s.etag.v = decode_u64(&in);
    s.modified = decode_u64(&in);
    lease_decode(&in, &s.lease);
    quota = decode_u64(&in);
    tier = decode_u8(&in);
    s.tier_changed = decode_u64(&in);
    snapshots = decode_u64(&in);
    s.newest_snapshot = decode_u64(&in);
    s.metadata = decode_bytes(&in);
    s.policies = decode_bytes(&in);
    if (!decoder_ok(&in) || quota < 1 || quota > SHARE_QUOTA_MAX_GIB || tier > SHARE_TIER_LAST ||
        snapshots > SHARE_SNAPSHOTS_MAX)
        return false;
    s.quota_gib = (uint32_t)quota;
    s.tier = (enum share_tier)tier;
    s.snapshots = (uint32_t)snapshots;
    *ret_share = s;
    return true;
}

bool share_decode(struct bytes key, struct bytes value, struct share *ret_share,
                  instant *ret_snapshot)
{
    return read_key(key, ret_snapshot) && decode_value(value, ret_share);
}

enum store_result share_read(struct snapshot *before, struct arena *arena, instant snapshot,
                             struct share *ret_share)
{
    struct record record;
    enum store_result result =
        snapshot_get(before, RECORD_LISTED, share_record_key(arena, snapshot), arena, &record);

    if (result)
        return result;
    if (!decode_value(record.value, ret_share))
        return record_is_unknown("a share's record", record.value);
    return STORE_OK;
}

void share_write(struct changes *changes, struct arena *arena, instant snapshot,
                 const struct share *share)
{
    struct text out;

    text_init(&out, arena, 160 + share->metadata.len + share->policies.len);
    encode_u8(&out, RECORD_VERSION);
    encode_fixed(&out, share->space.b, sizeof share->space.b);
    encode_u64(&out, share->generation);
    encode_u64(&out, share->created);
    encode_u64(&out, share->etag.v);
    encode_u64(&out, share->modified);
    lease_encode(&out, &share->lease);
    encode_u64(&out, share->quota_gib);
    encode_u8(&out, (uint8_t)share->tier);
    encode_u64(&out, share->tier_changed);
    encode_u64(&out, share->snapshots);
    encode_u64(&out, share->newest_snapshot);
    encode_bytes(&out, share->metadata);
    encode_bytes(&out, share->policies);
    changes_put(changes, RECORD_LISTED, share_record_key(arena, snapshot), text_bytes(&out), NULL,
                0);
}

void share_delete_record(struct changes *changes, struct arena *arena, instant snapshot)
{
    changes_delete(changes, RECORD_LISTED, share_record_key(arena, snapshot));
}

void share_write_changed(struct decision *d, struct share *share)
{
    share->etag = d->subject.etag = etag_after(share->etag, d->now);
    share->modified = d->subject.modified = d->now;
    share_write(d->changes, d->arena, 0, share);
}

struct scan *share_scan_snapshots(struct snapshot *before)
{
    return scan_open(before, RECORD_LISTED, snapshot_prefix, snapshot_prefix);
}
