/* Put Blob, Get Blob, Get Blob Properties: what is put is what is got. */
#include "fixture.h"

#include <stdlib.h>

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"

/* Rule: a Put Blob answers 201 with ETag, sums and encryption; a Get Blob gives the bytes and the
 * properties. rest: Put-Blob, Get-Blob; recorded header names */
static void blob_is_put_and_got(void **state)
{
    struct fixture *f = *state;
    struct reply put, got;

    put = ask(f, "PUT /box/b", PUT_HEADERS "\ncontent-type: text/plain\nx-ms-meta-Color: blue",
              "hello");
    assert_ok(put, 201);
    assert_header(f, put, "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==");
    assert_header(f, put, "x-ms-request-server-encrypted", "true");
    assert_non_null(header_of(f, &put, "x-ms-content-crc64"));
    assert_non_null(header_of(f, &put, "Last-Modified"));
    assert_no_header(f, put, "x-ms-version-id");

    got = ask(f, "GET /box/b", NULL, NULL);
    assert_ok(got, 200);
    assert_body(got, "hello");
    assert_string_equal(header_of(f, &got, "ETag"), header_of(f, &put, "ETag"));
    assert_header(f, got, "Content-Type", "text/plain");
    assert_header(f, got, "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==");
    assert_header(f, got, "Accept-Ranges", "bytes");
    assert_header(f, got, "x-ms-blob-type", "BlockBlob");
    assert_header(f, got, "x-ms-lease-status", "unlocked");
    assert_header(f, got, "x-ms-lease-state", "available");
    assert_header(f, got, "x-ms-server-encrypted", "true");
    assert_header(f, got, "x-ms-meta-Color", "blue");
    assert_no_header(f, got, "x-ms-lease-duration");
    assert_no_header(f, got, "Content-Range");
}

/* Rule: HEAD says the length and the tier, and sends nothing. rest: Get-Blob-Properties */
static void properties_are_got(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "hello"), 201);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_ok(got, 200);
    assert_int_equal(got.response->body_length, 5);
    assert_int_equal(got.body.len, 0);
    assert_header(f, got, "Content-Type", "application/octet-stream");
    assert_header(f, got, "x-ms-access-tier", "Hot");
    assert_header(f, got, "x-ms-access-tier-inferred", "true");
    assert_no_header(f, got, "x-ms-access-tier-change-time");
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-access-tier: cool", "hello"), 201);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-access-tier", "Cool");
    assert_no_header(f, got, "x-ms-access-tier-inferred");
    assert_non_null(header_of(f, &got, "x-ms-access-tier-change-time"));
}

/* Rule: bodies of every size, inline or staged, come back. content.h */
static void sizes_come_back(void **state)
{
    static const size_t sizes[] = { 0, 1, 16 << 10, (16 << 10) + 1, (4 << 20) + 1, 9 << 20 };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *content = malloc(sizes[i] + 1);
        struct reply got;

        for (size_t at = 0; at < sizes[i]; at++)
            content[at] = (char)(at * 7 + at / 251);
        assert_ok(ask_bytes(f, "PUT /box/b", PUT_HEADERS, bytes_of(content, sizes[i])), 201);
        got = ask(f, "GET /box/b", NULL, NULL);
        assert_ok(got, 200);
        assert_int_equal(got.body.len, sizes[i]);
        assert_true(sizes[i] == 0 || memcmp(got.body.ptr, content, sizes[i]) == 0);
        free(content);
    }
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "small"), 201);
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: an overwrite replaces content, properties and metadata, has a newer ETag, and keeps the
 * time of creation. rest: Put-Blob; decision: 12 */
static void overwrite_replaces_all(void **state)
{
    struct fixture *f = *state;
    struct reply first, second;
    const char *created;

    assert_ok(
        ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-meta-a: 1\nx-ms-blob-content-language: de", "1"),
        201);
    first = ask(f, "GET /box/b", NULL, NULL);
    assert_header(f, first, "Content-Language", "de");
    created = header_of(f, &first, "x-ms-creation-time");
    clock_advance(5 * TICKS_PER_SECOND);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "22"), 201);
    second = ask(f, "GET /box/b", NULL, NULL);
    assert_body(second, "22");
    assert_header(f, second, "x-ms-creation-time", created);
    assert_no_header(f, second, "x-ms-meta-a");
    assert_no_header(f, second, "Content-Language");
    assert_true(strcmp(header_of(f, &second, "ETag"), header_of(f, &first, "ETag")) > 0);
}

/* Rule: what a client says of the body is checked. rest: Put-Blob "Content-MD5",
 * "x-ms-content-crc64", "x-ms-blob-content-md5"; decision: 16 */
static void sums_are_checked(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==", "hello"),
              201);
    assert_answer(
        ask(f, "PUT /box/b", PUT_HEADERS "\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==", "hallo"), 400,
        "Md5Mismatch");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nContent-MD5: abc", "hello"), 400,
                  "InvalidMd5");
    assert_answer(ask(f, "PUT /box/b",
                      PUT_HEADERS "\nx-ms-blob-content-md5: XUFAKrxLKna5cZ2REBfFkg==", "hallo"),
                  400, "Md5Mismatch");
    assert_ok(ask(f, "PUT /box/b",
                  PUT_HEADERS "\nx-ms-blob-content-md5: XUFAKrxLKna5cZ2REBfFkg==\n"
                              "Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==",
                  "hello"),
              201); /* the former alone counts */
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-content-crc64: AAAAAAAAAAA=", "hello"),
                  400, "Crc64Mismatch");
    assert_answer(ask(f, "PUT /box/b",
                      PUT_HEADERS "\nx-ms-content-crc64: AAAAAAAAAAA=\n"
                                  "Content-MD5: XUFAKrxLKna5cZ2REBfFkg==",
                      "hello"),
                  400, "BothCrc64AndMd5HeaderPresent");
}

/* Rule: what is not supported is refused, never ignored. promise 5 */
static void unbuilt_is_refused(void **state)
{
    static const char *const headers[] = {
        "x-ms-encryption-key: AAAA",
        "x-ms-encryption-key-sha256: AAAA",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        assert_answer(ask(f, "PUT /box/b", textf(f, PUT_HEADERS "\n%s", headers[i]), "x"), 400,
                      "UnsupportedHeader");
    /* recorded: without a key, the algorithm has no effect; decision: 1272 */
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-encryption-algorithm: AES256", "x"), 201);
    assert_ok(ask(f, "GET /box/b", "x-ms-encryption-algorithm: AES256", NULL), 200);
    assert_answer(ask(f, "GET /box/b", "x-ms-encryption-key: AAAA", NULL), 400,
                  "UnsupportedHeader");
    assert_answer(ask(f, "GET /box/b?deletetype=permanent", NULL, NULL), 400,
                  "UnsupportedQueryParameter");
    assert_answer(ask(f, "POST /box/b?comp=query", NULL, "<QueryRequest/>"), 501, "NotImplemented");
}

/* Rule: a Put Blob names a type, a tier that there is, and fits its version's size.
 * rest: Put-Blob */
static void wrong_puts_are_refused(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "PUT /box/b", NULL, "x"), 400, "MissingRequiredHeader");
    assert_answer(ask(f, "PUT /box/b", "x-ms-blob-type: Blob", "x"), 400, "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-access-tier: Warm", "x"), 400,
                  "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-blob-content-md5: x", "x"), 400,
                  "InvalidMd5");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-blob-content-md5: MDAwMDAwMDA=", "x"),
                  400, "InvalidMd5");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-meta-1a: x", "x"), 400,
                  "InvalidMetadata");
    assert_answer(ask(f, "PUT /none/b", PUT_HEADERS, "x"), 404, "ContainerNotFound");
    assert_answer(ask(f, "GET /none/b", NULL, NULL), 404, "ContainerNotFound");
    assert_answer(ask(f, "GET /box/none", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "HEAD /box/none", NULL, NULL), 404, "BlobNotFound");
}

/* Rule: an archived blob is not read and not changed, but deleted and described. rest: Put-Blob
 * "x-ms-access-tier"; semantics 5 */
static void archived_is_closed(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-access-tier: Archive", "x"), 201);
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 409, "BlobArchived");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 409, "BlobArchived");
    assert_answer(ask(f, "PUT /box/b?comp=block&blockid=MQ%3D%3D", NULL, "x"), 409, "BlobArchived");
    assert_answer(ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL), 409, "BlobArchived");
    assert_answer(ask(f, "PUT /box/b?comp=properties", NULL, NULL), 409, "BlobArchived");
    assert_answer(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 409, "BlobArchived");
    assert_ok(ask(f, "HEAD /box/b", NULL, NULL), 200);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: If-None-Match: * creates once (409), If-Match guards (412), a read that is not modified is
 * 304. semantics 4.2; decision: 4 */
static void conditions_hold(void **state)
{
    struct fixture *f = *state;
    struct reply put;
    const char *same;

    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nIf-Match: *", "x"), 412, "ConditionNotMet");
    put = ask(f, "PUT /box/b", PUT_HEADERS "\nIf-None-Match: *", "x");
    assert_ok(put, 201);
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nIf-None-Match: *", "x"), 409,
                  "BlobAlreadyExists");
    same = header_of(f, &put, "ETag");
    assert_answer(ask(f, "GET /box/b", textf(f, "If-None-Match: %s", same), NULL), 304,
                  "ConditionNotMet");
    assert_ok(ask(f, "GET /box/b", textf(f, "If-Match: %s", same), NULL), 200);
    assert_ok(ask(f, "PUT /box/b", textf(f, PUT_HEADERS "\nIf-Match: %s", same), "y"), 201);
    assert_answer(ask(f, "PUT /box/b", textf(f, PUT_HEADERS "\nIf-Match: %s", same), "z"), 412,
                  "ConditionNotMet");
    assert_answer(ask(f, "GET /box/b", textf(f, "If-Match: %s", same), NULL), 412,
                  "ConditionNotMet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blob_is_put_and_got, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(properties_are_got, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(sizes_come_back, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(overwrite_replaces_all, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(sums_are_checked, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(unbuilt_is_refused, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(wrong_puts_are_refused, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(archived_is_closed, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(conditions_hold, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
