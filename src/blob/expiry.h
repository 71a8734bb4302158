/* Deletes files of hierarchical containers when they expire. A file that has expired does not exist
 * for any request (blob_has_expired()), and its task deletes it. blob_change() adds and removes the
 * task with the time in the record. rest: Set-Blob-Expiry; decisions: 1292 to 1294 */
#ifndef LAGRA_BLOB_EXPIRY_H
#define LAGRA_BLOB_EXPIRY_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"

/* Stored, see uncommitted.h. */
enum { TASK_EXPIRE_FILE = 0x170 };
task_fn expire_file_task; /* expire_file.c */

enum expiry_option {
    EXPIRY_NEVER,
    EXPIRY_ABSOLUTE,
    EXPIRY_SINCE_CREATION,
    EXPIRY_SINCE_NOW,
};
struct expiry_request {
    enum expiry_option option;
    uint64_t ticks;     /* an instant, or since creation or now */
    struct bytes given; /* x-ms-expiry-time */
};
/* Reads x-ms-expiry-option and x-ms-expiry-time. Returns OK, E_MissingRequiredHeader,
 * E_InvalidHeaderValue. */
enum error expiry_read_request(struct call *call, struct expiry_request *ret_request);
/* Adds x-ms-expiry-time if the file has one. */
void answer_expiry(struct answer *a, const struct blob *blob);

/* Sets the expiry that a request specifies. Returns OK; E_HierarchicalNamespaceNotEnabled;
 * E_OperationNotSupportedOnDirectory; E_InvalidHeaderValue if it would be in the past. */
enum error expiry_set(struct decision *d, const struct expiry_request *request, struct blob *blob);

/* Replaces the task of the record *was by that of *now; either may be NULL. Returns the record to
 * write: `now`, or a copy with its task. */
const struct blob *expiry_follow(struct decision *d, const struct blob *was,
                                 const struct blob *now);

/* Finds out whether the directory of the state has only entries that have expired. Returns OK, or an
 * error of decision_fail_store(). */
enum error expired_files_only(struct decision *d, bool *ret_only);

#endif
