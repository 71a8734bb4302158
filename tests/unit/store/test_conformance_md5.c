/* The MD5 of staged bytes: of one stream, of many that are filled at the same time, and of streams
 * that are given up while they are summed up. store.h, staging pieces */
#include "conformance.h"

#include <assert.h>
#include <stdlib.h>

#define KIB       1024u
#define MIB       (1024u * KIB)

#define STREAMS   19
#define CHUNK_MAX (300u * KIB)

/* A stream on its way: the first `length` bytes of stream `seed`. */
struct stream {
    struct stage *stage;
    struct blocking_waiter blocking;
    uint64_t length;
    uint64_t seed;
    uint64_t at;
};

static void begin(struct fixture *f, struct stream *stream, uint64_t length, uint64_t seed)
{
    *stream = (struct stream){ .length = length, .seed = seed };
    blocking_init(&stream->blocking);
    stream->stage = stage_open(f->store, seed % 2 == 0 ? length : UINT64_MAX);
    stage_want_md5(stream->stage);
}

/* Writes up to `most` bytes more. */
static void go_on(struct stream *stream, size_t most)
{
    static char chunk[CHUNK_MAX];
    uint64_t left = stream->length - stream->at;
    size_t size = left < most ? (size_t)left : most;
    struct bytes rest = bytes_of(chunk, size);

    assert(most <= sizeof chunk);
    pattern_fill(chunk, size, stream->seed, stream->at);
    stream->at += size;
    while (rest.len > 0) {
        size_t taken = 0;
        enum store_result result =
            stage_write(stream->stage, rest, &stream->blocking.waiter, &taken);

        rest = bytes_from(rest, taken);
        if (result == STORE_WAIT)
            blocking_wait(&stream->blocking);
        else
            assert_int_equal(result, STORE_OK);
    }
}

static void give_up(struct stream *stream)
{
    stage_close(stream->stage);
    blocking_release(&stream->blocking);
}

/* Finishes and compares with the sum of the same bytes in memory. */
static void finish_and_check(struct stream *stream)
{
    char *bytes = xmalloc((size_t)stream->length + 1);
    uint8_t sum[MD5_SIZE], expected[MD5_SIZE];
    enum store_result result;

    while ((result = stage_finish(stream->stage, &stream->blocking.waiter)) == STORE_WAIT)
        blocking_wait(&stream->blocking);
    assert_int_equal(result, STORE_OK);
    stage_md5(stream->stage, sum);
    pattern_fill(bytes, (size_t)stream->length, stream->seed, 0);
    md5_of(bytes_of(bytes, (size_t)stream->length), expected);
    assert_memory_equal(sum, expected, sizeof sum);
    free(bytes);
    give_up(stream);
}

/* Rule: the MD5 is that of all bytes written, however many and in whatever chunks. */
static void streams_of_any_length(void **state)
{
    static const uint64_t lengths[] = {
        0, 1, 63, 64, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 4 * MIB, 4 * MIB + 1, 9 * MIB + 12345
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
        struct stream stream;

        begin(f, &stream, lengths[i / 2], i);
        while (stream.at < stream.length)
            go_on(&stream, 1 + i * 12345);
        finish_and_check(&stream);
    }
    assert_all_given_back(f->store);
}

/* Rule: streams that are filled by turns, of different lengths, each have their own sum. */
static void many_streams_by_turns(void **state)
{
    static struct stream streams[STREAMS];
    struct fixture *f = *state;
    struct random random = { 1321 };
    size_t unfinished = STREAMS;

    for (size_t i = 0; i < STREAMS; i++)
        begin(f, &streams[i], random_below(&random, 3 * MIB), i);
    while (unfinished > 0) {
        struct stream *stream = &streams[random_below(&random, STREAMS)];

        if (!stream->stage)
            continue;
        go_on(stream, 1 + (size_t)random_below(&random, CHUNK_MAX));
        if (stream->at < stream->length)
            continue;
        finish_and_check(stream);
        stream->stage = NULL;
        unfinished--;
    }
    assert_all_given_back(f->store);
}

/* Rule: a stage that is closed at any moment leaves nothing behind, and does not disturb others. */
static void streams_given_up(void **state)
{
    struct fixture *f = *state;
    struct random random = { 8 };

    for (int turn = 0; turn < 40; turn++) {
        struct stream given_up[5], kept;

        begin(f, &kept, 200 * KIB, 2);
        for (size_t i = 0; i < 5; i++) {
            begin(f, &given_up[i], 2 * MIB, i);
            go_on(&given_up[i], (size_t)random_below(&random, CHUNK_MAX));
        }
        go_on(&kept, 200 * KIB);
        for (size_t i = 0; i < 5; i++) {
            if (random_below(&random, 2) == 0)
                (void)stage_finish(given_up[i].stage, &given_up[i].blocking.waiter);
            give_up(&given_up[i]);
        }
        finish_and_check(&kept);
    }
    assert_all_given_back(f->store);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(streams_of_any_length, EVERY_STORE),
        TEST(many_streams_by_turns, EVERY_STORE),
        TEST(streams_given_up, EVERY_STORE),
    };

    return conformance_run("md5", tests, sizeof tests / sizeof tests[0]);
}
