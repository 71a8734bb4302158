/* A segment: one record of the map of content or of a run. Internal to content/.
 *
 *   key      1   'c' of content, 'n' of a run
 *            8   id, be
 *            8   end offset, be (the offset after the last byte of the segment)
 *   payload  1   version (1)
 *            4   number of entries, le
 *            then each entry:
 *            1   kind
 *                ENTRY_INLINE  bytes block id, bytes data
 *                ENTRY_PIECES  bytes block id, v number of pieces
 *                ENTRY_MORE    v number of pieces; they continue the block of the previous entry,
 *                              which may be the last one of the previous segment
 *                ENTRY_RUN     bytes block id, v run id, v length: all bytes of the run
 *   pieces   of all entries, in order
 *
 * `bytes` and `v` are encoded as in base/codec.h; the block id is absent for bytes that are not a
 * block. The segments of a run only have ENTRY_PIECES and ENTRY_MORE. To change the format, see "On
 * disk" in store/README.md.
 *
 * Segment invariants, cited as "segment invariant N":
 * (1) Segments of content are contiguous; the last one ends at its length.
 * (2) A segment weighs at most SEGMENT_WEIGHT_MAX plus one entry, so reading a segment is a small
 *     bounded step.
 * (3) Two segments never end at the same offset, because a segment is never closed while it has no
 *     bytes, however many empty blocks it contains.
 * (4) Content written as a single body of at most SEGMENT_ONLY_MAX bytes is a single segment.
 * (5) Appended bytes start a new segment, so each length that the content ever had is the end of a
 *     segment. */
#ifndef LAGRA_CONTENT_SEGMENT_H
#define LAGRA_CONTENT_SEGMENT_H

#include "content/content.h"

#define SEGMENT_VERSION     1
#define SEGMENT_KEY_SIZE    17
#define SEGMENT_PREFIX_SIZE 9
#define SEGMENT_WEIGHT_MAX  (16u << 10) /* approximate size of its record */
#define SEGMENT_PIECES_MAX  256u
#define SEGMENT_ONLY_MAX    (16u << 10)

/* What the map belongs to; the value is the first byte of the key. */
enum segment_owner { SEGMENT_OF_CONTENT = 'c', SEGMENT_OF_RUN = 'n' };

enum entry_kind { ENTRY_INLINE, ENTRY_PIECES, ENTRY_MORE, ENTRY_RUN, ENTRY_KINDS };

struct entry {
    enum entry_kind kind;
    struct bytes block_id;
    uint64_t length;
    uint64_t run;               /* ENTRY_RUN */
    struct bytes inline_bytes;  /* ENTRY_INLINE */
    const struct piece *pieces; /* ENTRY_PIECES, ENTRY_MORE */
    size_t piece_count;
};

struct segment {
    uint64_t start, end; /* offsets in the content */
    struct entry *entries;
    size_t entry_count;
};

/* ---- writing ---- */

struct segment_writer {
    struct changes *changes;
    enum segment_owner owner;
    uint64_t id;
    uint64_t start, end;  /* of the current segment */
    uint32_t entry_count; /* in the current segment */
    size_t piece_weight;
    struct text payload;
    struct piece *pieces;
    size_t piece_count;
};

/* Initializes a writer. payload_hint: approximate size of the entries; piece_hint: upper bound for
 * the number of pieces */
void segment_writer_init(struct segment_writer *writer, struct changes *changes,
                         enum segment_owner owner, uint64_t id, size_t payload_hint,
                         size_t piece_hint);
/* Starts the first segment at this offset instead of 0. Must be called before anything is added. */
void segment_writer_begin_at(struct segment_writer *writer, uint64_t offset);
/* Adds a block as a run, pieces or inline bytes. Its id is absent for bytes that are not a block.
 * Ends segments when they are full. */
void segment_writer_add(struct segment_writer *writer, const struct content_block *block);
/* Ends the last segment. The map is writer->end bytes long. */
void segment_writer_finish(struct segment_writer *writer);

/* ---- reading ---- */

/* Map of content or of a run. */
struct segment_map {
    enum segment_owner owner;
    uint64_t id;
    uint64_t length;
    bool is_short; /* has few entries */
};
struct segment_map segment_map_of(const struct content *content);
struct segment_map segment_map_of_run(uint64_t run, uint64_t length);

/* Reads the segment that contains the byte at `offset` into the arena. Returns STORE_OK,
 * STORE_WAIT, STORE_CORRUPT (logged; also if the segment is missing), STORE_IO. */
enum store_result segment_at(struct read_view *before, struct arena *arena,
                             const struct segment_map *map, uint64_t offset,
                             struct segment *ret_segment);
/* Like segment_at(), but joins following segments while the total weight is small, so that many
 * small appends are read as one segment. */
enum store_result segments_at(struct read_view *before, struct arena *arena,
                              const struct segment_map *map, uint64_t offset,
                              struct segment *ret_segment);

/* Reads the content's segment if it is the only one, with one get instead of a scan. Content with
 * few blocks usually has only one.
 *
 * returns  STORE_OK with *ret_record and *ret_segment, in the arena
 *          STORE_NOT_FOUND if there are or may be other segments
 *          STORE_WAIT, STORE_CORRUPT (logged), STORE_IO */
enum store_result segment_get_only(struct read_view *before, struct arena *arena,
                                   const struct content *content, struct record *ret_record,
                                   struct segment *ret_segment);

/* Reads the record of the content's last segment, whose key is known, with one get instead of a
 * scan. */
enum store_result segment_get_last(struct read_view *before, struct arena *arena,
                                   const struct content *content, struct record *ret_record);
/* Deletes the last segment without reading it; it must not refer to pieces. */
void segment_delete_last(struct changes *changes, const struct content *content);
/* Deletes at most `limit` segments of a map without decoding them, so that corrupt ones can be
 * deleted.
 *
 * ret_next  key of the first remaining segment, in the arena; ptr NULL if none
 * returns   STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO */
enum store_result segments_delete(struct read_view *before, struct changes *changes,
                                  enum segment_owner owner, uint64_t id, size_t limit,
                                  struct bytes *ret_next);
/* Returns true if the last segment is known to be the only one (segment invariant 4). */
static inline bool segment_is_only(const struct content *content)
{
    return content->block_count == 0 && content->length <= SEGMENT_ONLY_MAX &&
           content->form == CONTENT_SEQUENCE && !content->is_appended;
}

/* Decodes a segment's record. Returns STORE_OK, STORE_CORRUPT (logged). */
enum store_result segment_decode(const struct record *record, struct arena *arena,
                                 struct segment *ret_segment);

/* Opens a scan over the records of all segments of a map, in order. */
struct scan *segment_scan(struct read_view *before, enum segment_owner owner, uint64_t id);

/* Returns the common key prefix of all segments of a map. */
void segment_prefix(enum segment_owner owner, uint64_t id, char prefix[SEGMENT_PREFIX_SIZE]);

/* Returns the key of the segment with this end offset. */
void segment_key(enum segment_owner owner, uint64_t id, uint64_t end, char key[SEGMENT_KEY_SIZE]);

/* Logs a corruption of content or of a run. Returns STORE_CORRUPT. */
enum store_result content_damaged(uint64_t content_id, uint64_t offset, const char *problem);

#endif
