/* See encryption.h. */
#include "blob/encryption.h"

#include <assert.h>

#include "base/log.h"
#include "service/customer_key.h"

/* Overhead of encrypted metadata: salt, tag, and then the bytes. */
#define METADATA_HEAD (DATA_SALT_SIZE + DATA_TAG_SIZE)

struct encryption encryption_of_request(const struct decision *d)
{
    struct encryption encryption = { .by_customer = d->input->key != NULL };

    if (encryption.by_customer)
        memcpy(encryption.key_hash, d->input->key->hash, KEY_HASH_SIZE);
    return encryption;
}

enum error encryption_check(const struct decision *d, const struct encryption *encryption)
{
    const struct customer_key *key = d->input->key;

    if (!encryption->by_customer)
        return key ? E_BlobDoesNotUseCustomerSpecifiedEncryption : OK;
    if (!key)
        return E_BlobUsesCustomerSpecifiedEncryption;
    return bytes_equal_secret(bytes_of(key->hash, KEY_HASH_SIZE),
                              bytes_of(encryption->key_hash, KEY_HASH_SIZE))
               ? OK
               : E_BlobCustomerSpecifiedEncryptionMismatch;
}

/* ---- metadata ---- */

enum error encryption_open(struct decision *d, struct blob *blob)
{
    enum error e = encryption_check(d, &blob->encryption);
    struct data_cipher *cipher;
    struct bytes metadata;
    bool opened;

    if (e || !blob->metadata_is_encrypted)
        return e;
    assert(blob->metadata.len > METADATA_HEAD); /* blob_decode() */
    metadata = arena_copy(d->arena, bytes_from(blob->metadata, METADATA_HEAD));
    cipher = data_cipher_new(d->input->key->key, (const uint8_t *)blob->metadata.ptr);
    opened = data_cipher_open(cipher, 0, (char *)(uintptr_t)metadata.ptr, metadata.len,
                              (const uint8_t *)blob->metadata.ptr + DATA_SALT_SIZE);
    data_cipher_free(cipher);
    if (!opened) {
        log_line(LOG_ERROR, "the encrypted metadata of a blob is corrupt");
        return decision_fail_content(d, STORE_CORRUPT);
    }
    blob->metadata = metadata;
    blob->metadata_is_encrypted = false;
    return OK;
}

void encryption_set_metadata(struct decision *d, struct blob *blob, struct bytes metadata)
{
    const struct customer_key *key = d->input->key;
    struct data_cipher *cipher;
    char *sealed;

    blob->metadata = metadata;
    blob->metadata_is_encrypted = blob->encryption.by_customer && metadata.len > 0;
    if (!blob->metadata_is_encrypted)
        return;
    sealed = arena_bytes(d->arena, METADATA_HEAD + metadata.len);
    memcpy(sealed, key->salt, DATA_SALT_SIZE);
    memcpy(sealed + METADATA_HEAD, metadata.ptr, metadata.len);
    cipher = data_cipher_new(key->key, key->salt);
    data_cipher_seal(cipher, 0, sealed + METADATA_HEAD, metadata.len,
                     (uint8_t *)sealed + DATA_SALT_SIZE);
    data_cipher_free(cipher);
    blob->metadata = bytes_of(sealed, METADATA_HEAD + metadata.len);
}

bool blob_encryption_is_valid(const struct blob *blob)
{
    return !blob->encryption.by_customer || blob->metadata.len == 0 ||
           blob->metadata.len > METADATA_HEAD;
}

/* ---- blocks ---- */

struct bytes encryption_name(struct arena *arena, const struct encryption *encryption)
{
    return encryption->by_customer
               ? arena_copy(arena, bytes_of(encryption->key_hash, KEY_HASH_SIZE))
               : bytes_of(NULL, 0);
}

enum error encryption_check_block(const struct decision *d, const struct content_block *block)
{
    struct encryption encryption = { .by_customer = block->encryption.ptr != NULL };

    if (encryption.by_customer && block->encryption.len != KEY_HASH_SIZE)
        return E_InvalidBlockList;
    if (encryption.by_customer)
        memcpy(encryption.key_hash, block->encryption.ptr, KEY_HASH_SIZE);
    return encryption_check(d, &encryption);
}
