/* The first records of a partition that is consumed from its front, one run of keys of each stripe: so
 * that a scan which begins there makes no iterator, and steps over none of the marks that RocksDB
 * keeps for the records that were deleted.
 *
 * The run is all there is from `low` up to but not including `high`, as the newest commit of the stripe
 * left it: commits put what they write into it (front_change()), under the stripe's lock, and only a
 * snapshot that still sees the newest state reads from it or adds to it. At most FRONT_RECORDS_MAX
 * records of FRONT_RECORD_BYTES_MAX bytes: 5 KiB for a queue, 64 MiB in all stripes at the very most. */
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

/* All zero: nothing is known. */
struct front_cache {
    struct front_record *records[FRONT_RECORDS_MAX]; /* by key, rising */
    unsigned count;
    struct front_record *low, *high; /* keys without a value; NULL: nothing is known */
};

enum front_answer {
    FRONT_HELD,
    FRONT_NONE,    /* there is no such record */
    FRONT_UNKNOWN, /* RocksDB knows */
};

/* The record under a key. */
enum front_answer front_get(const struct front_cache *front, struct bytes key,
                            const struct front_record **ret_record);
/* The first record at or after `from`.
 * FRONT_UNKNOWN: *ret_from: nothing lies before it from `from` on; ptr NULL: nothing is known of `from`
 */
enum front_answer front_first(const struct front_cache *front, struct bytes from,
                              const struct front_record **ret_record, struct bytes *ret_from);

/* A commit has written the record; value.ptr NULL: deleted it. */
void front_change(struct front_cache *front, struct bytes key, struct bytes value);

/* A run that is being read: it is empty up to `from`. */
void front_begin(struct front_cache *run, struct bytes from);
/* The next record. False: it does not go in; the run ends before it. */
bool front_append(struct front_cache *run, struct bytes key, struct bytes value);
/* Nothing is left before `high`. */
void front_end(struct front_cache *run, struct bytes high);
/* Where a run goes on behind another they become one; else the newer one is kept. Empties `run`. */
void front_join(struct front_cache *front, struct front_cache *run);
void front_empty(struct front_cache *front);
/* One that was allocated, or NULL. */
void front_free(struct front_cache *front);

#endif
