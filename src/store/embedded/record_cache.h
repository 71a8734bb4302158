/* The newest records read of each stripe, so that a hot one is not looked for in RocksDB again; and
 * keys that were looked for and are not there, as an account's properties that nobody ever set.
 *
 * A record here is as the newest commit of its stripe left it: every change of the stripe changes
 * its cache under the stripe's lock, and only a snapshot that still sees the newest state reads
 * from it or adds to it. So a record that is read and changed again and again is never looked for.
 * What is written without having been read is not taken: most of that is not read soon. Values are
 * as RocksDB has them, with their checksums. At most CACHED_BYTES_MAX a record and CACHED_RECORDS
 * records a stripe: 32 MiB together when all are as large. */
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
    unsigned next; /* looked at first when one is to be replaced */
};

/* False: what RocksDB has is not known. The value as RocksDB returned it, valid under the lock;
 * ptr NULL: it has none. */
bool record_cache_find(const struct record_cache *cache, struct bytes key, struct bytes *ret_value);
/* value.ptr NULL: RocksDB has none. Larger ones are not taken. */
void record_cache_add(struct record_cache *cache, struct bytes key, struct bytes value);
/* The key's value was changed (value.ptr NULL: deleted). What is not here is not taken. */
void record_cache_change(struct record_cache *cache, struct bytes key, struct bytes value);
bool record_cache_is_empty(const struct record_cache *cache);
void record_cache_empty(struct record_cache *cache);

#endif
