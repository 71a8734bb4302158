/* System calls on extents. */
#include "store/embedded/extent_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/log.h"

#define VERSION     1
#define HEADER_SIZE 20
#define NAME_SIZE   9
#define RUNS_MAX    64

static void make_header(unsigned char header[HEADER_SIZE], uint32_t id)
{
    memcpy(header, "LAGRAEXT", 8);
    le32_put(header + 8, VERSION);
    le32_put(header + 12, id);
    le32_put(header + 16, crc32c(0, header, 16));
}

static void make_name(char name[NAME_SIZE], uint32_t id)
{
    snprintf(name, NAME_SIZE, "%08" PRIx32, id);
}

bool extent_file_id(const char *name, uint32_t *ret_id)
{
    uint32_t id = 0;

    if (strlen(name) != NAME_SIZE - 1 || strspn(name, "0123456789abcdef") != NAME_SIZE - 1)
        return false;
    for (const char *c = name; *c; c++)
        id = id << 4 | (uint32_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    *ret_id = id;
    return true;
}

static enum store_result failed(const char *doing, uint32_t id)
{
    int error = errno;

    log_errno("store: %s extent %08" PRIx32, doing, id);
    if (error == ENOSPC || error == EDQUOT)
        return STORE_FULL;
    return error == EMFILE || error == ENFILE || error == ENOMEM ? STORE_SHORTAGE : STORE_IO;
}

static int open_again(int folder, const char *name, int flags)
{
    int fd;

    do
        fd = openat(folder, name, flags | O_CLOEXEC, 0600);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static int lengthen(int fd)
{
    int result;

    do
        result = ftruncate(fd, (off_t)EXTENT_BYTES);
    while (result < 0 && errno == EINTR);
    return result;
}

enum store_result extent_file_create(int folder, uint32_t id, int *ret_fd)
{
    unsigned char header[HEADER_SIZE];
    struct bytes run = { (const char *)header, sizeof header };
    char name[NAME_SIZE];
    enum store_result result;
    int fd;

    make_name(name, id);
    fd = open_again(folder, name, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0)
        return failed("create", id);
    make_header(header, id);
    result = lengthen(fd) < 0 ? failed("lengthen", id) : STORE_OK;
    if (!result)
        result = extent_file_write(fd, id, &run, 1, 0);
    if (result) {
        close(fd);
        extent_file_remove(folder, id);
        return result;
    }
    *ret_fd = fd;
    return STORE_OK;
}

/* Reads the first HEADER_SIZE bytes, or fewer if the file is shorter. */
static enum store_result read_start(int fd, uint32_t id, char header[HEADER_SIZE], size_t *ret_size)
{
    ssize_t size = file_read_at(fd, header, HEADER_SIZE, 0);

    if (size < 0)
        return failed("read", id);
    *ret_size = (size_t)size;
    return STORE_OK;
}

enum store_result extent_file_open(int folder, uint32_t id, enum extent_access access, int *ret_fd)
{
    unsigned char expected[HEADER_SIZE];
    char header[HEADER_SIZE];
    char name[NAME_SIZE];
    enum store_result result;
    size_t size = 0;
    int fd;

    make_name(name, id);
    fd = open_again(folder, name, access == EXTENT_READS ? O_RDONLY : O_RDWR);
    if (fd < 0 && errno == ENOENT) {
        log_line(LOG_ERROR, "store: extent %s is missing", name);
        return STORE_CORRUPT;
    }
    if (fd < 0)
        return failed("open", id);
    result = read_start(fd, id, header, &size);
    if (result) {
        close(fd);
        return result;
    }
    make_header(expected, id);
    if (size != HEADER_SIZE || memcmp(header, expected, HEADER_SIZE) != 0) {
        log_line(LOG_ERROR, "store: extent %s has a corrupt header", name);
        close(fd);
        return STORE_CORRUPT;
    }
    *ret_fd = fd;
    return STORE_OK;
}

enum store_result extent_file_open_direct(int folder, uint32_t id, int *ret_fd)
{
    char name[NAME_SIZE];

    make_name(name, id);
    *ret_fd = openat(folder, name, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (*ret_fd < 0 && errno == EINVAL)
        *ret_fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (*ret_fd >= 0)
        return STORE_OK;
    return errno == ENOENT ? STORE_CORRUPT : failed("open", id);
}

void extent_file_remove(int folder, uint32_t id)
{
    char name[NAME_SIZE];

    make_name(name, id);
    if (unlinkat(folder, name, 0) < 0)
        log_errno("store: remove extent %s", name);
}

enum store_result extent_file_write(int fd, uint32_t id, const struct bytes *runs, size_t count,
                                    uint64_t offset)
{
    struct iovec vectors[RUNS_MAX];
    struct iovec *at = vectors;

    assert(count <= RUNS_MAX);
    for (size_t i = 0; i < count; i++)
        vectors[i] = (struct iovec){ (void *)(uintptr_t)runs[i].ptr, runs[i].len };
    while (count > 0) {
        ssize_t written = pwritev(fd, at, (int)count, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return failed("write", id);
        offset += (uint64_t)written;
        while (count > 0 && (size_t)written >= at->iov_len) {
            written -= (ssize_t)at->iov_len;
            at++;
            count--;
        }
        if (count > 0) {
            at->iov_base = (char *)at->iov_base + written;
            at->iov_len -= (size_t)written;
        }
    }
    return STORE_OK;
}

void extent_file_punch(int fd, uint32_t id, uint64_t offset, uint64_t length)
{
    int result;

    do
        result =
            fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        log_errno("store: free %" PRIu64 " bytes of extent %08" PRIx32, length, id);
}

enum store_result extent_file_sync(int fd, uint32_t id)
{
    int result;

    /* EINTR means that nothing was synced and no error was reported. */
    do
        result = fdatasync(fd);
    while (result < 0 && errno == EINTR);
    return result < 0 ? failed("sync", id) : STORE_OK;
}

enum store_result extent_folder_sync(int folder)
{
    int result;

    do
        result = fsync(folder);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        log_errno("store: sync the folder of extents");
    return result < 0 ? STORE_IO : STORE_OK;
}

bool extent_file_has_data(int fd, uint64_t from, uint64_t to)
{
    off_t at = lseek(fd, (off_t)from, SEEK_DATA);

    /* ENXIO: no data up to the end. A file system that does not support this returns `from`. */
    return at >= 0 && (uint64_t)at < to;
}

uint64_t extent_file_allocated(int fd)
{
    struct stat status;

    return fstat(fd, &status) < 0 ? 0 : (uint64_t)status.st_blocks * 512;
}
