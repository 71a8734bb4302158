/* AES-256-GCM with derived data keys: what is sealed opens again, with the same key, salt and number
 * only. data_cipher.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <nettle/gcm.h>
#include <nettle/hmac.h>

#include "base/data_cipher.h"

#define BYTES_MAX 65536

static const uint8_t key[DATA_KEY_SIZE] = "01234567012345670123456701234567";
static const uint8_t salt[DATA_SALT_SIZE] = "saltsaltsaltsal";

static void fill(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 256);
}

/* Opens a copy of sealed bytes with a cipher of this key and salt. */
static bool opens(const uint8_t *with, const uint8_t *of, uint64_t number, const uint8_t *sealed,
                  size_t size, const uint8_t tag[DATA_TAG_SIZE], uint8_t *ret_plain)
{
    struct data_cipher *cipher = data_cipher_new(with, of);
    bool opened;

    memcpy(ret_plain, sealed, size);
    opened = data_cipher_open(cipher, number, ret_plain, size, tag);
    data_cipher_free(cipher);
    return opened;
}

/* Rule: bytes of any length come back, and the sealed ones differ from them. */
static void bytes_come_back(void **state)
{
    static const size_t sizes[] = { 1, 15, 16, 17, 511, 4096, 65535, 65536 };
    static uint8_t plain[BYTES_MAX], sealed[BYTES_MAX], opened[BYTES_MAX];
    struct data_cipher *cipher = data_cipher_new(key, salt);
    uint8_t tag[DATA_TAG_SIZE];

    (void)state;
    fill(plain, sizeof plain);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memcpy(sealed, plain, sizes[i]);
        data_cipher_seal(cipher, i, sealed, sizes[i], tag);
        if (sizes[i] > 8)
            assert_memory_not_equal(sealed, plain, sizes[i]);
        assert_true(opens(key, salt, i, sealed, sizes[i], tag, opened));
        assert_memory_equal(opened, plain, sizes[i]);
    }
    data_cipher_free(cipher);
}

/* Rule: another key, salt or number, a changed byte, tag or length: refused, and nothing is shown. */
static void changes_are_refused(void **state)
{
    uint8_t bytes[1000], sealed[sizeof bytes], opened[sizeof bytes], zeros[sizeof bytes] = { 0 };
    uint8_t tag[DATA_TAG_SIZE], other_key[DATA_KEY_SIZE], other_salt[DATA_SALT_SIZE];
    struct data_cipher *cipher = data_cipher_new(key, salt);

    (void)state;
    fill(bytes, sizeof bytes);
    memcpy(sealed, bytes, sizeof bytes);
    data_cipher_seal(cipher, 7, sealed, sizeof sealed, tag);
    data_cipher_free(cipher);
    assert_true(opens(key, salt, 7, sealed, sizeof sealed, tag, opened));
    memcpy(other_key, key, sizeof key);
    other_key[31] ^= 1;
    assert_false(opens(other_key, salt, 7, sealed, sizeof sealed, tag, opened));
    assert_memory_equal(opened, zeros, sizeof zeros);
    memcpy(other_salt, salt, sizeof salt);
    other_salt[0] ^= 1;
    assert_false(opens(key, other_salt, 7, sealed, sizeof sealed, tag, opened));
    assert_false(opens(key, salt, 8, sealed, sizeof sealed, tag, opened));
    assert_false(opens(key, salt, 7, sealed, sizeof sealed - 1, tag, opened));
    for (size_t i = 0; i < sizeof sealed; i += 37) {
        sealed[i] ^= 0x10;
        assert_false(opens(key, salt, 7, sealed, sizeof sealed, tag, opened));
        sealed[i] ^= 0x10;
    }
    for (size_t i = 0; i < sizeof tag; i++) {
        tag[i] ^= 0x80;
        assert_false(opens(key, salt, 7, sealed, sizeof sealed, tag, opened));
        tag[i] ^= 0x80;
    }
    assert_true(opens(key, salt, 7, sealed, sizeof sealed, tag, opened));
}

/* Rule: the stored form is AES-256-GCM under HMAC-SHA256(key, label | salt), with the number as
 * nonce; calculated with another library. A change would make stored data unreadable. */
static void stored_form(void **state)
{
    static const uint8_t label[] = "lagra data key 1";
    struct data_cipher *cipher = data_cipher_new(key, salt);
    uint8_t data_key[DATA_KEY_SIZE], bytes[100], expected[sizeof bytes];
    uint8_t nonce[GCM_IV_SIZE] = { 0 }, tag[DATA_TAG_SIZE], expected_tag[DATA_TAG_SIZE];
    struct hmac_sha256_ctx hmac;
    struct gcm_aes256_ctx gcm;

    (void)state;
    hmac_sha256_set_key(&hmac, sizeof key, key);
    hmac_sha256_update(&hmac, sizeof label, label);
    hmac_sha256_update(&hmac, sizeof salt, salt);
    hmac_sha256_digest(&hmac, sizeof data_key, data_key);
    gcm_aes256_set_key(&gcm, data_key);
    nonce[10] = 0x01;
    nonce[11] = 0x02; /* 258 */
    gcm_aes256_set_iv(&gcm, sizeof nonce, nonce);
    fill(bytes, sizeof bytes);
    gcm_aes256_encrypt(&gcm, sizeof bytes, expected, bytes);
    gcm_aes256_digest(&gcm, sizeof expected_tag, expected_tag);
    data_cipher_seal(cipher, 258, bytes, sizeof bytes, tag);
    data_cipher_free(cipher);
    assert_memory_equal(bytes, expected, sizeof bytes);
    assert_memory_equal(tag, expected_tag, sizeof tag);
}

/* Rule: salts differ; the hash of a key is its SHA-256, as clients calculate it. */
static void salts_and_hashes(void **state)
{
    /* of the Azure SDKs' test key, "0123456701234567..." */
    static const uint8_t expected[] = { 0xdd, 0x01, 0x45, 0x16, 0x94, 0x40, 0xe7, 0xe5 };
    uint8_t a[DATA_SALT_SIZE], b[DATA_SALT_SIZE], hash[KEY_HASH_SIZE];

    (void)state;
    data_salt_new(a);
    data_salt_new(b);
    assert_memory_not_equal(a, b, sizeof a);
    key_hash(key, hash);
    assert_memory_equal(hash, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back),
        cmocka_unit_test(changes_are_refused),
        cmocka_unit_test(stored_form),
        cmocka_unit_test(salts_and_hashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
