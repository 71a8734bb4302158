/* Streams of bytes that tell their place, and chance, in the conformance tests. */
#include "conformance.h"

#include <assert.h>
#include <stdlib.h>

#define READING_MAX     (256u << 20)
#define READ_STEP_BYTES 100000u

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

void pattern_fill(char *to, size_t length, uint64_t seed, uint64_t offset)
{
    uint64_t stream = mix(seed + 0x9e3779b97f4a7c15ull);

    for (size_t done = 0; done < length;) {
        uint64_t word = mix(stream + (offset + done) / 8);
        size_t skip = (offset + done) % 8;
        size_t take = 8 - skip < length - done ? 8 - skip : length - done;

        memcpy(to + done, (const char *)&word + skip, take);
        done += take;
    }
}

bool pattern_matches(const char *data, size_t length, uint64_t seed, uint64_t offset)
{
    char expected[4096];

    for (size_t done = 0; done < length;) {
        size_t take = length - done < sizeof expected ? length - done : sizeof expected;

        pattern_fill(expected, take, seed, offset + done);
        if (memcmp(data + done, expected, take) != 0)
            return false;
        done += take;
    }
    return true;
}

enum store_result write_chunk(struct stage *stage, struct bytes chunk,
                              struct blocking_waiter *blocking)
{
    while (chunk.len > 0) {
        size_t taken = 0;
        enum store_result result = stage_write(stage, chunk, &blocking->waiter, &taken);

        if (result && result != STORE_WAIT)
            return result;
        assert(taken <= chunk.len && (result || taken == chunk.len));
        chunk = bytes_from(chunk, taken);
        if (result == STORE_WAIT)
            blocking_wait(blocking);
    }
    return STORE_OK;
}

enum store_result stage_pattern(struct store *store, uint64_t length, uint64_t seed,
                                size_t chunk_max, struct stage **ret_stage)
{
    struct stage *stage = stage_open(store, seed % 2 == 0 ? length : UINT64_MAX);
    struct random random = { seed + 1 };
    struct blocking_waiter blocking;
    enum store_result result = STORE_OK;
    char *chunk = xmalloc(chunk_max);

    blocking_init(&blocking);
    for (uint64_t at = 0; at < length && !result;) {
        size_t size = 1 + (size_t)random_below(&random, chunk_max);

        if (size > length - at)
            size = (size_t)(length - at);
        pattern_fill(chunk, size, seed, at);
        result = write_chunk(stage, bytes_of(chunk, size), &blocking);
        at += size;
    }
    while (!result && (result = stage_finish(stage, &blocking.waiter)) == STORE_WAIT) {
        blocking_wait(&blocking);
        result = STORE_OK;
    }
    blocking_release(&blocking);
    free(chunk);
    *ret_stage = stage;
    return result;
}

uint64_t put_stream(struct store *store, struct partition partition, const char *key,
                    uint64_t length, uint64_t seed)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    const struct piece *pieces;
    struct stage *stage;
    uint64_t sequence = 0;
    size_t count;

    assert_int_equal(stage_pattern(store, length, seed, 300000, &stage), STORE_OK);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_from_string("stream"), pieces,
                count);
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    stage_close(stage);
    arena_free(arena);
    return sequence;
}

uint64_t delete_stream(struct store *store, struct partition partition, const char *key)
{
    struct arena *arena = arena_new(READING_MAX);
    struct changes *changes = changes_new(arena);
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    struct record record;
    uint64_t sequence = 0;

    assert_int_equal(read_view_get(snapshot, RECORD_LISTED, bytes_from_string(key), arena, &record),
                     STORE_OK);
    changes_delete(changes, RECORD_LISTED, record.key);
    changes_release(changes, record.pieces, record.piece_count);
    assert_int_equal(store_commit(store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
    return sequence;
}

static bool piece_matches(struct store *store, const struct piece *piece, uint64_t seed,
                          uint64_t stream_offset)
{
    char *buffer = xmalloc(READ_STEP_BYTES);
    bool same = true;

    for (uint32_t at = 0; at < piece->length && same; at += READ_STEP_BYTES) {
        uint32_t rest = piece->length - at;
        uint32_t length = rest < READ_STEP_BYTES ? rest : READ_STEP_BYTES;

        same = piece_read(store, piece, at, length, buffer, NULL) == STORE_OK &&
               pattern_matches(buffer, length, seed, stream_offset + at);
    }
    free(buffer);
    return same;
}

bool stream_matches(struct store *store, struct read_view *snapshot, const char *key,
                    uint64_t length, uint64_t seed)
{
    struct arena *arena = arena_new(READING_MAX);
    struct record record;
    uint64_t at = 0;
    bool same =
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string(key), arena, &record) == STORE_OK;

    for (size_t i = 0; same && i < record.piece_count; i++) {
        same = piece_matches(store, &record.pieces[i], seed, at);
        at += record.pieces[i].length;
    }
    arena_free(arena);
    return same && at == length;
}

struct store_usage usage_now(struct store *store)
{
    struct store_usage usage;

    store_collect_now(store, &usage);
    return usage;
}

void assert_all_given_back(struct store *store)
{
    struct store_usage usage = usage_now(store);

    assert_int_equal(usage.piece_bytes, 0);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(usage.allocated_bytes <= EMPTY_ALLOCATED_MAX);
}

/* ---- chance ---- */

uint64_t random_next(struct random *random)
{
    random->state += 0x9e3779b97f4a7c15ull;
    return mix(random->state);
}

uint64_t random_below(struct random *random, uint64_t below)
{
    return random_next(random) % below;
}
