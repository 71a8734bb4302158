/* Delete Container. */
#include "blob/container_private.h"

/* Deletes the container's record and drops its space in one change: all blobs are gone with it, and
 * their leases do not matter. rest: Delete-Container; semantics 3.4 */
enum error delete_container(struct decision *d)
{
    container_delete_record(d->changes);
    changes_drop_space(d->changes, blob_state(d)->container.space);
    answer(d, 202);
    return OK;
}
