/* See space_parts.h. */
#include "service/space_parts.h"

#include "base/log.h"

/* More steps than this are a cycle. */
#define STEPS_MAX 1000u

/* Keeps a key; a longer one is read again each time. */
static void keep(char kept[PART_KEY_MAX], size_t *length, struct bytes key)
{
    *length = key.len <= PART_KEY_MAX ? key.len : 0;
    if (*length > 0)
        memcpy(kept, key.ptr, *length);
}

static bool is_kept(const char *kept, size_t length, struct bytes key)
{
    return length > 0 && bytes_equal(key, bytes_of(kept, length));
}

/* Reads to what a partition belongs. *ret_above: ptr NULL if that is a part */
static enum store_result read_above(struct part_finder *finder, struct bytes key,
                                    struct bytes *ret_above, struct guid *ret_part)
{
    struct bytes value;
    enum store_result result = finder->read(finder->context, key, finder->arena, &value);

    *ret_above = bytes_of(NULL, 0);
    memset(ret_part, 0, sizeof *ret_part);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (finder->functions->above(finder->arena, value, ret_above, ret_part))
        return STORE_OK;
    log_line(LOG_ERROR, "a record that names the owner of a partition is corrupt");
    return STORE_CORRUPT;
}

static enum store_result find(struct part_finder *finder, struct bytes key, struct guid *ret_part)
{
    struct bytes above, first;
    enum store_result result = read_above(finder, key, &above, ret_part);

    if (!result && above.ptr && is_kept(finder->above, finder->above_length, above)) {
        *ret_part = finder->part;
        return STORE_OK;
    }
    first = above;
    for (unsigned steps = 0; !result && above.ptr && steps < STEPS_MAX; steps++)
        result = read_above(finder, above, &above, ret_part);
    if (result)
        return result;
    finder->part = *ret_part;
    keep(finder->above, &finder->above_length, first);
    return STORE_OK;
}

enum store_result part_find(struct part_finder *finder, struct bytes partition_key,
                            struct guid *ret_part)
{
    struct arena_mark empty = arena_mark(finder->arena);
    enum store_result result;

    if (is_kept(finder->key, finder->key_length, partition_key)) {
        *ret_part = finder->part;
        return STORE_OK;
    }
    result = find(finder, partition_key, ret_part);
    finder->part = *ret_part;
    keep(finder->key, &finder->key_length, partition_key);
    arena_rewind(finder->arena, empty);
    if (result)
        finder->key_length = finder->above_length = 0;
    return result;
}
