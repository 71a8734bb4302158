/* See uncommitted.h. */
#include "blob/uncommitted.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"

#define TOTAL_VERSION  1

/* The maximum number of records deleted at once. */
#define BLOCKS_AT_ONCE 64u

#define PREFIX_SIZE    9
#define KEY_MAX        (PREFIX_SIZE + UNCOMMITTED_ID_MAX)

static const struct bytes total_key = BYTES("U");

static enum store_result damaged(const char *what)
{
    log_line(LOG_ERROR, "uncommitted blocks of a blob: %s is corrupt", what);
    return STORE_CORRUPT;
}

/* ---- totals ---- */

static bool total_decode(struct bytes value, struct uncommitted *ret_total)
{
    struct uncommitted total = { .set = 0 };
    uint64_t count, id_length;
    struct decoder d;
    bool is_known;

    decoder_init(&d, value);
    is_known = decode_u8(&d) == TOTAL_VERSION;
    count = decode_u64(&d);
    id_length = decode_u64(&d);
    total.last_put = decode_u64(&d);
    total.set = decode_u64(&d);
    total.task_due = decode_u64(&d);
    decode_fixed(&d, total.task.b, sizeof total.task.b);
    total.count = (uint32_t)count;
    total.id_length = (uint32_t)id_length;
    *ret_total = total;
    return decoder_ok(&d) && is_known && count > 0 && count <= UINT32_MAX &&
           id_length <= UINT32_MAX;
}

enum store_result uncommitted_read(struct read_view *before, struct arena *arena,
                                   struct uncommitted *ret_total)
{
    enum store_result result;
    struct record record;

    result = read_view_get(before, RECORD_INNER, total_key, arena, &record);
    if (result == STORE_NOT_FOUND) {
        *ret_total = (struct uncommitted){ 0 };
        return STORE_OK;
    }
    if (result)
        return result;
    return total_decode(record.value, ret_total) ? STORE_OK : damaged("their total");
}

static struct bytes total_encode(struct arena *arena, const struct uncommitted *total)
{
    struct text value;

    text_init(&value, arena, 64);
    encode_u8(&value, TOTAL_VERSION);
    encode_u64(&value, total->count);
    encode_u64(&value, total->id_length);
    encode_u64(&value, total->last_put);
    encode_u64(&value, total->set);
    encode_u64(&value, total->task_due);
    encode_fixed(&value, total->task.b, sizeof total->task.b);
    return text_bytes(&value);
}

void uncommitted_write(struct changes *changes, struct arena *arena,
                       const struct uncommitted *total)
{
    changes_put(changes, RECORD_INNER, total_key, total_encode(arena, total), NULL, 0);
}

struct bytes uncommitted_without_task(struct arena *arena, const struct record *record)
{
    struct uncommitted total;

    if (!bytes_equal(record->key, total_key) || !total_decode(record->value, &total))
        return record->value;
    memset(&total.task, 0, sizeof total.task);
    return total_encode(arena, &total);
}

/* ---- one block ---- */

static struct bytes set_prefix(uint64_t set, char room[PREFIX_SIZE])
{
    room[0] = 'v';
    be64_put(room + 1, set);
    return bytes_of(room, PREFIX_SIZE);
}

static struct bytes block_key(uint64_t set, struct bytes block_id, char room[KEY_MAX])
{
    struct bytes prefix = set_prefix(set, room);

    assert(block_id.len <= UNCOMMITTED_ID_MAX);
    memcpy(room + prefix.len, block_id.ptr, block_id.len);
    return bytes_of(room, prefix.len + block_id.len);
}

enum store_result uncommitted_find(struct read_view *before, struct arena *arena,
                                   const struct uncommitted *total, struct bytes block_id,
                                   struct content_block *ret_block)
{
    enum store_result result;
    struct record record;
    char room[KEY_MAX];

    if (block_id.len > UNCOMMITTED_ID_MAX || total->count == 0)
        return STORE_NOT_FOUND;
    result =
        read_view_get(before, RECORD_INNER, block_key(total->set, block_id, room), arena, &record);
    if (result)
        return result;
    if (!content_block_decode(&record, ret_block))
        return damaged("one");
    ret_block->block_id = block_id;
    return STORE_OK;
}

enum store_result uncommitted_put(struct read_view *before, struct changes *changes,
                                  struct arena *arena, struct uncommitted *total, instant now,
                                  struct bytes block_id, const struct body *body,
                                  struct bytes encryption)
{
    struct content_block old, block;
    enum store_result result;
    char room[KEY_MAX];
    struct text value;

    if (total->count == 0)
        total->set = now;
    result = uncommitted_find(before, arena, total, block_id, &old);
    if (!result)
        result = content_run_delete(before, changes, old.run);
    else if (result == STORE_NOT_FOUND)
        total->count++;
    if (result && result != STORE_NOT_FOUND)
        return result;
    total->last_put = now;
    block = content_block_from_body(changes, now, body);
    block.encryption = encryption;
    text_init(&value, arena, 64 + block.inline_bytes.len);
    content_block_encode(&value, &block);
    changes_put(changes, RECORD_INNER, block_key(total->set, block_id, room), text_bytes(&value),
                NULL, 0);
    uncommitted_write(changes, arena, total);
    return STORE_OK;
}

/* ---- all of them ---- */

enum store_result uncommitted_list(struct read_view *before, struct arena *arena,
                                   const struct uncommitted *total,
                                   struct content_block **ret_blocks, size_t *ret_count)
{
    struct content_block *blocks = arena_array(arena, total->count, sizeof blocks[0]);
    enum store_result result = STORE_OK;
    char room[PREFIX_SIZE];
    struct bytes prefix = set_prefix(total->set, room);
    struct scan *scan = scan_open(before, RECORD_INNER, prefix, bytes_of("", 0));
    struct record record;
    size_t count = 0;

    while (!result) {
        result = scan_next(scan, arena, &record);
        if (!result && count == total->count)
            result = damaged("their number");
        if (!result && !content_block_decode(&record, &blocks[count]))
            result = damaged("one");
        if (!result)
            blocks[count++].block_id = bytes_from(record.key, prefix.len);
    }
    scan_close(scan);
    if (result != STORE_NOT_FOUND)
        return result;
    *ret_blocks = blocks;
    *ret_count = count;
    return STORE_OK;
}

static void delete_records(struct changes *changes, const struct uncommitted *total,
                           const struct named_blocks *blocks)
{
    for (size_t i = 0; i < blocks->staged_count; i++) {
        char room[KEY_MAX];

        changes_delete(changes, RECORD_INNER,
                       block_key(total->set, blocks->staged[i].block_id, room));
    }
}

enum store_result uncommitted_drop(struct read_view *before, struct changes *changes,
                                   struct arena *arena, const struct uncommitted *total,
                                   const struct named_blocks *blocks, bool *ret_more)
{
    bool is_large = total->count > BLOCKS_AT_ONCE;
    struct named_blocks all = { .named_count = 0 };
    enum store_result result = STORE_OK;
    struct content_block *staged;
    char room[PREFIX_SIZE];

    if (total->count == 0)
        return STORE_OK;
    changes_delete(changes, RECORD_INNER, total_key);
    changes_task_done(changes,
                      &(struct deferred_task){ .due = total->task_due, .id = total->task });
    if (is_large) {
        content_leave_blocks(changes, total->set, set_prefix(total->set, room), !blocks);
        *ret_more = true;
        if (!blocks)
            return STORE_OK;
    }
    if (!blocks) {
        result = uncommitted_list(before, arena, total, &staged, &all.staged_count);
        if (result)
            return result;
        all.staged = staged;
        blocks = &all;
    }
    if (!is_large)
        delete_records(changes, total, blocks);
    return content_delete_unnamed(before, changes, arena, total->set, blocks->staged,
                                  blocks->staged_count, blocks->named, blocks->named_count,
                                  ret_more);
}

void uncommitted_take(struct changes *changes, struct arena *arena, struct uncommitted *total,
                      const struct content_block *blocks, size_t count)
{
    const struct named_blocks taken = { .staged = blocks, .staged_count = count };

    assert(count < total->count);
    delete_records(changes, total, &taken);
    total->count -= (uint32_t)count;
    uncommitted_write(changes, arena, total);
}
