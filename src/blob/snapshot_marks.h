/* Inside blob/, and for programs that look at records of blobs: changes of many snapshots of one blob whose records
 * are still as they were. Delete Blob and Undelete Blob change a few snapshots themselves; of more they write a mark,
 * and a deferred task changes the records in steps (snapshot_changes.c). Until then every reader of a snapshot reads
 * the marks too, in the same state of the partition, and takes the snapshot as they leave it. decisions: 249, 792
 *
 * The record is LISTED and comes before the snapshots, so that List Blobs meets it first. A partition has one
 * at most, and a task while it has one.
 *
 *   key    0x00
 *   value  u8 1 (version); v from; v until                       one mark, which is MARK_GONE
 *          u8 2; u8 count; each: u8 kind; v from; v until; v at; v expires
 * Version 1 is still written where it will do: earlier programs read it.
 *
 * All functions: any thread. */
#ifndef LAGRA_BLOB_SNAPSHOT_MARKS_H
#define LAGRA_BLOB_SNAPSHOT_MARKS_H

#include "store/store.h"

struct blob;

/* Stored: numbers stay. */
enum mark_kind {
    MARK_GONE = 0,      /* not there any more, whatever it was */
    MARK_LIVE_GONE = 1, /* the same, but what is soft-deleted by then stays so */
    MARK_DELETED = 2,   /* soft-deleted, but what is so by then stays as it is */
    MARK_RESTORED = 3,  /* soft-deleted no more, but what had expired by then stays so */
};
#define MARK_KINDS 4u

/* Of the snapshots whose dates are in the range; MARK_RESTORED of versions too. Under MARK_GONE there are none. */
struct snapshot_mark {
    enum mark_kind kind;
    instant from, until; /* ticks, both within the range; the task moves `from` */
    instant at;          /* when it was made; of MARK_GONE not kept: `until` */
    instant expires;     /* of MARK_DELETED */
};

/* The oldest first: that is the order in which they take effect. */
#define MARKS_MAX 8u
struct snapshot_marks {
    struct snapshot_mark items[MARKS_MAX];
    unsigned count;
};

extern const struct bytes snapshot_marks_key;

/* returns STORE_OK, also if there are none; STORE_CORRUPT (logged), STORE_WAIT, STORE_IO */
enum store_result snapshot_marks_read(struct snapshot *before, struct arena *arena,
                                      struct snapshot_marks *ret_marks);
/* Writes them, or deletes the record if there are none. */
void snapshot_marks_write(struct changes *changes, struct arena *arena,
                          const struct snapshot_marks *marks);
/* For iterators. */
bool snapshot_marks_decode(struct bytes value, struct snapshot_marks *ret_marks);

/* Does the mark change the snapshot? *snapshot is brought to what it leaves, unless that is nothing. */
enum mark_outcome { MARK_LEAVES_IT, MARK_CHANGES_IT, MARK_ENDS_IT };
enum mark_outcome snapshot_mark_apply(const struct snapshot_mark *mark, struct blob *snapshot);
/* All of them, on a snapshot as its record has it. False: it is gone. */
bool snapshot_marks_apply(const struct snapshot_marks *marks, struct blob *snapshot);

#endif
