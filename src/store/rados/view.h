/* One state of one partition, read without blocking: what a snapshot of the store will be made of.
 *
 * The first read takes, in one op, the header and the first records of both families: all there is of a
 * small partition. What it shows, or shows not to be there, is answered from memory from then on. Each
 * later read compares the header with the first one's, so all answers are of one state, or
 * STORE_CONFLICT: the state is gone. What was read is durable, since RADOS lets a read wait for the writes
 * before it.
 *
 * Nothing is locked, and the view may be as old as it likes: a commit compares the header again.
 * A view belongs to one thread at a time. */
#ifndef LAGRA_STORE_RADOS_VIEW_H
#define LAGRA_STORE_RADOS_VIEW_H

#include "base/waiter.h"
#include "store/rados/port.h"
#include "store/rados/shard_rows.h"

/* Of the first read. Records beyond are read one by one. */
#define VIEW_LISTED_ROWS 16u
#define VIEW_INNER_ROWS  48u

struct view;

/* Never waits; reads nothing. object: of the shard; bounds: its row as it was read, however long ago. */
struct view *view_open(struct port *port, const char *object, struct bytes bounds,
                       struct bytes partition_key);
/* A read that is under way is dropped. No waiter may be waiting. */
void view_close(struct view *view);

/* *ret_record: value and pieces in the arena; the key is not set.
 * returns STORE_OK
 *         STORE_NOT_FOUND  no such record; or the shard is not there: the space is dropped
 *         STORE_WAIT       it is being fetched: view_wait(), then the same call again
 *         STORE_CONFLICT   the partition has changed, or the bounds of the shard: open another view
 *         STORE_CORRUPT, logged; STORE_IO
 * Where the state is gone or cannot be read, all further calls return the same. */
enum store_result view_get(struct view *view, enum record_family family, struct bytes key,
                           struct arena *arena, struct record *ret_record);
/* After STORE_WAIT: wakes the waiter, once, when the call is to be repeated; perhaps in this call. */
void view_wait(struct view *view, struct waiter *waiter);

/* The header that a commit on this state compares; after the first answer. */
const struct partition_header *view_header(const struct view *view);

#endif
