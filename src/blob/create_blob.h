/* Internal to blob/ and dfs/: shared by Put Blob of every type, Put Block List and Path Create,
 * which replace an entire blob in one atomic step. */
#ifndef LAGRA_BLOB_CREATE_BLOB_H
#define LAGRA_BLOB_CREATE_BLOB_H

#include "blob/blob_operations.h"
#include "blob/uncommitted.h"

/* Returns the new blob as specified by the request, without content, with the lease of the old blob
 * and, if that is of the same type, its creation time and tier.
 *
 * Returns OK, E_BlobArchived, or an error of immutability_give(). */
enum error create_blob_begin(struct decision *d, enum blob_type type,
                             const struct create_blob *given, struct blob *ret_blob);
/* Releases or retains the old content, gives the blob its version id, drops the uncommitted blocks,
 * and writes the blob.
 *
 * blocks: of the new content; NULL: it does not consist of blocks
 * account: of the blob
 *
 * Returns OK, E_InvalidBlobType if it has versions of another type, or an error of
 * keep_overwritten(). */
enum error create_blob_commit(struct decision *d, struct blob *blob,
                              const struct named_blocks *blocks, struct bytes account);

#endif
