/* The rows of one space that commits change, for a copy of the space that is made while it is in
 * use (store/archive.h). A commit adds the keys of its rows once it is visible, so a caller that
 * takes the keys and then reads the rows gets the values written by these commits, or newer
 * ones. */
#ifndef LAGRA_STORE_EMBEDDED_SPACE_WATCH_H
#define LAGRA_STORE_EMBEDDED_SPACE_WATCH_H

#include <rocksdb/c.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/written.h"

/* Memory for the keys. Beyond it they are lost. */
#define WATCH_BYTES_MAX ((size_t)64 << 20)

struct space_watch {
    struct lock lock;
    atomic_bool is_on;
    struct guid space;      /* under lock */
    struct written written; /* under lock */
};

void space_watch_init(struct space_watch *watch);
void space_watch_release(struct space_watch *watch);

/* Adds the keys of a batch that was written. Thread-safe. */
void space_watch_wrote(struct space_watch *watch, rocksdb_writebatch_t *writes);

/* Starts with no keys. Returns false if a space is already being watched. Thread-safe, like the
 * functions below.
 */
bool space_watch_begin(struct space_watch *watch, const struct guid *space);
void space_watch_end(struct space_watch *watch);
/* Returns the memory of the keys. */
size_t space_watch_bytes(struct space_watch *watch);
/* Returns the keys, and starts again with none. The caller releases them. */
struct written space_watch_take(struct space_watch *watch);

#endif
