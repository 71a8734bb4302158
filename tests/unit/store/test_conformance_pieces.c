/* Pieces: read in any part, checked, shared by counting, kept for readers, and given back when
 * nothing refers to them. store invariants 4 and 5 */
#include "conformance.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

static const struct bytes nothing = { NULL, 0 };

#define KIB 1024u
#define MIB (1024u * KIB)

/* Rule: any range of a piece can be read, within a sector or over several. */
static void any_range_is_read(void **state)
{
    struct fixture *f = *state;
    struct random random = { 3 };
    char *buffer = xmalloc(PIECE_MAX_BYTES);
    struct read_view *snapshot;
    struct record record;

    put_stream(f->store, f->partition, "s", 3 * MIB + 77, 4);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    assert_int_equal(record.piece_count, 1);
    for (int i = 0; i < 300; i++) {
        uint32_t offset = (uint32_t)random_below(&random, record.pieces[0].length + 1);
        uint32_t rest = record.pieces[0].length - offset;
        uint32_t length = (uint32_t)random_below(&random, (i % 3 && rest > 3000 ? 3000 : rest) + 1);

        memset(buffer, 0xee, length + 1);
        assert_int_equal(piece_read(f->store, record.pieces, offset, length, buffer, NULL),
                         STORE_OK);
        assert_true(pattern_matches(buffer, length, 4, offset));
        assert_int_equal((unsigned char)buffer[length], 0xee);
    }
    read_view_close(snapshot);
    free(buffer);
}

/* Rule: a piece lives as long as one record refers to it. store.h, changes_put */
static void pieces_are_shared_by_counting(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot;
    struct record record;

    put_stream(f->store, f->partition, "one", 5 * MIB, 6);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("one"), f->arena, &record),
        STORE_OK);
    read_view_close(snapshot);
    changes_put(changes, RECORD_LISTED, bytes_from_string("two"), bytes_from_string("again"),
                record.pieces, record.piece_count);
    changes_put(changes, RECORD_INNER, bytes_from_string("three"), bytes_from_string("last only"),
                &record.pieces[record.piece_count - 1], 1);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    assert_int_equal(usage_now(f->store).piece_bytes, 5 * MIB); /* counted once */

    delete_stream(f->store, f->partition, "one");
    assert_int_equal(usage_now(f->store).piece_bytes, 5 * MIB);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "two", 5 * MIB, 6));
    read_view_close(snapshot);

    delete_stream(f->store, f->partition, "two");
    assert_int_equal(usage_now(f->store).piece_bytes, record.pieces[record.piece_count - 1].length);
    changes = changes_new(f->arena);
    changes_delete(changes, RECORD_INNER, bytes_from_string("three"));
    changes_release(changes, &record.pieces[record.piece_count - 1], 1);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    assert_all_given_back(f->store);
}

/* Rule: references given and taken in one list cancel out. store.h, changes_release */
static void moving_a_reference_keeps_the_piece(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot;
    struct record record;
    uint64_t sequence;

    put_stream(f->store, f->partition, "from", 100000, 8);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("from"), f->arena, &record),
        STORE_OK);
    changes_delete(changes, RECORD_LISTED, record.key);
    changes_release(changes, record.pieces, record.piece_count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("to"), nothing, record.pieces,
                record.piece_count);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);

    assert_int_equal(usage_now(f->store).piece_bytes, 100000);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "to", 100000, 8));
    read_view_close(snapshot);
    delete_stream(f->store, f->partition, "to");
    assert_all_given_back(f->store);
}

/* Rule: a piece seen by an open snapshot keeps its bytes until that closes. store invariant 4 */
static void readers_keep_pieces(void **state)
{
    struct fixture *f = *state;
    struct read_view *reader, *later;
    struct record record;

    put_stream(f->store, f->partition, "s", 6 * MIB, 2);
    reader = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(reader, RECORD_LISTED, bytes_from_string("s"), f->arena, &record), STORE_OK);
    later = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    delete_stream(f->store, f->partition, "s");
    read_view_close(later);
    assert_int_equal(usage_now(f->store).piece_bytes, 0);
    /* Writes that would take the place of the piece, if it were free. */
    put_stream(f->store, f->partition, "new", 12 * MIB, 4);
    assert_true(stream_matches(f->store, reader, "s", 6 * MIB, 2));
    assert_true(usage_now(f->store).allocated_bytes >= 18 * MIB);

    read_view_close(reader);
    assert_int_equal(usage_now(f->store).piece_bytes, 12 * MIB);
    assert_true(usage_now(f->store).allocated_bytes <= 12 * MIB + EMPTY_ALLOCATED_MAX);
    delete_stream(f->store, f->partition, "new");
    assert_all_given_back(f->store);
}

/* Rule: bytes that do not match their CRC are never returned, others are. store invariant 5 */
static void wrong_crc_is_found(void **state)
{
    struct fixture *f = *state;
    char *buffer = xcalloc(1, PIECE_MAX_BYTES);
    uint32_t crcs[PIECE_SECTORS_MAX];
    struct read_view *snapshot;
    struct record record;
    struct piece altered;

    put_stream(f->store, f->partition, "s", 4 * PIECE_SECTOR_BYTES + 10, 2);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    altered = record.pieces[0];
    memcpy(crcs, altered.sector_crc, piece_sectors(&altered) * sizeof crcs[0]);
    crcs[2] ^= 1;
    altered.sector_crc = crcs;

    assert_int_equal(piece_read(f->store, &altered, 2 * PIECE_SECTOR_BYTES + 5, 1, buffer, NULL),
                     STORE_CORRUPT);
    assert_int_equal(piece_read(f->store, &altered, 0, altered.length, buffer, NULL),
                     STORE_CORRUPT);
    for (size_t i = 0; i < PIECE_SECTOR_BYTES; i++) /* not even in the reader's buffer */
        assert_int_equal(buffer[2 * PIECE_SECTOR_BYTES + i], 0);
    assert_int_equal(piece_read(f->store, &altered, 0, 2 * PIECE_SECTOR_BYTES, buffer, NULL),
                     STORE_OK);
    assert_int_equal(piece_read(f->store, &altered, 3 * PIECE_SECTOR_BYTES, PIECE_SECTOR_BYTES + 10,
                                buffer, NULL),
                     STORE_OK);
    assert_true(
        pattern_matches(buffer, PIECE_SECTOR_BYTES + 10, 2, 3 * (uint64_t)PIECE_SECTOR_BYTES));
    read_view_close(snapshot);
    free(buffer);
}

/* Rule: a store with files tells where checked bytes lie; one without says so. store.h,
 * piece_check */
static void checked_bytes_are_in_the_file(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;
    enum store_result result;
    struct piece_file file;
    char bytes[5000];

    put_stream(f->store, f->partition, "s", 2 * MIB, 2);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    result = piece_check(f->store, record.pieces, 123456, sizeof bytes, &file, NULL);
    if (f->engine->on_disk) {
        assert_int_equal(result, STORE_OK);
        assert_int_equal(pread(file.fd, bytes, sizeof bytes, (off_t)file.offset), sizeof bytes);
        assert_true(pattern_matches(bytes, sizeof bytes, 2, 123456));
    } else {
        assert_int_equal(result, STORE_NOT_FOUND);
    }
    read_view_close(snapshot);
}

/* Throws a file out of the page cache, so that reading it takes the disk. */
static void evict(struct fixture *f, const struct piece *piece)
{
    struct piece_file file;

    if (!f->engine->on_disk)
        return;
    assert_int_equal(piece_check(f->store, piece, 0, 1, &file, NULL), STORE_OK);
    assert_int_equal(posix_fadvise(file.fd, 0, 0, POSIX_FADV_DONTNEED), 0);
}

/* Rule: a reader who gives a waiter never waits in the call: STORE_WAIT, then woken, then it reads;
 * with or without the bytes in memory. store.h, piece_read */
static void readers_may_be_woken(void **state)
{
    struct fixture *f = *state;
    char *buffer = xmalloc(PIECE_MAX_BYTES);
    struct blocking_waiter blocking;
    struct read_view *snapshot;
    struct record record;
    struct piece_file file;
    enum store_result result;

    blocking_init(&blocking);
    put_stream(f->store, f->partition, "s", 4 * MIB, 2);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    for (uint32_t at = 0; at < 4 * MIB; at += MIB) {
        evict(f, record.pieces);
        while ((result = piece_read(f->store, record.pieces, at + 5, MIB - 5, buffer,
                                    &blocking.waiter)) == STORE_WAIT)
            blocking_wait(&blocking);
        assert_int_equal(result, STORE_OK);
        assert_true(pattern_matches(buffer, MIB - 5, 2, at + 5));
        evict(f, record.pieces);
        while ((result = piece_check(f->store, record.pieces, at, MIB, &file, &blocking.waiter)) ==
               STORE_WAIT)
            blocking_wait(&blocking);
        assert_int_equal(result, f->engine->on_disk ? STORE_OK : STORE_NOT_FOUND);
    }
    assert_int_equal(blocking_woken(&blocking), 0); /* nobody is woken who did not wait */
    read_view_close(snapshot);
    blocking_release(&blocking);
    free(buffer);
}

/* Rule: bytes that were checked are checked again when they have left memory, since the disk may have
 * others by now. Some of a piece's pages may stay, and the kernel may have read the others ahead before
 * they are asked for, so nothing is said of how often a reader waits. store/embedded/verified.h */
static void what_left_memory_is_checked_again(void **state)
{
    struct fixture *f = *state;
    struct blocking_waiter blocking;
    struct read_view *snapshot;
    struct record record;
    struct piece_file file;
    enum store_result result;

    if (!f->engine->on_disk)
        skip();
    blocking_init(&blocking);
    put_stream(f->store, f->partition, "s", MIB, 2);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    assert_int_equal(piece_check(f->store, record.pieces, 0, MIB, &file, NULL), STORE_OK);
    assert_int_equal(pwrite(file.fd, "damage", 6, (off_t)file.offset + 500000), 6);
    assert_int_equal(fdatasync(file.fd), 0);
    assert_int_equal(posix_fadvise(file.fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    if (file_is_cached(file.fd, file.offset, MIB))
        skip(); /* all of it stayed: a file system that is memory */
    piece_give(f->store, &file);
    while ((result = piece_check(f->store, record.pieces, 0, MIB, &file, &blocking.waiter)) ==
           STORE_WAIT)
        blocking_wait(&blocking);
    assert_int_equal(result, STORE_CORRUPT);
    read_view_close(snapshot);
    blocking_release(&blocking);
}

/* Rule: what is freed waits for those readers only that can see it: a reader that stands still
 * keeps nothing that was written after it was opened. store invariant 4 */
static void readers_keep_only_what_they_see(void **state)
{
    struct fixture *f = *state;
    struct read_view *readers[3];
    unsigned seeds[3];

    for (unsigned seed = 1; seed <= 20; seed++) {
        put_stream(f->store, f->partition, "s", MIB, seed);
        if (seed % 7 == 1) {
            readers[seed / 7] = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
            seeds[seed / 7] = seed;
        }
        delete_stream(f->store, f->partition, "s");
    }
    for (unsigned left = 3; left > 0; left--) {
        unsigned closed = left % 3; /* the oldest, then the newest, then the one between */

        assert_int_equal(usage_now(f->store).pending_bytes, left * MIB);
        for (unsigned i = 0; i < 3; i++)
            assert_true(!readers[i] || stream_matches(f->store, readers[i], "s", MIB, seeds[i]));
        read_view_close(readers[closed]);
        readers[closed] = NULL;
    }
    assert_all_given_back(f->store);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(any_range_is_read, EVERY_STORE),
        TEST(pieces_are_shared_by_counting, EVERY_STORE),
        TEST(moving_a_reference_keeps_the_piece, EVERY_STORE),
        TEST(readers_keep_pieces, EVERY_STORE),
        TEST(readers_keep_only_what_they_see, STORES_ON_DISK),
        TEST(wrong_crc_is_found, EVERY_STORE),
        TEST(checked_bytes_are_in_the_file, EVERY_STORE),
        TEST(readers_may_be_woken, EVERY_STORE),
        TEST(what_left_memory_is_checked_again, STORES_ON_DISK),
    };

    return conformance_run("pieces", tests, sizeof tests / sizeof tests[0]);
}
