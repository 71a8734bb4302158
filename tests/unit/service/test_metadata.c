/* x-ms-meta-* headers in and out. rest:
 * Setting-and-Retrieving-Properties-and-Metadata-for-Blob-Resources; semantics 10.1 */
#include "service/metadata.h"

#include <stdio.h>

#include "../request/fixture.h"

static enum error read_metadata(struct fixture *f, const char *const *headers,
                                struct bytes *ret_metadata)
{
    fixture_request(f, METHOD_PUT, "/devstoreaccount1/c/b", headers);
    return metadata_from_headers(&f->work.call, ret_metadata);
}

/* Names keep the case they were sent in; the order stays. */
static void round_trip(void **state)
{
    struct fixture *f = *state;
    const struct response *response = &f->exchange.response;
    struct bytes metadata;

    assert_int_equal(
        read_metadata(f,
                      (const char *const[]){ "x-ms-meta-Colour: deep blue",
                                             "Content-Type: text/plain", "X-MS-META-_n1: ", NULL },
                      &metadata),
        OK);
    metadata_answer(&f->work.answer, metadata);
    assert_int_equal(response->header_count, 2);
    assert_true(bytes_is(response->headers[0].name, "x-ms-meta-Colour"));
    assert_true(bytes_is(response->headers[0].value, "deep blue"));
    assert_true(bytes_is(response->headers[1].name, "x-ms-meta-_n1"));
    assert_int_equal(response->headers[1].value.len, 0);
}

static void as_xml(void **state)
{
    struct fixture *f = *state;
    struct bytes metadata;
    struct text out;

    assert_int_equal(
        read_metadata(f, (const char *const[]){ "x-ms-meta-a: 1 < 2 & 3", NULL }, &metadata), OK);
    text_init(&out, f->arena, 64);
    metadata_xml(&out, metadata);
    assert_true(bytes_is(text_bytes(&out), "<Metadata><a>1 &lt; 2 &amp; 3</a></Metadata>"));
    text_init(&out, f->arena, 64);
    metadata_xml(&out, bytes_from_string(""));
    assert_true(bytes_is(text_bytes(&out), "<Metadata />"));
}

static void refused(void **state)
{
    static const struct {
        const char *headers[3];
        enum error e;
    } cases[] = {
        { { "x-ms-meta-: x" }, E_EmptyMetadataKey },
        { { "x-ms-meta-1st: x" }, E_InvalidMetadata },
        { { "x-ms-meta-a-b: x" }, E_InvalidMetadata },
        { { "x-ms-meta-a.b: x" }, E_InvalidMetadata },
        { { "x-ms-meta-a: 1", "x-ms-meta-A: 2" }, E_InvalidMetadata },
        { { "x-ms-meta-a: \x01" }, E_InvalidMetadata },
    };
    struct fixture *f = *state;
    struct bytes metadata;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (read_metadata(f, cases[i].headers, &metadata) != cases[i].e)
            fail_msg("%s", cases[i].headers[0]);
    }
}

/* 8 KiB of names and values together; one byte more is too much. */
static void limit(void **state)
{
    static char header[METADATA_MAX_BYTES + 64];
    struct fixture *f = *state;
    struct bytes metadata;
    size_t start = (size_t)snprintf(header, sizeof header, "x-ms-meta-n: ");

    memset(header + start, 'v', METADATA_MAX_BYTES - 1);
    assert_int_equal(read_metadata(f, (const char *const[]){ header, NULL }, &metadata), OK);
    header[start + METADATA_MAX_BYTES - 1] = 'v';
    assert_int_equal(read_metadata(f, (const char *const[]){ header, NULL }, &metadata),
                     E_MetadataTooLarge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(round_trip, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(as_xml, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(refused, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(limit, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
