/* A handful of slots; the oldest one that was not found again is replaced. */
#include "store/embedded/record_cache.h"

#include <stdlib.h>

#include "base/arena.h"

struct cached_record {
    size_t key_length;
    size_t value_length;
    bool was_found; /* since it was last passed over */
    bool is_stored; /* false: RocksDB has none of this key */
    char bytes[];   /* key, value */
};

static struct bytes key_of(const struct cached_record *record)
{
    return bytes_of(record->bytes, record->key_length);
}

/* Its slot, or CACHED_RECORDS. */
static size_t find(const struct record_cache *cache, struct bytes key)
{
    size_t i;

    for (i = 0; i < CACHED_RECORDS; i++) {
        if (cache->records[i] && bytes_equal(key_of(cache->records[i]), key))
            break;
    }
    return i;
}

static struct cached_record *record_new(struct bytes key, struct bytes value)
{
    struct cached_record *record = xmalloc(sizeof *record + key.len + value.len);

    record->key_length = key.len;
    record->value_length = value.len;
    record->was_found = false;
    record->is_stored = value.ptr != NULL;
    memcpy(record->bytes, key.ptr, key.len);
    if (value.len > 0)
        memcpy(record->bytes + key.len, value.ptr, value.len);
    return record;
}

/* The slot is empty afterwards if the record is too large. */
static void fill_slot(struct record_cache *cache, size_t i, struct bytes key, struct bytes value)
{
    free(cache->records[i]);
    cache->records[i] = key.len + value.len > CACHED_BYTES_MAX ? NULL : record_new(key, value);
}

bool record_cache_find(const struct record_cache *cache, struct bytes key, struct bytes *ret_value)
{
    size_t i = find(cache, key);
    struct cached_record *record = i < CACHED_RECORDS ? cache->records[i] : NULL;

    if (record)
        record->was_found = true;
    *ret_value = record && record->is_stored
                     ? bytes_of(record->bytes + record->key_length, record->value_length)
                     : bytes_of(NULL, 0);
    return record != NULL;
}

/* An empty one, or that of a record which is read once and no more (the text of a message). */
static size_t slot_to_fill(struct record_cache *cache)
{
    for (;;) {
        size_t i = cache->next;

        cache->next = (i + 1) % CACHED_RECORDS;
        if (!cache->records[i] || !cache->records[i]->was_found)
            return i;
        cache->records[i]->was_found = false;
    }
}

void record_cache_add(struct record_cache *cache, struct bytes key, struct bytes value)
{
    if (key.len + value.len > CACHED_BYTES_MAX || find(cache, key) < CACHED_RECORDS)
        return;
    fill_slot(cache, slot_to_fill(cache), key, value);
}

void record_cache_change(struct record_cache *cache, struct bytes key, struct bytes value)
{
    size_t i = find(cache, key);

    if (i < CACHED_RECORDS)
        fill_slot(cache, i, key, value);
}

bool record_cache_is_empty(const struct record_cache *cache)
{
    for (size_t i = 0; i < CACHED_RECORDS; i++) {
        if (cache->records[i])
            return false;
    }
    return true;
}

void record_cache_empty(struct record_cache *cache)
{
    for (size_t i = 0; i < CACHED_RECORDS; i++) {
        free(cache->records[i]);
        cache->records[i] = NULL;
    }
}
