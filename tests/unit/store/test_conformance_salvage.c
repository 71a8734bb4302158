/* Salvage of stores on disk: the new folder holds the newest of all that the old one can give, and is a
 * whole store: what is deleted there gives its room back. inspect.h */
#include "conformance.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/inspect.h"

#define PARTITIONS 3
#define ROUNDS     4
#define KEYS       200
#define STREAM     (3 * PIECE_SECTOR_BYTES + 17)

/* What was said and lost. */
struct report {
    unsigned said, lost;
};

static void say(void *context, const char *sentence)
{
    struct report *report = context;

    (void)sentence;
    report->said++;
}

static void note_lost(void *context, const struct record_place *after,
                      const struct record_place *to)
{
    struct report *report = context;

    (void)after;
    (void)to;
    report->lost++;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

struct state {
    struct fixture *f;
    struct partition partitions[PARTITIONS];
    struct random random;
    const char *expected[PARTITIONS]; /* all LISTED records, as text */
    int64_t counted;
};

static void count(struct state *s, int64_t delta)
{
    struct changes *changes = changes_new(s->f->arena);

    changes_count(changes, bytes_from_string("sum"), delta);
    assert_int_equal(commit_new(s->f->store, s->partitions[0], changes, NULL), STORE_OK);
    s->counted += delta;
}

/* Records that come, change and go, in one round. */
static void change_some(struct state *s, unsigned round)
{
    for (unsigned i = 0; i < KEYS; i++) {
        struct partition partition = s->partitions[random_below(&s->random, PARTITIONS)];
        char key[16], value[32];

        snprintf(key, sizeof key, "k%03u", (unsigned)random_below(&s->random, KEYS));
        snprintf(value, sizeof value, "%u-%u", round, i);
        if (random_below(&s->random, 3) == 0)
            delete_key(s->f->store, partition, key);
        else
            put_text(s->f->store, partition, key, value);
    }
    count(s, (int64_t)random_below(&s->random, 1000) - 300);
}

/* The record "twin" refers to the pieces of "stream" too. */
static void put_twin(struct state *s)
{
    struct read_view *snapshot = read_view_open(s->f->store, s->partitions[1], STORE_MAY_BLOCK);
    struct changes *changes = changes_new(s->f->arena);
    struct record record;

    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("stream"), s->f->arena, &record),
        STORE_OK);
    changes_put(changes, RECORD_LISTED, bytes_from_string("twin"), record.value, record.pieces,
                record.piece_count);
    read_view_close(snapshot);
    assert_int_equal(commit_new(s->f->store, s->partitions[1], changes, NULL), STORE_OK);
}

static const char *text_of(struct state *s, unsigned partition)
{
    static const struct bytes nothing = { "", 0 };
    struct read_view *snapshot =
        read_view_open(s->f->store, s->partitions[partition], STORE_MAY_BLOCK);
    const char *text = scan_text(snapshot, s->f->arena, nothing, nothing);

    read_view_close(snapshot);
    return text;
}

/* A store whose newest records lie in tables of several ages and in the log. */
static void make(struct state *s, struct fixture *f)
{
    *s = (struct state){ .f = f, .random = { 7 } };
    for (unsigned i = 0; i < PARTITIONS; i++) {
        char key[] = { (char)('a' + (int)i), '\0' };

        s->partitions[i] = partition_of(f->partition.space, arena_printf(f->arena, "%s", key).ptr);
    }
    put_stream(f->store, s->partitions[1], "stream", STREAM, 1);
    put_stream(f->store, s->partitions[1], "gone", STREAM, 2);
    put_twin(s);
    for (unsigned round = 0; round < ROUNDS; round++) {
        change_some(s, round);
        if (round < ROUNDS - 1)
            fixture_reopen(f); /* what was in the log is in a table then */
    }
    delete_stream(f->store, s->partitions[1], "gone");
    for (unsigned i = 0; i < PARTITIONS; i++)
        s->expected[i] = text_of(s, i);
}

/* Closes the store, salvages its folder, and goes on with what came of it. */
static struct report salvage(struct state *s)
{
    struct fixture *f = s->f;
    struct report report = { 0, 0 };
    const struct salvage_listener listener = { .say = say, .lost = note_lost, .context = &report };
    const char *problem = "", *to = arena_printf(f->arena, "%s.saved", f->folder).ptr;

    if (f->store)
        store_close(f->store);
    f->store = NULL;
    assert_int_equal(store_salvage(f->folder, to, NULL, &listener, &problem), STORE_OK);
    assert_int_equal(nftw(f->folder, remove_one, 16, FTW_PHYS | FTW_DEPTH), 0);
    assert_int_equal(rename(to, f->folder), 0);
    assert_int_equal(f->engine->open(f->folder, &f->store), STORE_OK);
    return report;
}

static void expect_records(struct state *s)
{
    uint64_t sequence;
    int64_t sum;

    for (unsigned i = 0; i < PARTITIONS; i++)
        assert_string_equal(text_of(s, i), s->expected[i]);
    assert_int_equal(store_count(s->f->store, s->f->partition.space, bytes_from_string("sum"),
                                 STORE_MAY_BLOCK, &sum, &sequence),
                     STORE_OK);
    assert_int_equal(sum, s->counted);
}

static bool matches(struct state *s, const char *key)
{
    struct read_view *snapshot = read_view_open(s->f->store, s->partitions[1], STORE_MAY_BLOCK);
    bool same = stream_matches(s->f->store, snapshot, key, STREAM, 1);

    read_view_close(snapshot);
    return same;
}

/* Of two records with the same pieces one may go; with the second their room comes back. */
static void expect_references(struct state *s)
{
    assert_true(matches(s, "stream") && matches(s, "twin"));
    delete_stream(s->f->store, s->partitions[1], "stream");
    fixture_reopen(s->f);
    assert_true(matches(s, "twin"));
    delete_stream(s->f->store, s->partitions[1], "twin");
    assert_all_given_back(s->f->store);
}

/* Rule: of a whole folder all comes back, as it was newest, and nothing that was deleted. */
static void all_of_a_whole_folder(void **state)
{
    struct state s;
    struct report report;

    make(&s, *state);
    report = salvage(&s);
    assert_int_equal(report.lost, 0);
    assert_int_equal(report.said, 0);
    expect_records(&s);
    expect_references(&s);
}

static unsigned manifests;

static int remove_manifest(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    if (kind != FTW_F || strncmp(path + place->base, "MANIFEST", 8) != 0)
        return 0;
    manifests++;
    return unlink(path);
}

/* Rule: without the list of tables all of them count, and the newest of each key is found by its number. */
static void all_without_a_manifest(void **state)
{
    struct fixture *f = *state;
    struct state s;
    struct report report;

    make(&s, f);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(nftw(f->folder, remove_manifest, 16, FTW_PHYS), 0);
    assert_true(manifests > 0);
    report = salvage(&s);
    assert_int_equal(report.lost, 0);
    expect_records(&s);
    expect_references(&s);
}

/* Its copy of the MANIFEST is made after the start, and takes the place of an older one: not while it is copied. */
static void wait_for_checkpoint(struct fixture *f)
{
    struct bytes command =
        arena_printf(f->arena,
                     "test \"$(cat %s/records/CURRENT | sed s/MANIFEST/manifest/)\" = "
                     "\"$(cd %s && echo manifest-*)\"",
                     f->folder, f->folder);

    for (unsigned i = 0; system(command.ptr) != 0; i++) {
        assert_true(i < 1000);
        usleep(10000);
    }
}

/* Rule: what a crash leaves in the log counts as what is in tables does: also that a record is gone. */
static void all_after_a_crash(void **state)
{
    struct fixture *f = *state;
    struct report report;
    struct state s;

    make(&s, f);
    wait_durable(f->store, put_text(f->store, s.partitions[0], "newest", "1"));
    s.expected[0] = text_of(&s, 0);
    wait_for_checkpoint(f);
    /* A copy of what a running store has written is what a crash would leave. */
    assert_int_equal(system(arena_printf(f->arena, "cp -a %s %s.copy", f->folder, f->folder).ptr),
                     0);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(nftw(f->folder, remove_one, 16, FTW_PHYS | FTW_DEPTH), 0);
    assert_int_equal(rename(arena_printf(f->arena, "%s.copy", f->folder).ptr, f->folder), 0);
    report = salvage(&s);
    assert_int_equal(report.lost, 0);
    assert_int_equal(report.said, 0);
    expect_records(&s);
    expect_references(&s);
}

static int remove_extent(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)place;
    return kind == FTW_F && strstr(path, "/extents/") ? unlink(path) : 0;
}

/* Rule: a record whose bytes are lost stays, reading them is damage, and it can be deleted. */
static void records_without_their_bytes(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;
    struct state s;
    char byte;

    make(&s, f);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(nftw(f->folder, remove_extent, 16, FTW_PHYS), 0);
    (void)salvage(&s);
    expect_records(&s);
    snapshot = read_view_open(f->store, s.partitions[1], STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("twin"), f->arena, &record),
        STORE_OK);
    assert_int_equal(piece_read(f->store, record.pieces, 0, 1, &byte, NULL), STORE_CORRUPT);
    read_view_close(snapshot);
    delete_stream(f->store, s.partitions[1], "twin");
    delete_stream(f->store, s.partitions[1], "stream");
    assert_all_given_back(f->store);
}

/* Rule: a folder that a server has, or that is none, is left alone. */
static void other_folders(void **state)
{
    struct fixture *f = *state;
    struct report report = { 0, 0 };
    const struct salvage_listener listener = { .say = say, .lost = note_lost, .context = &report };
    const char *to = arena_printf(f->arena, "%s.saved", f->folder).ptr;
    const char *problem = NULL;

    put_text(f->store, f->partition, "k", "v");
    assert_int_equal(store_salvage(f->folder, to, NULL, &listener, &problem), STORE_BUSY);
    assert_non_null(problem);
    problem = NULL;
    assert_int_equal(store_salvage(to, f->folder, NULL, &listener, &problem), STORE_IO);
    assert_non_null(problem);
    assert_int_equal(access(to, F_OK), -1);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "v");
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(all_of_a_whole_folder, STORES_ON_DISK),
        TEST(all_without_a_manifest, STORES_ON_DISK),
        TEST(all_after_a_crash, STORES_ON_DISK),
        TEST(records_without_their_bytes, STORES_ON_DISK),
        TEST(other_folders, STORES_ON_DISK),
    };

    if (!log_open(LOG_ERROR, "/dev/null"))
        return 1;
    return conformance_run("salvage", tests, sizeof tests / sizeof tests[0]);
}
