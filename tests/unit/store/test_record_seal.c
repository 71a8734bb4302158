/* Values that are encrypted at the boundary of RocksDB, and pieces with a store key: they come back, only unchanged and only in
 * their row, no plain bytes reach a file, and a store opens with its master key only. record_seal.h */
#include "conformance.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sleeper.h"
#include "store/embedded/record_seal.h"
#include "store/inspect.h"

#define MASTER         "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define OTHER          "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
#define MARKER         "a marker that no file contains"
#define KEY            BYTES_OF("Lsixteen bytes..key")
#define BYTES_OF(text) bytes_of(text, sizeof text - 1)

static struct master_keys *masters_of(const char *text)
{
    const char *problem = NULL;
    struct master_keys *masters = master_keys_parse(bytes_from_string(text), &problem);

    assert_non_null(masters);
    return masters;
}

static enum store_result open_with(const char *folder, const char *text, struct store **ret_store,
                                   const char **ret_problem)
{
    struct master_keys *masters = text ? masters_of(text) : NULL;
    const struct store_options options = { .location = folder,
                                           .sync = true,
                                           .master_keys = masters };
    enum store_result result = store_open_embedded(&options, ret_store, ret_problem);

    master_keys_free(masters);
    return result;
}

/* ---- values ---- */

struct sealing {
    char folder[64];
    struct keyring *keyring;
    struct record_sealer *sealer;
};

static void begin(struct sealing *s)
{
    struct master_keys *masters = masters_of(MASTER);
    const char *problem = NULL;
    int folder;

    strcpy(s->folder, "/tmp/sealing.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    folder = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(keyring_create(folder, masters, &s->keyring, &problem), STORE_OK);
    assert_int_equal(unlinkat(folder, KEYRING_FILE, 0), 0);
    close(folder);
    rmdir(s->folder);
    master_keys_free(masters);
    s->sealer = record_sealer_new(s->keyring);
}

static void end(struct sealing *s)
{
    record_sealer_free(s->sealer);
    keyring_free(s->keyring);
}

/* Rule: values of any length come back in their row; with each byte changed, in another row, cut, or as they were before
 * encryption, they are refused. */
static void values_come_back_unchanged_only(void **state)
{
    static const size_t sizes[] = { 0, 1, 15, 16, 17, 300 };
    static char plain[300], sealed[300 + RECORD_SEAL_BYTES], opened[sizeof sealed];
    struct sealing s;

    (void)state;
    begin(&s);
    memset(plain, 'x', sizeof plain);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bytes value = record_seal(s.sealer, KEY, bytes_of(plain, sizes[i]), sealed), found;

        assert_int_equal(value.len, sizes[i] + RECORD_SEAL_BYTES);
        assert_int_equal(record_unseal(s.sealer, KEY, value, opened, &found), STORE_OK);
        assert_true(bytes_equal(found, bytes_of(plain, sizes[i])));
        assert_int_equal(
            record_unseal(s.sealer, BYTES_OF("Lsixteen bytes..kez"), value, opened, &found),
            STORE_CORRUPT);
        for (size_t at = 0; at < value.len; at++) {
            sealed[at] ^= 4;
            assert_int_equal(record_unseal(s.sealer, KEY, value, opened, &found), STORE_CORRUPT);
            sealed[at] ^= 4;
            assert_int_equal(record_unseal(s.sealer, KEY, bytes_of(sealed, at), opened, &found),
                             STORE_CORRUPT);
        }
        assert_int_equal(record_unseal(s.sealer, KEY, bytes_of(plain, sizes[i]), opened, &found),
                         STORE_CORRUPT);
    }
    end(&s);
}

/* Rule: no two values have the same salt and number, also those of two sealers with the same keys. */
static void no_nonce_is_reused(void **state)
{
    static char sealed[4096][RECORD_SEAL_BYTES];
    struct sealing s;
    struct record_sealer *sealers[2];

    (void)state;
    begin(&s);
    sealers[0] = s.sealer;
    sealers[1] = record_sealer_new(s.keyring);
    for (size_t i = 0; i < 4096; i++)
        record_seal(sealers[i % 2], KEY, bytes_of("", 0), sealed[i]);
    for (size_t i = 0; i < 4096; i++)
        for (size_t j = i + 1; j < 4096; j++)
            assert_int_not_equal(memcmp(sealed[i] + 2, sealed[j] + 2, 20), 0);
    record_sealer_free(sealers[1]);
    end(&s);
}

/* ---- a store ---- */

/* Returns whether a file of the folder, or of the folders in it, contains the marker. */
static bool contains_marker(struct arena *arena, const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    assert_non_null(dir);
    while (!found && (entry = readdir(dir))) {
        const char *path = arena_string(arena, arena_printf(arena, "%s/%s", folder, entry->d_name));
        static char bytes[1 << 20];
        struct stat status;
        int fd;

        if (entry->d_name[0] == '.' || stat(path, &status) < 0)
            continue;
        if (S_ISDIR(status.st_mode)) {
            found = contains_marker(arena, path);
            continue;
        }
        fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        for (ssize_t size; !found && (size = read(fd, bytes, sizeof bytes)) > 0;)
            found = memmem(bytes, (size_t)size, MARKER, strlen(MARKER)) != NULL;
        close(fd);
    }
    closedir(dir);
    return found;
}

/* Writes the marker as a record, an index record, a task and a piece. */
static void write_all(struct store *store, struct partition partition, struct arena *arena)
{
    const struct bytes marker = BYTES_OF(MARKER);
    struct stage *stage = stage_open(store, marker.len);
    struct changes *changes = changes_new(arena);
    const struct piece *pieces;
    struct sleeper sleeper;
    size_t taken, count;
    uint64_t sequence;

    assert_int_equal(stage_write(stage, marker, NULL, &taken), STORE_OK);
    sleeper_init(&sleeper);
    while (stage_finish(stage, sleeper_arm(&sleeper)) == STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, BYTES_OF("record"), marker, pieces, count);
    changes_index_put(changes, BYTES_OF("index"), marker);
    changes_defer(changes, INSTANT_MAX / 2, 1, marker);
    assert_int_equal(commit_new(store, partition, changes, &sequence), STORE_OK);
    stage_close(stage);
}

static void reads_all(struct store *store, struct partition partition, struct arena *arena)
{
    struct read_view *view = read_view_open(store, partition, STORE_MAY_BLOCK);
    struct deferred_task task;
    struct record record;
    char bytes[sizeof MARKER] = "";
    struct data_cipher *cipher;

    assert_int_equal(read_view_get(view, RECORD_LISTED, BYTES_OF("record"), arena, &record),
                     STORE_OK);
    assert_true(bytes_is(record.value, MARKER));
    assert_int_equal(record.piece_count, 1);
    assert_int_equal(record.pieces[0].seal->store_key, 1);
    assert_int_equal(piece_read(store, &record.pieces[0], 0, record.pieces[0].length, bytes, NULL),
                     STORE_OK);
    assert_memory_not_equal(bytes, MARKER, strlen(MARKER));
    cipher =
        data_cipher_new(piece_store_key(store, &record.pieces[0]), record.pieces[0].seal->salt);
    assert_int_equal(piece_decrypt(&record.pieces[0], cipher, 0, record.pieces[0].length, bytes),
                     STORE_OK);
    assert_memory_equal(bytes, MARKER, strlen(MARKER));
    data_cipher_free(cipher);
    read_view_close(view);
    assert_int_equal(store_task_peek(store, NULL, arena, &task), STORE_OK);
    assert_true(bytes_is(task.payload, MARKER));
}

/* Rule: records, index records, tasks and pieces reach no file in plain, in the log and in tables; without encryption they do. */
static void no_file_contains_plain_bytes(void **state)
{
    struct fixture *f = *state;
    const char *problem = NULL;
    const char *folder = arena_string(f->arena, arena_printf(f->arena, "%s/new", f->folder));
    struct store *store;

    write_all(f->store, f->partition, f->arena);
    store_close(f->store);
    f->store = NULL;
    assert_true(contains_marker(f->arena, f->folder));
    assert_int_equal(open_with(f->folder, MASTER, &store, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, "it is not encrypted"));

    assert_int_equal(open_with(folder, MASTER, &store, &problem), STORE_OK);
    write_all(store, f->partition, f->arena);
    reads_all(store, f->partition, f->arena);
    assert_false(contains_marker(f->arena, folder));
    store_close(store);
    assert_false(contains_marker(f->arena, folder));
    /* a start writes the log to tables */
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_with(folder, MASTER, &store, &problem), STORE_OK);
        reads_all(store, f->partition, f->arena);
        store_close(store);
        assert_false(contains_marker(f->arena, folder));
    }
    assert_int_equal(open_with(folder, OTHER, &store, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, "630dcd2966c43366"));
    assert_int_equal(open_with(folder, NULL, &store, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, "--encryptionKey"));
    assert_int_equal(open_with(folder, OTHER "\n" MASTER, &store, &problem), STORE_OK);
    reads_all(store, f->partition, f->arena);
    store_close(store);
    assert_int_equal(open_with(folder, MASTER, &store, &problem), STORE_CORRUPT);
    assert_int_equal(open_with(folder, OTHER, &store, &problem), STORE_OK);
    reads_all(store, f->partition, f->arena);
    store_close(store);
}

static void say(void *context, const char *sentence)
{
    (void)context;
    print_message("%s\n", sentence);
}

static void lost(void *context, const struct record_place *after, const struct record_place *to)
{
    (void)after;
    (void)to;
    ++*(int *)context;
}

/* Rule: a salvage needs the keys, and its new folder has the same store keys. */
static void salvage_keeps_keys(void **state)
{
    struct fixture *f = *state;
    const char *problem = NULL;
    const char *folder = arena_string(f->arena, arena_printf(f->arena, "%s/old", f->folder));
    const char *to = arena_string(f->arena, arena_printf(f->arena, "%s/saved", f->folder));
    struct master_keys *masters = masters_of(MASTER);
    int lost_count = 0;
    const struct salvage_listener listener = { say, lost, &lost_count };
    struct store *store;

    assert_int_equal(open_with(folder, MASTER, &store, &problem), STORE_OK);
    write_all(store, f->partition, f->arena);
    store_close(store);
    assert_int_equal(store_salvage(folder, to, NULL, &listener, &problem), STORE_CORRUPT);
    assert_non_null(strstr(problem, "--encryptionKey"));
    assert_int_equal(store_salvage(folder, to, masters, &listener, &problem), STORE_OK);
    assert_int_equal(lost_count, 0);
    assert_int_equal(open_with(to, MASTER, &store, &problem), STORE_OK);
    reads_all(store, f->partition, f->arena);
    store_close(store);
    assert_false(contains_marker(f->arena, to));
    master_keys_free(masters);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(values_come_back_unchanged_only, STORES_ON_DISK),
        TEST(no_nonce_is_reused, STORES_ON_DISK),
        TEST(no_file_contains_plain_bytes, STORES_ON_DISK),
        TEST(salvage_keeps_keys, STORES_ON_DISK),
    };

    return conformance_run("record_seal", tests, sizeof tests / sizeof tests[0]);
}
