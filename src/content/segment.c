/* Finds, reads and deletes segments; see segment.h for their format. */
#include "content/segment.h"

#include <assert.h>

#include "base/codec.h"
#include "base/endian.h"
#include "base/log.h"

/* If the content after an offset is shorter than this and has few blocks, the offset is most likely
 * in the last segment. The key of that one is known, so it is tried first. */
#define LAST_SEGMENT_BYTES  (64u << 20)
#define LAST_SEGMENT_BLOCKS 64u

void segment_prefix(enum segment_owner owner, uint64_t id, char prefix[SEGMENT_PREFIX_SIZE])
{
    assert(owner == SEGMENT_OF_CONTENT || owner == SEGMENT_OF_RUN);
    prefix[0] = (char)owner;
    be64_put(prefix + 1, id);
}

void segment_key(enum segment_owner owner, uint64_t id, uint64_t end, char key[SEGMENT_KEY_SIZE])
{
    segment_prefix(owner, id, key);
    be64_put(key + SEGMENT_PREFIX_SIZE, end);
}

enum store_result content_damaged(uint64_t content_id, uint64_t offset, const char *problem)
{
    log_line(LOG_ERROR, "content %016llx is corrupt at %llu: %s", (unsigned long long)content_id,
             (unsigned long long)offset, problem);
    return STORE_CORRUPT;
}

/* Assigns the next `count` pieces of the record to an entry. */
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
    if (entry->kind == ENTRY_RUN) {
        entry->run = decode_u64(d);
        entry->length = decode_u64(d);
        return entry->run != 0 && entry->length > 0 && entry->length <= CONTENT_BLOCK_LENGTH_MAX;
    }
    if (entry->kind != ENTRY_INLINE)
        return take_pieces(entry, decode_u64(d), record, pieces_used);
    entry->inline_bytes = decode_bytes(d);
    entry->length = entry->inline_bytes.len;
    return entry->inline_bytes.ptr;
}

/* Decodes the id and the end offset in a segment's key. Returns false if it is not a segment's key.
 */
static bool key_is_ours(struct bytes key, uint64_t *ret_id, uint64_t *ret_end)
{
    if (key.len != SEGMENT_KEY_SIZE ||
        (key.ptr[0] != SEGMENT_OF_CONTENT && key.ptr[0] != SEGMENT_OF_RUN))
        return false;
    *ret_id = be64_get(key.ptr + 1);
    *ret_end = be64_get(key.ptr + SEGMENT_PREFIX_SIZE);
    return true;
}

enum store_result segment_decode(const struct record *record, struct arena *arena,
                                 struct segment *ret_segment)
{
    struct segment segment = { 0 };
    uint64_t id = 0, length = 0;
    size_t pieces_used = 0;
    struct decoder d;
    char count[4];

    if (!key_is_ours(record->key, &id, &segment.end))
        return content_damaged(0, 0, "invalid segment key");
    decoder_init(&d, record->value);
    if (decode_u8(&d) != SEGMENT_VERSION)
        return content_damaged(id, segment.end, "unknown segment version");
    decode_fixed(&d, count, sizeof count);
    segment.entry_count = le32_get(count);
    if (segment.entry_count == 0 || segment.entry_count > record->value.len)
        return content_damaged(id, segment.end, "invalid number of entries");
    segment.entries = arena_array(arena, segment.entry_count, sizeof segment.entries[0]);
    for (size_t i = 0; i < segment.entry_count; i++) {
        struct entry *entry = &segment.entries[i];

        if (!decode_entry(&d, record, &pieces_used, entry) || entry->length > segment.end - length)
            return content_damaged(id, segment.end, "entry");
        length += entry->length;
    }
    if (!decoder_ok(&d) || pieces_used != record->piece_count)
        return content_damaged(id, segment.end, "invalid segment length");
    assert(length <= segment.end);
    segment.start = segment.end - length;
    *ret_segment = segment;
    return STORE_OK;
}

struct segment_map segment_map_of(const struct content *content)
{
    return (struct segment_map){
        .owner = SEGMENT_OF_CONTENT,
        .id = content->id,
        .length = content->length,
        .is_short = content->block_count <= LAST_SEGMENT_BLOCKS && !content->is_appended,
    };
}

struct segment_map segment_map_of_run(uint64_t run, uint64_t length)
{
    return (struct segment_map){
        .owner = SEGMENT_OF_RUN, .id = run, .length = length, .is_short = true
    };
}

struct scan *segment_scan(struct read_view *before, enum segment_owner owner, uint64_t id)
{
    char prefix[SEGMENT_PREFIX_SIZE];

    segment_prefix(owner, id, prefix);
    return scan_open(before, RECORD_INNER, bytes_of(prefix, sizeof prefix), bytes_of("", 0));
}

/* Opens a scan over the segments' records, starting with the segment that contains `offset`. */
static struct scan *scan_from(struct read_view *before, const struct segment_map *map,
                              uint64_t offset)
{
    char from[SEGMENT_KEY_SIZE];

    assert(offset < map->length);
    segment_key(map->owner, map->id, offset + 1, from);
    return scan_open(before, RECORD_INNER, bytes_of(from, SEGMENT_PREFIX_SIZE),
                     bytes_of(from, sizeof from));
}

void segment_delete_last(struct changes *changes, const struct content *content)
{
    char key[SEGMENT_KEY_SIZE];

    segment_key(SEGMENT_OF_CONTENT, content->id, content->length, key);
    changes_delete(changes, RECORD_INNER, bytes_of(key, sizeof key));
}

enum store_result segments_delete(struct read_view *before, struct changes *changes,
                                  enum segment_owner owner, uint64_t id, size_t limit,
                                  struct bytes *ret_next)
{
    struct scan *scan = segment_scan(before, owner, id);
    enum store_result result;
    struct record record;

    *ret_next = bytes_of(NULL, 0);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        if (limit-- == 0) {
            *ret_next = arena_copy(changes_arena(changes), record.key);
            break;
        }
        changes_delete(changes, RECORD_INNER, record.key);
        changes_release(changes, record.pieces, record.piece_count);
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

static enum store_result find(struct read_view *before, struct arena *arena,
                              const struct segment_map *map, uint64_t offset,
                              struct record *ret_record)
{
    struct scan *scan = scan_from(before, map, offset);
    enum store_result result = scan_next(scan, arena, ret_record);

    scan_close(scan);
    return result;
}

/* Appends the entries of the next segment. */
static bool join(struct arena *arena, struct segment *to, const struct segment *next,
                 size_t *capacity)
{
    if (next->start != to->end)
        return false;
    if (to->entry_count + next->entry_count > *capacity) {
        struct entry *grown;

        *capacity = 2 * (to->entry_count + next->entry_count);
        grown = arena_array(arena, *capacity, sizeof grown[0]);
        memcpy(grown, to->entries, to->entry_count * sizeof grown[0]);
        to->entries = grown;
    }
    memcpy(to->entries + to->entry_count, next->entries,
           next->entry_count * sizeof next->entries[0]);
    to->entry_count += next->entry_count;
    to->end = next->end;
    assert(to->entry_count <= *capacity && to->start <= to->end);
    return true;
}

/* Joins consecutive segments from a scan, up to the weight of a large segment. Ignores errors after
 * the first segment; the next read will report them. */
static enum store_result join_some(struct scan *scan, struct arena *arena, uint64_t length,
                                   struct segment *ret_segment)
{
    size_t weight = 0, capacity = 0;
    struct segment joined = { .end = 0 };

    while (weight < SEGMENT_WEIGHT_MAX) {
        struct segment segment;
        struct record record;
        enum store_result result = scan_next(scan, arena, &record);

        if (!result)
            result = segment_decode(&record, arena, &segment);
        if (joined.end == 0) {
            if (result)
                return result;
            joined = segment;
            capacity = segment.entry_count;
        } else if (result || segment.end > length || !join(arena, &joined, &segment, &capacity)) {
            break;
        }
        weight += record.value.len + record.piece_count * sizeof record.pieces[0];
    }
    *ret_segment = joined;
    return STORE_OK;
}

enum store_result segments_at(struct read_view *before, struct arena *arena,
                              const struct segment_map *map, uint64_t offset,
                              struct segment *ret_segment)
{
    struct scan *scan = scan_from(before, map, offset);
    struct segment segment;
    enum store_result result = join_some(scan, arena, map->length, &segment);
    scan_close(scan);
    if (result == STORE_NOT_FOUND)
        return content_damaged(map->id, offset, "no segment");
    if (result)
        return result;
    if (segment.start > offset || segment.end > map->length)
        return content_damaged(map->id, offset, "gap or overlap between segments");
    *ret_segment = segment;
    return STORE_OK;
}

static enum store_result get_last(struct read_view *before, struct arena *arena,
                                  const struct segment_map *map, struct record *ret_record)
{
    char key[SEGMENT_KEY_SIZE];

    segment_key(map->owner, map->id, map->length, key);
    return read_view_get(before, RECORD_INNER, bytes_of(key, sizeof key), arena, ret_record);
}

static enum store_result decode_found(enum store_result result, const struct record *record,
                                      struct arena *arena, const struct segment_map *map,
                                      uint64_t offset, struct segment *ret_segment)
{
    if (result == STORE_NOT_FOUND)
        return content_damaged(map->id, offset, "no segment");
    if (result)
        return result;
    return segment_decode(record, arena, ret_segment);
}

enum store_result segment_at(struct read_view *before, struct arena *arena,
                             const struct segment_map *map, uint64_t offset,
                             struct segment *ret_segment)
{
    bool last_is_likely = map->length - offset <= LAST_SEGMENT_BYTES && map->is_short;
    enum store_result result;
    struct segment segment;
    struct record record;

    assert(offset < map->length);
    if (last_is_likely) {
        result = get_last(before, arena, map, &record);
        result = decode_found(result, &record, arena, map, offset, &segment);
        if (result)
            return result;
    }
    if (!last_is_likely || segment.start > offset) {
        result = find(before, arena, map, offset, &record);
        result = decode_found(result, &record, arena, map, offset, &segment);
        if (result)
            return result;
    }
    if (segment.start > offset || segment.end <= offset || segment.end > map->length)
        return content_damaged(map->id, offset, "gap or overlap between segments");
    assert(segment.entry_count > 0 && segment.start <= offset && offset < segment.end);
    *ret_segment = segment;
    return STORE_OK;
}

enum store_result segment_get_last(struct read_view *before, struct arena *arena,
                                   const struct content *content, struct record *ret_record)
{
    struct segment_map map = segment_map_of(content);

    return get_last(before, arena, &map, ret_record);
}

enum store_result segment_get_only(struct read_view *before, struct arena *arena,
                                   const struct content *content, struct record *ret_record,
                                   struct segment *ret_segment)
{
    struct segment_map map = segment_map_of(content);
    enum store_result result;

    if (!map.is_short || content->length > LAST_SEGMENT_BYTES)
        return STORE_NOT_FOUND;
    result = get_last(before, arena, &map, ret_record);
    if (!result)
        result = segment_decode(ret_record, arena, ret_segment);
    if (!result && ret_segment->start > 0)
        return STORE_NOT_FOUND;
    return result;
}
