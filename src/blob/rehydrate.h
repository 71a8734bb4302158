/* Inside blob/ only: an archived blob comes back to a tier that can be read, after a time. It is an
 * item of the list of things to do later; one that is due and whose blob waits for another instant
 * has nothing to do. rest: Set-Blob-Tier */
#ifndef LAGRA_BLOB_REHYDRATE_H
#define LAGRA_BLOB_REHYDRATE_H

#include "blob/blob.h"
#include "service/later.h"

/* Stored, as expire_blocks.h says. */
enum { LATER_REHYDRATE = 0x110 };

/* Adds the item of a blob or snapshot whose rehydrated_at is set. */
void rehydrate_later(struct changes *changes, const struct blob *blob);
/* Does it. */
later_fn rehydrate_blob;

#endif
