/* The records of a share and of its snapshots: LISTED "s" and "S" <snapshot date, ticks be64> in
 * partition (account space, share name). Those of a soft-deleted share have the same keys with
 * the prefix "D" <deletion time, ticks be64>.
 *
 *   version 1:  u8 1; space, 16 raw; generation; created, ETag and modified, ticks;
 *               lease (concurrency/lease.h); quota, GiB; u8 tiers; tier changed, ticks;
 *               snapshots; newest snapshot, ticks; bytes metadata (service/metadata.h);
 *               bytes policies (auth/policies.h); expires, ticks; task, 16 raw
 *               tiers: the tier, + SHARE_TIERS * (1 + the previous tier) if it was moved
 *               created, ETag, modified and tier changed: encode_long(); other numbers: varints
 * To change the format, add a version number, keep the old decoder, and add a data directory in
 * the old format to the tests. */
#include "file/file.h"

#include "base/endian.h"
#include "properties/soft_delete.h"
#include "service/small_record.h"

#define RECORD_VERSION  1
#define TIERS_END       (SHARE_TIERS * (SHARE_TIERS + 1))
#define KEY_OF_SNAPSHOT 'S'

const struct share_key share_itself = { 0, 0 };
static const struct bytes share_key = BYTES("s");

struct bytes share_record_key(struct arena *arena, struct share_key key)
{
    struct text out;

    if (key.deleted == 0 && key.snapshot == 0)
        return share_key;
    text_init(&out, arena, 2 * DATED_KEY_SIZE);
    if (key.deleted > 0)
        dated_key_add(&out, KEY_OF_DELETED, key.deleted);
    if (key.snapshot > 0)
        dated_key_add(&out, KEY_OF_SNAPSHOT, key.snapshot);
    else
        text_add(&out, share_key);
    return text_bytes(&out);
}

bool share_key_read(struct bytes key, struct share_key *ret_key)
{
    return dated_key_take(&key, KEY_OF_DELETED, &ret_key->deleted) &&
           dated_key_take(&key, KEY_OF_SNAPSHOT, &ret_key->snapshot) &&
           (ret_key->snapshot > 0 ? key.len == 0 : bytes_equal(key, share_key));
}

bool share_key_is_whole(struct bytes key)
{
    struct share_key read;

    return share_key_read(key, &read) && read.snapshot == 0;
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
    s.created = decode_long(&in);
    s.etag.v = decode_long(&in);
    s.modified = decode_long(&in);
    lease_decode(&in, &s.lease);
    quota = decode_u64(&in);
    tier = decode_u8(&in);
    s.tier_changed = decode_long(&in);
    snapshots = decode_u64(&in);
    s.newest_snapshot = decode_u64(&in);
    s.metadata = decode_bytes(&in);
    s.policies = decode_bytes(&in);
    s.expires = decode_u64(&in);
    decode_fixed(&in, s.task.b, sizeof s.task.b);
    if (!decoder_ok(&in) || quota < 1 || quota > SHARE_QUOTA_MAX_GIB || tier >= TIERS_END ||
        snapshots > SHARE_SNAPSHOTS_MAX)
        return false;
    s.quota_gib = (uint32_t)quota;
    s.tier = (enum share_tier)(tier % SHARE_TIERS);
    s.has_moved = tier >= SHARE_TIERS;
    if (s.has_moved)
        s.moved_from = (enum share_tier)(tier / SHARE_TIERS - 1);
    s.snapshots = (uint32_t)snapshots;
    *ret_share = s;
    return true;
}

bool share_decode(struct bytes key, struct bytes value, struct share *ret_share,
                  struct share_key *ret_key)
{
    return share_key_read(key, ret_key) && decode_value(value, ret_share);
}

enum store_result share_read(struct read_view *before, struct arena *arena, struct share_key key,
                             struct share *ret_share)
{
    struct record record;
    enum store_result result =
        read_view_get(before, RECORD_LISTED, share_record_key(arena, key), arena, &record);

    if (result)
        return result;
    if (!decode_value(record.value, ret_share))
        return record_is_unknown("a share's record", record.value);
    return STORE_OK;
}

static uint8_t encode_tiers(const struct share *share)
{
    unsigned from = share->has_moved ? share->moved_from + 1u : 0;

    return (uint8_t)(share->tier + SHARE_TIERS * from);
}

void share_write(struct changes *changes, struct arena *arena, struct share_key key,
                 const struct share *share)
{
    struct text out;

    text_init(&out, arena, 192 + share->metadata.len + share->policies.len);
    encode_u8(&out, RECORD_VERSION);
    encode_fixed(&out, share->space.b, sizeof share->space.b);
    encode_u64(&out, share->generation);
    encode_long(&out, share->created);
    encode_long(&out, share->etag.v);
    encode_long(&out, share->modified);
    lease_encode(&out, &share->lease);
    encode_u64(&out, share->quota_gib);
    encode_u8(&out, encode_tiers(share));
    encode_long(&out, share->tier_changed);
    encode_u64(&out, share->snapshots);
    encode_u64(&out, share->newest_snapshot);
    encode_bytes(&out, share->metadata);
    encode_bytes(&out, share->policies);
    encode_u64(&out, share->expires);
    encode_fixed(&out, share->task.b, sizeof share->task.b);
    changes_put(changes, RECORD_LISTED, share_record_key(arena, key), text_bytes(&out), NULL, 0);
}

void share_delete_record(struct changes *changes, struct arena *arena, struct share_key key)
{
    changes_delete(changes, RECORD_LISTED, share_record_key(arena, key));
}

void share_write_changed(struct decision *d, struct share *share)
{
    share->etag = d->subject.etag = etag_after(share->etag, d->now);
    share->modified = d->subject.modified = d->now;
    share_write(d->changes, d->arena, share_itself, share);
}

struct scan *share_scan_snapshots(struct read_view *before, struct arena *arena, instant deleted)
{
    struct text prefix;

    text_init(&prefix, arena, DATED_KEY_SIZE + 1);
    if (deleted > 0)
        dated_key_add(&prefix, KEY_OF_DELETED, deleted);
    text_add_char(&prefix, KEY_OF_SNAPSHOT);
    return scan_open(before, RECORD_LISTED, text_bytes(&prefix), text_bytes(&prefix));
}
