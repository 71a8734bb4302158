/* Reading while sending, over a store whose files, waits and damage the test makes up. content.h
 *
 * piece_check(), piece_read(), read_view_get() and scan_open() of the store are wrapped by the
 * linker. With `has_files`, pieces that come out of a record seem to lie in a file, one after the
 * other but for a gap before every `gap_every`th. */
#include "fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "content/sparse.h"

#define FILE_FD    77
#define FILE_START 4096
#define PLACES_MAX 4096

static struct {
    bool has_files;
    size_t gap_every;
    bool fd_differs;        /* of each file range */
    int waits;              /* calls that give STORE_WAIT before one succeeds */
    bool alternates;        /* every other call gives STORE_WAIT */
    size_t damaged;         /* index of the piece that is damaged */
    uint64_t checked_bytes; /* by piece_check */
    int gets, scans;
    struct {
        struct piece real;
        uint64_t offset; /* in the file */
    } places[PLACES_MAX];
    size_t place_count;
    unsigned held; /* files */
} world;

enum store_result __real_piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                                    uint32_t length, void *to, struct waiter *waiter);
enum store_result __wrap_piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                                    uint32_t length, void *to, struct waiter *waiter);
enum store_result __wrap_piece_check(struct store *store, const struct piece *piece,
                                     uint32_t offset, uint32_t length, struct piece_file *ret_file,
                                     struct waiter *waiter);
void __wrap_piece_give(struct store *store, const struct piece_file *file);
enum store_result __real_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record);
enum store_result __wrap_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record);
struct scan *__real_scan_open(struct read_view *snapshot, enum record_family family,
                              struct bytes prefix, struct bytes from);
struct scan *__wrap_scan_open(struct read_view *snapshot, enum record_family family,
                              struct bytes prefix, struct bytes from);

static bool must_wait(struct waiter *waiter)
{
    if (!waiter)
        return false;
    if (world.alternates) {
        world.waits = 1 - world.waits;
        return world.waits == 1;
    }
    if (world.waits == 0)
        return false;
    world.waits--;
    return true;
}

/* Index of the piece that seems to lie there. */
static size_t place_of(const struct piece *piece)
{
    size_t i = 0;

    while (i < world.place_count && world.places[i].offset != piece->offset)
        i++;
    assert_true(i < world.place_count);
    return i;
}

enum store_result __wrap_piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                                    uint32_t length, void *to, struct waiter *waiter)
{
    size_t place;

    if (must_wait(waiter))
        return STORE_WAIT;
    if (!world.has_files)
        return __real_piece_read(store, piece, offset, length, to, waiter);
    place = place_of(piece);
    if (place == world.damaged)
        return STORE_CORRUPT;
    return __real_piece_read(store, &world.places[place].real, offset, length, to, waiter);
}

/* A descriptor of that number, of whatever file. */
static int some_file(int fd)
{
    if (fcntl(fd, F_GETFD) < 0) {
        int null = open("/dev/null", O_RDONLY);

        assert_int_equal(dup2(null, fd), fd);
        close(null);
    }
    return fd;
}

enum store_result __wrap_piece_check(struct store *store, const struct piece *piece,
                                     uint32_t offset, uint32_t length, struct piece_file *ret_file,
                                     struct waiter *waiter)
{
    (void)store;
    if (!world.has_files)
        return STORE_NOT_FOUND;
    if (must_wait(waiter))
        return STORE_WAIT;
    if (place_of(piece) == world.damaged)
        return STORE_CORRUPT;
    world.checked_bytes += length;
    world.held++;
    *ret_file = (struct piece_file){
        .fd = some_file(FILE_FD + (world.fd_differs ? (int)place_of(piece) : 0)),
        .offset = piece->offset + offset,
    };
    return STORE_OK;
}

void __wrap_piece_give(struct store *store, const struct piece_file *file)
{
    (void)store;
    (void)file;
    assert_true(world.held > 0);
    world.held--;
}

/* Lays the record's pieces out in the file. */
static void lay_out(struct fixture *f, struct record *record)
{
    struct piece *pieces = arena_array(f->arena, record->piece_count, sizeof pieces[0]);
    uint64_t at = FILE_START;

    world.place_count = record->piece_count;
    for (size_t i = 0; i < record->piece_count; i++) {
        if (world.gap_every > 0 && i > 0 && i % world.gap_every == 0)
            at += 4096;
        world.places[i].real = record->pieces[i];
        world.places[i].offset = at;
        pieces[i] = record->pieces[i];
        pieces[i].offset = at;
        at += pieces[i].length;
    }
    record->pieces = pieces;
}

static struct fixture *fixture;

enum store_result __wrap_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record)
{
    enum store_result result = __real_read_view_get(snapshot, family, key, arena, ret_record);

    world.gets++;
    if (!result && world.has_files)
        lay_out(fixture, ret_record);
    return result;
}

struct scan *__wrap_scan_open(struct read_view *snapshot, enum record_family family,
                              struct bytes prefix, struct bytes from)
{
    world.scans++;
    return __real_scan_open(snapshot, family, prefix, from);
}

static int set_up(void **state)
{
    memset(&world, 0, sizeof world);
    world.damaged = SIZE_MAX;
    if (fixture_set_up(state))
        return -1;
    fixture = *state;
    return 0;
}

/* Whatever a test read, no file is held any more. */
static int tear_down(void **state)
{
    return fixture_tear_down(state) || world.held > 0 ? -1 : 0;
}

static struct content commit_body(struct fixture *f, struct bytes data, uint32_t piece_length)
{
    struct content content;
    struct body body;

    fixture_begin(f);
    body = fixture_body(f, data, piece_length);
    content = content_from_body(f->changes, clock_now(), &body);
    fixture_commit(f);
    return content;
}

static struct content_reader *open_reader(struct fixture *f, const struct content *content,
                                          uint64_t offset, uint64_t length)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);

    world.gets = 0;
    world.scans = 0;
    return content_reader_open(f->store, snapshot, f->arena, content, offset, length);
}

/* A small blob costs one record, got by its key. */
static void one_record_for_inline(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 1024);
    struct content content = commit_body(f, data, 0);
    struct content_reader *reader = open_reader(f, &content, 0, 1024);
    char bytes[1024];
    size_t count;

    assert_int_equal(content_reader_read(reader, bytes, sizeof bytes, NULL, &count), STORE_OK);
    assert_int_equal(count, 1024);
    assert_memory_equal(bytes, data.ptr, 1024);
    assert_int_equal(world.gets, 1);
    assert_int_equal(world.scans, 0);
    content_reader_close(reader);
}

/* Of a unit in many pages those of the range are read, however many others there are. */
static void pages_of_the_range(void **state)
{
    static const size_t lengths[] = { 4096, 4097, 8192, UNIT_BYTES };
    static const int gets[] = { 1, 2, 2, 0 };
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, UNIT_BYTES);
    struct content content = content_sparse(1, UNIT_BYTES);
    char *bytes = arena_bytes(f->arena, data.len);

    for (uint64_t at = 0; at < data.len; at += PAGE_BYTES) {
        struct body body;

        fixture_begin(f);
        body = fixture_body(f, bytes_of(data.ptr + at, PAGE_BYTES), 0);
        assert_int_equal(
            content_write(f->before, f->changes, f->arena, &content, at + 2, at, &body), STORE_OK);
        fixture_commit(f);
    }
    for (size_t i = 0; i < 4; i++) {
        uint64_t offset = i < 3 ? 40960 : 0;
        struct content_reader *reader = open_reader(f, &content, offset, lengths[i]);
        size_t count;

        assert_int_equal(content_reader_read(reader, bytes, lengths[i], NULL, &count), STORE_OK);
        assert_int_equal(count, lengths[i]);
        assert_memory_equal(bytes, data.ptr + offset, count);
        assert_int_equal(world.gets, gets[i]);
        assert_int_equal(world.scans, gets[i] == 0);
        content_reader_close(reader);
    }
}

/* Small blocks that lie inline are read together, over segments too. */
static void inline_blocks_together(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 60000);
    struct content_block blocks[600];
    struct content_reader *reader;
    struct content content;
    char *bytes = arena_bytes(f->arena, data.len);
    size_t count;

    for (size_t i = 0; i < 600; i++)
        blocks[i] = (struct content_block){
            .block_id = arena_printf(f->arena, "%08zu", i),
            .length = 100,
            .inline_bytes = bytes_of(data.ptr + 100 * i, 100),
        };
    fixture_begin(f);
    content = content_from_blocks(f->changes, 1, blocks, 600);
    fixture_commit(f);
    reader = open_reader(f, &content, 0, data.len);
    assert_int_equal(content_reader_read(reader, bytes, data.len, NULL, &count), STORE_OK);
    assert_int_equal(count, data.len);
    assert_memory_equal(bytes, data.ptr, data.len);
    content_reader_close(reader);
}

static enum store_result begin(struct content_reader *reader, struct piece_file *file,
                               bool *in_file)
{
    struct waiter waiter = { 0 };

    return content_reader_begin(reader, &waiter, file, in_file);
}

/* While it is sent, any part of the range is checked again, and no more. No file is held for that. */
static void check_later(struct content_reader *reader, uint64_t length)
{
    const uint64_t parts[][2] = { { 0, length },
                                  { length - 1, 1 },
                                  { length / 3, length / 2 + 1 } };

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint64_t count = parts[i][1] < length - parts[i][0] ? parts[i][1] : length - parts[i][0];
        struct waiter waiter = { 0 };

        world.checked_bytes = 0;
        assert_int_equal(content_reader_check(reader, parts[i][0], count, &waiter), STORE_OK);
        assert_int_equal(world.checked_bytes, count);
        assert_int_equal(world.held, 0);
        world.waits = 1;
        assert_int_equal(content_reader_check(reader, parts[i][0], count, &waiter), STORE_WAIT);
        assert_int_equal(world.held, 0);
    }
}

/* A range in pieces that lie one after the other in a file is checked, all of it and no more, and
 * told where it lies. */
static void range_in_file(void **state)
{
    static const struct {
        uint64_t offset, length;
    } ranges[] = { { 0, 300000 },     { 0, 1 },           { 299999, 1 },
                   { 50000, 100000 }, { 100000, 100000 }, { 99999, 2 } };
    static const uint32_t piece_lengths[] = { 300000, 100000, 70000 };
    struct fixture *f = *state;

    world.has_files = true;
    for (size_t p = 0; p < sizeof piece_lengths / sizeof piece_lengths[0]; p++) {
        struct content content = commit_body(f, fixture_random_bytes(f, 300000), piece_lengths[p]);

        for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
            struct content_reader *reader =
                open_reader(f, &content, ranges[i].offset, ranges[i].length);
            struct piece_file file;
            bool in_file = false;

            world.checked_bytes = 0;
            assert_int_equal(begin(reader, &file, &in_file), STORE_OK);
            assert_true(in_file);
            assert_true(file.fd >= 0 && file.fd != FILE_FD); /* the reader's own */
            assert_int_equal(file.offset, FILE_START + ranges[i].offset);
            assert_int_equal(world.checked_bytes, ranges[i].length);
            check_later(reader, ranges[i].length);
            content_reader_close(reader);
        }
    }
}

static void expect_begin(struct fixture *f, const struct content *content, uint64_t offset,
                         uint64_t length, bool expected)
{
    struct content_reader *reader = open_reader(f, content, offset, length);
    struct piece_file file;
    bool in_file = !expected;

    assert_int_equal(begin(reader, &file, &in_file), STORE_OK);
    assert_int_equal(in_file, expected);
    content_reader_close(reader);
}

/* A range that does not lie together is not sent from a file: neither one with a gap, nor one in
 * two files, nor one that is long, since all of it would have to be checked first. */
static void range_not_in_file(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_body(f, fixture_random_bytes(f, 300000), 100000);
    struct content small = commit_body(f, fixture_random_bytes(f, 1000), 0);
    struct content large = commit_body(f, fixture_random_bytes(f, 12u << 20), 4u << 20);

    expect_begin(f, &content, 0, 300000, false); /* the store has no files */
    world.has_files = true;
    expect_begin(f, &content, 0, 300000, true);
    expect_begin(f, &small, 0, 1000, false);
    expect_begin(f, &large, 0, 4u << 20, true);
    expect_begin(f, &large, 0, 12u << 20, false);
    world.gap_every = 2;
    expect_begin(f, &content, 0, 300000, false);
    expect_begin(f, &content, 0, 200000, true);
    world.gap_every = 0;
    world.fd_differs = true;
    expect_begin(f, &content, 0, 300000, false);
    expect_begin(f, &content, 100000, 100000, true);
}

/* Where the bytes have to be fetched, the caller waits and asks again; nothing is checked twice. */
static void waiting(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 300000);
    struct content content = commit_body(f, data, 100000);
    struct content_reader *reader = open_reader(f, &content, 0, 300000);
    struct waiter waiter = { 0 };
    struct piece_file file;
    bool in_file = false;
    char *bytes = arena_bytes(f->arena, data.len);
    size_t got = 0, waits = 0;

    world.has_files = true;
    world.alternates = true;
    while (begin(reader, &file, &in_file) == STORE_WAIT)
        waits++;
    assert_int_equal(waits, 3);
    assert_true(in_file);
    assert_int_equal(world.checked_bytes, 300000);

    for (size_t reads = 0; got < data.len; reads++) {
        enum store_result result;
        size_t count = 0;

        result = content_reader_read(reader, bytes + got, 40000, &waiter, &count);
        assert_int_equal(result, reads % 2 == 0 ? STORE_WAIT : STORE_OK);
        assert_int_equal(count > 0, reads % 2 == 1);
        got += count;
    }
    assert_memory_equal(bytes, data.ptr, data.len);
    content_reader_close(reader);
}

/* A waiter is armed only when nothing was read: bytes that lie inline before a piece are given
 * alone. */
static void no_wait_after_bytes(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 1000);
    struct content_block blocks[2] = {
        { .block_id = bytes_from_string("AAAA"), .length = 100, .inline_bytes = { data.ptr, 100 } },
        { .block_id = bytes_from_string("BBBB"), .length = 900 },
    };
    struct waiter waiter = { 0 };
    struct content_reader *reader;
    struct content content;
    char bytes[1000];
    size_t count = 0;

    fixture_begin(f);
    blocks[1].pieces = fixture_pieces(f, bytes_from(data, 100), 900, &blocks[1].piece_count);
    content = content_from_blocks(f->changes, 1, blocks, 2);
    fixture_commit(f);
    reader = open_reader(f, &content, 0, 1000);
    world.waits = 1;
    assert_int_equal(content_reader_read(reader, bytes, 1000, &waiter, &count), STORE_OK);
    assert_int_equal(count, 100);
    assert_int_equal(world.waits, 1);
    assert_int_equal(content_reader_read(reader, bytes + 100, 900, &waiter, &count), STORE_WAIT);
    assert_int_equal(content_reader_read(reader, bytes + 100, 900, &waiter, &count), STORE_OK);
    assert_int_equal(count, 900);
    assert_memory_equal(bytes, data.ptr, 1000);
    content_reader_close(reader);
}

/* Damage at the beginning is told before a head is sent; in a range from a file, all of it is.
 * store invariant 5 */
static void damage_is_told(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_body(f, fixture_random_bytes(f, 300000), 100000);
    bool in_file;

    world.has_files = true;
    for (size_t damaged = 0; damaged < 3; damaged++) {
        struct content_reader *reader = open_reader(f, &content, 0, 300000);
        struct piece_file file;

        world.damaged = damaged;
        assert_int_equal(begin(reader, &file, &in_file), STORE_CORRUPT);
        content_reader_close(reader);
        expect_begin(f, &content, damaged == 0 ? 100000 : 0, 100000, true);

        world.gap_every = 1;
        reader = open_reader(f, &content, 0, 300000);
        assert_int_equal(begin(reader, &file, &in_file), damaged == 0 ? STORE_CORRUPT : STORE_OK);
        content_reader_close(reader);
        world.gap_every = 0;
    }
}

/* When the caller's room ends inside a sector, that sector is left for the next read: each sector
 * of a piece is read once. */
static void whole_sectors(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_body(f, fixture_random_bytes(f, 300000), 300000);
    static const size_t expected[] = { 65436, 65536, 65536, 65536, 37856 };
    struct content_reader *reader = open_reader(f, &content, 100, 299900);
    char *bytes = arena_bytes(f->arena, 300000);

    for (size_t i = 0; i < 5; i++) {
        size_t count = 0;

        assert_int_equal(content_reader_read(reader, bytes, 100000, NULL, &count), STORE_OK);
        assert_int_equal(count, expected[i]);
    }
    content_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_record_for_inline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_of_the_range, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inline_blocks_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(range_in_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(range_not_in_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waiting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_wait_after_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whole_sectors, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
