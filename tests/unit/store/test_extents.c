/* The set of extents opens a bounded number of files, whatever their number; those that somebody
 * reads, or that have staged pieces, stay open. store/embedded/extents.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/extent_file.h"
#include "store/embedded/extents.h"

#define EXTENTS (3 * EXTENTS_OPEN_MAX)

struct fixture {
    char path[64];
    struct extents extents;
    unsigned before; /* descriptors without any extent open */
};

static unsigned descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static unsigned open_extents(const struct fixture *f)
{
    return descriptors() - f->before;
}

/* A whole extent each: the next one begins another. */
static void cut_all(struct fixture *f)
{
    for (uint32_t i = 1; i <= EXTENTS; i++) {
        struct run run;

        assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, EXTENT_BYTES, &run), STORE_OK);
        assert_int_equal(run.extent, i);
        assert_in_range(open_extents(f), 1, EXTENTS_OPEN_MAX);
    }
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const char *problem;
    int folder;

    assert_non_null(f);
    snprintf(f->path, sizeof f->path, "/tmp/lagra-extents-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    folder = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    f->before = descriptors();
    assert_int_equal(extents_open(&f->extents, folder, &problem), STORE_OK);
    cut_all(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    int folder = f->extents.folder;
    uint32_t id;

    for (size_t at = 0; extents_id_at(&f->extents, at, &id); at++)
        extent_file_remove(folder, id);
    extents_release(&f->extents);
    assert_int_equal(descriptors(), f->before); /* none is forgotten */
    close(folder);
    assert_int_equal(rmdir(f->path), 0);
    free(f);
    return 0;
}

static struct extent *take(struct fixture *f, uint32_t id)
{
    struct extent *extent;

    assert_int_equal(extents_take(&f->extents, id, &extent), STORE_OK);
    assert_int_equal(extent->id, id);
    assert_true(fcntl(extent->fd, F_GETFD) >= 0);
    return extent;
}

static void take_and_give_all(struct fixture *f)
{
    for (uint32_t id = 1; id <= EXTENTS; id++) {
        extents_give(&f->extents, take(f, id));
        assert_in_range(open_extents(f), 1, EXTENTS_OPEN_MAX);
    }
}

/* Each of many is read, again and again. */
static void all_are_read(void **state)
{
    take_and_give_all(*state);
    take_and_give_all(*state);
}

/* What was given back the longest ago is closed first. */
static void closes_the_oldest(void **state)
{
    struct fixture *f = *state;
    struct extent *first;

    take_and_give_all(f);
    first = take(f, 1);
    extents_give(&f->extents, first);
    for (uint32_t id = 2; id < EXTENTS_OPEN_MAX; id++)
        extents_give(&f->extents, take(f, id));
    assert_true(first->fd >= 0); /* the active one is open too */
    extents_give(&f->extents, take(f, EXTENTS_OPEN_MAX));
    assert_int_equal(first->fd, -1);
}

/* A reader under way keeps its file, whatever others open. When all are taken, one more is a
 * shortage, which passes. */
static void readers_keep_theirs(void **state)
{
    struct fixture *f = *state;
    struct extent *taken[EXTENTS_OPEN_MAX];
    int fds[EXTENTS_OPEN_MAX];
    size_t count = EXTENTS_OPEN_MAX - 1; /* and the active one */

    for (uint32_t i = 0; i < count; i++) {
        taken[i] = take(f, i + 1);
        fds[i] = taken[i]->fd;
    }
    assert_int_equal(extents_take(&f->extents, EXTENTS - 1, &taken[count]), STORE_SHORTAGE);
    extents_give(&f->extents, taken[0]);
    for (uint32_t id = EXTENTS_OPEN_MAX; id < EXTENTS; id++)
        extents_give(&f->extents, take(f, id));
    for (uint32_t i = 1; i < count; i++) {
        assert_int_equal(taken[i]->fd, fds[i]);
        extents_give(&f->extents, taken[i]);
    }
    assert_int_equal(open_extents(f), EXTENTS_OPEN_MAX);
}

/* A file with pieces that nobody has committed yet stays open, so that its sync hears of a failed
 * write-out; from then on it may be closed. */
static void staged_stay_open(void **state)
{
    struct fixture *f = *state;
    struct staged_piece piece = { .piece = { .extent = 5, .offset = EXTENT_UNIT } };
    struct extent *extent = take(f, 5);
    int fd = extent->fd;

    extents_stage(&f->extents, &piece);
    extents_give(&f->extents, extent);
    take_and_give_all(f);
    assert_int_equal(extent->fd, fd);
    assert_true(extents_unstage(&f->extents, &piece));
    for (uint32_t id = 6; id <= EXTENTS; id++)
        extents_give(&f->extents, take(f, id));
    assert_int_equal(extent->fd, -1);
}

/* What was cut last and is not needed is cut again; what lies before it is not. */
static void given_back(void **state)
{
    struct fixture *f = *state;
    struct run first, last, again;

    assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, EXTENT_UNIT, &first), STORE_OK);
    assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, 3 * EXTENT_UNIT, &last), STORE_OK);
    assert_int_equal(last.extent, first.extent);
    extents_give_back(&f->extents, last);
    assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, EXTENT_UNIT, &again), STORE_OK);
    assert_int_equal(again.extent, last.extent);
    assert_int_equal(again.offset, last.offset);
    extents_give_back(&f->extents, first);
    assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, EXTENT_UNIT, &last), STORE_OK);
    assert_int_equal(last.offset, again.offset + EXTENT_UNIT);
}

/* An extent that is removed while somebody reads it lives until he gives it back. */
static void removed_while_taken(void **state)
{
    struct fixture *f = *state;
    struct extent *extent = take(f, 7);

    extents_punch(&f->extents, 7, EXTENT_UNIT, EXTENT_BYTES - EXTENT_UNIT);
    assert_int_equal(extents_count(&f->extents), EXTENTS - 1);
    assert_true(fcntl(extent->fd, F_GETFD) >= 0);
    extents_give(&f->extents, extent);
    assert_int_equal(extents_take(&f->extents, 7, &extent), STORE_CORRUPT);
}

/* An extent is lent once nothing will be written to it any more. Its file is then open only for reading, and it is still punched.
 * The active one is sealed for that if it is large, but not again at once. */
static void lent(void **state)
{
    struct fixture *f = *state;
    struct staged_piece piece = { .piece = { .extent = 5, .offset = EXTENT_UNIT } };
    uint64_t now_ms = 1u << 30;
    struct extent *extent;
    struct run run;

    f->extents.sealed_ms = now_ms;
    assert_int_equal(extents_lend(&f->extents, 5, now_ms), EXTENT_KEPT); /* a stage has its run */
    extents_give_back(&f->extents, (struct run){ .extent = 5, .offset = EXTENT_BYTES });
    extents_stage(&f->extents, &piece);
    assert_int_equal(extents_lend(&f->extents, 5, now_ms), EXTENT_KEPT);
    assert_true(extents_unstage(&f->extents, &piece));
    assert_int_equal(extents_lend(&f->extents, 5, now_ms), EXTENT_TO_PREPARE);
    assert_int_equal(extents_lend(&f->extents, 5, now_ms), EXTENT_KEPT); /* once */
    extent = take(f, 5);
    assert_int_equal(fcntl(extent->fd, F_GETFL) & O_ACCMODE, O_RDWR);
    extents_prepare_lending(&f->extents, 5);
    extents_give(&f->extents, extent);
    assert_int_equal(extents_lend(&f->extents, 5, now_ms), EXTENT_TO_PREPARE); /* it was in use */
    extents_prepare_lending(&f->extents, 5);
    assert_int_equal(extents_lend(&f->extents, 5, now_ms), EXTENT_LENT);
    take_and_give_all(f); /* closes it */
    extent = take(f, 5);
    assert_int_equal(fcntl(extent->fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(extent_file_allocated(extent->fd), EXTENT_UNIT);
    extents_punch_taken(&f->extents, extent, 0, EXTENT_UNIT);
    assert_int_equal(extent_file_allocated(extent->fd), 0);
    extents_give(&f->extents, extent);
    assert_int_equal(extents_lend(&f->extents, 0xABCDEF, now_ms), EXTENT_KEPT);

    assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, EXTENT_UNIT, &run), STORE_OK);
    assert_int_equal(extents_lend(&f->extents, run.extent, now_ms), EXTENT_KEPT); /* too small */
    extents_give_back(&f->extents, (struct run){ run.extent, run.offset + run.length, 0 });
    assert_int_equal(extents_lend(&f->extents, run.extent, now_ms + EXTENT_OLD_MS),
                     EXTENT_TO_PREPARE);
    now_ms += EXTENT_OLD_MS;
    assert_int_equal(extents_cut(&f->extents, EXTENT_UNIT, EXTENT_SEAL_BYTES, &run), STORE_OK);
    assert_int_equal(run.extent, EXTENTS + 2); /* a new one */
    extents_give_back(&f->extents, (struct run){ run.extent, run.offset + run.length, 0 });
    assert_int_equal(extents_lend(&f->extents, run.extent, now_ms + EXTENT_SEAL_MS - 1),
                     EXTENT_KEPT);
    assert_int_equal(extents_lend(&f->extents, run.extent, now_ms + EXTENT_SEAL_MS),
                     EXTENT_TO_PREPARE);
    extents_prepare_lending(&f->extents, run.extent);
    assert_int_equal(extents_lend(&f->extents, run.extent, now_ms), EXTENT_LENT);
}

/* An extent that cannot be read is no damaged one, and its file does not stay open. The disk's error is that of a pipe:
 * it has no places that could be read. */
static void that_cannot_be_read(void **state)
{
    struct fixture *f = *state;
    int folder = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    unsigned before = descriptors();

    assert_int_equal(mkfifoat(folder, "00abcdef", 0600), 0);
    assert_int_equal(extent_file_open(folder, 0xABCDEF, EXTENT_WRITES, &fd), STORE_IO);
    assert_int_equal(fd, -1);
    assert_int_equal(descriptors(), before);
    unlinkat(folder, "00abcdef", 0);
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(closes_the_oldest, setup, teardown),
        cmocka_unit_test_setup_teardown(readers_keep_theirs, setup, teardown),
        cmocka_unit_test_setup_teardown(staged_stay_open, setup, teardown),
        cmocka_unit_test_setup_teardown(given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(removed_while_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(lent, setup, teardown),
        cmocka_unit_test_setup_teardown(that_cannot_be_read, setup, teardown),
    };

    return cmocka_run_group_tests_name("extents", tests, NULL, NULL);
}
