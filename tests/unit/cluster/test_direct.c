/* Direct reads: cluster/direct.h. Exactly the listed bytes are read, or none of a sector whose sum is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/crc.h"
#include "cluster/direct.h"
#include "cluster/piece_list.h"

#define SECTOR     LISTED_SECTOR_BYTES
#define FILE_BYTES (3u << 20)
#define BEGIN      4096u

struct fixture {
    char path[64], folder[160], file[200];
    char bytes[FILE_BYTES];
    struct arena *arena;
    struct direct *direct;
};

static void write_file(const struct fixture *f, const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, f->bytes, FILE_BYTES), FILE_BYTES);
    close(fd);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char command[256];

    assert_non_null(f);
    snprintf(f->path, sizeof f->path, "/tmp/lagra-direct-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    snprintf(f->folder, sizeof f->folder, "%s/cells/0001/data/extents", f->path);
    snprintf(command, sizeof command, "mkdir -p '%s'", f->folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < FILE_BYTES; i++)
        f->bytes[i] = (char)(i * 2654435761u >> 13);
    snprintf(f->file, sizeof f->file, "%s/00000007", f->folder);
    write_file(f, f->file);
    f->arena = arena_new(16 << 20);
    f->direct = direct_start(f->path);
    assert_non_null(f->direct);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char command[128];

    direct_stop(f->direct);
    arena_free(f->arena);
    snprintf(command, sizeof command, "rm -rf '%s'", f->path);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

/* Lists bytes from..from+take of the piece that begins at BEGIN. */
static void add(struct fixture *f, struct text *list, uint32_t extent, uint32_t from, uint32_t take)
{
    uint32_t begin = from / SECTOR * SECTOR, end = (from + take + SECTOR - 1) / SECTOR * SECTOR;
    uint32_t sums[LISTED_PIECE_BYTES / SECTOR];
    struct listed piece = {
        .extent = extent, .offset = BEGIN + begin, .skip = from - begin, .take = take
    };

    piece.length = (end < FILE_BYTES - BEGIN ? end : FILE_BYTES - BEGIN) - begin;
    for (uint32_t i = 0; i < listed_sectors(&piece); i++) {
        uint32_t rest = piece.length - i * SECTOR;

        sums[i] = crc32c(0, f->bytes + piece.offset + i * SECTOR, rest < SECTOR ? rest : SECTOR);
    }
    piece_list_add_piece(list, &piece, sums);
}

static void on_wake(struct waiter *waiter)
{
    sem_post((sem_t *)waiter->place);
}

static enum direct_state next(struct direct_read *read, struct bytes *ret_bytes)
{
    enum direct_state state;
    sem_t woken;

    sem_init(&woken, 0, 0);
    while ((state = direct_read_next(read, ret_bytes)) == DIRECT_WAITS) {
        struct waiter waiter = { .wake = on_wake, .place = &woken };

        direct_read_await(read, &waiter);
        sem_wait(&woken);
    }
    sem_destroy(&woken);
    return state;
}

/* Returns the number of bytes that were read before the end or a failure. */
static size_t read_all(struct direct_read *read, char *to, size_t length, bool *ret_failed)
{
    struct bytes bytes;
    size_t done = 0;

    *ret_failed = false;
    while (done < length && next(read, &bytes) == DIRECT_READY) {
        size_t some = bytes.len > 100000 ? 100000 : bytes.len;

        assert_true(some > 0 && some <= length - done);
        memcpy(to + done, bytes.ptr, some);
        direct_read_use(read, some);
        done += some;
    }
    *ret_failed = done < length;
    direct_read_end(read);
    return done;
}

static struct text begin(struct fixture *f)
{
    struct text list;

    text_init(&list, f->arena, 64);
    piece_list_start(&list);
    return list;
}

static void reads_what_is_listed(void **state)
{
    static const uint32_t ranges[][2] = { { 0, FILE_BYTES - BEGIN },
                                          { 1, 1 },
                                          { SECTOR - 1, 2 },
                                          { 70000, 2000000 },
                                          { FILE_BYTES - BEGIN - 1, 1 },
                                          { 5 * SECTOR, SECTOR } };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        size_t length = ranges[i][1] + 100000 + 5;
        char *got = malloc(length);
        struct text list = begin(f);
        bool failed;

        add(f, &list, 7, ranges[i][0], ranges[i][1]);
        piece_list_add_zeros(&list, 100000);
        piece_list_add_bytes(&list, bytes_from_string("bytes"));
        assert_int_equal(read_all(direct_read_start(f->direct, 1, text_bytes(&list), length), got,
                                  length, &failed),
                         length);
        assert_memory_equal(got, f->bytes + BEGIN + ranges[i][0], ranges[i][1]);
        for (size_t at = 0; at < 100000; at++)
            assert_int_equal(got[ranges[i][1] + at], 0);
        assert_memory_equal(got + length - 5, "bytes", 5);
        free(got);
    }
}

/* A byte changed: what comes before its window is right, and nothing of it follows. */
static void stops_at_damage(void **state)
{
    struct fixture *f = *state;
    size_t length = FILE_BYTES - BEGIN, at = BEGIN + 2u * DIRECT_WINDOW_BYTES + 10, done;
    int fd = open(f->file, O_WRONLY);
    char *got = malloc(length), wrong = (char)~f->bytes[at];
    struct text list = begin(f);
    bool failed;

    assert_int_equal(pwrite(fd, &wrong, 1, (off_t)at), 1);
    add(f, &list, 7, 0, (uint32_t)length);
    done =
        read_all(direct_read_start(f->direct, 1, text_bytes(&list), length), got, length, &failed);
    assert_true(failed);
    assert_int_equal(done, 2 * DIRECT_WINDOW_BYTES);
    assert_memory_equal(got, f->bytes + BEGIN, done);
    assert_int_equal(pwrite(fd, f->bytes + at, 1, (off_t)at), 1); /* repaired: read again */
    list = begin(f);
    add(f, &list, 7, 0, (uint32_t)length);
    done =
        read_all(direct_read_start(f->direct, 1, text_bytes(&list), length), got, length, &failed);
    assert_int_equal(done, length);
    close(fd);
    free(got);
}

static void assert_fails(struct fixture *f, uint32_t cell, uint32_t extent)
{
    struct text list = begin(f);
    char got[10];
    bool failed;

    add(f, &list, extent, 0, sizeof got);
    assert_int_equal(read_all(direct_read_start(f->direct, cell, text_bytes(&list), sizeof got),
                              got, sizeof got, &failed),
                     0);
    assert_true(failed);
}

/* Missing files, a shorter one, and what is no file: a link, a pipe, a folder. */
static void reads_nothing_else(void **state)
{
    struct fixture *f = *state;
    char name[256];

    assert_fails(f, 1, 8);
    assert_fails(f, 2, 7);
    snprintf(name, sizeof name, "%s/00000009", f->folder);
    assert_int_equal(symlink(f->file, name), 0);
    assert_fails(f, 1, 9);
    snprintf(name, sizeof name, "%s/0000000a", f->folder);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_fails(f, 1, 10);
    snprintf(name, sizeof name, "%s/0000000b", f->folder);
    assert_int_equal(mkdir(name, 0700), 0);
    assert_fails(f, 1, 11);
    assert_int_equal(truncate(f->file, BEGIN + 5), 0);
    assert_fails(f, 1, 7);
}

/* A device whose bytes are those of the list. Only root can make one, and not everywhere. */
static void reads_no_device(void **state)
{
    struct fixture *f = *state;
    char name[256];

    memset(f->bytes, 0, FILE_BYTES);
    snprintf(name, sizeof name, "%s/0000000c", f->folder);
    if (mknod(name, S_IFCHR | 0600, makedev(1, 5)) != 0) /* /dev/zero */
        skip();
    assert_fails(f, 1, 12);
}

static void refuses_wrong_lists(void **state)
{
    struct fixture *f = *state;
    struct text list = begin(f);

    add(f, &list, 7, 0, 1000);
    assert_null(direct_read_start(f->direct, 1, text_bytes(&list), 1001));
    assert_null(direct_read_start(f->direct, 1, bytes_of("", 0), 1));
}

/* A list of tiny pieces: a step reads DIRECT_STEP_BYTES at most, and passes on what it has. */
static void steps_are_bounded(void **state)
{
    struct fixture *f = *state;
    char got[PIECE_LIST_COUNT_MAX];
    struct text list = begin(f);
    struct direct_read *read;
    struct bytes bytes;
    size_t done = 0;

    for (unsigned i = 0; i < PIECE_LIST_COUNT_MAX; i++)
        add(f, &list, 7, i, 1);
    read = direct_read_start(f->direct, 1, text_bytes(&list), sizeof got);
    assert_non_null(read);
    while (done < sizeof got) {
        assert_int_equal(next(read, &bytes), DIRECT_READY);
        assert_true(bytes.len > 0 && bytes.len <= DIRECT_STEP_BYTES / SECTOR);
        memcpy(got + done, bytes.ptr, bytes.len);
        done += bytes.len;
        direct_read_use(read, bytes.len);
    }
    direct_read_end(read);
    assert_memory_equal(got, f->bytes + BEGIN, sizeof got);
}

/* Reads are ended in any state, and their number is bounded. */
static void bounded(void **state)
{
    struct fixture *f = *state;
    struct direct_read *reads[DIRECT_READS_MAX];
    struct text list = begin(f);
    unsigned tries = 0;

    add(f, &list, 7, 0, FILE_BYTES - BEGIN);
    for (unsigned i = 0; i < DIRECT_READS_MAX; i++) {
        assert_true(direct_has_room(f->direct));
        reads[i] = direct_read_start(f->direct, 1, text_bytes(&list), FILE_BYTES - BEGIN);
        assert_non_null(reads[i]);
    }
    assert_false(direct_has_room(f->direct));
    assert_null(direct_read_start(f->direct, 1, text_bytes(&list), FILE_BYTES - BEGIN));
    for (unsigned i = 0; i < DIRECT_READS_MAX; i++)
        direct_read_end(reads[i]);
    while (!direct_has_room(f->direct) && tries++ < 10000)
        usleep(1000);
    assert_true(direct_has_room(f->direct));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_what_is_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(stops_at_damage, setup, teardown),
        cmocka_unit_test_setup_teardown(reads_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(reads_no_device, setup, teardown),
        cmocka_unit_test_setup_teardown(refuses_wrong_lists, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(bounded, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
