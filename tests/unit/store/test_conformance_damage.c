/* Stores on disk that find their files damaged: an error that says so, or the right bytes; never
 * others, and nothing acknowledged vanishes without a word. store invariant 5 */
#include "conformance.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static const struct bytes nothing = { NULL, 0 };

#define PATH_SIZE 512

/* Turns all bits of one byte of a file. */
static void flip_byte(const char *path, uint64_t offset)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    unsigned char byte;

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    byte = (unsigned char)~byte;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

/* The file and the offset where a byte of the first piece of the record "s" lies. */
static void find_byte(struct fixture *f, uint32_t in_piece, char path[PATH_SIZE],
                      uint64_t *ret_offset)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct piece_file file;
    struct record record;
    char link[64];
    ssize_t length;

    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    assert_int_equal(piece_check(f->store, record.pieces, in_piece, 1, &file, NULL), STORE_OK);
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", file.fd);
    length = readlink(link, path, PATH_SIZE - 1);
    assert_true(length > 0);
    path[length] = '\0';
    *ret_offset = file.offset;
    read_view_close(snapshot);
}

/* The third sector of the record "s" is damaged, the others are not. */
static void check_reading(struct fixture *f, uint64_t seed)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    char *buffer = xcalloc(1, 5 * PIECE_SECTOR_BYTES);
    struct record record;

    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    assert_int_equal(piece_read(f->store, record.pieces, 2 * PIECE_SECTOR_BYTES, 100, buffer, NULL),
                     STORE_CORRUPT);
    assert_int_equal(piece_read(f->store, record.pieces, 0, record.pieces->length, buffer, NULL),
                     STORE_CORRUPT);
    assert_int_equal(piece_read(f->store, record.pieces, 0, 2 * PIECE_SECTOR_BYTES, buffer, NULL),
                     STORE_OK);
    assert_true(pattern_matches(buffer, 2 * PIECE_SECTOR_BYTES, seed, 0));
    read_view_close(snapshot);
    free(buffer);
}

/* The same of what is to be sent from the file. */
static void check_checking(struct fixture *f)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct piece_file file;
    struct record record;

    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            piece_check(f->store, record.pieces, 3 * PIECE_SECTOR_BYTES - 1, 1, &file, NULL),
            STORE_CORRUPT);
        assert_int_equal(
            piece_check(f->store, record.pieces, 0, record.pieces->length, &file, NULL),
            STORE_CORRUPT);
        assert_int_equal(piece_check(f->store, record.pieces, 3 * PIECE_SECTOR_BYTES,
                                     PIECE_SECTOR_BYTES, &file, NULL),
                         STORE_OK);
    }
    read_view_close(snapshot);
}

/* Rule: a turned byte of a piece is found at every read, whether it turned before the start or
 * after an earlier good read. (What was checked to be sent from the file is not checked again for a
 * moment.) The rest of the store goes on. */
static void turned_byte_of_a_piece_is_found(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    char path[PATH_SIZE];
    uint64_t offset;

    put_stream(f->store, f->partition, "s", 5 * PIECE_SECTOR_BYTES, 2);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "s", 5 * PIECE_SECTOR_BYTES, 2));
    read_view_close(snapshot);
    find_byte(f, 2 * PIECE_SECTOR_BYTES + 4567, path, &offset);
    flip_byte(path, offset);
    check_reading(f, 2);
    fixture_reopen(f);
    check_reading(f, 2);
    check_checking(f);
    put_text(f->store, f->partition, "k", "goes on");
    assert_true(store_healthy(f->store));

    flip_byte(path, offset); /* and back: the bytes are right again */
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "s", 5 * PIECE_SECTOR_BYTES, 2));
    read_view_close(snapshot);
}

/* Rule: a piece whose end is cut off its file is damaged; no zeros are made up. */
static void cut_file_of_pieces_is_found(void **state)
{
    struct fixture *f = *state;
    const struct store_options options = { .location = f->folder, .sync = true };
    const char *problem;
    struct read_view *snapshot;
    struct record record;
    char path[PATH_SIZE];
    uint64_t offset;
    char buffer[1000];

    put_stream(f->store, f->partition, "s", 5 * PIECE_SECTOR_BYTES, 2);
    find_byte(f, 4 * PIECE_SECTOR_BYTES, path, &offset);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(truncate(path, (off_t)offset + 500), 0);
    if (store_open_embedded(&options, &f->store, &problem)) {
        f->store = NULL; /* refused to start: also an answer */
        return;
    }
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    assert_int_equal(
        piece_read(f->store, record.pieces, 4 * PIECE_SECTOR_BYTES, sizeof buffer, buffer, NULL),
        STORE_CORRUPT);
    assert_int_equal(piece_read(f->store, record.pieces, 0, sizeof buffer, buffer, NULL), STORE_OK);
    read_view_close(snapshot);
}

/* ---- the files of the record engine ---- */

/* Damage to all files whose names end so: a byte at each of `parts` places spread evenly. */
static const char *damage_suffix;
static int damage_parts;
static int damaged_files;

static int damage_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    size_t length = strlen(path);
    size_t end = strlen(damage_suffix);

    (void)place;
    if (kind != FTW_F || status->st_size < 64 || length < end ||
        strcmp(path + length - end, damage_suffix) != 0)
        return 0;
    for (int i = 1; i <= damage_parts; i++)
        flip_byte(path, (uint64_t)status->st_size * (uint64_t)i / (uint64_t)(damage_parts + 1));
    damaged_files++;
    return 0;
}

static int damage(const char *folder, const char *suffix, int parts)
{
    damage_suffix = suffix;
    damage_parts = parts;
    damaged_files = 0;
    assert_int_equal(nftw(folder, damage_file, 16, FTW_PHYS), 0);
    return damaged_files;
}

#define RECORDS 300

static void put_many(struct fixture *f)
{
    struct changes *changes;
    uint64_t sequence = 0;

    for (int c = 0; c < 10; c++) {
        changes = changes_new(f->arena);
        for (int i = c; i < RECORDS; i += 10) {
            char *value = arena_bytes(f->arena, 600);

            pattern_fill(value, 600, (uint64_t)i, 0);
            changes_put(changes, RECORD_LISTED, arena_printf(f->arena, "%03d", i),
                        bytes_of(value, 600), NULL, 0);
        }
        assert_int_equal(commit_new(f->store, f->partition, changes, &sequence), STORE_OK);
    }
    wait_durable(f->store, sequence);
}

/* Whether a result is one that says that stored data could not be read. */
static bool says_so(enum store_result result)
{
    return result == STORE_CORRUPT || result == STORE_IO;
}

/* Each record is right or refused with an error. Gives how many were refused. */
static int count_refused(struct fixture *f)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct scan *scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    enum store_result result;
    struct record record;
    int refused = 0;
    int i = 0;

    for (int k = 0; k < RECORDS; k++) {
        result = read_view_get(snapshot, RECORD_LISTED, arena_printf(f->arena, "%03d", k), f->arena,
                               &record);
        assert_true(result == STORE_OK || says_so(result));
        if (result)
            refused++;
        else
            assert_true(pattern_matches(record.value.ptr, 600, (uint64_t)k, 0));
    }
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK) {
        assert_true(bytes_equal(record.key, arena_printf(f->arena, "%03d", i)));
        assert_true(pattern_matches(record.value.ptr, 600, (uint64_t)i, 0));
        i++;
    }
    assert_true(says_so(result) || i == RECORDS);
    scan_close(scan);
    read_view_close(snapshot);
    return refused;
}

/* Names and sums of the files in which the records are. */
static struct bytes files_of_records(struct fixture *f)
{
    const char *command =
        arena_printf(f->arena,
                     "cd %s && find . -path './records/*' -type f -exec md5sum {} + "
                     "| sort -k 2%c",
                     f->folder, 0)
            .ptr;
    FILE *sums = popen(command, "r");
    struct text out;
    char line[PATH_SIZE];

    assert_non_null(sums);
    text_init(&out, f->arena, PATH_SIZE);
    while (fgets(line, sizeof line, sums))
        text_add_string(&out, line);
    assert_int_equal(pclose(sums), 0);
    return text_bytes(&out);
}

/* Opens a damaged folder. False when that is refused, which is an answer as well: it says that the data is
 * damaged, and leaves all files as they are, for salvage. */
static bool open_damaged(struct fixture *f)
{
    struct bytes before = files_of_records(f);
    enum store_result result = f->engine->open(f->folder, &f->store);

    if (result == STORE_OK)
        return true;
    f->store = NULL;
    assert_int_equal(result, STORE_CORRUPT);
    assert_true(bytes_equal(before, files_of_records(f)));
    return false;
}

/* Rule: damage to the tables of records is an error, never a wrong or a missing record. */
static void damaged_tables_are_found(void **state)
{
    struct fixture *f = *state;

    put_many(f);
    fixture_reopen(f);
    fixture_reopen(f); /* what was in the log is in tables now */
    store_close(f->store);
    f->store = NULL;
    if (damage(f->folder, ".sst", 7) == 0)
        skip();
    if (open_damaged(f))
        assert_true(count_refused(f) > 0);
}

/* Rule: damage within the log is an error: no acknowledged commit behind it is passed over. */
static void damaged_log_is_found(void **state)
{
    struct fixture *f = *state;
    const char *copy = arena_printf(f->arena, "cp -r %s %s.copy%c", f->folder, f->folder, 0).ptr;

    put_many(f);
    /* A copy of the files while the store is open is what a crash would leave: a log. */
    assert_int_equal(system(copy), 0);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(system(arena_printf(f->arena, "rm -r %s && mv %s.copy %s%c", f->folder,
                                         f->folder, f->folder, 0)
                                .ptr),
                     0);
    if (damage(f->folder, ".log", 3) == 0)
        skip();
    if (open_damaged(f))
        (void)count_refused(f); /* fails when a record is missing without an error */
}

/* Rule: a start after damage to the list of tables is refused. */
static void damaged_manifest_is_found(void **state)
{
    struct fixture *f = *state;
    const char *overwrite = arena_printf(f->arena,
                                         "for m in $(find %s -name 'MANIFEST-*'); do dd "
                                         "if=/dev/zero of=$m bs=1 seek=20 count=60 conv=notrunc "
                                         "2>/dev/null || exit 1; done%c",
                                         f->folder, 0)
                                .ptr;

    put_many(f);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(system(overwrite), 0);
    if (open_damaged(f))
        (void)count_refused(f);
}

/* Rule: where a file of pieces is missing its bytes are, and no more: they are STORE_CORRUPT, what
 * refers to them can be deleted, new pieces never come to lie in their place, and the store goes
 * on. */
static void missing_file_of_pieces_is_found(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;
    char path[PATH_SIZE], byte;
    uint64_t offset;

    put_stream(f->store, f->partition, "s", 5 * PIECE_SECTOR_BYTES, 2);
    find_byte(f, 0, path, &offset);
    store_close(f->store);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(f->engine->open(f->folder, &f->store), STORE_OK);

    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    assert_int_equal(piece_read(f->store, record.pieces, 0, 1, &byte, NULL), STORE_CORRUPT);
    read_view_close(snapshot);
    put_stream(f->store, f->partition, "new", 5 * PIECE_SECTOR_BYTES, 3);
    delete_stream(f->store, f->partition, "s");
    (void)usage_now(f->store); /* when all that can be given back is */
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "new", 5 * PIECE_SECTOR_BYTES, 3));
    read_view_close(snapshot);
    assert_true(store_healthy(f->store));
}

/* A commit of a record with these pieces, as one makes that copies them from another record. */
static enum store_result refer_to(struct fixture *f, const struct piece *pieces, size_t count)
{
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    const struct commit_part part = { snapshot, changes };
    enum store_result result;
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("forged"), nothing, pieces, count);
    result = store_commit(f->store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence);
    read_view_close(snapshot);
    return result;
}

/* Rule: a record whose pieces are none, though its checksum is right, is damage where something rests
 * on it. Nothing is written, and the store goes on. */
static void forged_pieces_are_found(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;
    struct piece forged[2];

    put_stream(f->store, f->partition, "s", 5 * PIECE_SECTOR_BYTES, 2);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    forged[0] = forged[1] = record.pieces[0];
    read_view_close(snapshot);
    assert_int_equal(refer_to(f, forged, 1), STORE_OK);
    forged[1].length--;
    assert_int_equal(refer_to(f, forged, 2), STORE_CORRUPT); /* one piece of two lengths */
    forged[1].offset += UINT64_C(1) << 20;
    assert_int_equal(refer_to(f, &forged[1], 1), STORE_CORRUPT); /* one that nobody staged */
    put_stream(f->store, f->partition, "new", PIECE_SECTOR_BYTES, 3);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "s", 5 * PIECE_SECTOR_BYTES, 2));
    assert_true(stream_matches(f->store, snapshot, "new", PIECE_SECTOR_BYTES, 3));
    read_view_close(snapshot);
    assert_true(store_healthy(f->store));
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(turned_byte_of_a_piece_is_found, STORES_ON_DISK),
        TEST(cut_file_of_pieces_is_found, STORES_ON_DISK),
        TEST(missing_file_of_pieces_is_found, STORES_ON_DISK),
        TEST(forged_pieces_are_found, STORES_ON_DISK),
        TEST(damaged_tables_are_found, STORES_ON_DISK),
        TEST(damaged_log_is_found, STORES_ON_DISK),
        TEST(damaged_manifest_is_found, STORES_ON_DISK),
    };

    if (!log_open(LOG_ERROR, "/dev/null")) /* it returns each damaged block */
        return 1;
    return conformance_run("damage", tests, sizeof tests / sizeof tests[0]);
}
