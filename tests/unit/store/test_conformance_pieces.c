/* Pieces: what is staged is read back, checked, shared by counting, kept for readers, and given
 * back when nothing needs it. store invariants 2, 4 and 5 */
#include "conformance.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"

static const struct bytes nothing = { NULL, 0 };

#define KIB                 1024u
#define MIB                 (1024u * KIB)

/* What may be left of file space when no piece is left: a begun extent, its header. */
#define EMPTY_ALLOCATED_MAX (256u * KIB)

static void assert_all_given_back(struct store *store)
{
    struct store_usage usage = usage_now(store);

    assert_int_equal(usage.piece_bytes, 0);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(usage.allocated_bytes <= EMPTY_ALLOCATED_MAX);
}

/* The pieces of a finished stage are those of the stream, with the CRCs of its sectors. */
static void check_pieces(const struct piece *pieces, size_t count, uint64_t length, uint64_t seed)
{
    char *sector = xmalloc(PIECE_SECTOR_BYTES);
    uint64_t at = 0;

    for (size_t i = 0; i < count; i++) {
        assert_true(pieces[i].length >= 1 && pieces[i].length <= PIECE_MAX_BYTES);
        for (uint32_t s = 0; s < piece_sectors(&pieces[i]); s++) {
            uint32_t rest = pieces[i].length - s * PIECE_SECTOR_BYTES;
            uint32_t size = rest < PIECE_SECTOR_BYTES ? rest : PIECE_SECTOR_BYTES;

            pattern_fill(sector, size, seed, at);
            assert_int_equal(pieces[i].sector_crc[s], crc32c(0, sector, size));
            at += size;
        }
    }
    assert_int_equal(at, length);
    free(sector);
}

/* Rule: a stream of any length is staged whole and read back, whether its length was told before or
 * not; pieces are at most PIECE_MAX_BYTES. store.h */
static void streams_of_any_length(void **state)
{
    static const uint64_t lengths[] = {
        0,         1,           4095,    64 * KIB - 1, 64 * KIB, 64 * KIB + 1,
        130 * KIB, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1,  8 * MIB,  9 * MIB + 12345
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
        uint64_t length = lengths[i / 2]; /* even seeds tell the length, odd ones do not */
        const struct piece *pieces;
        struct stage *stage;
        struct snapshot *snapshot;
        size_t count;

        assert_int_equal(stage_pattern(f->store, length, i, 200000, &stage), STORE_OK);
        pieces = stage_pieces(stage, &count);
        check_pieces(pieces, count, length, i);
        stage_close(stage);

        put_stream(f->store, f->partition, "stream", length, i);
        snapshot = snapshot_open(f->store, f->partition);
        assert_true(stream_matches(f->store, snapshot, "stream", length, i));
        snapshot_close(snapshot);
        delete_stream(f->store, f->partition, "stream");
    }
    assert_all_given_back(f->store);
}

/* Rule: a long stream comes in chunks of any size. */
static void long_stream_in_odd_chunks(void **state)
{
    struct fixture *f = *state;
    const uint64_t length = 64 * (uint64_t)MIB + 321;
    struct snapshot *snapshot;

    put_stream(f->store, f->partition, "long", length, 1);
    snapshot = snapshot_open(f->store, f->partition);
    assert_true(stream_matches(f->store, snapshot, "long", length, 1));
    assert_false(stream_matches(f->store, snapshot, "long", length, 2)); /* the test can fail */
    snapshot_close(snapshot);
    assert_int_equal(usage_now(f->store).piece_bytes, length);
    delete_stream(f->store, f->partition, "long");
    assert_all_given_back(f->store);
}

/* Rule: any range of a piece can be read, within a sector or over several. */
static void any_range_is_read(void **state)
{
    struct fixture *f = *state;
    struct random random = { 3 };
    char *buffer = xmalloc(PIECE_MAX_BYTES);
    struct snapshot *snapshot;
    struct record record;

    put_stream(f->store, f->partition, "s", 3 * MIB + 77, 4);
    snapshot = snapshot_open(f->store, f->partition);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record), STORE_OK);
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
    snapshot_close(snapshot);
    free(buffer);
}

/* Rule: a piece lives as long as one record refers to it. store.h, changes_put */
static void pieces_are_shared_by_counting(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct snapshot *snapshot;
    struct record record;

    put_stream(f->store, f->partition, "one", 5 * MIB, 6);
    snapshot = snapshot_open(f->store, f->partition);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("one"), f->arena, &record),
        STORE_OK);
    snapshot_close(snapshot);
    changes_put(changes, RECORD_LISTED, bytes_from_string("two"), bytes_from_string("again"),
                record.pieces, record.piece_count);
    changes_put(changes, RECORD_INNER, bytes_from_string("three"), bytes_from_string("last only"),
                &record.pieces[record.piece_count - 1], 1);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    assert_int_equal(usage_now(f->store).piece_bytes, 5 * MIB); /* counted once */

    delete_stream(f->store, f->partition, "one");
    assert_int_equal(usage_now(f->store).piece_bytes, 5 * MIB);
    snapshot = snapshot_open(f->store, f->partition);
    assert_true(stream_matches(f->store, snapshot, "two", 5 * MIB, 6));
    snapshot_close(snapshot);

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
    struct snapshot *snapshot;
    struct record record;
    uint64_t sequence;

    put_stream(f->store, f->partition, "from", 100000, 8);
    snapshot = snapshot_open(f->store, f->partition);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("from"), f->arena, &record),
        STORE_OK);
    changes_delete(changes, RECORD_LISTED, record.key);
    changes_release(changes, record.pieces, record.piece_count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("to"), nothing, record.pieces,
                record.piece_count);
    assert_int_equal(store_commit(f->store, snapshot, changes, clock_now(), &sequence), STORE_OK);
    snapshot_close(snapshot);

    assert_int_equal(usage_now(f->store).piece_bytes, 100000);
    snapshot = snapshot_open(f->store, f->partition);
    assert_true(stream_matches(f->store, snapshot, "to", 100000, 8));
    snapshot_close(snapshot);
    delete_stream(f->store, f->partition, "to");
    assert_all_given_back(f->store);
}

/* Rule: what is staged and not committed is freed when the stage closes, finished or not; also
 * after a commit that was refused. store.h, stage_close */
static void abandoned_stages_are_freed(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct snapshot *stale = snapshot_open(f->store, f->partition);
    struct stage *finished, *unfinished, *unused;
    struct blocking_waiter blocking;
    const struct piece *pieces;
    char *chunk = xcalloc(1, 100000);
    uint64_t sequence;
    size_t count, taken;

    assert_int_equal(stage_pattern(f->store, 9 * MIB, 1, 100000, &finished), STORE_OK);
    put_text(f->store, f->partition, "k", "changed since");
    pieces = stage_pieces(finished, &count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("s"), nothing, pieces, count);
    assert_int_equal(store_commit(f->store, stale, changes, clock_now(), &sequence),
                     STORE_CONFLICT);
    assert_int_equal(usage_now(f->store).piece_bytes, 0);
    snapshot_close(stale);
    stage_close(finished);

    blocking_init(&blocking);
    unfinished = stage_open(f->store, UINT64_MAX);
    for (int i = 0; i < 50; i++)
        if (stage_write(unfinished, bytes_of(chunk, 100000), &blocking.waiter, &taken) ==
            STORE_WAIT)
            blocking_wait(&blocking);
    stage_close(unfinished);
    unused = stage_open(f->store, 10 * MIB);
    stage_close(unused);
    assert_all_given_back(f->store);
    blocking_release(&blocking);
    free(chunk);
}

/* Rule: a piece seen by an open snapshot keeps its bytes until that closes. store invariant 4 */
static void readers_keep_pieces(void **state)
{
    struct fixture *f = *state;
    struct snapshot *reader, *later;
    struct record record;

    put_stream(f->store, f->partition, "s", 6 * MIB, 2);
    reader = snapshot_open(f->store, f->partition);
    assert_int_equal(snapshot_get(reader, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
                     STORE_OK);
    later = snapshot_open(f->store, f->partition);
    delete_stream(f->store, f->partition, "s");
    snapshot_close(later);
    assert_int_equal(usage_now(f->store).piece_bytes, 0);
    /* Writes that would take the place of the piece, if it were free. */
    put_stream(f->store, f->partition, "new", 12 * MIB, 4);
    assert_true(stream_matches(f->store, reader, "s", 6 * MIB, 2));
    assert_true(usage_now(f->store).allocated_bytes >= 18 * MIB);

    snapshot_close(reader);
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
    struct snapshot *snapshot;
    struct record record;
    struct piece altered;

    put_stream(f->store, f->partition, "s", 4 * PIECE_SECTOR_BYTES + 10, 2);
    snapshot = snapshot_open(f->store, f->partition);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record), STORE_OK);
    altered = record.pieces[0];
    memcpy(crcs, altered.sector_crc, piece_sectors(&altered) * sizeof crcs[0]);
    crcs[2] ^= 1;
    altered.sector_crc = crcs;

    assert_int_equal(piece_read(f->store, &altered, 2 * PIECE_SECTOR_BYTES + 5, 1, buffer, NULL),
                     STORE_CORRUPT);
    assert_int_equal(piece_read(f->store, &altered, 0, altered.length, buffer, NULL),
                     STORE_CORRUPT);
    assert_int_equal(piece_read(f->store, &altered, 0, 2 * PIECE_SECTOR_BYTES, buffer, NULL),
                     STORE_OK);
    assert_int_equal(piece_read(f->store, &altered, 3 * PIECE_SECTOR_BYTES, PIECE_SECTOR_BYTES + 10,
                                buffer, NULL),
                     STORE_OK);
    assert_true(
        pattern_matches(buffer, PIECE_SECTOR_BYTES + 10, 2, 3 * (uint64_t)PIECE_SECTOR_BYTES));
    snapshot_close(snapshot);
    free(buffer);
}

/* Rule: a store with files tells where checked bytes lie; one without says so. store.h,
 * piece_check */
static void checked_bytes_are_in_the_file(void **state)
{
    struct fixture *f = *state;
    struct snapshot *snapshot;
    struct record record;
    enum store_result result;
    struct piece_file file;
    char bytes[5000];

    put_stream(f->store, f->partition, "s", 2 * MIB, 2);
    snapshot = snapshot_open(f->store, f->partition);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record), STORE_OK);
    result = piece_check(f->store, record.pieces, 123456, sizeof bytes, &file, NULL);
    if (f->engine->on_disk) {
        assert_int_equal(result, STORE_OK);
        assert_int_equal(pread(file.fd, bytes, sizeof bytes, (off_t)file.offset), sizeof bytes);
        assert_true(pattern_matches(bytes, sizeof bytes, 2, 123456));
    } else {
        assert_int_equal(result, STORE_NOT_FOUND);
    }
    snapshot_close(snapshot);
}

/* ---- several threads; cmocka's asserts are for the first thread only ---- */

#define THREADS 3
#define ROUNDS  12

struct worker {
    struct fixture *f;
    unsigned number;
};

/* What one stream of a thread's own partition is. */
struct stream {
    uint64_t length;
    uint64_t seed; /* 0: there is none yet */
};

static enum store_result replace(struct store *store, struct snapshot *snapshot,
                                 struct stream stream, struct arena *arena)
{
    struct changes *changes = changes_new(arena);
    struct bytes key = bytes_from_string("s");
    const struct piece *pieces;
    struct record record;
    struct stage *stage;
    enum store_result result;
    uint64_t sequence;
    size_t count;

    result = stage_pattern(store, stream.length, stream.seed, 250000, &stage);
    assert(result == STORE_OK);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, key, key, pieces, count);
    if (snapshot_get(snapshot, RECORD_LISTED, key, arena, &record) == STORE_OK)
        changes_release(changes, record.pieces, record.piece_count);
    result = store_commit(store, snapshot, changes, clock_now(), &sequence);
    stage_close(stage);
    return result;
}

/* Replaces the stream, and reads the old one meanwhile and the new one then. */
static void replace_and_read(struct worker *worker, struct random *random, struct stream *stream)
{
    struct store *store = worker->f->store;
    struct arena *arena = arena_new(8u << 20);
    struct partition partition = { worker->f->partition.space,
                                   arena_printf(arena, "%u", worker->number) };
    struct stream new = { random_below(random, 6 * MIB), random_next(random) | 1 };
    struct snapshot *reader = snapshot_open(store, partition);
    enum store_result result;

    do {
        struct snapshot *snapshot = snapshot_open(store, partition);

        result = replace(store, snapshot, new, arena);
        snapshot_close(snapshot);
    } while (result == STORE_CONFLICT);
    assert(result == STORE_OK);
    assert(stream->seed == 0 || stream_matches(store, reader, "s", stream->length, stream->seed));
    snapshot_close(reader);
    *stream = new;
    reader = snapshot_open(store, partition);
    assert(stream_matches(store, reader, "s", stream->length, stream->seed));
    snapshot_close(reader);
    arena_free(arena);
}

static void *replace_often(void *argument)
{
    struct worker *worker = argument;
    struct random random = { worker->number };
    struct stream stream = { 0, 0 };

    for (int i = 0; i < ROUNDS; i++)
        replace_and_read(worker, &random, &stream);
    return NULL;
}

/* Rule: threads stage, commit, read and free pieces at the same time. store.h */
static void threads_replace_streams(void **state)
{
    struct fixture *f = *state;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ f, i };
        assert_int_equal(pthread_create(&threads[i], NULL, replace_often, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        struct partition partition = { f->partition.space, arena_printf(f->arena, "%u", i) };

        delete_stream(f->store, partition, "s");
    }
    assert_all_given_back(f->store);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(streams_of_any_length, EVERY_STORE),
        TEST(long_stream_in_odd_chunks, EVERY_STORE),
        TEST(any_range_is_read, EVERY_STORE),
        TEST(pieces_are_shared_by_counting, EVERY_STORE),
        TEST(moving_a_reference_keeps_the_piece, EVERY_STORE),
        TEST(abandoned_stages_are_freed, EVERY_STORE),
        TEST(readers_keep_pieces, EVERY_STORE),
        TEST(wrong_crc_is_found, EVERY_STORE),
        TEST(checked_bytes_are_in_the_file, EVERY_STORE),
        TEST(threads_replace_streams, EVERY_STORE),
    };

    return conformance_run("pieces", tests, sizeof tests / sizeof tests[0]);
}
