/* Inside blob/ only: what an account keeps of its blobs, for how long of what is deleted, and the task at the end of that.
 * rest: Set-Blob-Service-Properties "DeleteRetentionPolicy"; decision: 791 */
#ifndef LAGRA_BLOB_RETENTION_H
#define LAGRA_BLOB_RETENTION_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Stored, as expire_blocks.h says. */
enum { TASK_EXPIRE_DELETED = 0x130 };

struct retention {
    instant expires;       /* of what is deleted now; 0: nothing is kept */
    bool allows_permanent; /* what is kept may be deleted for good before that */
    bool is_versioned;     /* what is overwritten or deleted stays as a version (version.h) */
};

/* The account's as it is now. A policy that is set while this decision goes on need not count for it: the partition
 * of the service's properties is no guard, for all writes of an account would meet at its lock.
 * returns as service_properties_read() */
enum store_result retention_find(struct decision *d, struct bytes account,
                                 struct retention *ret_retention);
/* The deletion of now. */
static inline struct blob_deletion retention_deletion(const struct decision *d,
                                                      const struct retention *retention)
{
    return (struct blob_deletion){ .at = d->now, .expires = retention->expires };
}
/* Adds the task that deletes for good what was soft-deleted at *deletion: the base, and those of the snapshots
 * dated from `from` to `until`, which may be versions; both 0: no snapshot. */
void expire_deleted_defer(struct changes *changes, const struct blob_deletion *deletion,
                          instant from, instant until);
/* Does it. */
task_fn expire_deleted;

#endif
