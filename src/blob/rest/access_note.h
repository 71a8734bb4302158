/* Notes reads of blobs whose account tracks them (blob/access_time.h). Internal to blob/ and dfs/. */
#ifndef LAGRA_BLOB_REST_ACCESS_NOTE_H
#define LAGRA_BLOB_REST_ACCESS_NOTE_H

#include "service/call.h"

/* Starts a job that notes a read of the blob in this partition, unless one is queued already or there
 * are too many jobs. If the job is lost, the next read starts another one. Called on a worker; does
 * not block. */
void access_note(const struct call *call, const struct partition *at);

#endif
