/* Tracks the last access time of block blobs, in accounts with the setting lastAccessTracking: their
 * creation or, at most a day old, the newest Get Blob. A read does not wait for it, and does not fail
 * because of it: a background job (rest/access_note.h) writes the time in a commit of its own, which
 * changes neither ETag nor modification time. rest: Get-Blob-Properties "x-ms-last-access-time";
 * decision: 1440 */
#ifndef LAGRA_BLOB_ACCESS_TIME_H
#define LAGRA_BLOB_ACCESS_TIME_H

#include "blob/blob.h"

/* Returns the time for a new blob; 0 if access is not tracked. */
instant access_time_of_new(const struct decision *d, enum blob_type type);
/* Returns true if a read of the blob must be noted. */
bool access_is_due(const struct decision *d, const struct blob *blob);
/* Sets the time of the base blob in this partition, unless it was set since. An attempt. */
enum error access_time_write(struct decision *d, struct partition at);

#endif
