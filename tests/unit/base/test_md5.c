/* MD5 of many streams: the vectors of RFC 1321, and streams cut and mixed at random against nettle,
 * which hashes one at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nettle/md5.h>
#include <stdio.h>
#include <string.h>

#include "base/md5_private.h"

#define STREAMS_MAX 19
#define DATA_MAX    5000

/* rfc: 1321 A.5 */
static void vectors(void **state)
{
    static const struct {
        const char *data, *sum;
    } vectors[] = {
        { "", "d41d8cd98f00b204e9800998ecf8427e" },
        { "abc", "900150983cd24fb0d6963f7d28e17f72" },
        { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
        { "1234567890123456789012345678901234567890"
          "1234567890123456789012345678901234567890",
          "57edf4a22be3c955ac49da2e2107b67a" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint8_t sum[MD5_SIZE];
        char text[2 * MD5_SIZE + 1];

        md5_of(bytes_from_string(vectors[i].data), sum);
        for (size_t at = 0; at < MD5_SIZE; at++)
            snprintf(text + 2 * at, 3, "%02x", sum[at]);
        assert_string_equal(text, vectors[i].sum);
    }
}

/* A generator of its own, so that a failure repeats. */
static uint32_t next_random(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*seed * below >> 32);
}

static void fill(uint8_t *data, size_t size, uint32_t *seed)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)next_random(seed, 256);
}

struct tried {
    struct md5_stream stream;
    uint8_t data[DATA_MAX];
    size_t size;
    size_t done;
};

static void begin(struct tried *tried, uint32_t *seed)
{
    bool is_whole_blocks = next_random(seed, 4) == 0;

    md5_stream_init(&tried->stream);
    tried->size = is_whole_blocks ? 64 * next_random(seed, 70) : next_random(seed, DATA_MAX);
    tried->done = 0;
    fill(tried->data, tried->size, seed);
}

/* One round: some streams rest, some go to their end at once; returns how many bytes went in. */
static size_t add_some(struct tried *tried, size_t count, uint32_t *seed)
{
    struct md5_stream *streams[STREAMS_MAX];
    struct bytes cuts[STREAMS_MAX];
    size_t busy = 0, added = 0;

    for (size_t i = 0; i < count; i++) {
        struct tried *one = &tried[i];
        size_t left = one->size - one->done;
        size_t most = next_random(seed, 3) == 0 || left < 300 ? left : 300;
        size_t length = next_random(seed, (uint32_t)most + 1);

        if (next_random(seed, 5) == 0)
            continue;
        streams[busy] = &one->stream;
        cuts[busy++] = bytes_of(one->data + one->done, length);
        one->done += length;
        added += length;
    }
    md5_update_many(streams, cuts, busy);
    return added;
}

static void check_sum(struct tried *tried)
{
    uint8_t sum[MD5_SIZE], expected[MD5_SIZE];
    struct md5_ctx context;

    md5_init(&context);
    md5_update(&context, tried->size, tried->data);
    md5_digest(&context, sizeof expected, expected);
    md5_stream_digest(&tried->stream, sum);
    assert_memory_equal(sum, expected, sizeof sum);
}

/* Streams of any lengths, in any cuts, any number at once: each has its own sum. rfc: 1321 3 */
static void any_cuts_of_any_streams(void **state)
{
    static struct tried tried[STREAMS_MAX];
    uint32_t seed = 1321;

    (void)state;
    for (int turn = 0; turn < 400; turn++) {
        size_t count = 1 + next_random(&seed, STREAMS_MAX);
        size_t left = 0;

        for (size_t i = 0; i < count; i++) {
            begin(&tried[i], &seed);
            left += tried[i].size;
        }
        while (left > 0)
            left -= add_some(tried, count, &seed);
        for (size_t i = 0; i < count; i++)
            check_sum(&tried[i]);
    }
}

/* Bytes of any lengths, any number of them together: each has its own sum. rfc: 1321 3 */
static void sums_of_many(void **state)
{
    static struct tried tried[MD5_LANES];
    uint32_t seed = 2026;

    (void)state;
    for (int turn = 0; turn < 400; turn++) {
        size_t count = 1 + next_random(&seed, MD5_LANES);
        uint8_t sums[MD5_LANES][MD5_SIZE], expected[MD5_SIZE], *of[MD5_LANES];
        struct bytes data[MD5_LANES];

        for (size_t i = 0; i < count; i++) {
            begin(&tried[i], &seed);
            data[i] = bytes_of(tried[i].data, tried[i].size);
            of[i] = sums[i];
        }
        md5_of_many(data, count, of);
        for (size_t i = 0; i < count; i++) {
            struct md5_ctx context;

            md5_init(&context);
            md5_update(&context, data[i].len, (const uint8_t *)data[i].ptr);
            md5_digest(&context, sizeof expected, expected);
            assert_memory_equal(sums[i], expected, sizeof expected);
        }
    }
}

static void check_lanes(md5_lanes_fn *lanes)
{
    static uint8_t data[MD5_LANES][7 * MD5_BLOCK_BYTES + 1];
    uint32_t states[MD5_LANES][4], expected[MD5_LANES][4];
    uint32_t *of_lane[MD5_LANES];
    const uint8_t *at[MD5_LANES];
    uint32_t seed = 8;

    for (size_t i = 0; i < MD5_LANES; i++) {
        fill(data[i], sizeof data[i], &seed);
        at[i] = data[i] + i % 2; /* also not aligned */
        fill((uint8_t *)states[i], sizeof states[i], &seed);
        memcpy(expected[i], states[i], sizeof states[i]);
        for (size_t block = 0; block < 7; block++)
            nettle_md5_compress(expected[i], at[i] + block * MD5_BLOCK_BYTES);
        of_lane[i] = states[i];
    }
    lanes(of_lane, at, 7);
    assert_memory_equal(states, expected, sizeof states);
}

/* Each way to compute the lanes that this CPU can go. */
static void every_kind_of_lanes(void **state)
{
    (void)state;
    check_lanes(md5_lanes_portable);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        check_lanes(md5_lanes_avx2);
#endif
    check_lanes(md5_lanes());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(any_cuts_of_any_streams),
        cmocka_unit_test(sums_of_many),
        cmocka_unit_test(every_kind_of_lanes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
