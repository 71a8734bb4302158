/* The codec of record values: what was written is read, and nothing else is believed. codec.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/codec.h"
#include "base/endian.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint64_t numbers[] = {
    0,
    1,
    0x7F,
    0x80,
    0x3FFF,
    0x4000,
    UINT32_MAX,
    1ull << 35,
    (1ull << 63) - 1,
    1ull << 63,
    UINT64_MAX - 1,
    UINT64_MAX,
};

static int set_up(void **state)
{
    *state = arena_new(1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    arena_free(*state);
    return 0;
}

static void comes_back(struct arena *arena, uint64_t number)
{
    struct text out;
    struct decoder d;
    size_t bits = number > 0 ? 64 - (size_t)__builtin_clzll(number) : 1;

    text_init(&out, arena, 0);
    encode_u64(&out, number);
    assert_int_equal(out.len, (bits + 6) / 7);
    decoder_init(&d, text_bytes(&out));
    assert_true(decode_u64(&d) == number);
    assert_true(decoder_ok(&d));
    encode_fixed(&out, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8); /* what follows is not looked at */
    decoder_init(&d, text_bytes(&out));
    assert_true(decode_u64(&d) == number);
    assert_true(decode_u8(&d) == 0xFF);
}

/* Numbers of every length come back, in as few bytes as hold seven bits each. */
static void numbers_come_back(void **state)
{
    for (size_t i = 0; i < COUNT(numbers); i++)
        comes_back(*state, numbers[i]);
    for (unsigned bit = 0; bit < 64; bit++) {
        comes_back(*state, UINT64_C(1) << bit);
        comes_back(*state, UINT64_C(0x9E3779B97F4A7C15) >> bit);
    }
}

static struct bytes a_value(struct arena *arena)
{
    struct text out;

    text_init(&out, arena, 0);
    encode_u8(&out, 3);
    encode_u64(&out, 300);
    encode_fixed(&out, "fixed", 5);
    encode_bytes(&out, bytes_from_string("some bytes"));
    encode_bytes(&out, bytes_of("", 0));
    encode_bytes(&out, bytes_of(NULL, 0));
    encode_u64(&out, UINT64_MAX);
    return text_bytes(&out);
}

/* Each read is of the value or zeros, whatever was cut off; ok only for the whole. */
static bool read_value(struct bytes value)
{
    struct bytes some, empty, absent;
    struct decoder d;
    char fixed[5];
    uint64_t small, large;
    uint8_t version;

    decoder_init(&d, value);
    version = decode_u8(&d);
    small = decode_u64(&d);
    decode_fixed(&d, fixed, sizeof fixed);
    some = decode_bytes(&d);
    empty = decode_bytes(&d);
    absent = decode_bytes(&d);
    large = decode_u64(&d);
    assert_true(version == 3 || version == 0);
    assert_true(small == 300 || small == 0);
    assert_true(memcmp(fixed, "fixed", 5) == 0 || memcmp(fixed, "\0\0\0\0\0", 5) == 0);
    assert_true(bytes_is(some, "some bytes") || !some.ptr);
    assert_int_equal(empty.len, 0);
    assert_null(absent.ptr);
    assert_true(large == UINT64_MAX || large == 0);
    if (decoder_ok(&d)) {
        assert_int_equal(version, 3);
        assert_non_null(some.ptr);
        assert_non_null(empty.ptr); /* present, empty */
        assert_true(large == UINT64_MAX);
    }
    return decoder_ok(&d);
}

/* A value that is cut at any length is not ok, and reading it stays inside: each cut value lies at
 * the end of its own allocation, where a sanitizer sees a read past it. */
static void cut_at_every_length(void **state)
{
    struct bytes value = a_value(*state);

    assert_true(read_value(value));
    for (size_t length = 0; length < value.len; length++) {
        char *cut = test_malloc(length);

        memcpy(cut, value.ptr, length);
        assert_false(read_value(bytes_of(cut, length)));
        test_free(cut);
    }
    assert_false(read_value(bytes_of(NULL, 0)));
}

/* Bytes that are left over are not ok either. */
static void more_than_written(void **state)
{
    struct text out;

    text_init(&out, *state, 0);
    text_add(&out, a_value(*state));
    encode_u8(&out, 0);
    assert_false(read_value(text_bytes(&out)));
}

/* A number that is longer than it needs to be, or than 64 bits, was not written by us. */
static void overlong_numbers(void **state)
{
    static const struct bytes overlong[] = {
        BYTES("\x80\x00"),
        BYTES("\xFF\x80\x00"),
        BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x00"),
        BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
        BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"),
        BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
        BYTES("\x80"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT(overlong); i++) {
        struct decoder d;

        decoder_init(&d, overlong[i]);
        assert_true(decode_u64(&d) == 0);
        assert_false(decoder_ok(&d));
    }
}

/* A length larger than what is left is not believed, however large. */
static void lengths_too_large(void **state)
{
    for (size_t i = 0; i < COUNT(numbers); i++) {
        struct text out;
        struct decoder d;

        if (numbers[i] < 5)
            continue;
        text_init(&out, *state, 0);
        encode_u64(&out, numbers[i]);
        encode_fixed(&out, "abc", 3);
        decoder_init(&d, text_bytes(&out));
        assert_null(decode_bytes(&d).ptr);
        assert_false(decoder_ok(&d));
        assert_int_equal(decode_u8(&d), 0); /* bad stays bad */
    }
}

/* The bytewise order of number keys is their order. */
static void keys_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++)
        for (size_t k = 0; k < COUNT(numbers); k++) {
            uint8_t a[8], b[8];
            int order;

            be64_put(a, numbers[i]);
            be64_put(b, numbers[k]);
            assert_true(be64_get(a) == numbers[i]);
            order = memcmp(a, b, 8);
            assert_int_equal(order < 0, numbers[i] < numbers[k]);
            assert_int_equal(order == 0, numbers[i] == numbers[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_at_every_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_than_written, set_up, tear_down),
        cmocka_unit_test(overlong_numbers),
        cmocka_unit_test_setup_teardown(lengths_too_large, set_up, tear_down),
        cmocka_unit_test(keys_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
