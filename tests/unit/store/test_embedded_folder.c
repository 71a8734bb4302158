/* What the embedded store keeps beside its records: the note `synced` of what is durable, aside/,
 * where a start puts files that it does not need, and the folder's own name. store/README.md
 *
 * This program has its own openat() and syncfs(), which the store's library calls instead of
 * libc's. */
#include "conformance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/endian.h"
#include "store/embedded/disk_space.h"
#include "store/embedded/folder.h"
#include "store/embedded/records_files.h"

#define STRAY "records/999999.sst"

static const char *path_of(const struct fixture *f, const char *name)
{
    return arena_string(f->arena, arena_printf(f->arena, "%s/%s", f->folder, name));
}

static uint64_t put(struct fixture *f, int number)
{
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, arena_printf(f->arena, "%05d", number),
                bytes_from_string("value"), NULL, 0);
    assert_int_equal(commit_new(f->store, f->partition, changes, &sequence), STORE_OK);
    return sequence;
}

/* ---- synced ---- */

struct look {
    struct waiter waiter; /* first */
    int note;
    uint64_t noted; /* when it was woken */
    sem_t woken;
};

static void look_at_note(struct waiter *waiter)
{
    struct look *look = (struct look *)(void *)waiter;
    unsigned char bytes[8] = { 0 };

    if (pread(look->note, bytes, sizeof bytes, 0) == sizeof bytes)
        look->noted = le64_get(bytes);
    sem_post(&look->woken);
}

/* Rule: when a waiter is woken, what it waited for is in the note, so that a kill at that moment
 * leaves a note that covers everything acknowledged. */
static void noted_before_woken(void **state)
{
    struct fixture *f = *state;
    struct look look = { .waiter.wake = look_at_note };

    look.note = open(path_of(f, "synced"), O_RDONLY | O_CLOEXEC);
    assert_true(look.note >= 0);
    sem_init(&look.woken, 0, 0);
    for (int i = 0; i < 100; i++) {
        uint64_t sequence = put(f, i);

        store_wait_durable(f->store, sequence, &look.waiter);
        sem_wait(&look.woken);
        assert_int_equal(store_durable(f->store, sequence), STORE_OK);
        assert_true(look.noted >= sequence);
    }
    sem_destroy(&look.woken);
    close(look.note);
}

/* ---- aside/ ---- */

/* A table that no MANIFEST names: RocksDB's own start would delete it. */
static void leave_stray(struct fixture *f, off_t size)
{
    int fd;

    store_close(f->store);
    f->store = NULL;
    fd = open(path_of(f, STRAY), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    close(fd);
    fixture_reopen(f);
}

static off_t size_of(struct fixture *f, const char *name)
{
    struct stat status;

    return stat(path_of(f, name), &status) == 0 ? status.st_size : -1;
}

/* Rule: a start deletes nothing that it does not know: it moves it aside, under a name that is
 * free, says so, and has all records. */
static void strays_are_moved_aside(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;
    struct stat folder, format;

    put(f, 1);
    assert_int_equal(stat(path_of(f, "format"), &format), 0);
    assert_int_equal(format.st_mode & 07777, 0600);
    leave_stray(f, 1000);
    leave_stray(f, 2000);
    assert_int_equal(size_of(f, STRAY), -1);
    assert_int_equal(size_of(f, "aside/999999.sst"), 1000);
    assert_int_equal(size_of(f, "aside/999999.sst.1"), 2000);
    assert_int_equal(stat(path_of(f, "aside"), &folder), 0);
    assert_int_equal(folder.st_mode & 0777, 0700);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("00001"), f->arena, &record),
        STORE_OK);
    read_view_close(snapshot);
}

/* Rule: aside/ has a bound; the oldest goes first. A disk that runs full gets back all of it. */
static void aside_is_bounded(void **state)
{
    struct fixture *f = *state;
    off_t size = (off_t)(ASIDE_BYTES / 5 * 2);
    int folder;

    for (int i = 0; i < 3; i++)
        leave_stray(f, size + i);
    assert_int_equal(size_of(f, "aside/999999.sst"), -1);
    assert_int_equal(size_of(f, "aside/999999.sst.1"), size + 1);
    assert_int_equal(size_of(f, "aside/999999.sst.2"), size + 2);

    folder = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    records_empty_aside(folder);
    close(folder);
    assert_int_equal(size_of(f, "aside/999999.sst.1"), -1);
    assert_int_equal(size_of(f, "aside/999999.sst.2"), -1);
}

/* ---- the folder's own name ---- */

static int parent_error; /* of opening the parent of a folder; 0: none */
static unsigned whole_syncs;

/* Under both names that it has for the linker. */
int open_at(int folder, const char *path, int flags, ...) __asm__("openat");
int open_at_64(int folder, const char *path, int flags, ...) __asm__("openat64")
    __attribute__((alias("openat")));
int sync_whole(int fd) __asm__("syncfs");

int open_at(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    int mode;

    if (parent_error && strcmp(path, "..") == 0) {
        errno = parent_error;
        return -1;
    }
    va_start(arguments, flags);
    mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int sync_whole(int fd)
{
    whole_syncs++;
    return (int)syscall(SYS_syncfs, fd);
}

/* Rule: a start that cannot make the folder's name durable is refused; that others may keep us from
 * reading its parent is no reason. */
static void name_is_made_durable(void **state)
{
    static const struct {
        int error;
        enum store_result result;
        unsigned whole_syncs;
    } cases[] = {
        { 0, STORE_OK, 0 }, { EMFILE, STORE_IO, 0 }, { EIO, STORE_IO, 0 }, { EACCES, STORE_OK, 1 }
    };
    struct fixture *f = *state;
    struct folder folder = { .records_path = arena_string(f->arena, bytes_from_string(f->folder)) };

    folder.fd = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder.fd >= 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *problem = NULL;

        parent_error = cases[i].error;
        whole_syncs = 0;
        assert_int_equal(folder_sync(&folder, &problem), cases[i].result);
        assert_int_equal(problem != NULL, cases[i].result != STORE_OK);
        assert_int_equal(whole_syncs, cases[i].whole_syncs);
    }
    parent_error = 0;
    close(folder.fd);
}

/* ---- the folder ---- */

/* Rule: a folder that is not there is made, with those above it, also by a path that is relative. */
static void a_new_folder_is_made(void **state)
{
    struct fixture *f = *state;
    const struct store_options options = { .location = "new/folder", .sync = true };
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *problem = NULL;
    struct store *store;

    assert_true(here >= 0);
    assert_int_equal(chdir(f->folder), 0);
    errno = 0; /* as in a program that has had no error */
    assert_int_equal(store_open_embedded(&options, &store, &problem), STORE_OK);
    store_close(store);
    assert_int_equal(fchdir(here), 0);
    close(here);
}

static void write_file(struct fixture *f, const char *name, const char *text)
{
    int fd = open(path_of(f, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* What a power cut may leave of a first start: names whose bytes were not written out. */
static void leave_a_beginning(struct fixture *f)
{
    assert_int_equal(mkdir(path_of(f, "cut"), 0700), 0);
    assert_int_equal(mkdir(path_of(f, "cut/records"), 0700), 0);
    write_file(f, "cut/format", "lagra store 1\n");
    write_file(f, "cut/synced", "");
    write_file(f, "cut/records/CURRENT", "MANIFEST-000005\n");
    write_file(f, "cut/records/MANIFEST-000005", "");
    write_file(f, "cut/records/IDENTITY", "");
    write_file(f, "cut/records/000004.log", "");
}

static enum store_result open_cut(struct fixture *f)
{
    const struct store_options options = { .location = path_of(f, "cut"), .sync = true };
    const char *problem = NULL;
    struct store *store;
    enum store_result result = store_open_embedded(&options, &store, &problem);

    if (!result)
        store_close(store);
    return result;
}

/* Rule: a first start that is cut off leaves a new folder; where anything may have been served from it, it is refused as
 * damaged. records_proof.h */
static void a_start_that_was_cut_off(void **state)
{
    static const struct {
        const char *name, *text;
    } of_use[] = {
        { "manifest-000005", "" },
        { "records/000009.sst", "" },
        { "records/000008.log", "x" },
        { "synced", "\1\1\1\1\1\1\1\1\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof of_use / sizeof of_use[0]; i++) {
        const char *name = arena_string(f->arena, arena_printf(f->arena, "cut/%s", of_use[i].name));

        if (i == 0)
            leave_a_beginning(f);
        write_file(f, name, of_use[i].text);
        assert_int_equal(open_cut(f), STORE_CORRUPT);
        assert_int_equal(unlink(path_of(f, name)), 0);
    }
    assert_int_equal(open_cut(f), STORE_OK);
    assert_int_equal(size_of(f, "cut/aside/CURRENT"), strlen("MANIFEST-000005\n"));
    assert_int_equal(size_of(f, "cut/aside/MANIFEST-000005"), 0);
    assert_int_equal(open_cut(f), STORE_OK);

    /* Of CURRENT the name alone, and not even that. */
    assert_int_equal(rename(path_of(f, "cut"), path_of(f, "was cut")), 0);
    leave_a_beginning(f);
    write_file(f, "cut/records/CURRENT", "");
    assert_int_equal(open_cut(f), STORE_OK);
    assert_int_equal(rename(path_of(f, "cut"), path_of(f, "was cut again")), 0);
    leave_a_beginning(f);
    assert_int_equal(unlink(path_of(f, "cut/records/CURRENT")), 0);
    assert_int_equal(open_cut(f), STORE_OK);
}

/* Rule: what lies in the folder is its owner's alone. */
static void files_are_their_owners(void **state)
{
    struct fixture *f = *state;
    unsigned files = 0;
    DIR *folder;

    wait_durable(f->store, put(f, 1));
    store_close(f->store);
    f->store = NULL;
    folder = opendir(f->folder);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;

        assert_int_equal(fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW), 0);
        if (!S_ISREG(status.st_mode))
            continue;
        assert_int_equal(status.st_mode & 07777, 0600);
        files++;
    }
    assert_true(files >= 3); /* lock, format, synced */
    closedir(folder);
}

/* ---- the ballast ---- */

static void nobody_cares(void *context)
{
    (void)context;
}

/* Rule: where less than four times the reserve is free, bytes are set aside, once, and stay. store/README.md,
 * "A full disk" */
static void ballast_is_laid_and_stays(void **state)
{
    struct fixture *f = *state;
    int folder;
    struct disk_space space;
    struct statvfs disk;
    struct stat laid, later;
    const char *problem;

    assert_int_equal(mkdir(path_of(f, "other"), 0700), 0);
    folder = open(path_of(f, "other"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    assert_int_equal(fstatvfs(folder, &disk), 0);
    assert_int_equal(disk_space_open(&space, folder, (uint64_t)disk.f_bavail * disk.f_frsize / 3,
                                     nobody_cares, NULL, &problem),
                     STORE_OK);
    assert_int_equal(size_of(f, "other/ballast"), -1);
    disk_space_tend(&space);
    if (space.ballast > 0) { /* else the file system cannot set bytes aside */
        assert_int_equal(size_of(f, "other/ballast"), space.ballast);
        assert_int_equal(stat(path_of(f, "other/ballast"), &laid), 0);
        disk_space_tend(&space);
        assert_int_equal(stat(path_of(f, "other/ballast"), &later), 0);
        assert_true(later.st_ino == laid.st_ino && later.st_size == laid.st_size);
    }
    disk_space_close(&space);
    close(folder);
}

/* ---- extents/ ---- */

/* What its files take of the disk. */
static uint64_t bytes_of_extents(struct fixture *f)
{
    DIR *folder = opendir(path_of(f, "extents"));
    uint64_t bytes = 0;

    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;

        if (entry->d_type == DT_REG && fstatat(dirfd(folder), entry->d_name, &status, 0) == 0)
            bytes += (uint64_t)status.st_blocks * 512;
    }
    closedir(folder);
    return bytes;
}

/* Rule: what a commit frees goes back to the file system by itself, without a round that somebody asks
 * for, a further commit or a start. freed.h, collector_poke() */
static void freed_bytes_go_back_by_themselves(void **state)
{
    struct fixture *f = *state;
    time_t last = time(NULL) + 60;

    put_stream(f->store, f->partition, "stream", 8 << 20, 1);
    assert_true(bytes_of_extents(f) >= 8 << 20);
    wait_durable(f->store, delete_stream(f->store, f->partition, "stream"));
    while (bytes_of_extents(f) > EMPTY_ALLOCATED_MAX) {
        assert_true(time(NULL) < last);
        usleep(10000);
    }
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(noted_before_woken, STORES_ON_DISK),
        TEST(strays_are_moved_aside, STORES_ON_DISK),
        TEST(aside_is_bounded, STORES_ON_DISK),
        TEST(name_is_made_durable, STORES_ON_DISK),
        TEST(a_new_folder_is_made, STORES_ON_DISK),
        TEST(a_start_that_was_cut_off, STORES_ON_DISK),
        TEST(files_are_their_owners, STORES_ON_DISK),
        TEST(ballast_is_laid_and_stays, STORES_ON_DISK),
        TEST(freed_bytes_go_back_by_themselves, STORES_ON_DISK),
    };

    return conformance_run("folder", tests, sizeof tests / sizeof tests[0]);
}
