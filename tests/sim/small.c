/* Numbers of the server that no run of a few hundred requests comes near: smaller here, drawn for each
 * life. */
#include "base/crc.h"
#include "blob/snapshot_scan.h"
#include "scheduler.h"
#include "services.h"
#include "source/page_walk.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)

/* ---- stripes of partitions (store/embedded/snapshots.h) ---- */

#define STRIPES   4096u

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

enum store_result __real_content_collect(struct read_view *before, struct changes *changes,
                                         struct arena *arena, size_t records, bool *ret_more);
enum store_result __wrap_content_collect(struct read_view *before, struct changes *changes,
                                         struct arena *arena, size_t records, bool *ret_more);

enum store_result __wrap_content_collect(struct read_view *before, struct changes *changes,
                                         struct arena *arena, size_t records, bool *ret_more)
{
    static size_t few;

    if (few == 0)
        few = world_once_in(STREAM_FAULTS, 3) ? records : 1 + world_draw(STREAM_FAULTS, 3);
    return __real_content_collect(before, changes, arena, few, ret_more);
}

/* ---- bytes of a step of a copy (source/page_walk.c) ---- */

/* Of files. */
static uint64_t few_bytes(void)
{
    static uint64_t few;

    if (few == 0)
        few = world->plan.service != SIM_FILE || world_once_in(STREAM_FAULTS, 3)
                  ? PAGES_STEP_BYTES
                  : 512 * (1 + world_draw(STREAM_FAULTS, 1 + fs_slot_bytes() / 256));
    return few;
}

/* As page_walk.c does. */
static void cut_step(struct page_walk *walk, uint64_t room)
{
    walk->bytes = 0;
    for (size_t i = 0; i < walk->range_count; i++) {
        struct content_range *range = &walk->ranges[i];
        uint64_t length = range->is_hole ? 0 : range->end - range->start;

        if (length >= room - walk->bytes) {
            range->end = range->start + room - walk->bytes;
            walk->bytes = room;
            walk->next = range->end;
            walk->range_count = i + 1;
            return;
        }
        walk->bytes += length;
    }
}

__typeof__(page_walk_find_ranges) __real_page_walk_find_ranges, __wrap_page_walk_find_ranges;
/* So there are several steps, with time between them. */
enum error __wrap_page_walk_find_ranges(struct page_walk *walk)
{
    enum error e = __real_page_walk_find_ranges(walk);

    if (e || !walk->open->is_own || few_bytes() == PAGES_STEP_BYTES)
        return e;
    cut_step(walk, few_bytes());
    if (request_slot() < 0)
        sched_sleep(world_random(STREAM_SYSTEM) % SECOND_NS);
    return OK;
}

/* ---- snapshots that one commit changes (blob/snapshot_changes.c) ---- */

__typeof__(snapshots_collect) __real_snapshots_collect, __wrap_snapshots_collect;

enum store_result __wrap_snapshots_collect(struct decision *d, const struct snapshot_mark *mark,
                                           size_t max, struct some_snapshots *ret_some)
{
    static size_t few;

    if (few == 0)
        few = world_once_in(STREAM_FAULTS, 3) ? max : 1 + world_draw(STREAM_FAULTS, 2);
    return __real_snapshots_collect(d, mark, few, ret_some);
}
