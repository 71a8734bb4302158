/* RocksDB calls the program's functions, and the start of a key space sees whether it does. As
 * test_not_interposed the functions are hidden from RocksDB, as with a library that has others: the
 * start says so, and what may not wait is left to who may. store/embedded/interposed.h; decision: 291 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/embedded/interposed.h"
#include "store/embedded/keyspace.h"

struct place {
    char path[32];
    char log[48];
    bool is_hidden;
};

static struct place place;

static bool is_logged(const char *sentence)
{
    char text[4096];
    FILE *file = fopen(place.log, "r");
    size_t size = fread(text, 1, sizeof text - 1, file);

    fclose(file);
    text[size] = '\0';
    return strstr(text, sentence) != NULL;
}

static void open_keyspace(enum keyspace_mode mode, struct keyspace *ret_keyspace)
{
    const char *problem;

    assert_int_equal(keyspace_open(place.path, NULL, 0, mode, ret_keyspace, &problem), STORE_OK);
}

static enum store_result get(const struct keyspace *keyspace, struct store_access access)
{
    rocksdb_pinnableslice_t *value;
    enum store_result result =
        keyspace_get(keyspace, keyspace->newest, access, bytes_from_string("key"), &value);
    size_t size;

    if (!result) {
        assert_memory_equal(rocksdb_pinnableslice_value(value, &size), "value", 5);
        rocksdb_pinnableslice_destroy(value);
    }
    return result;
}

/* The record, as a scan finds it. */
static enum store_result scan(const struct keyspace *keyspace, struct store_access access)
{
    rocksdb_readoptions_t *read = read_options_new(NULL);
    enum store_result result = STORE_NOT_FOUND;
    rocksdb_iterator_t *iterator;
    char *error = NULL;

    read_options_set_access(read, access);
    keyspace_enter(access);
    iterator = rocksdb_create_iterator(keyspace->db, read);
    rocksdb_iter_seek_to_first(iterator);
    keyspace_leave();
    if (rocksdb_iter_valid(iterator))
        result = STORE_OK;
    rocksdb_iter_get_error(iterator, &error);
    if (error)
        result = keyspace_error("scan", error);
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_destroy(read);
    return result;
}

/* Rule: making a key space shows whether the checksums are ours; a folder without tables proves nothing
 * of reads, and needs nothing: what is in memory is read by anybody. */
static void a_new_key_space_proves_sums(void **state)
{
    struct keyspace keyspace;
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();

    (void)state;
    open_keyspace(KEYSPACE_NEW, &keyspace);
    assert_int_equal(interposed_was_called(INTERPOSED_CRC32C), !place.is_hidden);
    assert_int_equal(interposed_was_called(INTERPOSED_CRC32C_JOIN), !place.is_hidden);
    assert_int_equal(interposed_was_called(INTERPOSED_SYNC), !place.is_hidden);
    assert_int_equal(is_logged("takes its checksums itself"), place.is_hidden);
    assert_false(is_logged("pread()"));

    rocksdb_writebatch_put(batch, "key", 3, "value", 5);
    assert_int_equal(keyspace_write(&keyspace, batch), STORE_OK);
    rocksdb_writebatch_destroy(batch);
    assert_int_equal(get(&keyspace, STORE_NO_WAIT), STORE_OK);
    assert_int_equal(interposed_was_called(INTERPOSED_SYNC_POINT), !place.is_hidden);
    keyspace_give_back(&keyspace); /* makes the first table */
    keyspace_prove_reads(&keyspace);
    assert_int_equal(is_logged("pread()"), place.is_hidden);
    keyspace_close(&keyspace);
}

/* Rule: while its caller is to sync all, a thread's syncs do nothing. decision: 636 */
static void syncs_wait_for_the_caller(void **state)
{
    (void)state;
    assert_int_equal(fsync(-1), -1);
    file_syncs_are(SYNC_LATER);
    assert_int_equal(fsync(-1), 0);
    assert_int_equal(fdatasync(-1), 0);
    file_syncs_are(SYNC_NOW);
    assert_int_equal(fdatasync(-1), -1);
}

/* Rule: opening a key space that has tables shows whether reads are ours. Where they are not, a get that
 * may not wait returns STORE_WAIT at once, and a scan what it needs no read for. */
static void a_start_proves_reads(void **state)
{
    struct keyspace keyspace;

    (void)state;
    open_keyspace(KEYSPACE_EXISTS, &keyspace);
    assert_int_equal(interposed_was_called(INTERPOSED_PREAD), !place.is_hidden);
    assert_int_equal(file_reads_may_wait(), place.is_hidden);
    assert_int_equal(is_logged("pread()"), place.is_hidden);
    assert_int_equal(get(&keyspace, STORE_NO_WAIT), place.is_hidden ? STORE_WAIT : STORE_OK);
    assert_int_equal(scan(&keyspace, STORE_NO_WAIT), place.is_hidden ? STORE_WAIT : STORE_OK);
    assert_int_equal(scan(&keyspace, STORE_MAY_BLOCK), STORE_OK);
    assert_int_equal(get(&keyspace, STORE_MAY_BLOCK), STORE_OK);
    keyspace_close(&keyspace);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(place.path, "/tmp/lagra-interposed-XXXXXX");
    if (!mkdtemp(place.path))
        return -1;
    snprintf(place.log, sizeof place.log, "%s.log", place.path);
    return log_open(LOG_WARN, place.log) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(place.log);
    return nftw(place.path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_key_space_proves_sums),
        cmocka_unit_test(syncs_wait_for_the_caller),
        cmocka_unit_test(a_start_proves_reads),
    };

    place.is_hidden = argc > 0 && strstr(argv[0], "not_interposed") != NULL;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
