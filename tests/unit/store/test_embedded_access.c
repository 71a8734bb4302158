/* The embedded store under STORE_NO_WAIT: it reads only what is in memory, answers STORE_WAIT for
 * the rest, and has changed nothing then. store.h, struct store_access */
#include <stdio.h>
#include <unistd.h>

#include "conformance.h"
#include "page_cache.h"

#define RECORDS 2000

static const struct bytes nothing = { NULL, 0 };

/* Records that fill many blocks, on disk and in no cache. */
static void make_cold(struct fixture *f)
{
    for (int at = 0; at < RECORDS; at += 100) {
        struct changes *changes = changes_new(f->arena);

        for (int i = at; i < at + 100; i++)
            changes_put(changes, RECORD_LISTED, arena_printf(f->arena, "%05d", i),
                        arena_printf(f->arena, "%0200d", i), NULL, 0);
        assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    }
    fixture_reopen(f);
    page_cache_is_empty = true;
}

static enum store_result get(struct fixture *f, struct store_access access)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, access);
    struct record record;
    enum store_result result =
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("01000"), f->arena, &record);

    read_view_close(snapshot);
    return result;
}

static void cold_get_waits(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;

    make_cold(f);
    assert_int_equal(get(f, STORE_NO_WAIT), STORE_WAIT);
    assert_int_equal(get(f, STORE_NO_WAIT), STORE_WAIT);
    /* The same snapshot goes on, once it may block. */
    snapshot = read_view_open(f->store, f->partition, STORE_NO_WAIT);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("01000"), f->arena, &record),
        STORE_WAIT);
    read_view_set_access(snapshot, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("01000"), f->arena, &record),
        STORE_OK);
    read_view_close(snapshot);
    assert_int_equal(get(f, STORE_NO_WAIT), STORE_OK);
}

/* What RocksDB has not read yet is read where it does not wait: from the page cache. */
static void page_cache_is_memory(void **state)
{
    struct fixture *f = *state;

    make_cold(f);
    assert_int_equal(get(f, STORE_NO_WAIT), STORE_WAIT);
    page_cache_is_empty = false; /* the start has read all tables */
    for (int i = 0; i < 1000 && get(f, STORE_NO_WAIT) == STORE_WAIT; i++)
        usleep(1000); /* the machine may have been short of memory since */
    if (page_cache_is_unknown)
        skip();
    assert_int_equal(get(f, STORE_NO_WAIT), STORE_OK);
}

static enum store_result get_ahead(struct fixture *f, const char *key, struct store_access access)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, access);
    struct record record;
    enum store_result result = read_view_get_ahead(snapshot, RECORD_LISTED, nothing,
                                                   bytes_from_string(key), f->arena, &record);

    read_view_close(snapshot);
    return result;
}

/* Who may wait reads the next 256 too: for who may not, they are in memory. */
static void read_ahead_is_memory(void **state)
{
    struct fixture *f = *state;

    make_cold(f);
    assert_int_equal(get_ahead(f, "01000", STORE_NO_WAIT), STORE_WAIT);
    assert_int_equal(get_ahead(f, "01000", STORE_MAY_BLOCK), STORE_OK);
    assert_int_equal(get_ahead(f, "01200", STORE_NO_WAIT), STORE_OK);
    assert_int_equal(get_ahead(f, "01400", STORE_NO_WAIT), STORE_WAIT);
    make_cold(f);
    assert_int_equal(get(f, STORE_MAY_BLOCK), STORE_OK);
    assert_int_equal(get_ahead(f, "01200", STORE_NO_WAIT), STORE_WAIT);
}

static void cold_scan_waits(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;
    enum store_result result;
    struct scan *scan;
    int count = 0;

    make_cold(f);
    snapshot = read_view_open(f->store, f->partition, STORE_NO_WAIT);
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    while ((result = scan_next(scan, NULL, &record)) == STORE_OK)
        count++;
    assert_int_equal(result, STORE_WAIT);
    assert_true(count < RECORDS);
    scan_close(scan);
    read_view_set_access(snapshot, STORE_MAY_BLOCK);
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    for (count = 0; scan_next(scan, NULL, &record) == STORE_OK; count++)
        ;
    assert_int_equal(count, RECORDS);
    scan_close(scan);
    read_view_set_access(snapshot, STORE_NO_WAIT);
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    for (count = 0; scan_next(scan, NULL, &record) == STORE_OK; count++)
        ;
    assert_int_equal(count, RECORDS); /* all of it is in the cache now */
    scan_close(scan);
    read_view_close(snapshot);
}

static void cold_iterator_waits(void **state)
{
    struct fixture *f = *state;
    struct space_iterator *iterator;
    struct space_record found;
    enum store_result result;
    int count;

    make_cold(f);
    iterator = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_NO_WAIT);
    while ((result = space_iterator_next(iterator, &found)) == STORE_OK)
        ;
    assert_int_equal(result, STORE_WAIT);
    space_iterator_close(iterator);
    iterator = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    for (count = 0; space_iterator_next(iterator, &found) == STORE_OK; count++)
        ;
    assert_int_equal(count, RECORDS);
    space_iterator_close(iterator);
}

/* A view, made by a writer beside, reads as the snapshot may. */
static void cold_view_waits(void **state)
{
    struct fixture *f = *state;
    struct read_view *snapshot;
    struct record record;

    make_cold(f);
    snapshot = read_view_open(f->store, f->partition, STORE_NO_WAIT);
    put_text(f->store, f->partition, "01000", "new");
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("01000"), f->arena, &record),
        STORE_WAIT);
    read_view_set_access(snapshot, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("01000"), f->arena, &record),
        STORE_OK);
    assert_int_equal(record.value.len, 200);
    read_view_close(snapshot);
}

/* The row of a piece is cold: the commit changes nothing, and is made again with the same
 * snapshot. */
static void cold_commit_waits(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot, *beside;
    struct record record;
    uint64_t sequence = 7;

    /* Its record lies in the first block, the row of its piece in one that nothing else touches. */
    put_stream(f->store, f->partition, "!", 100000, 1);
    for (int i = 0; i < 1000; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "~%d", i);
        put_stream(f->store, f->partition, key, 1, 2);
    }
    make_cold(f);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    beside = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("!"), f->arena, &record),
        STORE_OK);
    changes_delete(changes, RECORD_LISTED, record.key);
    changes_release(changes, record.pieces, record.piece_count);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_NO_WAIT, &sequence),
                     STORE_WAIT);
    assert_int_equal(sequence, 7);
    assert_int_equal(usage_now(f->store).piece_bytes, 101000);
    assert_true(stream_matches(f->store, snapshot, "!", 100000, 1));
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    assert_true(stream_matches(f->store, beside, "!", 100000, 1));
    read_view_close(beside);
    assert_int_equal(usage_now(f->store).piece_bytes, 1000);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(cold_get_waits, STORES_ON_DISK),       TEST(page_cache_is_memory, STORES_ON_DISK),
        TEST(read_ahead_is_memory, STORES_ON_DISK), TEST(cold_scan_waits, STORES_ON_DISK),
        TEST(cold_iterator_waits, STORES_ON_DISK),  TEST(cold_view_waits, STORES_ON_DISK),
        TEST(cold_commit_waits, STORES_ON_DISK),
    };

    return conformance_run("access", tests, sizeof tests / sizeof tests[0]);
}
