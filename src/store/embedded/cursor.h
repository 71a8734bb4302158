/* Cursors: RocksDB iterators over a range of keys, for scans of a snapshot and iterators over a
 * space. */
#ifndef LAGRA_STORE_EMBEDDED_CURSOR_H
#define LAGRA_STORE_EMBEDDED_CURSOR_H

#include "store/embedded/keyspace.h"
#include "store/store_private.h"

struct stripe;

/* For the table of operations. */
struct cursor *embedded_scan_cursor(struct read_view *snapshot, struct bytes end,
                                    enum scan_kind kind);
struct cursor *embedded_space_cursor(struct store *store, const struct guid *space,
                                     struct bytes end, struct store_access access,
                                     uint64_t *ret_sequence);
/* Like embedded_space_cursor(), in a given state in which the space is not dropped. The state may
 * be released while the cursor is open. */
struct cursor *embedded_state_cursor(struct store *store, const rocksdb_snapshot_t *state,
                                     struct bytes end, struct store_access access);
struct cursor *embedded_row_cursor(struct store *store, struct bytes end);
enum store_result embedded_cursor_seek(struct cursor *cursor, struct bytes key);
enum store_result embedded_cursor_next(struct cursor *cursor);
void embedded_cursor_close(struct cursor *cursor);

#ifdef LAGRA_GATES
/* Clears the cached front of the stripe. Thread-safe. Caller must hold no lock. */
void stripe_forget_front(struct stripe *stripe);
#endif

/* Opens a cursor over the newest state that ignores drops: for the collector and startup. */
struct cursor *cursor_open(struct store *store, struct bytes end);

#endif
