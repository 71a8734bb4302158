/* Changes of containers as a whole: their contents appear, disappear and reappear with the record
 * of the container, in the same commit. All may read the clock again. See container_root.h. */
#ifndef LAGRA_BLOB_CONTAINER_CONTENTS_H
#define LAGRA_BLOB_CONTAINER_CONTENTS_H

#include "blob/blob.h"

/* Creates the root directory of a new container, unless it is that of its tree. Returns STORE_OK,
 * STORE_CONFLICT, or another failure. */
enum store_result container_create_root(struct decision *d, const struct container *container);
/* Deletes the contents of a container whose record is deleted in the same changes; with
 * is_retained, they only become unreachable. Returns like container_create_root(). */
enum store_result container_drop(struct decision *d, const struct container *container,
                                 bool is_retained);
/* Restores the contents of a container that was deleted and retained. */
enum store_result container_restore(struct decision *d, const struct container *container);
/* Deletes the contents of such a container for good. */
enum store_result container_drop_retained(struct decision *d, const struct container *container);

#endif
