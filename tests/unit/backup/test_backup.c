/* Backups of a store that is in use: backup/backup.h. What is restored is the state of one moment between
 * begin and end, whatever was deleted and collected meanwhile; what has not changed is shared with the backup
 * before; and nothing that is damaged, begun or foreign is taken for a backup. */
#include "../store/conformance.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backup/backup.h"
#include "backup/list.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/folder.h"
#include "store/embedded/records_files.h"
#include "store/embedded/table_sectors.h"

#define STREAM (3 * PIECE_SECTOR_BYTES + 17)

struct state {
    struct fixture *f;
    const char *target, *restored;
    char name[BACKUP_NAME_SIZE];
    struct backup_work work;
    uint32_t copied;                    /* the last extent that was */
    void (*meanwhile)(struct state *s); /* when the state is held; NULL: nothing */
    bool begun;
};

/* A path in a folder. */
static const char *in(struct state *s, const char *folder, const char *name)
{
    return arena_printf(s->f->arena, "%s/%s", folder, name).ptr;
}

/* A command of the shell, with a folder as $F. */
static void run(struct state *s, const char *command, const char *folder)
{
    assert_int_equal(system(arena_printf(s->f->arena, "F='%s'; %s", folder, command).ptr), 0);
}

static bool begin(struct backup_work *work, void *context, struct backup_state *ret_state)
{
    struct state *s = context;

    (void)work;
    assert_int_equal(store_backup_begin(s->f->store, ret_state), STORE_OK);
    s->begun = true;
    if (s->meanwhile)
        s->meanwhile(s);
    return true;
}

static bool copied(struct backup_work *work, void *context, uint32_t extent)
{
    struct state *s = context;

    (void)work;
    assert_true(extent > s->copied);
    s->copied = extent;
    return store_backup_copied(s->f->store, extent);
}

static bool end(struct backup_work *work, void *context)
{
    struct state *s = context;

    (void)work;
    assert_true(s->begun);
    s->begun = false;
    return store_backup_end(s->f->store);
}

static bool take(struct state *s)
{
    const struct backup_source source = {
        .location = s->f->folder, .context = s, .begin = begin, .copied = copied, .end = end
    };

    s->work = (struct backup_work){ .context = s };
    s->copied = 0;
    return backup_take(&s->work, &source, s->target, s->name);
}

static bool restore(struct state *s)
{
    s->work = (struct backup_work){ .context = s };
    return backup_restore(&s->work, s->target, s->restored);
}

static void say(struct backup_work *work, const char *sentence)
{
    (void)work;
    (void)sentence;
}

static bool verify(struct state *s)
{
    s->work = (struct backup_work){ .context = s };
    return backup_verify(&s->work, s->target, say);
}

static void setup(struct state *s, struct fixture *f)
{
    *s = (struct state){ .f = f,
                         .target = arena_printf(f->arena, "%s.backups", f->folder).ptr,
                         .restored = arena_printf(f->arena, "%s.restored", f->folder).ptr };
    put_text(f->store, f->partition, "k", "v");
    put_stream(f->store, f->partition, "stream", STREAM, 1);
}

static void teardown(struct state *s)
{
    run(s, "rm -rf $F", s->target);
    run(s, "rm -rf $F", s->restored);
}

/* Goes on with what was restored, in the place of the folder. */
static void open_restored(struct state *s)
{
    store_close(s->f->store);
    s->f->store = NULL;
    run(s, "rm -rf $F", s->f->folder);
    assert_int_equal(rename(s->restored, s->f->folder), 0);
    assert_int_equal(s->f->engine->open(s->f->folder, &s->f->store), STORE_OK);
}

static bool matches(struct state *s, const char *key, uint64_t seed)
{
    struct read_view *snapshot = read_view_open(s->f->store, s->f->partition, STORE_MAY_BLOCK);
    bool same = stream_matches(s->f->store, snapshot, key, STREAM, seed);

    read_view_close(snapshot);
    return same;
}

static struct stat stat_of(struct state *s, const char *name, const char *file)
{
    struct stat status;

    assert_int_equal(
        stat(arena_printf(s->f->arena, "%s/%s/%s", s->target, name, file).ptr, &status), 0);
    return status;
}

/* ---- what is in it ---- */

static void delete_all(struct state *s)
{
    struct store_usage usage;

    delete_key(s->f->store, s->f->partition, "k");
    wait_durable(s->f->store, delete_stream(s->f->store, s->f->partition, "stream"));
    put_text(s->f->store, s->f->partition, "later", "x");
    wait_durable(s->f->store, put_stream(s->f->store, s->f->partition, "later stream", STREAM, 2));
    store_collect_now(s->f->store, &usage);
    assert_int_equal(usage.pending_bytes, extent_room(STREAM));
}

/* Rule: the state is that of the begin, and its bytes stay until they are copied, though they are deleted and
 * collected meanwhile; their room comes back when it ends. */
static void the_state_of_one_moment(void **state)
{
    struct store_usage usage;
    struct state s;

    setup(&s, *state);
    s.meanwhile = delete_all;
    assert_true(take(&s));
    store_collect_now(s.f->store, &usage);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(verify(&s));
    assert_true(restore(&s));
    open_restored(&s);
    assert_string_equal(get_now(s.f->store, s.f->partition, s.f->arena, "k"), "v");
    assert_string_equal(get_now(s.f->store, s.f->partition, s.f->arena, "later"), "(none)");
    assert_true(matches(&s, "stream", 1));
    /* What was appended behind the state is not there. */
    wait_durable(s.f->store, delete_stream(s.f->store, s.f->partition, "stream"));
    assert_all_given_back(s.f->store);
    teardown(&s);
}

/* Rule: a backup of a store with no extents, and of one that has just been opened again. */
static void of_little(void **state)
{
    struct fixture *f = *state;
    struct state s = { .f = f,
                       .target = arena_printf(f->arena, "%s.backups", f->folder).ptr,
                       .restored = arena_printf(f->arena, "%s.restored", f->folder).ptr };

    assert_true(take(&s));
    put_text(f->store, f->partition, "k", "v");
    fixture_reopen(f);
    assert_true(take(&s));
    assert_true(restore(&s));
    open_restored(&s);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "v");
    teardown(&s);
}

/* ---- the hold ---- */

/* Rule: one backup at a time; a second one is told so, and the first is not disturbed. */
static void one_at_a_time(void **state)
{
    struct fixture *f = *state;
    struct backup_state held, other;

    put_stream(f->store, f->partition, "stream", STREAM, 1);
    assert_int_equal(store_backup_begin(f->store, &held), STORE_OK);
    assert_int_equal(store_backup_begin(f->store, &other), STORE_BUSY);
    assert_true(store_backup_copied(f->store, held.last_extent));
    assert_true(store_backup_end(f->store));
    assert_int_equal(store_backup_begin(f->store, &other), STORE_OK);
    assert_true(store_backup_end(f->store));
}

/* Rule: what has been copied is held no longer, and what is newer than the state never was. */
static void held_no_longer_than_needed(void **state)
{
    struct fixture *f = *state;
    struct store_usage usage;
    struct backup_state held;

    put_stream(f->store, f->partition, "stream", STREAM, 1);
    assert_int_equal(store_backup_begin(f->store, &held), STORE_OK);
    assert_int_equal(held.last_extent, 1);
    assert_int_equal(held.last_end, EXTENT_UNIT + extent_room(STREAM));
    assert_true(store_backup_copied(f->store, held.last_extent));
    wait_durable(f->store, delete_stream(f->store, f->partition, "stream"));
    store_collect_now(f->store, &usage);
    assert_int_equal(usage.pending_bytes, 0);
    assert_true(store_backup_end(f->store));
}

static void lose(struct state *s)
{
    delete_all(s);
    assert_true(extents_lose_hold(&embedded_of(s->f->store)->extents));
}

/* Rule: a backup that has lost its hold fails and leaves nothing; the room comes back at once, and the next
 * one is whole. */
static void a_lost_hold(void **state)
{
    struct store_usage usage;
    struct state s;

    setup(&s, *state);
    s.meanwhile = lose;
    assert_false(take(&s));
    assert_false(s.begun);
    store_collect_now(s.f->store, &usage);
    assert_int_equal(usage.pending_bytes, 0);
    run(&s, "test -z \"$(ls -A $F)\"", s.target);
    s.meanwhile = NULL;
    assert_true(take(&s));
    assert_true(verify(&s));
    teardown(&s);
}

/* Are the sums of a restored table's sectors kept beside it, as its bytes are? */
static void expect_sums(int folder, int records, const struct records_file *table)
{
    char name[RECORDS_NAME_SIZE];
    uint32_t *taken, *kept = calloc(table_sectors_count(table->size), sizeof kept[0]);
    int sums = openat(folder, SUMS_FOLDER, O_RDONLY | O_DIRECTORY), fd;

    records_file_name(name, RECORDS_TABLE, table->number);
    fd = openat(records, name, O_RDONLY);
    assert_true(kept && sums >= 0 && fd >= 0);
    taken = table_sectors_take(fd, table->size);
    assert_non_null(taken);
    assert_true(table_sectors_load(sums, table->number, table->size,
                                   table_sectors_join(taken, table->size), kept));
    free(taken);
    free(kept);
    close(fd);
    close(sums);
}

/* Rule: a restored folder has what proves parts of its tables, so that its first start reads no more than others; and
 * nothing but that beside what was copied. decision: 710 */
static void sums_of_what_is_restored(void **state)
{
    struct records_files files;
    size_t tables = 0;
    struct state s;
    int folder, records;

    setup(&s, *state);
    fixture_reopen(s.f); /* what the log has is in a table now */
    assert_true(take(&s));
    assert_true(restore(&s));
    folder = open(s.restored, O_RDONLY | O_DIRECTORY);
    records = openat(folder, "records", O_RDONLY | O_DIRECTORY);
    assert_int_equal(records_files_list(records, &files), STORE_OK);
    for (size_t i = 0; i < files.count; i++)
        if (files.list[i].kind == RECORDS_TABLE) {
            expect_sums(folder, records, &files.list[i]);
            tables++;
        }
    assert_true(tables > 0);
    run(&s, "test $(ls $F/sums | wc -l) = $(ls $F/records | grep -c sst$)", s.restored);
    records_files_release(&files);
    close(records);
    close(folder);
    teardown(&s);
}

/* ---- what is shared ---- */

/* The extent with the streams is full, as far as a new process knows, and was written long ago. */
static void settle(struct state *s)
{
    int folder, fd;

    store_close(s->f->store);
    s->f->store = NULL;
    folder = open(in(s, s->f->folder, "extents"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(folder >= 0);
    assert_int_equal(extent_file_create(folder, 2, &fd), STORE_OK);
    close(fd);
    close(folder);
    assert_int_equal(s->f->engine->open(s->f->folder, &s->f->store), STORE_OK);
    put_stream(s->f->store, s->f->partition, "in the third", STREAM, 3);
    run(s, "touch -d '1 hour ago' $F/extents/* $F/records/*.sst", s->f->folder);
}

static const char extent[] = "extents/00000001";

/* Rule: an extent that has not changed, or has only lost pieces, is the same file in both backups; what the
 * second one has is restored. */
static void extents_are_shared(void **state)
{
    char first[BACKUP_NAME_SIZE], second[BACKUP_NAME_SIZE];
    struct state s;

    setup(&s, *state);
    put_stream(s.f->store, s.f->partition, "other", STREAM, 4);
    settle(&s);
    assert_true(take(&s));
    memcpy(first, s.name, sizeof first);
    assert_true(take(&s));
    memcpy(second, s.name, sizeof second);
    assert_true(strcmp(second, first) > 0);
    assert_int_equal(stat_of(&s, first, extent).st_ino, stat_of(&s, second, extent).st_ino);
    wait_durable(s.f->store, delete_stream(s.f->store, s.f->partition, "other"));
    (void)usage_now(s.f->store);
    assert_true(take(&s));
    assert_int_equal(stat_of(&s, first, extent).st_ino, stat_of(&s, s.name, extent).st_ino);
    assert_true(s.work.progress.linked_bytes > 0);
    run(&s, "rm -r $F/2*", s.target);
    assert_true(take(&s));
    assert_true(restore(&s));
    open_restored(&s);
    assert_true(matches(&s, "stream", 1));
    assert_true(matches(&s, "in the third", 3));
    teardown(&s);
}

/* Rule: an extent that was written again, where the backup before has other bytes, is copied. */
static void a_changed_extent_is_copied(void **state)
{
    char first[BACKUP_NAME_SIZE];
    struct state s;
    int fd;

    setup(&s, *state);
    settle(&s);
    assert_true(take(&s));
    memcpy(first, s.name, sizeof first);
    fd = open(in(&s, s.f->folder, extent), O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "more", 4, EXTENT_UNIT + (off_t)extent_room(STREAM)), 4);
    close(fd);
    assert_true(take(&s));
    assert_int_not_equal(stat_of(&s, first, extent).st_ino, stat_of(&s, s.name, extent).st_ino);
    assert_true(verify(&s));
    teardown(&s);
}

/* Rule: with --full nothing is shared. */
static void nothing_is_shared(void **state)
{
    const struct backup_source source = {
        .context = NULL, .begin = begin, .copied = copied, .end = end
    };
    struct backup_source own = source;
    char first[BACKUP_NAME_SIZE];
    struct state s;

    setup(&s, *state);
    settle(&s);
    assert_true(take(&s));
    memcpy(first, s.name, sizeof first);
    own.location = s.f->folder;
    own.context = &s;
    s.copied = 0;
    s.work = (struct backup_work){ .context = &s, .shares_nothing = true };
    assert_true(backup_take(&s.work, &own, s.target, s.name));
    assert_int_not_equal(stat_of(&s, first, extent).st_ino, stat_of(&s, s.name, extent).st_ino);
    teardown(&s);
}

/* ---- what is no backup ---- */

/* Rule: what a kill left is removed by the next backup, and by the next start of the store. */
static void what_a_kill_left(void **state)
{
    struct state s;

    setup(&s, *state);
    run(&s, "mkdir -p $F/20200101T000000.000Z.tmp/records", s.target);
    run(&s, "echo x > $F/20200101T000000.000Z.tmp/records/CURRENT", s.target);
    assert_true(take(&s));
    run(&s, "test $(ls -A $F | wc -l) = 1", s.target);
    run(&s, "mkdir $F/backup.tmp $F/backup.tmp.tmp", s.f->folder);
    run(&s, "echo x > $F/backup.tmp/000001.sst", s.f->folder);
    fixture_reopen(s.f);
    run(&s, "test ! -e $F/backup.tmp -a ! -e $F/backup.tmp.tmp", s.f->folder);
    assert_string_equal(get_now(s.f->store, s.f->partition, s.f->arena, "k"), "v");
    teardown(&s);
}

/* Rule: a store is not opened in a backup, which may share its files with others. */
static void a_backup_is_not_served(void **state)
{
    struct folder folder;
    const char *problem = "";
    struct state s;

    setup(&s, *state);
    assert_true(take(&s));
    for (enum folder_use use = FOLDER_SERVE; use <= FOLDER_CHECK; use++) {
        assert_int_equal(
            folder_open(&(struct store_options){ .location = in(&s, s.target, s.name) }, use,
                        &folder, &problem),
            STORE_CORRUPT);
        assert_non_null(strstr(problem, "it is a backup"));
    }
    teardown(&s);
}

static void expect_damage(struct state *s, const char *words)
{
    assert_false(verify(s));
    assert_non_null(strstr(s->work.problem, words));
    assert_false(restore(s));
    run(s, "test ! -e $F", s->restored);
    run(s, "mkdir $F", s->restored);
    assert_false(restore(s));
    run(s, "test -z \"$(ls -A $F)\" && rmdir $F", s->restored);
}

/* Rule: damage, what is missing and what is too many is found, and nothing is restored of it: a folder that was there stays
 * empty, another is not made. */
static void damage_is_found(void **state)
{
    struct state s;

    setup(&s, *state);
    fixture_reopen(s.f); /* there is a table, of which a restore keeps something beside it */
    assert_true(take(&s));
    assert_true(verify(&s));
    run(&s, "printf X | dd of=$(echo $F/*/extents/00000001) bs=1 seek=100000 conv=notrunc 2>&1",
        s.target);
    expect_damage(&s, "extents/00000001 is damaged");
    run(&s, "rm $F/*/extents/00000001", s.target);
    expect_damage(&s, "extents/00000001");
    assert_true(take(&s));
    assert_true(verify(&s));
    run(&s, "truncate -s +1 $(ls -d $F/* | tail -1)/records/CURRENT", s.target);
    expect_damage(&s, "records/CURRENT has a different size");
    assert_true(take(&s));
    run(&s, "touch $(ls -d $F/* | tail -1)/records/000099.log", s.target);
    assert_false(verify(&s));
    assert_non_null(strstr(s.work.problem, "records/000099.log is not in the backup's list"));
    teardown(&s);
}

/* Rule: a folder that is not empty is left alone, and so is one that is no backup. */
static void other_folders(void **state)
{
    struct state s;

    setup(&s, *state);
    assert_false(restore(&s));
    assert_true(take(&s));
    run(&s, "mkdir $F && echo mine > $F/file", s.restored);
    assert_false(restore(&s));
    assert_non_null(strstr(s.work.problem, "is not empty"));
    run(&s, "test \"$(ls $F)\" = file", s.restored);
    s.target = s.f->folder;
    assert_false(verify(&s));
    assert_non_null(strstr(s.work.problem, "is not a backup and contains none"));
    s.target = arena_printf(s.f->arena, "%s/inside", s.f->folder).ptr;
    assert_false(take(&s));
    assert_non_null(strstr(s.work.problem, "is inside the data directory"));
    rmdir(s.target);
    s.target = arena_printf(s.f->arena, "%s.backups", s.f->folder).ptr;
    teardown(&s);
}

/* ---- the list ---- */

/* Rule: a list with any byte changed, or without its end, is no list. */
static void a_damaged_list(void **state)
{
    struct backup_file file = { .name = (char *)(uintptr_t) "records/CURRENT",
                                .size = 16,
                                .crc = 0xabcdef01 };
    struct backup_list list = { .made = INSTANT_UNIX_EPOCH, .sequence = 812 }, read;
    FILE *stream = tmpfile();
    int fd = fileno(stream);
    char byte, other;
    struct stat status;

    (void)state;
    backup_list_add(&list, &file);
    assert_true(backup_list_write(&list, fd));
    assert_true(backup_list_read(fd, &read));
    assert_int_equal(read.count, 1);
    assert_int_equal(read.sequence, 812);
    assert_int_equal(backup_list_find(&read, "records/CURRENT")->crc, 0xabcdef01);
    assert_null(backup_list_find(&read, "records/CURREN"));
    backup_list_release(&read);
    assert_int_equal(fstat(fd, &status), 0);
    for (off_t at = 0; at < status.st_size; at++) {
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        other = (char)(byte ^ 1);
        assert_int_equal(pwrite(fd, &other, 1, at), 1);
        assert_false(backup_list_read(fd, &read));
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    for (off_t size = status.st_size - 1; size >= 0; size--) {
        assert_int_equal(ftruncate(fd, size), 0);
        assert_false(backup_list_read(fd, &read));
    }
    fclose(stream);
    backup_list_release(&list);
}

/* Rule: only names that a data folder has are taken from a list. */
static void names_of_a_list(void **state)
{
    (void)state;
    assert_true(backup_list_knows("format") && backup_list_knows("extents/0000000a"));
    assert_true(backup_list_knows("records/MANIFEST-000012"));
    assert_false(backup_list_knows("lock") || backup_list_knows("records/") ||
                 backup_list_knows("records/../x") || backup_list_knows("/etc/passwd") ||
                 backup_list_knows("extents/a/b") || backup_list_knows("records/.x"));
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(the_state_of_one_moment, STORES_ON_DISK),
        TEST(of_little, STORES_ON_DISK),
        TEST(sums_of_what_is_restored, STORES_ON_DISK),
        TEST(one_at_a_time, STORES_ON_DISK),
        TEST(held_no_longer_than_needed, STORES_ON_DISK),
        TEST(a_lost_hold, STORES_ON_DISK),
        TEST(extents_are_shared, STORES_ON_DISK),
        TEST(a_changed_extent_is_copied, STORES_ON_DISK),
        TEST(nothing_is_shared, STORES_ON_DISK),
        TEST(what_a_kill_left, STORES_ON_DISK),
        TEST(a_backup_is_not_served, STORES_ON_DISK),
        TEST(damage_is_found, STORES_ON_DISK),
        TEST(other_folders, STORES_ON_DISK),
        TEST(a_damaged_list, STORES_ON_DISK),
        TEST(names_of_a_list, STORES_ON_DISK),
    };

    if (!log_open(LOG_ERROR, "/dev/null"))
        return 1;
    return conformance_run("backup", tests, sizeof tests / sizeof tests[0]);
}
