/* Records of sparse content; see sparse.h for their format. */
#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "content/sparse.h"

#define SPARSE_VERSION 1

/* ---- keys ---- */

struct bytes sparse_key(uint64_t id, enum sparse_kind kind, uint64_t number, uint32_t epoch,
                        char buffer[SPARSE_KEY_SIZE])
{
    assert(kind == SPARSE_PAGE || kind == SPARSE_UNIT);
    buffer[0] = (char)kind;
    be64_put(buffer + 1, id);
    be64_put(buffer + SPARSE_PREFIX, number);
    be32_put(buffer + SPARSE_NUMBER_END, UINT32_MAX - epoch);
    return bytes_of(buffer, SPARSE_KEY_SIZE);
}

struct bytes sparse_changed_key(uint64_t id, uint32_t epoch, uint64_t unit,
                                char buffer[CHANGED_KEY_SIZE])
{
    buffer[0] = 'd';
    be64_put(buffer + 1, id);
    be32_put(buffer + SPARSE_PREFIX, epoch);
    be64_put(buffer + SPARSE_PREFIX + 4, unit);
    return bytes_of(buffer, CHANGED_KEY_SIZE);
}

void sparse_mark_changed(struct changes *changes, uint64_t id, uint32_t epoch, uint64_t unit)
{
    static const char version = SPARSE_VERSION;
    char buffer[CHANGED_KEY_SIZE];

    changes_put(changes, RECORD_INNER, sparse_changed_key(id, epoch, unit, buffer),
                bytes_of(&version, 1), NULL, 0);
}

/* ---- pages and units ---- */

static uint64_t bytes_of_kind(enum sparse_kind kind)
{
    return kind == SPARSE_PAGE ? PAGE_BYTES : UNIT_BYTES;
}

/* Collects the pieces of the parts. A sequence of adjacent parts in one piece counts once, as in
 * reference counting. */
static size_t collect_pieces(const struct parts *parts, struct piece *pieces)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const struct piece *piece = parts->items[i].piece;

        if (count == 0 || pieces[count - 1].extent != piece->extent ||
            pieces[count - 1].offset != piece->offset)
            pieces[count++] = *piece;
    }
    return count;
}

static void encode_unit(struct text *out, const struct parts *parts, const struct piece *pieces)
{
    uint64_t index = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->items[i];

        if (part->piece->extent != pieces[index].extent ||
            part->piece->offset != pieces[index].offset)
            index++;
        assert(part->piece->offset == pieces[index].offset);
        encode_u64(out, index);
        encode_u64(out, part->piece_offset);
    }
}

/* Returns the part at `index`, joined with following parts if possible. Sets *ret_next to the index
 * after these. */
static struct part joined(const struct parts *parts, size_t index, enum sparse_kind kind,
                          uint64_t joins_after, size_t *ret_next)
{
    struct part part = parts->items[index++];

    while (kind == SPARSE_PAGE && index < parts->count) {
        const struct part *next = &parts->items[index];

        if (next->start != part.end || next->stamp <= joins_after || part.stamp <= joins_after)
            break;
        part.end = next->end;
        if (part.stamp < next->stamp)
            part.stamp = next->stamp;
        index++;
    }
    *ret_next = index;
    return part;
}

static void encode_parts(struct text *out, uint64_t id, enum sparse_kind kind, uint64_t at,
                         uint64_t joins_after, const struct parts *parts)
{
    size_t count = 0;

    for (size_t i = 0; i < parts->count; count++)
        joined(parts, i, kind, joins_after, &i);
    encode_u64(out, count);
    for (size_t i = 0; i < parts->count;) {
        struct part part = joined(parts, i, kind, joins_after, &i);

        assert(part.start >= at && part.end > part.start && part.stamp >= id);
        encode_u64(out, part.start - at);
        encode_u64(out, part.end - part.start);
        encode_u64(out, part.stamp - id);
        at = part.end;
    }
}

void sparse_put(struct changes *changes, uint64_t id, enum sparse_kind kind, uint64_t number,
                uint32_t epoch, uint64_t joins_after, const struct parts *parts)
{
    struct arena *arena = changes_arena(changes);
    struct piece *pieces = NULL;
    char buffer[SPARSE_KEY_SIZE];
    size_t piece_count = 0;
    struct text value;

    text_init(&value, arena, 16 + 24 * parts->count + (kind == SPARSE_PAGE ? PAGE_BYTES : 0));
    encode_u8(&value, SPARSE_VERSION);
    encode_parts(&value, id, kind, number * bytes_of_kind(kind), joins_after, parts);
    if (kind == SPARSE_UNIT) {
        pieces = arena_array(arena, parts->count, sizeof pieces[0]);
        piece_count = collect_pieces(parts, pieces);
        encode_unit(&value, parts, pieces);
    }
    for (size_t i = 0; kind == SPARSE_PAGE && i < parts->count; i++)
        text_add(&value, bytes_of(parts->items[i].bytes,
                                  (size_t)(parts->items[i].end - parts->items[i].start)));
    assert(piece_count <= parts->count && epoch < UINT32_MAX);
    changes_put(changes, RECORD_INNER, sparse_key(id, kind, number, epoch, buffer),
                text_bytes(&value), pieces, piece_count);
}

/* Sets the location of the parts' bytes: after the table, or in pieces of the record. */
static bool locate_parts(struct decoder *d, const struct record *record, enum sparse_kind kind,
                         struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->items[i];
        uint64_t length = part->end - part->start, index, offset;

        if (kind == SPARSE_PAGE) {
            if ((uint64_t)(d->end - d->at) < length)
                return false;
            part->bytes = (const char *)d->at;
            d->at += length;
            continue;
        }
        index = decode_u64(d);
        offset = decode_u64(d);
        if (index >= record->piece_count || offset > record->pieces[index].length ||
            length > record->pieces[index].length - offset)
            return false;
        part->piece = &record->pieces[index];
        part->piece_offset = (uint32_t)offset;
    }
    return true;
}

bool sparse_decode(const struct record *record, struct arena *arena, struct version *ret_version)
{
    const char *key = record->key.ptr;
    struct version version = { .found = true, .parts = { .arena = arena } };
    enum sparse_kind kind;
    uint64_t count, id, at, end;
    struct decoder d;

    if (record->key.len != SPARSE_KEY_SIZE || (key[0] != SPARSE_PAGE && key[0] != SPARSE_UNIT))
        return false;
    kind = (enum sparse_kind)key[0];
    id = be64_get(key + 1);
    at = be64_get(key + SPARSE_PREFIX);
    version.epoch = UINT32_MAX - be32_get(key + SPARSE_NUMBER_END);
    if (at > INT64_MAX / UNIT_BYTES - 1)
        return false;
    at *= bytes_of_kind(kind);
    end = at + bytes_of_kind(kind);
    decoder_init(&d, record->value);
    if (decode_u8(&d) != SPARSE_VERSION)
        return false;
    count = decode_u64(&d);
    if (count > record->value.len || count > bytes_of_kind(kind))
        return false;
    version.parts.items = arena_array(arena, count, sizeof version.parts.items[0]);
    version.parts.count = version.parts.capacity = (size_t)count;
    for (size_t i = 0; i < count; i++) {
        struct part *part = &version.parts.items[i];
        uint64_t gap = decode_u64(&d), length = decode_u64(&d), age = decode_u64(&d);

        if (gap > end - at || length == 0 || length > end - at - gap || age > UINT64_MAX - id)
            return false;
        part->start = at + gap;
        part->end = at = part->start + length;
        part->stamp = id + age;
    }
    if (!locate_parts(&d, record, kind, &version.parts) || !decoder_ok(&d))
        return false;
    *ret_version = version;
    return true;
}

void sparse_release(struct changes *changes, const struct version *version)
{
    const struct parts *parts = &version->parts;
    struct piece *pieces;

    if (parts->count == 0 || !parts->items[0].piece)
        return;
    pieces = arena_array(changes_arena(changes), parts->count, sizeof pieces[0]);
    changes_release(changes, pieces, collect_pieces(parts, pieces));
}

/* ---- holes ---- */

static struct bytes holes_key(uint64_t id, char buffer[SPARSE_PREFIX])
{
    buffer[0] = 'h';
    be64_put(buffer + 1, id);
    return bytes_of(buffer, SPARSE_PREFIX);
}

void sparse_put_holes(struct changes *changes, uint64_t id, const struct hole *holes, size_t count)
{
    char buffer[SPARSE_PREFIX];
    struct text value;

    assert(count <= HOLES_MAX);
    if (count == 0) {
        changes_delete(changes, RECORD_INNER, holes_key(id, buffer));
        return;
    }
    text_init(&value, changes_arena(changes), 16 + 32 * count);
    encode_u8(&value, SPARSE_VERSION);
    encode_u64(&value, count);
    for (size_t i = 0; i < count; i++) {
        assert(holes[i].start < holes[i].end && holes[i].stamp >= id);
        encode_u64(&value, holes[i].start);
        encode_u64(&value, holes[i].end);
        encode_u64(&value, holes[i].stamp - id);
        encode_u64(&value, holes[i].epoch);
    }
    changes_put(changes, RECORD_INNER, holes_key(id, buffer), text_bytes(&value), NULL, 0);
}

bool sparse_decode_holes(struct bytes value, uint64_t id, struct hole holes[HOLES_MAX],
                         size_t *ret_count)
{
    struct decoder d;
    uint64_t count;

    decoder_init(&d, value);
    if (decode_u8(&d) != SPARSE_VERSION)
        return false;
    count = decode_u64(&d);
    if (count == 0 || count > HOLES_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t age, epoch;

        holes[i].start = decode_u64(&d);
        holes[i].end = decode_u64(&d);
        age = decode_u64(&d);
        epoch = decode_u64(&d);
        if (holes[i].start >= holes[i].end || holes[i].end > INT64_MAX || age > UINT64_MAX - id ||
            epoch >= UINT32_MAX)
            return false;
        holes[i].stamp = id + age;
        holes[i].epoch = (uint32_t)epoch;
    }
    *ret_count = (size_t)count;
    return decoder_ok(&d);
}

enum store_result sparse_read_holes(struct read_view *before, struct arena *arena, uint64_t id,
                                    struct hole holes[HOLES_MAX], size_t *ret_count)
{
    char buffer[SPARSE_PREFIX];
    struct record record;
    enum store_result result =
        read_view_get(before, RECORD_INNER, holes_key(id, buffer), arena, &record);

    *ret_count = 0;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (!sparse_decode_holes(record.value, id, holes, ret_count))
        return content_damaged(id, 0, "invalid cleared ranges");
    return STORE_OK;
}
