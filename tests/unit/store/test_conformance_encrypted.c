/* Encrypted pieces: what is stored is not what was written, what is read with the key is, whatever
 * the lengths and chunks; a wrong key and damage are found. piece.h: stage_encrypt(),
 * piece_decrypt(); decision: 1420 */
#include "conformance.h"

#include <stdlib.h>

#include "base/crc.h"

#define KIB 1024u
#define MIB (1024u * KIB)

static const uint8_t key[DATA_KEY_SIZE] = "the key of these tests, 32 bytes";
static const uint8_t other_key[DATA_KEY_SIZE] = "another key, which has 32 bytes.";

/* Stages a stream in chunks of random sizes, and commits it as the record "e". */
static void put_encrypted(struct fixture *f, uint64_t length, uint64_t seed, size_t chunk_max,
                          uint8_t ret_md5[MD5_SIZE])
{
    struct stage *stage = stage_open(f->store, seed % 2 ? length : UINT64_MAX);
    struct changes *changes = changes_new(f->arena);
    struct random random = { .state = seed };
    struct blocking_waiter blocking;
    char *chunk = xmalloc(chunk_max);
    const struct piece *pieces;
    uint64_t at = 0;
    size_t count;

    blocking_init(&blocking);
    stage_want_md5(stage);
    stage_encrypt(stage, key);
    while (at < length) {
        size_t size = 1 + (size_t)random_below(&random, chunk_max);

        if (size > length - at)
            size = (size_t)(length - at);
        pattern_fill(chunk, size, seed, at);
        assert_int_equal(write_chunk(stage, bytes_of(chunk, size), &blocking), STORE_OK);
        at += size;
    }
    while (stage_finish(stage, &blocking.waiter) == STORE_WAIT)
        blocking_wait(&blocking);
    pieces = stage_pieces(stage, &count);
    stage_md5(stage, ret_md5);
    changes_put(changes, RECORD_LISTED, bytes_from_string("e"), bytes_from_string("value"), pieces,
                count);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    stage_close(stage);
    blocking_release(&blocking);
    free(chunk);
}

static struct record get(struct fixture *f, struct read_view *snapshot)
{
    struct record record;

    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("e"), f->arena, &record),
        STORE_OK);
    return record;
}

/* All pieces of the record are the stream, encrypted, and their sectors as stored have the CRCs. */
static void expect(struct fixture *f, uint64_t length, uint64_t seed)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct record record = get(f, snapshot);
    char *bytes = xmalloc(PIECE_MAX_BYTES);
    uint64_t at = 0;

    for (size_t i = 0; i < record.piece_count; i++) {
        const struct piece *piece = &record.pieces[i];
        struct data_cipher *cipher;

        assert_non_null(piece->seal);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(piece->seal->salt, record.pieces[j].seal->salt, DATA_SALT_SIZE);
        assert_int_equal(piece_read(f->store, piece, 0, piece->length, bytes, NULL), STORE_OK);
        if (piece->length > 16)
            assert_false(pattern_matches(bytes, piece->length, seed, at));
        cipher = data_cipher_new(key, piece->seal->salt);
        assert_int_equal(piece_decrypt(piece, cipher, 0, piece->length, bytes), STORE_OK);
        assert_true(pattern_matches(bytes, piece->length, seed, at));
        /* the last sector alone */
        if (piece->length > PIECE_SECTOR_BYTES) {
            uint32_t from = (piece_sectors(piece) - 1) * PIECE_SECTOR_BYTES;
            uint32_t size = piece->length - from;

            assert_int_equal(piece_read(f->store, piece, from, size, bytes, NULL), STORE_OK);
            assert_int_equal(piece_decrypt(piece, cipher, from, size, bytes), STORE_OK);
            assert_true(pattern_matches(bytes, size, seed, at + from));
        }
        data_cipher_free(cipher);
        at += piece->length;
    }
    assert_int_equal(at, length);
    free(bytes);
    read_view_close(snapshot);
}

/* Rule: any length, in any chunks, whether its length was told or not; also after the store was
 * opened again. The MD5 is that of what was written. */
static void streams_of_any_length(void **state)
{
    static const uint64_t lengths[] = { 1,        512,          64 * KIB - 1,
                                        64 * KIB, 64 * KIB + 1, 130 * KIB,
                                        4 * MIB,  4 * MIB + 1,  9 * MIB + 12345 };
    struct fixture *f = *state;

    for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
        uint64_t length = lengths[i / 2];
        char *bytes = xmalloc((size_t)length);
        uint8_t md5[MD5_SIZE], expected[MD5_SIZE];

        put_encrypted(f, length, i, i % 3 == 0 ? 3000 : 300000, md5);
        pattern_fill(bytes, (size_t)length, i, 0);
        md5_of(bytes_of(bytes, (size_t)length), expected);
        assert_memory_equal(md5, expected, sizeof md5);
        free(bytes);
        expect(f, length, i);
        if (f->engine->on_disk && i % 4 == 0) {
            fixture_reopen(f);
            expect(f, length, i);
        }
        (void)delete_stream(f->store, f->partition, "e");
    }
    assert_all_given_back(f->store);
}

/* Rule: stages that fill slowly, so that sectors are written in parts. */
static void many_slow_stages(void **state)
{
    enum { STAGES = 700, BYTES = 70000, CHUNK = 7000 };
    struct fixture *f = *state;
    struct stage *stages[STAGES];
    struct blocking_waiter blocking;
    char *bytes = xmalloc(BYTES), *read = xmalloc(BYTES);

    blocking_init(&blocking);
    pattern_fill(bytes, BYTES, 5, 0);
    for (int i = 0; i < STAGES; i++) {
        stages[i] = stage_open(f->store, UINT64_MAX);
        stage_encrypt(stages[i], key);
    }
    for (int at = 0; at < BYTES; at += CHUNK)
        for (int i = 0; i < STAGES; i++)
            assert_int_equal(write_chunk(stages[i], bytes_of(bytes + at, CHUNK), &blocking),
                             STORE_OK);
    for (int i = 0; i < STAGES; i++) {
        const struct piece *pieces;
        struct data_cipher *cipher;
        size_t count;

        while (stage_finish(stages[i], &blocking.waiter) == STORE_WAIT)
            blocking_wait(&blocking);
        pieces = stage_pieces(stages[i], &count);
        assert_int_equal(count, 1);
        assert_int_equal(piece_read(f->store, pieces, 0, BYTES, read, NULL), STORE_OK);
        cipher = data_cipher_new(key, pieces->seal->salt);
        assert_int_equal(piece_decrypt(pieces, cipher, 0, BYTES, read), STORE_OK);
        data_cipher_free(cipher);
        assert_memory_equal(read, bytes, BYTES);
        stage_close(stages[i]);
    }
    blocking_release(&blocking);
    free(bytes);
    free(read);
}

/* Rule: with another key, or with sectors exchanged, nothing is read. */
static void other_keys_and_places(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    uint8_t md5[MD5_SIZE];
    struct record record;
    struct data_cipher *cipher;
    char *bytes = xmalloc(2 * PIECE_SECTOR_BYTES), *zeros = xcalloc(1, PIECE_SECTOR_BYTES);

    put_encrypted(f, 3 * PIECE_SECTOR_BYTES, 1, 1 * MIB, md5);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    record = get(f, snapshot);
    cipher = data_cipher_new(other_key, record.pieces->seal->salt);
    assert_int_equal(piece_read(f->store, record.pieces, 0, PIECE_SECTOR_BYTES, bytes, NULL),
                     STORE_OK);
    assert_int_equal(piece_decrypt(record.pieces, cipher, 0, PIECE_SECTOR_BYTES, bytes),
                     STORE_CORRUPT);
    assert_memory_equal(bytes, zeros, PIECE_SECTOR_BYTES);
    data_cipher_free(cipher);
    cipher = data_cipher_new(key, record.pieces->seal->salt);
    assert_int_equal(piece_read(f->store, record.pieces, 0, PIECE_SECTOR_BYTES, bytes, NULL),
                     STORE_OK);
    assert_int_equal(
        piece_decrypt(record.pieces, cipher, PIECE_SECTOR_BYTES, PIECE_SECTOR_BYTES, bytes),
        STORE_CORRUPT);
    data_cipher_free(cipher);
    read_view_close(snapshot);
    free(bytes);
    free(zeros);
}

/* Rule: an abandoned stage leaves nothing. */
static void abandoned_stages_are_freed(void **state)
{
    struct fixture *f = *state;
    struct blocking_waiter blocking;
    char *bytes = xcalloc(1, 5 * MIB);

    blocking_init(&blocking);
    for (uint32_t size = 1; size < 5 * MIB; size = size * 7 + 5) {
        struct stage *stage = stage_open(f->store, UINT64_MAX);

        stage_encrypt(stage, key);
        assert_int_equal(write_chunk(stage, bytes_of(bytes, size), &blocking), STORE_OK);
        stage_close(stage);
    }
    assert_all_given_back(f->store);
    blocking_release(&blocking);
    free(bytes);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(streams_of_any_length, EVERY_STORE),
        TEST(many_slow_stages, EVERY_STORE),
        TEST(other_keys_and_places, EVERY_STORE),
        TEST(abandoned_stages_are_freed, EVERY_STORE),
    };

    return conformance_run("encrypted", tests, sizeof tests / sizeof tests[0]);
}
