/* Who holds a content: base blob and snapshots share it, the last to give it up deletes its map.
 *
 *   key    'r', 8 content id be     only when there is more than one holder
 *   value  1     version (1)
 *          v     number of holders, 2 or more */
#include <assert.h>
#include <endian.h>

#include "base/codec.h"
#include "content/segment.h"

#define HOLDERS_VERSION  1
#define HOLDERS_KEY_SIZE 9

static void holders_key(uint64_t content_id, char key[HOLDERS_KEY_SIZE])
{
    uint64_t id = htobe64(content_id);

    key[0] = 'r';
    memcpy(key + 1, &id, sizeof id);
}

static enum store_result holders_read(struct snapshot *before, struct arena *arena,
                                      uint64_t content_id, uint64_t *ret_holders)
{
    char key[HOLDERS_KEY_SIZE];
    enum store_result result;
    struct record record;
    struct decoder d;
    uint64_t holders;
    uint8_t version;

    holders_key(content_id, key);
    result = snapshot_get(before, RECORD_INNER, bytes_of(key, sizeof key), arena, &record);
    if (result == STORE_NOT_FOUND) {
        *ret_holders = 1;
        return STORE_OK;
    }
    if (result)
        return result;
    decoder_init(&d, record.value);
    version = decode_u8(&d);
    holders = decode_u64(&d);
    if (!decoder_ok(&d) || version != HOLDERS_VERSION || holders < 2 || holders == UINT64_MAX)
        return content_damaged(content_id, 0, "number of holders");
    *ret_holders = holders;
    return STORE_OK;
}

static void holders_write(struct changes *changes, struct arena *arena, uint64_t content_id,
                          uint64_t holders)
{
    char key[HOLDERS_KEY_SIZE];
    struct text value;

    holders_key(content_id, key);
    if (holders <= 1) {
        changes_delete(changes, RECORD_INNER, bytes_of(key, sizeof key));
        return;
    }
    text_init(&value, arena, 0);
    encode_u8(&value, HOLDERS_VERSION);
    encode_u64(&value, holders);
    changes_put(changes, RECORD_INNER, bytes_of(key, sizeof key), text_bytes(&value), NULL, 0);
}

enum store_result content_hold(struct snapshot *before, struct changes *changes,
                               struct arena *arena, struct content *content)
{
    enum store_result result;
    uint64_t holders = 1;

    if (content->id == 0)
        return STORE_OK;
    result = content->is_alone ? STORE_OK : holders_read(before, arena, content->id, &holders);
    if (result)
        return result;
    content->is_alone = false;
    holders_write(changes, arena, content->id, holders + 1);
    return STORE_OK;
}

static void delete_segment(struct changes *changes, const struct record *record)
{
    changes_delete(changes, RECORD_INNER, record->key);
    changes_release(changes, record->pieces, record->piece_count);
}

/* What a damaged segment says of its entries does not matter here: damage can be deleted. Of a map
 * of many segments, one record at a time lies in memory. */
static enum store_result delete_map(struct snapshot *before, struct changes *changes,
                                    struct arena *arena, const struct content *content)
{
    char prefix[SEGMENT_PREFIX_SIZE];
    enum store_result result;
    struct record record;
    struct scan *scan;

    if (segment_is_only(content) && content->without_pieces) {
        segment_delete_last(changes, content);
        return STORE_OK;
    }
    if (segment_is_only(content)) {
        result = segment_get_last(before, arena, content, &record);
        if (result == STORE_OK)
            delete_segment(changes, &record);
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    }
    segment_prefix(content->id, prefix);
    scan = scan_open(before, RECORD_INNER, bytes_of(prefix, sizeof prefix), bytes_of("", 0));
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK)
        delete_segment(changes, &record);
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum store_result content_give_up(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, const struct content *content,
                                  uint32_t holders)
{
    enum store_result result;
    uint64_t held = 1;

    assert(holders > 0);
    if (content->id == 0)
        return STORE_OK;
    result = content->is_alone ? STORE_OK : holders_read(before, arena, content->id, &held);
    if (result)
        return result;
    if (holders > held)
        return content_damaged(content->id, 0, "fewer holders than there are");
    if (held > 1)
        holders_write(changes, arena, content->id, held - holders);
    if (held > holders)
        return STORE_OK;
    return delete_map(before, changes, arena, content);
}
