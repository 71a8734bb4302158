/* RocksDB's form of a log: what was written is read, however it is cut; whatever byte is damaged,
 * no record is read that was not written, and those before it all are.
 * store/embedded/record_log.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/endian.h"
#include "store/embedded/record_log.h"

#define RECORDS     5
#define HEADER_SIZE 7u
#define FILE_MAX    (4 * RECORD_LOG_BLOCK)

/* The third goes over two ends of blocks. */
static const size_t sizes[RECORDS] = { 10, 0, 2 * RECORD_LOG_BLOCK, 300, 40 };

struct image {
    unsigned char bytes[FILE_MAX];
    size_t size;
    size_t ends[RECORDS]; /* of records */
    int fd;
};

static unsigned char byte_of(size_t record, size_t at)
{
    return (unsigned char)(record * 31 + at * 7 + at / 251);
}

static void add_fragment(struct image *image, int type, size_t record, size_t from, size_t length)
{
    unsigned char *at = image->bytes + image->size;
    uint32_t crc;

    for (size_t i = 0; i < length; i++)
        at[HEADER_SIZE + i] = byte_of(record, from + i);
    at[4] = (unsigned char)length;
    at[5] = (unsigned char)(length >> 8);
    at[6] = (unsigned char)type;
    crc = crc32c(0, at + 6, length + 1);
    le32_put(at, (crc >> 15 | crc << 17) + 0xA282EAD8u);
    image->size += HEADER_SIZE + length;
}

static void add_record(struct image *image, size_t record)
{
    size_t from = 0;
    bool first = true;

    do {
        size_t left = RECORD_LOG_BLOCK - image->size % RECORD_LOG_BLOCK;
        size_t rest = sizes[record] - from;
        size_t length;

        if (left < HEADER_SIZE) {
            image->size += left;
            continue;
        }
        length = rest < left - HEADER_SIZE ? rest : left - HEADER_SIZE;
        add_fragment(image, length == rest ? (first ? 1 : 4) : (first ? 2 : 3), record, from,
                     length);
        from += length;
        first = false;
    } while (first || from < sizes[record]);
    image->ends[record] = image->size;
}

static int make_image(void **state)
{
    struct image *image = calloc(1, sizeof *image);
    char name[] = "/tmp/lagra-record-log-XXXXXX";

    assert_non_null(image);
    for (size_t i = 0; i < RECORDS; i++)
        add_record(image, i);
    image->fd = mkstemp(name);
    assert_true(image->fd >= 0);
    unlink(name);
    *state = image;
    return 0;
}

static int free_image(void **state)
{
    struct image *image = *state;

    close(image->fd);
    free(image);
    return 0;
}

static void write_image(const struct image *image, size_t size)
{
    assert_int_equal(ftruncate(image->fd, 0), 0);
    assert_int_equal(pwrite(image->fd, image->bytes, size, 0), (ssize_t)size);
}

static bool is_record(struct bytes found, size_t record)
{
    if (record >= RECORDS || found.len != sizes[record])
        return false;
    for (size_t i = 0; i < found.len; i++)
        if ((unsigned char)found.ptr[i] != byte_of(record, i))
            return false;
    return true;
}

/* Reads up to the first thing that is no record; each must be the next one. */
static enum record_log_result read_all(const struct image *image, size_t *ret_count)
{
    enum record_log_result result;
    struct record_log log;
    struct bytes found;

    *ret_count = 0;
    record_log_init(&log, image->fd, UINT64_MAX);
    while ((result = record_log_next(&log, &found)) == RECORD_LOG_RECORD) {
        assert_true(is_record(found, *ret_count));
        assert_int_equal(log.whole_end, image->ends[*ret_count]);
        (*ret_count)++;
    }
    record_log_release(&log);
    return result;
}

static size_t whole_below(const struct image *image, size_t size)
{
    size_t count = 0;

    while (count < RECORDS && image->ends[count] <= size)
        count++;
    return count;
}

static void test_every_cut(void **state)
{
    struct image *image = *state;

    for (size_t size = 0; size <= image->size; size += size < 200 || size > 65000 ? 1 : 997) {
        size_t whole = whole_below(image, size);
        size_t end = whole > 0 ? image->ends[whole - 1] : 0;
        enum record_log_result result;
        size_t count;

        write_image(image, size);
        result = read_all(image, &count);
        assert_int_equal(count, whole);
        assert_int_equal(result, size == end ? RECORD_LOG_END : RECORD_LOG_TORN);
    }
}

static void test_every_byte_damaged(void **state)
{
    struct image *image = *state;

    for (size_t at = 0; at < image->size; at += at < 200 || at > 65400 ? 1 : 997) {
        size_t count;

        image->bytes[at] ^= (unsigned char)(1u << at % 8);
        write_image(image, image->size);
        /* Zeros at the end of a block are nobody's. */
        if (read_all(image, &count) == RECORD_LOG_TORN)
            assert_int_equal(count, whole_below(image, at));
        else
            assert_int_equal(count, RECORDS);
        image->bytes[at] ^= (unsigned char)(1u << at % 8);
    }
}

/* Salvage: behind a damaged record those of later blocks are found. */
static void test_skip(void **state)
{
    struct image *image = *state;
    struct record_log log;
    struct bytes found;

    image->bytes[3] ^= 1;
    write_image(image, image->size);
    record_log_init(&log, image->fd, UINT64_MAX);
    assert_int_equal(record_log_next(&log, &found), RECORD_LOG_TORN);
    assert_true(record_log_skip(&log));
    for (size_t i = 3; i < RECORDS; i++) {
        assert_int_equal(record_log_next(&log, &found), RECORD_LOG_RECORD);
        assert_true(is_record(found, i));
    }
    assert_int_equal(record_log_next(&log, &found), RECORD_LOG_END);
    assert_false(record_log_skip(&log));
    record_log_release(&log);
    image->bytes[3] ^= 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_byte_damaged),
        cmocka_unit_test(test_skip),
    };

    return cmocka_run_group_tests(tests, make_image, free_image);
}
