/* See kept_path_index.h. */
#include "blob/kept_path_index.h"

#include "base/endian.h"
#include "base/log.h"

#define KEY_PREFIX  'p'
#define SLASH       '\x02'
#define END_OF_PATH '\x01'
#define TIME_SIZE   8

struct bytes kept_path_prefix(struct arena *arena, struct bytes path)
{
    struct text key;

    text_init(&key, arena, path.len + 2 + TIME_SIZE);
    text_add_char(&key, KEY_PREFIX);
    for (size_t i = 0; i < path.len; i++)
        text_add_char(&key, path.ptr[i] == '/' ? SLASH : path.ptr[i]);
    return text_bytes(&key);
}

static struct bytes key_of(struct arena *arena, struct bytes path, instant deleted)
{
    const struct bytes prefix = kept_path_prefix(arena, path);
    struct text key;
    char time[TIME_SIZE];

    be64_put(time, ~deleted);
    text_init(&key, arena, prefix.len + 1 + sizeof time);
    text_add(&key, prefix);
    text_add_char(&key, END_OF_PATH);
    text_add(&key, bytes_of(time, sizeof time));
    return text_bytes(&key);
}

void kept_path_index_update(struct changes *changes, struct arena *arena, const struct blob *was,
                            const struct blob *now)
{
    struct text value;

    if (was && was->deleted_path.ptr && !(now && now->deleted_path.ptr))
        changes_index_delete(changes, key_of(arena, was->deleted_path, was->deletion.at));
    if (!now || !now->deleted_path.ptr)
        return;
    text_init(&value, arena, 256);
    blob_encode(&value, now);
    changes_index_put(changes, key_of(arena, now->deleted_path, now->deletion.at),
                      text_bytes(&value));
}

/* Returns true if the retention of a deleted blob has ended, or the time of a file has. */
static bool has_ended(const struct blob *kept, instant now)
{
    return kept->deletion.expires <= now || blob_has_expired(kept, now);
}

static enum store_result read_next(struct decision *d, struct index_iterator *iterator,
                                   struct kept_path *ret_kept)
{
    struct index_record record;
    enum store_result result = index_iterator_next(iterator, &record);

    if (result)
        return result;
    if (record.partition_key.len != sizeof ret_kept->node ||
        !blob_decode(arena_copy(d->arena, record.value), &ret_kept->blob)) {
        log_line(LOG_ERROR, "the index entry of a deleted path is damaged");
        return STORE_CORRUPT;
    }
    ret_kept->node = be64_get(record.partition_key.ptr);
    return STORE_OK;
}

/* A task soon deletes what has ended, so only a few are passed over. */
enum store_result kept_path_find(struct decision *d, struct bytes path, instant deleted,
                                 struct kept_path *ret_kept)
{
    const struct bytes first = key_of(d->arena, path, deleted > 0 ? deleted : INSTANT_MAX);
    const struct bytes prefix = deleted > 0 ? first : bytes_of(first.ptr, first.len - TIME_SIZE);
    struct index_iterator *iterator = index_iterator_open(
        d->store, blob_state(d)->container.space, prefix, first, bytes_of("", 0), d->access);
    enum store_result result;

    do
        result = read_next(d, iterator, ret_kept);
    while (!result && has_ended(&ret_kept->blob, d->now));
    decision_saw(d, index_iterator_sequence(iterator));
    index_iterator_close(iterator);
    return result;
}
