/* Last access time of block blobs, in accounts with the setting lastAccessTracking: of the creation
 * or, at most a day old, of the newest Get Blob. A read does not wait for it, and does not fail
 * because of it: a background job writes the time in a commit of its own, which changes neither ETag
 * nor modification time. If the job is lost, the next read starts another one.
 * rest: Get-Blob-Properties "x-ms-last-access-time"; decision: 1440 */
#ifndef LAGRA_BLOB_ACCESS_TIME_H
#define LAGRA_BLOB_ACCESS_TIME_H

#include "blob/blob.h"
#include "service/call.h"

/* Returns the time for a new block blob; 0 if access is not tracked. */
instant access_time_of_new(const struct decision *d, enum blob_type type);
/* Returns true if a read of the blob at this instant must be noted. */
bool access_is_due(const struct input *input, const struct blob *blob, instant now);
/* Starts a job that notes a read of the blob in this partition, unless one is queued already or there
 * are too many jobs. Called on a worker; does not block. */
void access_note(const struct call *call, const struct partition *at);

#endif
