/* List Containers. */
#include <stdlib.h>

#include "listed.h"

#define LIST "GET /?comp=list"

static void make(struct fixture *f, const char *name, const char *headers)
{
    assert_ok(askf(f, headers, NULL, "PUT /%s?restype=container", name), 201);
}

/* Rule: the XML of a page, element by element, as recorded of 2018-11-09 (test_container,
 * test_list_containers_with_public_access; its host replaced). */
static void page_is_as_recorded(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    make(f, "container664b164b", "x-ms-blob-public-access: blob");
    got = ask(f, LIST "&prefix=container664b164b", "x-ms-version: 2018-11-09\nHost: account.blob",
              NULL);
    assert_string_equal(
        normal(f, got),
        "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
        "ServiceEndpoint=\"http://account.blob/devstoreaccount1/\"><Prefix>container664b164b</"
        "Prefix>"
        "<Containers><Container><Name>container664b164b</Name><Properties><Last-Modified>D"
        "</Last-Modified><Etag>\"E\"</Etag><LeaseStatus>unlocked</LeaseStatus><LeaseState>available"
        "</LeaseState><PublicAccess>blob</PublicAccess><HasImmutabilityPolicy>false"
        "</HasImmutabilityPolicy><HasLegalHold>false</HasLegalHold></Properties></Container>"
        "</Containers><NextMarker /></EnumerationResults>");
    assert_string_equal(
        normal(f, ask(f, LIST "&prefix=%E4%B8%AD", "x-ms-version: 2018-11-09\nHost: h", NULL)),
        "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
        "ServiceEndpoint=\"http://h/devstoreaccount1/\"><Prefix>\xE4\xB8\xAD</Prefix><Containers />"
        "<NextMarker /></EnumerationResults>");
}

/* Rule: in order of name, filtered by prefix, paged by maxresults and marker; the marker is
 * "/account/name" of the next one (recorded). rest: List-Containers2 */
static void order_prefix_and_pages(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    make(f, "bbb", NULL);
    make(f, "aaa", NULL);
    make(f, "$root", NULL);
    make(f, "aab", NULL);
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "$root aaa aab bbb box");
    assert_string_equal(listed(f, ask(f, LIST "&prefix=aa", NULL, NULL)), "aaa aab");
    assert_string_equal(listed(f, ask(f, LIST "&prefix=aaa", NULL, NULL)), "aaa");
    page = ask(f, LIST "&prefix=a&maxresults=1", NULL, NULL);
    assert_string_equal(listed(f, page), "aaa ...");
    assert_string_equal(first_text(f, page, "MaxResults"), "1");
    assert_string_equal(first_text(f, page, "NextMarker"), "/devstoreaccount1/aab");
    page = askf(f, NULL, NULL, LIST "&prefix=a&maxresults=1&marker=%s", next_marker(f, page));
    assert_string_equal(listed(f, page), "aab");
    assert_string_equal(first_text(f, page, "Marker"), "/devstoreaccount1/aab");

    assert_ok(ask(f, "DELETE /aab?restype=container", NULL, NULL), 202);
    assert_string_equal(listed(f, ask(f, LIST "&marker=%2Fdevstoreaccount1%2Faab", NULL, NULL)),
                        "bbb box");
}

/* Rule: metadata is listed when it is asked for, names as they were sent. rest: List-Containers2 */
static void metadata_is_included(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    make(f, "meta", "x-ms-meta-COLOR: <red>");
    assert_null(first_text(f, ask(f, LIST "&prefix=meta", NULL, NULL), "Metadata"));
    page = ask(f, LIST "&prefix=meta&include=metadata,deleted,system", NULL, NULL);
    assert_string_equal(first_text(f, page, "COLOR"), "<red>");
    page = ask(f, LIST "&prefix=box&include=metadata", NULL, NULL);
    assert_string_equal(first_text(f, page, "Metadata"), "");
}

/* Rule: the lease is shown as it is now. semantics 3.2, "Visible" */
static void lease_is_shown(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    assert_ok(ask(f, "PUT /box?restype=container&comp=lease",
                  "x-ms-lease-action: acquire\nx-ms-lease-duration: 60", NULL),
              201);
    page = ask(f, LIST, NULL, NULL);
    assert_string_equal(first_text(f, page, "LeaseStatus"), "locked");
    assert_string_equal(first_text(f, page, "LeaseState"), "leased");
    assert_string_equal(first_text(f, page, "LeaseDuration"), "fixed");
    clock_advance(61 * TICKS_PER_SECOND);
    page = ask(f, LIST, NULL, NULL);
    assert_string_equal(first_text(f, page, "LeaseState"), "expired");
    assert_null(first_text(f, page, "LeaseDuration"));
}

/* Rule: a page ends when it is long, however many results may be on it, and the next one goes on there.
 * listing_xml.h, LISTING_PAGE_BYTES */
static void long_pages_end(void **state)
{
    struct fixture *f = *state;
    char *metadata = calloc(1, 8000 + 1);
    const size_t most = (6 << 20) + 2 * 8192;
    struct reply first, second;

    memset(metadata, 'm', 8000);
    for (unsigned i = 0; i < 900; i++)
        make(f, textf(f, "long%03u", i), textf(f, "x-ms-meta-a: %s", metadata));
    free(metadata);
    first = ask(f, LIST "&prefix=long&include=metadata", NULL, NULL);
    assert_true(first.body.len > 6 << 20 && first.body.len < most);
    second =
        askf(f, NULL, NULL, LIST "&prefix=long&include=metadata&marker=%s", next_marker(f, first));
    assert_true(second.body.len > (900 * 8000 - most) && second.body.len < most);
    assert_string_equal(next_marker(f, second), "");
    assert_non_null(strstr(listed(f, second), "long899"));
}

/* Rule: wrong parameters are refused. rest: List-Containers2 */
static void wrong_parameters_are_refused(void **state)
{
    static const struct {
        const char *query;
        const char *code;
    } wrong[] = {
        { "maxresults=0", "OutOfRangeQueryParameterValue" },
        { "maxresults=-5", "OutOfRangeQueryParameterValue" },
        { "maxresults=ten", "InvalidQueryParameterValue" },
        { "maxresults=", "InvalidQueryParameterValue" },
        { "include=everything", "InvalidQueryParameterValue" },
        { "marker=aaa", "InvalidQueryParameterValue" },
        { "marker=%2Fother%2Faaa", "InvalidQueryParameterValue" },
        { "marker=%2Fdevstoreaccount1%2FA", "InvalidQueryParameterValue" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_answer(askf(f, NULL, NULL, LIST "&%s", wrong[i].query), 400, wrong[i].code);
    assert_string_equal(listed(f, ask(f, LIST "&maxresults=100000&marker=&prefix=", NULL, NULL)),
                        "box");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(page_is_as_recorded), TEST(order_prefix_and_pages),       TEST(metadata_is_included),
        TEST(lease_is_shown),      TEST(wrong_parameters_are_refused), TEST(long_pages_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
