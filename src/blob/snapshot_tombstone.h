/* Inside blob/, and for who looks at records of blobs: a range of deleted snapshots whose records are still
 * there. Delete Blob deletes a few snapshots itself; of more it writes this one record, and a deferred task
 * deletes them in steps (delete_blob.c). Until then nothing shows them: who reads one snapshot, or lists them,
 * reads the tombstone in the same state of the partition. decision: 249
 *
 * The record is LISTED and comes before the snapshots, so that List Blobs meets it first. A partition has one
 * at most, and exactly one task while it has one.
 *
 *   key    0x00
 *   value  u8 1 (version); v from; v until: ticks, both within the range
 *
 * All functions: any thread. */
#ifndef LAGRA_BLOB_SNAPSHOT_TOMBSTONE_H
#define LAGRA_BLOB_SNAPSHOT_TOMBSTONE_H

#include "store/store.h"

/* A snapshot is in the range if its date is. The task moves `from`, a further Delete Blob moves `until`. */
struct snapshot_tombstone {
    instant from;
    instant until; /* 0: there is no tombstone */
};

extern const struct bytes snapshot_tombstone_key;

/* returns STORE_OK, also if there is none; STORE_CORRUPT (logged), STORE_WAIT, STORE_CONFLICT, STORE_IO */
enum store_result snapshot_tombstone_read(struct snapshot *before, struct arena *arena,
                                          struct snapshot_tombstone *ret_tombstone);
/* Writes it, or deletes its record if `until` is 0. */
void snapshot_tombstone_write(struct changes *changes, struct arena *arena,
                              const struct snapshot_tombstone *tombstone);
/* For iterators. */
bool snapshot_tombstone_decode(struct bytes value, struct snapshot_tombstone *ret_tombstone);

#endif
