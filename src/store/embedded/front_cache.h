/* A cache of the first records of a partition that is consumed from its front, one range of keys
 * per stripe: a scan that begins there needs no iterator, and steps over no tombstones of deleted
 * records.
 *
 * The range has all records from `low` up to but not including `high`, as of the newest commit of
 * the stripe: commits update it (front_change()) under the stripe's lock, and only a snapshot that
 * still sees the newest state reads from it or adds to it. At most FRONT_RECORDS_MAX records of
 * FRONT_RECORD_BYTES_MAX bytes: 5 KiB for a queue, at most 64 MiB in all stripes. */
#ifndef LAGRA_STORE_EMBEDDED_FRONT_CACHE_H
#define LAGRA_STORE_EMBEDDED_FRONT_CACHE_H

#include "base/bytes.h"

#define FRONT_RECORDS_MAX      64u
#define FRONT_RECORD_BYTES_MAX 256u

struct front_record {
    size_t key_length;
    size_t value_length;
    char bytes[]; /* key, value */
};
static inline struct bytes front_key(const struct front_record *record)
{
    return bytes_of(record->bytes, record->key_length);
}
static inline struct bytes front_value(const struct front_record *record)
{
    return bytes_of(record->bytes + record->key_length, record->value_length);
}

/* All zero: empty. */
struct front_cache {
    struct front_record *records[FRONT_RECORDS_MAX]; /* by ascending key */
    unsigned count;
    struct front_record *low, *high; /* keys without a value; NULL means the cache is empty */
};

enum front_answer {
    FRONT_HELD,
    FRONT_NONE,    /* there is no such record */
    FRONT_UNKNOWN, /* not in the range; must be read from RocksDB */
};

/* Returns the record with this key. */
enum front_answer front_get(const struct front_cache *front, struct bytes key,
                            const struct front_record **ret_record);
/* Returns the first record at or after `from`.
 *
 * FRONT_UNKNOWN: *ret_from: there is none from `from` up to this key; ptr NULL means nothing is
 * known */
enum front_answer front_first(const struct front_cache *front, struct bytes from,
                              const struct front_record **ret_record, struct bytes *ret_from);

/* Applies the write of a record by a commit; value.ptr NULL means its deletion. */
void front_change(struct front_cache *front, struct bytes key, struct bytes value);

/* Starts a range that is being read, with nothing before `from`. */
void front_begin(struct front_cache *run, struct bytes from);
/* Appends the next record. Returns false if it does not fit; the range ends before it. */
bool front_append(struct front_cache *run, struct bytes key, struct bytes value);
/* Extends the range to `high`, with no more records. */
void front_end(struct front_cache *run, struct bytes high);
/* Merges a range into the cache if they are adjacent; otherwise replaces the cached range. Empties
 * `run`. */
void front_join(struct front_cache *front, struct front_cache *run);
void front_empty(struct front_cache *front);
/* Frees an allocated cache, or NULL. */
void front_free(struct front_cache *front);

#endif
