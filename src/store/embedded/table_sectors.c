/* Files of checksums: written to a temporary name and renamed, so that none is ever incomplete. */
#include "store/embedded/table_sectors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "store/backup.h"

#define SUM_BYTES 4u
#define NAME_SIZE 32

static void sums_name(char to[NAME_SIZE], uint64_t number, const char *suffix)
{
    snprintf(to, NAME_SIZE, "%06" PRIu64 "%s", number, suffix);
}

size_t table_sectors_count(uint64_t size)
{
    return (size_t)((size + TABLE_SECTOR_BYTES - 1) / TABLE_SECTOR_BYTES);
}

static size_t sector_length(uint64_t size, size_t sector)
{
    uint64_t left = size - (uint64_t)sector * TABLE_SECTOR_BYTES;

    return left < TABLE_SECTOR_BYTES ? (size_t)left : TABLE_SECTOR_BYTES;
}

bool table_sectors_read(int fd, uint64_t size, size_t sector, bool no_wait, void *buffer,
                        uint32_t *ret_sum)
{
    uint64_t at = (uint64_t)sector * TABLE_SECTOR_BYTES;
    struct iovec all = { buffer, sector_length(size, sector) };
    ssize_t n = no_wait ? preadv2(fd, &all, 1, (off_t)at, RWF_NOWAIT)
                        : file_read_at(fd, buffer, all.iov_len, at);

    if (n < 0 && no_wait && errno != EIO)
        errno = EAGAIN; /* also for file systems that do not support this */
    if (n >= 0 && (size_t)n < all.iov_len)
        errno = no_wait ? EAGAIN : 0;
    if (n < 0 || (size_t)n < all.iov_len)
        return false;
    *ret_sum = crc32c(0, buffer, all.iov_len);
    return true;
}

uint32_t *table_sectors_take(int fd, uint64_t size)
{
    size_t count = table_sectors_count(size);
    uint32_t *sums = xcalloc(count, sizeof sums[0]);
    char *buffer = xmalloc(TABLE_SECTOR_BYTES);
    bool is_read = true;
    int error;

    for (size_t i = 0; i < count && is_read; i++)
        is_read = table_sectors_read(fd, size, i, /* no_wait= */ false, buffer, &sums[i]);
    error = errno;
    free(buffer);
    if (is_read)
        return sums;
    free(sums);
    errno = error;
    return NULL;
}

uint32_t table_sectors_join(const uint32_t *sums, uint64_t size)
{
    size_t count = table_sectors_count(size);
    uint32_t crc = 0;

    for (size_t i = 0; i < count; i++)
        crc = crc32c_join(crc, sums[i], sector_length(size, i));
    return crc;
}

int table_sectors_open(int folder)
{
    (void)mkdirat(folder, SUMS_FOLDER, 0700);
    return openat(folder, SUMS_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool table_sectors_load(int folder, uint64_t number, uint64_t size, uint32_t crc, uint32_t *to)
{
    size_t count = table_sectors_count(size);
    char name[NAME_SIZE];
    struct stat status;
    unsigned char *bytes;
    bool loaded;
    int fd;

    sums_name(name, number, "");
    fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bytes = xmalloc(count * SUM_BYTES);
    loaded = fstat(fd, &status) == 0 && (uint64_t)status.st_size == count * SUM_BYTES &&
             file_read_at(fd, bytes, count * SUM_BYTES, 0) == (ssize_t)(count * SUM_BYTES);
    for (size_t i = 0; i < count && loaded; i++)
        to[i] = le32_get(bytes + i * SUM_BYTES);
    free(bytes);
    close(fd);
    return loaded && table_sectors_join(to, size) == crc;
}

void table_sectors_save(int folder, uint64_t number, const uint32_t *sums, uint64_t size)
{
    size_t count = table_sectors_count(size);
    char name[NAME_SIZE], new_name[NAME_SIZE];
    unsigned char *bytes;
    bool written;
    int fd;

    sums_name(name, number, "");
    sums_name(new_name, number, ".new");
    fd = openat(folder, new_name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    bytes = xmalloc(count * SUM_BYTES);
    for (size_t i = 0; i < count; i++)
        le32_put(bytes + i * SUM_BYTES, sums[i]);
    written = write(fd, bytes, count * SUM_BYTES) == (ssize_t)(count * SUM_BYTES);
    free(bytes);
    close(fd);
    if (!written || renameat(folder, new_name, folder, name) < 0)
        unlinkat(folder, new_name, 0);
}

bool table_sectors_are_kept(int folder, uint64_t number)
{
    char name[NAME_SIZE];

    sums_name(name, number, "");
    return faccessat(folder, name, F_OK, 0) == 0;
}
