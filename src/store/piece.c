/* The bytes of pieces: see piece.h. */
#include "store/piece.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "store/keyring.h"
#include "store/store_private.h"

struct stage *stage_open(struct store *store, uint64_t length_hint)
{
    struct stage *stage = store->operations->stage_open(store, length_hint);

    if (store->keyring) {
        stage->encrypts = true;
        stage->store_key = keyring_newest(store->keyring);
        memcpy(stage->key, keyring_key(store->keyring, stage->store_key, KEY_FOR_PIECES),
               DATA_KEY_SIZE);
    }
    return stage;
}

void stage_want_md5(struct stage *stage)
{
    assert(stage->taken == 0 && !stage->wants_md5);
    stage->wants_md5 = true;
    md5_stream_init(&stage->md5);
}

void stage_encrypt(struct stage *stage, const uint8_t key[DATA_KEY_SIZE])
{
    assert(stage->taken == 0 && stage->encrypts == (stage->store_key > 0));
    stage->encrypts = true;
    stage->store_key = 0;
    memcpy(stage->key, key, DATA_KEY_SIZE);
}

void stage_keep(struct stage *stage)
{
    assert(stage->taken == 0 && stage->encrypts == (stage->store_key > 0));
    stage->encrypts = false;
    stage->store_key = 0;
    explicit_bzero(stage->key, sizeof stage->key);
}

struct piece_seal *piece_seal_new(const struct stage *stage, uint32_t sectors,
                                  struct data_cipher **ret_cipher)
{
    struct piece_seal *seal = xcalloc(1, piece_seal_size(sectors));

    assert(stage->encrypts);
    seal->store_key = stage->store_key;
    data_salt_new(seal->salt);
    *ret_cipher = data_cipher_new(stage->key, seal->salt);
    return seal;
}

void stage_cut(struct stage *stage, uint64_t bytes)
{
    assert(bytes > 0 && stage->cut <= stage->taken);
    stage->cut_begin = stage->taken;
    stage->cut = stage->taken + bytes;
}

enum store_result stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                              size_t *ret_taken)
{
    enum store_result result =
        stage->store->operations->stage_write(stage, data, waiter, ret_taken);

    assert(*ret_taken <= data.len && (result || *ret_taken == data.len));
    stage->taken += *ret_taken;
    return result;
}

enum store_result stage_finish(struct stage *stage, struct waiter *waiter)
{
    enum store_result result = stage->store->operations->stage_finish(stage, waiter);

    assert(result != STORE_WAIT || waiter);
    return result;
}

const struct piece *stage_pieces(const struct stage *stage, size_t *ret_count)
{
    const struct piece *pieces = stage->store->operations->stage_pieces(stage, ret_count);
    uint64_t length = 0;

    for (size_t i = 0; i < *ret_count; i++) {
        assert(pieces[i].length > 0 && pieces[i].length <= PIECE_MAX_BYTES);
        length += pieces[i].length;
    }
    assert(length == stage->taken);
    return pieces;
}

void stage_md5(const struct stage *stage, uint8_t ret_md5[MD5_SIZE])
{
    struct md5_stream md5 = stage->md5;

    assert(stage->wants_md5);
    md5_stream_digest(&md5, ret_md5);
}

void stage_close(struct stage *stage)
{
    stage->store->operations->stage_close(stage);
}

enum store_result piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                             uint32_t length, void *to, struct waiter *waiter)
{
    enum store_result result;

    assert(offset <= piece->length && length <= piece->length - offset);
    if (length == 0)
        return STORE_OK;
    result = store->operations->piece_read(store, piece, offset, length, to, waiter);
    assert(result != STORE_WAIT || waiter);
    return result;
}

enum store_result piece_decrypt(const struct piece *piece, struct data_cipher *cipher,
                                uint32_t offset, uint32_t length, void *to)
{
    char *at = to;

    assert(piece->seal && offset % PIECE_SECTOR_BYTES == 0 && length <= piece->length - offset);
    assert(length % PIECE_SECTOR_BYTES == 0 || offset + length == piece->length);
    for (uint32_t done = 0; done < length; done += PIECE_SECTOR_BYTES) {
        uint32_t sector = (offset + done) / PIECE_SECTOR_BYTES, left = length - done;

        if (data_cipher_open(cipher, sector, at + done,
                             left < PIECE_SECTOR_BYTES ? left : PIECE_SECTOR_BYTES,
                             piece->seal->tags[sector]))
            continue;
        log_line(LOG_ERROR,
                 "store: bytes in extent %08x, piece at %llu, sector %u, cannot be decrypted",
                 piece->extent, (unsigned long long)piece->offset, sector);
        return STORE_CORRUPT;
    }
    return STORE_OK;
}

const uint8_t *piece_store_key(struct store *store, const struct piece *piece)
{
    const uint8_t *key = NULL;

    assert(piece->seal && piece->seal->store_key > 0);
    if (store->keyring)
        key = keyring_key(store->keyring, piece->seal->store_key, KEY_FOR_PIECES);
    if (!key)
        log_line(LOG_ERROR, "store: a piece in extent %08x is encrypted with an unknown key, %u",
                 piece->extent, piece->seal->store_key);
    return key;
}

struct piece piece_copy(struct arena *arena, const struct piece *piece)
{
    uint32_t sectors = piece_sectors(piece);
    size_t crc_size = sectors * sizeof piece->sector_crc[0];
    struct piece copy = *piece;

    copy.sector_crc = memcpy(arena_alloc(arena, crc_size), piece->sector_crc, crc_size);
    if (piece->seal)
        copy.seal = memcpy(arena_alloc(arena, piece_seal_size(sectors)), piece->seal,
                           piece_seal_size(sectors));
    return copy;
}

enum store_result piece_check(struct store *store, const struct piece *piece, uint32_t offset,
                              uint32_t length, struct piece_file *ret_file, struct waiter *waiter)
{
    enum store_result result = STORE_NOT_FOUND;

    assert(offset <= piece->length && length <= piece->length - offset);
    assert(!piece->seal); /* what is in the file is not what a client may see */
    if (store->operations->piece_check)
        result = store->operations->piece_check(store, piece, offset, length, ret_file, waiter);
    assert(result != STORE_WAIT || waiter);
    assert(result || ret_file->fd >= 0);
    return result;
}

void piece_give(struct store *store, const struct piece_file *file)
{
    store->operations->piece_give(store, file);
}
