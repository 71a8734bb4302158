/* The order of keys in memory, by our functions in the place of RocksDB's: keys are found and listed
 * as bytes order them, whatever their length, and each snapshot sees its own value of a key.
 * store/embedded/interposed.h; decision: 217 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/embedded/keyspace.h"

#define KEYS     2000u
#define KEY_MAX  300u /* lengths from 120 on take two bytes in a memtable */
#define VERSIONS 3u

struct test_key {
    unsigned char bytes[KEY_MAX];
    size_t length;
};

static struct test_key keys[KEYS];
static size_t key_count;

/* Few different bytes, so that many keys begin alike or are the beginning of another. */
static void make_key(struct test_key *key, uint32_t *random)
{
    static const unsigned char bytes[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

    *random = *random * 1664525u + 1013904223u;
    key->length = 1 + (*random >> 16) % (*random & 0x8000 ? 8 : KEY_MAX);
    for (size_t i = 0; i < key->length; i++) {
        *random = *random * 1664525u + 1013904223u;
        key->bytes[i] = i + 7 < key->length ? 0x80 : bytes[(*random >> 16) % 5];
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct test_key *left = a, *right = b;
    size_t shorter = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->bytes, right->bytes, shorter);

    if (order != 0)
        return order;
    return left->length < right->length ? -1 : left->length > right->length;
}

static void put_all(struct keyspace *keyspace, char version)
{
    /* 7 has no divisor with KEYS in common: each once, in no order. */
    for (size_t i = 0; i < KEYS; i++) {
        const struct test_key *key = &keys[i * 7 % KEYS];
        rocksdb_writebatch_t *batch = rocksdb_writebatch_create();

        rocksdb_writebatch_put(batch, (const char *)key->bytes, key->length, &version, 1);
        assert_int_equal(keyspace_write(keyspace, batch), STORE_OK);
        rocksdb_writebatch_destroy(batch);
    }
}

static void sort_keys(void)
{
    qsort(keys, KEYS, sizeof keys[0], by_bytes);
    key_count = 1;
    for (size_t i = 1; i < KEYS; i++)
        if (by_bytes(&keys[i], &keys[key_count - 1]) != 0)
            keys[key_count++] = keys[i];
    assert_true(key_count > KEYS / 2);
}

static void check(const struct keyspace *keyspace, const rocksdb_snapshot_t *state, char version)
{
    rocksdb_readoptions_t *read = read_options_new(state);
    rocksdb_iterator_t *cursor = rocksdb_create_iterator(keyspace->db, read);

    rocksdb_iter_seek_to_first(cursor);
    for (size_t i = 0; i < key_count; i++) {
        struct bytes key = bytes_of(keys[i].bytes, keys[i].length);
        rocksdb_pinnableslice_t *value;
        size_t length;
        const char *at;

        assert_true(rocksdb_iter_valid(cursor));
        at = rocksdb_iter_key(cursor, &length);
        assert_true(bytes_equal(bytes_of(at, length), key));
        assert_int_equal(*rocksdb_iter_value(cursor, &length), version);
        assert_int_equal(keyspace_get(keyspace, read, STORE_MAY_BLOCK, key, &value), STORE_OK);
        assert_int_equal(*rocksdb_pinnableslice_value(value, &length), version);
        rocksdb_pinnableslice_destroy(value);
        rocksdb_iter_next(cursor);
    }
    assert_false(rocksdb_iter_valid(cursor));
    rocksdb_iter_destroy(cursor);
    rocksdb_readoptions_destroy(read);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static void keys_are_in_order(void **state)
{
    char path[] = "/tmp/lagra-order-XXXXXX";
    const rocksdb_snapshot_t *states[VERSIONS];
    struct keyspace keyspace;
    const char *problem;
    uint32_t random = 1;

    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        make_key(&keys[i], &random);
    assert_non_null(mkdtemp(path));
    assert_int_equal(keyspace_open(path, NULL, 0, KEYSPACE_NEW, &keyspace, &problem), STORE_OK);
    for (unsigned i = 0; i < VERSIONS; i++) {
        put_all(&keyspace, (char)('a' + i));
        states[i] = rocksdb_create_snapshot(keyspace.db);
    }
    sort_keys();
    for (unsigned i = 0; i < VERSIONS; i++) {
        check(&keyspace, states[i], (char)('a' + i));
        rocksdb_release_snapshot(keyspace.db, states[i]);
    }
    keyspace_discard(&keyspace, path);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(keys_are_in_order) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
