/* Reads customer-provided keys: a request can contain the AES-256 key of its blob. The key exists
 * only in the request's memory, which is wiped when it is freed (arena_hold_secret()); only its
 * SHA-256 is stored. decision: 1420 rest: Encryption-at-rest; docs: Provide an encryption key on a
 * request to Blob storage */
#ifndef LAGRA_SERVICE_CUSTOMER_KEY_H
#define LAGRA_SERVICE_CUSTOMER_KEY_H

#include "base/arena.h"
#include "base/data_cipher.h"
#include "base/errors.h"

struct call;

struct customer_key {
    uint8_t key[DATA_KEY_SIZE];
    uint8_t hash[KEY_HASH_SIZE];
    /* salt for the one thing that the decision encrypts, so that each attempt encrypts to the same
     * bytes */
    uint8_t salt[DATA_SALT_SIZE];
};

/* Whether x-ms-encryption-algorithm is required: reads need not send it */
enum key_use { KEY_READS, KEY_WRITES };

/* Reads x-ms-encryption-key into call->input.key, and has the body encrypted with it. Without the
 * headers of a key, does not change it.
 *
 * Returns OK; E_UnsupportedHeader: the version or the connection does not allow keys;
 * E_MissingRequiredHeader; E_InvalidHeaderValue: the key is not base64 of 32 bytes, or does not
 * match its hash */
enum error customer_key_read(struct call *call, enum key_use use);
/* Refuses the headers of a key, without repeating it, where nothing is read with one. Returns OK or
 * E_UnsupportedHeader. */
enum error customer_key_refuse(struct call *call);
/* Reads x-ms-source-encryption-key, the key of a copy source. *ret_key: NULL if none was sent.
 * Returns like customer_key_read(). */
enum error customer_key_of_source(struct call *call, const struct customer_key **ret_key);

#endif
