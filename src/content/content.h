/* Bytes of a blob, on the records and pieces of its partition.
 *
 * A content is immutable once committed and has an id unique in its partition (the ticks of the
 * change that made it). Its map is a run of segments, each one INNER record of bounded size, in
 * order of the bytes (segment.h draws them): entries of {block id, inline bytes or pieces}. A key
 * tells where its segment ENDS, so the segment that holds offset x is the first record after x, and
 * the last one can be got without a scan. Base blob and snapshots share a content by id; how many
 * hold it is a record when they are more than one (content_holders.c). A content of at most
 * CONTENT_INLINE_MAX bytes that came in one body lies inline in its only segment.
 *
 * Uncommitted blocks are a record each, and one for their total (uncommitted.c).
 *
 * The INNER record keys of a blob's partition that begin with c, r, u and U are this room's.
 * All but the reader runs inside decide: it reads a snapshot, adds to changes, never waits for a
 * write. Stored data that makes no sense is STORE_CORRUPT, logged here; so is a map with a part
 * missing: STORE_NOT_FOUND is said only where a line below says so. Any thread. */
#ifndef LAGRA_CONTENT_CONTENT_H
#define LAGRA_CONTENT_CONTENT_H

#include "base/errors.h"
#include "store/store.h"

#define CONTENT_INLINE_MAX (16u << 10)
/* So small because 50,000 of them are in memory at once when a list of them is committed. */
#define BLOCK_INLINE_MAX   256u
/* rest: Put-Block-List, "Remarks" */
#define CONTENT_BLOCKS_MAX 50000u

/* As a blob's record holds it. length 0 with id 0: empty, no records. */
struct content {
    uint64_t id;
    uint64_t length;
    uint32_t block_count; /* committed blocks; 0 for Put Blob */
    /* What is known of it without a read. False is always right, and costs the read. */
    bool is_alone;       /* it has one holder */
    bool without_pieces; /* of Put Blob: it lies inline */
};

/* Bytes that arrived with a request: in memory, or staged as pieces. */
struct body {
    uint64_t length;
    struct bytes inline_bytes;  /* when length is at most the inline limit */
    const struct piece *pieces; /* else; in order */
    size_t piece_count;
    struct stage *stage; /* where they were staged; closed by the exchange */
    uint8_t md5[16];
    uint64_t crc64;
};

/* A new content of one run of bytes (Put Blob). id: the ticks of the change, not 0. */
struct content content_from_body(struct changes *changes, uint64_t id, const struct body *body);

/* A new content made of blocks (Put Block List), in order; at most CONTENT_BLOCKS_MAX. */
struct content_block {
    struct bytes block_id; /* base64 text as the client gave it */
    uint64_t length;
    struct bytes inline_bytes;  /* when piece_count is 0 */
    const struct piece *pieces; /* else; in order */
    size_t piece_count;
};
struct content content_from_blocks(struct changes *changes, uint64_t id,
                                   const struct content_block *blocks, size_t count);

/* One more holder (Snapshot Blob). From now on no record of a holder may say that it is alone. */
enum store_result content_hold(struct snapshot *before, struct changes *changes,
                               struct arena *arena, struct content *content);
/* `holders` (1 or more) holders less; the last one deletes the map and releases the pieces. Once
 * for a content in one list of changes: it reads the count as it was before (Delete Blob ends the
 * base and snapshots of one content together). */
enum store_result content_give_up(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, const struct content *content,
                                  uint32_t holders);

/* All committed blocks in order (Get Block List, Put Block List); array in the arena. */
enum store_result content_blocks(struct snapshot *before, struct arena *arena,
                                 const struct content *content, struct content_block **ret_blocks,
                                 size_t *ret_count);

/* ---- uncommitted blocks ---- */

#define UNCOMMITTED_BLOCKS_MAX 100000
#define UNCOMMITTED_ID_MAX     126u /* 64 bytes are 88 in base64 */

struct uncommitted {
    uint32_t count;
    uint32_t id_length; /* of the decoded ids; all are equal */
    instant last_put;
};
/* count 0 when there are none. */
enum store_result uncommitted_read(struct snapshot *before, struct arena *arena,
                                   struct uncommitted *ret_total);
/* Adds or replaces one block; once in a list of changes. *total is brought up to date and written.
 * With total->count 0 no block is there: what the snapshot still shows was cleared in the same
 * changes, and is not looked at. block_id: base64 text, at most UNCOMMITTED_ID_MAX bytes. */
enum store_result uncommitted_put(struct snapshot *before, struct changes *changes,
                                  struct arena *arena, struct uncommitted *total, instant now,
                                  struct bytes block_id, const struct body *body);
/* returns STORE_OK, STORE_NOT_FOUND (no such block), STORE_CORRUPT, STORE_IO */
enum store_result uncommitted_find(struct snapshot *before, struct arena *arena,
                                   struct bytes block_id, struct content_block *ret_block);
/* All, in alphabetical (bytewise) order of their ids. */
enum store_result uncommitted_list(struct snapshot *before, struct arena *arena,
                                   struct content_block **ret_blocks, size_t *ret_count);
/* Deletes all of them and releases their pieces (Put Blob, Put Block List, Delete Blob). References
 * that the same changes give to those pieces cancel out. */
enum store_result uncommitted_clear(struct snapshot *before, struct changes *changes,
                                    struct arena *arena);

/* ---- reading while sending ---- */

/* A range of a content, to be sent: holds its own snapshot of the partition open, and one segment
 * of the map in memory at a time. Belongs to one thread at a time. */
struct content_reader;
/* Takes over `snapshot` (closed by content_reader_close). offset + length: within the content.
 * The reader lies in `arena`, and so does the map of a content that has one segment for certain. */
struct content_reader *content_reader_open(struct store *store, struct snapshot *snapshot,
                                           struct arena *arena, const struct content *content,
                                           uint64_t offset, uint64_t length);
/* Checks the first bytes before a head is sent, so that damage is an error and not a cut
 * connection. Only before the first read, while the range has a byte.
 *
 * ret_in_file  true: the whole range, of moderate length, lies in one range of a file and was
 *              checked; *ret_file is set: send from there until the reader is closed
 *              false: read it
 * returns      STORE_OK, STORE_WAIT (call again when woken), STORE_CORRUPT, STORE_IO */
enum store_result content_reader_begin(struct content_reader *reader, struct waiter *waiter,
                                       struct piece_file *ret_file, bool *ret_in_file);
/* Next 1..max bytes, in order; 0 only at the end of the range.
 *
 * waiter   NULL: the call waits for the disk itself
 * returns  STORE_OK, STORE_CORRUPT, STORE_IO
 *          STORE_WAIT  nothing was read, waiter will be woken; call again with the same max */
enum store_result content_reader_read(struct content_reader *reader, char *to, size_t max,
                                      struct waiter *waiter, size_t *ret_count);
void content_reader_close(struct content_reader *reader);

#endif
