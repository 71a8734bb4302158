/* Copies sparse files and computes their checksums. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backup/backup_private.h"
#include "base/arena.h"
#include "base/crc.h"
#include "base/file.h"

#define BUFFER_BYTES ((size_t)1 << 20)
/* Maximum amount of dirty data left to the kernel. A server's sync on the same file system waits
 * for this data. */
#define WINDOW_BYTES ((uint64_t)8 << 20)

/* A pass over a file, with a function applied to each run of data. */
struct pass {
    struct backup_work *work;
    const char *name;
    int from;
    char *buffer, *other; /* BUFFER_BYTES each; other: only for `compare` */
    uint32_t crc;
    int to;
    uint64_t unwritten; /* bytes of `to` from here on may not be on disk */
    bool same;
};

/* Processes `size` bytes in the buffer, which are at the given offset. Returns false on failure, or
 * to stop. */
typedef bool visit_data(struct pass *pass, uint64_t at, size_t size);

static bool visit_run(struct pass *pass, uint64_t at, uint64_t end, visit_data *visit)
{
    while (at < end) {
        size_t want = end - at < BUFFER_BYTES ? (size_t)(end - at) : BUFFER_BYTES;
        ssize_t size = file_read_at(pass->from, pass->buffer, want, at);

        if (size < 0)
            return work_fail_errno(pass->work, "read %s", pass->name);
        if ((size_t)size < want)
            return work_fail(pass->work, "%s has become shorter", pass->name);
        if (!visit(pass, at, want) || !work_read(pass->work, want))
            return false;
        at += want;
    }
    return true;
}

static void add_zeros(struct pass *pass, uint64_t count)
{
    static const char zeros[64 << 10];

    for (; count > 0; count -= count < sizeof zeros ? count : sizeof zeros)
        pass->crc = crc32c(pass->crc, zeros, count < sizeof zeros ? (size_t)count : sizeof zeros);
}

/* Finds the start and end of the next data at or after an offset, up to `end`; both are `end` if
 * there is none. A file system without holes has data everywhere. */
static bool find_data(struct pass *pass, uint64_t at, uint64_t end, uint64_t *ret_from,
                      uint64_t *ret_to)
{
    off_t from = lseek(pass->from, (off_t)at, SEEK_DATA), to;

    *ret_from = *ret_to = end;
    if (from < 0 && errno == ENXIO)
        return true;
    if (from < 0)
        return work_fail_errno(pass->work, "find data in %s", pass->name);
    if ((uint64_t)from >= end)
        return true;
    to = lseek(pass->from, from, SEEK_HOLE);
    if (to < 0)
        return work_fail_errno(pass->work, "find data in %s", pass->name);
    *ret_from = (uint64_t)from;
    *ret_to = (uint64_t)to < end ? (uint64_t)to : end;
    return true;
}

/* Visits all data up to `end`, adding holes to the checksum. */
static bool visit_all(struct pass *pass, uint64_t end, visit_data *visit)
{
    uint64_t at = 0, from, to;

    pass->buffer = xmalloc(BUFFER_BYTES);
    while (at < end && find_data(pass, at, end, &from, &to)) {
        add_zeros(pass, from - at);
        if (!visit_run(pass, from, to, visit))
            break;
        at = to;
    }
    free(pass->buffer);
    return at >= end;
}

static bool add_data(struct pass *pass, uint64_t at, size_t size)
{
    (void)at;
    pass->crc = crc32c(pass->crc, pass->buffer, size);
    return true;
}

bool file_sum(struct backup_work *work, int fd, const char *name, uint32_t *ret_crc)
{
    struct pass pass = { .work = work, .name = name, .from = fd };
    struct stat status;

    if (fstat(fd, &status) < 0)
        return work_fail_errno(work, "stat %s", name);
    if (!visit_all(&pass, (uint64_t)status.st_size, add_data))
        return false;
    *ret_crc = pass.crc;
    return true;
}

/* An error here recurs at fsync(). */
static void write_out(struct pass *pass, uint64_t end)
{
    if (end - pass->unwritten < WINDOW_BYTES)
        return;
    (void)sync_file_range(pass->to, (off_t)pass->unwritten, (off_t)(end - pass->unwritten),
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                              SYNC_FILE_RANGE_WAIT_AFTER);
    pass->unwritten = end;
}

static bool copy_data(struct pass *pass, uint64_t at, size_t size)
{
    pass->crc = crc32c(pass->crc, pass->buffer, size);
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(pass->to, pass->buffer + done, size - done, (off_t)(at + done));

        if (n < 0 && errno != EINTR)
            return work_fail_errno(pass->work, "write %s", pass->name);
        done += n > 0 ? (size_t)n : 0;
    }
    write_out(pass, at + size);
    return true;
}

/* Clones the file with shared blocks. Returns false, without effect, if the file system does not
 * support it. */
static bool clone_start(int from, int to, uint64_t end)
{
    return ioctl(to, FICLONE, from) == 0 && ftruncate(to, (off_t)end) == 0;
}

bool file_copy(struct backup_work *work, int from, int to, const char *name, uint64_t end,
               uint64_t size, uint32_t *ret_crc)
{
    struct pass pass = { .work = work, .name = name, .from = from, .to = to };
    bool copied;

    if (clone_start(from, to, end)) {
        pass.from = to;
        copied = visit_all(&pass, end, add_data);
    } else {
        copied = visit_all(&pass, end, copy_data);
    }
    if (!copied)
        return false;
    add_zeros(&pass, size - end);
    if (ftruncate(to, (off_t)size) < 0 || fsync(to) < 0)
        return work_fail_errno(work, "write %s", name);
    /* The copy will not be read soon, so leave the page cache to the server. */
    (void)posix_fadvise(to, 0, 0, POSIX_FADV_DONTNEED);
    *ret_crc = pass.crc;
    return true;
}

static bool compare_data(struct pass *pass, uint64_t at, size_t size)
{
    ssize_t n = file_read_at(pass->to, pass->other, size, at);

    if (n < 0)
        return work_fail_errno(pass->work, "read %s of the previous backup", pass->name);
    pass->same = (size_t)n == size && memcmp(pass->buffer, pass->other, size) == 0;
    return pass->same;
}

bool file_covers(struct backup_work *work, int from, int to, const char *name, bool *ret_same)
{
    struct pass pass = { .work = work, .name = name, .from = from, .to = to, .same = true };
    struct stat status;
    bool done;

    if (fstat(from, &status) < 0)
        return work_fail_errno(work, "stat %s", name);
    pass.other = xmalloc(BUFFER_BYTES);
    done = visit_all(&pass, (uint64_t)status.st_size, compare_data) || !pass.same;
    free(pass.other);
    *ret_same = pass.same;
    return done;
}
