/* Which tables a MANIFEST names after all of its edits. store/embedded/manifest.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "base/codec.h"
#include "base/crc.h"
#include "base/endian.h"
#include "store/embedded/manifest.h"
#include "store/embedded/record_log.h"

#define HEADER_SIZE 7u
#define WHOLE       1
#define ARENA_SIZE  (64u << 10)

/* Tags of RocksDB's, written as it writes them. */
enum { NEXT_FILE = 3, DELETED_FILE = 6, NEW_FILE = 103, END = 1, CRC = 7 };

struct image {
    struct arena *arena;
    struct text edit; /* that is being made */
    struct text file;
};

static void begin_edit(struct image *image)
{
    text_init(&image->edit, image->arena, 64);
}

/* Edits here are short: each is one fragment, all in the first block. */
static void end_edit(struct image *image)
{
    struct bytes edit = text_bytes(&image->edit);
    unsigned char header[HEADER_SIZE] = { 0, 0, 0, 0, 0, 0, WHOLE };
    uint32_t crc;

    header[4] = (unsigned char)edit.len;
    header[5] = (unsigned char)(edit.len >> 8);
    crc = crc32c(crc32c(0, header + 6, 1), edit.ptr, edit.len);
    le32_put(header, (crc >> 15 | crc << 17) + 0xA282EAD8u);
    encode_fixed(&image->file, header, sizeof header);
    encode_fixed(&image->file, edit.ptr, edit.len);
    assert_true(text_bytes(&image->file).len < RECORD_LOG_BLOCK - HEADER_SIZE);
}

static struct image *make_image(void)
{
    struct arena *arena = arena_new(ARENA_SIZE);
    struct image *image = arena_array(arena, 1, sizeof *image);

    image->arena = arena;
    text_init(&image->file, arena, 4096);
    begin_edit(image);
    encode_u64(&image->edit, NEXT_FILE);
    encode_u64(&image->edit, 100);
    end_edit(image);
    return image;
}

static void encode_string(struct text *to, const void *from, size_t size)
{
    encode_u64(to, size);
    encode_fixed(to, from, size);
}

static void add(struct image *image, unsigned level, unsigned number)
{
    unsigned char crc[4];

    le32_put(crc, 0);
    encode_u64(&image->edit, NEW_FILE);
    encode_u64(&image->edit, level);
    encode_u64(&image->edit, number);
    encode_u64(&image->edit, 1000 + number); /* its size */
    encode_string(&image->edit, "a", 1);
    encode_string(&image->edit, "z", 1);
    encode_u64(&image->edit, 1);
    encode_u64(&image->edit, 2);
    encode_u64(&image->edit, CRC);
    encode_string(&image->edit, crc, sizeof crc);
    encode_u64(&image->edit, END);
}

static void delete_file(struct image *image, unsigned level, unsigned number)
{
    encode_u64(&image->edit, DELETED_FILE);
    encode_u64(&image->edit, level);
    encode_u64(&image->edit, number);
}

/* Reads it, and frees the image. */
static enum store_result read_image(struct image *image, struct manifest *ret_manifest)
{
    struct bytes file = text_bytes(&image->file);
    FILE *on_disk = tmpfile();
    enum store_result result;

    assert_non_null(on_disk);
    assert_int_equal(pwrite(fileno(on_disk), file.ptr, file.len, 0), (ssize_t)file.len);
    result = manifest_read(fileno(on_disk), UINT64_MAX, ret_manifest);
    fclose(on_disk);
    arena_free(image->arena);
    return result;
}

static void assert_corrupt(struct image *image)
{
    struct manifest manifest;

    assert_int_equal(read_image(image, &manifest), STORE_CORRUPT);
    manifest_release(&manifest);
}

static void test_none(void **state)
{
    struct manifest manifest;

    (void)state;
    assert_int_equal(read_image(make_image(), &manifest), STORE_OK);
    assert_int_equal(manifest.table_count, 0);
    manifest_release(&manifest);
}

/* Compactions: an edit removes what it has read before it adds what it has made, which may be the same file at another
 * level. */
static void test_tables_that_are_left(void **state)
{
    static const struct manifest_table left[] = { { .number = 7, .level = 1 },
                                                  { .number = 9, .level = 2 },
                                                  { .number = 12, .level = 0 } };
    struct image *image = make_image();
    struct manifest manifest;

    (void)state;
    begin_edit(image);
    add(image, 0, 9);
    add(image, 0, 7);
    add(image, 0, 8);
    end_edit(image);
    begin_edit(image); /* 7 and 9 are moved, 8 is read, and 10 comes of it */
    delete_file(image, 0, 7);
    delete_file(image, 0, 8);
    delete_file(image, 0, 9);
    add(image, 1, 7);
    add(image, 1, 9);
    add(image, 1, 10);
    end_edit(image);
    begin_edit(image); /* 9 moves on; 7 goes and comes again */
    delete_file(image, 1, 9);
    add(image, 2, 9);
    delete_file(image, 1, 7);
    add(image, 1, 7);
    add(image, 0, 12);
    delete_file(image, 1, 10);
    end_edit(image);
    assert_int_equal(read_image(image, &manifest), STORE_OK);
    assert_int_equal(manifest.table_count, sizeof left / sizeof left[0]);
    for (size_t i = 0; i < manifest.table_count; i++) {
        assert_int_equal(manifest.tables[i].number, left[i].number);
        assert_int_equal(manifest.tables[i].level, left[i].level);
        assert_int_equal(manifest.tables[i].size, 1000 + left[i].number);
    }
    manifest_release(&manifest);
}

/* RocksDB refuses such a MANIFEST as well. */
static void test_tables_that_cannot_be(void **state)
{
    struct image *image = make_image();

    (void)state;
    begin_edit(image);
    add(image, 0, 7);
    delete_file(image, 1, 7);
    end_edit(image);
    assert_corrupt(image);

    image = make_image();
    begin_edit(image); /* before it is added */
    delete_file(image, 0, 7);
    add(image, 0, 7);
    end_edit(image);
    assert_corrupt(image);

    image = make_image();
    begin_edit(image);
    add(image, 0, 7);
    delete_file(image, 0, 7);
    end_edit(image);
    begin_edit(image);
    delete_file(image, 0, 7);
    end_edit(image);
    assert_corrupt(image);

    image = make_image();
    begin_edit(image);
    add(image, 0, 7);
    add(image, 0, 7);
    end_edit(image);
    assert_corrupt(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_tables_that_are_left),
        cmocka_unit_test(test_tables_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
