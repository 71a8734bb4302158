/* The bytes of a blob, on the records and pieces of its partition.
 *
 * A content is immutable once committed and has an id unique in its partition (the ticks of the
 * change that made it). Its map is a sequence of segments, each one INNER record of bounded size,
 * in order of the bytes (segment.h has the form). The key of a segment says where it ENDS, so the
 * one that holds offset x is the first record after x, and the last one is read without a scan.
 *
 * The bytes of a block are stored once, as a run: segments of pieces under an id of their own. A
 * map refers to a run by its id, so what a list of blocks costs depends on the number of its
 * blocks, not on their lengths, and a block may be named any number of times. A block of at most
 * BLOCK_INLINE_MAX bytes has no run: its bytes are copied into the map.
 *
 * Base blob and snapshots share a content by id; how many hold it is a record when they are more
 * than one (content_holders.c). Contents of one blob may also share runs (content_chain.c).
 *
 * What a change leaves behind is deleted in the same commit when it is little. The rest is noted in
 * the partition, and content_collect() deletes it in steps of bounded size (content_collect.c).
 *
 * The INNER record keys of a blob's partition that begin with c, k, K, n, q and r are this room's.
 * A body may have STORE_INLINE_BYTES inline. A record of this room has at
 * most that much of one body, and 48 KiB more; what one commit has grows with the number of blocks
 * that it names, about 100 bytes and its id for each, and what lies inline.
 *
 * All but the reader runs inside decide: it reads a snapshot, adds to changes, never waits for a
 * write. Stored data that makes no sense is STORE_CORRUPT, logged here; so is a map with a part
 * missing: STORE_NOT_FOUND is returned only where a line below says so. Every function that reads
 * returns STORE_WAIT as the store does. Any thread. */
#ifndef LAGRA_CONTENT_CONTENT_H
#define LAGRA_CONTENT_CONTENT_H

#include "base/errors.h"
#include "store/piece.h"

/* So small because 50,000 of them are in memory at once when a list of them is committed. An engine
 * may ask for less. */
#define BLOCK_INLINE_MAX         256u
/* rest: Put-Block-List, "Remarks" */
#define CONTENT_BLOCKS_MAX       50000u
/* Of a stored block, far more than any operation takes: the blocks of one content can be summed. */
#define CONTENT_BLOCK_LENGTH_MAX ((uint64_t)INT64_MAX / CONTENT_BLOCKS_MAX)

enum content_form {
    CONTENT_SEQUENCE, /* immutable: made of a body or of blocks */
    CONTENT_SPARSE,   /* overwritten in place */
};

/* As a blob's record holds it. length 0 with id 0: empty, no records. */
struct content {
    uint64_t id;
    uint64_t length;
    uint32_t block_count; /* committed blocks; 0 for Put Blob */
    /* What is known of it without a read. False is always right, and costs the read. */
    bool is_alone;       /* it has one holder */
    bool without_pieces; /* of Put Blob: it lies inline */
    /* Exact. */
    bool has_runs;    /* its map refers to runs */
    bool in_chain;    /* other contents may refer to the same runs */
    bool is_appended; /* made by content_append() */

    /* The rest is of a sparse content only, and all 0 in others. */
    enum content_form form;
    bool has_units, has_holes; /* it may have such records (sparse.h) */
    bool without_pages;        /* it has none of those; false is always right, and costs a look */
    uint32_t epoch;            /* which generation this is */
    uint32_t kept;             /* 1 + the newest older generation that is kept; 0: none is */
    uint64_t stamp;            /* of its last change */
    uint64_t sealed_at;        /* stamp of the newest older generation; 0: there never was one */
};

/* Longer than any operation makes one, and still far from where lengths cannot be added. */
#define CONTENT_EPOCHS_MAX (UINT32_MAX - 1) /* generations of a sparse content */
#define CONTENT_LENGTH_MAX ((uint64_t)INT64_MAX / 2)
/* Do its fields fit together? For what is read from a record: all functions here may assert it. */
bool content_is_valid(const struct content *content);

/* Bytes that arrived with a request: in memory, or staged as pieces. */
struct body {
    uint64_t length;
    struct bytes inline_bytes;  /* when length is at most STORE_INLINE_BYTES */
    const struct piece *pieces; /* else; in order */
    size_t piece_count;
    struct stage *stage; /* where they were staged; closed by the exchange */
    uint8_t md5[16];
    uint64_t crc64;
};

/* A new content of one run of bytes (Put Blob). id: the ticks of the change, not 0. */
struct content content_from_body(struct changes *changes, uint64_t id, const struct body *body);

/* A block: in a list of committed blocks, or waiting to be named by one. */
struct content_block {
    struct bytes block_id; /* base64 text as the client gave it */
    uint64_t length;
    uint64_t run;               /* not 0: its bytes are this run */
    struct bytes inline_bytes;  /* when run and piece_count are 0 */
    const struct piece *pieces; /* of a committed block of a blob that is a copy */
    size_t piece_count;
};

/* Stores the bytes of a block, as a run or inline; its block_id is absent.
 * run: an id that no other run of the partition has or had (the ticks of the change), not 0. */
struct content_block content_block_from_body(struct changes *changes, uint64_t run,
                                             const struct body *body);
/* Deletes a run that no content refers to. run: of a block; 0: the block has none. */
enum store_result content_run_delete(struct snapshot *before, struct changes *changes,
                                     uint64_t run);

/* Deletes the runs of `blocks` that none of `named` refers to. Many are left to content_collect();
 * id: unique in the partition among calls of this function. */
enum store_result content_delete_unnamed(struct snapshot *before, struct changes *changes,
                                         struct arena *arena, uint64_t id,
                                         const struct content_block *blocks, size_t count,
                                         const struct content_block *named, size_t named_count,
                                         bool *ret_more);

/* A new content made of blocks (Put Block List), in order; at most CONTENT_BLOCKS_MAX. */
struct content content_from_blocks(struct changes *changes, uint64_t id,
                                   const struct content_block *blocks, size_t count);

/* `holders` (1 or more) holders more (Snapshot Blob). From now on no record of a holder may say that it is alone. Once for
 * a content in one list of changes, as content_unref(). */
enum store_result content_ref(struct snapshot *before, struct changes *changes, struct arena *arena,
                              struct content *content, uint32_t holders);
/* `holders` (1 or more) holders less; the last one deletes the map, the pieces and the runs that no
 * other content refers to. Once for a content in one list of changes: it reads the count as it was
 * before (Delete Blob ends the base and snapshots of one content together).
 * ret_more: set to true when something was left for content_collect(), else unchanged. */
enum store_result content_unref(struct snapshot *before, struct changes *changes,
                                struct arena *arena, const struct content *content,
                                uint32_t holders, bool *ret_more);
/* One holder of `old` less, whose place `content` takes, made in the same changes of `blocks`:
 * their runs stay. *content is brought up to date. */
enum store_result content_replace(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, const struct content *old,
                                  struct content *content, const struct content_block *blocks,
                                  size_t count, bool *ret_more);

/* `content`, made in the same changes of `blocks`, takes the place of *old with its holder, and *old goes to another
 * one: neither is held once more or less. Both are brought up to date, to be written. No read. */
void content_share(struct changes *changes, struct arena *arena, struct content *old,
                   struct content *content, const struct content_block *blocks, size_t count);

/* Bytes at the end of a sequence (Append Block), in records of their own: nothing that is there is
 * written again. id: of the content, if it has none yet. Snapshots (content_ref()) keep the length
 * that they have. */
void content_append(struct changes *changes, uint64_t id, struct content *content,
                    const struct body *body);
/* Deletes what was appended behind `length`, the longest that a holder has after the newest one
 * gave up. Only on a content whose newest holder is gone. */
void content_delete_tail(struct changes *changes, const struct content *content, uint64_t length,
                         bool *ret_more);

/* Deletes some of what earlier changes of the partition left, in about `records` records. Any
 * number of calls, in any order with other changes.
 * ret_more: there is more. */
enum store_result content_collect(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, size_t records, bool *ret_more);
/* Leaves to content_collect() the INNER records whose keys begin with `prefix`, no more of which
 * will be written. Each holds a block, as content_block_encode() wrote it. id: unique in the
 * partition among calls of this function.
 * with_runs: their runs and pieces are deleted too. */
void content_leave_blocks(struct changes *changes, uint64_t id, struct bytes prefix,
                          bool with_runs);

/* A block as the value of a record, without its id; it has no pieces. */
void content_block_encode(struct text *out, const struct content_block *block);
/* inline_bytes point into the value. */
bool content_block_decode(const struct record *record, struct content_block *ret_block);

/* All committed blocks in order (Get Block List, Put Block List); array in the arena. */
enum store_result content_blocks(struct snapshot *before, struct arena *arena,
                                 const struct content *content, struct content_block **ret_blocks,
                                 size_t *ret_count);

/* ---- sparse contents: page blobs, files ---- */

/* A sparse content maps offsets up to its length to bytes; what was never written, or was cleared,
 * is a hole and reads as zeros. A snapshot of it is a generation: it costs one record, whatever the
 * content holds, and costs later changes nothing but the room for what they overwrite. The work of
 * a change depends on what it changes, never on the size of the content (sparse.h has the numbers).
 *
 * stamp: rises with each change of the content (the ticks of the change); that of the first may be
 * the id. After an error nothing of *content has changed. */

/* A hole of this length; no records. */
struct content content_sparse(uint64_t id, uint64_t length);
/* Writes bytes at any offset; beyond the end, the content grows. */
enum store_result content_write(struct snapshot *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, const struct body *body);
struct content_range {
    uint64_t start, end;
    bool is_hole; /* of a difference: it had bytes and has none now */
};
/* Writes many ranges within the content in one change, which may not change it otherwise: the bytes
 * of the body, one range after another, and holes. Ranges: in order, none overlaps another. */
enum store_result content_write_ranges(struct snapshot *before, struct changes *changes,
                                       struct content *content, uint64_t stamp,
                                       const struct body *body, const struct content_range *ranges,
                                       size_t count);
/* Makes a range within the content a hole. A large one takes effect at once, and its records are
 * left to content_collect(); of these few may be pending: STORE_SHORTAGE, try later. */
enum store_result content_clear(struct snapshot *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, uint64_t length, bool *ret_more);
/* Makes a range within the content read as zeros: whole units of `unit` bytes, and what reaches to the
 * end of the content, become a hole, the rest has bytes. As content_clear().
 * unit: divides 4,096 */
enum store_result content_zero(struct snapshot *before, struct changes *changes,
                               struct arena *arena, struct content *content, uint64_t stamp,
                               uint64_t offset, uint64_t length, uint32_t unit, bool *ret_more);
/* Cuts the content, or lets it grow by a hole. As content_clear(). */
enum store_result content_resize(struct snapshot *before, struct changes *changes,
                                 struct arena *arena, struct content *content, uint64_t stamp,
                                 uint64_t length, bool *ret_more);
/* Keeps the content as it is now: what is returned stays readable while *content changes on. */
struct content content_snapshot(struct changes *changes, struct content *content);
/* Deletes a snapshot. newest: the content it was taken of, brought up to date; NULL: it is gone. */
enum store_result content_snapshot_delete(struct snapshot *before, struct changes *changes,
                                          const struct content *snapshot, struct content *newest,
                                          bool *ret_more);
/* Deletes the newest generation; snapshots stay. A short content that no snapshot was taken of goes at once. */
void content_newest_delete(struct changes *changes, const struct content *newest, bool *ret_more);

/* A page of a list of ranges. */
struct content_ranges {
    struct content_range *ranges; /* in the arena */
    size_t count;
    uint64_t next; /* where to go on; UINT64_MAX: the list is at its end */
};
/* Ranges with bytes in [start, end), joined where they touch: at most `max`. Also ends, with *next
 * set, after 10,000 ranges, and when it has looked at some thousand records. Takes room in the
 * arena for the ranges alone. */
enum store_result content_ranges(struct snapshot *before, struct arena *arena,
                                 const struct content *content, uint64_t start, uint64_t end,
                                 size_t max, struct content_ranges *ret_ranges);
/* The same of what differs: written, or cleared, after the generation `older` was kept. Looks only
 * at what changed since. older: a snapshot of the same content that is not newer than `content`. */
enum store_result content_difference(struct snapshot *before, struct arena *arena,
                                     const struct content *older, const struct content *content,
                                     uint64_t start, uint64_t end, size_t max,
                                     struct content_ranges *ret_ranges);

/* ---- reading while sending ---- */

/* A range of a content, to be sent: holds its own snapshot of the partition open, and one segment
 * of the map in memory at a time. Belongs to one thread at a time. */
struct content_reader;
/* Takes over `snapshot` (closed by content_reader_close). offset + length: within the content.
 * The reader lies in `arena`, and so does the map of a content that surely has one segment. */
struct content_reader *content_reader_open(struct store *store, struct snapshot *snapshot,
                                           struct arena *arena, const struct content *content,
                                           uint64_t offset, uint64_t length);
/* Checks the first bytes before a head is sent, so that damage is an error and not a cut
 * connection. Only before the first read, while the range has a byte.
 *
 * ret_file     NULL: the caller has no use for it; the range is to be read
 * ret_in_file  true: the whole range, of moderate length, lies in one range of a file and was
 *              checked; *ret_file is set: send from there. Its descriptor is the reader's own, open
 *              until it is closed
 *              false: read it
 * returns      STORE_OK, STORE_WAIT (call again when woken), STORE_CORRUPT, STORE_IO */
enum store_result content_reader_begin(struct content_reader *reader, struct waiter *waiter,
                                       struct piece_file *ret_file, bool *ret_in_file);
/* Whether what was set by content_reader_begin() can be sent from the file now, `length` bytes from `offset`
 * of the range: checks what has left memory since.
 * returns STORE_OK, STORE_WAIT (call again when woken), STORE_CORRUPT, STORE_IO */
enum store_result content_reader_check(const struct content_reader *reader, uint64_t offset,
                                       uint64_t length, struct waiter *waiter);
/* Next 1..max bytes, in order; 0 only at the end of the range.
 *
 * waiter   NULL: the call waits for the disk itself
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO
 *          STORE_WAIT  nothing was read, waiter will be woken; call again with the same max */
enum store_result content_reader_read(struct content_reader *reader, char *to, size_t max,
                                      struct waiter *waiter, size_t *ret_count);
/* After STORE_WAIT of one of the two above: true when what is missing is a part of the map, which
 * was not in memory. Then no waiter was armed: content_reader_load() gets it. */
bool content_reader_lacks_map(const struct content_reader *reader);
/* Reads that part, and looks at those that follow, so that a large content is not waited for part
 * by part; waits for the disk itself.
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO */
enum store_result content_reader_load(struct content_reader *reader);
/* Goes on with another range of the content, which does not begin before what was read last. Of a
 * reader that content_reader_begin() was not called for. */
void content_reader_move(struct content_reader *reader, uint64_t offset, uint64_t length);
/* content_ranges() of its content, or content_difference() to an older one, in its snapshot. */
enum store_result content_reader_ranges(struct content_reader *reader, struct arena *arena,
                                        const struct content *older, uint64_t start, uint64_t end,
                                        size_t max, struct content_ranges *ret_ranges);
void content_reader_close(struct content_reader *reader);

#endif
