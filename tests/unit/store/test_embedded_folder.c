/* What the embedded store keeps beside its records: the note `synced` of what is durable, and
 * aside/, where a start puts files that it does not need. store/README.md */
#include "conformance.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
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
        assert_int_equal(store_settled(f->store, sequence), STORE_OK);
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
    struct snapshot *snapshot;
    struct record record;
    struct stat folder;

    put(f, 1);
    leave_stray(f, 1000);
    leave_stray(f, 2000);
    assert_int_equal(size_of(f, STRAY), -1);
    assert_int_equal(size_of(f, "aside/999999.sst"), 1000);
    assert_int_equal(size_of(f, "aside/999999.sst.1"), 2000);
    assert_int_equal(stat(path_of(f, "aside"), &folder), 0);
    assert_int_equal(folder.st_mode & 0777, 0700);
    snapshot = snapshot_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("00001"), f->arena, &record),
        STORE_OK);
    snapshot_close(snapshot);
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

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(noted_before_woken, STORES_ON_DISK),
        TEST(strays_are_moved_aside, STORES_ON_DISK),
        TEST(aside_is_bounded, STORES_ON_DISK),
    };

    return conformance_run("folder", tests, sizeof tests / sizeof tests[0]);
}
