/* Holders of content. A base blob and its snapshots share content; each is one of its holders.
 * Removing the last holder deletes the map and the runs that no other content refers to.
 *
 *   key    'r', 8 content id be     only if there is more than one holder
 *   value  1     version (1)
 *          v     number of holders, 2 or more */
#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "content/backlog.h"

#define HOLDERS_VERSION  1
#define HOLDERS_KEY_SIZE 9

/* Maximum numbers deleted in the commit itself; content_collect() deletes the rest */
#define SEGMENTS_AT_ONCE 256u
#define RUNS_AT_ONCE     64u

static void holders_key(uint64_t content_id, char key[HOLDERS_KEY_SIZE])
{
    key[0] = 'r';
    be64_put(key + 1, content_id);
}

static enum store_result holders_read(struct read_view *before, struct arena *arena,
                                      uint64_t content_id, uint64_t *ret_holders)
{
    char key[HOLDERS_KEY_SIZE];
    enum store_result result;
    struct record record;
    struct decoder d;
    uint64_t holders;
    uint8_t version;

    holders_key(content_id, key);
    result = read_view_get(before, RECORD_INNER, bytes_of(key, sizeof key), arena, &record);
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
        return content_damaged(content_id, 0, "invalid number of holders");
    assert(holders >= 2);
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

void content_expect_runs(struct content *content)
{
    content->has_runs |= content->is_appended;
}

enum store_result content_ref(struct read_view *before, struct changes *changes,
                              struct arena *arena, struct content *content, uint32_t holders)
{
    enum store_result result;
    uint64_t had = 1;

    assert(content->form == CONTENT_SEQUENCE && holders > 0);
    if (content->id == 0)
        return STORE_OK;
    result = content->is_alone ? STORE_OK : holders_read(before, arena, content->id, &had);
    if (result)
        return result;
    content->is_alone = false;
    holders_write(changes, arena, content->id, had + holders);
    if (content->has_runs && !content->in_chain) {
        chain_join(changes, content->id);
        content->in_chain = true;
    }
    return STORE_OK;
}

/* ---- the last holder ---- */

/* Deletes the only segment, without reading it if it is known to have no pieces. */
static enum store_result delete_only_segment(struct read_view *before, struct changes *changes,
                                             struct arena *arena, const struct content *content)
{
    enum store_result result;
    struct record record;

    if (content->without_pieces) {
        segment_delete_last(changes, content);
        return STORE_OK;
    }
    result = segment_get_last(before, arena, content, &record);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    changes_delete(changes, RECORD_INNER, record.key);
    changes_release(changes, record.pieces, record.piece_count);
    return STORE_OK;
}

static enum store_result delete_segments(struct read_view *before, struct changes *changes,
                                         uint64_t id, bool *ret_more)
{
    struct bytes next;
    enum store_result result =
        segments_delete(before, changes, SEGMENT_OF_CONTENT, id, SEGMENTS_AT_ONCE, &next);

    if (!result && next.ptr) {
        backlog_add_segments(changes, id, next);
        *ret_more = true;
    }
    return result;
}

static enum store_result delete_runs(struct read_view *before, struct changes *changes,
                                     enum backlog_source source, uint64_t id,
                                     const struct run_set *runs, bool *ret_more)
{
    if (runs->count > RUNS_AT_ONCE) {
        backlog_add_runs(changes, source, id, runs);
        *ret_more = true;
        return STORE_OK;
    }
    for (size_t i = 0; i < runs->count; i++) {
        enum store_result result = content_run_delete(before, changes, runs->ids[i]);

        if (result)
            return result;
    }
    return STORE_OK;
}

enum store_result content_delete_unnamed(struct read_view *before, struct changes *changes,
                                         struct arena *arena, uint64_t id,
                                         const struct content_block *blocks, size_t count,
                                         const struct content_block *named, size_t named_count,
                                         bool *ret_more)
{
    struct run_set runs = run_set_of_blocks(arena, blocks, count);
    struct run_set retained = run_set_of_blocks(arena, named, named_count);

    run_set_subtract(&runs, &retained);
    return delete_runs(before, changes, BACKLOG_OF_BLOCKS, id, &runs, ret_more);
}

/* Deletes short content at once. only: its only segment, decoded; record: the same segment as a
 * record */
static enum store_result delete_short(struct read_view *before, struct changes *changes,
                                      struct arena *arena, const struct record *record,
                                      const struct segment *only, const struct content *content,
                                      const struct run_set *retained, bool *ret_more)
{
    struct run_set runs = { .count = 0 };

    if (content->has_runs)
        runs = run_set_of_segment(arena, only);
    run_set_subtract(&runs, retained);
    changes_delete(changes, RECORD_INNER, record->key);
    changes_release(changes, record->pieces, record->piece_count);
    return delete_runs(before, changes, BACKLOG_OF_CONTENT, content->id, &runs, ret_more);
}

/* Deletes content. retained: runs that other content still refers to after the change */
static enum store_result delete_content(struct read_view *before, struct changes *changes,
                                        struct arena *arena, const struct content *content,
                                        const struct run_set *retained, bool *ret_more)
{
    struct run_set runs = { .count = 0 };
    enum store_result result;
    struct segment only;
    struct record record;

    if (content->in_chain) { /* chain invariant 3 */
        backlog_add_chain(changes, content->id);
        *ret_more = true;
        return STORE_OK;
    }
    if (segment_is_only(content))
        return delete_only_segment(before, changes, arena, content);
    result = segment_get_only(before, arena, content, &record, &only);
    if (!result)
        return delete_short(before, changes, arena, &record, &only, content, retained, ret_more);
    if (result != STORE_NOT_FOUND && result != STORE_CORRUPT) /* DAMAGE_IS_SKIPPED */
        return result;
    if (content->has_runs) {
        result = run_set_of_content(before, arena, content->id, 0, DAMAGE_IS_SKIPPED, &runs);
        if (result)
            return result;
        run_set_subtract(&runs, retained);
        result = delete_runs(before, changes, BACKLOG_OF_CONTENT, content->id, &runs, ret_more);
        if (result)
            return result;
    }
    return delete_segments(before, changes, content->id, ret_more);
}

static enum store_result end_holders(struct read_view *before, struct changes *changes,
                                     struct arena *arena, const struct content *content,
                                     uint32_t holders, const struct run_set *retained,
                                     bool *ret_more)
{
    enum store_result result;
    uint64_t held = 1;

    assert(holders > 0 && content->form == CONTENT_SEQUENCE);
    if (content->id == 0)
        return STORE_OK;
    result = content->is_alone ? STORE_OK : holders_read(before, arena, content->id, &held);
    if (result)
        return result;
    if (holders > held)
        return content_damaged(content->id, 0, "more holders removed than exist");
    if (held > 1)
        holders_write(changes, arena, content->id, held - holders);
    if (held > holders)
        return STORE_OK;
    return delete_content(before, changes, arena, content, retained, ret_more);
}

enum store_result content_unref(struct read_view *before, struct changes *changes,
                                struct arena *arena, const struct content *content,
                                uint32_t holders, bool *ret_more)
{
    const struct run_set none = { .count = 0 };

    return end_holders(before, changes, arena, content, holders, &none, ret_more);
}

enum store_result content_replace(struct read_view *before, struct changes *changes,
                                  struct arena *arena, const struct content *old,
                                  struct content *content, const struct content_block *blocks,
                                  size_t count, bool *ret_more)
{
    struct run_set retained = { .count = 0 };

    if (old->has_runs && content->has_runs)
        retained = run_set_of_blocks(arena, blocks, count);
    if (old->in_chain && retained.count > 0) {
        content->in_chain = true;
        chain_join(changes, content->id);
    }
    return end_holders(before, changes, arena, old, 1, &retained, ret_more);
}

void content_share(struct changes *changes, struct arena *arena, struct content *old,
                   struct content *content, const struct content_block *blocks, size_t count)
{
    if (!old->has_runs || !content->has_runs || run_set_of_blocks(arena, blocks, count).count == 0)
        return;
    if (!old->in_chain)
        chain_join(changes, old->id);
    chain_join(changes, content->id);
    old->in_chain = content->in_chain = true;
}

enum store_result content_delete_tail(struct read_view *before, struct changes *changes,
                                      struct arena *arena, uint64_t id,
                                      const struct content *content, uint64_t length,
                                      bool *ret_more)
{
    enum store_result result = STORE_OK;
    struct run_set runs = { .count = 0 };
    char from[SEGMENT_KEY_SIZE];

    if (length >= content->length)
        return STORE_OK;
    if (content->has_runs)
        result = run_set_of_content(before, arena, content->id, length, DAMAGE_IS_SKIPPED, &runs);
    if (!result)
        result = delete_runs(before, changes, BACKLOG_OF_BLOCKS, id, &runs, ret_more);
    if (result)
        return result;
    segment_key(SEGMENT_OF_CONTENT, content->id, length + 1, from);
    backlog_add_segments(changes, content->id, bytes_of(from, sizeof from));
    *ret_more = true;
    return STORE_OK;
}
