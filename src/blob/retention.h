/* Internal to blob/: soft delete and versioning of an account, and the task that deletes expired
 * blobs. rest: Set-Blob-Service-Properties "DeleteRetentionPolicy"; decision: 791 */
#ifndef LAGRA_BLOB_RETENTION_H
#define LAGRA_BLOB_RETENTION_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Stored, see uncommitted.h. */
enum { TASK_EXPIRE_DELETED = 0x130 };

struct retention {
    instant expires;       /* of a blob deleted now; 0: soft delete is off */
    bool allows_permanent; /* soft-deleted blobs may be permanently deleted before they expire */
    bool is_versioned;     /* old states are retained as versions (keep_blob.h) */
};

/* Reads the account's current policy. The decision need not see a policy that is set while it runs:
 * the partition of the service properties is not a guard, because all writes of an account would
 * contend for its lock.
 *
 * Returns the results of service_properties_read(). */
enum store_result retention_find(struct decision *d, struct bytes account,
                                 struct retention *ret_retention);
/* Reads the policy for the deletion of a path of a hierarchical container. For all other changes in
 * one, retention_find() finds no retention. Returns like service_properties_read(). */
enum store_result retention_find_of_paths(struct decision *d, struct bytes account,
                                          struct retention *ret_retention);
/* Returns a deletion at the current time. */
static inline struct blob_deletion retention_deletion(const struct decision *d,
                                                      const struct retention *retention)
{
    return (struct blob_deletion){ .at = d->now, .expires = retention->expires };
}
/* Adds the task that permanently deletes everything that was soft-deleted at *deletion: the base,
 * and the snapshots and versions dated `from` to `until`; both 0: none. */
void expire_deleted_defer(struct changes *changes, const struct blob_deletion *deletion,
                          instant from, instant until);
/* Runs the task. */
task_fn expire_deleted;

#endif
