/* The bytes of a blob, stored in records and pieces of its partition.
 *
 * A content is immutable once committed and has an id unique in its partition (the ticks of the
 * change that created it). Its map is a sequence of segments, each one INNER record of bounded
 * size, in order of the bytes (format in segment.h). The key of a segment contains its END offset,
 * so the segment with offset x is the first record after x, and the last one is read without a
 * scan.
 *
 * The bytes of a block are stored once, as a run: segments of pieces under an id of their own. A
 * map refers to a run by id, so the cost of a block list depends on the number of its blocks, not
 * on their lengths, and a block may be listed any number of times. A block of at most
 * BLOCK_INLINE_MAX bytes has no run: its bytes are copied into the map.
 *
 * Base blob and snapshots share content by id; if there is more than one holder, a record has
 * their number (content_holders.c). Contents of one blob may also share runs (content_run.c).
 *
 * Small amounts of unreferenced data are deleted in the same commit. Larger ones are recorded in
 * the partition, and content_collect() deletes them in steps of bounded size (content_collect.c).
 *
 * This module owns the INNER record keys of a blob's partition that start with c, k, K, n, q and r.
 * A body may have STORE_INLINE_BYTES inline. A record has at most that much of one body, and 48 KiB
 * more; a commit grows with the number of blocks listed, about 100 bytes and the id for each, and
 * with the inline bytes.
 *
 * Everything except the reader runs inside decide: it reads a snapshot, adds to changes, and never
 * waits for a write. Corrupt data is STORE_CORRUPT, logged here; so is an incomplete map:
 * STORE_NOT_FOUND is returned only where documented below. Every function that reads may return
 * STORE_WAIT like the store. Thread-safe. */
#ifndef LAGRA_CONTENT_CONTENT_H
#define LAGRA_CONTENT_CONTENT_H

#include "base/errors.h"
#include "store/piece.h"

/* Small because up to 50,000 of them are in memory when a block list is committed. */
#define BLOCK_INLINE_MAX         256u
/* rest: Put-Block-List, "Remarks" */
#define CONTENT_BLOCKS_MAX       50000u
/* Maximum length of a stored block, far above any operation's limit, so that the lengths of the
 * content's blocks can be added without overflow. */
#define CONTENT_BLOCK_LENGTH_MAX ((uint64_t)INT64_MAX / CONTENT_BLOCKS_MAX)

enum content_form {
    CONTENT_SEQUENCE, /* immutable: created from a body or from blocks */
    CONTENT_SPARSE,   /* overwritten in place */
};

/* As stored in a blob's record. length 0 with id 0: empty, no records. */
struct content {
    uint64_t id;
    uint64_t length;
    uint32_t block_count; /* committed blocks; 0 for Put Blob */
    /* Hints that save a read. False is always correct. */
    bool is_alone;       /* it has one holder */
    bool without_pieces; /* of Put Blob: the bytes are inline */
    /* Exact. */
    bool has_runs;    /* its map refers to runs */
    bool in_chain;    /* other contents may refer to the same runs */
    bool is_appended; /* created by content_append() */

    /* Used for sparse contents only, otherwise 0. */
    enum content_form form;
    bool has_units, has_holes; /* such records may exist (sparse.h) */
    /* no page records exist; false is always correct, but costs a read */
    bool without_pages;
    uint32_t epoch;     /* current generation */
    uint32_t kept;      /* 1 + the newest older generation that is retained; 0 if none is */
    uint64_t stamp;     /* of the last change */
    uint64_t sealed_at; /* stamp of the newest older generation; 0 if there never was one */
};

/* More than any operation allows, and small enough for adding lengths. */
#define CONTENT_EPOCHS_MAX (UINT32_MAX - 1) /* maximum generations of sparse content */
#define CONTENT_LENGTH_MAX ((uint64_t)INT64_MAX / 2)
/* Returns true if the fields are consistent. Used for decoded records; all functions here may
 * assert it. */
bool content_is_valid(const struct content *content);

/* The body of a request, in memory or staged as pieces. */
struct body {
    uint64_t length;
    struct bytes inline_bytes;  /* if length is at most STORE_INLINE_BYTES */
    const struct piece *pieces; /* otherwise; in order */
    size_t piece_count;
    struct stage *stage; /* where the pieces were staged; closed by the exchange */
    uint8_t md5[16];
    uint64_t crc64;
};

/* Creates content from a body (Put Blob). id: the ticks of the change, not 0. */
struct content content_from_body(struct changes *changes, uint64_t id, const struct body *body);

/* A block: committed, or uncommitted. */
struct content_block {
    struct bytes block_id; /* base64 text as sent by the client */
    uint64_t length;
    uint64_t run;               /* run with its bytes, if not 0 */
    struct bytes inline_bytes;  /* if run and piece_count are 0 */
    const struct piece *pieces; /* for a committed block of a copied blob */
    size_t piece_count;
};

/* Stores the bytes of a block, as a run or inline; its block_id is absent. run: an id never used
 * for a run in this partition (the ticks of the change), not 0. */
struct content_block content_block_from_body(struct changes *changes, uint64_t run,
                                             const struct body *body);
/* Deletes a run that no content refers to. run: of a block; 0 if the block has none. */
enum store_result content_run_delete(struct read_view *before, struct changes *changes,
                                     uint64_t run);

/* Deletes the runs of `blocks` that no block in `named` refers to. If there are many, leaves them
 * to content_collect(). id: unique in the partition among calls of this function. */
enum store_result content_delete_unnamed(struct read_view *before, struct changes *changes,
                                         struct arena *arena, uint64_t id,
                                         const struct content_block *blocks, size_t count,
                                         const struct content_block *named, size_t named_count,
                                         bool *ret_more);

/* Creates content from at most CONTENT_BLOCKS_MAX blocks in order (Put Block List). */
struct content content_from_blocks(struct changes *changes, uint64_t id,
                                   const struct content_block *blocks, size_t count);

/* Adds `holders` (1 or more) holders (Snapshot Blob). Afterwards no holder's record may have
 * is_alone set. Like content_unref(), at most once per content in a list of changes. */
enum store_result content_ref(struct read_view *before, struct changes *changes,
                              struct arena *arena, struct content *content, uint32_t holders);
/* Removes `holders` (1 or more) holders; the last one deletes the map, the pieces and the runs that
 * no other content refers to. At most once per content in a list of changes, because it reads the
 * count from the state before (Delete Blob removes the base and snapshots of content together).
 * ret_more: set to true if content_collect() has work left, else unchanged. */
enum store_result content_unref(struct read_view *before, struct changes *changes,
                                struct arena *arena, const struct content *content,
                                uint32_t holders, bool *ret_more);
/* Removes a holder of `old`, which `content`, created in the same changes from `blocks`, replaces:
 * the runs of the blocks are retained. Updates *content. */
enum store_result content_replace(struct read_view *before, struct changes *changes,
                                  struct arena *arena, const struct content *old,
                                  struct content *content, const struct content_block *blocks,
                                  size_t count, bool *ret_more);

/* Lets `content`, created in the same changes from `blocks`, replace *old for its holder, while
 * *old gets another holder, so that neither count changes. Updates both, which must then be
 * written. Reads nothing. */
void content_share(struct changes *changes, struct arena *arena, struct content *old,
                   struct content *content, const struct content_block *blocks, size_t count);

/* Appends bytes to a sequence (Append Block) in new records, without rewriting existing ones. id:
 * of the content, if it has none yet. Snapshots (content_ref()) keep their length. */
void content_append(struct changes *changes, uint64_t id, struct content *content,
                    const struct body *body);
/* Appends the bytes of blocks, whose runs become the content's. They are not blocks of the
 * content. */
void content_append_blocks(struct changes *changes, uint64_t id, struct content *content,
                           const struct content_block *blocks, size_t count);
/* Deletes appended bytes after `length`, the greatest length of the remaining holders. Only for
 * content whose newest holder was removed. id: unique in the partition among calls of this function
 * and of content_delete_unnamed(). */
enum store_result content_delete_tail(struct read_view *before, struct changes *changes,
                                      struct arena *arena, uint64_t id,
                                      const struct content *content, uint64_t length,
                                      bool *ret_more);

/* Deletes data left by earlier changes of the partition, about `records` records. May be called any
 * number of times, interleaved with other changes. ret_more: set if there is more. */
enum store_result content_collect(struct read_view *before, struct changes *changes,
                                  struct arena *arena, size_t records, bool *ret_more);
/* Leaves to content_collect() the INNER records whose keys start with `prefix`, of which no more
 * will be written. Each contains a block encoded by content_block_encode(). id: unique in the
 * partition among calls of this function. with_runs: also deletes their runs and pieces. */
void content_leave_blocks(struct changes *changes, uint64_t id, struct bytes prefix,
                          bool with_runs);

/* Encodes a block without its id as a record value; it must have no pieces. */
void content_block_encode(struct text *out, const struct content_block *block);
/* Decodes a block; inline_bytes point into the value. */
bool content_block_decode(const struct record *record, struct content_block *ret_block);

/* Returns all committed blocks in order (Get Block List, Put Block List), in the arena: with the
 * number of pieces, but without the pieces. */
enum store_result content_blocks(struct read_view *before, struct arena *arena,
                                 const struct content *content, struct content_block **ret_blocks,
                                 size_t *ret_count);
/* Reads the pieces of the blocks of content_blocks() selected by `wanted`. */
enum store_result content_block_pieces(struct read_view *before, struct arena *arena,
                                       const struct content *content, struct content_block *blocks,
                                       const bool *wanted);

/* ---- sparse contents: page blobs, files ---- */

/* A sparse content maps offsets up to its length to bytes; ranges never written, or cleared, are
 * holes that read as zeros. A snapshot of it is a generation. It costs one record, whatever the
 * content's size, and later changes only the space of the data they overwrite. The cost of a change
 * depends on its size, never on the size of the content (sparse.h has the numbers).
 *
 * stamp: increases with each change of the content (the ticks of the change); the first may equal
 * the id. After an error *content is unchanged. */

/* Creates content that is a hole of this length, without records. */
struct content content_sparse(uint64_t id, uint64_t length);
/* Writes bytes at any offset; extends the content if they are beyond the end. */
enum store_result content_write(struct read_view *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, const struct body *body);
struct content_range {
    uint64_t start, end;
    bool is_hole; /* in a difference: had bytes and has none now */
};
/* Writes many ranges within the content in one change, which must contain no other change of it:
 * the bytes of the body, one range after another, and holes. Ranges must be sorted and not
 * overlap. */
enum store_result content_write_ranges(struct read_view *before, struct changes *changes,
                                       struct content *content, uint64_t stamp,
                                       const struct body *body, const struct content_range *ranges,
                                       size_t count);
/* Makes a range within the content a hole. A large one takes effect at once, but its records are
 * left to content_collect(). Only a few may be pending; beyond that, returns STORE_SHORTAGE: retry
 * later. */
enum store_result content_clear(struct read_view *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, uint64_t length, bool *ret_more);
/* Zeroes a range within the content: complete units of `unit` bytes, and a range that reaches the
 * end of the content, become a hole; the rest gets zero bytes. Like content_clear(). unit: divides
 * 4,096. */
enum store_result content_zero(struct read_view *before, struct changes *changes,
                               struct arena *arena, struct content *content, uint64_t stamp,
                               uint64_t offset, uint64_t length, uint32_t unit, bool *ret_more);
/* Truncates the content, or extends it by a hole. Like content_clear(). */
enum store_result content_resize(struct read_view *before, struct changes *changes,
                                 struct arena *arena, struct content *content, uint64_t stamp,
                                 uint64_t length, bool *ret_more);
/* Creates a snapshot: the returned content remains readable while *content changes. */
struct content content_snapshot(struct changes *changes, struct content *content);
/* Deletes a snapshot. newest: the content it was taken of, which is updated; NULL if deleted. */
enum store_result content_snapshot_delete(struct read_view *before, struct changes *changes,
                                          const struct content *snapshot, struct content *newest,
                                          bool *ret_more);
/* Deletes the newest generation, but not its snapshots. A short content without snapshots is
 * deleted at once. */
void content_newest_delete(struct changes *changes, const struct content *newest, bool *ret_more);

/* A page of a list of ranges. */
struct content_ranges {
    struct content_range *ranges; /* in the arena */
    size_t count;
    uint64_t next; /* where to continue; UINT64_MAX at the end of the list */
};
/* Returns up to `max` ranges with bytes in [start, end), merging adjacent ones. Also stops, with
 * *next set, after 10,000 ranges or after reading some thousand records. Uses the arena only for
 * the ranges. */
enum store_result content_ranges(struct read_view *before, struct arena *arena,
                                 const struct content *content, uint64_t start, uint64_t end,
                                 size_t max, struct content_ranges *ret_ranges);
/* Like content_ranges(), for ranges written or cleared after the generation `older`. Reads only
 * what changed since. older: a snapshot of the same content, not newer than `content`. */
enum store_result content_difference(struct read_view *before, struct arena *arena,
                                     const struct content *older, const struct content *content,
                                     uint64_t start, uint64_t end, size_t max,
                                     struct content_ranges *ret_ranges);

/* ---- reading while sending ---- */

/* Reads a range of content to be sent. Has its own snapshot of the partition open, and one segment
 * of the map in memory. Belongs to one thread at a time. */
struct content_reader;
/* Takes ownership of `snapshot` (closed by content_reader_close()). offset + length: within the
 * content. The reader is in `arena`, and so is the map of content known to have one segment. */
struct content_reader *content_reader_open(struct store *store, struct read_view *snapshot,
                                           struct arena *arena, const struct content *content,
                                           uint64_t offset, uint64_t length);
/* Checks the first bytes before the response header is sent, so that corruption is an error and not
 * a dropped connection. Only before the first read, while the range has a byte.
 *
 * ret_file     NULL: the caller will read the range
 * ret_in_file  true: the entire range, of moderate length, is contiguous in one file and was
 *              checked; send it from *ret_file, whose descriptor belongs to the reader
 *              false: read it
 * returns      STORE_OK, STORE_WAIT (call again when woken), STORE_CORRUPT, STORE_IO */
enum store_result content_reader_begin(struct content_reader *reader, struct waiter *waiter,
                                       struct piece_file *ret_file, bool *ret_in_file);
/* Checks whether `length` bytes from `offset` of the file range set by content_reader_begin() can
 * be sent now: verifies data that has left memory since. Returns STORE_OK, STORE_WAIT (call again
 * when woken), STORE_CORRUPT, STORE_IO. */
enum store_result content_reader_check(const struct content_reader *reader, uint64_t offset,
                                       uint64_t length, struct waiter *waiter);
/* Reads the next 1..max bytes in order; 0 only at the end of the range.
 *
 * waiter   NULL: blocks for the disk
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO
 *          STORE_WAIT  nothing was read, waiter will be woken; call again with the same max */
enum store_result content_reader_read(struct content_reader *reader, char *to, size_t max,
                                      struct waiter *waiter, size_t *ret_count);
/* Returns true after STORE_WAIT of the two functions above if a part of the map was not in memory.
 * Then no waiter was armed; content_reader_load() loads it. */
bool content_reader_lacks_map(const struct content_reader *reader);
/* Loads that part, and reads ahead, so that a large content does not wait for each part; blocks for
 * the disk. Returns STORE_OK, STORE_CORRUPT, STORE_IO. */
enum store_result content_reader_load(struct content_reader *reader);
/* Continues with another range of the content, which must not start before the last byte read. Not
 * for a reader on which content_reader_begin() was called. */
void content_reader_move(struct content_reader *reader, uint64_t offset, uint64_t length);
/* Calls content_ranges() for the reader's content, or content_difference() to an older one, in its
 * snapshot. */
enum store_result content_reader_ranges(struct content_reader *reader, struct arena *arena,
                                        const struct content *older, uint64_t start, uint64_t end,
                                        size_t max, struct content_ranges *ret_ranges);
void content_reader_close(struct content_reader *reader);

#endif
