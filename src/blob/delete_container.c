/* Delete Container. */
#include "blob/container_deletion.h"
#include "blob/container_operations.h"

/* Deletes the container's record and drops its space in one change: all blobs are gone with it, and
 * their leases do not matter. One that was deleted a moment ago needs nothing more.
 * rest: Delete-Container; semantics 3.4; decision: 62 */
enum error delete_container_decide(struct decision *d, const struct delete_container_parameters *p,
                                   struct delete_container_result *r)
{
    (void)p;
    (void)r;
    if (!d->subject.exists)
        return OK;
    container_deletion_note(d->changes, d->arena, d->now);
    container_delete_record(d->changes);
    changes_drop_space(d->changes, blob_state(d)->container.space);
    return OK;
}
