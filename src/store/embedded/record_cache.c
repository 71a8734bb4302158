/* Each set has a few slots; the oldest record that was not found again is replaced. */
#include "store/embedded/record_cache.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/lock.h"

struct cached_record {
    uint32_t hash; /* of the key */
    uint32_t key_length;
    uint32_t value_length;
    bool was_found; /* since it was last passed over */
    bool is_stored; /* false: the key does not exist in RocksDB */
    char bytes[];   /* key, value */
};

struct record_set {
    struct lock lock;
    uint32_t hash; /* of the key with which it was entered */
    uint64_t found, missed;
    unsigned next; /* start of the search for a slot to replace */
    struct cached_record *records[CACHED_RECORDS];
};

struct record_cache {
    struct record_set sets[RECORD_SETS];
};

/* ---- the cache ---- */

struct record_cache *record_cache_new(void)
{
    struct record_cache *cache = xcalloc(1, sizeof *cache);

    for (size_t i = 0; i < RECORD_SETS; i++)
        lock_init(&cache->sets[i].lock, RANK_RECORD_SET);
    return cache;
}

void record_cache_empty(struct record_cache *cache)
{
    for (size_t i = 0; i < RECORD_SETS; i++) {
        struct record_set *set = &cache->sets[i];

        lock_acquire(&set->lock);
        for (size_t k = 0; k < CACHED_RECORDS; k++) {
            free(set->records[k]);
            set->records[k] = NULL;
        }
        lock_release(&set->lock);
    }
}

void record_cache_free(struct record_cache *cache)
{
    record_cache_empty(cache);
    for (size_t i = 0; i < RECORD_SETS; i++)
        lock_destroy(&cache->sets[i].lock);
    free(cache);
}

struct record_set *record_set_enter(struct record_cache *cache, struct bytes key)
{
    uint32_t hash = crc32c(0, key.ptr, key.len);
    struct record_set *set = &cache->sets[hash % RECORD_SETS];

    lock_acquire(&set->lock);
    set->hash = hash;
    return set;
}

void record_set_leave(struct record_set *set)
{
    lock_release(&set->lock);
}

void record_cache_counts(struct record_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses)
{
    *ret_hits = *ret_misses = 0;
    for (size_t i = 0; i < RECORD_SETS; i++) {
        struct record_set *set = &cache->sets[i];

        lock_acquire(&set->lock);
        *ret_hits += set->found;
        *ret_misses += set->missed;
        lock_release(&set->lock);
    }
}

/* ---- a set ---- */

static struct bytes key_of(const struct cached_record *record)
{
    return bytes_of(record->bytes, record->key_length);
}

/* Returns the key's slot, or CACHED_RECORDS. */
static size_t find(const struct record_set *set, struct bytes key)
{
    size_t i;

    for (i = 0; i < CACHED_RECORDS; i++) {
        const struct cached_record *record = set->records[i];

        if (record && record->hash == set->hash && bytes_equal(key_of(record), key))
            break;
    }
    return i;
}

static struct cached_record *record_new(uint32_t hash, struct bytes key, struct bytes value)
{
    struct cached_record *record = xmalloc(sizeof *record + key.len + value.len);

    record->hash = hash;
    record->key_length = (uint32_t)key.len;
    record->value_length = (uint32_t)value.len;
    record->was_found = false;
    record->is_stored = value.ptr != NULL;
    memcpy(record->bytes, key.ptr, key.len);
    if (value.len > 0)
        memcpy(record->bytes + key.len, value.ptr, value.len);
    return record;
}

/* Leaves the slot empty if the record is too large. */
static void fill_slot(struct record_set *set, size_t i, struct bytes key, struct bytes value)
{
    free(set->records[i]);
    set->records[i] =
        key.len + value.len > CACHED_BYTES_MAX ? NULL : record_new(set->hash, key, value);
}

bool record_set_find(struct record_set *set, struct bytes key, struct bytes *ret_value)
{
    size_t i = find(set, key);
    struct cached_record *record = i < CACHED_RECORDS ? set->records[i] : NULL;

    lock_assert_held(&set->lock);
    if (record)
        record->was_found = true;
    set->found += record != NULL;
    set->missed += record == NULL;
    *ret_value = record && record->is_stored
                     ? bytes_of(record->bytes + record->key_length, record->value_length)
                     : bytes_of(NULL, 0);
    return record != NULL;
}

/* Returns an empty slot, or that of a record which is read only once (the text of a message). */
static size_t slot_to_fill(struct record_set *set)
{
    for (;;) {
        size_t i = set->next;

        set->next = (i + 1) % CACHED_RECORDS;
        if (!set->records[i] || !set->records[i]->was_found)
            return i;
        set->records[i]->was_found = false;
    }
}

void record_set_add(struct record_set *set, struct bytes key, struct bytes value)
{
    lock_assert_held(&set->lock);
    if (key.len + value.len > CACHED_BYTES_MAX || find(set, key) < CACHED_RECORDS)
        return;
    fill_slot(set, slot_to_fill(set), key, value);
}

void record_set_change(struct record_set *set, struct bytes key, struct bytes value)
{
    size_t i = find(set, key);

    lock_assert_held(&set->lock);
    if (i < CACHED_RECORDS)
        fill_slot(set, i, key, value);
}
