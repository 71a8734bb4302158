/* Tables read without RocksDB. store/embedded/table_file.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/embedded/table_file.h"

#define RECORDS    20000
#define KEY_LENGTH 9
#define CRC32C     1
/* The index, or its upper level, and what stands behind it. */
#define TAIL_BYTES (64u << 10)

static char path[] = "/tmp/lagra-table-XXXXXX";

struct found {
    unsigned visited[RECORDS];
    unsigned lost[RECORDS];
};

static void key_of(int number, char key[KEY_LENGTH + 1])
{
    snprintf(key, KEY_LENGTH + 1, "key%06d", number);
}

static void write_table(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_envoptions_t *environment = rocksdb_envoptions_create();
    rocksdb_sstfilewriter_t *writer;
    char key[KEY_LENGTH + 1], value[100], *error = NULL;

    memset(value, 'v', sizeof value);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_block_based_options_set_format_version(table, 5);
    rocksdb_block_based_options_set_checksum(table, CRC32C);
    rocksdb_block_based_options_set_index_type(
        table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_options_set_block_based_table_factory(options, table);
    writer = rocksdb_sstfilewriter_create(environment, options);
    rocksdb_sstfilewriter_open(writer, path, &error);
    for (int i = 0; i < RECORDS && !error; i++) {
        key_of(i, key);
        rocksdb_sstfilewriter_put(writer, key, KEY_LENGTH, value, sizeof value, &error);
    }
    if (!error)
        rocksdb_sstfilewriter_finish(writer, &error);
    assert_null(error);
    rocksdb_sstfilewriter_destroy(writer);
    rocksdb_envoptions_destroy(environment);
    rocksdb_block_based_options_destroy(table);
    rocksdb_options_destroy(options);
}

static bool visit(void *context, const struct table_entry *entry)
{
    struct found *found = context;
    int number = (int)strtol(entry->key.ptr + 3, NULL, 10);
    char key[KEY_LENGTH + 1];

    key_of(number, key);
    assert_true(bytes_is(entry->key, key));
    assert_int_equal(entry->kind, CHANGE_PUT);
    assert_int_equal(entry->value.len, 100);
    found->visited[number]++;
    return true;
}

static void lose(void *context, struct bytes after, struct bytes to)
{
    struct found *found = context;
    char key[KEY_LENGTH + 1];

    for (int i = 0; i < RECORDS; i++) {
        struct bytes one = bytes_of(key, KEY_LENGTH);

        key_of(i, key);
        if (bytes_compare(one, after) > 0 && (!to.ptr || bytes_compare(one, to) <= 0))
            found->lost[i]++;
    }
}

static enum store_result read_table(struct found *found)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum store_result result;

    assert_true(fd >= 0);
    memset(found, 0, sizeof *found);
    result = table_file_read(fd, visit, lose, found);
    close(fd);
    return result;
}

static void flip(int fd, off_t at)
{
    uint8_t byte;

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

/* Rule: of a table with one damaged byte each record is read, or said to be lost; not many are. */
static void reads_what_is_whole(void **state)
{
    struct found *found = calloc(1, sizeof *found);
    int fd = mkstemp(path);
    off_t size;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    write_table();
    assert_int_equal(read_table(found), STORE_OK);
    for (int i = 0; i < RECORDS; i++)
        assert_true(found->visited[i] == 1 && found->lost[i] == 0);
    fd = open(path, O_RDWR | O_CLOEXEC);
    size = lseek(fd, 0, SEEK_END);
    for (off_t at = 0; at < size; at += at < size - TAIL_BYTES ? 100003 : 499) {
        unsigned lost = 0;

        flip(fd, at);
        if (read_table(found) == STORE_OK) {
            for (int i = 0; i < RECORDS; i++) {
                assert_true(found->visited[i] + found->lost[i] >= 1 && found->visited[i] <= 1);
                lost += found->lost[i] > 0;
            }
            assert_true(lost < RECORDS / 2);
        } else {
            assert_true(at > size - TAIL_BYTES); /* the index, or what says where it is */
        }
        flip(fd, at);
    }
    close(fd);
    unlink(path);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
