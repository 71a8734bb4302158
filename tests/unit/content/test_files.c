/* Contents on the embedded store: what a reader says lies in a file does lie there, and damage in
 * the file is told. content.h; store invariant 5 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "content/content.h"
#include "../store/page_cache.h"

#define MIB (1u << 20)

struct waiting {
    struct waiter waiter;
    sem_t woken;
};

struct fixture {
    char folder[64];
    struct store *store;
    struct arena *arena;
    struct partition partition;
    struct waiting waiting;
    char *data; /* of the content, 12 MiB */
};

static void wake(struct waiter *waiter)
{
    sem_post(&((struct waiting *)waiter)->woken);
}

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    struct store_options options = { .sync = true };
    const char *problem;
    uint32_t x = 1;

    snprintf(f->folder, sizeof f->folder, "/tmp/lagra-content-XXXXXX");
    options.location = mkdtemp(f->folder);
    if (!options.location || !log_open(LOG_ERROR, "/dev/null") ||
        store_open_embedded(&options, &f->store, &problem) != STORE_OK)
        return -1;
    f->arena = arena_new(256 * MIB);
    f->partition = (struct partition){ guid_new(), bytes_from_string("a blob") };
    f->waiting.waiter.wake = wake;
    sem_init(&f->waiting.woken, 0, 0);
    f->data = xmalloc(12 * MIB);
    for (size_t i = 0; i < 12 * MIB; i++) {
        x = x * 1664525 + 1013904223;
        f->data[i] = (char)(x >> 24);
    }
    *state = f;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    store_close(f->store);
    nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    sem_destroy(&f->waiting.woken);
    arena_free(f->arena);
    free(f->data);
    free(f);
    return 0;
}

static void wait_woken(struct fixture *f)
{
    while (sem_wait(&f->waiting.woken))
        ;
}

/* Pieces of the first `length` bytes. */
static struct body stage(struct fixture *f, size_t length)
{
    struct body body = { .length = length, .stage = stage_open(f->store, length) };
    enum store_result result = STORE_OK;
    size_t done = 0;

    while (done < length) {
        size_t taken = 0;

        result = stage_write(body.stage, bytes_of(f->data + done, length - done),
                             &f->waiting.waiter, &taken);
        done += taken;
        if (result == STORE_WAIT)
            wait_woken(f);
        else
            assert_int_equal(result, STORE_OK);
    }
    while ((result = stage_finish(body.stage, &f->waiting.waiter)) == STORE_WAIT)
        wait_woken(f);
    assert_int_equal(result, STORE_OK);
    body.pieces = stage_pieces(body.stage, &body.piece_count);
    return body;
}

static void commit(struct fixture *f, struct read_view *before, struct changes *changes)
{
    uint64_t sequence;

    assert_int_equal(store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    store_wait_durable(f->store, sequence, &f->waiting.waiter);
    wait_woken(f);
    read_view_close(before);
}

/* Put Blob of the first `length` bytes. */
static struct content put(struct fixture *f, size_t length)
{
    struct body body = stage(f, length);
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct content content = content_from_body(changes, clock_now(), &body);

    commit(f, before, changes);
    stage_close(body.stage);
    return content;
}

/* Put Range. */
static void write_range(struct fixture *f, struct content *content, uint64_t offset,
                        const struct body *body)
{
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);

    assert_int_equal(
        content_write(before, changes, f->arena, content, content->stamp + 1, offset, body),
        STORE_OK);
    commit(f, before, changes);
}

static struct content_reader *open_reader(struct fixture *f, const struct content *content,
                                          uint64_t offset, uint64_t length)
{
    return content_reader_open(f->store, read_view_open(f->store, f->partition, STORE_MAY_BLOCK),
                               f->arena, content, offset, length);
}

static enum store_result begin(struct fixture *f, struct content_reader *reader,
                               struct piece_file *file, bool *in_file)
{
    enum store_result result;

    while ((result = content_reader_begin(reader, &f->waiting.waiter, file, in_file)) == STORE_WAIT)
        wait_woken(f);
    return result;
}

/* What one upload staged lies together, so that ranges over its pieces are sent from the file. */
static void ranges_from_file(void **state)
{
    static const struct {
        size_t offset, length;
    } ranges[] = {
        { 0, 8 * MIB },           { 4 * MIB - 1, 2 },  { 4 * MIB, 8 * MIB },
        { 3 * MIB + 7, 5 * MIB }, { 12 * MIB - 1, 1 },
    };
    struct fixture *f = *state;
    struct content content = put(f, 12 * MIB);
    char *bytes = arena_bytes(f->arena, 8 * MIB);

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        size_t length = ranges[i].length;
        struct content_reader *reader = open_reader(f, &content, ranges[i].offset, length);
        struct piece_file file;
        bool in_file = false;

        assert_int_equal(begin(f, reader, &file, &in_file), STORE_OK);
        assert_true(in_file);
        assert_int_equal(pread(file.fd, bytes, length, (off_t)file.offset), length);
        assert_memory_equal(bytes, f->data + ranges[i].offset, length);
        content_reader_close(reader);
    }
}

/* A range too long to check first is read, with the same bytes. */
static void long_range_is_read(void **state)
{
    struct fixture *f = *state;
    struct content content = put(f, 12 * MIB);
    struct content_reader *reader = open_reader(f, &content, 1, 12 * MIB - 1);
    char *bytes = arena_bytes(f->arena, 12 * MIB);
    struct piece_file file;
    bool in_file = true;
    size_t got = 1;

    assert_int_equal(begin(f, reader, &file, &in_file), STORE_OK);
    assert_false(in_file);
    while (got < 12 * MIB) {
        size_t count = 0;
        enum store_result result =
            content_reader_read(reader, bytes + got, 200000, &f->waiting.waiter, &count);

        if (result == STORE_WAIT) {
            wait_woken(f);
            continue;
        }
        assert_int_equal(result, STORE_OK);
        got += count;
    }
    assert_memory_equal(bytes + 1, f->data + 1, 12 * MIB - 1);
    content_reader_close(reader);
}

/* Of a file that was written whole, in pieces as they come, too: no unit of 256 KiB ends a range. Where
 * a few bytes lie between them, in a hole of it and behind its end there is nothing to send it from.
 * sparse.h */
static void sparse_ranges_from_file(void **state)
{
    static const struct {
        size_t offset, length;
        bool in_file;
    } ranges[] = {
        { 0, 6 * MIB, true },        { 1, 6 * MIB - 1, true },     { MIB / 4 - 1, 2, true },
        { 6 * MIB - 7, 7, true },    { 6 * MIB - 1, 2, false },    { 6 * MIB, 1, false },
        { MIB, 6 * MIB, false },     { 7 * MIB - 1, 2, false },    { 7 * MIB, MIB, true },
        { 8 * MIB + 10, 20, false }, { 8 * MIB, 2 * MIB, false },  { 9 * MIB, MIB, true },
        { 8 * MIB, 10, true },       { 8 * MIB + 20, 1000, true },
    };
    struct fixture *f = *state;
    struct body first = stage(f, 6 * MIB), second = stage(f, MIB), third = stage(f, 2 * MIB);
    struct body inlined = { .length = 10, .inline_bytes = bytes_from_string("0123456789") };
    struct content content = content_sparse(clock_now(), 10 * MIB);
    char *expected = xcalloc(1, 10 * MIB), *bytes = xmalloc(10 * MIB);

    assert_true(first.piece_count > 1);
    write_range(f, &content, 0, &first);
    memcpy(expected, f->data, 6 * MIB);
    write_range(f, &content, 7 * MIB, &second);
    memcpy(expected + 7 * MIB, f->data, MIB);
    write_range(f, &content, 8 * MIB, &third);
    memcpy(expected + 8 * MIB, f->data, 2 * MIB);
    assert_true(content.without_pages);
    write_range(f, &content, 8 * MIB + 10, &inlined);
    memcpy(expected + 8 * MIB + 10, "0123456789", 10);
    assert_false(content.without_pages);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        size_t length = ranges[i].length, got = 0;
        struct content_reader *reader = open_reader(f, &content, ranges[i].offset, length);
        struct piece_file file;
        bool in_file = false;

        assert_int_equal(begin(f, reader, &file, &in_file), STORE_OK);
        assert_int_equal(in_file, ranges[i].in_file);
        if (in_file)
            assert_int_equal(pread(file.fd, bytes, length, (off_t)file.offset), length);
        while (!in_file && got < length) {
            size_t count = 0;

            assert_int_equal(content_reader_read(reader, bytes + got, length - got, NULL, &count),
                             STORE_OK);
            got += count;
        }
        assert_memory_equal(bytes, expected + ranges[i].offset, length);
        content_reader_close(reader);
    }
    stage_close(first.stage);
    stage_close(second.stage);
    stage_close(third.stage);
    free(expected);
    free(bytes);
}

/* Changes a byte in the file behind the content's first piece. */
static void damage(struct fixture *f, const struct content *content, size_t offset)
{
    struct content_reader *reader = open_reader(f, content, 0, 1);
    struct piece_file file;
    char path[64], changed = (char)(f->data[offset] ^ 1);
    bool in_file = false;
    int fd;

    assert_int_equal(begin(f, reader, &file, &in_file), STORE_OK);
    assert_true(in_file);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file.fd);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &changed, 1, (off_t)(file.offset + offset)), 1);
    close(fd);
    content_reader_close(reader);
}

/* A byte that changed on disk is damage, told before anything of the range is sent; what does not
 * touch its sector is served. */
static void damage_is_told(void **state)
{
    struct fixture *f = *state;
    struct content content = put(f, 8 * MIB);
    struct content_reader *reader;
    struct piece_file file;
    bool in_file = false;

    damage(f, &content, 5 * MIB + 1000);
    reader = open_reader(f, &content, 0, 8 * MIB);
    assert_int_equal(begin(f, reader, &file, &in_file), STORE_CORRUPT);
    content_reader_close(reader);
    reader = open_reader(f, &content, 5 * MIB, 1);
    assert_int_equal(begin(f, reader, &file, &in_file), STORE_CORRUPT);
    content_reader_close(reader);
    reader = open_reader(f, &content, 0, 5 * MIB);
    assert_int_equal(begin(f, reader, &file, &in_file), STORE_OK);
    content_reader_close(reader);
}

/* ---- a map that is not in memory ---- */

#define COLD_PARTS 400u
#define COLD_BYTES (16u << 10)

static void append_parts(struct fixture *f, struct content *content)
{
    for (unsigned i = 0; i < COLD_PARTS; i++) {
        struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
        struct changes *changes = changes_new(f->arena);
        struct body body = { .length = COLD_BYTES,
                             .inline_bytes = { f->data + i * COLD_BYTES, COLD_BYTES } };
        uint64_t sequence;

        content_append(changes, clock_now(), content, &body);
        assert_int_equal(store_commit(f->store, &(struct commit_part){ before, changes }, 1,
                                      clock_now(), STORE_MAY_BLOCK, &sequence),
                         STORE_OK);
        read_view_close(before);
    }
}

/* Who sends a large content whose map is not in memory waits for the disk once for many parts of
 * the map, not once for each. content_reader_load() */
static void cold_map_is_waited_for_seldom(void **state)
{
    struct fixture *f = *state;
    struct store_options options = { .location = f->folder, .sync = true };
    struct content content = { .id = 0 };
    struct content_reader *reader;
    size_t got = 0, waits = 0;
    const char *problem;
    char *bytes = arena_bytes(f->arena, COLD_PARTS * COLD_BYTES);

    append_parts(f, &content);
    store_close(f->store);
    assert_int_equal(store_open_embedded(&options, &f->store, &problem), STORE_OK);
    page_cache_is_empty = true;
    reader = content_reader_open(f->store, read_view_open(f->store, f->partition, STORE_NO_WAIT),
                                 f->arena, &content, 0, content.length);
    while (got < content.length) {
        size_t count = 0;
        enum store_result result =
            content_reader_read(reader, bytes + got, COLD_BYTES, &f->waiting.waiter, &count);

        if (result == STORE_WAIT) {
            assert_true(content_reader_lacks_map(reader));
            assert_int_equal(content_reader_load(reader), STORE_OK);
            waits++;
            continue;
        }
        assert_int_equal(result, STORE_OK);
        got += count;
    }
    content_reader_close(reader);
    assert_memory_equal(bytes, f->data, content.length);
    print_message("%u parts, waited %zu times\n", COLD_PARTS, waits);
    assert_true(waits > 0 && waits <= COLD_PARTS / 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranges_from_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sparse_ranges_from_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_range_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cold_map_is_waited_for_seldom, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
