/* A data folder of each version of the format is read; others are refused. decision: 290 */
#include "images/image.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/record_key.h"
#include "store/record_value.h"

extern char **environ;

#ifndef IMAGES
#error "IMAGES names the folder of the images"
#endif

struct folder {
    char path[64];
};

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int make_folder(void **state)
{
    struct folder *folder = xcalloc(1, sizeof *folder);

    (void)snprintf(folder->path, sizeof folder->path, "format-XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    int result = nftw(folder->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);

    free(folder);
    return result;
}

static void unpack(const char *image, const struct folder *folder)
{
    char *argv[] = { (char[]){ "tar" },
                     (char[]){ "--sparse" },
                     (char[]){ "-xzf" },
                     xstrdup(image),
                     (char[]){ "-C" },
                     xstrdup(folder->path),
                     NULL };
    pid_t child;
    int status;

    assert_int_equal(posix_spawnp(&child, "tar", NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free(argv[3]);
    free(argv[5]);
}

static enum store_result open_folder(const struct folder *folder, struct store **ret_store,
                                     const char **ret_problem)
{
    const struct store_options options = { .location = folder->path, .sync = true };

    return store_open_embedded(&options, ret_store, ret_problem);
}

/* ---- what every image holds ---- */

static void check_records(struct store *store, struct arena *arena)
{
    const struct partition plain = { image_space, IMAGE_PLAIN };
    struct read_view *snapshot = read_view_open(store, plain, STORE_MAY_BLOCK);
    struct record record;

    assert_string_equal(get_text(snapshot, arena, ""), "listed");
    assert_int_equal(
        read_view_get(snapshot, RECORD_INNER, bytes_from_string("inner"), arena, &record),
        STORE_OK);
    assert_true(bytes_is(record.value, "within"));
    read_view_close(snapshot);
    assert_string_equal(get_now(store, (struct partition){ image_space, IMAGE_ODD }, arena, "k"),
                        "odd");
    assert_string_equal(get_now(store, (struct partition){ image_space, IMAGE_LATE }, arena, "k"),
                        "in the log");
    assert_string_equal(get_now(store, (struct partition){ image_space, IMAGE_FREED }, arena, "s"),
                        "(none)");
    assert_string_equal(
        get_now(store, (struct partition){ image_dropped, IMAGE_PLAIN }, arena, "k"), "(none)");
}

static void check_pieces(struct store *store)
{
    struct read_view *snapshot =
        read_view_open(store, (struct partition){ image_space, IMAGE_STREAM }, STORE_MAY_BLOCK);

    assert_true(stream_matches(store, snapshot, "s", IMAGE_STREAM_LENGTH, IMAGE_STREAM_SEED));
    read_view_close(snapshot);
    snapshot =
        read_view_open(store, (struct partition){ image_space, IMAGE_SHARED }, STORE_MAY_BLOCK);
    assert_true(stream_matches(store, snapshot, "one", IMAGE_SHARED_LENGTH, IMAGE_SHARED_SEED));
    assert_true(stream_matches(store, snapshot, "two", IMAGE_SHARED_LENGTH, IMAGE_SHARED_SEED));
    read_view_close(snapshot);
    assert_int_equal(usage_now(store).piece_bytes, IMAGE_STREAM_LENGTH + IMAGE_SHARED_LENGTH);
}

/* References were counted: a shared piece goes with its second record. */
static void check_references(struct store *store)
{
    const struct partition shared = { image_space, IMAGE_SHARED };

    delete_stream(store, shared, "one");
    assert_int_equal(usage_now(store).piece_bytes, IMAGE_STREAM_LENGTH + IMAGE_SHARED_LENGTH);
    delete_stream(store, shared, "two");
    assert_int_equal(usage_now(store).piece_bytes, IMAGE_STREAM_LENGTH);
}

static void image_is_read(const char *image, const struct folder *folder)
{
    struct arena *arena = arena_new(16u << 20);
    const char *problem = NULL;
    struct store *store;
    instant before = clock_now();

    unpack(image, folder);
    assert_int_equal(open_folder(folder, &store, &problem), STORE_OK);
    assert_true(clock_now() - before > 10ull * 365 * 86400 * TICKS_PER_SECOND);
    check_records(store, arena);
    check_pieces(store);
    store_close(store);

    /* What this program adds and reads again, on top of what is in the image. */
    assert_int_equal(open_folder(folder, &store, &problem), STORE_OK);
    check_records(store, arena);
    check_references(store);
    put_stream(store, (struct partition){ image_space, IMAGE_FREED }, "s", 300000, 3);
    store_close(store);
    arena_free(arena);
}

/* Rule: what a program of the version wrote is read. design: 4, "Values are encoded by one versioned codec" */
static void version_1_is_read(void **state)
{
    image_is_read(IMAGES "/v1.tar.gz", *state);
}

/* ---- what is not ours ---- */

static void write_format(const struct folder *folder, const char *text)
{
    char path[80];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/format", folder->path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Rule: a folder of a newer version, or of nobody, is refused with a sentence and left alone.
 * It says which format was found. design: promise 5 */
static void other_formats_are_refused(void **state)
{
    static const struct {
        const char *text, *problem;
    } formats[] = {
        { "lagra store 2\n", "its format is 2, and this program reads format 1" },
        { "lagra store 1", "says \"lagra store 1\", and this program reads" },
        { "lagra store 10\n", "its format is 10, and this program reads format 1" },
        { "something else\n", "says \"something else.\"" },
    };
    const struct folder *folder = *state;

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const char *problem = NULL;
        struct store *store = NULL;
        char path[80];

        write_format(folder, formats[i].text);
        assert_int_equal(open_folder(folder, &store, &problem), STORE_CORRUPT);
        assert_null(store);
        assert_non_null(strstr(problem, formats[i].problem));
        (void)snprintf(path, sizeof path, "%s/records", folder->path);
        assert_int_equal(access(path, F_OK), -1);
    }
}

/* Rule: a value or row of an unknown version is damage, nothing to guess at. record_value.h */
static void other_versions_of_values_are_damage(void **state)
{
    struct arena *arena = arena_new(1u << 16);
    struct bytes value = record_value_encode(arena, bytes_from_string("payload"), NULL, 0);
    char row[PIECE_ROW_SIZE_MAX];
    size_t size = piece_row_write(row, (struct piece_row){ 100, 1 });
    const struct piece *pieces;
    struct piece_row read;
    struct bytes payload;
    size_t count;

    (void)state;
    for (int version = 0; version < 256; version++) {
        char *copy = arena_bytes(arena, value.len);
        bool known = version >= RECORD_VALUE_VERSION && version <= RECORD_VALUE_VERSION_STORE_KEY;

        memcpy(copy, value.ptr, value.len);
        copy[0] = (char)version;
        assert_int_equal(
            record_value_decode(bytes_of(copy, value.len), arena, &payload, &pieces, &count),
            known ? STORE_OK : STORE_CORRUPT);
        row[0] = (char)version;
        assert_int_equal(piece_row_read(bytes_of(row, size), &read), version == PIECE_ROW_VERSION);
    }
    arena_free(arena);
}

/* The value "p" with two pieces, of which the second one is encrypted. */
#define IMAGE_PLAIN_PIECE                                                                          \
    "\2\7\144\10"                                                                                  \
    "\1\2\3\4"                                                                                     \
    "\0"
#define IMAGE_SEALED_PIECE(key)                                                                    \
    "\11\201\200\4\254\2"                                                                          \
    "\1\2\3\4\5\6\7\10" key "ssssssssssssssss"                                                     \
    "ttttttttttttttttuuuuuuuuuuuuuuuu"
static const char image_of_version_2[] = "\2" IMAGE_PLAIN_PIECE IMAGE_SEALED_PIECE("\1") "p";
static const char image_of_version_3[] = "\3" IMAGE_PLAIN_PIECE IMAGE_SEALED_PIECE("\4") "p";

/* Checks that the value is written and read as in the image, and that a shorter one is damage. */
static void image_of_value_is_read(struct bytes image, uint32_t store_key)
{
    static const uint32_t sums[] = { 0x04030201, 0x08070605 };
    struct arena *arena = arena_new(1u << 16);
    struct piece_seal *seal = arena_alloc(arena, piece_seal_size(2));
    const struct piece written[] = {
        { .extent = 7, .length = 100, .offset = 8, .sector_crc = sums },
        { .extent = 9,
          .length = PIECE_SECTOR_BYTES + 1,
          .offset = 300,
          .sector_crc = sums,
          .seal = seal },
    };
    struct bytes value, payload;
    const struct piece *pieces;
    size_t count;

    seal->store_key = store_key;
    memset(seal->salt, 's', sizeof seal->salt);
    memset(seal->tags[0], 't', DATA_TAG_SIZE);
    memset(seal->tags[1], 'u', DATA_TAG_SIZE);
    value = record_value_encode(arena, bytes_from_string("p"), written, 2);
    assert_int_equal(value.len, image.len);
    assert_memory_equal(value.ptr, image.ptr, image.len);
    assert_int_equal(record_value_decode(image, arena, &payload, &pieces, &count), STORE_OK);
    assert_int_equal(count, 2);
    assert_true(bytes_is(payload, "p"));
    assert_null(pieces[0].seal);
    assert_int_equal(pieces[1].length, PIECE_SECTOR_BYTES + 1);
    assert_int_equal(pieces[1].offset, 300);
    assert_memory_equal(pieces[1].sector_crc, sums, sizeof sums);
    assert_memory_equal(pieces[1].seal, seal, piece_seal_size(2));
    for (size_t i = 0; i < image.len - 1; i++)
        assert_int_equal(
            record_value_decode(bytes_of(image.ptr, i), arena, &payload, &pieces, &count),
            STORE_CORRUPT);
    arena_free(arena);
}

/* Rule: version 2 is written and read as the programs wrote it that introduced customer-provided
 * keys. record_value.h; decision: 1420 */
static void version_2_of_values(void **state)
{
    (void)state;
    image_of_value_is_read(bytes_of(image_of_version_2, sizeof image_of_version_2 - 1), 0);
}

/* Rule: version 3 is written and read as the programs wrote it that introduced encryption at rest.
 * record_value.h; decision: 1425 */
static void version_3_of_values(void **state)
{
    (void)state;
    image_of_value_is_read(bytes_of(image_of_version_3, sizeof image_of_version_3 - 1), 3);
}

/* Rule: the row of a clock that has followed no step is what it was before there were notes of steps, and is
 * read. record_value.h */
static void clock_rows_of_both_sizes(void **state)
{
    static const struct clock_checkpoint notes[] = {
        { 5, 0, 0 }, { 6, 7, 0 }, { 8, 0, 9 }, { 1, 2, 3 }
    };
    char row[CLOCK_ROW_SIZE_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++) {
        struct clock_checkpoint read = { 0 };
        size_t size = clock_row_write(row, &notes[i]);

        assert_int_equal(size, i == 0 ? 8 : CLOCK_ROW_SIZE_MAX);
        assert_true(clock_row_read(bytes_of(row, size), &read));
        assert_memory_equal(&read, &notes[i], sizeof read);
        assert_false(clock_row_read(bytes_of(row, size - 1), &read));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(version_1_is_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(other_formats_are_refused, make_folder, remove_folder),
        cmocka_unit_test(other_versions_of_values_are_damage),
        cmocka_unit_test(version_2_of_values),
        cmocka_unit_test(version_3_of_values),
        cmocka_unit_test(clock_rows_of_both_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
