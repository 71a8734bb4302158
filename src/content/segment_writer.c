/* Writes segments; see segment.h for their format. */
#include "content/segment.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"

#define SEGMENT_HEAD_SIZE 5

static void assert_writer(const struct segment_writer *writer)
{
    assert(writer->start <= writer->end && writer->payload.len >= SEGMENT_HEAD_SIZE);
    assert(writer->piece_count <= SEGMENT_PIECES_MAX);
    assert(writer->entry_count > 0 || writer->start == writer->end);
}

static void begin(struct segment_writer *writer)
{
    static const char head[SEGMENT_HEAD_SIZE] = { SEGMENT_VERSION };

    writer->start = writer->end;
    writer->entry_count = 0;
    writer->piece_weight = 0;
    writer->piece_count = 0;
    writer->payload.len = 0;
    text_add(&writer->payload, bytes_of(head, sizeof head));
}

void segment_writer_init(struct segment_writer *writer, struct changes *changes,
                         enum segment_owner owner, uint64_t id, size_t payload_hint,
                         size_t piece_hint)
{
    struct arena *arena = changes_arena(changes);

    *writer = (struct segment_writer){ .changes = changes, .owner = owner, .id = id };
    text_init(&writer->payload, arena, SEGMENT_HEAD_SIZE + payload_hint);
    if (piece_hint > SEGMENT_PIECES_MAX)
        piece_hint = SEGMENT_PIECES_MAX;
    if (piece_hint > 0)
        writer->pieces = arena_array(arena, piece_hint, sizeof writer->pieces[0]);
    begin(writer);
    assert_writer(writer);
}

void segment_writer_begin_at(struct segment_writer *writer, uint64_t offset)
{
    assert(writer->end == 0 && writer->entry_count == 0);
    writer->start = writer->end = offset;
}

/* Writes the segment's record and resets the buffers for the next one. */
static void end(struct segment_writer *writer)
{
    char key[SEGMENT_KEY_SIZE];

    assert_writer(writer);
    assert(writer->entry_count > 0);
    le32_put(writer->payload.ptr + 1, writer->entry_count);
    segment_key(writer->owner, writer->id, writer->end, key);
    changes_put(writer->changes, RECORD_INNER, bytes_of(key, sizeof key),
                text_bytes(&writer->payload), writer->pieces, writer->piece_count);
}

static bool is_full(const struct segment_writer *writer)
{
    return writer->end > writer->start &&
           (writer->payload.len + writer->piece_weight >= SEGMENT_WEIGHT_MAX ||
            writer->piece_count == SEGMENT_PIECES_MAX);
}

/* Ends the segment if it is full. Must be called only if at least one more byte follows (segment
 * invariant 3). */
static void end_if_full(struct segment_writer *writer)
{
    if (!is_full(writer))
        return;
    end(writer);
    begin(writer);
}

static void add_piece(struct segment_writer *writer, const struct piece *piece)
{
    assert(writer->piece_count < SEGMENT_PIECES_MAX);
    writer->pieces[writer->piece_count++] = *piece;
    writer->piece_weight += 16 + piece_sectors(piece) * sizeof piece->sector_crc[0];
    writer->piece_weight += piece->seal ? piece_seal_size(piece_sectors(piece)) : 0;
    assert(piece->length <= INT64_MAX - writer->end);
    writer->end += piece->length;
}

/* Adds as many pieces as fit in the segment, at least one, and returns their number. */
static size_t add_some_pieces(struct segment_writer *writer, const struct piece *pieces,
                              size_t count)
{
    size_t added = 0;

    end_if_full(writer);
    while (added < count && !is_full(writer))
        add_piece(writer, &pieces[added++]);
    assert(added > 0);
    return added;
}

static void add_pieces(struct segment_writer *writer, struct bytes block_id,
                       const struct piece *pieces, size_t count)
{
    enum entry_kind kind = ENTRY_PIECES;

    while (count > 0) {
        size_t added = add_some_pieces(writer, pieces, count);

        encode_u8(&writer->payload, (uint8_t)kind);
        if (kind == ENTRY_PIECES)
            encode_bytes(&writer->payload, block_id);
        encode_u64(&writer->payload, added);
        writer->entry_count++;
        pieces += added;
        count -= added;
        kind = ENTRY_MORE;
    }
}

static void add_run(struct segment_writer *writer, const struct content_block *block)
{
    if (block->length > 0)
        end_if_full(writer);
    encode_u8(&writer->payload, ENTRY_RUN);
    encode_bytes(&writer->payload, block->block_id);
    encode_u64(&writer->payload, block->run);
    encode_u64(&writer->payload, block->length);
    writer->entry_count++;
    assert(block->length <= INT64_MAX - writer->end);
    writer->end += block->length;
}

static void add_inline(struct segment_writer *writer, const struct content_block *block)
{
    struct bytes data = block->inline_bytes;

    assert(data.len <= INT64_MAX - writer->end);
    if (data.len > 0)
        end_if_full(writer);
    encode_u8(&writer->payload, ENTRY_INLINE);
    encode_bytes(&writer->payload, block->block_id);
    encode_bytes(&writer->payload, data.ptr ? data : bytes_of("", 0));
    writer->entry_count++;
    writer->end += data.len;
}

void segment_writer_add(struct segment_writer *writer, const struct content_block *block)
{
    if (block->run != 0)
        add_run(writer, block);
    else if (block->piece_count > 0)
        add_pieces(writer, block->block_id, block->pieces, block->piece_count);
    else
        add_inline(writer, block);
    assert_writer(writer);
}

void segment_writer_finish(struct segment_writer *writer)
{
    if (writer->entry_count > 0)
        end(writer);
}
