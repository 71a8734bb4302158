/* Encrypts stored bytes with AES-256-GCM. Each cipher has its own data key, derived from a key and
 * a salt, so in practice the number of bytes encrypted with one key is unlimited. Each run of bytes
 * has a number, which is its nonce.
 *
 * Invariants:
 *  (1) A salt is random and used for one cipher that encrypts. A cipher encrypts each number once.
 *  (2) Data keys and copies of keys are wiped before their memory is freed. */
#ifndef LAGRA_BASE_DATA_CIPHER_H
#define LAGRA_BASE_DATA_CIPHER_H

#include "base/bytes.h"

#define DATA_KEY_SIZE  32
#define DATA_SALT_SIZE 16
#define DATA_TAG_SIZE  16
#define KEY_HASH_SIZE  32 /* SHA-256 */

/* Used by one thread at a time. */
struct data_cipher;
struct data_cipher *data_cipher_new(const uint8_t key[DATA_KEY_SIZE],
                                    const uint8_t salt[DATA_SALT_SIZE]);
/* Wipes and frees it. cipher: may be NULL */
void data_cipher_free(struct data_cipher *cipher);
/* Encrypts bytes in place. */
void data_cipher_seal(struct data_cipher *cipher, uint64_t number, void *bytes, size_t size,
                      uint8_t ret_tag[DATA_TAG_SIZE]);
/* Decrypts bytes in place. Returns false, and zeroes them, if they were not encrypted with this
 * key, salt and number, or have changed since. */
bool data_cipher_open(struct data_cipher *cipher, uint64_t number, void *bytes, size_t size,
                      const uint8_t tag[DATA_TAG_SIZE]);
/* Encrypts or decrypts like the two above, with associated data, which is not encrypted, but must
 * be the same when the bytes are decrypted. */
void data_cipher_seal_bound(struct data_cipher *cipher, uint64_t number, struct bytes bound,
                            void *bytes, size_t size, uint8_t ret_tag[DATA_TAG_SIZE]);
bool data_cipher_open_bound(struct data_cipher *cipher, uint64_t number, struct bytes bound,
                            void *bytes, size_t size, const uint8_t tag[DATA_TAG_SIZE]);

/* Fills a salt with random bytes. Thread-safe. */
void data_salt_new(uint8_t ret_salt[DATA_SALT_SIZE]);
/* Fills a key with random bytes. Thread-safe. */
void data_key_new(uint8_t ret_key[DATA_KEY_SIZE]);
/* Returns the SHA-256 of a key, which identifies it. */
void key_hash(const uint8_t key[DATA_KEY_SIZE], uint8_t ret_hash[KEY_HASH_SIZE]);

#endif
