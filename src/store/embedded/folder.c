/* Making, locking and recognising the data folder. */
#include "store/embedded/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

static const char format[] = "lagra store 1\n";

static enum store_result failed(const char *location, const char *what, const char *problem,
                                const char **ret_problem)
{
    log_errno("store: %s: %s", location, what);
    *ret_problem = problem;
    return STORE_IO;
}

/* As mkdir -p. */
static bool make_folders(const char *location)
{
    char *path = xstrdup(location);
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

static enum store_result take_lock(const char *location, int folder, int *ret_lock,
                                   const char **ret_problem)
{
    int fd = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return failed(location, "open `lock`", "the data folder cannot be written", ret_problem);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *ret_lock = fd;
        return STORE_OK;
    }
    if (errno == EWOULDBLOCK) {
        close(fd);
        *ret_problem = "another process is using this data folder";
        return STORE_BUSY;
    }
    failed(location, "lock", "the data folder cannot be locked", ret_problem);
    close(fd);
    return STORE_IO;
}

/* Makes a new file with the line, complete or not at all. */
static bool write_format(int folder)
{
    int fd = openat(folder, "format.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written;

    if (fd < 0)
        return false;
    written = write(fd, format, sizeof format - 1) == (ssize_t)sizeof format - 1 && fsync(fd) == 0;
    close(fd);
    return written && renameat(folder, "format.new", folder, "format") == 0 && fsync(folder) == 0;
}

static enum store_result check_format(const char *location, int folder, const char **ret_problem)
{
    char found[sizeof format + 1];
    ssize_t size;
    int fd = openat(folder, "format", O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return write_format(folder) ? STORE_OK
                                    : failed(location, "write `format`",
                                             "the data folder cannot be written", ret_problem);
    if (fd < 0)
        return failed(location, "open `format`", "the data folder cannot be read", ret_problem);
    size = read(fd, found, sizeof found);
    close(fd);
    if (size == (ssize_t)sizeof format - 1 && memcmp(found, format, (size_t)size) == 0)
        return STORE_OK;
    log_line(LOG_ERROR, "store: %s: the format is not one this program knows", location);
    *ret_problem = "the data folder was written by another version of the program";
    return STORE_CORRUPT;
}

/* Nobody but the owner may read or enter it, or read a file in it, whatever the umask was when it
 * was made. */
static bool close_to_others(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    bool closed = dir && fchmod(folder, 0700) == 0;

    while (closed && (entry = file_next_entry(dir))) {
        struct stat status;

        if (entry->d_name[0] == '.' ||
            fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISREG(status.st_mode) && (status.st_mode & 077))
            closed = fchmodat(folder, entry->d_name, 0600, 0) == 0;
    }
    closed = closed && errno == 0;
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return closed;
}

static enum store_result open_subfolder(const char *location, const struct folder *folder,
                                        const char *name, int *ret_fd, const char **ret_problem)
{
    int fd;

    if (mkdirat(folder->fd, name, 0700) < 0 && errno != EEXIST)
        return failed(location, name, "the data folder cannot be written", ret_problem);
    fd = openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed(location, name, "the data folder cannot be read", ret_problem);
    if (!close_to_others(fd)) {
        failed(location, name, "the data folder cannot be closed to other users", ret_problem);
        close(fd);
        return STORE_IO;
    }
    *ret_fd = fd;
    return STORE_OK;
}

static enum store_result open_subfolders(const char *location, struct folder *folder,
                                         const char **ret_problem)
{
    int records;
    enum store_result result = open_subfolder(location, folder, "records", &records, ret_problem);

    if (result)
        return result;
    close(records);
    return open_subfolder(location, folder, "extents", &folder->extents, ret_problem);
}

/* The folder's own name is in its parent, which may not be ours to read. */
static bool sync_name(int folder)
{
    int parent = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced;

    if (parent < 0)
        return errno == EACCES && syncfs(folder) == 0;
    synced = fsync(parent) == 0;
    close(parent);
    return synced;
}

enum store_result folder_sync(const struct folder *folder, const char **ret_problem)
{
    if (fsync(folder->fd) == 0 && sync_name(folder->fd))
        return STORE_OK;
    return failed(folder->records_path, "sync", "the data folder cannot be written", ret_problem);
}

enum store_result folder_open(const char *location, struct folder *ret_folder,
                              const char **ret_problem)
{
    struct folder folder = { .fd = -1, .lock_file = -1, .extents = -1 };
    enum store_result result;

    /* RocksDB makes its files as the umask lets it. */
    umask(077);
    if (!make_folders(location))
        return failed(location, "make", "the data folder cannot be made", ret_problem);
    folder.fd = open(location, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder.fd < 0)
        return failed(location, "open", "the data folder cannot be opened", ret_problem);
    result = take_lock(location, folder.fd, &folder.lock_file, ret_problem);
    if (!result)
        result = check_format(location, folder.fd, ret_problem);
    if (!result)
        result = open_subfolders(location, &folder, ret_problem);
    if (!result) {
        size_t size = strlen(location) + sizeof "/records";

        folder.records_path = xmalloc(size);
        snprintf(folder.records_path, size, "%s/records", location);
        *ret_folder = folder;
        return STORE_OK;
    }
    if (folder.lock_file >= 0)
        close(folder.lock_file);
    close(folder.fd);
    return result;
}

void folder_release(struct folder *folder)
{
    close(folder->fd);
    free(folder->records_path);
}
