/* Tables that are proven when they are read, and not all of them by a start. store/embedded/table_proof.h,
 * table_keeper.h, table_sectors.h; decision: 675 */
#include "conformance.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/manifest.h"
#include "store/embedded/records_files.h"
#include "store/embedded/table_keeper.h"
#include "store/embedded/table_proof.h"
#include "store/embedded/table_sectors.h"

#define PATH_SIZE     128
#define VALUE_BYTES   1000
#define FEW           3000 /* 3 MiB */
#define MANY          40000
/* What RocksDB looks at when it opens tables (512 KiB of the end of each), and a record's way through index, filter and block. */
#define A_START_READS ((uint64_t)4 << 20)

struct tables {
    int fd; /* first: with sanitizers gcc takes a string at offset 0 for one that may be at NULL */
    char folder[32];
    char records[PATH_SIZE];
    struct manifest manifest;
    struct table_proof proof;
    struct keyspace keyspace;
};

static void make_folder(struct tables *f)
{
    snprintf(f->folder, sizeof f->folder, "/tmp/lagra-proof-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->records, sizeof f->records, "%s/records", f->folder);
    assert_int_equal(mkdir(f->records, 0700), 0);
    f->fd = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(f->fd >= 0);
}

static int set_up(void **state)
{
    struct tables *f = calloc(1, sizeof *f);

    assert_non_null(f);
    make_folder(f);
    *state = f;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    struct tables *f = *state;

    close(f->fd);
    nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

static struct bytes key_of(unsigned number, char key[16])
{
    snprintf(key, 16, "%08u", number);
    return bytes_of(key, 8);
}

static void put_record(struct keyspace *keyspace, unsigned number)
{
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char value[VALUE_BYTES], key[16];

    memset(value, 'a' + (int)(number % 26), sizeof value);
    rocksdb_writebatch_put(batch, key_of(number, key).ptr, 8, value, sizeof value);
    while (keyspace_write(keyspace, batch) == STORE_WAIT)
        keyspace_pause();
    rocksdb_writebatch_destroy(batch);
}

/* So many records in tables. keeps: and the sums of their sectors. */
static void fill(struct tables *f, unsigned count, bool keeps)
{
    struct table_keeper keeper;
    const char *problem;

    assert_int_equal(keyspace_open(f->records, NULL, 0, KEYSPACE_NEW, &f->keyspace, &problem),
                     STORE_OK);
    assert_int_equal(table_keeper_open(&keeper, f->fd, &f->keyspace, NULL, keeps ? 1 : UINT64_MAX),
                     STORE_OK);
    for (unsigned i = 0; i < count; i++)
        put_record(&f->keyspace, i);
    keyspace_close(&f->keyspace);
    table_keeper_close(&keeper);
}

static uint64_t bytes_of_tables(const struct manifest *manifest)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < manifest->table_count; i++)
        bytes += manifest->tables[i].size;
    return bytes;
}

/* As a start does. returns what opening RocksDB does */
static enum store_result start(struct tables *f)
{
    int records = open(f->records, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
    char name[RECORDS_NAME_SIZE];
    const char *problem;
    uint64_t number;

    assert_int_equal(records_current(records, &number), STORE_OK);
    records_file_name(name, RECORDS_MANIFEST, number);
    fd = openat(records, name, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(manifest_read(fd, UINT64_MAX, &f->manifest), STORE_OK);
    close(fd);
    close(records);
    table_proof_init(&f->proof);
    assert_int_equal(
        table_proof_begin(&f->proof, f->fd, f->manifest.tables, f->manifest.table_count), STORE_OK);
    return keyspace_open(f->records, NULL, 0, KEYSPACE_EXISTS, &f->keyspace, &problem);
}

static void stop(struct tables *f)
{
    keyspace_close(&f->keyspace);
    table_proof_end(&f->proof);
    manifest_release(&f->manifest);
}

static enum store_result get_record(struct tables *f, unsigned number, struct store_access access)
{
    rocksdb_pinnableslice_t *value;
    char key[16];
    const char *found;
    size_t size;
    enum store_result result =
        keyspace_get(&f->keyspace, f->keyspace.newest, access, key_of(number, key), &value);

    if (result)
        return result;
    found = rocksdb_pinnableslice_value(value, &size);
    assert_int_equal(size, VALUE_BYTES);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(found[i], 'a' + (int)(number % 26));
    rocksdb_pinnableslice_destroy(value);
    return STORE_OK;
}

/* Turns a byte in the middle of the largest table, as a disk does: nobody has written the file. */
static void damage(struct tables *f)
{
    char path[2 * PATH_SIZE], name[RECORDS_NAME_SIZE];
    const struct manifest_table *largest = &f->manifest.tables[0];
    struct stat status;
    unsigned char byte;
    int fd;

    for (size_t i = 1; i < f->manifest.table_count; i++)
        if (f->manifest.tables[i].size > largest->size)
            largest = &f->manifest.tables[i];
    records_file_name(name, RECORDS_TABLE, largest->number);
    snprintf(path, sizeof path, "%s/%s", f->records, name);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(pread(fd, &byte, 1, (off_t)largest->size / 2), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)largest->size / 2), 1);
    assert_int_equal(futimens(fd, (const struct timespec[]){ status.st_atim, status.st_mtim }), 0);
    close(fd);
}

/* Rule: what a start reads does not grow with what is stored. */
static void a_start_reads_no_more_of_more(void **state)
{
    static const unsigned counts[] = { FEW, MANY };
    struct tables *f = *state;

    for (size_t i = 0; i < 2; i++) {
        fill(f, counts[i], /* keeps= */ true);
        assert_int_equal(start(f), STORE_OK);
        assert_true(bytes_of_tables(&f->manifest) > (uint64_t)counts[i] * VALUE_BYTES);
        assert_int_equal(get_record(f, 1, STORE_MAY_BLOCK), STORE_OK);
        assert_int_equal(get_record(f, counts[i] / 2, STORE_MAY_BLOCK), STORE_OK);
        assert_true(atomic_load(&f->proof.bytes_read) > 0);
        assert_true(atomic_load(&f->proof.bytes_read) < A_START_READS);
        stop(f);
        nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        close(f->fd);
        make_folder(f);
    }
}

/* Rule: nothing of a table is used before it is proven: once a damaged sector is come to, all of the table is an error; the
 * file's name is said, and the next start is to look at all. */
static void damage_is_found_when_it_is_read(void **state)
{
    struct tables *f = *state;
    unsigned errors = 0;

    fill(f, MANY, /* keeps= */ true);
    assert_int_equal(start(f), STORE_OK);
    damage(f);
    for (unsigned i = 0; i<MANY; i += errors> 0 ? 1000 : 1) {
        enum store_result result = get_record(f, i, STORE_MAY_BLOCK);

        assert_true(result == STORE_OK || result == STORE_IO);
        errors += result == STORE_IO;
        assert_int_equal(table_proof_finding(&f->proof) != NULL, errors > 0);
    }
    assert_true(errors > 0);
    assert_non_null(strstr(table_proof_finding(&f->proof), ".sst is corrupted"));
    assert_true(table_proof_is_asked(f->fd));
    assert_int_equal(table_proof_unask(f->fd), STORE_OK);
    assert_false(table_proof_is_asked(f->fd));
    stop(f);
}

/* Rule: without the sums of sectors, or with others than the table's, a table is read as a whole before it is used, by who
 * may wait; its sums are kept then. */
static void a_table_without_sums_is_read_as_a_whole(void **state)
{
    struct tables *f = *state;
    char command[PATH_SIZE];

    fill(f, MANY, /* keeps= */ false);
    for (int i = 0; i < 3; i++) {
        bool without = i != 1;

        assert_int_equal(start(f), STORE_OK);
        assert_int_equal(atomic_load(&f->proof.bytes_read) > bytes_of_tables(&f->manifest) / 4,
                         without);
        for (unsigned n = 0; n < MANY; n += 500)
            assert_int_equal(get_record(f, n, STORE_MAY_BLOCK), STORE_OK);
        assert_null(table_proof_finding(&f->proof));
        stop(f);
        snprintf(command, sizeof command,
                 "for f in %s/sums/*; do printf other | dd of=$f conv=notrunc status=none; done",
                 f->folder);
        if (i == 1) /* sums that are not the table's */
            assert_int_equal(system(command), 0);
    }
}

/* Rule: who may not wait does not read a table to prove it. */
static void who_may_not_wait_does_not(void **state)
{
    struct tables *f = *state;

    fill(f, MANY, /* keeps= */ true);
    assert_int_equal(start(f), STORE_OK);
    for (size_t i = 0; i < f->proof.count; i++)
        assert_true(table_proof_finish(&f->proof, i, NULL));
    assert_true(atomic_load(&f->proof.bytes_read) >= bytes_of_tables(&f->manifest));
    assert_int_equal(get_record(f, MANY / 2, STORE_NO_WAIT), STORE_OK);
    table_proof_leave(&f->proof);
    assert_int_equal(get_record(f, MANY / 3, STORE_NO_WAIT), STORE_OK);
    stop(f);
}

/* ---- a whole store ---- */

static unsigned failures;

static void count_failure(void)
{
    failures++;
}

static enum store_result open_store(const struct tables *f, struct store **ret_store,
                                    const char **ret_problem)
{
    const struct store_options options = {
        .location = f->folder, .sync = true, .whole_bytes = 1, .failed = count_failure
    };

    return store_open_embedded(&options, ret_store, ret_problem);
}

static void flip_all(const struct tables *f)
{
    char command[3 * PATH_SIZE];

    snprintf(command, sizeof command,
             "python3 -c \"import glob\nfor n in glob.glob('%s/*.sst'):\n"
             "  f = open(n, 'r+b'); b = f.read(1); f.seek(0); f.write(bytes([b[0] ^ 1]))\"",
             f->records);
    assert_int_equal(system(command), 0);
}

/* Rule: a start that serves before all is proven ends when it finds damage; the next one refuses, names the file, and
 * changes nothing, as often as it is tried; put right, it serves. */
static void the_next_start_refuses(void **state)
{
    struct tables *f = *state;
    struct store *store;
    const char *problem;

    assert_int_equal(rmdir(f->records), 0);
    assert_int_equal(open_store(f, &store, &problem), STORE_OK);
    (void)put_text(store, partition_of((struct guid){ { 1 } }, "p"), "key", "value");
    store_close(store);
    flip_all(f);
    if (!open_store(f, &store, &problem)) {
        for (int i = 0; i < 10000 && store_healthy(store); i++)
            usleep(1000);
        assert_int_equal(failures, 1);
        store_close(store);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_store(f, &store, &problem), STORE_CORRUPT);
        assert_non_null(strstr(problem, ".sst is corrupted"));
    }
    flip_all(f);
    assert_int_equal(open_store(f, &store, &problem), STORE_OK);
    assert_false(table_proof_is_asked(f->fd));
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_start_reads_no_more_of_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_found_when_it_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_without_sums_is_read_as_a_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_may_not_wait_does_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_next_start_refuses, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
