/* A shared library to be loaded before all others (LD_PRELOAD) that stands between a server and the
 * files of its data folder: it counts the calls of each site, lets one of them fail, and plays a
 * disk that is full.
 *
 * A site is a call and the kind of file it is made for ("pwrite of an extent", "fdatasync of the
 * log"). The test and the process share a file, mapped here, written and read by the test:
 *
 *   LAGRA_FAULTS_FOLDER  the data folder; calls for files elsewhere are left alone
 *   LAGRA_FAULTS_TABLE   the shared file, a struct table; must exist
 *
 * The layout of the table is known to shim.mjs. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the order of shim.mjs. */
enum call {
    CALL_OPEN,
    CALL_CREATE,
    CALL_READ,
    CALL_WRITE,
    CALL_SYNC,
    CALL_FALLOCATE,
    CALL_FTRUNCATE,
    CALL_RENAME,
    CALL_UNLINK,
    CALL_MKDIR,
    CALL_LINK,
    CALL_LIST,
    CALL_MMAP,
    CALL_RANGE,
    CALL_THREAD,
    CALLS,
};
enum kind {
    KIND_NONE, /* not in the data folder */
    KIND_LOG,
    KIND_TABLE,
    KIND_MANIFEST,
    KIND_CURRENT,
    KIND_OPTIONS,
    KIND_INFO,
    KIND_RECORDS, /* other files in records/, and the folder */
    KIND_EXTENT,
    KIND_EXTENTS, /* the folder */
    KIND_NOTE,
    KIND_BALLAST,
    KIND_FOLDER, /* other files in the data folder, and the folder */
    KINDS,
};

#define SITES 512
_Static_assert(CALLS *KINDS <= SITES, "the table has a place for each site");

/* The result of a fault: an errno, or a short count. */
#define FAULT_SHORT UINT32_MAX

struct table {
    /* Written by the test. */
    _Atomic uint32_t fault;       /* 0: none */
    _Atomic uint32_t site;        /* call * KINDS + kind; SITES: any */
    _Atomic int32_t countdown;    /* the call that makes it 0 is the first to fail */
    _Atomic uint32_t for_ever;    /* else that one only */
    _Atomic uint64_t disk_size;   /* in bytes; 0: as large as it is */
    _Atomic uint64_t disk_others; /* bytes of it that other files take */
    /* Written here. */
    _Atomic uint64_t disk_used;
    _Atomic uint32_t injected;
    uint32_t unused;
    _Atomic uint32_t counts[SITES];
};

#define FDS 65536

static struct table *table;
static const char *folder;
static size_t folder_length;
static _Atomic unsigned char kind_of_fd[FDS];

/* ---- which file ---- */

static enum kind kind_of_record_file(const char *name)
{
    size_t length = strlen(name);

    if (length > 4 && strcmp(name + length - 4, ".log") == 0)
        return KIND_LOG;
    if (length > 4 && strcmp(name + length - 4, ".sst") == 0)
        return KIND_TABLE;
    if (strncmp(name, "MANIFEST", 8) == 0)
        return KIND_MANIFEST;
    if (strncmp(name, "CURRENT", 7) == 0 ||
        (length > 6 && strcmp(name + length - 6, ".dbtmp") == 0))
        return KIND_CURRENT;
    if (strncmp(name, "OPTIONS", 7) == 0)
        return KIND_OPTIONS;
    return strncmp(name, "LOG", 3) == 0 && strcmp(name, "LOCK") != 0 ? KIND_INFO : KIND_RECORDS;
}

static enum kind kind_of_path(const char *path)
{
    const char *rest = path + folder_length;

    if (!folder || strncmp(path, folder, folder_length) != 0 || (*rest && *rest != '/'))
        return KIND_NONE;
    while (*rest == '/')
        rest++;
    if (strncmp(rest, "records/", 8) == 0)
        return kind_of_record_file(rest + 8);
    if (strcmp(rest, "records") == 0)
        return KIND_RECORDS;
    if (strncmp(rest, "extents/", 8) == 0 && rest[8] != '.')
        return KIND_EXTENT;
    if (strncmp(rest, "extents", 7) == 0)
        return KIND_EXTENTS;
    if (strncmp(rest, "synced", 6) == 0)
        return KIND_NOTE;
    return strncmp(rest, "ballast", 7) == 0 ? KIND_BALLAST : KIND_FOLDER;
}

static enum kind kind_at(int fd, const char *path)
{
    char link[64], whole[2 * 4096];
    ssize_t length;

    if (!table)
        return KIND_NONE;
    if (*path == '/' || fd == AT_FDCWD)
        return kind_of_path(path);
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, whole, 4096);
    if (length < 0)
        return KIND_NONE;
    (void)snprintf(whole + length, sizeof whole - (size_t)length, "/%s", path);
    return kind_of_path(whole);
}

static enum kind kind_of(int fd)
{
    return table && fd >= 0 && fd < FDS ? (enum kind)kind_of_fd[fd] : KIND_NONE;
}

static int remember(int fd, enum kind kind)
{
    if (fd >= 0 && fd < FDS)
        kind_of_fd[fd] = (unsigned char)kind;
    return fd;
}

/* ---- faults ---- */

/* Counts a call. Returns 0, or the fault that it meets. */
static uint32_t meet(enum call call, enum kind kind)
{
    uint32_t site = (uint32_t)call * KINDS + kind;
    uint32_t fault;
    int32_t left;

    if (!table || kind == KIND_NONE)
        return 0;
    atomic_fetch_add(&table->counts[site], 1);
    fault = atomic_load(&table->fault);
    if (fault == 0 || (table->site != site && table->site != SITES))
        return 0;
    left = atomic_fetch_sub(&table->countdown, 1) - 1;
    if (left > 0 || (left < 0 && !table->for_ever))
        return 0;
    atomic_fetch_add(&table->injected, 1);
    return fault;
}

static bool fails(enum call call, enum kind kind)
{
    uint32_t fault = meet(call, kind);

    if (fault == 0 || fault == FAULT_SHORT)
        return false;
    errno = (int)fault;
    return true;
}

/* As above, of a call that transfers bytes: may make it shorter. */
static bool fails_or_shortens(enum call call, enum kind kind, size_t *size)
{
    uint32_t fault = meet(call, kind);

    if (fault == FAULT_SHORT && *size > 1)
        *size = *size / 2;
    if (fault == 0 || fault == FAULT_SHORT)
        return false;
    errno = (int)fault;
    return true;
}

/* ---- the size of the disk ---- */

static int64_t allocated(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 ? (int64_t)status.st_blocks * 512 : 0;
}

/* True, with ENOSPC, when the disk has no room for that many bytes. */
static bool is_full(enum kind kind, size_t size)
{
    uint64_t most = table && kind != KIND_NONE ? atomic_load(&table->disk_size) : 0;

    if (most == 0 ||
        atomic_load(&table->disk_used) + atomic_load(&table->disk_others) + size <= most)
        return false;
    errno = ENOSPC;
    return true;
}

static bool counts_blocks(enum kind kind)
{
    return table && kind != KIND_NONE && atomic_load(&table->disk_size) > 0;
}

static void used(int64_t before, int fd)
{
    atomic_fetch_add(&table->disk_used, (uint64_t)(allocated(fd) - before));
}

static int add_used(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)path;
    (void)at;
    if (type == FTW_F)
        atomic_fetch_add(&table->disk_used, (uint64_t)status->st_blocks * 512);
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("LAGRA_FAULTS_TABLE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped;

    if (fd < 0)
        return;
    mapped = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        abort();
    folder = getenv("LAGRA_FAULTS_FOLDER");
    folder_length = folder ? strlen(folder) : 0;
    table = mapped;
    atomic_store(&table->disk_used, 0);
    if (folder)
        (void)nftw(folder, add_used, 16, FTW_PHYS);
}

/* ---- the calls ---- */

/* Defined by the name that the linker sees: some have a second one, for offsets of 64 bits, which
 * the headers may give the first one as well. */
#define CALL(result, c_name, linker_name, parameters)                                              \
    result c_name parameters __asm__(linker_name);                                                 \
    result c_name parameters

static int open_file(int at, const char *path, int flags, va_list more)
{
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    enum kind kind = kind_at(at, path);
    enum call call = flags & O_CREAT ? CALL_CREATE : CALL_OPEN;

    if (fails(call, kind) || (call == CALL_CREATE && is_full(kind, 4096)))
        return -1;
    return remember((int)syscall(SYS_openat, at, path, flags, mode), kind);
}

#define OPEN(c_name, linker_name, parameters, at)                                                  \
    CALL(int, c_name, linker_name, parameters)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        int fd;                                                                                    \
                                                                                                   \
        va_start(more, flags);                                                                     \
        fd = open_file(at, path, flags, more);                                                     \
        va_end(more);                                                                              \
        return fd;                                                                                 \
    }
OPEN(shim_open, "open", (const char *path, int flags, ...), AT_FDCWD)
OPEN(shim_open64, "open64", (const char *path, int flags, ...), AT_FDCWD)
OPEN(shim_openat, "openat", (int at, const char *path, int flags, ...), at)
OPEN(shim_openat64, "openat64", (int at, const char *path, int flags, ...), at)

CALL(int, shim_close, "close", (int fd))
{
    remember(fd, KIND_NONE);
    return (int)syscall(SYS_close, fd);
}

#define READ(c_name, linker_name, parameters, number, ...)                                         \
    CALL(ssize_t, c_name, linker_name, parameters)                                                 \
    {                                                                                              \
        if (fails_or_shortens(CALL_READ, kind_of(fd), &size))                                      \
            return -1;                                                                             \
        return syscall(number, fd, to, size, ##__VA_ARGS__);                                       \
    }
READ(shim_read, "read", (int fd, void *to, size_t size), SYS_read)
READ(shim_pread, "pread", (int fd, void *to, size_t size, int64_t at), SYS_pread64, at)
READ(shim_pread64, "pread64", (int fd, void *to, size_t size, int64_t at), SYS_pread64, at)

/* The vectors of a short call: the first one, or half of it. */
static int shorten(const struct iovec *from, int count, struct iovec *one)
{
    *one = from[0];
    if (count == 1 && one->iov_len > 1)
        one->iov_len /= 2;
    return 1;
}

static size_t bytes_of_vectors(const struct iovec *vectors, int count)
{
    size_t size = 0;

    for (int i = 0; i < count; i++)
        size += vectors[i].iov_len;
    return size;
}

CALL(ssize_t, shim_preadv2, "preadv64v2",
     (int fd, const struct iovec *to, int count, int64_t at, int flags))
{
    uint32_t fault = meet(CALL_READ, kind_of(fd));
    struct iovec one;

    if (fault == FAULT_SHORT) {
        count = shorten(to, count, &one);
        to = &one;
    } else if (fault) {
        errno = (int)fault;
        return -1;
    }
    return syscall(SYS_preadv2, fd, to, count, at, 0, flags);
}

#define WRITE(c_name, linker_name, parameters, number, ...)                                        \
    CALL(ssize_t, c_name, linker_name, parameters)                                                 \
    {                                                                                              \
        enum kind kind = kind_of(fd);                                                              \
        int64_t before = counts_blocks(kind) ? allocated(fd) : 0;                                  \
        ssize_t done;                                                                              \
                                                                                                   \
        if (fails_or_shortens(CALL_WRITE, kind, &size) || is_full(kind, size))                     \
            return -1;                                                                             \
        done = syscall(number, fd, from, size, ##__VA_ARGS__);                                     \
        if (counts_blocks(kind))                                                                   \
            used(before, fd);                                                                      \
        return done;                                                                               \
    }
WRITE(shim_write, "write", (int fd, const void *from, size_t size), SYS_write)
WRITE(shim_pwrite, "pwrite", (int fd, const void *from, size_t size, int64_t at), SYS_pwrite64, at)
WRITE(shim_pwrite64, "pwrite64", (int fd, const void *from, size_t size, int64_t at), SYS_pwrite64,
      at)

CALL(ssize_t, shim_pwritev, "pwritev64", (int fd, const struct iovec *from, int count, int64_t at))
{
    enum kind kind = kind_of(fd);
    uint32_t fault = meet(CALL_WRITE, kind);
    int64_t before = counts_blocks(kind) ? allocated(fd) : 0;
    struct iovec one;
    ssize_t done;

    if (fault == FAULT_SHORT) {
        count = shorten(from, count, &one);
        from = &one;
    } else if (fault) {
        errno = (int)fault;
        return -1;
    }
    if (is_full(kind, bytes_of_vectors(from, count)))
        return -1;
    done = syscall(SYS_pwritev, fd, from, count, at, 0);
    if (counts_blocks(kind))
        used(before, fd);
    return done;
}

#define SYNC(c_name, linker_name, number)                                                          \
    CALL(int, c_name, linker_name, (int fd))                                                       \
    {                                                                                              \
        return fails(CALL_SYNC, kind_of(fd)) ? -1 : (int)syscall(number, fd);                      \
    }
SYNC(shim_fsync, "fsync", SYS_fsync)
SYNC(shim_fdatasync, "fdatasync", SYS_fdatasync)

CALL(int, shim_sync_file_range, "sync_file_range",
     (int fd, int64_t at, int64_t size, unsigned flags))
{
    return fails(CALL_RANGE, kind_of(fd)) ? -1
                                          : (int)syscall(SYS_sync_file_range, fd, at, size, flags);
}

static int allocate(int fd, int mode, int64_t at, int64_t size)
{
    enum kind kind = kind_of(fd);
    int64_t before = counts_blocks(kind) ? allocated(fd) : 0;
    int failed;

    if (fails(CALL_FALLOCATE, kind) ||
        (!(mode & FALLOC_FL_PUNCH_HOLE) && is_full(kind, (size_t)size)))
        return -1;
    failed = (int)syscall(SYS_fallocate, fd, mode, at, size);
    if (counts_blocks(kind))
        used(before, fd);
    return failed;
}
CALL(int, shim_fallocate, "fallocate", (int fd, int mode, int64_t at, int64_t size))
{
    return allocate(fd, mode, at, size);
}
CALL(int, shim_fallocate64, "fallocate64", (int fd, int mode, int64_t at, int64_t size))
{
    return allocate(fd, mode, at, size);
}

static int truncate_file(int fd, int64_t size)
{
    enum kind kind = kind_of(fd);
    int64_t before = counts_blocks(kind) ? allocated(fd) : 0;
    int failed;

    if (fails(CALL_FTRUNCATE, kind))
        return -1;
    failed = (int)syscall(SYS_ftruncate, fd, size);
    if (counts_blocks(kind))
        used(before, fd);
    return failed;
}
CALL(int, shim_ftruncate, "ftruncate", (int fd, int64_t size))
{
    return truncate_file(fd, size);
}
CALL(int, shim_ftruncate64, "ftruncate64", (int fd, int64_t size))
{
    return truncate_file(fd, size);
}

static int rename_file(int from_at, const char *from, int to_at, const char *to)
{
    if (fails(CALL_RENAME, kind_at(to_at, to)))
        return -1;
    return (int)syscall(SYS_renameat, from_at, from, to_at, to);
}
CALL(int, shim_rename, "rename", (const char *from, const char *to))
{
    return rename_file(AT_FDCWD, from, AT_FDCWD, to);
}
CALL(int, shim_renameat, "renameat", (int from_at, const char *from, int to_at, const char *to))
{
    return rename_file(from_at, from, to_at, to);
}

static int unlink_file(int at, const char *path, int flags)
{
    enum kind kind = kind_at(at, path);
    struct stat status;
    bool counts = counts_blocks(kind) && fstatat(at, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                  status.st_nlink == 1;

    if (fails(CALL_UNLINK, kind) || syscall(SYS_unlinkat, at, path, flags) != 0)
        return -1;
    if (counts)
        atomic_fetch_sub(&table->disk_used, (uint64_t)status.st_blocks * 512);
    return 0;
}
CALL(int, shim_unlink, "unlink", (const char *path))
{
    return unlink_file(AT_FDCWD, path, 0);
}
CALL(int, shim_unlinkat, "unlinkat", (int at, const char *path, int flags))
{
    return unlink_file(at, path, flags);
}

static int make_folder(int at, const char *path, mode_t mode)
{
    return fails(CALL_MKDIR, kind_at(at, path)) ? -1 : (int)syscall(SYS_mkdirat, at, path, mode);
}
CALL(int, shim_mkdir, "mkdir", (const char *path, mode_t mode))
{
    return make_folder(AT_FDCWD, path, mode);
}
CALL(int, shim_mkdirat, "mkdirat", (int at, const char *path, mode_t mode))
{
    return make_folder(at, path, mode);
}

CALL(int, shim_link, "link", (const char *from, const char *to))
{
    if (fails(CALL_LINK, kind_at(AT_FDCWD, to)))
        return -1;
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

CALL(void *, shim_mmap, "mmap",
     (void *where, size_t size, int protection, int flags, int fd, int64_t at))
{
    if (fails(CALL_MMAP, kind_of(fd)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, where, size, protection, flags, fd, at);
}

/* Of the C library, below which no other function here is called. */
#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (!next)                                                                                     \
        *(void **)&next = dlsym(RTLD_NEXT, #name);

/* RocksDB reads a file from its beginning to its end by a stream. */
CALL(size_t, shim_fread_unlocked, "fread_unlocked",
     (void *to, size_t size, size_t count, FILE *file))
{
    NEXT(fread_unlocked)
    if (fails(CALL_READ, kind_of(fileno(file)))) {
        file->_flags |= 0x20; /* as a failed read leaves it: ferror() is true */
        return 0;
    }
    return next(to, size, count, file);
}

CALL(DIR *, shim_opendir, "opendir", (const char *path))
{
    NEXT(opendir)
    return fails(CALL_LIST, kind_at(AT_FDCWD, path)) ? NULL : next(path);
}

/* These close a descriptor without close(): the next one of its number may be a socket. */
CALL(int, shim_closedir, "closedir", (DIR * directory))
{
    NEXT(closedir)
    remember(dirfd(directory), KIND_NONE);
    return next(directory);
}
CALL(int, shim_fclose, "fclose", (FILE * file))
{
    NEXT(fclose)
    remember(fileno(file), KIND_NONE);
    return next(file);
}

/* Threads count as a site of the folder. */
CALL(int, shim_pthread_create, "pthread_create",
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument))
{
    NEXT(pthread_create)
    return fails(CALL_THREAD, KIND_FOLDER) ? errno : next(thread, attributes, run, argument);
}

static void show_size(struct statvfs *status)
{
    uint64_t size = atomic_load(&table->disk_size);
    uint64_t used = atomic_load(&table->disk_used) + atomic_load(&table->disk_others);

    status->f_blocks = size / status->f_frsize;
    status->f_bfree = status->f_bavail = (used < size ? size - used : 0) / status->f_frsize;
}

CALL(int, shim_statvfs, "statvfs", (const char *path, struct statvfs *status))
{
    int failed;
    NEXT(statvfs)

    failed = next(path, status);
    if (failed == 0 && counts_blocks(kind_at(AT_FDCWD, path)))
        show_size(status);
    return failed;
}

CALL(int, shim_fstatvfs, "fstatvfs64", (int fd, struct statvfs *status))
{
    int failed;
    NEXT(fstatvfs)

    failed = next(fd, status);
    if (failed == 0 && counts_blocks(kind_of(fd)))
        show_size(status);
    return failed;
}
