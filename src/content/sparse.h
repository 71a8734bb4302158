/* Sparse content, whose bytes are overwritten in place (page blobs, files). Internal to content/.
 *
 * Offsets are divided into units of 256 KiB, and units into pages of 4 KiB. Small writes are stored
 * inline in the record of their page, pieces in the record of their unit. Offsets without a record
 * are holes, so an empty page blob of 8 TiB has no records.
 *
 *   key      'p' page record, 'x' unit record
 *            8   content id, be
 *            8   number of the page or unit, be
 *            4   2^32-1 - epoch, be: the newest version is first
 *   payload  1   version (1)
 *            v   number of parts, then each part, in order of their offsets:
 *            v     bytes between the previous part (or the start of the page, unit) and this one
 *            v     length, 1 or more
 *            v     stamp of the change that wrote it, minus the content id
 *            page: the bytes of all parts
 *            unit: v index of the piece, v offset in it, for each part
 *   pieces   of the unit
 *
 *   key      'd', 8 content id be, 4 epoch be, 8 unit be: the unit was changed in this epoch
 *   key      'g', 8 content id be, 4 epoch be: the generation is retained; 2^32-1: the newest one
 *   key      'h', 8 content id be: large ranges that were cleared
 *   payload  1   version (1), then for 'h' v count, and each v start, v end, v stamp - id, v epoch
 *
 * Generations. A snapshot starts a new epoch; the number of the old epoch identifies the
 * generation. A change writes versions of the current epoch next to those of older epochs. In
 * generation g, the version of a page or unit is the newest one whose epoch is at most g. A
 * snapshot therefore costs one record, and the cost of reading does not depend on the number of
 * generations.
 *
 * Sparse invariants, cited as "sparse invariant N":
 * (1) In each generation, no byte is both in a page record and in the unit's record: a change that
 *     writes a range to one removes it from the other. A version without parts hides older
 *     versions.
 * (2) Between two adjacent retained generations, a page or unit has at most one version, unless the
 *     backlog records that there may be more.
 * (3) Every unit that has a version of an epoch in which an older generation was retained is listed
 *     under 'd' in that epoch, or is in a range under 'h'. The differences between two generations,
 *     and data that only one of them contains, can therefore be found without reading other units.
 * (4) If a range under 'h' covers a part with a smaller (earlier) stamp, the part is a hole in
 *     every generation not older than the range.
 *
 * Small writes stay inline and are never merged into pieces. Writing a single sector of 512 bytes
 * writes 541 bytes of records, which take 560 bytes on disk, and adjacent data within a page is in
 * one record anyway. Pieces would not be cheaper: they are read in sectors of 64 KiB and need a
 * sync and their own record, and rewriting data into pieces costs as much as RocksDB's compaction
 * of the records. Many small records are slow only if read one by one, so segments_at() and
 * sparse_unit() read adjacent records with one scan.
 *
 * Cost of changes. A page record has at most 4 KiB of data plus 20 bytes per part. Adjacent parts
 * of one epoch are joined, so a page written in sectors of 512 bytes has at most 8 parts. A unit
 * record has at most 512 parts of 512 bytes. A write of n bytes changes at most n / 256 KiB + 2
 * units and n / 4 KiB + 2 pages, regardless of the size of the content. */
#ifndef LAGRA_CONTENT_SPARSE_H
#define LAGRA_CONTENT_SPARSE_H

#include "content/backlog.h"
#include "content/window.h"

#define PAGE_BYTES        (4u << 10)
#define UNIT_BYTES        (256u << 10)
#define PAGES_OF_UNIT     (UNIT_BYTES / PAGE_BYTES)
#define HOLES_MAX         16u
#define GENERATION_NEWEST UINT32_MAX
#define SPARSE_PREFIX     9  /* key prefix: kind, id */
#define SPARSE_NUMBER_END 17 /* kind, id, number */
#define SPARSE_KEY_SIZE   21
#define CHANGED_KEY_SIZE  21

enum sparse_kind { SPARSE_PAGE = 'p', SPARSE_UNIT = 'x' };

/* Bytes written by one change, or some of them. */
struct part {
    uint64_t start, end; /* offsets in the content */
    uint64_t stamp;
    const char *bytes;         /* bytes in memory; or */
    const struct piece *piece; /* piece that contains them from piece_offset on */
    uint32_t piece_offset;
};

/* Non-overlapping parts sorted by offset. */
struct parts {
    struct arena *arena;
    struct part *items;
    size_t count, capacity;
};
void parts_clear(struct parts *parts, uint64_t start, uint64_t end);
/* Inserts a part, replacing overlapping ones. */
void parts_insert(struct parts *parts, const struct part *part);
/* Appends a part after all others. */
void parts_append(struct parts *parts, const struct part *part);

struct hole {
    uint64_t start, end, stamp;
    uint32_t epoch;
};

/* Sparse content in one of its generations, content->epoch. */
struct sparse_view {
    struct read_view *before;
    struct arena *arena;
    const struct content *content;
    struct hole holes[HOLES_MAX];
    size_t hole_count;
};
/* Opens a view and reads its holes. */
enum store_result sparse_view_open(struct read_view *before, struct arena *arena,
                                   const struct content *content, struct sparse_view *ret_view);
/* Removes the parts covered by the hole and written before it. */
void sparse_remove_hole(const struct hole *hole, struct parts *parts);
/* Removes the ranges covered by holes of the view. */
void sparse_remove_holes(const struct sparse_view *view, struct parts *parts);

/* A version of a page or unit. */
struct version {
    bool found;
    uint32_t epoch;
    struct parts parts; /* holes are not applied */
};
/* Reads the version that the view's generation contains. */
enum store_result sparse_version(const struct sparse_view *view, enum sparse_kind kind,
                                 uint64_t number, struct version *ret_version);
/* Reads all parts of a unit in the view, from its own record and its pages. */
enum store_result sparse_unit(const struct sparse_view *view, uint64_t unit,
                              struct parts *ret_parts);
/* Like sparse_unit(), for [start, end), which consists of complete pages of the unit. */
enum store_result sparse_unit_part(const struct sparse_view *view, uint64_t unit, uint64_t start,
                                   uint64_t end, struct parts *ret_parts);
/* Finds the first unit, from `unit` on, that has a record of any epoch. Returns STORE_NOT_FOUND if
 * no unit has one. */
enum store_result sparse_next_unit(const struct sparse_view *view, uint64_t unit,
                                   uint64_t *ret_unit);
/* Finds the first page or unit from `number` to `last` that has a record of any epoch. */
enum store_result sparse_next_number(const struct sparse_view *view, enum sparse_kind kind,
                                     uint64_t number, uint64_t last, uint64_t *ret_number);

/* ---- records ---- */

bool sparse_decode(const struct record *record, struct arena *arena, struct version *ret_version);
/* Writes a version. Joins adjacent parts of a page whose stamps are greater than joins_after. */
void sparse_put(struct changes *changes, uint64_t id, enum sparse_kind kind, uint64_t number,
                uint32_t epoch, uint64_t joins_after, const struct parts *parts);
/* Writes the key of a version to `buffer` and returns it. */
struct bytes sparse_key(uint64_t id, enum sparse_kind kind, uint64_t number, uint32_t epoch,
                        char buffer[SPARSE_KEY_SIZE]);
/* Releases the pieces that a version's record refers to. */
void sparse_release(struct changes *changes, const struct version *version);
/* Records that the unit was changed in the epoch (sparse invariant 3). */
void sparse_mark_changed(struct changes *changes, uint64_t id, uint32_t epoch, uint64_t unit);
struct bytes sparse_changed_key(uint64_t id, uint32_t epoch, uint64_t unit,
                                char buffer[CHANGED_KEY_SIZE]);
void sparse_put_holes(struct changes *changes, uint64_t id, const struct hole *holes, size_t count);
enum store_result sparse_read_holes(struct read_view *before, struct arena *arena, uint64_t id,
                                    struct hole holes[HOLES_MAX], size_t *ret_count);
bool sparse_decode_holes(struct bytes value, uint64_t id, struct hole holes[HOLES_MAX],
                         size_t *ret_count);

/* ---- generations ---- */

struct neighbours {
    bool has_older, has_newer;
    uint32_t older, newer; /* retained generations, or GENERATION_NEWEST */
};
/* Finds the retained generations before and after a deleted one. */
enum store_result sparse_neighbours(struct read_view *before, uint64_t id, uint32_t generation,
                                    struct neighbours *ret_neighbours);
/* Process BACKLOG_GENERATION and BACKLOG_HOLE for content_collect(). */
enum store_result sparse_collect_generation(struct read_view *before, struct changes *changes,
                                            struct backlog *backlog, struct budget *budget);
enum store_result sparse_collect_hole(struct read_view *before, struct changes *changes,
                                      struct backlog *backlog, struct budget *budget);

#endif
