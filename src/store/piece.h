/* The bytes of pieces (store.h): how they are written before the commit that refers to them, and read
 * under the snapshot that returned them. */
#ifndef LAGRA_STORE_PIECE_H
#define LAGRA_STORE_PIECE_H

#include "base/md5.h"
#include "store/store.h"

/* ---- staging pieces ---- */

/* Writes a stream of bytes as pieces of at most PIECE_MAX_BYTES. Belongs to one thread at a time.
 * Bytes are copied into bounded buffers and written by the store's I/O threads. */
struct stage;
/* Never waits: the first stage_write() does what has to be waited for.
 * length_hint  how many bytes will come; UINT64_MAX unknown */
struct stage *stage_open(struct store *store, uint64_t length_hint);
/* Before the first stage_write(): the MD5 of all bytes will be asked for. It is computed on the way,
 * by a thread of the store, together with those of other stages (base/md5.h). */
void stage_want_md5(struct stage *stage);
/* A piece ends when `bytes` more (1 or more) have been written, so that what follows can be referred to
 * alone. Again once they have been. Where a block ends, in a copy of blocks. */
void stage_cut(struct stage *stage, uint64_t bytes);
/* Takes some bytes, or none (*ret_taken).
 * returns STORE_OK    all taken
 *         STORE_WAIT  buffers are full: waiter will be woken; call again with the rest
 *         STORE_IO, STORE_FULL */
enum store_result stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                              size_t *ret_taken);
/* No more bytes: writes what is left and makes all durable.
 * returns STORE_OK    done, the pieces may be committed
 *         STORE_WAIT  call again when woken
 *         STORE_IO, STORE_FULL */
enum store_result stage_finish(struct stage *stage, struct waiter *waiter);
/* After STORE_OK of stage_finish: the pieces, in order; valid until stage_close(). */
const struct piece *stage_pieces(const struct stage *stage, size_t *ret_count);
/* After STORE_OK of stage_finish(), where it was wanted. */
void stage_md5(const struct stage *stage, uint8_t ret_md5[MD5_SIZE]);
/* Ends the stage; frees pieces that no commit refers to by now. A write that is under way is awaited in
 * the background; no waiter is woken after this call. */
void stage_close(struct stage *stage);

/* ---- reading pieces ---- */

/* Checks and reads `length` bytes at `offset` of the piece into `to` (whole sectors around them are
 * read and their CRCs checked). The snapshot that returned the piece must still be open. With waiter
 * NULL the call waits for the disk itself.
 * returns STORE_OK, STORE_CORRUPT, STORE_IO
 *         STORE_WAIT  not in memory: it is being read; call again when woken */
enum store_result piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                             uint32_t length, void *to, struct waiter *waiter);

/* fd belongs to the store, which has few open: a caller that sends from it duplicates it. */
struct piece_file {
    int fd;
    uint64_t offset;
    void *hold; /* the store's */
};
/* As piece_read(), but checks only, and returns where the bytes lie, until piece_give().
 * STORE_NOT_FOUND: this store has no files (memory): use piece_read(). */
enum store_result piece_check(struct store *store, const struct piece *piece, uint32_t offset,
                              uint32_t length, struct piece_file *ret_file, struct waiter *waiter);
void piece_give(struct store *store, const struct piece_file *file);

#endif
