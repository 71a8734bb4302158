/* The list of extents: opening, lookup, syncing, punching, counting. The allocation of runs and
 * staged pieces are in extent_alloc.c. */
#include "store/embedded/extents.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "store/embedded/extents_private.h"

/* Returns the first index in the list with at least this id. Caller holds the lock. */
static size_t place_of(const struct extents *extents, uint32_t id)
{
    size_t low = 0;
    size_t high = extents->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (extents->list[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct extent *extents_find(const struct extents *extents, uint32_t id)
{
    size_t at = place_of(extents, id);

    return at < extents->count && extents->list[at]->id == id ? extents->list[at] : NULL;
}

struct extent *extents_insert(struct extents *extents, uint32_t id)
{
    struct extent *extent = xcalloc(1, sizeof *extent);
    size_t at = place_of(extents, id);

    extent->id = id;
    extent->fd = -1;
    if (extents->count == extents->capacity) {
        extents->capacity = extents->capacity > 0 ? 2 * extents->capacity : 16;
        extents->list = xrealloc(extents->list, extents->capacity * sizeof(extents->list[0]));
    }
    memmove(&extents->list[at + 1], &extents->list[at],
            (extents->count - at) * sizeof extents->list[0]);
    extents->list[at] = extent;
    extents->count++;
    assert(extents->count <= extents->capacity);
    assert(at == 0 || extents->list[at - 1]->id < id);
    return extent;
}

enum store_result extents_open(struct extents *extents, int folder, const char **ret_problem)
{
    DIR *directory = file_list(folder, ".");
    struct dirent *entry;
    uint32_t id;
    int error;

    *ret_problem = "the folder `extents` cannot be read";
    if (!directory) {
        log_errno("store: list the extents");
        return STORE_IO;
    }
    *extents = (struct extents){
        .folder = folder, .next_id = 1, .hold = EXTENT_HOLD_NONE, .sealed_ms = clock_monotonic_ms()
    };
    lock_init(&extents->lock, RANK_EXTENTS);
    lock_condition_init(&extents->created);
    while ((entry = file_next_entry(directory)))
        if (extent_file_id(entry->d_name, &id)) {
            extents_insert(extents, id)->named = true;
            extents_reserve(extents, id);
        }
    error = errno;
    closedir(directory);
    if (error == 0)
        return STORE_OK;
    errno = error;
    log_errno("store: list the extents");
    extents_release(extents);
    return STORE_IO;
}

void extents_reserve(struct extents *extents, uint32_t id)
{
    if (id < extents->next_id)
        return;
    extents->next_id = id + 1;
    atomic_store(&extents->frontier, extents_place(id + 1, 0));
}

void extents_release(struct extents *extents)
{
    for (size_t i = 0; i < extents->count; i++) {
        if (extents->list[i]->fd >= 0)
            close(extents->list[i]->fd);
        free(extents->list[i]);
    }
    free(extents->list);
    pthread_cond_destroy(&extents->created);
    lock_destroy(&extents->lock);
}

/* ---- their files ---- */

static void unlink_idle(struct extents *extents, struct extent *extent)
{
    if (extent->next_idle)
        extent->next_idle->previous_idle = extent->previous_idle;
    else
        extents->idle_last = extent->previous_idle;
    if (extent->previous_idle)
        extent->previous_idle->next_idle = extent->next_idle;
    else
        extents->idle_first = extent->next_idle;
    extent->is_idle = false;
    extent->next_idle = extent->previous_idle = NULL;
}

static void append_idle(struct extents *extents, struct extent *extent)
{
    extent->next_idle = NULL;
    extent->previous_idle = extents->idle_last;
    if (extents->idle_last)
        extents->idle_last->next_idle = extent;
    else
        extents->idle_first = extent;
    extents->idle_last = extent;
    extent->is_idle = true;
}

/* Asserts that the file of an extent is open if it must be. Caller holds the lock. */
static void assert_extent(const struct extents *extents, const struct extent *extent)
{
    lock_assert_held(&extents->lock);
    assert(extents->open_count <= EXTENTS_OPEN_MAX);
    assert(extent->takers == 0 || extent->fd >= 0);
    assert(!extent->is_idle || (extent->fd >= 0 && extent->takers == 0 &&
                                extent->staged_count == 0 && extent != extents->active));
    assert(extent->is_idle || (!extent->next_idle && !extent->previous_idle));
}

void extents_settle(struct extents *extents, struct extent *extent)
{
    bool may_close = extent->fd >= 0 && extent->takers == 0 && extent->staged_count == 0 &&
                     extent != extents->active && !extent->removed;

    if (extent->is_idle && !may_close)
        unlink_idle(extents, extent);
    else if (!extent->is_idle && may_close)
        append_idle(extents, extent);
    assert_extent(extents, extent);
    assert(!extents->idle_first == !extents->idle_last);
}

bool extents_reserve_file(struct extents *extents, int *ret_close)
{
    struct extent *idle = extents->idle_first;

    lock_assert_held(&extents->lock);
    *ret_close = -1;
    if (extents->open_count < EXTENTS_OPEN_MAX) {
        extents->open_count++;
        return true;
    }
    if (!idle)
        return false;
    assert_extent(extents, idle);
    *ret_close = idle->fd;
    idle->fd = -1;
    extents_settle(extents, idle);
    return true;
}

void extents_close_if_any(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Opens the file of an existing extent. Called with the lock held, which it releases in between. */
static enum store_result open_file(struct extents *extents, uint32_t id)
{
    struct extent *extent = extents_find(extents, id);
    bool is_lent = extent->is_lent;
    enum store_result result;
    int other, fd = -1;

    if (!extents_reserve_file(extents, &other)) {
        log_line(LOG_WARN, "store: %u extents are in use at once", EXTENTS_OPEN_MAX);
        return STORE_SHORTAGE;
    }
    lock_release(&extents->lock);
    extents_close_if_any(other);
    result = extent_file_open(extents->folder, id, is_lent ? EXTENT_READS : EXTENT_WRITES, &fd);
    lock_acquire(&extents->lock);
    extent = extents_find(extents, id);
    if (!result && extent && extent->fd < 0 && extent->is_lent == is_lent) {
        extent->fd = fd;
        return STORE_OK;
    }
    assert(extents->open_count > 0);
    extents->open_count--; /* another thread was faster, or opening failed */
    extents_close_if_any(fd);
    return result;
}

enum store_result extents_take(struct extents *extents, uint32_t id, struct extent **ret_extent)
{
    enum store_result result = STORE_OK;
    struct extent *extent;

    lock_acquire(&extents->lock);
    extent = extents_find(extents, id);
    while (extent && extent->fd < 0 && !result) {
        result = open_file(extents, id);
        extent = extents_find(extents, id);
    }
    if (!result && extent) {
        extent->takers++;
        extents_settle(extents, extent);
        assert(extent->fd >= 0 && !extent->removed);
    }
    lock_release(&extents->lock);
    if (!extent) {
        log_line(LOG_ERROR, "store: extent %08" PRIx32 " is missing", id);
        return STORE_CORRUPT;
    }
    *ret_extent = extent;
    return result;
}

/* Frees an extent that is in no list. */
static void free_extent(struct extents *extents, struct extent *extent)
{
    assert_extent(extents, extent);
    assert(extent->removed && extent->takers == 0 && !extent->is_idle);
    if (extent->fd >= 0) {
        close(extent->fd);
        extents->open_count--;
    }
    free(extent);
}

void extents_give(struct extents *extents, struct extent *extent)
{
    lock_acquire(&extents->lock);
    assert_extent(extents, extent);
    assert(extent->takers > 0);
    extent->takers--;
    if (extent->removed && extent->takers == 0)
        free_extent(extents, extent);
    else
        extents_settle(extents, extent);
    lock_release(&extents->lock);
}

enum store_result extents_sync(struct extents *extents, uint32_t id)
{
    struct extent *extent;
    bool named;
    enum store_result result = extents_take(extents, id, &extent);

    if (result)
        return STORE_IO;
    lock_acquire(&extents->lock);
    named = extent->named;
    lock_release(&extents->lock);
    if (extent_file_sync(extent->fd, id) || (!named && extent_folder_sync(extents->folder)))
        result = STORE_IO;
    lock_acquire(&extents->lock);
    extent->named = extent->named || !result;
    lock_release(&extents->lock);
    extents_give(extents, extent);
    return result;
}

/* Removes an extent without used bytes; returns true if it was removed. Only the collector does
 * this. */
static bool remove_if_unused(struct extents *extents, uint32_t id)
{
    struct extent *extent;
    bool unused;

    lock_acquire(&extents->lock);
    extent = extents_find(extents, id);
    unused = extent && extent != extents->active && extent->counted && extent->used_bytes == 0 &&
             !extents_holds(extents, id);
    if (unused) {
        size_t at = place_of(extents, id);

        memmove(&extents->list[at], &extents->list[at + 1],
                (extents->count - at - 1) * sizeof extents->list[0]);
        extents->count--;
        extent->removed = true;
        extents_settle(extents, extent);
        if (extent->takers == 0)
            free_extent(extents, extent);
    }
    lock_release(&extents->lock);
    if (unused)
        extent_file_remove(extents->folder, id);
    return unused;
}

/* Adds to the used bytes. Returns false if there is no such extent (its file is missing). */
static bool count_used(struct extents *extents, uint32_t id, int64_t more, bool counted)
{
    struct extent *extent;

    lock_acquire(&extents->lock);
    extent = extents_find(extents, id);
    if (extent) {
        extent->used_bytes += more;
        if (counted)
            extent->counted = true;
        assert(!extent->counted || extent->used_bytes >= 0);
    }
    lock_release(&extents->lock);
    return extent;
}

void extents_punch_taken(struct extents *extents, const struct extent *extent, uint64_t offset,
                         uint64_t length)
{
    int fd;
    bool is_lent;

    lock_acquire(&extents->lock);
    is_lent = extent->is_lent;
    lock_release(&extents->lock);
    if (!is_lent) {
        extent_file_punch(extent->fd, extent->id, offset, length);
        return;
    }
    if (extent_file_open(extents->folder, extent->id, EXTENT_WRITES, &fd))
        return; /* logged; the bytes remain allocated until the next start */
    extent_file_punch(fd, extent->id, offset, length);
    close(fd);
}

void extents_punch(struct extents *extents, uint32_t id, uint64_t offset, uint64_t length)
{
    struct extent *extent;

    assert(length > 0 && length % EXTENT_UNIT == 0);
    if (!count_used(extents, id, -(int64_t)length, false) || remove_if_unused(extents, id) ||
        extents_take(extents, id, &extent))
        return;
    extents_punch_taken(extents, extent, offset, length);
    extents_give(extents, extent);
}

void extents_counted(struct extents *extents, uint32_t id, uint64_t used_bytes)
{
    if (count_used(extents, id, (int64_t)used_bytes, true))
        remove_if_unused(extents, id);
}

bool extents_id_at(struct extents *extents, size_t at, uint32_t *ret_id)
{
    bool found;

    lock_acquire(&extents->lock);
    found = at < extents->count;
    if (found)
        *ret_id = extents->list[at]->id;
    lock_release(&extents->lock);
    return found;
}

size_t extents_count(struct extents *extents)
{
    size_t count;

    lock_acquire(&extents->lock);
    count = extents->count;
    lock_release(&extents->lock);
    return count;
}

void extents_sweep(struct extents *extents)
{
    uint32_t id;

    for (size_t at = 0; extents_id_at(extents, at, &id); at++)
        remove_if_unused(extents, id);
}

void extents_measure(struct extents *extents, uint64_t *ret_count, uint64_t *ret_allocated_bytes)
{
    uint64_t allocated = 0;
    uint64_t count = 0;
    uint32_t id;

    /* Only the collector removes extents, and it is the caller or waits for it. */
    for (; extents_id_at(extents, count, &id); count++) {
        struct extent *extent;

        if (extents_take(extents, id, &extent))
            continue;
        allocated += extent_file_allocated(extent->fd);
        extents_give(extents, extent);
    }
    *ret_count = count;
    *ret_allocated_bytes = allocated;
}
