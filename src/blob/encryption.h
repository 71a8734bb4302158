/* Checks and uses the keys of blobs that are encrypted with a customer's key or with that of an
 * encryption scope. Internal to blob/ and dfs/. All content of such a blob is in encrypted pieces
 * (store/piece.h), and its metadata is encrypted too; the record has the SHA-256 of the key, and
 * the name of the scope. Snapshots and versions keep the key that their blob had. An operation that
 * extends the content or writes metadata needs the key, or names the scope. Reads need a customer's
 * key; they find that of a scope. An overwriting operation needs neither. Directories are not
 * encrypted. docs: Provide an encryption key on a request to Blob storage; Encryption scopes for
 * Blob storage; decisions: 1420, 1421, 1424, 1461 */
#ifndef LAGRA_BLOB_ENCRYPTION_H
#define LAGRA_BLOB_ENCRYPTION_H

#include "blob/blob.h"

/* Finds the scope that applies to what the operation writes into the container (d->scope), and once
 * input.key has been found for it, checks that it still applies.
 *
 * Returns OK; E_RequestForbiddenByContainerEncryptionPolicy; E_EncryptionScopeNotAvailable;
 * E_ServerBusy if input.key is that of another scope, because the container was created again */
enum error encryption_find_scope(struct decision *d, const struct container *container);

/* Returns the encryption of what the request writes. */
struct encryption encryption_of_request(const struct decision *d);
/* Checks that the request has the key, or none if there is none.
 *
 * Returns OK, E_BlobUsesCustomerSpecifiedEncryption, E_BlobDoesNotUseCustomerSpecifiedEncryption,
 * E_BlobCustomerSpecifiedEncryptionMismatch. */
enum error encryption_check(const struct decision *d, const struct encryption *encryption);
/* Checks the key like encryption_check(), before the metadata is replaced. A
 * directory accepts any scope. */
enum error encryption_check_metadata(const struct decision *d, const struct blob *blob,
                                     bool is_directory);
/* Finds the key for reading the blob (d->content_key), and decrypts its metadata. Returns the
 * errors of encryption_check(), E_EncryptionScopeNotAvailable. */
enum error encryption_open(struct decision *d, struct blob *blob);
/* Decrypts the metadata of a listed blob, if its key is that of a scope that is available. */
void encryption_open_listed(struct decision *d, struct blob *blob);
/* Sets the metadata of a blob whose key the request has. At most once per decision, because the
 * request has one salt. */
void encryption_set_metadata(struct decision *d, struct blob *blob, struct bytes metadata);
/* Encodes the encryption for the record of an uncommitted block (struct content_block), ptr NULL if
 * there is none. */
struct bytes encryption_name(struct arena *arena, const struct encryption *encryption);
/* Checks that a block was staged with the key of the request, or with none. Returns the errors of
 * encryption_check(). */
enum error encryption_check_block(const struct decision *d, const struct content_block *block);

#endif
