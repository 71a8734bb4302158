/* One state of one partition, read without blocking: what a snapshot of the store is made of.
 *
 * The first read takes, in one op, the header and the first records of both families: all there is of a
 * small partition. What it shows, or shows not to be there, is answered from memory from then on. Each
 * later read takes the header too, so all answers are of one state, or STORE_CONFLICT: the state is gone. What was
 * read is durable, since RADOS lets a read wait for the writes before it. Where the first read finds the
 * partition locked it sees to it that a decided transaction is settled first; what an open one will do it does not
 * show (resolve.h).
 *
 * Nothing is locked, and the view may be as old as it likes: a commit compares the header again.
 * A view belongs to one thread at a time; several may hold it.
 *
 * What lies in limbs of the partition (limb.h) is read by views of these, in the state that it says, or STORE_CONFLICT.
 *
 * A view may also be of the state that a commit will leave which is not applied yet (view_ahead()): all records are in
 * memory, nothing is fetched, and any thread may read it. What was read of it is reported only once the commit is
 * durable. */
#ifndef LAGRA_STORE_RADOS_VIEW_H
#define LAGRA_STORE_RADOS_VIEW_H

#include "store/rados/limb.h"
#include "store/rados/resolve.h"
#include "store/rados/whole.h"

/* Of the first read. */
#define VIEW_LISTED_ROWS 16u
#define VIEW_INNER_ROWS  48u
/* Of each family, where many want the partition: all of it, as far as it is small. */
#define VIEW_BUSY_ROWS   1000u
/* Of a later one, the first time; more each time. */
#define VIEW_PAGE_ROWS   128u
/* A transaction that still locks the partition after so many tries to settle it (its changes are damaged, the pool is
 * full) is given up. */
#define VIEW_TRIES_MAX   16u
/* What a view may hold of a partition: view_read_all() */
#define VIEW_ARENA_MAX   (256u << 20)

struct view;

/* A limb in this state, of the view. */
struct view_limb {
    struct view_limb *next;
    enum record_family family;
    struct bytes last; /* record */
    struct limb_row row;
    struct view *view; /* of it */
};

/* Never waits; reads nothing. Has one holder. */
struct view *view_open(struct shards *shards, const struct partition *partition);
/* Before the first read: it takes VIEW_BUSY_ROWS. */
void view_read_much(struct view *view);
bool view_was_read_much(const struct view *view);
struct view *view_share(struct view *view);
/* A read that is under way is dropped with the last holder. */
void view_close(struct view *view);
const struct partition *view_partition(const struct view *view);

/* All of these:
 *   STORE_OK
 *   STORE_WAIT       it is being fetched: view_arrival(), then the same call again
 *   STORE_NOT_FOUND  no such record, or none behind; or the space is dropped
 *   STORE_CONFLICT   the partition has changed: open another view
 *   STORE_CORRUPT, logged; STORE_IO
 * Where the state is gone or cannot be read, all further calls return the same. */

/* Reads what there is to see at first, if that was not done yet. */
enum store_result view_begin(struct view *view);
/* *ret_record: value and pieces in the arena; the key is not set. */
enum store_result view_get(struct view *view, enum record_family family, struct bytes key,
                           struct arena *arena, struct record *ret_record);
/* The first record at or after a key, or (is_behind) after it. Its key is unescaped into the arena; the encoded
 * value (record_value.h) is valid as long as the view is. */
enum store_result view_next(struct view *view, enum record_family family, struct bytes key,
                            bool is_behind, struct arena *arena, struct bytes *ret_key,
                            struct bytes *ret_value);
/* The same as rows: the first at or after a key of a row of the family. Valid as long as the view is. */
enum store_result view_row(struct view *view, enum record_family family, struct bytes from,
                           struct arena *arena, struct port_row *ret_row);
/* Of a place in a partition that may have limbs (limb.h): the one that has it, whose header is known then; NULL: it is at
 * home. */
enum store_result view_limb(struct view *view, enum record_family family, struct bytes key,
                            struct arena *arena, struct view_limb **ret_limb);
/* Reads all that there is, so that it can be read from memory whatever is committed meanwhile. */
enum store_result view_read_all(struct view *view);
/* After STORE_WAIT: what is to be waited for. It is the view's. */
struct arrival *view_arrival(struct view *view);

/* What a commit makes of a state that it has seen. */
struct view_changes {
    const struct shard_change *changes;
    struct partition_header after;
    struct shard_link *link; /* of that commit */
    uint64_t sequence;       /* of who reads the state that it leaves */
};
/* The state after a commit. After the first answer of a view of what is, or of another view ahead. NULL: not all
 * records are in memory, or they are too many. */
struct view *view_ahead(const struct view *before, const struct view_changes *changes);
/* Of a view ahead: that of its commit; NULL: of what is. */
struct shard_link *view_link(const struct view *view);
uint64_t view_sequence(const struct view *view);
size_t view_bytes(const struct view *view);

/* After the first answer. */
bool view_is_gone(const struct view *view);
/* The header that a commit on this state compares. */
const struct partition_header *view_header(const struct view *view);

#endif
