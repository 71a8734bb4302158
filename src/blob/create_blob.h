/* Inside blob/ only: what Put Blob of every type and Put Block List share: they write the whole
 * state of a blob, in one atomic step that replaces what was there. */
#ifndef LAGRA_BLOB_CREATE_BLOB_H
#define LAGRA_BLOB_CREATE_BLOB_H

#include "blob/blob_operations.h"
#include "blob/uncommitted.h"

/* The blob to be: what the request says and what it keeps of the blob that was: the lease, and of
 * one of the same type the creation time and the tier. Its content is empty so far.
 * returns OK, E_BlobArchived */
enum error create_blob_begin(struct decision *d, enum blob_type type,
                             const struct create_blob *given, struct blob *ret_blob);
/* Releases or keeps the content that was, gives the blob its version id, releases the uncommitted blocks, and writes the
 * blob.
 * blocks: what the new content is made of; NULL: of bytes that are no blocks
 * account: whose blob it is
 * returns OK, E_InvalidBlobType: it has versions of another type; as keep_overwritten() */
enum error create_blob_commit(struct decision *d, struct blob *blob,
                              const struct named_blocks *blocks, struct bytes account);

#endif
