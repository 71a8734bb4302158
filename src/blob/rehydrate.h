/* Inside blob/ only: an archived blob comes back to a tier that can be read, after a time, by a
 * deferred task; one that is due and whose blob waits for another instant
 * has nothing to do. rest: Set-Blob-Tier */
#ifndef LAGRA_BLOB_REHYDRATE_H
#define LAGRA_BLOB_REHYDRATE_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Stored, as expire_blocks.h says. */
enum { TASK_REHYDRATE = 0x110 };

/* Adds the task of a blob or snapshot whose rehydrated_at is set. */
void rehydrate_defer(struct changes *changes, const struct blob *blob);
/* Does it. */
task_fn rehydrate_blob;

#endif
