/* The bytes of pieces (store.h): written before the commit that refers to them, and read through
 * the snapshot that returned them. */
#ifndef LAGRA_STORE_PIECE_H
#define LAGRA_STORE_PIECE_H

#include "base/md5.h"
#include "store/store.h"

/* ---- staging pieces ---- */

/* Writes a stream of bytes as pieces of at most PIECE_MAX_BYTES. Belongs to one thread at a time.
 * Bytes are copied into bounded buffers and written by the store's I/O threads. */
struct stage;
/* Never waits; the first stage_write() may.
 *
 * length_hint  expected number of bytes, or UINT64_MAX if unknown */
struct stage *stage_open(struct store *store, uint64_t length_hint);
/* Requests the MD5 of all bytes. Called before the first stage_write(). A thread of the store
 * computes it during the writes, together with those of other stages (base/md5.h). */
void stage_want_md5(struct stage *stage);
/* Encrypts the pieces with a copy of the key, instead of the store's key. The MD5 is that of the
 * bytes as written to the stage. Called before the first stage_write(). The store wipes the
 * copy. */
void stage_encrypt(struct stage *stage, const uint8_t key[DATA_KEY_SIZE]);
/* Stores the pieces as they are written to the stage: they are encrypted already. Called before the
 * first stage_write(). */
void stage_keep(struct stage *stage);
/* Ends a piece after `bytes` more bytes (1 or more); the bytes after them start a new piece. May
 * be called again once they are written. Used at block boundaries when blocks are copied. */
void stage_cut(struct stage *stage, uint64_t bytes);
/* Writes as many of the bytes as possible (*ret_taken).
 *
 * Returns STORE_OK all were written
 *         STORE_WAIT  buffers are full: waiter will be woken; call again with the rest
 *         STORE_IO, STORE_FULL */
enum store_result stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                              size_t *ret_taken);
/* Writes the remaining bytes and makes all bytes durable.
 *
 * Returns STORE_OK done, the pieces may be committed
 *         STORE_WAIT  call again when woken
 *         STORE_IO, STORE_FULL */
enum store_result stage_finish(struct stage *stage, struct waiter *waiter);
/* Returns the pieces, in order, after stage_finish() has returned STORE_OK; valid until
 * stage_close(). */
const struct piece *stage_pieces(const struct stage *stage, size_t *ret_count);
/* Returns the MD5, if requested, after stage_finish() has returned STORE_OK. */
void stage_md5(const struct stage *stage, uint8_t ret_md5[MD5_SIZE]);
/* Ends the stage, and frees pieces that no commit refers to. A pending write is completed in the
 * background; no waiter is woken after this call. */
void stage_close(struct stage *stage);

/* ---- reading pieces ---- */

/* Reads `length` bytes at `offset` of the piece, as stored, into `to`; reads entire sectors and
 * verifies their CRCs. The snapshot that returned the piece must still be open. If waiter is NULL,
 * the call waits for the disk.
 *
 * Returns STORE_OK, STORE_CORRUPT, STORE_IO
 *         STORE_WAIT  not in memory; it is being read, call again when woken */
enum store_result piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                             uint32_t length, void *to, struct waiter *waiter);

/* Decrypts sectors that piece_read() has read into `to`: entire ones from `offset`, a multiple of
 * PIECE_SECTOR_BYTES, on; cipher: made with the piece's salt.
 *
 * Returns STORE_OK; STORE_CORRUPT if the key is another one, or the bytes have changed (logged) */
enum store_result piece_decrypt(const struct piece *piece, struct data_cipher *cipher,
                                uint32_t offset, uint32_t length, void *to);

/* Returns the key of a piece that is encrypted with a store key, valid as long as the store; NULL
 * if the store does not have it (logged). */
const uint8_t *piece_store_key(struct store *store, const struct piece *piece);

/* Returns a copy of the piece whose checksums and seal are in the arena. */
struct piece piece_copy(struct arena *arena, const struct piece *piece);

/* Location of verified bytes. The descriptor belongs to the store, which keeps few open; a caller
 * that needs it for longer duplicates it. */
struct piece_file {
    int fd;
    uint64_t offset;
    void *hold; /* internal to the store */
};
/* Like piece_read(), but only verifies the bytes and returns their location in a file, which is
 * valid until piece_give(). Returns STORE_NOT_FOUND if the store has no files (memory store); use
 * piece_read() then. */
enum store_result piece_check(struct store *store, const struct piece *piece, uint32_t offset,
                              uint32_t length, struct piece_file *ret_file, struct waiter *waiter);
void piece_give(struct store *store, const struct piece_file *file);

/* Returns true if other processes that can read the store's folder may read pieces of this extent
 * from its file, named `extents/` and the extent's number in 8 hex digits. Nothing is written to
 * such a file any more, and the bytes of a piece stay in it for as long as a snapshot sees the
 * piece. If it returns false, it may be true soon, because the store prepares that in the
 * background if it is worthwhile. Never waits. Thread-safe. */
bool piece_is_lent(struct store *store, const struct piece *piece);

#endif
