/* The newest records read of each stripe, so that a hot one is not looked for in RocksDB again.
 *
 * A record here is as the newest commit of its stripe left it: every change of the stripe empties
 * its cache under the stripe's lock, and only a snapshot that still sees the newest state reads
 * from it or adds to it. It holds what RocksDB returned, checksums checked. At most CACHED_BYTES_MAX a
 * record and CACHED_RECORDS records a stripe: 32 MiB together when all are as large. */
#ifndef LAGRA_STORE_EMBEDDED_RECORD_CACHE_H
#define LAGRA_STORE_EMBEDDED_RECORD_CACHE_H

#include "base/bytes.h"

#define CACHED_RECORDS                                                                             \
    4u /* two of a blob (its record, and its bytes when they lie inline), twice */
#define CACHED_BYTES_MAX 2048u

struct cached_record;

/* All zero: empty. Under its stripe's lock. */
struct record_cache {
    struct cached_record *records[CACHED_RECORDS];
    unsigned next; /* to be replaced */
};

/* The value as RocksDB returned it, valid under the lock; ptr NULL: not here. */
struct bytes record_cache_find(const struct record_cache *cache, struct bytes key);
/* Larger ones are not taken. */
void record_cache_add(struct record_cache *cache, struct bytes key, struct bytes value);
void record_cache_empty(struct record_cache *cache);

#endif
