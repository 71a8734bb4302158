/* Segments of a content's map; the form is drawn in segment.h. */
#include "content/segment.h"

#include <assert.h>
#include <endian.h>

#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"

#define SEGMENT_VERSION     1
#define SEGMENT_HEAD_SIZE   5

/* A content of which less than this is left after an offset, in few blocks, has most likely no
 * segment after the one with that offset: the last one, whose key is known, is tried first. */
#define LAST_SEGMENT_BYTES  (64u << 20)
#define LAST_SEGMENT_BLOCKS 64u

void segment_prefix(uint64_t content_id, char prefix[SEGMENT_PREFIX_SIZE])
{
    uint64_t id = htobe64(content_id);

    prefix[0] = 'c';
    memcpy(prefix + 1, &id, sizeof id);
}

static void segment_key(uint64_t content_id, uint64_t end, char key[SEGMENT_KEY_SIZE])
{
    uint64_t big_endian = htobe64(end);

    segment_prefix(content_id, key);
    memcpy(key + SEGMENT_PREFIX_SIZE, &big_endian, sizeof big_endian);
}

enum store_result content_damaged(uint64_t content_id, uint64_t offset, const char *problem)
{
    log_line(LOG_ERROR, "content %016llx is damaged at %llu: %s", (unsigned long long)content_id,
             (unsigned long long)offset, problem);
    return STORE_CORRUPT;
}

/* ---- writing ---- */

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
                         uint64_t content_id, size_t payload_hint, size_t piece_hint)
{
    struct arena *arena = changes_arena(changes);

    *writer = (struct segment_writer){ .changes = changes, .content_id = content_id };
    text_init(&writer->payload, arena, SEGMENT_HEAD_SIZE + payload_hint);
    if (piece_hint > SEGMENT_PIECES_MAX)
        piece_hint = SEGMENT_PIECES_MAX;
    if (piece_hint > 0)
        writer->pieces = arena_array(arena, piece_hint, sizeof writer->pieces[0]);
    begin(writer);
}

/* Writes the segment's record. What was collected for it is used again by the next. */
static void end(struct segment_writer *writer)
{
    uint32_t count = htole32(writer->entry_count);
    char key[SEGMENT_KEY_SIZE];

    memcpy(writer->payload.ptr + 1, &count, sizeof count);
    segment_key(writer->content_id, writer->end, key);
    changes_put(writer->changes, RECORD_INNER, bytes_of(key, sizeof key),
                text_bytes(&writer->payload), writer->pieces, writer->piece_count);
}

static bool is_full(const struct segment_writer *writer)
{
    return writer->end > writer->start &&
           (writer->payload.len + writer->piece_weight >= SEGMENT_WEIGHT_MAX ||
            writer->piece_count == SEGMENT_PIECES_MAX);
}

/* Only when a byte at least is added next (segment invariant 3). */
static void make_room(struct segment_writer *writer)
{
    if (!is_full(writer))
        return;
    end(writer);
    begin(writer);
}

static void add_piece(struct segment_writer *writer, const struct piece *piece)
{
    writer->pieces[writer->piece_count++] = *piece;
    writer->piece_weight += 16 + piece_sectors(piece) * sizeof piece->sector_crc[0];
    assert(piece->length <= INT64_MAX - writer->end);
    writer->end += piece->length;
}

/* As many of the pieces as the segment takes, at least one; returns how many. */
static size_t add_some_pieces(struct segment_writer *writer, const struct piece *pieces,
                              size_t count)
{
    size_t added = 0;

    make_room(writer);
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

void segment_writer_add(struct segment_writer *writer, struct bytes block_id,
                        struct bytes inline_bytes, const struct piece *pieces, size_t piece_count)
{
    if (piece_count > 0) {
        add_pieces(writer, block_id, pieces, piece_count);
        return;
    }
    if (inline_bytes.len > 0)
        make_room(writer);
    encode_u8(&writer->payload, ENTRY_INLINE);
    encode_bytes(&writer->payload, block_id);
    encode_bytes(&writer->payload, inline_bytes.ptr ? inline_bytes : bytes_of("", 0));
    writer->entry_count++;
    writer->end += inline_bytes.len;
}

void segment_writer_finish(struct segment_writer *writer)
{
    if (writer->entry_count > 0)
        end(writer);
}

/* ---- reading ---- */

/* Takes the next pieces of the record that are left. */
static bool take_pieces(struct entry *entry, uint64_t count, const struct record *record,
                        size_t *used)
{
    if (count == 0 || count > record->piece_count - *used)
        return false;
    entry->pieces = record->pieces + *used;
    entry->piece_count = (size_t)count;
    for (size_t i = 0; i < entry->piece_count; i++)
        entry->length += entry->pieces[i].length;
    *used += entry->piece_count;
    return true;
}

static bool decode_entry(struct decoder *d, const struct record *record, size_t *pieces_used,
                         struct entry *entry)
{
    uint8_t kind = decode_u8(d);

    if (kind >= ENTRY_KINDS)
        return false;
    entry->kind = (enum entry_kind)kind;
    if (entry->kind != ENTRY_MORE)
        entry->block_id = decode_bytes(d);
    if (entry->kind != ENTRY_INLINE)
        return take_pieces(entry, decode_u64(d), record, pieces_used);
    entry->inline_bytes = decode_bytes(d);
    entry->length = entry->inline_bytes.len;
    return entry->inline_bytes.ptr;
}

/* Where the record's key says that the segment ends. */
static bool key_is_ours(struct bytes key, uint64_t *ret_content_id, uint64_t *ret_end)
{
    if (key.len != SEGMENT_KEY_SIZE || key.ptr[0] != 'c')
        return false;
    *ret_content_id = be64_get(key.ptr + 1);
    *ret_end = be64_get(key.ptr + SEGMENT_PREFIX_SIZE);
    return true;
}

enum store_result segment_decode(const struct record *record, struct arena *arena,
                                 struct segment *ret_segment)
{
    struct segment segment = { 0 };
    uint64_t content_id = 0, length = 0;
    size_t pieces_used = 0;
    struct decoder d;
    uint32_t count;

    if (!key_is_ours(record->key, &content_id, &segment.end))
        return content_damaged(0, 0, "key of a segment");
    decoder_init(&d, record->value);
    if (decode_u8(&d) != SEGMENT_VERSION)
        return content_damaged(content_id, segment.end, "version of a segment");
    decode_fixed(&d, &count, sizeof count);
    segment.entry_count = le32toh(count);
    if (segment.entry_count == 0 || segment.entry_count > record->value.len)
        return content_damaged(content_id, segment.end, "number of entries");
    segment.entries = arena_array(arena, segment.entry_count, sizeof segment.entries[0]);
    for (size_t i = 0; i < segment.entry_count; i++) {
        if (!decode_entry(&d, record, &pieces_used, &segment.entries[i]))
            return content_damaged(content_id, segment.end, "entry");
        length += segment.entries[i].length; /* cannot wrap: the record is in memory */
    }
    if (!decoder_ok(&d) || pieces_used != record->piece_count || length > segment.end)
        return content_damaged(content_id, segment.end, "length of a segment");
    segment.start = segment.end - length;
    *ret_segment = segment;
    return STORE_OK;
}

enum store_result segment_get_last(struct snapshot *before, struct arena *arena,
                                   const struct content *content, struct record *ret_record)
{
    char key[SEGMENT_KEY_SIZE];

    segment_key(content->id, content->length, key);
    return snapshot_get(before, RECORD_INNER, bytes_of(key, sizeof key), arena, ret_record);
}

void segment_delete_last(struct changes *changes, const struct content *content)
{
    char key[SEGMENT_KEY_SIZE];

    segment_key(content->id, content->length, key);
    changes_delete(changes, RECORD_INNER, bytes_of(key, sizeof key));
}

static enum store_result find(struct snapshot *before, struct arena *arena,
                              const struct content *content, uint64_t offset,
                              struct record *ret_record)
{
    char prefix[SEGMENT_PREFIX_SIZE], from[SEGMENT_KEY_SIZE];
    enum store_result result;
    struct scan *scan;

    segment_prefix(content->id, prefix);
    segment_key(content->id, offset + 1, from);
    scan = scan_open(before, RECORD_INNER, bytes_of(prefix, sizeof prefix),
                     bytes_of(from, sizeof from));
    result = scan_next(scan, arena, ret_record);
    scan_close(scan);
    return result;
}

static enum store_result decode_found(enum store_result result, const struct record *record,
                                      struct arena *arena, const struct content *content,
                                      uint64_t offset, struct segment *ret_segment)
{
    if (result == STORE_NOT_FOUND)
        return content_damaged(content->id, offset, "no segment");
    if (result)
        return result;
    return segment_decode(record, arena, ret_segment);
}

enum store_result segment_at(struct snapshot *before, struct arena *arena,
                             const struct content *content, uint64_t offset,
                             struct segment *ret_segment)
{
    bool last_is_likely = content->length - offset <= LAST_SEGMENT_BYTES &&
                          content->block_count <= LAST_SEGMENT_BLOCKS;
    enum store_result result;
    struct segment segment;
    struct record record;

    assert(offset < content->length);
    if (last_is_likely) {
        result = segment_get_last(before, arena, content, &record);
        result = decode_found(result, &record, arena, content, offset, &segment);
        if (result)
            return result;
    }
    if (!last_is_likely || segment.start > offset) {
        result = find(before, arena, content, offset, &record);
        result = decode_found(result, &record, arena, content, offset, &segment);
        if (result)
            return result;
    }
    if (segment.start > offset || segment.end <= offset || segment.end > content->length)
        return content_damaged(content->id, offset, "segments do not fit together");
    *ret_segment = segment;
    return STORE_OK;
}
