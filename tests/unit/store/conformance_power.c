/* The shadow has for each inode a file "N.bytes", as synced, and a file "N.name" once the name is
 * durable. */
#include "conformance_power.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_SIZE 512

static int shadow_fd = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* one copy at a time */

static void shadow_name(char name[PATH_SIZE], ino_t inode, const char *what)
{
    (void)snprintf(name, PATH_SIZE, "%llu.%s", (unsigned long long)inode, what);
}

static int shadow_open(ino_t inode, const char *what, int flags)
{
    char name[PATH_SIZE];

    shadow_name(name, inode, what);
    return openat(shadow_fd, name, flags | O_CLOEXEC, 0600);
}

/* Copies a file with its holes, by calls that are not counted. */
static bool copy_bytes(int from, int to)
{
    struct stat status;
    off_t at = 0;

    if (fstat(from, &status) != 0 || syscall(SYS_ftruncate, to, (off_t)0) != 0 ||
        syscall(SYS_ftruncate, to, status.st_size) != 0)
        return false;
    while (at < status.st_size) {
        loff_t in = lseek(from, at, SEEK_DATA);
        off_t end = in < 0 ? in : lseek(from, in, SEEK_HOLE);
        loff_t out = in;

        if (in < 0 || end < 0)
            return true; /* holes up to the end */
        while (in < end)
            if (copy_file_range(from, &in, to, &out, (size_t)(end - in), 0) <= 0)
                return false;
        at = end;
    }
    return true;
}

/* In one step, since the process may be killed by another thread meanwhile. */
static void keep_file(int fd, ino_t inode)
{
    char path[64], begun[PATH_SIZE], kept[PATH_SIZE];
    int from, to;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    from = open(path, O_RDONLY | O_CLOEXEC); /* fd may be for writing only; its place stays */
    to = shadow_open(inode, "begun", O_RDWR | O_CREAT);
    if (from < 0 || to < 0 || !copy_bytes(from, to))
        abort();
    close(from);
    close(to);
    shadow_name(begun, inode, "begun");
    shadow_name(kept, inode, "bytes");
    if (syscall(SYS_renameat, shadow_fd, begun, shadow_fd, kept) != 0)
        abort();
}

static void keep_names(int folder_fd)
{
    DIR *folder = fdopendir(openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct dirent *entry;

    if (!folder)
        abort();
    while ((entry = readdir(folder))) {
        int marker = shadow_open(entry->d_ino, "name", O_RDWR | O_CREAT);

        if (marker < 0)
            abort();
        close(marker);
    }
    closedir(folder);
}

void power_sync(int fd)
{
    struct stat status;

    if (shadow_fd < 0 || fstat(fd, &status) != 0)
        return;
    pthread_mutex_lock(&mutex);
    if (S_ISDIR(status.st_mode))
        keep_names(fd);
    else if (S_ISREG(status.st_mode))
        keep_file(fd, status.st_ino);
    pthread_mutex_unlock(&mutex);
}

void power_keep_inode(int folder_fd, const char *path)
{
    if (shadow_fd >= 0)
        (void)openat(folder_fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

void power_renamed(int folder_fd, const char *path)
{
    char parent[PATH_SIZE];
    int fd;

    if (shadow_fd < 0)
        return;
    (void)snprintf(parent, sizeof parent, "%s", path);
    fd = openat(folder_fd, strchr(path, '/') ? dirname(parent) : ".",
                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        abort();
    power_sync(fd);
    close(fd);
}

static int keep_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    (void)status;
    (void)kind;
    (void)place;
    if (fd < 0)
        return -1;
    power_sync(fd);
    close(fd);
    return 0;
}

bool power_begin(const char *folder, const char *shadow)
{
    if (mkdir(shadow, 0700) != 0)
        return false;
    shadow_fd = open(shadow, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return shadow_fd >= 0 && nftw(folder, keep_entry, 16, FTW_PHYS) == 0;
}

/* ---- afterwards ---- */

static int restore_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    int name, bytes, to;
    bool done;

    if (kind != FTW_F && kind != FTW_DP)
        return -1;
    if (place->level == 0)
        return 0;
    name = shadow_open(status->st_ino, "name", O_RDONLY);
    if (name < 0)
        return remove(path) == 0 || kind == FTW_DP ? 0 : -1; /* a folder that is not empty stays */
    close(name);
    if (kind == FTW_DP)
        return 0;
    bytes = shadow_open(status->st_ino, "bytes", O_RDONLY);
    to = open(path, O_RDWR | O_CLOEXEC | (bytes < 0 ? O_TRUNC : 0));
    done = to >= 0 && (bytes < 0 || copy_bytes(bytes, to));
    if (bytes >= 0)
        close(bytes);
    if (to >= 0)
        close(to);
    return done ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

bool power_restore(const char *folder, const char *shadow)
{
    bool done;

    shadow_fd = open(shadow, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (shadow_fd < 0)
        return false;
    done = nftw(folder, restore_entry, 16, FTW_PHYS | FTW_DEPTH) == 0;
    close(shadow_fd);
    shadow_fd = -1;
    return nftw(shadow, remove_entry, 16, FTW_PHYS | FTW_DEPTH) == 0 && done;
}
