/* A key that encrypts the content and metadata of a blob: a key that the customer provides
 * (customer_key.h), or that of an encryption scope (encryption_scopes.h). It is in the arena of a
 * request or job, which is wiped when it is freed (arena_hold_secret()). decision: 1420 */
#ifndef LAGRA_SERVICE_BLOB_KEY_H
#define LAGRA_SERVICE_BLOB_KEY_H

#include "base/bytes.h"
#include "base/data_cipher.h"

struct blob_key {
    uint8_t key[DATA_KEY_SIZE];
    uint8_t hash[KEY_HASH_SIZE];
    /* salt for the one thing that a decision encrypts, so that each attempt encrypts to the same
     * bytes */
    uint8_t salt[DATA_SALT_SIZE];
    struct bytes scope; /* name of the encryption scope; empty for a customer's key */
};

#endif
