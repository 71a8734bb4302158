/* The record of a range of deleted snapshots: see snapshot_tombstone.h. */
#include "blob/snapshot_tombstone.h"

#include <assert.h>

#include "base/codec.h"
#include "service/small_record.h"

#define TOMBSTONE_VERSION 1

const struct bytes snapshot_tombstone_key = { "\0", 1 };

bool snapshot_tombstone_decode(struct bytes value, struct snapshot_tombstone *ret_tombstone)
{
    struct snapshot_tombstone tombstone;
    struct decoder in;
    uint8_t version;

    decoder_init(&in, value);
    version = decode_u8(&in);
    tombstone.from = decode_u64(&in);
    tombstone.until = decode_u64(&in);
    if (!decoder_ok(&in) || version != TOMBSTONE_VERSION || tombstone.from > tombstone.until ||
        tombstone.until == 0 || tombstone.until == INSTANT_MAX)
        return false;
    *ret_tombstone = tombstone;
    return true;
}

enum store_result snapshot_tombstone_read(struct snapshot *before, struct arena *arena,
                                          struct snapshot_tombstone *ret_tombstone)
{
    struct record record;
    enum store_result result =
        snapshot_get(before, RECORD_LISTED, snapshot_tombstone_key, arena, &record);

    *ret_tombstone = (struct snapshot_tombstone){ .until = 0 };
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!snapshot_tombstone_decode(record.value, ret_tombstone))
        return record_is_unknown("a tombstone of snapshots", record.value);
    return STORE_OK;
}

void snapshot_tombstone_write(struct changes *changes, struct arena *arena,
                              const struct snapshot_tombstone *tombstone)
{
    struct text value;

    if (tombstone->until == 0) {
        changes_delete(changes, RECORD_LISTED, snapshot_tombstone_key);
        return;
    }
    assert(tombstone->from <= tombstone->until);
    text_init(&value, arena, 24);
    encode_u8(&value, TOMBSTONE_VERSION);
    encode_u64(&value, tombstone->from);
    encode_u64(&value, tombstone->until);
    changes_put(changes, RECORD_LISTED, snapshot_tombstone_key, text_bytes(&value), NULL, 0);
}
