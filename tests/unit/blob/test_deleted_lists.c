/* What a page of a list of deleted paths costs, and the restoration of one of them: it depends on what the page shows, not
 * on what is retained. Calls are counted, not time: those below are wrapped by the linker. A seek in the index is one
 * search among all its entries. decision: 1305 */
#include "listed.h"
#include "paths.h"

#include <stdio.h>
#include <string.h>

#define LIST "GET /box?restype=container&comp=list"

static struct {
    unsigned views, seeks, entries, records;
} counted;

__typeof__(read_view_open) __wrap_read_view_open, __real_read_view_open;
__typeof__(index_iterator_open) __wrap_index_iterator_open, __real_index_iterator_open;
__typeof__(index_iterator_next) __wrap_index_iterator_next, __real_index_iterator_next;
__typeof__(scan_next) __wrap_scan_next, __real_scan_next;

struct read_view *__wrap_read_view_open(struct store *store, struct partition partition,
                                        struct store_access access)
{
    counted.views++;
    return __real_read_view_open(store, partition, access);
}

struct index_iterator *__wrap_index_iterator_open(struct store *store, struct guid space,
                                                  struct bytes prefix, struct bytes from,
                                                  struct bytes from_partition,
                                                  struct store_access access)
{
    counted.seeks++;
    return __real_index_iterator_open(store, space, prefix, from, from_partition, access);
}

enum store_result __wrap_index_iterator_next(struct index_iterator *iterator,
                                             struct index_record *ret_record)
{
    counted.entries++;
    return __real_index_iterator_next(iterator, ret_record);
}

enum store_result __wrap_scan_next(struct scan *scan, struct arena *arena,
                                   struct record *ret_record)
{
    counted.records++;
    return __real_scan_next(scan, arena, ret_record);
}

static unsigned steps(void)
{
    return counted.views + counted.seeks + counted.entries + counted.records;
}

/* ---- deleted paths ---- */

static void retain(struct fixture *f)
{
    fixture_make_hierarchical(f);
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                  "<Days>7</Days></DeleteRetentionPolicy></StorageServiceProperties>"),
              202);
}

/* Deletes so many files of a directory. */
static void delete_files(struct fixture *f, const char *directory, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char path[64];

        (void)snprintf(path, sizeof path, "%s/%05u", directory, i);
        assert_int_equal(put_path(f, path, "x"), OK);
        assert_int_equal(delete_path(f, path), OK);
    }
}

static unsigned count_of(struct bytes body, const char *element)
{
    unsigned count = 0;

    for (size_t i = 0; i + strlen(element) <= body.len; i++)
        count += memcmp(body.ptr + i, element, strlen(element)) == 0;
    return count;
}

/* Returns the steps of a page with so many entries. */
static unsigned page_of(struct fixture *f, const char *target, unsigned blobs, unsigned prefixes)
{
    struct reply page;

    memset(&counted, 0, sizeof counted);
    page = ask(f, target, NULL, NULL);
    assert_ok(page, 200);
    assert_int_equal(count_of(page.body, "<Blob><Name>"), blobs);
    assert_int_equal(count_of(page.body, "<BlobPrefix><Name>"), prefixes);
    return steps();
}

/* ---- rules ---- */

/* Rule: a page costs the same however many paths are retained in its directory, in others, before it, and behind it. */
static void a_page_costs_what_it_shows(void **state)
{
    static const char ten[] = LIST "&showonly=deleted&prefix=d/&maxresults=10";
    static const char beside[] = LIST "&include=deleted&prefix=d/&delimiter=/&maxresults=10";
    struct fixture *f = *state;
    unsigned few, few_beside, hundred;

    retain(f);
    delete_files(f, "d", 40);
    few = page_of(f, ten, 10, 0);
    few_beside = page_of(f, beside, 10, 0);
    assert_true(few <= 10 + 12);
    delete_files(f, "a", 2000);
    delete_files(f, "z", 2000);
    assert_int_equal(page_of(f, ten, 10, 0), few);
    assert_int_equal(page_of(f, beside, 10, 0), few_beside);
    delete_files(f, "d", 2000);
    assert_int_equal(page_of(f, ten, 10, 0), few);
    assert_int_equal(page_of(f, beside, 10, 0), few_beside);
    hundred = page_of(f, LIST "&showonly=deleted&prefix=d/&maxresults=100", 100, 0);
    assert_int_equal(hundred - few, 90);
}

/* Rule: a page from a marker costs as much as the first one. */
static void a_later_page_costs_the_same(void **state)
{
    struct fixture *f = *state;
    struct reply page;
    unsigned first;

    retain(f);
    delete_files(f, "d", 3000);
    first = page_of(f, LIST "&showonly=deleted&maxresults=10", 10, 0);
    page = ask(f, LIST "&showonly=deleted&maxresults=2500", NULL, NULL);
    assert_int_equal(count_of(page.body, "<Blob><Name>"), 2500);
    assert_int_equal(
        page_of(f, textf(f, LIST "&showonly=deleted&maxresults=10&marker=%s", next_marker(f, page)),
                10, 0),
        first);
}

/* Rule: a group of names is one search, whatever is retained in it. */
static void a_group_is_one_search(void **state)
{
    static const char groups[] = LIST "&showonly=deleted&delimiter=/";
    struct fixture *f = *state;
    unsigned few;

    retain(f);
    for (char name[] = "a"; name[0] <= 'j'; name[0]++)
        delete_files(f, name, 2);
    few = page_of(f, groups, 0, 10);
    delete_files(f, "c", 2000);
    assert_int_equal(page_of(f, groups, 0, 10), few);
}

/* Rule: the newest deletion of a path is found at once among all of them. */
static void a_restoration_costs_the_same(void **state)
{
    struct fixture *f = *state;
    unsigned first = 0;

    retain(f);
    for (unsigned i = 0; i < 500; i++) {
        assert_int_equal(put_path(f, "d/file", "x"), OK);
        assert_int_equal(delete_path(f, "d/file"), OK);
        if (i != 1 && i != 499)
            continue;
        memset(&counted, 0, sizeof counted);
        assert_int_equal(undelete_path(f, "d/file"), OK);
        if (i == 1)
            first = steps();
        assert_int_equal(steps(), first);
        assert_int_equal(delete_path(f, "d/file"), OK);
    }
}

#define TEST(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, fixture_setup_hierarchical, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_page_costs_what_it_shows),
        TEST(a_later_page_costs_the_same),
        TEST(a_group_is_one_search),
        TEST(a_restoration_costs_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
