/* Uncommitted blocks of a blob: what Put Block left, until Put Block List takes or drops it.
 *
 *   key    'u', block id in base64       pieces  of the block, when it does not lie inline
 *   value  1     version (1)
 *          bytes what lies inline; absent when there are pieces
 *
 *   key    'U'
 *   value  1     version (1)
 *          v     number of blocks
 *          v     bytes in a decoded id
 *          v     instant of the last Put Block
 * rest: Put-Block; semantics 5 */
#include <assert.h>

#include "base/codec.h"
#include "base/log.h"
#include "content/content.h"

#define BLOCK_VERSION 1
#define TOTAL_VERSION 1
#define BLOCK_KEY_MAX (UNCOMMITTED_ID_MAX + 1)

static const struct bytes total_key = BYTES("U");
static const struct bytes block_prefix = BYTES("u");

static enum store_result damaged(const char *what)
{
    log_line(LOG_ERROR, "uncommitted blocks of a blob: %s is damaged", what);
    return STORE_CORRUPT;
}

/* ---- the total ---- */

enum store_result uncommitted_read(struct snapshot *before, struct arena *arena,
                                   struct uncommitted *ret_total)
{
    struct record record;
    struct decoder d;
    uint64_t count, id_length;
    instant last_put;
    uint8_t version;
    enum store_result result = snapshot_get(before, RECORD_INNER, total_key, arena, &record);

    if (result == STORE_NOT_FOUND) {
        *ret_total = (struct uncommitted){ 0 };
        return STORE_OK;
    }
    if (result)
        return result;
    decoder_init(&d, record.value);
    version = decode_u8(&d);
    count = decode_u64(&d);
    id_length = decode_u64(&d);
    last_put = decode_u64(&d);
    if (!decoder_ok(&d) || version != TOTAL_VERSION || count == 0 || count > UINT32_MAX ||
        id_length > UINT32_MAX)
        return damaged("their total");
    *ret_total = (struct uncommitted){
        .count = (uint32_t)count,
        .id_length = (uint32_t)id_length,
        .last_put = last_put,
    };
    return STORE_OK;
}

static void total_write(struct changes *changes, struct arena *arena,
                        const struct uncommitted *total)
{
    struct text value;

    text_init(&value, arena, 0);
    encode_u8(&value, TOTAL_VERSION);
    encode_u64(&value, total->count);
    encode_u64(&value, total->id_length);
    encode_u64(&value, total->last_put);
    changes_put(changes, RECORD_INNER, total_key, text_bytes(&value), NULL, 0);
}

/* ---- one block ---- */

static struct bytes block_key(struct bytes block_id, char room[BLOCK_KEY_MAX])
{
    assert(block_id.len <= UNCOMMITTED_ID_MAX);
    room[0] = block_prefix.ptr[0];
    memcpy(room + 1, block_id.ptr, block_id.len);
    return bytes_of(room, block_id.len + 1);
}

static void block_write(struct changes *changes, struct arena *arena, struct bytes key,
                        const struct body *body)
{
    struct text value;

    text_init(&value, arena, 16 + body->inline_bytes.len);
    encode_u8(&value, BLOCK_VERSION);
    if (body->piece_count > 0)
        encode_bytes(&value, bytes_of(NULL, 0));
    else
        encode_bytes(&value, body->inline_bytes.ptr ? body->inline_bytes : bytes_of("", 0));
    changes_put(changes, RECORD_INNER, key, text_bytes(&value), body->pieces, body->piece_count);
}

static enum store_result block_decode(const struct record *record, struct content_block *ret_block)
{
    struct content_block block = {
        .block_id = bytes_from(record->key, block_prefix.len),
        .pieces = record->pieces,
        .piece_count = record->piece_count,
    };
    struct decoder d;
    uint8_t version;

    decoder_init(&d, record->value);
    version = decode_u8(&d);
    block.inline_bytes = decode_bytes(&d);
    if (!decoder_ok(&d) || version != BLOCK_VERSION ||
        (block.inline_bytes.ptr != NULL) == (block.piece_count > 0))
        return damaged("one");
    block.length = block.inline_bytes.len;
    for (size_t i = 0; i < block.piece_count; i++)
        block.length += block.pieces[i].length;
    *ret_block = block;
    return STORE_OK;
}

/* How many bytes the base64 text stands for. */
static uint32_t decoded_length(struct bytes base64)
{
    size_t digits = base64.len;

    while (digits > 0 && base64.ptr[digits - 1] == '=')
        digits--;
    return (uint32_t)(digits * 3 / 4);
}

/* Gives up the pieces of the block that had this id; NOT_FOUND when there was none. */
static enum store_result release_old(struct snapshot *before, struct changes *changes,
                                     struct arena *arena, struct bytes key)
{
    struct record old;
    enum store_result result = snapshot_get(before, RECORD_INNER, key, arena, &old);

    if (!result)
        changes_release(changes, old.pieces, old.piece_count);
    return result;
}

enum store_result uncommitted_put(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, struct uncommitted *total, instant now,
                                  struct bytes block_id, const struct body *body)
{
    enum store_result result = STORE_NOT_FOUND;
    char room[BLOCK_KEY_MAX];
    struct bytes key = block_key(block_id, room);

    if (total->count > 0) {
        result = release_old(before, changes, arena, key);
        if (result && result != STORE_NOT_FOUND)
            return result;
    } else {
        total->id_length = decoded_length(block_id);
    }
    if (result == STORE_NOT_FOUND)
        total->count++;
    total->last_put = now;
    block_write(changes, arena, key, body);
    total_write(changes, arena, total);
    return STORE_OK;
}

enum store_result uncommitted_find(struct snapshot *before, struct arena *arena,
                                   struct bytes block_id, struct content_block *ret_block)
{
    char room[BLOCK_KEY_MAX];
    struct record record;
    enum store_result result;

    if (block_id.len > UNCOMMITTED_ID_MAX)
        return STORE_NOT_FOUND;
    result = snapshot_get(before, RECORD_INNER, block_key(block_id, room), arena, &record);
    return result ? result : block_decode(&record, ret_block);
}

/* ---- all of them ---- */

/* An array that grows in an arena. */
struct block_list {
    struct content_block *blocks;
    size_t count, capacity;
};

static void block_list_add(struct block_list *list, struct arena *arena,
                           const struct content_block *block)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        struct content_block *grown = arena_array(arena, capacity, sizeof grown[0]);

        if (list->count > 0)
            memcpy(grown, list->blocks, list->count * sizeof grown[0]);
        list->blocks = grown;
        list->capacity = capacity;
    }
    list->blocks[list->count++] = *block;
}

enum store_result uncommitted_list(struct snapshot *before, struct arena *arena,
                                   struct content_block **ret_blocks, size_t *ret_count)
{
    struct block_list list = { 0 };
    struct content_block block;
    struct record record;
    enum store_result result;
    struct scan *scan = scan_open(before, RECORD_INNER, block_prefix, bytes_of("", 0));

    while ((result = scan_next(scan, arena, &record)) == STORE_OK) {
        result = block_decode(&record, &block);
        if (result)
            break;
        block_list_add(&list, arena, &block);
    }
    scan_close(scan);
    if (result != STORE_NOT_FOUND)
        return result;
    *ret_blocks = list.blocks;
    *ret_count = list.count;
    return STORE_OK;
}

enum store_result uncommitted_clear(struct snapshot *before, struct changes *changes,
                                    struct arena *arena)
{
    struct record record;
    enum store_result result;
    struct scan *scan = scan_open(before, RECORD_INNER, block_prefix, bytes_of("", 0));

    (void)arena; /* one record at a time is in memory */
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        changes_delete(changes, RECORD_INNER, record.key);
        changes_release(changes, record.pieces, record.piece_count);
    }
    scan_close(scan);
    if (result != STORE_NOT_FOUND)
        return result;
    changes_delete(changes, RECORD_INNER, total_key);
    return STORE_OK;
}
