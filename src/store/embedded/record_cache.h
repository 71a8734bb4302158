/* A cache of the newest records that were read, so that hot ones need no lookup in RocksDB; and of
 * keys that do not exist, such as an account's properties that were never set.
 *
 * A cached record is as the newest commit of its partition left it: everything is done under the
 * lock of its partition's stripe, every change of the partition updates the cache, and only a
 * snapshot that still sees the newest state reads from it or adds to it. So a record that is read
 * and changed repeatedly is never looked up. Records written without having been read are not
 * added: most are not read soon. Values are stored in RocksDB's form, with their checksums.
 *
 * A key belongs to one of RECORD_SETS sets by its hash, so that the records of one partition may
 * fill all of them. Each set has its own lock, since keys of several stripes are in it. At most
 * CACHED_BYTES_MAX per record and CACHED_RECORDS per set: 32 MiB if all are that large. */
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
/* Thread-safe. Caller must hold no lock. */
void record_cache_empty(struct record_cache *cache);

/* Returns the numbers of hits and misses of record_set_find(). Thread-safe. */
void record_cache_counts(struct record_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses);

/* Returns the set of a key, locked. Under the lock of the key's stripe. */
struct record_set *record_set_enter(struct record_cache *cache, struct bytes key);
void record_set_leave(struct record_set *set);

/* Between the two, with the same key: */

/* Returns false if the key is not cached. The value is as RocksDB returned it, valid until the set
 * is left; ptr NULL means the key does not exist. */
bool record_set_find(struct record_set *set, struct bytes key, struct bytes *ret_value);
/* value.ptr NULL means the key does not exist. Larger values are ignored. */
void record_set_add(struct record_set *set, struct bytes key, struct bytes value);
/* Updates the value of a key (value.ptr NULL means deleted) if it is cached. */
void record_set_change(struct record_set *set, struct bytes key, struct bytes value);

#endif
