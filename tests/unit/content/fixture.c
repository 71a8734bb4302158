#include "fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

#define ARENA_MAX ((size_t)512 << 20)

static bool open_folder(struct fixture *f)
{
    struct store_options options = { .location = f->folder, .sync = false };
    const char *problem;

    return store_open_embedded(&options, &f->store, &problem) == STORE_OK;
}

static bool open_store(struct fixture *f)
{
    const char *wanted = getenv("LAGRA_CONTENT_STORE"), *parent = getenv("TMPDIR");

    if (!wanted) {
        f->store = store_open_memory();
        return true;
    }
    (void)snprintf(f->folder, sizeof f->folder, "%s/lagra-content-XXXXXX",
                   parent ? parent : "/tmp");
    return strcmp(wanted, "embedded") == 0 && mkdtemp(f->folder) && open_folder(f);
}

void fixture_reopen(struct fixture *f)
{
    if (!f->folder[0])
        return;
    store_close(f->store);
    assert_true(open_folder(f));
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static uint64_t disk_bytes; /* of the walk below */

static int add_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)path;
    (void)place;
    if (type == FTW_F)
        disk_bytes += (uint64_t)status->st_blocks * 512;
    return 0;
}

uint64_t fixture_disk_bytes(const struct fixture *f)
{
    disk_bytes = 0;
    nftw(f->folder, add_one, 16, FTW_PHYS);
    return disk_bytes;
}

int fixture_set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof *f);

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    sem_init(&f->woken, 0, 0);
    if (!open_store(f))
        return -1;
    f->arena = arena_new(ARENA_MAX);
    f->partition = (struct partition){ guid_new(), bytes_from_string("a blob") };
    f->random = 0x2545F4914F6CDD1D;
    *state = f;
    return 0;
}

static void close_stages(struct fixture *f)
{
    while (f->stage_count > 0)
        stage_close(f->stages[--f->stage_count]);
}

int fixture_tear_down(void **state)
{
    struct fixture *f = *state;

    if (f->before)
        read_view_close(f->before);
    close_stages(f);
    store_close(f->store);
    if (f->folder[0])
        nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    sem_destroy(&f->woken);
    arena_free(f->arena);
    free(f);
    return 0;
}

uint64_t fixture_random(struct fixture *f, uint64_t below)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random % below;
}

struct bytes fixture_random_bytes(struct fixture *f, size_t length)
{
    char *bytes = arena_bytes(f->arena, length);

    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)fixture_random(f, 256);
    return bytes_of(bytes, length);
}

void fixture_begin(struct fixture *f)
{
    assert_null(f->before);
    f->before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    f->changes = changes_new(f->arena);
}

void fixture_commit(struct fixture *f)
{
    uint64_t sequence;

    assert_int_equal(store_commit(f->store, &(struct commit_part){ f->before, f->changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(f->before);
    f->before = NULL;
    close_stages(f);
}

/* A waiter of the fixture's. */
struct blocking {
    struct waiter waiter; /* first */
    sem_t *woken;
};

static void wake(struct waiter *waiter)
{
    sem_post(((struct blocking *)(void *)waiter)->woken);
}

static void wait_woken(struct fixture *f)
{
    while (sem_wait(&f->woken))
        ;
}

static void write_all(struct fixture *f, struct stage *stage, struct bytes data)
{
    struct blocking blocking = { { .wake = wake }, &f->woken };
    enum store_result result;
    size_t done = 0;

    while (done < data.len) {
        size_t taken = 0;

        result = stage_write(stage, bytes_from(data, done), &blocking.waiter, &taken);
        done += taken;
        if (result == STORE_WAIT)
            wait_woken(f);
        else
            assert_int_equal(result, STORE_OK);
    }
    while ((result = stage_finish(stage, &blocking.waiter)) == STORE_WAIT)
        wait_woken(f);
    assert_int_equal(result, STORE_OK);
}

/* One piece. */
static struct piece stage_piece(struct fixture *f, struct bytes data)
{
    struct stage *stage = stage_open(f->store, data.len);
    const struct piece *pieces;
    size_t count;

    assert_true(f->stage_count < FIXTURE_STAGES_MAX);
    f->stages[f->stage_count++] = stage;
    write_all(f, stage, data);
    pieces = stage_pieces(stage, &count);
    assert_int_equal(count, 1);
    return pieces[0];
}

const struct piece *fixture_pieces(struct fixture *f, struct bytes data, uint32_t piece_length,
                                   size_t *ret_count)
{
    size_t count = (data.len + piece_length - 1) / piece_length;
    struct piece *pieces = arena_array(f->arena, count, sizeof pieces[0]);

    for (size_t i = 0; i < count; i++) {
        struct bytes rest = bytes_from(data, i * piece_length);

        if (rest.len > piece_length)
            rest.len = piece_length;
        pieces[i] = stage_piece(f, rest);
    }
    *ret_count = count;
    return pieces;
}

struct body fixture_body(struct fixture *f, struct bytes data, uint32_t piece_length)
{
    struct body body = { .length = data.len };

    if (piece_length == 0)
        body.inline_bytes = data;
    else
        body.pieces = fixture_pieces(f, data, piece_length, &body.piece_count);
    return body;
}

uint64_t fixture_piece_bytes(struct fixture *f)
{
    struct store_usage usage;

    store_collect_now(f->store, &usage);
    assert_int_equal(usage.pending_bytes, 0);
    return usage.piece_bytes;
}

size_t fixture_record_count(struct fixture *f)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct scan *scan = scan_open(snapshot, RECORD_INNER, bytes_of("", 0), bytes_of("", 0));
    struct record record;
    size_t count = 0;

    while (scan_next(scan, NULL, &record) == STORE_OK)
        count++;
    scan_close(scan);
    read_view_close(snapshot);
    return count;
}

enum store_result fixture_load(struct fixture *f, const struct content *content, uint64_t offset,
                               struct window *ret_window)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct map_reader reader;
    enum store_result result;

    map_reader_init(&reader, snapshot, f->arena, false, content);
    result = map_reader_load(&reader, offset, content->length, ret_window);
    read_view_close(snapshot);
    return result;
}

enum store_result fixture_read(struct fixture *f, const struct content *content, uint64_t offset,
                               uint64_t length, size_t max, struct bytes *ret_bytes)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct content_reader *reader =
        content_reader_open(f->store, snapshot, f->arena, content, offset, length);
    char *bytes = arena_bytes(f->arena, (size_t)length + 1);
    size_t got = 0;
    enum store_result result = STORE_OK;

    while (got < length) {
        size_t count = 0;

        result = content_reader_read(reader, bytes + got, max, NULL, &count);
        if (result)
            break;
        assert_true(count > 0 && count <= max && count <= length - got);
        got += count;
    }
    content_reader_close(reader);
    *ret_bytes = bytes_of(bytes, got);
    return result;
}

static void expect_range(struct fixture *f, const struct content *content, struct bytes expected,
                         size_t offset, size_t length, size_t max)
{
    struct bytes got;

    assert_int_equal(fixture_read(f, content, offset, length, max, &got), STORE_OK);
    assert_int_equal(got.len, length);
    assert_memory_equal(got.ptr, expected.ptr + offset, length);
}

void fixture_expect(struct fixture *f, const struct content *content, struct bytes expected)
{
    struct arena_mark mark = arena_mark(f->arena);

    assert_int_equal(content->length, expected.len);
    expect_range(f, content, expected, 0, expected.len, 64u << 10);
    for (int i = 0; i < 20 && expected.len > 0; i++) {
        size_t offset = fixture_random(f, expected.len);
        size_t length = 1 + fixture_random(f, expected.len - offset);
        size_t max = 1 + fixture_random(f, 2 * length);

        if (length / max > 1000)
            max = length / 1000;
        expect_range(f, content, expected, offset, length, max);
        arena_rewind(f->arena, mark);
    }
}

void fixture_collect_all(struct fixture *f)
{
    bool more = true;

    while (more) {
        struct arena *arena = arena_new(SIZE_MAX);
        struct changes *changes = changes_new(arena);
        struct commit_part part = { read_view_open(f->store, f->partition, STORE_MAY_BLOCK),
                                    changes };
        uint64_t sequence;

        assert_int_equal(content_collect(part.snapshot, changes, arena, 1000, &more), STORE_OK);
        if (!changes_empty(changes))
            assert_int_equal(
                store_commit(f->store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                STORE_OK);
        read_view_close(part.snapshot);
        arena_free(arena);
    }
}
