/* The files that direct reads have open: see direct_private.h. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/direct_private.h"
#include "cluster/folder.h"

/* ---- under the lock ---- */

static struct direct_file *find(struct direct *direct, uint32_t cell, uint32_t extent)
{
    lock_assert_held(&direct->lock);
    for (unsigned i = 0; i < DIRECT_FILES_MAX; i++) {
        struct direct_file *file = &direct->files[i];

        if (file->cell == cell && file->extent == extent && !file->is_bad)
            return file;
    }
    return NULL;
}

/* Returns an unused entry, or else the one that has not been used for the longest time; *ret_close
 * must be closed unless it is -1. Returns NULL if all are in use. */
static struct direct_file *find_room(struct direct *direct, int *ret_close)
{
    struct direct_file *oldest = NULL;

    lock_assert_held(&direct->lock);
    *ret_close = -1;
    for (unsigned i = 0; i < DIRECT_FILES_MAX; i++) {
        struct direct_file *file = &direct->files[i];

        if (file->cell == 0)
            return file;
        if (file->users == 0 && (!oldest || file->used_ms < oldest->used_ms))
            oldest = file;
    }
    if (oldest)
        *ret_close = oldest->fd;
    return oldest;
}

static struct direct_file *take_open(struct direct *direct, uint32_t cell, uint32_t extent)
{
    struct direct_file *file;

    lock_acquire(&direct->lock);
    file = find(direct, cell, extent);
    if (file)
        file->users++;
    lock_release(&direct->lock);
    return file;
}

/* ---- without it ---- */

/* Returns false, with errno, if the file is not a regular one. */
static bool is_regular(int fd)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return false;
    errno = EINVAL;
    return S_ISREG(status.st_mode);
}

/* Opens only a regular file, and never waits for a pipe. */
static int open_extent(const struct direct *direct, uint32_t cell, uint32_t extent)
{
    char *folder = cluster_data_path(direct->cluster, cell);
    char path[PATH_MAX];
    int fd = -1;

    if (snprintf(path, sizeof path, "%s/extents/%08" PRIx32, folder, extent) < (int)sizeof path)
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && !is_regular(fd)) {
        int error = errno;

        close(fd);
        fd = -1;
        errno = error;
    }
    if (fd < 0)
        log_errno("open %s, to read from it for the owner of cell %" PRIu32, path, cell);
    free(folder);
    return fd;
}

struct direct_file *direct_file_take(struct direct *direct, uint32_t cell, uint32_t extent)
{
    struct direct_file *file = take_open(direct, cell, extent);
    int fd, other;

    if (file)
        return file;
    fd = open_extent(direct, cell, extent);
    if (fd < 0)
        return NULL;
    lock_acquire(&direct->lock);
    file = find(direct, cell, extent);
    if (file) { /* another thread was faster */
        file->users++;
        other = fd;
    } else {
        file = find_room(direct, &other);
        if (file)
            *file = (struct direct_file){ .cell = cell, .extent = extent, .fd = fd, .users = 1 };
        else
            other = fd;
    }
    lock_release(&direct->lock);
    if (other >= 0)
        close(other);
    return file;
}

void direct_file_give(struct direct *direct, struct direct_file *file, bool is_bad)
{
    int fd = -1;

    lock_acquire(&direct->lock);
    assert(file->users > 0 && file->cell > 0);
    file->is_bad |= is_bad;
    file->used_ms = clock_monotonic_ms();
    if (--file->users == 0 && file->is_bad) {
        fd = file->fd;
        file->cell = 0;
    }
    lock_release(&direct->lock);
    if (fd >= 0)
        close(fd);
}

void direct_files_close(struct direct *direct, bool all)
{
    uint64_t now_ms = clock_monotonic_ms();
    int closed[DIRECT_FILES_MAX];
    unsigned count = 0;

    lock_acquire(&direct->lock);
    for (unsigned i = 0; i < DIRECT_FILES_MAX; i++) {
        struct direct_file *file = &direct->files[i];

        if (file->cell == 0 || file->users > 0 || (!all && now_ms - file->used_ms < DIRECT_IDLE_MS))
            continue;
        closed[count++] = file->fd;
        file->cell = 0;
    }
    lock_release(&direct->lock);
    while (count > 0)
        close(closed[--count]);
}
