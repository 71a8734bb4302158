#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"

/* Number of pages per mincore(2) call, for 4 MiB. */
#define PAGES_ASKED 1024u

/* cachestat(2) */
struct cachestat_range {
    uint64_t offset, length;
};
struct cachestat {
    uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
};

ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* offset: page-aligned */
static bool pages_are_cached(int fd, uint64_t offset, size_t pages, size_t page_bytes)
{
    unsigned char is_cached[PAGES_ASKED];
    size_t size = pages * page_bytes;
    void *mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)offset);
    bool all;

    if (mapped == MAP_FAILED)
        return false;
    all = mincore(mapped, size, is_cached) == 0;
    for (size_t i = 0; all && i < pages; i++)
        all = is_cached[i] & 1;
    munmap(mapped, size);
    return all;
}

/* Returns whether the range is in the page cache: one microsecond with cachestat(2), otherwise ten
 * to a hundred with mincore(2). */
bool file_is_cached(int fd, uint64_t offset, uint64_t length)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t page = offset / page_bytes;
    uint64_t end = (offset + length + page_bytes - 1) / page_bytes;
    struct cachestat_range range = { .offset = offset, .length = length };
    struct cachestat stat;

    if (length == 0)
        return true;
    if (syscall(FILE_CACHESTAT, fd, &range, &stat, 0) == 0)
        return stat.cached == end - page;
    for (; page < end; page += PAGES_ASKED) {
        uint64_t pages = end - page < PAGES_ASKED ? end - page : PAGES_ASKED;

        if (!pages_are_cached(fd, page * page_bytes, (size_t)pages, (size_t)page_bytes))
            return false;
    }
    return true;
}

/* Syncs the entire file system if the parent is not readable for this process. */
bool file_sync_name(int folder)
{
    int parent = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced;

    if (parent < 0)
        return errno == EACCES && syncfs(folder) == 0;
    synced = fsync(parent) == 0;
    close(parent);
    return synced;
}

static bool write_synced(int fd, struct bytes contents)
{
    return write(fd, contents.ptr, contents.len) == (ssize_t)contents.len && fsync(fd) == 0;
}

bool file_replace(int folder, const char *name, struct bytes contents)
{
    char name_new[NAME_MAX + 1];
    bool is_written;
    int fd;

    snprintf(name_new, sizeof name_new, "%s.new", name);
    fd = openat(folder, name_new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    is_written = write_synced(fd, contents);
    close(fd);
    return is_written && renameat(folder, name_new, folder, name) == 0 && fsync(folder) == 0;
}

static struct file_mark mark_of(const char *path)
{
    struct stat status;

    if (!path || stat(path, &status) != 0)
        return (struct file_mark){ .size = 0 };
    return (struct file_mark){
        .device = status.st_dev,
        .inode = status.st_ino,
        .size = (uint64_t)status.st_size,
        .changed_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec,
    };
}

bool file_has_changed(const char *path, struct file_mark *seen)
{
    struct file_mark now = mark_of(path);
    bool is_same = now.device == seen->device && now.inode == seen->inode &&
                   now.size == seen->size && now.changed_ns == seen->changed_ns;

    *seen = now;
    return !is_same;
}

char *file_path(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + sizeof "/";
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

DIR *file_list(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

struct dirent *file_next_entry(DIR *folder)
{
    errno = 0;
    return readdir(folder);
}

bool file_make_folders(const char *folder)
{
    char *path = xstrdup(folder);
    bool made = true;

    for (char *c = path + 1; *c && made; c++)
        if (*c == '/') {
            *c = 0;
            made = mkdir(path, 0700) == 0 || errno == EEXIST;
            *c = '/';
        }
    made = made && (mkdir(path, 0700) == 0 || errno == EEXIST);
    free(path);
    return made;
}
