/* List Blobs by delimiter, and what a listing costs. */
#include "listed.h"

#define LIST "GET /box?restype=container&comp=list"

static void put(struct fixture *f, const char *name)
{
    assert_ok(askf(f, "x-ms-blob-type: BlockBlob", "x", "PUT /box/%s", name), 201);
}

static const char *list(struct fixture *f, const char *query)
{
    return listed(f, askf(f, NULL, NULL, LIST "&%s", query));
}

static void put_tree(struct fixture *f)
{
    static const char *const names[] = {
        "a", "a/1", "a/2/3", "a/2/4", "a0", "b/1", "b/2", "c", "d/"
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put(f, names[i]);
}

/* Rule: names that go on after the delimiter are one BlobPrefix, in its place in the order; the
 * prefix says where to look. rest: List-Blobs, "delimiter" */
static void groups_stand_in_order(void **state)
{
    struct fixture *f = *state;

    put_tree(f);
    assert_string_equal(list(f, "delimiter=/"), "a [a/] a0 [b/] c [d/]");
    assert_string_equal(list(f, "delimiter=/&prefix=a/"), "a/1 [a/2/]");
    assert_string_equal(list(f, "delimiter=/&prefix=a"), "a [a/] a0");
    assert_string_equal(list(f, "delimiter=/&prefix=a/2/"), "a/2/3 a/2/4");
    assert_string_equal(list(f, "delimiter=/2&prefix="), "a a/1 [a/2] a0 b/1 [b/2] c d/");
    assert_string_equal(list(f, "delimiter=/&prefix=x"), "");
    assert_string_equal(list(f, "delimiter=%23"), "a a/1 a/2/3 a/2/4 a0 b/1 b/2 c d/");
}

/* Rule: the XML as recorded (test_container.test_list_blobs_with_delimiter). */
static void xml_is_as_recorded(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    put(f, "a/blob1");
    put(f, "b/blob2");
    got = ask(f, LIST "&delimiter=%2F", "Host: h", NULL);
    assert_string_equal(normal(f, got),
                        "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
                        "ServiceEndpoint=\"http://h/devstoreaccount1/\" ContainerName=\"box\">"
                        "<Delimiter>/</Delimiter><Blobs><BlobPrefix><Name>a/</Name></BlobPrefix>"
                        "<BlobPrefix><Name>b/</Name></BlobPrefix></Blobs><NextMarker />"
                        "</EnumerationResults>");
}

/* Rule: each BlobPrefix counts as a result, and no group is shown on two pages. semantics 5 */
static void pages_do_not_split_groups(void **state)
{
    static const char *const pages[] = { "a [a/] ...", "a0 [b/] ...", "c [d/]" };
    struct fixture *f = *state;
    const char *marker = "";

    put_tree(f);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        struct reply page = askf(f, NULL, NULL, LIST "&delimiter=/&maxresults=2&marker=%s", marker);

        assert_string_equal(listed(f, page), pages[i]);
        marker = next_marker(f, page);
    }
    assert_string_equal(marker, "");
}

/* Rule: a group is there for what is visible only: uncommitted blobs make none unless they are
 * asked for. */
static void hidden_blobs_make_no_group(void **state)
{
    struct fixture *f = *state;

    put(f, "b/2");
    assert_ok(ask(f, "PUT /box/a/1?comp=block&blockid=MQ%3D%3D", NULL, "x"), 201);
    assert_ok(ask(f, "PUT /box/b/1?comp=block&blockid=MQ%3D%3D", NULL, "x"), 201);
    assert_ok(ask(f, "PUT /box/b/2?comp=snapshot", NULL, NULL), 201);
    assert_string_equal(list(f, "delimiter=/"), "[b/]");
    assert_string_equal(list(f, "delimiter=/&include=uncommittedblobs"), "[a/] [b/]");
    assert_string_equal(list(f, "delimiter=/&prefix=b/"), "b/2");
}

static size_t count_blobs(struct fixture *f, struct reply page)
{
    const struct xml_node *blobs = xml_child(document(f, page, "EnumerationResults"), "Blobs");
    size_t count = 0;

    for (const struct xml_node *blob = blobs->first_child; blob; blob = blob->next)
        count++;
    return count;
}

/* Rule: a full page is 5,000 results, asked for or not, and the rest follows. rest: List-Blobs */
static void a_page_is_five_thousand(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    for (unsigned i = 0; i < 5001; i++)
        assert_ok(askf(f, "x-ms-blob-type: BlockBlob", "x", "PUT /box/%04u/x", i), 201);
    page = ask(f, LIST, NULL, NULL);
    assert_int_equal(count_blobs(f, page), 5000);
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", next_marker(f, page))),
                        "5000/x");
    page = ask(f, LIST "&delimiter=/&prefix=&maxresults=6000", NULL, NULL);
    assert_string_equal(
        listed(f, askf(f, NULL, NULL, LIST "&delimiter=/&marker=%s", next_marker(f, page))),
        "[5000/]");
}

/* Rule: a page whose XML has grown large ends early and says where to go on. rest: List-Blobs,
 * "NextMarker ... fewer results than maxresults" */
static void large_pages_end_early(void **state)
{
    static char metadata[8000];
    struct fixture *f = *state;
    struct reply page;
    size_t count;

    memset(metadata, 'x', sizeof metadata - 1);
    for (unsigned i = 0; i < 900; i++)
        assert_ok(askf(f, textf(f, "x-ms-blob-type: BlockBlob\nx-ms-meta-a: %s", metadata), "x",
                       "PUT /box/%04u", i),
                  201);
    assert_int_equal(count_blobs(f, ask(f, LIST, NULL, NULL)), 900);
    page = ask(f, LIST "&include=metadata", NULL, NULL);
    count = count_blobs(f, page);
    assert_in_range(count, 700, 800);
    page = askf(f, NULL, NULL, LIST "&include=metadata&marker=%s", next_marker(f, page));
    assert_int_equal(count + count_blobs(f, page), 900);
    assert_string_equal(next_marker(f, page), "");
}

/* Rule: what is hidden costs a page no more than a bounded number of records: it ends early, even
 * empty. rest: List-Blobs, as above */
static void hidden_records_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    for (unsigned i = 0; i < 20010; i++)
        assert_ok(askf(f, NULL, "x", "PUT /box/%05u?comp=block&blockid=MQ%%3D%%3D", i), 201);
    put(f, "z");
    page = ask(f, LIST, NULL, NULL);
    assert_string_equal(listed(f, page), "...");
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", next_marker(f, page))),
                        "z");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(groups_stand_in_order),      TEST(xml_is_as_recorded),
        TEST(pages_do_not_split_groups),  TEST(hidden_blobs_make_no_group),
        TEST(a_page_is_five_thousand),    TEST(large_pages_end_early),
        TEST(hidden_records_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
