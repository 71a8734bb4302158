/* The newest records that were read, so that a hot one is not looked for in RocksDB again; and keys
 * that were looked for and are not there, as an account's properties that nobody ever set.
 *
 * A record here is as the newest commit of its partition left it: all that is done with a key is
 * done under the lock of its partition's stripe; every change of the partition changes it here, and
 * only a snapshot that still sees the newest state reads from here or adds to it. So a record that
 * is read and changed again and again is never looked for. What is written without having been read
 * is not taken: most of that is not read soon. Values are as RocksDB has them, with their checksums.
 *
 * A key has its place in one of RECORD_SETS sets by its hash, so that the records of one partition
 * may fill all of them. A set has a lock of its own, since several stripes have keys in it. At most
 * CACHED_BYTES_MAX a record and CACHED_RECORDS records a set: 32 MiB when all are as large. */
#ifndef LAGRA_STORE_EMBEDDED_RECORD_CACHE_H
#define LAGRA_STORE_EMBEDDED_RECORD_CACHE_H

#include "base/bytes.h"

#define RECORD_SETS      2048u
#define CACHED_RECORDS   8u
#define CACHED_BYTES_MAX 2048u

struct record_cache;
struct record_set;

struct record_cache *record_cache_new(void);
void record_cache_free(struct record_cache *cache);
/* Any thread, without a lock. */
void record_cache_empty(struct record_cache *cache);

/* How often record_set_find() has found what it was asked for, and not. Any thread. */
void record_cache_counts(struct record_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses);

/* The set of a key, locked; under the lock of the key's stripe. */
struct record_set *record_set_enter(struct record_cache *cache, struct bytes key);
void record_set_leave(struct record_set *set);

/* Between the two, with the same key. */

/* False: what RocksDB has is not known. The value as RocksDB returned it, valid until the set is
 * left; ptr NULL: it has none. */
bool record_set_find(struct record_set *set, struct bytes key, struct bytes *ret_value);
/* value.ptr NULL: RocksDB has none. Larger ones are not taken. */
void record_set_add(struct record_set *set, struct bytes key, struct bytes value);
/* The key's value was changed (value.ptr NULL: deleted). What is not here is not taken. */
void record_set_change(struct record_set *set, struct bytes key, struct bytes value);

#endif
