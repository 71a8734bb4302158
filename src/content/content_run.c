/* Runs, which store the bytes of a block once under their own id; and the encoding of a record that
 * contains one block.
 *
 *   payload  1     version (1; 2 if it is encrypted)
 *            v     run id; 0 if the bytes are inline
 *            v     length, if there is a run
 *            bytes the inline bytes, if there is no run
 *            bytes encryption parameters, in version 2 */
#include <assert.h>
#include <stdlib.h>

#include "base/codec.h"
#include "base/endian.h"
#include "content/backlog.h"

#define BLOCK_VERSION           1
#define BLOCK_VERSION_ENCRYPTED 2

/* Memory limit for a decoded segment */
#define SEGMENT_MEMORY          ((size_t)16 << 20)

struct content_block content_block_from_body(struct changes *changes, uint64_t run,
                                             const struct body *body)
{
    const struct content_block all = { .pieces = body->pieces, .piece_count = body->piece_count };
    struct content_block block = { .length = body->length };
    struct segment_writer writer;

    assert(run > 0);
    if (body->piece_count == 0) {
        block.inline_bytes = body->inline_bytes;
        return block;
    }
    segment_writer_init(&writer, changes, SEGMENT_OF_RUN, run, 0, body->piece_count);
    segment_writer_add(&writer, &all);
    segment_writer_finish(&writer);
    assert(writer.end == body->length);
    block.run = run;
    return block;
}

enum store_result content_run_delete(struct read_view *before, struct changes *changes,
                                     uint64_t run)
{
    struct bytes next;

    if (run == 0)
        return STORE_OK;
    return segments_delete(before, changes, SEGMENT_OF_RUN, run, SIZE_MAX, &next);
}

/* ---- as the value of a record ---- */

void content_block_encode(struct text *out, const struct content_block *block)
{
    assert(block->piece_count == 0); /* content_block_from_body() creates no pieces */
    assert(block->run != 0 || block->length == block->inline_bytes.len);
    encode_u8(out, block->encryption.ptr ? BLOCK_VERSION_ENCRYPTED : BLOCK_VERSION);
    encode_u64(out, block->run);
    if (block->run != 0)
        encode_u64(out, block->length);
    else
        encode_bytes(out, block->inline_bytes.ptr ? block->inline_bytes : bytes_of("", 0));
    if (block->encryption.ptr)
        encode_bytes(out, block->encryption);
}

bool content_block_decode(const struct record *record, struct content_block *ret_block)
{
    struct content_block block = { .run = 0 };
    struct decoder d;
    uint8_t version;

    decoder_init(&d, record->value);
    version = decode_u8(&d);
    if ((version != BLOCK_VERSION && version != BLOCK_VERSION_ENCRYPTED) || record->piece_count > 0)
        return false;
    block.run = decode_u64(&d);
    if (block.run != 0) {
        block.length = decode_u64(&d);
    } else {
        block.inline_bytes = decode_bytes(&d);
        block.length = block.inline_bytes.len;
    }
    if (version == BLOCK_VERSION_ENCRYPTED)
        block.encryption = decode_bytes(&d);
    if (!decoder_ok(&d) || (block.run == 0 && !block.inline_bytes.ptr) ||
        (block.run != 0 && (block.length == 0 || block.length > CONTENT_BLOCK_LENGTH_MAX)))
        return false;
    *ret_block = block;
    return true;
}

/* ---- sets ---- */

static int compare_ids(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Asserts that the first and last ids of a set are in order. */
static void assert_set(const struct run_set *set)
{
    assert(set->count == 0 || set->ids[0] > 0);
    assert(set->count < 2 || (set->ids[0] < set->ids[1] && set->ids[0] < set->ids[set->count - 1]));
}

static void sort(struct run_set *set)
{
    size_t count = 0;

    if (set->count > 0)
        qsort(set->ids, set->count, sizeof set->ids[0], compare_ids);
    for (size_t i = 0; i < set->count; i++)
        if (count == 0 || set->ids[count - 1] != set->ids[i])
            set->ids[count++] = set->ids[i];
    assert(count <= set->count);
    set->count = count;
    assert_set(set);
}

struct run_set run_set_of_blocks(struct arena *arena, const struct content_block *blocks,
                                 size_t count)
{
    struct run_set set = { .ids = arena_array(arena, count, sizeof set.ids[0]) };

    for (size_t i = 0; i < count; i++)
        if (blocks[i].run != 0)
            set.ids[set.count++] = blocks[i].run;
    sort(&set);
    return set;
}

void run_set_subtract(struct run_set *set, const struct run_set *other)
{
    size_t count = 0, at = 0;

    assert_set(set);
    assert_set(other);
    for (size_t i = 0; i < set->count; i++) {
        while (at < other->count && other->ids[at] < set->ids[i])
            at++;
        if (at == other->count || other->ids[at] != set->ids[i])
            set->ids[count++] = set->ids[i];
    }
    set->count = count;
    assert_set(set);
}

/* Adds the runs of a segment. */
static void add_entries(struct arena *arena, const struct segment *segment, struct run_set *set)
{
    if (set->capacity - set->count < segment->entry_count) {
        size_t capacity = 2 * set->capacity + segment->entry_count;
        uint64_t *grown = arena_array(arena, capacity, sizeof *grown);

        if (set->count > 0)
            memcpy(grown, set->ids, set->count * sizeof *grown);
        set->ids = grown;
        set->capacity = capacity;
    }
    for (size_t i = 0; i < segment->entry_count; i++)
        if (segment->entries[i].kind == ENTRY_RUN)
            set->ids[set->count++] = segment->entries[i].run;
}

struct run_set run_set_of_segment(struct arena *arena, const struct segment *segment)
{
    struct run_set set = { .count = 0 };

    add_entries(arena, segment, &set);
    sort(&set);
    return set;
}

enum store_result run_set_of_content(struct read_view *before, struct arena *arena, uint64_t id,
                                     uint64_t offset, enum damage_rule rule,
                                     struct run_set *ret_set)
{
    struct run_set set = { .count = 0 };
    struct arena *scratch = arena_new_like(arena, SEGMENT_MEMORY);
    struct arena_mark empty = arena_mark(scratch);
    struct scan *scan = segment_scan(before, SEGMENT_OF_CONTENT, id);
    enum store_result result;
    struct record record;

    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        struct segment segment = { .entry_count = 0 };

        arena_rewind(scratch, empty);
        result = segment_decode(&record, scratch, &segment);
        if (result && rule == DAMAGE_STOPS)
            break;
        if (!result && segment.end > offset)
            add_entries(arena, &segment, &set);
        if (arena_is_exhausted(arena)) {
            result = STORE_SHORTAGE;
            break;
        }
    }
    scan_close(scan);
    arena_free(scratch);
    if (result != STORE_NOT_FOUND)
        return result;
    sort(&set);
    *ret_set = set;
    return STORE_OK;
}

/* Chains: content of one blob that shares runs.
 *
 * Put Block List creates content from blocks of the previous content. If the old content has no
 * other holder, it is deleted in the same commit, and its runs only change owner. If a snapshot
 * holds the old content, both contents may refer to the same runs. All contents of a blob for which
 * this is possible form the blob's chain, ordered by id, that is, by creation.
 *
 *   key    'k', 8 id be             value  1 version (1)    a member
 *   key    'K', 8 (2^64-1 - id) be  value  1 version (1)    the same member, to find the previous
 *   one
 *
 * Chain invariants, cited as "chain invariant N":
 * (1) The members that refer to a run are adjacent in the chain, because a block list can contain a
 *     committed block only if the newest content has it. A member therefore shares a run only if
 *     the previous or the next member refers to it.
 * (2) Content outside the chain does not share runs.
 * (3) Members leave the chain one at a time, each in its own commit, so that each sees its current
 *     neighbours. */

#define CHAIN_VERSION  1
#define CHAIN_KEY_SIZE 9

static void chain_keys(uint64_t id, char forward[CHAIN_KEY_SIZE], char backward[CHAIN_KEY_SIZE])
{
    forward[0] = 'k';
    be64_put(forward + 1, id);
    backward[0] = 'K';
    be64_put(backward + 1, UINT64_MAX - id);
}

void chain_join(struct changes *changes, uint64_t id)
{
    static const char version = CHAIN_VERSION;
    char forward[CHAIN_KEY_SIZE], backward[CHAIN_KEY_SIZE];

    chain_keys(id, forward, backward);
    changes_put(changes, RECORD_INNER, bytes_of(forward, sizeof forward), bytes_of(&version, 1),
                NULL, 0);
    changes_put(changes, RECORD_INNER, bytes_of(backward, sizeof backward), bytes_of(&version, 1),
                NULL, 0);
}

/* Returns the id in the first key after `key` with the same prefix. */
static enum store_result next_number(struct read_view *before, const char key[CHAIN_KEY_SIZE],
                                     uint64_t *ret_number)
{
    char from[CHAIN_KEY_SIZE + 1] = { 0 };
    enum store_result result;
    struct record record;
    struct scan *scan;

    memcpy(from, key, CHAIN_KEY_SIZE);
    scan = scan_open(before, RECORD_INNER, bytes_of(key, 1), bytes_of(from, sizeof from));
    result = scan_next(scan, NULL, &record);
    if (!result && record.key.len != CHAIN_KEY_SIZE)
        result = content_damaged(0, 0, "invalid chain key");
    if (!result)
        *ret_number = be64_get(record.key.ptr + 1);
    scan_close(scan);
    return result;
}

/* Removes the runs of a neighbour from *dead. backward: `key` is a 'K' key, whose successor is the
 * previous member */
static enum store_result subtract_neighbour(struct read_view *before, struct arena *arena,
                                            const char key[CHAIN_KEY_SIZE], bool backward,
                                            struct run_set *dead)
{
    struct run_set runs;
    uint64_t number = 0;
    enum store_result result = next_number(before, key, &number);

    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    result = run_set_of_content(before, arena, backward ? UINT64_MAX - number : number, 0,
                                DAMAGE_STOPS, &runs);
    if (!result)
        run_set_subtract(dead, &runs);
    return result;
}

enum store_result chain_leave(struct read_view *before, struct changes *changes,
                              struct arena *arena, uint64_t id)
{
    char forward[CHAIN_KEY_SIZE], backward[CHAIN_KEY_SIZE];
    enum store_result result;
    struct run_set dead;
    struct bytes next;

    chain_keys(id, forward, backward);
    result = run_set_of_content(before, arena, id, 0, DAMAGE_IS_SKIPPED, &dead);
    if (!result)
        result = subtract_neighbour(before, arena, forward, false, &dead);
    if (!result)
        result = subtract_neighbour(before, arena, backward, true, &dead);
    if (!result)
        result = segments_delete(before, changes, SEGMENT_OF_CONTENT, id, SIZE_MAX, &next);
    if (result)
        return result;
    changes_delete(changes, RECORD_INNER, bytes_of(forward, sizeof forward));
    changes_delete(changes, RECORD_INNER, bytes_of(backward, sizeof backward));
    backlog_add_runs(changes, BACKLOG_OF_CONTENT, id, &dead);
    return STORE_OK;
}
