/* See encryption.h. */
#include "blob/encryption.h"

#include <assert.h>

#include "base/log.h"
#include "service/blob_key.h"
#include "service/encryption_scopes.h"

/* Overhead of encrypted metadata: salt, tag, and then the bytes. */
#define METADATA_HEAD (DATA_SALT_SIZE + DATA_TAG_SIZE)

/* ---- encryption scopes ---- */

/* Determines the name of the scope, according to the request and the container. A customer's key is
 * another key than that of the default scope. rest: Create-Container
 * "x-ms-deny-encryption-scope-override" */
static enum error choose_scope(const struct decision *d, const struct container_scope *of_container,
                               struct bytes *ret_scope)
{
    const struct scope_use *use = &d->input->scope;
    const struct blob_key *key = d->input->key;
    bool has_customer_key = key && key->scope.len == 0;
    struct bytes named = encryption_scope_of_name(use->named);

    *ret_scope = use->named.ptr ? named : of_container->name;
    if (of_container->is_only && ((use->named.ptr && !bytes_equal(named, of_container->name)) ||
                                  (has_customer_key && of_container->name.len > 0)))
        return E_RequestForbiddenByContainerEncryptionPolicy;
    if (has_customer_key)
        *ret_scope = bytes_of("", 0);
    return OK;
}

enum error encryption_find_scope(struct decision *d, const struct container *container)
{
    const struct input *input = d->input;
    struct bytes of_key = input->key ? input->key->scope : bytes_of("", 0);
    enum error e;

    if (!input->scope.is_used)
        return OK;
    e = choose_scope(d, &container->scope, &d->scope);
    if (e)
        return e;
    if (d->scope.len > 0 && !encryption_scopes_is_enabled(input->scopes, input->account, d->scope))
        return E_EncryptionScopeNotAvailable;
    return !input->scope.is_found || bytes_equal(of_key, d->scope) ? OK : E_ServerBusy;
}

/* Finds the key of a scope for reading, unless it is that of the blob before. */
static enum error find_key(struct decision *d, const struct encryption *encryption)
{
    enum error e = OK;

    if (!d->content_key || !bytes_equal(d->content_key->scope, encryption->scope))
        e = encryption_scopes_key(d->input->scopes, d->input->account, encryption->scope, d->arena,
                                  &d->content_key);
    if (e)
        return e;
    /* A restored blob may have the key of a scope of that name on another server. */
    return memcmp(d->content_key->hash, encryption->key_hash, KEY_HASH_SIZE) == 0
               ? OK
               : E_EncryptionScopeNotAvailable;
}

/* ---- keys ---- */

struct encryption encryption_of_request(const struct decision *d)
{
    const struct blob_key *key = d->input->key;
    struct encryption encryption = { .has_key = key != NULL };

    assert(!d->input->scope.is_used || d->input->scope.is_found);
    if (!key)
        return encryption;
    memcpy(encryption.key_hash, key->hash, KEY_HASH_SIZE);
    encryption.scope = key->scope;
    return encryption;
}

enum error encryption_check(const struct decision *d, const struct encryption *encryption)
{
    const struct blob_key *key = d->input->key;

    if (!encryption->has_key)
        return key ? E_BlobDoesNotUseCustomerSpecifiedEncryption : OK;
    if (!key)
        return E_BlobUsesCustomerSpecifiedEncryption;
    return bytes_equal_secret(bytes_of(key->hash, KEY_HASH_SIZE),
                              bytes_of(encryption->key_hash, KEY_HASH_SIZE))
               ? OK
               : E_BlobCustomerSpecifiedEncryptionMismatch;
}

enum error encryption_check_metadata(const struct decision *d, const struct blob *blob,
                                     bool is_directory)
{
    const struct blob_key *key = d->input->key;

    if (is_directory && !blob->encryption.has_key && key && key->scope.len > 0)
        return OK;
    return encryption_check(d, &blob->encryption);
}

/* ---- metadata ---- */

/* Decrypts the metadata with d->content_key. Returns false if it has been changed. */
static bool decrypt_metadata(struct decision *d, struct blob *blob)
{
    struct bytes metadata = arena_copy(d->arena, bytes_from(blob->metadata, METADATA_HEAD));
    const uint8_t *head = (const uint8_t *)blob->metadata.ptr;
    struct data_cipher *cipher = data_cipher_new(d->content_key->key, head);
    bool opened = data_cipher_open(cipher, 0, (char *)(uintptr_t)metadata.ptr, metadata.len,
                                   head + DATA_SALT_SIZE);

    assert(blob->metadata.len > METADATA_HEAD); /* blob_decode() */
    data_cipher_free(cipher);
    if (!opened) {
        log_line(LOG_ERROR, "the encrypted metadata of a blob is corrupt");
        return false;
    }
    blob->metadata = metadata;
    blob->metadata_is_encrypted = false;
    return true;
}

enum error encryption_open(struct decision *d, struct blob *blob)
{
    bool is_of_scope = blob->encryption.scope.len > 0 && !d->input->key;
    enum error e =
        is_of_scope ? find_key(d, &blob->encryption) : encryption_check(d, &blob->encryption);

    if (e || !blob->encryption.has_key)
        return e;
    if (!is_of_scope)
        d->content_key = d->input->key;
    return !blob->metadata_is_encrypted || decrypt_metadata(d, blob)
               ? OK
               : decision_fail_content(d, STORE_CORRUPT);
}

void encryption_open_listed(struct decision *d, struct blob *blob)
{
    if (blob->metadata_is_encrypted && blob->encryption.scope.len > 0 &&
        !find_key(d, &blob->encryption))
        decrypt_metadata(d, blob);
}

void encryption_set_metadata(struct decision *d, struct blob *blob, struct bytes metadata)
{
    const struct blob_key *key = d->input->key;
    struct data_cipher *cipher;
    char *sealed;

    blob->metadata = metadata;
    blob->metadata_is_encrypted = blob->encryption.has_key && metadata.len > 0;
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
    return !blob->encryption.has_key || blob->metadata.len == 0 ||
           blob->metadata.len > METADATA_HEAD;
}

/* ---- blocks ---- */

struct bytes encryption_name(struct arena *arena, const struct encryption *encryption)
{
    return encryption->has_key ? arena_copy(arena, bytes_of(encryption->key_hash, KEY_HASH_SIZE))
                               : bytes_of(NULL, 0);
}

enum error encryption_check_block(const struct decision *d, const struct content_block *block)
{
    struct encryption encryption = { .has_key = block->encryption.ptr != NULL };

    if (encryption.has_key && block->encryption.len != KEY_HASH_SIZE)
        return E_InvalidBlockList;
    if (encryption.has_key)
        memcpy(encryption.key_hash, block->encryption.ptr, KEY_HASH_SIZE);
    return encryption_check(d, &encryption);
}
