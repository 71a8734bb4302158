/* Chunked bodies: what is framing, what is body, what is refused, however the bytes come in.
 * rfc: 9112 7.1 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "http/chunks.h"

/* Decodes pieces of `step` bytes, taking at most `sip` bytes of a run at a time. Returns how it
 * ended; the body in ret_body, what was not used in ret_rest. */
static enum chunk_result decode(struct bytes input, size_t step, size_t sip, struct text *ret_body,
                                size_t *ret_rest)
{
    struct chunks chunks = { .left = 0 };
    size_t there = 0;
    size_t used = 0;

    ret_body->len = 0;
    for (;;) {
        size_t framing, run;
        enum chunk_result result =
            chunks_next(&chunks, bytes_of(input.ptr + used, there - used), &framing, &run);

        used += framing;
        *ret_rest = input.len - used;
        if (result == CHUNK_RUN) {
            run = run < sip ? run : sip;
            text_add(ret_body, bytes_of(input.ptr + used, run));
            chunks_took(&chunks, run);
            used += run;
        } else if (result != CHUNK_MORE || there == input.len) {
            return result;
        } else {
            there = input.len - there < step ? input.len : there + step;
        }
    }
}

static const struct {
    const char *text;
    enum chunk_result result;
    const char *body;
} rows[] = {
    { "0\r\n\r\n", CHUNK_END, "" },
    { "000\r\n\r\n", CHUNK_END, "" },
    { "5\r\nhello\r\n0\r\n\r\n", CHUNK_END, "hello" },
    { "00A\r\n0123456789\r\nb\r\n0123456789a\r\n0\r\n\r\n", CHUNK_END, "01234567890123456789a" },
    { "5;a=\"b\";c\r\nhello\r\n0;d\r\n\r\n", CHUNK_END, "hello" },
    { "1\r\nx\r\n0\r\na: b\r\nc:\r\n\r\n", CHUNK_END, "x" },
    { "5\r\nhello\r\n0\r\n\r", CHUNK_MORE, "hello" },
    { "5\r\nhel", CHUNK_MORE, "hel" },
    { "7fffffffffffffff\r\nx", CHUNK_MORE, "x" },
    { "8000000000000000\r\nx", CHUNK_TOO_LARGE, "" },
    { "ffffffffffffffffffffffffffffff\r\n", CHUNK_TOO_LARGE, "" },
    { "\r\n", CHUNK_MALFORMED, "" },
    { "x\r\n", CHUNK_MALFORMED, "" },
    { "-1\r\n", CHUNK_MALFORMED, "" },
    { "0x5\r\n", CHUNK_MALFORMED, "" },
    { " 5\r\n", CHUNK_MALFORMED, "" },
    { "5 \r\n", CHUNK_MALFORMED, "" },
    { ";a\r\n", CHUNK_MALFORMED, "" },
    { "5\n", CHUNK_MALFORMED, "" },
    { "5\rx", CHUNK_MALFORMED, "" },
    { "5;a\n", CHUNK_MALFORMED, "" },
    { "5;\x01\r\n", CHUNK_MALFORMED, "" },
    { "1\r\nxx\r\n", CHUNK_MALFORMED, "x" },
    { "1\r\nx\n", CHUNK_MALFORMED, "x" },
    { "7\r\nhello\r\n0\r\n\r\n", CHUNK_MALFORMED, "hello\r\n" },
    { "0\r\n\n", CHUNK_MALFORMED, "" },
    { "0\r\n\rx", CHUNK_MALFORMED, "" },
    { "0\r\nnonsense\r\n\r\n", CHUNK_MALFORMED, "" },
    { "0\r\n: a\r\n\r\n", CHUNK_MALFORMED, "" },
    { "0\r\n a: b\r\n\r\n", CHUNK_MALFORMED, "" },
    { "0\r\na : b\r\n\r\n", CHUNK_MALFORMED, "" },
    { "0\r\na: b\n\r\n", CHUNK_MALFORMED, "" },
};

static void decodes_however_it_comes(void **state)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct text body;
    size_t rest;

    (void)state;
    text_init(&body, arena, 64);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes text = bytes_from_string(rows[i].text);

        for (size_t step = 1; step <= text.len; step++) {
            enum chunk_result got = decode(text, step, 1 + step % 3, &body, &rest);

            if (got != rows[i].result || !bytes_is(text_bytes(&body), rows[i].body))
                fail_msg("%s by %zu: %d", rows[i].text, step, got);
        }
    }
    arena_free(arena);
}

/* What follows the last line is the next request. */
static void leaves_what_follows(void **state)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct text body;
    size_t rest;

    (void)state;
    text_init(&body, arena, 64);
    assert_int_equal(
        decode((struct bytes)BYTES("1\r\nx\r\n0\r\na: b\r\n\r\nGET /"), 100, 100, &body, &rest),
        CHUNK_END);
    assert_int_equal(rest, 5);
    arena_free(arena);
}

/* Extensions and trailers have a most, together with what they belong to. */
static enum chunk_result decode_filled(const char *before, size_t filler, const char *behind)
{
    struct arena *arena = arena_new((size_t)1 << 20);
    struct text text, body;
    enum chunk_result result;
    size_t rest;

    text_init(&body, arena, 64);
    text_init(&text, arena, filler + 100);
    text_add_string(&text, before);
    for (size_t i = 0; i < filler; i++)
        text_add_char(&text, 'a');
    text_add_string(&text, behind);
    result = decode(text_bytes(&text), 1000, 1000, &body, &rest);
    arena_free(arena);
    return result;
}

static void limits_what_is_dropped(void **state)
{
    (void)state;
    assert_int_equal(decode_filled("0;", CHUNK_LINE_MAX - 4, "\r\n\r\n"), CHUNK_END);
    assert_int_equal(decode_filled("0;", CHUNK_LINE_MAX - 3, "\r\n\r\n"), CHUNK_MALFORMED);
    assert_int_equal(decode_filled("0\r\na:", CHUNK_TRAILER_MAX - 6, "\r\n\r\n"), CHUNK_END);
    assert_int_equal(decode_filled("0\r\na:", CHUNK_TRAILER_MAX - 5, "\r\n\r\n"), CHUNK_MALFORMED);
    assert_int_equal(decode_filled("", CHUNK_LINE_MAX, ""), CHUNK_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_however_it_comes),
        cmocka_unit_test(leaves_what_follows),
        cmocka_unit_test(limits_what_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
