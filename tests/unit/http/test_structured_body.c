/* Structured bodies: what is read is what was written, whatever the sizes of the parts in which it
 * arrives; a damaged message is refused. rest: Structured-Body-Format; decision: 1436 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "http/structured_body.h"

#define MESSAGE_MAX 512u

struct message {
    uint8_t bytes[MESSAGE_MAX];
    size_t length;
};

static void put(struct message *m, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        m->bytes[m->length++] = (uint8_t)(value >> (8 * i));
}

/* Builds a message whose segments have these contents. */
static void build(struct message *m, const char *const segments[], unsigned count)
{
    uint64_t total = 13 + 8, sum = 0;

    m->length = 0;
    for (unsigned i = 0; i < count; i++)
        total += 18 + strlen(segments[i]);
    put(m, 1, 1);
    put(m, 8, total);
    put(m, 2, 1);
    put(m, 2, count);
    for (unsigned i = 0; i < count; i++) {
        size_t length = strlen(segments[i]);

        put(m, 2, i + 1);
        put(m, 8, length);
        memcpy(m->bytes + m->length, segments[i], length);
        m->length += length;
        put(m, 8, crc64(0, segments[i], length));
        sum = crc64(sum, segments[i], length);
    }
    put(m, 8, sum);
    assert_int_equal(m->length, total);
}

/* Reads a message that arrives in parts of `step` bytes.
 * ret_content: zero-terminated */
static enum structured_result read_parts(struct structured_reader *r, const uint8_t *bytes,
                                         size_t length, size_t step, char *ret_content)
{
    size_t at = 0;

    while (at < length) {
        struct bytes part = bytes_of(bytes + at, step < length - at ? step : length - at);

        at += part.len;
        while (part.len > 0) {
            size_t used;
            enum structured_result result = structured_read_frame(r, part, &used);

            if (result)
                return result;
            part = bytes_from(part, used);
            used = structured_content_of(r, part.len);
            memcpy(ret_content, part.ptr, used);
            ret_content += used;
            structured_read_content(r, bytes_of(part.ptr, used));
            part = bytes_from(part, used);
        }
    }
    *ret_content = '\0';
    return STRUCTURED_OK;
}

/* Rule: content and checksums do not depend on where the parts end. */
static void messages_are_read_in_parts(void **state)
{
    static const char *const segments[] = { "hello", "", " ", "world" };
    struct message m;
    char content[MESSAGE_MAX];

    (void)state;
    for (unsigned count = 1; count <= 4; count++) {
        build(&m, segments, count);
        for (size_t step = 1; step <= m.length; step++) {
            struct structured_reader r;
            size_t length = m.length - 13 - 8 - 18 * count;

            structured_reader_init(&r, m.length, length);
            assert_int_equal(read_parts(&r, m.bytes, m.length, step, content), STRUCTURED_OK);
            assert_true(structured_is_complete(&r));
            assert_int_equal(strlen(content), length);
            assert_memory_equal(content, "hello world", length);
            assert_int_equal(r.content_crc, crc64(0, content, length));
        }
    }
}

/* How damage of a byte of the message below must be noticed. A segment that is shorter than sent ends
 * with a wrong checksum. */
static bool is_noticed(size_t byte, enum structured_result result)
{
    bool is_content_or_sum = (byte >= 23 && byte < 36) || byte >= 46;
    bool is_length = (byte >= 15 && byte < 23) || (byte >= 38 && byte < 46);

    if (is_length)
        return result != STRUCTURED_OK;
    return result == (is_content_or_sum ? STRUCTURED_MISMATCH : STRUCTURED_MALFORMED);
}

/* Rule: each bit of a message is protected, and a part of a message is not complete. */
static void damage_is_found(void **state)
{
    static const char *const segments[] = { "hello", "world" };
    struct message m;
    char content[MESSAGE_MAX];

    (void)state;
    build(&m, segments, 2);
    for (size_t bit = 0; bit < 8 * m.length; bit++) {
        enum structured_result result;
        struct structured_reader r;

        m.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        structured_reader_init(&r, m.length, 10);
        result = read_parts(&r, m.bytes, m.length, 7, content);
        if (!is_noticed(bit / 8, result))
            fail_msg("bit %zu: %d", bit, (int)result);
        assert_true(result != STRUCTURED_MISMATCH || r.given != r.computed);
        m.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t length = 0; length < m.length; length++) {
        struct structured_reader r;

        structured_reader_init(&r, UINT64_MAX, 10);
        assert_int_equal(read_parts(&r, m.bytes, length, 9, content), STRUCTURED_OK);
        assert_false(structured_is_complete(&r));
    }
}

/* Rule: the lengths of the headers must be those of the message. */
static void contradicting_lengths_are_refused(void **state)
{
    static const char *const segments[] = { "hello", "world" };
    struct structured_reader r;
    struct message m;
    char content[MESSAGE_MAX];

    (void)state;
    build(&m, segments, 2);
    structured_reader_init(&r, m.length, 9);
    assert_int_equal(read_parts(&r, m.bytes, m.length, 5, content), STRUCTURED_MALFORMED);
    structured_reader_init(&r, m.length + 1, 10);
    assert_int_equal(read_parts(&r, m.bytes, m.length, 5, content), STRUCTURED_MALFORMED);
    put(&m, 1, 0); /* a byte after the end */
    structured_reader_init(&r, m.length - 1, 10);
    assert_int_equal(read_parts(&r, m.bytes, m.length, 5, content), STRUCTURED_MALFORMED);
    build(&m, segments, 0); /* no segments */
    structured_reader_init(&r, m.length, 0);
    assert_int_equal(read_parts(&r, m.bytes, m.length, 5, content), STRUCTURED_MALFORMED);
}

/* Writes content of this length, of which nothing exists but its position, in steps. */
static void check_written(uint64_t length, unsigned segments, size_t step)
{
    struct structured_writer w;
    struct structured_reader r;
    char *part = malloc(step);
    uint64_t at = 0, written = 0;

    structured_writer_init(&w, length);
    structured_reader_init(&r, structured_length(length), length);
    while (written < structured_length(length)) {
        size_t count = structured_write_frame(&w, part, step), used;

        if (count == 0) {
            count = structured_write_room(&w, step);
            assert_true(count > 0);
            for (size_t i = 0; i < count; i++)
                part[i] = (char)(at++ * 7);
            structured_write_content(&w, bytes_of(part, count));
        }
        written += count;
        assert_int_equal(structured_read_frame(&r, bytes_of(part, count), &used), STRUCTURED_OK);
        structured_read_content(&r, bytes_of(part + used, count - used));
    }
    assert_int_equal(written, structured_length(length));
    assert_int_equal(at, length);
    assert_int_equal(r.segments, segments);
    assert_true(structured_is_complete(&r));
    free(part);
}

/* Rule: segments of 4 MiB; content without bytes is one empty segment. */
static void written_messages_are_read(void **state)
{
    const uint64_t segment = STRUCTURED_SEGMENT_CONTENT;

    (void)state;
    for (uint64_t length = 0; length < 40; length++)
        for (size_t step = 1; step < 60; step += 3)
            check_written(length, 1, step);
    check_written(segment, 1, 65536);
    check_written(segment + 1, 2, 65536);
    check_written(3 * segment - 1, 3, 100003);
    /* the number of segments has 16 bits, so segments of larger content are longer */
    assert_int_equal(structured_length(UINT16_MAX * segment), UINT16_MAX * (segment + 18) + 21);
    assert_int_equal(structured_length(UINT16_MAX * segment + 1) - UINT16_MAX * segment - 1,
                     21 + 18 * ((UINT16_MAX * segment) / (segment + 1) + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read_in_parts),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(contradicting_lengths_are_refused),
        cmocka_unit_test(written_messages_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
