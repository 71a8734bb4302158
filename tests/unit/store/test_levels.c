/* How large RocksDB's levels may become follows what the disk has: sizes.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/embedded/disk_space.h"
#include "store/embedded/keyspace.h"

#define LEVEL0_MORE 2 /* tables that were full when RocksDB had commits wait */

/* The largest compaction, in bytes of a memtable: all of level 0 into a level 1 that has not exceeded its size by more. */
static uint64_t largest_compaction(const struct sizes *sizes)
{
    uint64_t level0 = (uint64_t)sizes->level0_stop + LEVEL0_MORE;

    return level0 + level0 * (sizes->level1 / sizes->memtable) / (uint64_t)sizes->level0_compact;
}

/* Rule: the largest compaction, with what is flushed and logged meanwhile, finds its room in one reserve, or in the
 * reserves that are free when it may begin. store/embedded/sizes.h */
static void compactions_find_their_room(void **state)
{
    static const uint64_t reserves[] = { 1, SIZES_RESERVE_LEAST, 100u << 20, SIZES_RESERVE_USEFUL,
                                         4 * SIZES_RESERVE_USEFUL };

    (void)state;
    for (size_t i = 0; i < sizeof reserves / sizeof reserves[0]; i++) {
        struct sizes scant = sizes_of(reserves[i], false), roomy = sizes_of(reserves[i], true);

        assert_int_equal(largest_compaction(&scant), 28);
        assert_true(largest_compaction(&roomy) + 6 <= 40 * (SIZES_ROOMY_UNTIL - 1));
        assert_true(roomy.level1 > scant.level1);
        assert_int_equal(roomy.memtable, scant.memtable);
        assert_int_equal(roomy.compaction, scant.compaction);
    }
}

static void count(void *context)
{
    ++*(unsigned *)context;
}

/* Rule: eight reserves that are free are room, until fewer than six are; each change is told once. */
static void room_is_what_is_free(void **state)
{
    struct disk_space space;
    struct statvfs disk;
    unsigned told = 0;
    const char *problem;
    uint64_t free;
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_int_equal(fstatvfs(folder, &disk), 0);
    free = (uint64_t)disk.f_bavail * disk.f_frsize;
    assert_int_equal(disk_space_open(&space, folder, free / 10, count, &told, &problem), STORE_OK);
    assert_true(disk_space_is_roomy(&space));
    space.ballast = 0;
    for (unsigned round = 0; round < 2; round++) {
        space.reserve = free / 7;
        disk_space_tend(&space);
        assert_true(disk_space_is_roomy(&space));
        assert_int_equal(told, 2 * round);
        space.reserve = free / 5;
        disk_space_tend(&space);
        assert_false(disk_space_is_roomy(&space));
        assert_int_equal(told, 2 * round + 1);
        space.reserve = free / 7;
        disk_space_tend(&space);
        assert_false(disk_space_is_roomy(&space));
        space.reserve = free / 10;
        disk_space_tend(&space);
        assert_true(disk_space_is_roomy(&space));
        assert_int_equal(told, 2 * round + 2);
    }
    disk_space_close(&space);
    close(folder);
}

/* ---- a key space that is open ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

/* What the newest file of RocksDB's options says of one. */
static size_t option_in(const char *folder, const char *option)
{
    char newest[300] = "", path[400], line[400];
    DIR *names = opendir(folder);
    size_t value = 0;
    FILE *file;

    assert_non_null(names);
    for (const struct dirent *entry; (entry = readdir(names));)
        if (strncmp(entry->d_name, "OPTIONS-", 8) == 0 && strcmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    closedir(names);
    snprintf(path, sizeof path, "%s/%s", folder, newest);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *at = line + strspn(line, " ");

        if (strncmp(at, option, strlen(option)) == 0 && at[strlen(option)] == '=')
            value = strtoull(at + strlen(option) + 1, NULL, 10);
    }
    fclose(file);
    return value;
}

static void expect_levels(const char *folder, const struct sizes *sizes)
{
    assert_int_equal(option_in(folder, "max_bytes_for_level_base"), sizes->level1);
    assert_int_equal(option_in(folder, "level0_file_num_compaction_trigger"),
                     sizes->level0_compact);
    assert_int_equal(option_in(folder, "level0_slowdown_writes_trigger"), sizes->level0_stop);
    assert_int_equal(option_in(folder, "level0_stop_writes_trigger"), sizes->level0_stop);
}

/* Rule: levels change while the store is in use. */
static void levels_change(void **state)
{
    struct sizes scant = sizes_of(100u << 20, false), roomy = sizes_of(100u << 20, true);
    char folder[] = "levels-XXXXXX";
    struct keyspace keyspace;
    const char *problem = "";

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(keyspace_open(folder, &roomy, 0, KEYSPACE_NEW, &keyspace, &problem), STORE_OK);
    expect_levels(folder, &roomy);
    keyspace_set_levels(&keyspace, &scant);
    expect_levels(folder, &scant);
    keyspace_set_levels(&keyspace, &scant);
    keyspace_set_levels(&keyspace, &roomy);
    expect_levels(folder, &roomy);
    keyspace_close(&keyspace);
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compactions_find_their_room),
        cmocka_unit_test(room_is_what_is_free),
        cmocka_unit_test(levels_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
