/* See space_watch.h. */
#include "store/embedded/space_watch.h"

void space_watch_init(struct space_watch *watch)
{
    lock_init(&watch->lock, RANK_WRITTEN);
}

void space_watch_release(struct space_watch *watch)
{
    written_release(&watch->written);
    lock_destroy(&watch->lock);
}

/* A writer either sees the watch, or wrote before the watch started. */
void space_watch_wrote(struct space_watch *watch, rocksdb_writebatch_t *writes)
{
    struct bytes data;

    if (!atomic_load(&watch->is_on))
        return;
    data.ptr = rocksdb_writebatch_data(writes, &data.len);
    lock_acquire(&watch->lock);
    if (atomic_load(&watch->is_on))
        written_add_batch(&watch->written, data);
    lock_release(&watch->lock);
}

bool space_watch_begin(struct space_watch *watch, const struct guid *space)
{
    bool is_free;

    lock_acquire(&watch->lock);
    is_free = !atomic_load(&watch->is_on);
    if (is_free) {
        watch->space = *space;
        watch->written = (struct written){ .space = &watch->space, .limit = WATCH_BYTES_MAX };
        atomic_store(&watch->is_on, true);
    }
    lock_release(&watch->lock);
    return is_free;
}

void space_watch_end(struct space_watch *watch)
{
    lock_acquire(&watch->lock);
    atomic_store(&watch->is_on, false);
    written_release(&watch->written);
    lock_release(&watch->lock);
}

size_t space_watch_bytes(struct space_watch *watch)
{
    size_t bytes;

    lock_acquire(&watch->lock);
    bytes = watch->written.is_all ? WATCH_BYTES_MAX : written_bytes(&watch->written);
    lock_release(&watch->lock);
    return bytes;
}

struct written space_watch_take(struct space_watch *watch)
{
    struct written taken;

    lock_acquire(&watch->lock);
    taken = watch->written;
    watch->written = (struct written){ .space = &watch->space, .limit = WATCH_BYTES_MAX };
    lock_release(&watch->lock);
    return taken;
}
