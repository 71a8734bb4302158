/* List Blobs, flat: order, pages, what is included, the XML of an entry. */
#include "listed.h"

#define LIST        "GET /box?restype=container&comp=list"
#define XML_BEGIN   "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>"
#define BLOCK_BLOB  "x-ms-blob-type: BlockBlob"
#define BLOCK_OF(b) "PUT /box/" b "?comp=block&blockid=MQ%3D%3D"

static void put(struct fixture *f, const char *name)
{
    assert_ok(askf(f, BLOCK_BLOB, "hello world", "PUT /box/%s", name), 201);
}

/* Rule: the XML of a page, element by element, as recorded of 2018-11-09 (test_container,
 * test_list_blobs_with_include_metadata; without its TagCount, which is documented for blobs with
 * tags since 2019-12-12). */
static void page_is_as_recorded(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/blob1", BLOCK_BLOB "\nx-ms-meta-number: 1\nx-ms-meta-name: bob",
                  "hello world"),
              201);
    assert_string_equal(
        normal(f, ask(f, LIST "&include=metadata", "x-ms-version: 2018-11-09\nHost: account.blob",
                      NULL)),
        XML_BEGIN
        "<EnumerationResults ServiceEndpoint=\"http://account.blob/devstoreaccount1/\" "
        "ContainerName=\"box\"><Blobs><Blob><Name>blob1</Name><Properties>"
        "<Creation-Time>D</Creation-Time><Last-Modified>D</Last-Modified><Etag>E</Etag>"
        "<Content-Length>11</Content-Length><Content-Type>application/octet-stream</Content-Type>"
        "<Content-Encoding /><Content-Language "
        "/><Content-MD5>XrY7u+Ae7tCTyyK7j1rNww==</Content-MD5>"
        "<Cache-Control /><Content-Disposition /><BlobType>BlockBlob</BlobType>"
        "<AccessTier>Hot</AccessTier><AccessTierInferred>true</AccessTierInferred>"
        "<LeaseStatus>unlocked</LeaseStatus><LeaseState>available</LeaseState>"
        "<ServerEncrypted>true</ServerEncrypted></Properties><Metadata><number>1</number>"
        "<name>bob</name></Metadata></Blob></Blobs><NextMarker /></EnumerationResults>");
}

/* Rule: a snapshot's entry has no lease, and before 2019-12-12 no tier; snapshots stand before
 * their base, the oldest first.
 * recorded: test_common_blob.test_get_blob_properties_with_snapshot */
static void snapshots_are_included(void **state)
{
    struct fixture *f = *state;
    const char *page;

    put(f, "a");
    put(f, "b");
    assert_ok(ask(f, "PUT /box/a?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /box/a?comp=snapshot", NULL, NULL), 201);
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "a b");
    assert_string_equal(listed(f, ask(f, LIST "&include=snapshots", NULL, NULL)), "a@ a@ a b");
    page = normal(f, ask(f, LIST "&include=snapshots", "x-ms-version: 2018-11-09", NULL));
    assert_non_null(strstr(
        page, "<Blobs><Blob><Name>a</Name><Snapshot>S</Snapshot><Properties>"
              "<Creation-Time>D</Creation-Time><Last-Modified>D</Last-Modified><Etag>E</Etag>"
              "<Content-Length>11</Content-Length><Content-Type>application/octet-stream"
              "</Content-Type><Content-Encoding /><Content-Language />"
              "<Content-MD5>XrY7u+Ae7tCTyyK7j1rNww==</Content-MD5><Cache-Control />"
              "<Content-Disposition /><BlobType>BlockBlob</BlobType>"
              "<ServerEncrypted>true</ServerEncrypted></Properties></Blob>"));
    page = normal(f, ask(f, LIST "&include=snapshots", NULL, NULL));
    assert_non_null(strstr(page, "<BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>"
                                 "<AccessTierInferred>true</AccessTierInferred>"
                                 "<ServerEncrypted>true</ServerEncrypted></Properties>"
                                 "<OrMetadata /></Blob><Blob><Name>a</Name><Snapshot>"));
}

/* Rule: a blob of uncommitted blocks is listed when asked for, as recorded
 * (test_container.test_list_blobs_with_include_uncommittedblobs), for a week after its last block.
 * rest: Put-Block */
static void uncommitted_blobs_are_included(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, BLOCK_OF("a"), NULL, "x"), 201);
    put(f, "b");
    assert_ok(ask(f, BLOCK_OF("b"), NULL, "x"), 201);
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "b");
    got = ask(f, LIST "&include=uncommittedblobs", "x-ms-version: 2018-11-09", NULL);
    assert_string_equal(listed(f, got), "a b");
    assert_non_null(strstr(
        normal(f, got), "<Blobs><Blob><Name>a</Name><Properties><Content-Length>0</Content-Length>"
                        "<BlobType>BlockBlob</BlobType><AccessTier>Hot</AccessTier>"
                        "<AccessTierInferred>true</AccessTierInferred><LeaseStatus>unlocked"
                        "</LeaseStatus><LeaseState>available</LeaseState><ServerEncrypted>false"
                        "</ServerEncrypted></Properties></Blob><Blob><Name>b</Name>"));
    clock_advance(8 * 24 * 3600 * TICKS_PER_SECOND);
    assert_string_equal(listed(f, ask(f, LIST "&include=uncommittedblobs", NULL, NULL)), "b");
}

/* Rule: names are in order of their UTF-8 bytes, upper case first; every name comes back as it was
 * put, whatever XML thinks of it. rest: List-Blobs; semantics 5 */
static void names_come_back(void **state)
{
    struct fixture *f = *state;

    put(f, "b");
    put(f, "B");
    put(f, "%C3%A4");
    put(f, "a%26%3C%3E%22%27%20x");
    put(f, "a/b/c");
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "B a&<>\"' x a/b/c b \xC3\xA4");
}

/* Rule: a name that XML cannot hold is percent-encoded and says so. rest: List-Blobs, "Encoded" */
static void names_beyond_xml_are_encoded(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    put(f, "d/%EF%BF%BEx%25");
    got = ask(f, LIST, NULL, NULL);
    assert_string_equal(listed(f, got), "d%2F%EF%BF%BEx%25");
    assert_non_null(strstr(normal(f, got), "<Name Encoded=\"true\">d%2F%EF%BF%BEx%25</Name>"));
    got = ask(f, LIST "&prefix=d/%EF%BF%BE", NULL, NULL);
    assert_non_null(strstr(normal(f, got), "<Prefix Encoded=\"true\">d%2F%EF%BF%BE</Prefix>"));
}

/* All pages of a listing, each in its own brackets. */
static const char *all_pages(struct fixture *f, const char *query)
{
    struct text out;
    const char *marker = "";

    text_init(&out, arena_new(1 << 20), 256);
    do {
        struct reply page = askf(f, NULL, NULL, LIST "&%s&marker=%s", query, marker);

        text_printf(&out, "(%s)", listed(f, page));
        marker = next_marker(f, page);
    } while (marker[0]);
    const char *all = textf(f, "%.*s", BYTES_ARG(text_bytes(&out)));
    arena_free(out.arena);
    return all;
}

/* Rule: pages hold at most maxresults, miss nothing and repeat nothing, also between the snapshots
 * of one blob, and the last one has no NextMarker. rest: List-Blobs */
static void pages_join(void **state)
{
    struct fixture *f = *state;

    for (const char *name = "abcde"; *name; name++)
        put(f, (const char[]){ *name, '\0' });
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, BLOCK_OF("f"), NULL, "x"), 201);
    assert_string_equal(all_pages(f, "maxresults=2"), "(a b ...)(c d ...)(e)");
    assert_string_equal(all_pages(f, "maxresults=5"), "(a b c d e)");
    assert_string_equal(all_pages(f, "maxresults=2&include=snapshots"),
                        "(a b@ ...)(b@ b ...)(c d ...)(e)");
    assert_string_equal(all_pages(f, "maxresults=1&prefix=c"), "(c)");
    assert_string_equal(all_pages(f, "maxresults=3&include=uncommittedblobs"),
                        "(a b c ...)(d e f)");
}

/* Rule: a marker names where to go on, so that a blob deleted or added meanwhile disturbs nothing.
 * semantics 5, Listing */
static void marker_outlives_its_blob(void **state)
{
    struct fixture *f = *state;
    const char *marker;

    put(f, "a");
    put(f, "c");
    put(f, "e");
    marker = next_marker(f, ask(f, LIST "&maxresults=1", NULL, NULL));
    assert_ok(ask(f, "DELETE /box/c", NULL, NULL), 202);
    put(f, "b");
    put(f, "d");
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", marker)), "d e");
    assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&prefix=e&marker=%s", marker)), "e");
}

/* Rule: startFrom begins a listing, endBefore ends it; with a marker the later beginning holds.
 * rest: List-Blobs (2026-10-06) */
static void start_and_end(void **state)
{
    struct fixture *f = *state;

    for (const char *name = "abcde"; *name; name++)
        put(f, (const char[]){ *name, '\0' });
    assert_string_equal(listed(f, ask(f, LIST "&startFrom=b", NULL, NULL)), "b c d e");
    assert_string_equal(listed(f, ask(f, LIST "&startFrom=bb&endBefore=e", NULL, NULL)), "c d");
    assert_string_equal(listed(f, ask(f, LIST "&startFrom=d&endBefore=b", NULL, NULL)), "");
    assert_string_equal(all_pages(f, "startFrom=b&endBefore=e&maxresults=1"), "(b ...)(c ...)(d)");
}

/* Rule: wrong parameters are refused, what could have made no data is accepted. rest: List-Blobs */
static void parameters_are_checked(void **state)
{
    static const struct {
        const char *query;
        int status;
        const char *code;
    } wrong[] = {
        { "maxresults=0", 400, "OutOfRangeQueryParameterValue" },
        { "maxresults=x", 400, "InvalidQueryParameterValue" },
        { "include=all", 400, "InvalidQueryParameterValue" },
        { "marker=x", 400, "InvalidQueryParameterValue" },
        { "marker=AQL_Av8" /* a name that is no UTF-8 */, 400, "InvalidQueryParameterValue" },
        { "showonly=deleted", 400, "InvalidQueryParameterValue" }, /* not hierarchical */
        { "showonly=files", 400, "InvalidQueryParameterValue" },
        { "showonly=directories", 400, "InvalidQueryParameterValue" },
        { "include=permissions", 400, "InvalidQueryParameterValue" },
    };
    struct fixture *f = *state;

    put(f, "a");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_answer(askf(f, NULL, NULL, LIST "&%s", wrong[i].query), wrong[i].status,
                      wrong[i].code);
    assert_answer(ask(f, LIST "&include=snapshots&delimiter=/", "x-ms-version: 2021-06-07", NULL),
                  400, "InvalidQueryParameterValue");
    assert_answer(ask(f, LIST, "Accept: application/vnd.apache.arrow.stream", NULL), 501,
                  "NotImplemented");
    assert_ok(ask(f, LIST, "Accept: application/vnd.apache.arrow.stream,application/xml", NULL),
              200);
    assert_string_equal(listed(f, ask(f,
                                      LIST "&include=metadata,copy,deleted,tags,versions,"
                                           "deletedwithversions,immutabilitypolicy,legalhold",
                                      NULL, NULL)),
                        "a");
    assert_string_equal(listed(f, ask(f, LIST "&maxresults=9999999&prefix=&include=", NULL, NULL)),
                        "a");
}

/* Rule: properties, tier and lease are shown as they are now. rest: List-Blobs; semantics 3.2 */
static void properties_are_shown(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    assert_ok(ask(f, "PUT /box/a",
                  BLOCK_BLOB
                  "\nx-ms-blob-content-type: text/<x>\nx-ms-blob-content-encoding: gzip\n"
                  "x-ms-blob-content-language: de\nx-ms-blob-cache-control: no-cache\n"
                  "x-ms-blob-content-disposition: inline\nx-ms-access-tier: Cool",
                  "x"),
              201);
    assert_ok(ask(f, "PUT /box/a?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1",
                  NULL),
              201);
    page = ask(f, LIST, NULL, NULL);
    assert_string_equal(first_text(f, page, "Content-Type"), "text/<x>");
    assert_string_equal(first_text(f, page, "Content-Encoding"), "gzip");
    assert_string_equal(first_text(f, page, "Content-Language"), "de");
    assert_string_equal(first_text(f, page, "Cache-Control"), "no-cache");
    assert_string_equal(first_text(f, page, "Content-Disposition"), "inline");
    assert_string_equal(first_text(f, page, "AccessTier"), "Cool");
    assert_null(first_text(f, page, "AccessTierInferred"));
    assert_non_null(first_text(f, page, "AccessTierChangeTime"));
    assert_string_equal(first_text(f, page, "LeaseStatus"), "locked");
    assert_string_equal(first_text(f, page, "LeaseState"), "leased");
    assert_string_equal(first_text(f, page, "LeaseDuration"), "infinite");
}

/* Rule: whatever bytes a header brought, the page stays well-formed: what is no UTF-8 is taken as
 * Latin-1. rfc: 9110 5.5 */
static void header_bytes_keep_the_page_well_formed(void **state)
{
    struct fixture *f = *state;
    struct reply page;

    assert_ok(ask(f, "PUT /box/a",
                  BLOCK_BLOB "\nx-ms-blob-cache-control: caf\xE9\n"
                             "x-ms-blob-content-language: caf\xC3\xA9\n"
                             "x-ms-blob-content-disposition: \xFF",
                  "x"),
              201);
    assert_answer(ask(f, "PUT /box/b", BLOCK_BLOB "\nx-ms-meta-latin: caf\xE9", "x"), 400,
                  "InvalidMetadata"); /* decision: 863 */
    page = ask(f, LIST, NULL, NULL);
    assert_string_equal(listed(f, page), "a");
    assert_string_equal(first_text(f, page, "Cache-Control"), "caf\xC3\xA9");
    assert_string_equal(first_text(f, page, "Content-Language"), "caf\xC3\xA9");
    assert_string_equal(first_text(f, page, "Content-Disposition"), "\xC3\xBF");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(page_is_as_recorded),
        TEST(snapshots_are_included),
        TEST(uncommitted_blobs_are_included),
        TEST(names_come_back),
        TEST(names_beyond_xml_are_encoded),
        TEST(pages_join),
        TEST(marker_outlives_its_blob),
        TEST(start_and_end),
        TEST(parameters_are_checked),
        TEST(properties_are_shown),
        TEST(header_bytes_keep_the_page_well_formed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
