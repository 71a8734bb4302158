/* Storage usage of a share, for operators: service/usage.h. */
#include "file/usage.h"

#include "file/file.h"
#include "file/share_usage.h"

#define GIB_SHIFT 30

static bool is_share(const struct space_record *record, struct guid *ret_space,
                     uint64_t *ret_quota_bytes)
{
    struct share_key key;
    struct share share;

    if (!bytes_is(record->record_key, "s") ||
        !share_decode(record->record_key, record->value, &share, &key))
        return false;
    *ret_space = share.space;
    *ret_quota_bytes = (uint64_t)share.quota_gib << GIB_SHIFT;
    return true;
}

/* Checks for a soft-deleted share. Its snapshots are in the same space and not counted
 * separately. */
static bool is_kept_share(const struct space_record *record, struct guid *ret_space)
{
    struct share_key key;
    struct share share;

    if (!share_decode(record->record_key, record->value, &share, &key) || key.deleted == 0 ||
        key.snapshot != 0)
        return false;
    *ret_space = share.space;
    return true;
}

/* Counts the node of a file: tree/record.h. Nodes only in snapshots have other record keys. */
static void count_file(const struct space_record *record, struct usage *usage)
{
    if (bytes_is(record->record_key, "n") && record->value.len > 1)
        usage->objects += record->value.ptr[1] == TREE_FILE;
}

/* Adds the share's own byte counters. */
static enum store_result sum_bytes(struct store *store, struct arena *arena, struct guid space,
                                   struct usage *usage)
{
    enum store_result result = STORE_OK;

    for (unsigned i = 0; i < SHARE_USAGE_PARTS && !result; i++) {
        struct read_view *before =
            read_view_open(store, share_usage_partition(arena, space, i), STORE_MAY_BLOCK);
        uint64_t sum = 0;

        result = share_usage_sum(before, arena, &sum);
        usage->bytes += sum;
        read_view_close(before);
    }
    return result;
}

const struct usage_functions file_usage = {
    .container = is_share, .kept = is_kept_share, .record = count_file, .sum = sum_bytes
};
