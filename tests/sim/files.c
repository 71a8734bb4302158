/* Opening, reading, writing and syncing on the simulated disk. */
#include "files_private.h"
#include "fleet.h"
#include "net.h"

#include <assert.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store/embedded/interposed.h"

static struct open_file files[FDS_MAX];
static unsigned open_count;

struct open_file *file_of(int fd)
{
    if (fd < FD_FIRST || fd >= FD_FIRST + FDS_MAX || !files[fd - FD_FIRST].inode)
        return NULL;
    return &files[fd - FD_FIRST];
}

unsigned files_open(void)
{
    return open_count;
}

int fail_call(int error)
{
    errno = error;
    return -1;
}

/* Whose locks these are. */
static unsigned session(void)
{
    return fleet_self() > 0 ? fleet_machine(fleet_self())->session : 1;
}

static int begin(enum site site, unsigned kind, enum file_kind file, unsigned of_session)
{
    int error;

    sched_point();
    error = fleet_self() > 0 ? fleet_storage_call(of_session) : faults_at(site, kind, file);
    return error == 0 ? 0 : fail_call(error);
}

int begin_call(enum site site, const struct inode *inode)
{
    return begin(site, inode ? inode->kind : 0, inode ? inode->file : FILE_OTHER, session());
}

int begin_call_of_file(enum site site, const struct open_file *file)
{
    return begin(site, file->inode->kind, file->inode->file, file->session);
}

struct inode *inode_of_path(int folder_fd, const char *path, struct inode **ret_folder,
                            const char **ret_last)
{
    struct inode *from = world->disk->root;

    *ret_folder = NULL;
    if (path[0] == '/') {
        if (strncmp(path, SIM_ROOT, sizeof SIM_ROOT - 1) != 0)
            return NULL;
        path += sizeof SIM_ROOT - 1;
    } else if (folder_fd != AT_FDCWD) {
        struct open_file *file = file_of(folder_fd);

        if (!file)
            return NULL;
        from = file->inode;
    }
    return disk_find(from, path, ret_folder, ret_last);
}

static enum file_kind kind_of_name(const struct inode *inode, const struct inode *folder,
                                   const char *last)
{
    if (inode)
        return inode->file;
    return folder ? disk_file_kind(folder, last) : FILE_OTHER;
}

int begin_call_of_name(enum site site, int folder_fd, const char *path)
{
    struct inode *folder, *inode;
    const char *last;

    inode = inode_of_path(folder_fd, path, &folder, &last);
    return begin(site, 0, kind_of_name(inode, folder, last), session());
}

/* A file that is not made is one that is not written. */
static void note_creation(int folder_fd, const char *path, int flags)
{
    struct inode *folder;
    const char *last;

    if ((flags & O_CREAT) && !inode_of_path(folder_fd, path, &folder, &last))
        cell_reached(CELL_WRITE, kind_of_name(NULL, folder, last));
}

/* 0, or -1 with errno: there is no descriptor for it. */
static int ask_for_fd(enum file_kind file)
{
    if (!faults_refuse_file(open_count))
        return 0;
    return fail_call(faults_note_of(CELL_DESCRIPTORS, file, EMFILE));
}

static int new_fd(struct inode *inode, int flags)
{
    for (int i = 0; i < FDS_MAX; i++) {
        if (files[i].inode)
            continue;
        files[i] = (struct open_file){ .inode = inode, .flags = flags, .session = session() };
        open_count++;
        disk_open(inode);
        return FD_FIRST + i;
    }
    return fail_call(EMFILE);
}

static int open_at(int folder_fd, const char *path, int flags)
{
    struct inode *folder, *inode;
    const char *last;

    if (begin_call_of_name(SITE_OPEN, folder_fd, path)) {
        note_creation(folder_fd, path, flags);
        return -1;
    }
    inode = inode_of_path(folder_fd, path, &folder, &last);
    fleet_storage_open(inode);
    if (!folder)
        return fail_call(ENOENT);
    if (inode && (flags & O_CREAT) && (flags & O_EXCL))
        return fail_call(EEXIST);
    if (!inode && !(flags & O_CREAT))
        return fail_call(ENOENT);
    if (inode && inode->is_directory && (flags & O_ACCMODE) != O_RDONLY)
        return fail_call(EISDIR);
    if (inode && !inode->is_directory && (flags & O_DIRECTORY))
        return fail_call(ENOTDIR);
    if (ask_for_fd(kind_of_name(inode, folder, last)))
        return -1;
    if (!inode) {
        if (world->disk->pages_used >= world->disk->pages_max)
            return fail_call(faults_note_of(CELL_FULL, disk_file_kind(folder, last), ENOSPC));
        inode = disk_create(folder, last, false);
        world_say("%.6f creates %s", (double)world->now_ns / 1e9, path);
    }
    if (flags & O_TRUNC)
        disk_truncate(inode, 0);
    return new_fd(inode, flags);
}

CALL(int, openat, int folder_fd, const char *path, int flags, ...)
{
    if (!sched_is_on())
        return (int)syscall(SYS_openat, folder_fd, path, flags, 0600);
    return open_at(folder_fd, path, flags);
}
ALSO(int, openat64, openat, int folder_fd, const char *path, int flags, ...);
ALSO(int, __openat64_2, openat, int folder_fd, const char *path, int flags, ...);

CALL(int, open, const char *path, int flags, ...)
{
    return sim_openat(AT_FDCWD, path, flags);
}
ALSO(int, open64, open, const char *path, int flags, ...);
ALSO(int, __open64_2, open, const char *path, int flags, ...);

CALL(int, close, int fd)
{
    struct open_file *file = file_of(fd);
    struct inode *inode;

    if (net_owns(fd))
        return net_close(fd);
    if (!file)
        return (int)syscall(SYS_close, fd);
    sched_point();
    if (fd < FD_FIRST || !file->inode)
        return fail_call(EBADF);
    inode = file->inode;
    if (file->has_lock && inode->locked == file->session)
        inode->locked = 0;
    file->inode = NULL;
    open_count--;
    disk_close(inode);
    return 0;
}

/* Between front ends. */
static int lock_between(struct open_file *file, const struct flock *lock)
{
    struct inode *inode = file->inode;

    if (begin_call_of_file(SITE_READ, file))
        return -1;
    if (inode->locked && (inode->locked != file->session || !file->has_lock))
        return lock->l_type == F_UNLCK ? 0 : fail_call(EAGAIN);
    file->has_lock = lock->l_type != F_UNLCK;
    inode->locked = file->has_lock ? file->session : 0;
    return 0;
}

CALL(int, fcntl, int fd, int command, ...)
{
    struct open_file *file = file_of(fd);
    va_list args;
    long argument;

    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    if (net_owns(fd))
        return 0;
    if (!file)
        return (int)syscall(SYS_fcntl, fd, command, argument);
    switch (command) {
    case F_GETFL:
        return file->flags;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return ask_for_fd(file->inode->file) ? -1 : new_fd(file->inode, file->flags);
    case F_OFD_SETLK:
        if (fleet_self() > 0)
            return lock_between(file, (const struct flock *)argument);
        return 0;
    default:
        return 0; /* locks between processes, hints: there is one process */
    }
}
ALSO(int, fcntl64, fcntl, int fd, int command, ...);

CALL(int, dup, int fd)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return (int)syscall(SYS_dup, fd);
    return ask_for_fd(file->inode->file) ? -1 : new_fd(file->inode, file->flags);
}

CALL(int, flock, int fd, int operation)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return (int)syscall(SYS_flock, fd, operation);
    if (operation & 8) { /* LOCK_UN */
        file->inode->locked = 0;
        file->has_lock = false;
        return 0;
    }
    if (file->inode->locked && !file->has_lock)
        return fail_call(EWOULDBLOCK);
    file->inode->locked = file->session;
    file->has_lock = true;
    return 0;
}

/* Until one is done in part. */
static ssize_t each_vector(struct open_file *file, const struct iovec *vectors, int count,
                           uint64_t at,
                           ssize_t (*one)(struct open_file *, void *, size_t, uint64_t))
{
    ssize_t total = 0;

    for (int i = 0; i < count; i++) {
        ssize_t done = one(file, vectors[i].iov_base, vectors[i].iov_len, at + (uint64_t)total);

        if (done < 0)
            return total > 0 ? total : -1;
        total += done;
        if ((size_t)done < vectors[i].iov_len)
            break;
    }
    return total;
}

/* ---- reading ---- */

static ssize_t read_at(struct open_file *file, void *to, size_t size, uint64_t at)
{
    if (begin_call_of_file(SITE_READ, file))
        return -1;
    faults_take_time(SITE_READ, file->inode->file);
    if (file->inode->is_directory)
        return fail_call(EISDIR);
    world->disk->reads++;
    if (size > 0)
        size = faults_shorten(size, file->inode->file);
    size = disk_read(file->inode, at, to, size);
    faults_misread(file->inode, at, to, size);
    return (ssize_t)size;
}

ssize_t files_peek(int fd, void *to, size_t size, off_t at)
{
    struct open_file *file = file_of(fd);

    if (file && fleet_is_evicted(file->session))
        return fail_call(ESHUTDOWN);
    return file ? (ssize_t)disk_read(file->inode, (uint64_t)at, to, size) : -1;
}

CALL(ssize_t, read, int fd, void *to, size_t size)
{
    struct open_file *file = file_of(fd);
    ssize_t done;

    if (net_owns(fd))
        return net_read(fd, to, size);
    if (!file)
        return syscall(SYS_read, fd, to, size);
    done = read_at(file, to, size, file->at);
    if (done > 0)
        file->at += (uint64_t)done;
    return done;
}
ALSO(ssize_t, __read_chk, read, int fd, void *to, size_t size);

CALL(ssize_t, pread64, int fd, void *to, size_t size, off_t at)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return syscall(SYS_pread64, fd, to, size, at);
    return read_at(file, to, size, (uint64_t)at);
}
/* pread(2) is interposed.c's, which calls preadv2(2). */
ALSO(ssize_t, __pread64_chk, pread64, int fd, void *to, size_t size, off_t at);

CALL(ssize_t, preadv64v2, int fd, const struct iovec *vectors, int count, off_t at, int flags)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return syscall(SYS_preadv2, fd, vectors, count, at, 0, flags);
    if ((flags & RWF_NOWAIT) && faults_page_is_away())
        return fail_call(EAGAIN);
    return each_vector(file, vectors, count, (uint64_t)at, read_at);
}
ALSO(ssize_t, preadv2, preadv64v2, int fd, const struct iovec *vectors, int count, off_t at,
     int flags);

CALL(ssize_t, preadv64, int fd, const struct iovec *vectors, int count, off_t at)
{
    return sim_preadv64v2(fd, vectors, count, at, 0);
}
ALSO(ssize_t, preadv, preadv64, int fd, const struct iovec *vectors, int count, off_t at);

/* ---- writing ---- */

static ssize_t write_at(struct open_file *file, void *from, size_t size, uint64_t at)
{
    size_t done, some = size;

    if (begin_call_of_file(SITE_WRITE, file))
        return -1;
    faults_take_time(SITE_WRITE, file->inode->file);
    if ((file->flags & O_ACCMODE) == O_RDONLY)
        return fail_call(EBADF);
    world->disk->writes++;
    some = faults_shorten(size, file->inode->file);
    if (some < size && world_once_in(STREAM_FAULTS, 4))
        return fail_call(EINTR);
    if (file->flags & O_APPEND)
        at = file->inode->size; /* taken with the write, however long that waited */
    done = disk_write(file->inode, at, from, some);
    if (done == 0 && some > 0)
        return fail_call(faults_note_of(CELL_FULL, file->inode->file, ENOSPC));
    return (ssize_t)done;
}

CALL(ssize_t, write, int fd, const void *from, size_t size)
{
    struct open_file *file = file_of(fd);
    ssize_t done;

    if (net_owns(fd))
        return net_write(fd, from, size);
    if (!file && sched_is_on() && fd == STDERR_FILENO && !world->plan.verbose)
        return (ssize_t)size; /* the server's log */
    if (!file)
        return syscall(SYS_write, fd, from, size);
    done = write_at(file, (void *)(uintptr_t)from, size, file->at);
    if (done > 0)
        file->at = (file->flags & O_APPEND ? file->inode->size : file->at + (uint64_t)done);
    return done;
}

CALL(ssize_t, pwrite64, int fd, const void *from, size_t size, off_t at)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return syscall(SYS_pwrite64, fd, from, size, at);
    return write_at(file, (void *)(uintptr_t)from, size, (uint64_t)at);
}
ALSO(ssize_t, pwrite, pwrite64, int fd, const void *from, size_t size, off_t at);

CALL(ssize_t, pwritev64, int fd, const struct iovec *vectors, int count, off_t at)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return syscall(SYS_pwritev, fd, vectors, count, at, 0);
    return each_vector(file, vectors, count, (uint64_t)at, write_at);
}
ALSO(ssize_t, pwritev, pwritev64, int fd, const struct iovec *vectors, int count, off_t at);

CALL(ssize_t, writev, int fd, const struct iovec *vectors, int count)
{
    struct open_file *file = file_of(fd);
    ssize_t done;

    if (!file)
        return syscall(SYS_writev, fd, vectors, count);
    done = sim_pwritev64(fd, vectors, count, (off_t)file->at);
    if (done > 0)
        file->at += (uint64_t)done;
    return done;
}

CALL(int, ftruncate64, int fd, off_t size)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return (int)syscall(SYS_ftruncate, fd, size);
    if (begin_call_of_file(SITE_WRITE, file))
        return -1;
    disk_truncate(file->inode, (uint64_t)size);
    return 0;
}
ALSO(int, ftruncate, ftruncate64, int fd, off_t size);

CALL(int, fallocate64, int fd, int mode, off_t at, off_t size)
{
    struct open_file *file = file_of(fd);

    if (!file)
        return (int)syscall(SYS_fallocate, fd, mode, at, size);
    if (begin_call_of_file(mode & FALLOC_FL_PUNCH_HOLE ? SITE_PUNCH : SITE_WRITE, file))
        return -1;
    if (mode & FALLOC_FL_PUNCH_HOLE) {
        disk_zero(file->inode, (uint64_t)at, (uint64_t)(at + size));
        return 0;
    }
    if (world->disk->pages_max != UINT64_MAX &&
        world->disk->pages_used + (uint64_t)size / PAGE_SIZE > world->disk->pages_max)
        return fail_call(faults_note_of(CELL_FULL, file->inode->file, ENOSPC));
    if (!(mode & FALLOC_FL_KEEP_SIZE) && (uint64_t)(at + size) > file->inode->size)
        file->inode->size = (uint64_t)(at + size);
    return 0;
}
ALSO(int, fallocate, fallocate64, int fd, int mode, off_t at, off_t size);

CALL(int, posix_fallocate64, int fd, off_t at, off_t size)
{
    return sim_fallocate64(fd, 0, at, size) == 0 ? 0 : errno;
}
ALSO(int, posix_fallocate, posix_fallocate64, int fd, off_t at, off_t size);

CALL(off_t, lseek64, int fd, off_t at, int whence)
{
    struct open_file *file = file_of(fd);
    uint64_t found;

    if (!file)
        return syscall(SYS_lseek, fd, at, whence);
    switch (whence) {
    case SEEK_SET:
        return (off_t)(file->at = (uint64_t)at);
    case SEEK_CUR:
        return (off_t)(file->at += (uint64_t)at);
    case SEEK_END:
        return (off_t)(file->at = file->inode->size + (uint64_t)at);
    case SEEK_DATA:
        found = disk_next_data(file->inode, (uint64_t)at);
        return found == UINT64_MAX ? fail_call(ENXIO) : (off_t)found;
    default:
        return fail_call(EINVAL);
    }
}
ALSO(off_t, lseek, lseek64, int fd, off_t at, int whence);

/* ---- syncs ---- */

/* Every descriptor of the file is told of a failure once (Linux since 4.13, errseq_t). */
static int fail_sync(struct open_file *file)
{
    enum sync_failure how = faults_sync_failure();

    for (int i = 0; i < FDS_MAX; i++)
        files[i].owes_error |= files[i].inode == file->inode;
    file->owes_error = false;
    disk_fail_sync(file->inode, how);
    cell_reached(CELL_SYNC_DROPS + how, file->inode->file);
    return EIO;
}

CALL(int, fsync, int fd)
{
    struct open_file *file = file_of(fd);
    struct inode *inode;
    int error = 0;

    if (!file)
        return (int)syscall(SYS_fsync, fd);
    if (file_syncs_now() == SYNC_LATER) /* these are in the place of interposed.c's */
        return 0;
    inode = file->inode;
    disk_open(inode);
    faults_take_time(SITE_SYNC, inode->file);
    if (begin_call_of_file(SITE_SYNC, file))
        error = fleet_is_evicted(file->session) ? ESHUTDOWN : fail_sync(file);
    else
        disk_sync(inode);
    if (file->owes_error)
        error = EIO;
    file->owes_error = false;
    disk_close(inode);
    if (error)
        return fail_call(error);
    sched_point();
    return 0;
}
ALSO(int, fdatasync, fsync, int fd);
ALSO(int, syncfs, fsync, int fd);

CALL(int, sync_file_range, int fd, off_t at, off_t size, unsigned flags)
{
    if (!file_of(fd))
        return (int)syscall(SYS_sync_file_range, fd, at, size, flags);
    return 0; /* starts a write, promises nothing */
}

CALL(int, posix_fadvise64, int fd, off_t at, off_t size, int advice)
{
    (void)fd, (void)at, (void)size, (void)advice;
    return 0;
}
ALSO(int, posix_fadvise, posix_fadvise64, int fd, off_t at, off_t size, int advice);

/* Files have no pages: what is mapped of one is only asked whether it is in memory. */
CALL(void *, mmap64, void *where, size_t size, int protection, int flags, int fd, off_t at)
{
    if (fd < 0 || !file_of(fd))
        return (void *)syscall(SYS_mmap, where, size, protection, flags, fd, at);
    return (void *)syscall(SYS_mmap, NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
ALSO(void *, mmap, mmap64, void *where, size_t size, int protection, int flags, int fd, off_t at);

CALL(int, mincore, void *at, size_t size, unsigned char *ret_pages)
{
    (void)at;
    memset(ret_pages, 1, (size + 4095) / 4096);
    if (faults_page_is_away())
        ret_pages[0] = 0;
    return 0;
}

CALL(ssize_t, readahead, int fd, off_t at, size_t size)
{
    (void)fd, (void)at, (void)size;
    return 0;
}
