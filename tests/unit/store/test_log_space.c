/* Zeros ahead of the log: none ever lies over a record, a sync finds the file no longer than it was,
 * and a start reads a log exactly as far as batch follows batch. store/embedded/log_space.h,
 * store/embedded/log_chain.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/embedded/log_chain.h"
#include "store/embedded/log_space.h"
#include "store/embedded/record_log.h"
#include "store/embedded/records_proof.h"

#define PATH_SIZE   128
/* A batch of one such value, with its header, is a block of the log. */
#define BLOCK_VALUE (RECORD_LOG_BLOCK - 7 - 12 - 1 - 1 - 8 - 3)

struct fixture {
    char folder[32];
    char path[PATH_SIZE]; /* of records/ */
    int records;
    struct keyspace keyspace;
    struct log_space space;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const char *problem;

    assert_non_null(f);
    snprintf(f->folder, sizeof f->folder, "/tmp/lagra-space-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/records", f->folder);
    assert_int_equal(mkdir(f->path, 0700), 0);
    assert_int_equal(keyspace_open(f->path, NULL, 0, KEYSPACE_NEW, &f->keyspace, &problem),
                     STORE_OK);
    f->records = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(f->records >= 0);
    log_space_open(&f->space, f->records);
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
    struct fixture *f = *state;

    log_space_close(&f->space);
    close(f->records);
    keyspace_close(&f->keyspace);
    nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

static void put(struct keyspace *keyspace, unsigned number, size_t length)
{
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *value = malloc(length);
    char key[16];

    assert_non_null(value);
    memset(value, 'v', length);
    snprintf(key, sizeof key, "%08u", number);
    rocksdb_writebatch_put(batch, key, 8, value, length);
    while (keyspace_write(keyspace, batch) == STORE_WAIT)
        keyspace_pause();
    rocksdb_writebatch_destroy(batch);
    free(value);
}

static void prepare_and_sync(struct fixture *f)
{
    log_space_prepare(&f->space, &f->keyspace);
    assert_int_equal(keyspace_write_log(&f->keyspace, true), STORE_OK);
}

static uint64_t log_size(const struct fixture *f, uint64_t *ret_number)
{
    char name[RECORDS_NAME_SIZE];
    struct stat status;

    assert_int_equal(records_newest_log(f->records, ret_number), STORE_OK);
    records_file_name(name, RECORDS_LOG, *ret_number);
    assert_int_equal(fstatat(f->records, name, &status, 0), 0);
    return (uint64_t)status.st_size;
}

/* The sequence that logs from a number on prove, where no table has any of their records. */
static uint64_t proven_from(int records, uint64_t first_log)
{
    struct manifest manifest = { .first_log = first_log };
    struct damage damage = { 0 };
    struct records_files files;
    struct log_chain chain;
    uint64_t sequence;

    assert_int_equal(records_files_list(records, &files), STORE_OK);
    assert_int_equal(log_chain_follow(records, &files, &manifest, &damage, &chain), STORE_OK);
    assert_int_equal(damage.count, 0);
    sequence = chain.sequence;
    log_chain_release(&chain);
    records_files_release(&files);
    return sequence;
}

static uint64_t proven(int records)
{
    return proven_from(records, 0);
}

static bool is_prepared(const struct fixture *f)
{
    if (f->space.records >= 0)
        return true;
    print_message("not on a file system that is written in place\n");
    return false;
}

/* Rule: there is room before it is needed, so that a sync finds the log as long as it was; a longer
 * log has more of it. */
static void room_is_made_ahead(void **state)
{
    struct fixture *f = *state;
    uint64_t number, size = 0;
    unsigned grown = 0;

    if (!is_prepared(f))
        skip();
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t before = size;

        put(&f->keyspace, i, 1000);
        prepare_and_sync(f);
        size = log_size(f, &number);
        assert_true(size >= (i + 1) * 1000ul);
        assert_int_equal(size, f->space.ready);
        grown += size > before;
    }
    assert_in_range(grown, 2, 8);
    assert_int_equal(proven(f->records), 2000);
}

/* Rule: where RocksDB has changed something else than the log, which it does with each flush and compaction that
 * ends, there is room ahead as before. */
static void room_goes_on(void **state)
{
    struct sizes sizes = sizes_of(SIZES_RESERVE_USEFUL, false);
    struct fixture *f = *state;
    uint64_t version = 0, number;

    if (!is_prepared(f))
        skip();
    for (unsigned i = 0; i < 2000; i++) {
        if (i % 100 == 99) {
            sizes.level1++;
            keyspace_set_levels(&f->keyspace, &sizes);
            assert_true(keyspace_version(&f->keyspace) > version);
            version = keyspace_version(&f->keyspace);
        }
        put(&f->keyspace, i, 1000);
        prepare_and_sync(f);
        assert_int_equal(log_size(f, &number), f->space.ready);
    }
    assert_int_equal(proven(f->records), 2000);
}

/* Rule: each log that RocksDB begins is followed; the one before is cut to its length when RocksDB
 * closes it. */
static void new_log_is_followed(void **state)
{
    struct fixture *f = *state;
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    uint64_t first, second;
    char *error = NULL;

    if (!is_prepared(f))
        skip();
    put(&f->keyspace, 1, 100);
    prepare_and_sync(f);
    assert_true(log_size(f, &first) > 1000);
    rocksdb_flush(f->keyspace.db, options, &error);
    rocksdb_flushoptions_destroy(options);
    assert_null(error);
    put(&f->keyspace, 2, 100);
    prepare_and_sync(f);
    assert_true(log_size(f, &second) > 1000);
    assert_true(second > first);
}

/* Rule: the first log whose records are not in tables is read, those before it are not. */
static void logs_count_from_the_first(void **state)
{
    struct fixture *f = *state;
    uint64_t number;

    for (unsigned i = 0; i < 3; i++)
        put(&f->keyspace, i, 100);
    prepare_and_sync(f);
    (void)log_size(f, &number);
    assert_int_equal(proven_from(f->records, number - 1), 3);
    assert_int_equal(proven_from(f->records, number), 3);
    assert_int_equal(proven_from(f->records, number + 1), 0);
}

struct writers {
    struct keyspace *keyspace;
    _Atomic unsigned next;
    atomic_int running;
};

static void *write_much(void *argument)
{
    struct writers *writers = argument;
    unsigned number;

    while ((number = atomic_fetch_add(&writers->next, 1)) < 240)
        put(writers->keyspace, number, number % 3 == 0 ? 150000 : 700);
    atomic_fetch_sub(&writers->running, 1);
    return NULL;
}

/* Rule: zeros never lie over records, though threads that commit write the log as well when RocksDB's
 * buffer for it is full. */
static void zeros_lie_over_no_record(void **state)
{
    struct fixture *f = *state;
    struct writers writers = { .keyspace = &f->keyspace, .running = 2 };
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_much, &writers), 0);
    while (atomic_load(&writers.running) > 0)
        prepare_and_sync(f);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    prepare_and_sync(f);
    assert_int_equal(proven(f->records), keyspace_sequence(&f->keyspace));
    assert_int_equal(keyspace_sequence(&f->keyspace), 240);
}

/* Copies the folder as a crash would leave it, with a hole of zeros in the place of a block of the
 * log. */
static void copy_with_hole(const struct fixture *f, const char *to, unsigned block)
{
    static const char zeros[RECORD_LOG_BLOCK];
    char command[2 * PATH_SIZE + 32], name[RECORDS_NAME_SIZE], path[2 * PATH_SIZE];
    uint64_t number;
    int fd;

    (void)log_size(f, &number);
    snprintf(command, sizeof command, "cp -r %s %s", f->path, to);
    assert_int_equal(system(command), 0);
    records_file_name(name, RECORDS_LOG, number);
    snprintf(path, sizeof path, "%s/%s", to, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, zeros, sizeof zeros, block * RECORD_LOG_BLOCK), RECORD_LOG_BLOCK);
    close(fd);
}

/* Rule: a commit survives only with all before it. A power cut may leave a block of zeros in the
 * place of one that was not synced, and whole batches behind it; RocksDB would read those. */
static void nothing_is_read_behind_a_hole(void **state)
{
    struct fixture *f = *state;
    char folder[PATH_SIZE], records[PATH_SIZE + 16];
    struct damage damage = { 0 };
    struct records_proof proof;
    struct keyspace found;
    const char *problem;
    int at, synced;

    for (unsigned i = 0; i < 10; i++)
        put(&f->keyspace, i, BLOCK_VALUE);
    prepare_and_sync(f);
    snprintf(folder, sizeof folder, "%s/crashed", f->folder);
    snprintf(records, sizeof records, "%s/records", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    copy_with_hole(f, records, 4);
    at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    synced = openat(at, "synced", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(at >= 0 && synced >= 0);
    assert_int_equal(records_prove(at, synced, 4, PROOF_MEND, PROOF_WHOLE_BYTES, &damage, &proof),
                     STORE_OK);
    assert_int_equal(proof.sequence, 4);
    assert_int_equal(keyspace_open(records, NULL, 0, KEYSPACE_EXISTS, &found, &problem), STORE_OK);
    assert_int_equal(keyspace_sequence(&found), 4);
    keyspace_close(&found);
    close(synced);
    close(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(room_is_made_ahead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(room_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(new_log_is_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(logs_count_from_the_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zeros_lie_over_no_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_read_behind_a_hole, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
