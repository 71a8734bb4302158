/* Names, directories, states of files, and the C library's streams on the simulated disk. */
#include "files_private.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real)                                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

/* ---- states ---- */

static void fill(const struct inode *inode, struct stat *ret_status)
{
    memset(ret_status, 0, sizeof *ret_status);
    ret_status->st_ino = inode->id;
    ret_status->st_dev = 77;
    ret_status->st_mode = inode->is_directory ? S_IFDIR | 0700 : S_IFREG | 0600;
    ret_status->st_nlink = inode->refs;
    ret_status->st_size = (off_t)inode->size;
    ret_status->st_blksize = PAGE_SIZE;
    ret_status->st_blocks = (blkcnt_t)(inode->pages_used * (PAGE_SIZE / 512));
    ret_status->st_uid = geteuid();
}

CALL(int, fstat64, int fd, struct stat *ret_status)
{
    struct open_file *file = file_of(fd);

    if (!file) {
        REAL(int, fstat64, int, struct stat *);
        return real(fd, ret_status);
    }
    sched_point();
    fill(file->inode, ret_status);
    return 0;
}
ALSO(int, fstat, fstat64, int fd, struct stat *ret_status);

CALL(int, fstatat64, int folder_fd, const char *path, struct stat *ret_status, int flags)
{
    struct inode *folder, *inode;
    const char *last;

    if (!sched_is_on()) {
        REAL(int, fstatat64, int, const char *, struct stat *, int);
        return real(folder_fd, path, ret_status, flags);
    }
    sched_point();
    inode = inode_of_path(folder_fd, path, &folder, &last);
    if (!inode)
        return fail_call(ENOENT);
    fill(inode, ret_status);
    return 0;
}
ALSO(int, fstatat, fstatat64, int folder_fd, const char *path, struct stat *ret_status, int flags);

CALL(int, stat64, const char *path, struct stat *ret_status)
{
    return sim_fstatat64(AT_FDCWD, path, ret_status, 0);
}
ALSO(int, stat, stat64, const char *path, struct stat *ret_status);
ALSO(int, lstat64, stat64, const char *path, struct stat *ret_status);
ALSO(int, lstat, stat64, const char *path, struct stat *ret_status);

CALL(int, access, const char *path, int mode)
{
    struct stat status;

    (void)mode;
    return sim_fstatat64(AT_FDCWD, path, &status, 0);
}

CALL(int, faccessat, int folder_fd, const char *path, int mode, int flags)
{
    struct stat status;

    (void)mode, (void)flags;
    return sim_fstatat64(folder_fd, path, &status, 0);
}

#define PAGES_OF_DISK (UINT64_C(1) << 28)

static uint64_t free_pages(void)
{
    uint64_t max = world->disk->pages_max == UINT64_MAX ? PAGES_OF_DISK : world->disk->pages_max;

    return max > world->disk->pages_used ? max - world->disk->pages_used : 0;
}

CALL(int, fstatvfs64, int fd, struct statvfs *ret_status)
{
    (void)fd;
    sched_point();
    memset(ret_status, 0, sizeof *ret_status);
    ret_status->f_bsize = ret_status->f_frsize = PAGE_SIZE;
    ret_status->f_blocks = PAGES_OF_DISK;
    ret_status->f_bfree = ret_status->f_bavail = free_pages();
    ret_status->f_files = ret_status->f_ffree = ret_status->f_favail = 1000000;
    ret_status->f_namemax = 255;
    return 0;
}
ALSO(int, fstatvfs, fstatvfs64, int fd, struct statvfs *ret_status);

CALL(int, statvfs64, const char *path, struct statvfs *ret_status)
{
    (void)path;
    return sim_fstatvfs64(0, ret_status);
}
ALSO(int, statvfs, statvfs64, const char *path, struct statvfs *ret_status);

CALL(int, fstatfs64, int fd, struct statfs *ret_status)
{
    (void)fd;
    memset(ret_status, 0, sizeof *ret_status);
    ret_status->f_type = 0xEF53;
    ret_status->f_bsize = ret_status->f_frsize = PAGE_SIZE;
    ret_status->f_blocks = PAGES_OF_DISK;
    ret_status->f_bfree = ret_status->f_bavail = free_pages();
    return 0;
}
ALSO(int, fstatfs, fstatfs64, int fd, struct statfs *ret_status);

CALL(int, statfs64, const char *path, struct statfs *ret_status)
{
    (void)path;
    return sim_fstatfs64(0, ret_status);
}
ALSO(int, statfs, statfs64, const char *path, struct statfs *ret_status);

CALL(int, fchmod, int fd, mode_t mode)
{
    (void)fd, (void)mode;
    return 0;
}

CALL(int, chmod, const char *path, mode_t mode)
{
    (void)path, (void)mode;
    return 0;
}

CALL(int, fchmodat, int fd, const char *path, mode_t mode, int flags)
{
    (void)fd, (void)path, (void)mode, (void)flags;
    return 0;
}

CALL(mode_t, umask, mode_t mode)
{
    (void)mode;
    return 022;
}

CALL(char *, realpath, const char *path, char *to)
{
    return to ? memcpy(to, path, strlen(path) + 1) : strdup(path);
}
ALSO(char *, __realpath_chk, realpath, const char *path, char *to);

CALL(int, ioctl, int fd, unsigned long request, ...)
{
    (void)fd, (void)request;
    return fail_call(ENOTTY);
}

/* ---- names ---- */

CALL(int, mkdirat, int folder_fd, const char *path, mode_t mode)
{
    struct inode *folder, *inode;
    const char *last;

    (void)mode;
    if (begin_call_of_name(SITE_NAME, folder_fd, path))
        return -1;
    inode = inode_of_path(folder_fd, path, &folder, &last);
    if (inode || strcmp(path, "/") == 0)
        return fail_call(EEXIST);
    if (!folder)
        return fail_call(ENOENT);
    if (world->disk->pages_used >= world->disk->pages_max)
        return fail_call(faults_note_of(CELL_FULL, FILE_OTHER, ENOSPC));
    disk_create(folder, last, true);
    return 0;
}

CALL(int, mkdir, const char *path, mode_t mode)
{
    return sim_mkdirat(AT_FDCWD, path, mode);
}

CALL(int, unlinkat, int folder_fd, const char *path, int flags)
{
    struct inode *folder, *inode;
    const char *last;

    if (begin_call_of_name(SITE_NAME, folder_fd, path))
        return -1;
    inode = inode_of_path(folder_fd, path, &folder, &last);
    if (!inode)
        return fail_call(ENOENT);
    if (inode->is_directory && !(flags & AT_REMOVEDIR))
        return fail_call(EISDIR);
    if (inode->is_directory && inode->entries)
        return fail_call(ENOTEMPTY);
    disk_remove(folder, last);
    return 0;
}

CALL(int, unlink, const char *path)
{
    return sim_unlinkat(AT_FDCWD, path, 0);
}

CALL(int, rmdir, const char *path)
{
    return sim_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

CALL(int, renameat, int from_fd, const char *from, int to_fd, const char *to)
{
    struct inode *from_folder, *to_folder, *target;
    const char *last;
    char old_name[NAME_MAX_SIM];

    if (begin_call_of_name(SITE_NAME, to_fd, to))
        return -1;
    if (!inode_of_path(from_fd, from, &from_folder, &last))
        return fail_call(ENOENT);
    (void)snprintf(old_name, sizeof old_name, "%s", last);
    target = inode_of_path(to_fd, to, &to_folder, &last);
    if (!to_folder)
        return fail_call(ENOENT);
    if (target && target->is_directory && target->entries)
        return fail_call(ENOTEMPTY);
    disk_rename(from_folder, old_name, to_folder, last);
    return 0;
}

CALL(int, renameat2, int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    struct inode *folder;
    const char *last;

    if ((flags & RENAME_NOREPLACE) && inode_of_path(to_fd, to, &folder, &last))
        return fail_call(EEXIST);
    if (flags & RENAME_EXCHANGE)
        return fail_call(EINVAL);
    return sim_renameat(from_fd, from, to_fd, to);
}

CALL(int, rename, const char *from, const char *to)
{
    return sim_renameat(AT_FDCWD, from, AT_FDCWD, to);
}

CALL(int, linkat, int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    struct inode *folder, *inode;
    const char *last;

    (void)flags;
    if (begin_call_of_name(SITE_NAME, to_fd, to))
        return -1;
    inode = inode_of_path(from_fd, from, &folder, &last);
    if (!inode)
        return fail_call(ENOENT);
    if (inode_of_path(to_fd, to, &folder, &last))
        return fail_call(EEXIST);
    disk_link(folder, last, inode);
    return 0;
}

CALL(int, link, const char *from, const char *to)
{
    return sim_linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- directories: the names as they were when it was opened ---- */

struct listing {
    size_t count, at;
    int fd;
    struct dirent entries[];
};

static DIR *open_listing(const struct inode *inode, int fd)
{
    struct listing *listing;
    size_t count = 0;

    for (const struct entry *entry = inode->entries; entry; entry = entry->next)
        count++;
    listing = calloc(1, sizeof *listing + count * sizeof listing->entries[0]);
    listing->fd = fd;
    for (const struct entry *entry = inode->entries; entry; entry = entry->next) {
        struct dirent *to = &listing->entries[listing->count++];

        (void)snprintf(to->d_name, sizeof to->d_name, "%s", entry->name);
        to->d_ino = entry->inode->id;
        to->d_type = entry->inode->is_directory ? DT_DIR : DT_REG;
    }
    return (DIR *)listing;
}

CALL(DIR *, opendir, const char *path)
{
    struct inode *folder, *inode;
    const char *last;

    if (begin_call(SITE_OPEN, NULL))
        return NULL;
    inode = inode_of_path(AT_FDCWD, path, &folder, &last);
    if (!inode || !inode->is_directory) {
        errno = inode ? ENOTDIR : ENOENT;
        return NULL;
    }
    return open_listing(inode, -1);
}

CALL(DIR *, fdopendir, int fd)
{
    struct open_file *file = file_of(fd);

    if (!file) {
        errno = EBADF;
        return NULL;
    }
    return open_listing(file->inode, fd);
}

CALL(struct dirent *, readdir64, DIR *directory)
{
    struct listing *listing = (struct listing *)directory;

    if (begin_call(SITE_READ, NULL))
        return NULL;
    return listing->at < listing->count ? &listing->entries[listing->at++] : NULL;
}
ALSO(struct dirent *, readdir, readdir64, DIR *directory);

CALL(void, rewinddir, DIR *directory)
{
    ((struct listing *)directory)->at = 0;
}

CALL(int, dirfd, DIR *directory)
{
    return ((struct listing *)directory)->fd;
}

CALL(int, closedir, DIR *directory)
{
    struct listing *listing = (struct listing *)directory;

    if (listing->fd >= 0)
        close(listing->fd);
    free(listing);
    return 0;
}

/* ---- streams. A switch inside one would leave its lock taken: so there is none ---- */

static ssize_t stream_read(void *cookie, char *to, size_t size)
{
    ssize_t done;

    sched_hold();
    done = read((int)(intptr_t)cookie, to, size);
    sched_release();
    return done;
}

static ssize_t stream_write(void *cookie, const char *from, size_t size)
{
    ssize_t done;

    sched_hold();
    done = write((int)(intptr_t)cookie, from, size);
    sched_release();
    return done < 0 ? 0 : done;
}

static int stream_seek(void *cookie, off64_t *at, int whence)
{
    off_t now = lseek((int)(intptr_t)cookie, *at, whence);

    *at = now;
    return now < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

CALL(FILE *, fdopen, int fd, const char *mode)
{
    static const cookie_io_functions_t functions = { stream_read, stream_write, stream_seek,
                                                     stream_close };

    if (!file_of(fd)) {
        REAL(FILE *, fdopen, int, const char *);
        return real(fd, mode);
    }
    return fopencookie((void *)(intptr_t)fd, mode, functions);
}

CALL(FILE *, fopen, const char *path, const char *mode)
{
    int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT;
    int fd;

    if (!sched_is_on()) {
        REAL(FILE *, fopen, const char *, const char *);
        return real(path, mode);
    }
    if (mode[0] != 'r')
        flags |= mode[0] == 'w' ? O_TRUNC : O_APPEND;
    fd = open(path, flags, 0600);
    return fd < 0 ? NULL : sim_fdopen(fd, mode);
}
ALSO(FILE *, fopen64, fopen, const char *path, const char *mode);
