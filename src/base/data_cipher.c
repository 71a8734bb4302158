/* See data_cipher.h. GnuTLS's GCM is twice as fast as nettle's. */
#include "base/data_cipher.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <nettle/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/arena.h"
#include "base/endian.h"

#define NONCE_SIZE 12

struct data_cipher {
    gnutls_aead_cipher_hd_t gcm;
};

/* Derives the data key: HMAC-SHA256(key, label | salt). For a key of 32 bytes, one block of a
 * counter-mode KDF suffices. */
static void derive(const uint8_t key[DATA_KEY_SIZE], const uint8_t salt[DATA_SALT_SIZE],
                   uint8_t ret_key[DATA_KEY_SIZE])
{
    static const uint8_t label[] = "lagra data key 1";
    struct hmac_sha256_ctx hmac;

    hmac_sha256_set_key(&hmac, DATA_KEY_SIZE, key);
    hmac_sha256_update(&hmac, sizeof label, label);
    hmac_sha256_update(&hmac, DATA_SALT_SIZE, salt);
    hmac_sha256_digest(&hmac, DATA_KEY_SIZE, ret_key);
    explicit_bzero(&hmac, sizeof hmac);
}

struct data_cipher *data_cipher_new(const uint8_t key[DATA_KEY_SIZE],
                                    const uint8_t salt[DATA_SALT_SIZE])
{
    struct data_cipher *cipher = xcalloc(1, sizeof *cipher);
    uint8_t data_key[DATA_KEY_SIZE];
    gnutls_datum_t datum = { .data = data_key, .size = sizeof data_key };
    int result;

    derive(key, salt, data_key);
    result = gnutls_aead_cipher_init(&cipher->gcm, GNUTLS_CIPHER_AES_256_GCM, &datum);
    explicit_bzero(data_key, sizeof data_key);
    if (result == GNUTLS_E_MEMORY_ERROR)
        out_of_memory(sizeof data_key);
    assert(result == GNUTLS_E_SUCCESS);
    return cipher;
}

void data_cipher_free(struct data_cipher *cipher)
{
    if (!cipher)
        return;
    gnutls_aead_cipher_deinit(cipher->gcm); /* wipes the key schedule */
    free(cipher);
}

static void nonce_of(uint64_t number, uint8_t ret_nonce[NONCE_SIZE])
{
    memset(ret_nonce, 0, NONCE_SIZE);
    be64_put((char *)ret_nonce + NONCE_SIZE - 8, number);
}

void data_cipher_seal(struct data_cipher *cipher, uint64_t number, void *bytes, size_t size,
                      uint8_t ret_tag[DATA_TAG_SIZE])
{
    data_cipher_seal_bound(cipher, number, bytes_of(NULL, 0), bytes, size, ret_tag);
}

bool data_cipher_open(struct data_cipher *cipher, uint64_t number, void *bytes, size_t size,
                      const uint8_t tag[DATA_TAG_SIZE])
{
    return data_cipher_open_bound(cipher, number, bytes_of(NULL, 0), bytes, size, tag);
}

void data_cipher_seal_bound(struct data_cipher *cipher, uint64_t number, struct bytes bound,
                            void *bytes, size_t size, uint8_t ret_tag[DATA_TAG_SIZE])
{
    const giovec_t run = { .iov_base = bytes, .iov_len = size };
    const giovec_t data = { .iov_base = (void *)(uintptr_t)bound.ptr, .iov_len = bound.len };
    uint8_t nonce[NONCE_SIZE];
    size_t tag_size = DATA_TAG_SIZE;
    int result;

    nonce_of(number, nonce);
    result = gnutls_aead_cipher_encryptv2(cipher->gcm, nonce, sizeof nonce, &data,
                                          bound.len > 0 ? 1 : 0, &run, 1, ret_tag, &tag_size);
    assert(result == GNUTLS_E_SUCCESS && tag_size == DATA_TAG_SIZE);
}

bool data_cipher_open_bound(struct data_cipher *cipher, uint64_t number, struct bytes bound,
                            void *bytes, size_t size, const uint8_t tag[DATA_TAG_SIZE])
{
    const giovec_t run = { .iov_base = bytes, .iov_len = size };
    const giovec_t data = { .iov_base = (void *)(uintptr_t)bound.ptr, .iov_len = bound.len };
    uint8_t nonce[NONCE_SIZE];

    nonce_of(number, nonce);
    if (gnutls_aead_cipher_decryptv2(cipher->gcm, nonce, sizeof nonce, &data, bound.len > 0 ? 1 : 0,
                                     &run, 1, (void *)(uintptr_t)tag,
                                     DATA_TAG_SIZE) == GNUTLS_E_SUCCESS)
        return true;
    memset(bytes, 0, size);
    return false;
}

static void fill_random(uint8_t *to, size_t size)
{
    ssize_t got;

    do {
        got = getrandom(to, size, 0);
    } while (got < 0); /* interrupted; it fails for no other reason */
    assert(got == (ssize_t)size);
}

void data_salt_new(uint8_t ret_salt[DATA_SALT_SIZE])
{
    fill_random(ret_salt, DATA_SALT_SIZE);
}

void data_key_new(uint8_t ret_key[DATA_KEY_SIZE])
{
    fill_random(ret_key, DATA_KEY_SIZE);
}

void key_hash(const uint8_t key[DATA_KEY_SIZE], uint8_t ret_hash[KEY_HASH_SIZE])
{
    struct sha256_ctx sha;

    sha256_init(&sha);
    sha256_update(&sha, DATA_KEY_SIZE, key);
    sha256_digest(&sha, KEY_HASH_SIZE, ret_hash);
    explicit_bzero(&sha, sizeof sha);
}
