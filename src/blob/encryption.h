/* Checks the keys of blobs that are encrypted with a key of the customer. Internal to blob/ and
 * dfs/. All content of such a blob is in encrypted pieces (store/piece.h), and its metadata is
 * encrypted too; the record has the SHA-256 of the key. Snapshots and versions keep the key that
 * their blob had. An operation that reads or extends the content or reads or writes metadata needs
 * the key; an overwriting one does not. docs: Provide an encryption key on a request to Blob
 * storage; decision: 1420, 1421 */
#ifndef LAGRA_BLOB_ENCRYPTION_H
#define LAGRA_BLOB_ENCRYPTION_H

#include "blob/blob.h"

/* Returns the encryption of what the request writes. */
struct encryption encryption_of_request(const struct decision *d);
/* Checks that the request has the key, or none if there is none.
 *
 * Returns OK, E_BlobUsesCustomerSpecifiedEncryption, E_BlobDoesNotUseCustomerSpecifiedEncryption,
 * E_BlobCustomerSpecifiedEncryptionMismatch. */
enum error encryption_check(const struct decision *d, const struct encryption *encryption);
/* Checks the key of the blob like encryption_check(), and decrypts its metadata. */
enum error encryption_open(struct decision *d, struct blob *blob);
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
