/* Inside content/ only: sparse contents, whose bytes are overwritten in place (page blobs, files).
 *
 * The offsets are divided into units of 256 KiB, and each unit into pages of 4 KiB. What was
 * written in few bytes lies inline in a record of its page, what came as pieces in the record of
 * its unit. Offsets that no record mentions are a hole. A content of 8 TiB without bytes has no
 * records.
 *
 *   key      'p' page record, 'x' unit record
 *            8   content id, be
 *            8   number of the page or unit, be
 *            4   2^32-1 - epoch, be: the newest version first
 *   payload  1   version (1)
 *            v   number of parts, then each part, in order of their offsets:
 *            v     bytes between the part before (or the beginning of the page, unit) and this one
 *            v     length, 1 or more
 *            v     stamp of the change that wrote it, less the content id
 *            page: the bytes of all parts
 *            unit: v index of the piece, v offset in it, for each part
 *   pieces   of the unit
 *
 *   key      'd', 8 content id be, 4 epoch be, 8 unit be: in this epoch the unit was changed
 *   key      'g', 8 content id be, 4 epoch be: the generation is kept; 2^32-1: the newest one is
 *   key      'h', 8 content id be: large ranges that were cleared
 *   payload  1   version (1), then for 'h' v count, and each v start, v end, v stamp - id, v epoch
 *
 * Generations. Taking a snapshot begins a new epoch; the number of the old epoch names the
 * generation. A change writes versions of the current epoch beside those of older epochs.
 * Generation g sees, of each page and unit, the newest version whose epoch is at most g. So a
 * snapshot costs one record, and a reader costs the same however many generations there are.
 *
 * Sparse invariants, cited as "sparse invariant N":
 *  (1) In each generation no byte is in a page record and in the unit's record: a change takes from
 *      one what it writes into the other. A version without parts hides older ones.
 *  (2) Between two kept generations that follow each other, a page or unit has one version at most,
 *      or the backlog says that there may be more.
 *  (3) Every unit that has a version of an epoch in which an older generation was kept is listed
 *      under 'd' in that epoch, or lies in a range under 'h'. So what changed between two
 *      generations, and what only one of them sees, is found without looking at anything else.
 *  (4) A part that was written before (its stamp is less) a range of 'h' which covers it is a hole,
 *      for every generation that is not older than the range.
 *
 * Small writes stay inline for good; nothing merges them into pieces later. A sector of 512 bytes
 * that is written alone puts 541 bytes of records and takes 560 on disk, and what lies together in
 * a page is one record already. A piece would save none of that: it is read by the sector of 64
 * KiB, costs a sync and a row of its own, and rewriting costs what RocksDB's compaction costs
 * anyway. What many small records cost is their reading, one by one: segments_at() and
 * sparse_unit() read what lies together with one scan.
 *
 * What one change writes: a page record has at most 4 KiB of bytes, and 20 bytes for each part;
 * parts of one epoch that lie together are joined, so a page of sectors of 512 bytes has at most 8.
 * A unit record has at most 512 parts of 512 bytes. A write of n bytes changes at most n / 256 KiB
 * + 2 units and n / 4 KiB + 2 pages, whatever else the content holds. */
#ifndef LAGRA_CONTENT_SPARSE_H
#define LAGRA_CONTENT_SPARSE_H

#include "content/backlog.h"
#include "content/window.h"

#define PAGE_BYTES        (4u << 10)
#define UNIT_BYTES        (256u << 10)
#define PAGES_OF_UNIT     (UNIT_BYTES / PAGE_BYTES)
#define HOLES_MAX         16u
#define GENERATION_NEWEST UINT32_MAX
#define SPARSE_PREFIX     9  /* of a key: kind, id */
#define SPARSE_NUMBER_END 17 /* kind, id, number */
#define SPARSE_KEY_SIZE   21
#define CHANGED_KEY_SIZE  21

enum sparse_kind { SPARSE_PAGE = 'p', SPARSE_UNIT = 'x' };

/* Bytes written by one change, or a piece of them. */
struct part {
    uint64_t start, end; /* offsets in the content */
    uint64_t stamp;
    const char *bytes;         /* in memory, or */
    const struct piece *piece; /* in a piece, from piece_offset */
    uint32_t piece_offset;
};

/* Parts in order of their offsets, without overlap. */
struct parts {
    struct arena *arena;
    struct part *items;
    size_t count, capacity;
};
void parts_cut(struct parts *parts, uint64_t start, uint64_t end);
/* Takes the place of what was there. */
void parts_insert(struct parts *parts, const struct part *part);
/* Adds the part behind all others. */
void parts_append(struct parts *parts, const struct part *part);

struct hole {
    uint64_t start, end, stamp;
    uint32_t epoch;
};

/* A content as one of its generations sees it: content->epoch. */
struct sparse_view {
    struct snapshot *before;
    struct arena *arena;
    const struct content *content;
    struct hole holes[HOLES_MAX];
    size_t hole_count;
};
/* Reads the holes. */
enum store_result sparse_view_open(struct snapshot *before, struct arena *arena,
                                   const struct content *content, struct sparse_view *ret_view);
/* Cuts what was written before the hole. */
void sparse_cut_hole(const struct hole *hole, struct parts *parts);
/* Cuts what the holes of the view cover. */
void sparse_cut_holes(const struct sparse_view *view, struct parts *parts);

/* One version of a page or unit. */
struct version {
    bool found;
    uint32_t epoch;
    struct parts parts; /* before holes are cut */
};
/* The version that the view sees. */
enum store_result sparse_version(const struct sparse_view *view, enum sparse_kind kind,
                                 uint64_t number, struct version *ret_version);
/* All parts of a unit in the view: of its own record and its pages'. */
enum store_result sparse_unit(const struct sparse_view *view, uint64_t unit,
                              struct parts *ret_parts);
/* Those of [start, end), whole pages of the unit. */
enum store_result sparse_unit_part(const struct sparse_view *view, uint64_t unit, uint64_t start,
                                   uint64_t end, struct parts *ret_parts);
/* The first unit from `unit` on that has a record of any epoch.
 * returns STORE_NOT_FOUND: none has */
enum store_result sparse_next_unit(const struct sparse_view *view, uint64_t unit,
                                   uint64_t *ret_unit);
/* The first page or unit from `number` to `last` that has a record of any epoch. */
enum store_result sparse_next_number(const struct sparse_view *view, enum sparse_kind kind,
                                     uint64_t number, uint64_t last, uint64_t *ret_number);

/* ---- records ---- */

bool sparse_decode(const struct record *record, struct arena *arena, struct version *ret_version);
/* Parts of a page that lie together and were written after joins_above become one. */
void sparse_put(struct changes *changes, uint64_t id, enum sparse_kind kind, uint64_t number,
                uint32_t epoch, uint64_t joins_above, const struct parts *parts);
/* The key of a version; returns it in `room`. */
struct bytes sparse_key(uint64_t id, enum sparse_kind kind, uint64_t number, uint32_t epoch,
                        char room[SPARSE_KEY_SIZE]);
/* Releases the pieces that a version's record refers to. */
void sparse_release(struct changes *changes, const struct version *version);
/* Notes that the unit was changed in the epoch (sparse invariant 3). */
void sparse_mark_changed(struct changes *changes, uint64_t id, uint32_t epoch, uint64_t unit);
struct bytes sparse_changed_key(uint64_t id, uint32_t epoch, uint64_t unit,
                                char room[CHANGED_KEY_SIZE]);
void sparse_put_holes(struct changes *changes, uint64_t id, const struct hole *holes, size_t count);
enum store_result sparse_read_holes(struct snapshot *before, struct arena *arena, uint64_t id,
                                    struct hole holes[HOLES_MAX], size_t *ret_count);
bool sparse_decode_holes(struct bytes value, uint64_t id, struct hole holes[HOLES_MAX],
                         size_t *ret_count);

/* ---- generations ---- */

struct neighbours {
    bool has_older, has_newer;
    uint32_t older, newer; /* kept generations; GENERATION_NEWEST */
};
/* The kept generations around a number that is not kept. */
enum store_result sparse_neighbours(struct snapshot *before, uint64_t id, uint32_t generation,
                                    struct neighbours *ret_neighbours);
/* Work that content_collect() does for BACKLOG_GENERATION and BACKLOG_HOLE. */
enum store_result sparse_collect_generation(struct snapshot *before, struct changes *changes,
                                            struct backlog *backlog, struct budget *budget);
enum store_result sparse_collect_hole(struct snapshot *before, struct changes *changes,
                                      struct backlog *backlog, struct budget *budget);

#endif
