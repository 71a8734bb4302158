/* Reading what lies in all lanes of a space, in the order of its keys: LISTED records, records of an index,
 * counters.
 *
 * Pages of each lane are read when they are needed, all lanes at once, and merged. Each partition is read
 * in one state: where a page ends inside a partition, that one is read again as a whole; one that is larger than a
 * page is read on only as long as its header stays what it was. A page also shows which partitions of its shard
 * are locked; it is used if their transactions are open, else they are settled and it is read again.
 * What was acknowledged before the first page was asked for is in it.
 *
 * A walk belongs to one thread at a time; several may hold it. */
#ifndef LAGRA_STORE_RADOS_WALK_H
#define LAGRA_STORE_RADOS_WALK_H

#include "store/rados/view.h"

#define WALK_ARENA_MAX (256u << 20)
/* What walk_forget() leaves alone. */
#define WALK_KEPT      (16u << 20)

enum walk_kind { WALK_LISTED = 'L', WALK_INDEX = 'I', WALK_COUNTERS = 'N' };

struct walk;

/* Never waits; reads nothing. Has one holder. */
struct walk *walk_open(struct shards *shards, const struct guid *space, enum walk_kind kind);
struct walk *walk_share(struct walk *walk);
void walk_close(struct walk *walk);
bool walk_is_of(const struct walk *walk, const struct guid *space, enum walk_kind kind);

/* The first row at or after a key of a row of the kind. The key, and the value that was given, are valid until
 * walk_forget() or the end.
 * returns STORE_OK; STORE_NOT_FOUND at the end, or the space is dropped; STORE_WAIT: walk_arrival(), then the
 *         same call again; STORE_CONFLICT: a large partition has changed; STORE_CORRUPT, logged; STORE_IO */
enum store_result walk_next(struct walk *walk, struct bytes from, struct bytes *ret_key,
                            struct bytes *ret_value);
/* The sum of a counter over all lanes. As walk_next() */
enum store_result walk_sum(struct walk *walk, struct bytes name, int64_t *ret_sum);
struct arrival *walk_arrival(struct walk *walk);
bool walk_is_gone(struct walk *walk);
/* Forgets the pages that were read, if they are many. While nothing is being fetched. */
void walk_forget(struct walk *walk);

#endif
