/* Internal to blob/, and for programs that inspect records of blobs: changes of many snapshots of a
 * blob that are not yet in their records. Delete Blob and Undelete Blob change a few snapshots
 * directly; for more they write a mark, and a deferred task changes the records in steps
 * (snapshot_changes.c). Until then every reader of a snapshot also reads the marks, in the same
 * state of the partition, and applies them. decisions: 249, 792
 *
 * The record is LISTED and precedes the snapshots, so that List Blobs reads it first. A partition
 * has at most one marks record, and a pending task for as long as that record exists.
 *
 *   key    0x00
 *   value  u8 1 (version); v from; v until                       one mark, which is MARK_GONE
 *          u8 2; u8 count; each: u8 kind; v from; v until; v at; v expires
 * Version 1 is still written where it suffices: earlier programs read it.
 *
 * Thread-safe. */
#ifndef LAGRA_BLOB_SNAPSHOT_MARKS_H
#define LAGRA_BLOB_SNAPSHOT_MARKS_H

#include "store/store.h"

struct blob;

/* Stored: do not change the numbers. */
enum mark_kind {
    MARK_GONE = 0,      /* deleted, soft-deleted or not */
    MARK_LIVE_GONE = 1, /* deleted, except those already soft-deleted */
    MARK_DELETED = 2,   /* soft-deleted, except those already soft-deleted */
    MARK_RESTORED = 3,  /* undeleted, except those already expired */
};
#define MARK_KINDS 4u

/* Applies to the snapshots whose dates are in the range; MARK_RESTORED to versions too. A range
 * with MARK_GONE contains no versions. */
struct snapshot_mark {
    enum mark_kind kind;
    instant from, until; /* ticks, inclusive; the task advances `from` */
    /* creation time of the mark; not stored for MARK_GONE, where it equals `until` */
    instant at;
    instant expires; /* of MARK_DELETED */
};

/* Oldest first, the order in which they take effect. */
#define MARKS_MAX 8u
struct snapshot_marks {
    struct snapshot_mark items[MARKS_MAX];
    unsigned count;
};

extern const struct bytes snapshot_marks_key;

/* Returns STORE_OK, also if there are none; STORE_CORRUPT (logged), STORE_WAIT, STORE_IO. */
enum store_result snapshot_marks_read(struct read_view *before, struct arena *arena,
                                      struct snapshot_marks *ret_marks);
/* Writes the marks, or deletes the record if there are none. */
void snapshot_marks_write(struct changes *changes, struct arena *arena,
                          const struct snapshot_marks *marks);
/* Decodes the value of a marks record found by an iterator. */
bool snapshot_marks_decode(struct bytes value, struct snapshot_marks *ret_marks);

/* Applies a mark to *snapshot, and returns whether it is unaffected, changed, or deleted (*snapshot
 * is then undefined). */
enum mark_outcome { MARK_LEAVES_IT, MARK_CHANGES_IT, MARK_ENDS_IT };
enum mark_outcome snapshot_mark_apply(const struct snapshot_mark *mark, struct blob *snapshot);
/* Applies all marks to a snapshot as read from its record. Returns false if it is deleted. */
bool snapshot_marks_apply(const struct snapshot_marks *marks, struct blob *snapshot);

#endif
