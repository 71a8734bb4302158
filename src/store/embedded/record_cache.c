/* A handful of slots; the oldest one is replaced. */
#include "store/embedded/record_cache.h"

#include <stdlib.h>

#include "base/arena.h"

struct cached_record {
    size_t key_length;
    size_t value_length;
    char bytes[]; /* key, value */
};

static struct bytes key_of(const struct cached_record *record)
{
    return bytes_of(record->bytes, record->key_length);
}

struct bytes record_cache_find(const struct record_cache *cache, struct bytes key)
{
    for (size_t i = 0; i < CACHED_RECORDS; i++) {
        const struct cached_record *record = cache->records[i];

        if (record && bytes_equal(key_of(record), key))
            return bytes_of(record->bytes + record->key_length, record->value_length);
    }
    return bytes_of(NULL, 0);
}

void record_cache_add(struct record_cache *cache, struct bytes key, struct bytes value)
{
    struct cached_record *record;

    if (key.len + value.len > CACHED_BYTES_MAX || record_cache_find(cache, key).ptr)
        return;
    record = xmalloc(sizeof *record + key.len + value.len);
    record->key_length = key.len;
    record->value_length = value.len;
    memcpy(record->bytes, key.ptr, key.len);
    memcpy(record->bytes + key.len, value.ptr, value.len);
    free(cache->records[cache->next]);
    cache->records[cache->next] = record;
    cache->next = (cache->next + 1) % CACHED_RECORDS;
}

void record_cache_empty(struct record_cache *cache)
{
    for (size_t i = 0; i < CACHED_RECORDS; i++) {
        free(cache->records[i]);
        cache->records[i] = NULL;
    }
}
