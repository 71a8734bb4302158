/* What a change writes and what a look reads does not depend on the size of the content: records
 * and bytes are counted, not time. changes_put(), read_view_get() and scan_next() are wrapped by the
 * linker. design 5, "a change costs what it changes"
 *
 * LAGRA_PAGES: how many pages are written (default 20,000). */
#include "fixture.h"

#include <stdlib.h>
#include <time.h>

#define KIB  1024u
#define TIB  ((uint64_t)1 << 40)
#define PAGE (4 * KIB)

static struct {
    uint64_t bytes_put, puts, reads;
} counted;

void __real_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count);
void __wrap_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count);
enum store_result __real_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record);
enum store_result __wrap_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record);
enum store_result __real_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record);
enum store_result __wrap_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record);

void __wrap_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count)
{
    counted.puts++;
    counted.bytes_put += key.len + value.len;
    __real_changes_put(changes, family, key, value, pieces, piece_count);
}

enum store_result __wrap_read_view_get(struct read_view *snapshot, enum record_family family,
                                       struct bytes key, struct arena *arena,
                                       struct record *ret_record)
{
    counted.reads++;
    return __real_read_view_get(snapshot, family, key, arena, ret_record);
}

enum store_result __wrap_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record)
{
    counted.reads++;
    return __real_scan_next(scan, arena, ret_record);
}

static void count_from_here(void)
{
    memset(&counted, 0, sizeof counted);
}

/* Seconds since the last call; for who reads the output. */
static double lap(void)
{
    static struct timespec last;
    struct timespec now;
    double seconds;

    clock_gettime(CLOCK_MONOTONIC, &now);
    seconds = (double)(now.tv_sec - last.tv_sec) + (double)(now.tv_nsec - last.tv_nsec) / 1e9;
    last = now;
    return seconds;
}

/* ---- appending ---- */

#define APPENDS 50000u

/* 50,000 appends of 100 bytes write little more than their bytes. rest: Append-Block */
static void small_appends(void **state)
{
    struct fixture *f = *state;
    struct content content = { .id = 0 }, snapshot = { .id = 0 };
    struct bytes data = fixture_random_bytes(f, (size_t)APPENDS * 100), got;
    bool more = false;

    lap();
    count_from_here();
    for (size_t i = 0; i < APPENDS; i++) {
        struct arena_mark mark = arena_mark(f->arena);
        struct body body = { .length = 100 };

        body.inline_bytes = bytes_of(data.ptr + 100 * i, 100);
        fixture_begin(f);
        content_append(f->changes, 7, &content, &body);
        if (i == APPENDS / 2) {
            assert_int_equal(content_ref(f->before, f->changes, f->arena, &content, 1), STORE_OK);
            snapshot = content;
        }
        fixture_commit(f);
        arena_rewind(f->arena, mark);
    }
    print_message("%llu bytes in %llu records for %u bytes: %.1f s\n",
                  (unsigned long long)counted.bytes_put, (unsigned long long)counted.puts,
                  100 * APPENDS, lap());
    assert_true(counted.bytes_put < 150 * APPENDS);
    assert_int_equal(content.length, 100 * APPENDS);
    fixture_reopen(f);
    lap();
    count_from_here();
    assert_int_equal(fixture_read(f, &content, 0, content.length, 100000, &got), STORE_OK);
    print_message("read with %llu reads: %.3f s\n", (unsigned long long)counted.reads, lap());
    assert_memory_equal(got.ptr, data.ptr, data.len);
    assert_true(counted.reads <= APPENDS + APPENDS / 50);

    fixture_begin(f); /* the blob goes, its snapshot stays */
    assert_int_equal(content_unref(f->before, f->changes, f->arena, &content, 1, &more), STORE_OK);
    assert_int_equal(
        content_delete_tail(f->before, f->changes, f->arena, 8, &content, snapshot.length, &more),
        STORE_OK);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), APPENDS / 2 + 1);
    assert_int_equal(fixture_read(f, &snapshot, 0, snapshot.length, 100000, &got), STORE_OK);
    assert_memory_equal(got.ptr, data.ptr, snapshot.length);
    fixture_begin(f);
    assert_int_equal(content_unref(f->before, f->changes, f->arena, &snapshot, 1, &more), STORE_OK);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), 0);
}

/* ---- pages ---- */

#define BATCH 500u /* pages of one commit */

/* The pages in the order in which they are written, each once: a full cycle through 2^31. */
static uint64_t page_of(uint64_t i)
{
    return (i * 0x5DEECE66D + 11) & ((UINT64_C(1) << 31) - 1);
}

static void fill(char *bytes, uint64_t page, uint64_t version)
{
    for (size_t i = 0; i < PAGE; i += 8) {
        uint64_t x = (page * PAGE + i + version) * 0x9E3779B97F4A7C15;

        memcpy(bytes + i, &x, 8);
    }
}

static void write_pages(struct fixture *f, struct content *content, uint64_t first, uint64_t count,
                        uint64_t version, uint64_t *stamp)
{
    for (uint64_t i = first; i < first + count;) {
        struct arena_mark mark = arena_mark(f->arena);

        fixture_begin(f);
        for (unsigned b = 0; b < BATCH && i < first + count; b++, i++) {
            char *bytes = arena_bytes(f->arena, PAGE);
            struct body body = { .length = PAGE, .inline_bytes = { bytes, PAGE } };

            fill(bytes, page_of(i), version);
            assert_int_equal(content_write(f->before, f->changes, f->arena, content, ++*stamp,
                                           page_of(i) * PAGE, &body),
                             STORE_OK);
        }
        fixture_commit(f);
        arena_rewind(f->arena, mark);
    }
}

static void expect_page(struct fixture *f, const struct content *content, uint64_t page,
                        uint64_t version)
{
    struct arena_mark mark = arena_mark(f->arena);
    char expected[PAGE];
    struct bytes got;

    fill(expected, page, version);
    assert_int_equal(fixture_read(f, content, page * PAGE, PAGE, PAGE, &got), STORE_OK);
    assert_memory_equal(got.ptr, expected, PAGE);
    arena_rewind(f->arena, mark);
}

static uint64_t list_difference(struct fixture *f, const struct content *older,
                                const struct content *newer)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    uint64_t bytes = 0;

    for (uint64_t at = 0; at != UINT64_MAX;) {
        struct arena_mark mark = arena_mark(f->arena);
        struct content_ranges page;

        assert_int_equal(
            content_difference(snapshot, f->arena, older, newer, at, INT64_MAX, 1000, &page),
            STORE_OK);
        for (size_t i = 0; i < page.count; i++)
            bytes += page.ranges[i].end - page.ranges[i].start;
        at = page.next;
        arena_rewind(f->arena, mark);
    }
    read_view_close(snapshot);
    return bytes;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* The content was cleared: it has no ranges, and once it and its snapshot are deleted, no
 * records. */
static void collect_generations(struct fixture *f, struct content *content,
                                struct content *snapshot)
{
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct content_ranges ranges;
    bool more = false;

    do
        assert_int_equal(content_ranges(before, f->arena, content, 0, INT64_MAX, 1, &ranges),
                         STORE_OK);
    while (ranges.count == 0 && ranges.next == 0);
    assert_int_equal(ranges.count, 0);
    read_view_close(before);
    fixture_begin(f);
    assert_int_equal(content_snapshot_delete(f->before, f->changes, snapshot, content, &more),
                     STORE_OK);
    fixture_commit(f);
    fixture_collect_all(f);
    fixture_begin(f);
    content_newest_delete(f->changes, content, &more);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), 0);
}

static int compare_pages(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* All pages that were written, in the order of their offsets, with nothing between them. */
static void expect_pages(struct fixture *f, const struct content *content, uint64_t count)
{
    uint64_t *pages = xmalloc(count * sizeof pages[0]);

    for (uint64_t i = 0; i < count; i++)
        pages[i] = page_of(i);
    qsort(pages, count, sizeof pages[0], compare_pages);
    for (uint64_t i = 0; i < count; i++)
        expect_page(f, content, pages[i], 0);
    free(pages);
}

/* The difference of two generations reads what changed, whatever else there is. */
static void change_some(struct fixture *f, struct content *content, struct content *snapshot,
                        uint64_t count, uint64_t *stamp)
{
    uint64_t changed = 100;

    fixture_begin(f);
    *snapshot = content_snapshot(f->changes, content);
    fixture_commit(f);
    write_pages(f, content, 0, changed / 2, 1, stamp);               /* pages that were there */
    write_pages(f, content, count, changed - changed / 2, 0, stamp); /* and some that were not */
    count_from_here();
    lap();
    assert_int_equal(list_difference(f, snapshot, content), changed * PAGE);
    print_message("difference of %llu pages: %llu reads, %.4f s\n", (unsigned long long)changed,
                  (unsigned long long)counted.reads, lap());
    assert_true(counted.reads <= 40 * changed);
    for (uint64_t i = 0; i < changed / 2; i++) {
        expect_page(f, snapshot, page_of(i), 0);
        expect_page(f, content, page_of(i), 1);
    }
}

/* Pages at random offsets of 8 TiB: each costs the same, whatever is there; the difference of two
 * generations reads what changed; large ranges are cleared with one record. rest: Put-Page */
static void random_pages(void **state)
{
    struct fixture *f = *state;
    uint64_t count = number("LAGRA_PAGES", 20000), stamp = 100;
    struct content content = content_sparse(stamp, 8 * TIB), snapshot;
    bool more = false;

    lap();
    count_from_here();
    write_pages(f, &content, 0, count, 0, &stamp);
    print_message("%llu pages: %llu bytes put, %llu reads, %.1f s\n", (unsigned long long)count,
                  (unsigned long long)counted.bytes_put, (unsigned long long)counted.reads, lap());
    assert_true(counted.bytes_put <= count * (PAGE + 64));
    assert_true(counted.reads <= 2 * count);
    fixture_reopen(f);
    print_message("closed and opened again: %.1f s\n", lap());
    if (f->folder[0])
        print_message("%llu bytes on disk\n", (unsigned long long)fixture_disk_bytes(f));
    lap();
    expect_pages(f, &content, count);
    print_message("read back: %.1f s\n", lap());
    change_some(f, &content, &snapshot, count, &stamp);

    count_from_here();
    fixture_begin(f);
    assert_int_equal(
        content_clear(f->before, f->changes, f->arena, &content, ++stamp, 0, 8 * TIB, &more),
        STORE_OK);
    fixture_commit(f);
    assert_true(counted.puts <= 4 && counted.reads <= 4);
    collect_generations(f, &content, &snapshot);
}

#define SECTOR 512u

/* Sectors written alone, here and there, cost about their bytes: the record that they lie in has
 * nothing else, and sectors that come together are joined. rest: Put-Page */
static void single_sectors(void **state)
{
    struct fixture *f = *state;
    uint64_t count = number("LAGRA_PAGES", 20000), stamp = 100, put_alone;
    struct content content = content_sparse(stamp, 8 * TIB);
    struct bytes data = fixture_random_bytes(f, SECTOR);
    uint64_t disk = f->folder[0] ? fixture_disk_bytes(f) : 0;

    count_from_here();
    for (uint64_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(f->arena);
        struct body body = { .length = SECTOR, .inline_bytes = data };

        fixture_begin(f);
        assert_int_equal(content_write(f->before, f->changes, f->arena, &content, ++stamp,
                                       page_of(i) * PAGE + i % 8 * SECTOR, &body),
                         STORE_OK);
        fixture_commit(f);
        arena_rewind(f->arena, mark);
    }
    put_alone = counted.bytes_put / count;
    fixture_reopen(f);
    print_message("sectors alone: %llu bytes put each", (unsigned long long)put_alone);
    if (f->folder[0])
        print_message(", %llu on disk", (unsigned long long)(fixture_disk_bytes(f) - disk) / count);
    print_message("\n");
    assert_true(put_alone <= SECTOR + 64);
}

/* All snapshots are deleted in one change without a look at the others of each. rest: Delete-Blob */
static void all_generations_at_once(void **state)
{
    struct fixture *f = *state;
    struct content content = content_sparse(100, 8 * TIB), snapshots[1000];
    size_t count = sizeof snapshots / sizeof snapshots[0];
    bool more = false;

    for (size_t i = 0; i < count; i++) {
        fixture_begin(f);
        snapshots[i] = content_snapshot(f->changes, &content);
        fixture_commit(f);
    }
    count_from_here();
    fixture_begin(f);
    for (size_t i = count; i > 0; i--)
        assert_int_equal(
            content_snapshot_delete(f->before, f->changes, &snapshots[i - 1], NULL, &more),
            STORE_OK);
    assert_int_equal(counted.reads, 0);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), 1); /* the newest is noted */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_appends, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(random_pages, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(single_sectors, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(all_generations_at_once, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
