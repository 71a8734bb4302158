/* Staging: streams of any length, in any chunks, from several threads, finished or given up.
 * store.h, staging pieces; store invariant 2 */
#include "conformance.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"

static const struct bytes nothing = { NULL, 0 };

#define KIB 1024u
#define MIB (1024u * KIB)

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

/* Rule: a piece ends where the stage is cut. store.h, stage_cut() */
static void pieces_end_at_cuts(void **state)
{
    static const uint64_t blocks[] = { 1, 4096, 70 * KIB, 5 * MIB + 3, 64 * KIB, 2 };
    struct fixture *f = *state;
    struct stage *stage = stage_open(f->store, UINT64_MAX);
    struct blocking_waiter blocking;
    char *data = xcalloc(1, 6 * MIB);
    const struct piece *pieces;
    uint64_t end = 0, at = 0;
    size_t count, next = 0;

    blocking_init(&blocking);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        stage_cut(stage, blocks[i]);
        assert_int_equal(write_chunk(stage, bytes_of(data, blocks[i]), &blocking), STORE_OK);
    }
    while (stage_finish(stage, &blocking.waiter) == STORE_WAIT)
        blocking_wait(&blocking);
    pieces = stage_pieces(stage, &count);
    for (size_t i = 0; i < count; i++) {
        if (at == end)
            end += blocks[next++];
        at += pieces[i].length;
        assert_true(at <= end);
    }
    assert_int_equal(at, end);
    assert_int_equal(next, sizeof blocks / sizeof blocks[0]);
    stage_close(stage);
    blocking_release(&blocking);
    free(data);
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
        struct read_view *snapshot;
        size_t count;

        assert_int_equal(stage_pattern(f->store, length, i, 200000, &stage), STORE_OK);
        pieces = stage_pieces(stage, &count);
        check_pieces(pieces, count, length, i);
        stage_close(stage);

        put_stream(f->store, f->partition, "stream", length, i);
        snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
        assert_true(stream_matches(f->store, snapshot, "stream", length, i));
        read_view_close(snapshot);
        delete_stream(f->store, f->partition, "stream");
    }
    assert_all_given_back(f->store);
}

/* Rule: a long stream comes in chunks of any size. */
static void long_stream_in_odd_chunks(void **state)
{
    struct fixture *f = *state;
    const uint64_t length = 64 * (uint64_t)MIB + 321;
    struct read_view *snapshot;

    put_stream(f->store, f->partition, "long", length, 1);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "long", length, 1));
    assert_false(stream_matches(f->store, snapshot, "long", length, 2)); /* the test can fail */
    read_view_close(snapshot);
    assert_int_equal(usage_now(f->store).piece_bytes, length);
    delete_stream(f->store, f->partition, "long");
    assert_all_given_back(f->store);
}

/* Rule: what is staged and not committed is freed when the stage closes, finished or not; also
 * after a commit that was refused. store.h, stage_close */
static void abandoned_stages_are_freed(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *stale = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
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
    assert_int_equal(store_commit(f->store, &(struct commit_part){ stale, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    assert_int_equal(usage_now(f->store).piece_bytes, 0);
    read_view_close(stale);
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

static enum store_result replace(struct store *store, struct read_view *snapshot,
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
    if (read_view_get(snapshot, RECORD_LISTED, key, arena, &record) == STORE_OK)
        changes_release(changes, record.pieces, record.piece_count);
    result = store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                          STORE_MAY_BLOCK, &sequence);
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
    struct read_view *reader = read_view_open(store, partition, STORE_MAY_BLOCK);
    enum store_result result;

    do {
        struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);

        result = replace(store, snapshot, new, arena);
        read_view_close(snapshot);
    } while (result == STORE_CONFLICT);
    assert(result == STORE_OK);
    assert(stream->seed == 0 || stream_matches(store, reader, "s", stream->length, stream->seed));
    read_view_close(reader);
    *stream = new;
    reader = read_view_open(store, partition, STORE_MAY_BLOCK);
    assert(stream_matches(store, reader, "s", stream->length, stream->seed));
    read_view_close(reader);
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

/* Begins streams and gives each up at a place of its own: while its bytes are being written, after
 * that, or when it is finished. */
static void *abandon_often(void *argument)
{
    struct worker *worker = argument;
    struct random random = { worker->number + 100 };
    struct blocking_waiter blocking;
    char *chunk = xcalloc(1, 200000);

    blocking_init(&blocking);
    for (int i = 0; i < ROUNDS; i++) {
        struct stage *stage;
        size_t taken;

        if (i % 3 == 0) {
            enum store_result result =
                stage_pattern(worker->f->store, random_below(&random, 5 * MIB), 1, 200000, &stage);

            assert(result == STORE_OK);
            stage_close(stage);
            continue;
        }
        stage = stage_open(worker->f->store, UINT64_MAX);
        for (uint64_t chunks = random_below(&random, 60); chunks > 0; chunks--) {
            enum store_result result =
                stage_write(stage, bytes_of(chunk, 200000), &blocking.waiter, &taken);

            assert(result == STORE_OK || result == STORE_WAIT);
            if (result == STORE_WAIT && chunks == 1)
                break; /* closed while its waiter is armed: it is not woken any more */
            if (result == STORE_WAIT)
                blocking_wait(&blocking);
        }
        stage_close(stage);
        blocking_release(&blocking);
        blocking_init(&blocking);
    }
    blocking_release(&blocking);
    free(chunk);
    return NULL;
}

/* Rule: no stage that is given up leaves anything, wherever it was, and none wakes its waiter
 * afterwards. store.h, stage_close */
static void threads_abandon_stages(void **state)
{
    struct fixture *f = *state;
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ f, i };
        assert_int_equal(pthread_create(&threads[i], NULL, abandon_often, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_all_given_back(f->store);
}

#define SLOW_STAGES 1100
#define SLOW_BYTES  60000u
#define SLOW_CHUNK  1400u

static void write_slowly(struct stage **stages, const char *bytes, uint64_t at,
                         struct blocking_waiter *blocking)
{
    size_t size = SLOW_BYTES - at < SLOW_CHUNK ? (size_t)(SLOW_BYTES - at) : SLOW_CHUNK;

    for (unsigned i = 0; i < SLOW_STAGES; i++) {
        struct bytes rest = bytes_of(bytes + at, size);

        while (rest.len > 0) {
            size_t taken;

            if (stage_write(stages[i], rest, &blocking->waiter, &taken) == STORE_WAIT)
                blocking_wait(blocking);
            rest = bytes_from(rest, taken);
        }
    }
}

/* Rule: stages that fill slowly, however many, hold nobody back, and lose nothing of what came in
 * small parts. store.h, staging pieces */
static void slow_stages_hold_nobody_back(void **state)
{
    struct fixture *f = *state;
    struct stage *stages[SLOW_STAGES];
    struct blocking_waiter blocking;
    char *bytes = xmalloc(SLOW_BYTES);
    struct stage *quick;

    pattern_fill(bytes, SLOW_BYTES, 1, 0);
    blocking_init(&blocking);
    for (unsigned i = 0; i < SLOW_STAGES; i++)
        stages[i] = stage_open(f->store, i % 2 == 0 ? SLOW_BYTES : UINT64_MAX);
    for (uint64_t at = 0; at < SLOW_BYTES; at += SLOW_CHUNK) {
        write_slowly(stages, bytes, at, &blocking);
        if (at / SLOW_CHUNK % 20 != 0)
            continue;
        assert_int_equal(stage_pattern(f->store, 3 * MIB + 77, at, 30000, &quick), STORE_OK);
        stage_close(quick);
    }
    for (unsigned i = 0; i < SLOW_STAGES; i++) {
        const struct piece *pieces;
        size_t count;

        while (i < 20 && stage_finish(stages[i], &blocking.waiter) == STORE_WAIT)
            blocking_wait(&blocking);
        if (i < 20) {
            pieces = stage_pieces(stages[i], &count);
            check_pieces(pieces, count, SLOW_BYTES, 1);
        }
        stage_close(stages[i]);
    }
    assert_all_given_back(f->store);
    blocking_release(&blocking);
    free(bytes);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(streams_of_any_length, EVERY_STORE),
        TEST(pieces_end_at_cuts, EVERY_STORE),
        TEST(long_stream_in_odd_chunks, EVERY_STORE),
        TEST(abandoned_stages_are_freed, EVERY_STORE),
        TEST(threads_replace_streams, EVERY_STORE),
        TEST(threads_abandon_stages, EVERY_STORE),
        TEST(slow_stages_hold_nobody_back, EVERY_STORE),
    };

    return conformance_run("staging", tests, sizeof tests / sizeof tests[0]);
}
