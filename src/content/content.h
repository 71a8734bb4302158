/* Content: the bytes of a blob or file, stored in records and pieces of its partition.
 *
 * Content is immutable once committed. Its id (the ticks of the change that created it) is unique
 * in its partition. Its map is a sequence of segments in the order of the bytes, each an INNER
 * record of bounded size (format: segment.h). The key of a segment contains its end offset. The
 * segment that contains offset x is therefore the first record after x, and the last segment can be
 * read without a scan.
 *
 * The bytes of a block are stored once, as a run: segments of pieces with their own id. A map
 * refers to a run by id, so the cost of a block list depends on the number of blocks, not on their
 * lengths, and may list a block any number of times. A block of at most BLOCK_INLINE_MAX bytes has
 * no run; its bytes are copied into the map.
 *
 * A base blob and its snapshots share content by id. If it has more than one holder, a record
 * contains their number (content_holders.c). Different contents of one blob may also share runs
 * (content_run.c).
 *
 * A small amount of unreferenced data is deleted in the commit that removes the last reference. A
 * larger amount is recorded in the partition and deleted later by content_collect(), in steps of
 * bounded size (content_collect.c).
 *
 * This module owns the INNER record keys of a blob's partition that start with c, k, K, n, q and r.
 * At most STORE_INLINE_BYTES of a body are stored inline. A record contains at most that much of
 * one body, plus at most 48 KiB. A commit contains the inline bytes, plus about 100 bytes and the
 * id for each listed block.
 *
 * All functions except those of the reader run in decide functions: they read from a snapshot, add
 * to a list of changes, and never wait for a write. Corrupt data, including an incomplete map, is
 * logged here and returned as STORE_CORRUPT; STORE_NOT_FOUND is returned only where documented
 * below. Like the store, every function that reads may return STORE_WAIT. Thread-safe. */
#ifndef LAGRA_CONTENT_CONTENT_H
#define LAGRA_CONTENT_CONTENT_H

#include "base/errors.h"
#include "store/piece.h"

/* Small, because up to 50,000 inline blocks are in memory when a block list is committed. */
#define BLOCK_INLINE_MAX         256u
/* rest: Put-Block-List, "Remarks" */
#define CONTENT_BLOCKS_MAX       50000u
/* Maximum length of a stored block: above any operation's limit, but small enough that the sum of
 * the lengths of a content's blocks cannot overflow. */
#define CONTENT_BLOCK_LENGTH_MAX ((uint64_t)INT64_MAX / CONTENT_BLOCKS_MAX)

enum content_form {
    CONTENT_SEQUENCE, /* immutable, created from a body or from blocks */
    CONTENT_SPARSE,   /* overwritten in place */
};

/* Description of content, as stored in a blob's record. With id and length 0, it is empty and has
 * no records. */
struct content {
    uint64_t id;
    uint64_t length;
    uint32_t block_count; /* committed blocks; 0 for Put Blob */
    /* Hints, each of which saves a read; false is always safe. */
    bool is_alone;       /* has only one holder */
    bool without_pieces; /* created by Put Blob with inline bytes */
    /* The following fields are exact, not hints. */
    bool has_runs;    /* its map refers to runs, or content_expect_runs() was called */
    bool in_chain;    /* other content may refer to the same runs */
    bool is_appended; /* created by content_append() */

    /* Used only for sparse content, otherwise 0. */
    enum content_form form;
    bool has_units, has_holes; /* unit records and hole records may exist (sparse.h) */
    /* no page records exist; false is always safe but costs a read */
    bool without_pages;
    uint32_t epoch;         /* current generation */
    uint32_t last_retained; /* 1 + the newest retained older generation; 0 if none */
    uint64_t stamp;         /* stamp of the last change */
    /* stamp of the newest older generation, even if deleted; 0 if none was ever created */
    uint64_t sealed_at;
};

/* Limits above those of any operation, but small enough that adding lengths cannot overflow. */
#define CONTENT_EPOCHS_MAX (UINT32_MAX - 1) /* maximum generations of sparse content */
#define CONTENT_LENGTH_MAX ((uint64_t)INT64_MAX / 2)
/* Returns true if the fields are consistent. Callers check decoded records with it; all functions
 * here may assert it. */
bool content_is_valid(const struct content *content);

/* The body of a request, in memory or staged as pieces. */
struct body {
    uint64_t length;
    struct bytes inline_bytes;  /* used if length is at most STORE_INLINE_BYTES */
    const struct piece *pieces; /* used otherwise; in order */
    size_t piece_count;
    struct stage *stage; /* stage that holds the pieces; closed by the exchange */
    uint8_t md5[16];
    uint64_t crc64;
};

/* Creates content from a body (Put Blob). id: the ticks of the change, not 0. */
struct content content_from_body(struct changes *changes, uint64_t id, const struct body *body);

/* A committed or uncommitted block. */
struct content_block {
    struct bytes block_id; /* base64 text as sent by the client */
    uint64_t length;
    uint64_t run;               /* id of the run with its bytes, or 0 */
    struct bytes inline_bytes;  /* used if run and piece_count are 0 */
    const struct piece *pieces; /* used for a committed block of a copied blob */
    size_t piece_count;
    /* parameters of an uncommitted block's encryption, opaque to this module; ptr NULL if not
     * encrypted */
    struct bytes encryption;
};

/* Stores the bytes of a block as a run or inline; the result has no block_id and no encryption.
 * run: a new id for a run in this partition (the ticks of the change), not 0. */
struct content_block content_block_from_body(struct changes *changes, uint64_t run,
                                             const struct body *body);
/* Deletes the run of a block that no content refers to. run: 0 if the block has none */
enum store_result content_run_delete(struct read_view *before, struct changes *changes,
                                     uint64_t run);

/* Deletes the runs of `blocks` to which no block in `named` refers; if there are many, adds them to
 * the backlog for content_collect(). id: unique in the partition among calls of this function */
enum store_result content_delete_unnamed(struct read_view *before, struct changes *changes,
                                         struct arena *arena, uint64_t id,
                                         const struct content_block *blocks, size_t count,
                                         const struct content_block *named, size_t named_count,
                                         bool *ret_more);

/* Creates content from at most CONTENT_BLOCKS_MAX blocks in order (Put Block List). */
struct content content_from_blocks(struct changes *changes, uint64_t id,
                                   const struct content_block *blocks, size_t count);

/* Prepares content for runs that may be appended after content_ref(), so that its last holder
 * deletes them even if it was created before them. */
void content_expect_runs(struct content *content);
/* Adds `holders` (1 or more) holders, for Snapshot Blob. Afterwards no holder's record may have
 * is_alone set. Like content_unref(), may be called at most once per content in a list of
 * changes. */
enum store_result content_ref(struct read_view *before, struct changes *changes,
                              struct arena *arena, struct content *content, uint32_t holders);
/* Removes `holders` (1 or more) holders. If none remains, deletes the map, the pieces, and the runs
 * that no other content refers to. May be called at most once per content in a list of changes,
 * because it reads the count from the state before the changes (Delete Blob removes the holders of
 * a base blob and its snapshots in one call). Sets *ret_more if content_collect() has work left;
 * otherwise leaves it unchanged. */
enum store_result content_unref(struct read_view *before, struct changes *changes,
                                struct arena *arena, const struct content *content,
                                uint32_t holders, bool *ret_more);
/* Removes from `old` the holder that now has `content`, which was created in the same changes from
 * `blocks`. Retains the runs of these blocks. Updates *content. */
enum store_result content_replace(struct read_view *before, struct changes *changes,
                                  struct arena *arena, const struct content *old,
                                  struct content *content, const struct content_block *blocks,
                                  size_t count, bool *ret_more);

/* Like content_replace(), but *old gets another holder in exchange, so that no count changes.
 * Updates both contents; the caller must then write both. Reads no records. */
void content_share(struct changes *changes, struct arena *arena, struct content *old,
                   struct content *content, const struct content_block *blocks, size_t count);

/* Appends bytes to a sequence (Append Block) in new records, without rewriting existing ones. id:
 * used if the content has no id yet. Snapshots (content_ref()) keep their length. */
void content_append(struct changes *changes, uint64_t id, struct content *content,
                    const struct body *body);
/* Appends the bytes of blocks, whose runs then belong to the content. They do not become committed
 * blocks of the content. */
void content_append_blocks(struct changes *changes, uint64_t id, struct content *content,
                           const struct content_block *blocks, size_t count);
/* Deletes the bytes after `length`, the greatest length of the remaining holders of appended
 * content. The content's newest holder must have been removed. id: unique in the partition among
 * calls of this function and content_delete_unnamed(). */
enum store_result content_delete_tail(struct read_view *before, struct changes *changes,
                                      struct arena *arena, uint64_t id,
                                      const struct content *content, uint64_t length,
                                      bool *ret_more);

/* Deletes about `records` records of the data in the partition's backlog. May be called any number
 * of times, interleaved with other changes. Sets *ret_more if more is left to delete. */
enum store_result content_collect(struct read_view *before, struct changes *changes,
                                  struct arena *arena, size_t records, bool *ret_more);
/* Adds the INNER records whose keys start with `prefix` to the backlog for content_collect(). Each
 * contains a block encoded by content_block_encode(), and none may be written afterwards.
 *
 * id         unique in the partition among calls of this function
 * with_runs  also delete their runs and pieces */
void content_leave_blocks(struct changes *changes, uint64_t id, struct bytes prefix,
                          bool with_runs);

/* Encodes a block, which must have no pieces, as a record value without its block id. */
void content_block_encode(struct text *out, const struct content_block *block);
/* Decodes a block; inline_bytes point into the value. */
bool content_block_decode(const struct record *record, struct content_block *ret_block);

/* Returns all committed blocks in order (Get Block List, Put Block List), in the arena. Sets their
 * numbers of pieces, but not the pieces. */
enum store_result content_blocks(struct read_view *before, struct arena *arena,
                                 const struct content *content, struct content_block **ret_blocks,
                                 size_t *ret_count);
/* Reads the pieces of the blocks of content_blocks() selected by `wanted`. */
enum store_result content_block_pieces(struct read_view *before, struct arena *arena,
                                       const struct content *content, struct content_block *blocks,
                                       const bool *wanted);

/* ---- sparse content: page blobs, files ---- */

/* Sparse content maps offsets up to its length to bytes. Ranges that were never written, or were
 * cleared, are holes, which read as zeros. A snapshot of sparse content is a generation. It costs
 * one record, regardless of the content's size, plus the data that is overwritten later. The cost
 * of a change depends on its own size, never on that of the content (figures: sparse.h).
 *
 * stamp: ticks of the change. Stamps of a content must increase; the first one may equal the id.
 * After an error, *content is unchanged. */

/* Creates content that consists of one hole of this length and has no records. */
struct content content_sparse(uint64_t id, uint64_t length);
/* Writes bytes at any offset; extends the content if they end beyond its length. */
enum store_result content_write(struct read_view *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, const struct body *body);
struct content_range {
    uint64_t start, end;
    bool is_hole; /* in a difference: had bytes in the older generation, but has none now */
};
/* Writes many ranges within the content in one change: the bytes of the body are distributed to the
 * ranges in order; holes are cleared. Ranges must be sorted and must not overlap. The list of
 * changes must contain no other change of the content. */
enum store_result content_write_ranges(struct read_view *before, struct changes *changes,
                                       struct content *content, uint64_t stamp,
                                       const struct body *body, const struct content_range *ranges,
                                       size_t count);
/* Turns a range within the content into a hole. A large hole takes effect at once, but
 * content_collect() deletes its records later. Returns STORE_SHORTAGE if too many large holes are
 * pending; the caller must retry later. */
enum store_result content_clear(struct read_view *before, struct changes *changes,
                                struct arena *arena, struct content *content, uint64_t stamp,
                                uint64_t offset, uint64_t length, bool *ret_more);
/* Fills a range within the content with zeros. Complete units of `unit` bytes, and an incomplete
 * unit at the end of the content, become a hole; zeros are written to the rest. Otherwise like
 * content_clear(). unit: a divisor of 4,096 */
enum store_result content_zero(struct read_view *before, struct changes *changes,
                               struct arena *arena, struct content *content, uint64_t stamp,
                               uint64_t offset, uint64_t length, uint32_t unit, bool *ret_more);
/* Truncates the content, or extends it with a hole. Otherwise like content_clear(). */
enum store_result content_resize(struct read_view *before, struct changes *changes,
                                 struct arena *arena, struct content *content, uint64_t stamp,
                                 uint64_t length, bool *ret_more);
/* Creates a snapshot: returns content that remains readable after changes of *content. */
struct content content_snapshot(struct changes *changes, struct content *content);
/* Deletes a snapshot. newest: the content it is a snapshot of, which is updated; NULL if that was
 * deleted */
enum store_result content_snapshot_delete(struct read_view *before, struct changes *changes,
                                          const struct content *snapshot, struct content *newest,
                                          bool *ret_more);
/* Deletes the newest generation, but not its snapshots. Short content without snapshots is deleted
 * at once. */
void content_newest_delete(struct changes *changes, const struct content *newest, bool *ret_more);

/* A page of a list of ranges. */
struct content_ranges {
    struct content_range *ranges; /* in the arena */
    size_t count;
    uint64_t next; /* where to continue; UINT64_MAX at the end of the list */
};
/* Returns up to `max` ranges with bytes in [start, end), merging adjacent ones. Sets `next` and
 * stops early after 10,000 ranges or a few thousand records. Uses the arena only for the ranges. */
enum store_result content_ranges(struct read_view *before, struct arena *arena,
                                 const struct content *content, uint64_t start, uint64_t end,
                                 size_t max, struct content_ranges *ret_ranges);
/* Like content_ranges(), for ranges written or cleared after the generation `older`. Reads only
 * data that has changed since then. older: a snapshot of the same content, not newer than
 * `content` */
enum store_result content_difference(struct read_view *before, struct arena *arena,
                                     const struct content *older, const struct content *content,
                                     uint64_t start, uint64_t end, size_t max,
                                     struct content_ranges *ret_ranges);

/* ---- reading while sending ---- */

/* Reads a range of content, to send it. Holds a snapshot of the partition, and one segment of the
 * map in memory. May be used by one thread at a time. */
struct content_reader;
/* Opens a reader. Takes ownership of `snapshot`, which content_reader_close() closes. offset +
 * length: at most the content's length. arena: for the reader, and for the map if the content is
 * known to have one segment. */
struct content_reader *content_reader_open(struct store *store, struct read_view *snapshot,
                                           struct arena *arena, const struct content *content,
                                           uint64_t offset, uint64_t length);
/* Sets the key of encrypted content. The key must remain valid until the reader is closed. Must be
 * called before the first read. Without it, reading an encrypted piece returns STORE_CORRUPT. */
void content_reader_set_key(struct content_reader *reader, const uint8_t key[DATA_KEY_SIZE]);
/* Makes the reader return encrypted pieces as stored, to verify their checksums without the key.
 * Must be called before the first read. */
void content_reader_skip_decryption(struct content_reader *reader);
/* Verifies the first bytes before the response header is sent, so that corruption results in an
 * error response instead of a dropped connection. May only be called before the first read, for a
 * range that is not empty.
 *
 * ret_file     NULL if the caller will read the range
 * ret_in_file  true if the entire range is contiguous in one file, at most FILE_RANGE_MAX long, and
 *              verified. It can then be sent from *ret_file, whose descriptor belongs to the
 *              reader. Otherwise it must be read
 * returns      STORE_OK, STORE_WAIT (call again when woken), STORE_CORRUPT, STORE_IO */
enum store_result content_reader_begin(struct content_reader *reader, struct waiter *waiter,
                                       struct piece_file *ret_file, bool *ret_in_file);
/* Checks whether `length` bytes at `offset` of the file range from content_reader_begin() can be
 * sent now. Verifies data again if it has been evicted from memory. Returns STORE_OK, STORE_WAIT
 * (call again when woken), STORE_CORRUPT, STORE_IO. */
enum store_result content_reader_check(const struct content_reader *reader, uint64_t offset,
                                       uint64_t length, struct waiter *waiter);
/* Reads the next 1..max bytes. Returns 0 bytes only at the end of the range.
 *
 * waiter   NULL means the call may block on the disk
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO
 *          STORE_WAIT  nothing was read and the waiter will be woken; call again with the same
 * max */
enum store_result content_reader_read(struct content_reader *reader, char *to, size_t max,
                                      struct waiter *waiter, size_t *ret_count);
/* Returns true if content_reader_begin() or content_reader_read() has just returned STORE_WAIT
 * because a part of the map is not in memory. In that case no waiter is armed, and the caller must
 * call content_reader_load(). */
bool content_reader_lacks_map(const struct content_reader *reader);
/* Loads the missing part of the map, blocking on the disk. Also reads ahead, so that reading large
 * content does not block for each part. Returns STORE_OK, STORE_CORRUPT, STORE_IO. */
enum store_result content_reader_load(struct content_reader *reader);
/* Continues with another range of the content, at or after the last byte read. Must not be called
 * after content_reader_begin(). */
void content_reader_move(struct content_reader *reader, uint64_t offset, uint64_t length);
/* Like content_ranges() for the reader's content and snapshot; if `older` is not NULL, like
 * content_difference(). */
enum store_result content_reader_ranges(struct content_reader *reader, struct arena *arena,
                                        const struct content *older, uint64_t start, uint64_t end,
                                        size_t max, struct content_ranges *ret_ranges);
/* A part of the range, located but not read. */
struct content_part {
    uint64_t length;
    /* valid until the reader is used again; NULL for bytes in memory or a hole */
    const struct piece *piece;
    uint32_t offset; /* offset in the piece of the part's first byte */
    /* valid until the reader is used again; NULL for a hole, which reads as zeros */
    const char *bytes;
};
/* Returns the next part, of at least one byte, and moves past it. Returns STORE_OK, STORE_WAIT
 * (call content_reader_load() for the map), STORE_CORRUPT, STORE_IO. */
enum store_result content_reader_part(struct content_reader *reader, struct content_part *ret_part);
/* Restarts with a range of the content. Only content_reader_part() may have been called before. */
void content_reader_restart(struct content_reader *reader, uint64_t offset, uint64_t length);
void content_reader_close(struct content_reader *reader);

#endif
