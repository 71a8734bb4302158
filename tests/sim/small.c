/* Numbers of the server that no run of a few hundred requests comes near: smaller here, drawn for each
 * life. */
#include "base/crc.h"
#include "blob/contents.h"
#include "world.h"

/* ---- stripes of partitions (store/embedded/snapshots.h) ---- */

#define STRIPES 4096u

/* What stripes.c has in the place of crc32c() here (meson.build): it hashes partitions alone. */
uint32_t small_partition_hash(uint32_t crc, const void *data, size_t size);

/* Few stripes, whose partitions still have a hash each: what is above the number of the stripe. */
uint32_t small_partition_hash(uint32_t crc, const void *data, size_t size)
{
    static uint32_t few;
    uint32_t hash = crc32c(crc, data, size);

    if (few == 0)
        few = world_once_in(STREAM_FAULTS, 3) ? STRIPES : 1 + world_draw(STREAM_FAULTS, 3);
    return hash * STRIPES + hash % few;
}

/* ---- records that one commit clears away (service/deferred_tasks.c) ---- */

enum store_result __real_content_collect(struct snapshot *before, struct changes *changes,
                                         struct arena *arena, size_t records, bool *ret_more);
enum store_result __wrap_content_collect(struct snapshot *before, struct changes *changes,
                                         struct arena *arena, size_t records, bool *ret_more);

enum store_result __wrap_content_collect(struct snapshot *before, struct changes *changes,
                                         struct arena *arena, size_t records, bool *ret_more)
{
    static size_t few;

    if (few == 0)
        few = world_once_in(STREAM_FAULTS, 3) ? records : 1 + world_draw(STREAM_FAULTS, 3);
    return __real_content_collect(before, changes, arena, few, ret_more);
}

/* ---- snapshots that one commit deletes (blob/delete_blob.c) ---- */

__typeof__(contents_end_snapshots) __real_contents_end_snapshots, __wrap_contents_end_snapshots;

enum store_result __wrap_contents_end_snapshots(struct decision *d, struct ended_contents *ended,
                                                instant from, instant until, size_t max,
                                                instant *ret_next)
{
    static size_t few;

    if (few == 0)
        few = world_once_in(STREAM_FAULTS, 3) ? max : 1 + world_draw(STREAM_FAULTS, 2);
    return __real_contents_end_snapshots(d, ended, from, until, few, ret_next);
}
