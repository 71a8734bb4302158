/* What RocksDB has open at most, with the options that the store sets, is within what is set aside
 * for it. docs/failure-guarantees.md e, store/embedded/keyspace.h
 *
 * All files are a 512th of their size, so that a small folder has several times as many tables as
 * may be held open, and a few dozen KiB flush, compact and begin a log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/embedded/keyspace.h"

#define SMALL_BYTES "32768"
#define KEYS        24000u
#define VALUE_BYTES 700
/* At the same time in different places: more than threads that scan. */
#define CURSORS     128
#define ROUNDS      15
#define CHANGES     200

struct fixture {
    char path[64];
    struct keyspace keyspace;
    rocksdb_iterator_t *cursors[CURSORS];
    uint64_t random;
    unsigned most;
    unsigned most_tables;
};

static uint64_t random_next(struct fixture *f)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return f->random;
}

static struct bytes random_key(struct fixture *f, char text[16])
{
    snprintf(text, 16, "%08u", (unsigned)(random_next(f) % KEYS));
    return bytes_from_string(text);
}

/* Counts the files of the folder that this process has open. */
static void look(struct fixture *f)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0, tables = 0;
    const struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        char target[PATH_MAX] = "";

        if (readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) < 0)
            continue;
        if (!strstr(target, f->path))
            continue;
        count++;
        tables += strstr(target, ".sst") != NULL;
    }
    closedir(dir);
    if (count > f->most)
        f->most = count;
    if (tables > f->most_tables)
        f->most_tables = tables;
    assert_in_range(count, 1, KEYSPACE_DESCRIPTORS);
}

/* Changes records all over the key space, as fast as RocksDB takes them. */
static void change(struct fixture *f, unsigned count)
{
    char value[VALUE_BYTES];

    for (unsigned i = 0; i < count; i++) {
        rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
        enum store_result result;
        char text[16];
        struct bytes key = random_key(f, text);

        memset(value, (int)(random_next(f) & 0xff), sizeof value);
        rocksdb_writebatch_put(batch, key.ptr, key.len, value, sizeof value);
        while ((result = keyspace_write(&f->keyspace, batch)) == STORE_WAIT) {
            look(f);
            keyspace_pause();
        }
        assert_int_equal(result, STORE_OK);
        rocksdb_writebatch_destroy(batch);
    }
    assert_int_equal(keyspace_write_log(&f->keyspace, false), STORE_OK);
    look(f);
}

/* Scans begin in other places and stay where they are, each of a state of its own. */
static void scan(struct fixture *f)
{
    for (size_t i = 0; i < CURSORS; i++) {
        char text[16];
        struct bytes key = random_key(f, text);

        if (random_next(f) % 4 == 0 && f->cursors[i]) {
            rocksdb_iter_destroy(f->cursors[i]);
            f->cursors[i] = NULL;
        }
        if (!f->cursors[i])
            f->cursors[i] = rocksdb_create_iterator(f->keyspace.db, f->keyspace.newest);
        rocksdb_iter_seek(f->cursors[i], key.ptr, key.len);
        look(f);
    }
}

static void expect_whole(rocksdb_pinnableslice_t *value)
{
    size_t length;

    (void)rocksdb_pinnableslice_value(value, &length);
    assert_int_equal(length, VALUE_BYTES);
    rocksdb_pinnableslice_destroy(value);
}

/* From memory alone first: most tables are closed then. */
static void read_everywhere(struct fixture *f)
{
    for (unsigned i = 0; i < 500; i++) {
        rocksdb_pinnableslice_t *value;
        char text[16];
        struct bytes key = random_key(f, text);

        if (keyspace_get_cached(&f->keyspace, key, &value) == STORE_OK)
            expect_whole(value);
        if (keyspace_get(&f->keyspace, f->keyspace.newest, STORE_MAY_BLOCK, key, &value) ==
            STORE_OK)
            expect_whole(value);
        if (i % 100 == 0)
            look(f);
    }
}

/* Rule: however many tables there are, and while all of them are read, scanned, flushed and
 * compacted, RocksDB has no more files open than KEYSPACE_DESCRIPTORS. */
static void no_more_than_set_aside(void **state)
{
    struct fixture *f = *state;

    change(f, KEYS);
    for (unsigned round = 0; round < ROUNDS; round++) {
        scan(f);
        read_everywhere(f);
        change(f, CHANGES);
    }
    print_message("open at most: %u files, of them %u tables\n", f->most, f->most_tables);
    assert_true(f->most_tables >= KEYSPACE_TABLES_OPEN / 2);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const char *problem = "";
    struct sizes sizes;

    assert_non_null(f);
    assert_int_equal(setenv("LAGRA_WRITE_BUFFER_BYTES", SMALL_BYTES, 1), 0);
    sizes = sizes_of(SIZES_RESERVE_USEFUL, true); /* more tables of level 0 */
    *state = f;
    f->random = 88172645463325252u;
    strcpy(f->path, "descriptors-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    assert_int_equal(keyspace_open(f->path, &sizes, 0, KEYSPACE_NEW, &f->keyspace, &problem),
                     STORE_OK);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < CURSORS; i++)
        if (f->cursors[i])
            rocksdb_iter_destroy(f->cursors[i]);
    keyspace_discard(&f->keyspace, f->path);
    free(f);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_more_than_set_aside, setup, teardown),
    };

#ifndef LAGRA_GATES
    print_message("skipped: tables have their full size without -Dgates=true\n");
    return 0;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
