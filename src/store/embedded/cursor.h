/* Cursors: RocksDB iterators over a run of keys, for scans of a snapshot and iterators over a space. */
#ifndef LAGRA_STORE_EMBEDDED_CURSOR_H
#define LAGRA_STORE_EMBEDDED_CURSOR_H

#include "store/embedded/keyspace.h"
#include "store/store_private.h"

struct stripe;

/* For the table of operations. */
struct cursor *embedded_scan_cursor(struct snapshot *snapshot, struct bytes end,
                                    enum scan_kind kind);
struct cursor *embedded_space_cursor(struct store *store, const struct guid *space,
                                     struct bytes end, struct store_access access,
                                     uint64_t *ret_sequence);
/* The same in a state, of a space that is not dropped there. An open cursor needs the state no longer. */
struct cursor *embedded_state_cursor(struct store *store, const rocksdb_snapshot_t *state,
                                     struct bytes end, struct store_access access);
struct cursor *embedded_row_cursor(struct store *store, struct bytes end);
enum store_result embedded_cursor_seek(struct cursor *cursor, struct bytes key);
enum store_result embedded_cursor_next(struct cursor *cursor);
void embedded_cursor_close(struct cursor *cursor);

#ifdef LAGRA_GATES
/* Forgets the first records of the stripe's newest state. Any thread, without a lock. */
void stripe_forget_front(struct stripe *stripe);
#endif

/* Over the newest state, whatever is dropped: for the collector and for start-up. */
struct cursor *cursor_open(struct store *store, struct bytes end);

#endif
