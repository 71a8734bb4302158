/* From a raw target to account, container and blob. rest:
 * Naming-and-Referencing-Containers--Blobs--and-Metadata, Working-with-the-Root-Container */
#include "blob/blob.h"

#include "fixture.h"

#include <stdio.h>

#include "service/names.h"

static void assert_text(struct bytes got, const char *expected)
{
    if (!expected) {
        assert_null(got.ptr);
        return;
    }
    assert_non_null(got.ptr);
    assert_int_equal(got.len, strlen(expected));
    assert_memory_equal(got.ptr, expected, got.len);
}

struct target {
    const char *target, *host, *container, *blob;
    bool secondary;
    enum error result;
};

#define PATH_HOST "127.0.0.1:10000"
#define ACCOUNT   "/devstoreaccount1"

static const struct target targets[] = {
    { ACCOUNT, PATH_HOST, NULL, NULL, false, OK },
    { ACCOUNT "/", PATH_HOST, NULL, NULL, false, OK },
    { ACCOUNT "/c?restype=container", PATH_HOST, "c", NULL, false, OK },
    { ACCOUNT "/c?comp=list&restype=container", PATH_HOST, "c", NULL, false, OK },
    { ACCOUNT "/c/b", PATH_HOST, "c", "b", false, OK },
    { ACCOUNT "/c/d/e%2Ff%20g+h", PATH_HOST, "c", "d/e/f g+h", false, OK },
    { ACCOUNT "/c//b", PATH_HOST, "c", "/b", false, OK },
    { ACCOUNT "/b", PATH_HOST, "$root", "b", false, OK },
    { ACCOUNT "/c/%C3%A9", PATH_HOST, "c", "\xc3\xa9", false, OK },
    { ACCOUNT "/c/%FF", PATH_HOST, NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "/c/%00", PATH_HOST, NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "/c/%G0", PATH_HOST, NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "-secondary/c/b", PATH_HOST, "c", "b", true, OK },
    { ACCOUNT "/c/a%5Cb\\c", PATH_HOST, "c", "a/b/c", false, OK },
    { ACCOUNT "/c/", PATH_HOST, NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "/c/?restype=container", PATH_HOST, "c", NULL, false, OK },
    { ACCOUNT "/c?comp=list&comp=list", PATH_HOST, NULL, NULL, false,
      E_InvalidQueryParameterValue },
    { ACCOUNT "/c/b?snapshot=", PATH_HOST, NULL, NULL, false, E_InvalidQueryParameterValue },
    { ACCOUNT "/c/b?Prefix=a&prefix=b", PATH_HOST, NULL, NULL, false,
      E_InvalidQueryParameterValue },
    { ACCOUNT "/c/b?prefix=a%0Ab", PATH_HOST, NULL, NULL, false, E_InvalidQueryParameterValue },
    { ACCOUNT "/c/b?pre%0Afix=a", PATH_HOST, NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "/c/b?pre%3Afix=a", PATH_HOST, NULL, NULL, false, E_InvalidUri },
    { "/other/c/b", PATH_HOST, "c", "b", false, OK },
    { "/other-secondary/c/b", PATH_HOST, "c", "b", true, OK },
    { "/", PATH_HOST, NULL, NULL, false, OK },
    { "/c/b", "DevStoreAccount1.Blob.localhost:10000", "c", "b", false, OK },
    { "/c/b", "DEVSTOREACCOUNT1-SECONDARY.blob.localhost", "c", "b", true, OK },
    { ACCOUNT "/b", "devstoreaccount1.blob.localhost", NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "-secondary/b", "devstoreaccount1.blob.localhost", NULL, NULL, false, E_InvalidUri },
    { ACCOUNT "/b", "devstoreaccount1-secondary.blob.localhost", NULL, NULL, false, E_InvalidUri },
    { "/c/b", "devstoreaccount1.blob.localhost:10000", "c", "b", false, OK },
    { "/c/b", "devstoreaccount1-secondary.blob.localhost", "c", "b", true, OK },
    { "/?comp=list", "devstoreaccount1.blob.localhost", NULL, NULL, false, OK },
    { ACCOUNT "/c/b", "blob.localhost:10000", "c", "b", false, OK },
    { ACCOUNT "/c/b", "example.org", "c", "b", false, OK },
    { "/c/b", "other.blob.localhost", "c", "b", false, OK },
};

static void names_of_targets(void **state)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const struct target *t = &targets[i];
        struct fixture *f = *state;
        char host[128];

        snprintf(host, sizeof host, "Host: %s", t->host);
        fixture_request(f, METHOD_GET, t->target, (const char *const[]){ host, NULL });
        if (route_request(&f->work.call) != t->result)
            fail_msg("%s on %s", t->target, t->host);
        if (t->result)
            continue;
        assert_text(blob_resource(f->work.call.input.resource)->container, t->container);
        assert_text(blob_resource(f->work.call.input.resource)->blob, t->blob);
        assert_int_equal(f->work.call.secondary, t->secondary);
    }
}

/* The prefix of listings' ServiceEndpoint is what the client asked by. */
static void prefix_of_urls(void **state)
{
    struct fixture *f = *state;

    fixture_request(f, METHOD_GET, ACCOUNT "?comp=list",
                    (const char *const[]){ "Host: 127.0.0.1:10000", NULL });
    assert_int_equal(route_request(&f->work.call), OK);
    assert_text(f->work.call.url_prefix, "http://127.0.0.1:10000/devstoreaccount1");
    fixture_request(f, METHOD_GET, "/?comp=list",
                    (const char *const[]){ "Host: devstoreaccount1.blob.localhost", NULL });
    assert_int_equal(route_request(&f->work.call), OK);
    assert_text(f->work.call.url_prefix, "http://devstoreaccount1.blob.localhost");
}

/* decision: 1, 9 */
static void versions(void **state)
{
    static const struct {
        const char *given, *used;
    } cases[] = {
        { "2026-10-06", "2026-10-06" },
        { "2099-01-31", "2099-01-31" },
        { "2015-02-21", "2015-02-21" },
        { "2026-13-01", NULL },
        { "2026-01-32", NULL },
        { "20261006", NULL },
        { "2026-1-1", NULL },
        { "latest", NULL },
        { "", NULL },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char header[64];

        snprintf(header, sizeof header, "x-ms-version: %s", cases[i].given);
        fixture_request(f, METHOD_GET, ACCOUNT "/c/b", (const char *const[]){ header, NULL });
        assert_int_equal(route_request(&f->work.call), cases[i].used ? OK : E_InvalidHeaderValue);
        if (cases[i].used)
            assert_text(f->work.call.version, cases[i].used);
    }
    fixture_request(f, METHOD_GET, ACCOUNT "/c/b", NULL);
    assert_int_equal(route_request(&f->work.call), OK);
    assert_text(f->work.call.version, "2026-10-06");
}

/* Rule: the space of an account is where its things lie on the disk, so it is the same for ever; no other account or
 * service has it, whichever was asked for before. service/names.h */
static void spaces_of_accounts(void **state)
{
    static const uint8_t of_blobs[] = { 0x8D, 0x1C, 0x2C, 0x08, 0x6B, 0x03, 0xD1, 0xD3,
                                        0x45, 0xFF, 0x76, 0x2D, 0x66, 0xAB, 0xA8, 0xFC };
    static const struct bytes account = BYTES("devstoreaccount1"),
                              other = BYTES("devstoreaccount2");
    struct guid space, unlike;

    (void)state;
    for (int i = 0; i < 2; i++) {
        space = account_space("blob", account);
        assert_memory_equal(space.b, of_blobs, sizeof of_blobs);
        unlike = i == 0 ? account_space("blob", other) : account_space("queue", account);
        assert_false(guid_equal(&space, &unlike));
    }
    space = account_space("blob", account);
    assert_memory_equal(space.b, of_blobs, sizeof of_blobs);
}

/* Names of parameters in any case, values decoded, '+' as a space; `include` may be repeated.
 * decision: 21 */
static void queries(void **state)
{
    struct fixture *f = *state;

    fixture_request(
        f, METHOD_GET,
        ACCOUNT "/c?ResType=container&prefix=a%2Fb+c&empty=&&flag&include=x%2Cy&Include=z", NULL);
    assert_int_equal(route_request(&f->work.call), OK);
    assert_text(call_query(&f->work.call, "restype"), "container");
    assert_text(call_query(&f->work.call, "prefix"), "a/b c");
    assert_text(call_query(&f->work.call, "include"), "x,y,z");
    assert_text(call_query(&f->work.call, "empty"), "");
    assert_text(call_query(&f->work.call, "flag"), "");
    assert_text(call_query(&f->work.call, "missing"), NULL);
    fixture_request(f, METHOD_GET, ACCOUNT "/c?prefix=%FF", NULL);
    assert_int_equal(route_request(&f->work.call), E_InvalidUri);
}

/* A query has at most 100 parameters, whose names may have one letter; none is lost behind what the call
 * keeps after them. */
static void numbers_of_parameters(void **state)
{
    struct fixture *f = *state;
    char target[1024] = ACCOUNT "/c?x", name[8];
    int at;

    fixture_request(f, METHOD_GET, target, NULL);
    assert_int_equal(route_request(&f->work.call), OK);
    (void)memset(arena_bytes(f->work.call.arena, 256), 'y', 256);
    assert_text(call_query(&f->work.call, "x"), "");
    at = snprintf(target, sizeof target, ACCOUNT "/c?p0");
    for (int i = 1; i < 100; i++)
        at += snprintf(target + at, sizeof target - (size_t)at, "&p%d", i);
    fixture_request(f, METHOD_GET, target, NULL);
    assert_int_equal(route_request(&f->work.call), OK);
    (void)memset(arena_bytes(f->work.call.arena, 256), 'y', 256);
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "p%d", i);
        assert_text(call_query(&f->work.call, name), "");
    }
    snprintf(target + at, sizeof target - (size_t)at, "&p100");
    fixture_request(f, METHOD_GET, target, NULL);
    assert_int_equal(route_request(&f->work.call), E_InvalidUri);
}

/* Headers that are true or false are nothing else, however short. call_read_flag() */
static void flags(void **state)
{
    static const struct {
        const char *header;
        enum error e;
        bool flag;
    } cases[] = {
        { "x-flag: true", OK, true },
        { "x-flag: TRUE", OK, true },
        { "x-flag: false", OK, false },
        { "x-flag: False", OK, false },
        { "x-flag:", OK, false },
        { "x-other: true", OK, false },
        { "x-flag: t", E_InvalidHeaderValue, false },
        { "x-flag: 1", E_InvalidHeaderValue, false },
        { "x-flag: truely", E_InvalidHeaderValue, false },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool flag = !cases[i].flag;

        fixture_request(f, METHOD_GET, ACCOUNT "/c/b",
                        (const char *const[]){ cases[i].header, NULL });
        assert_int_equal(call_read_flag(&f->work.call, "x-flag", &flag), cases[i].e);
        assert_true(flag == cases[i].flag);
    }
}

/* rest: Setting-Timeouts-for-Blob-Service-Operations */
static void timeouts(void **state)
{
    static const struct {
        const char *target;
        enum error result;
    } cases[] = {
        { ACCOUNT "/c/b?timeout=30", OK },
        { ACCOUNT "/c/b?timeout=0", OK },
        { ACCOUNT "/c/b?timeout=", E_InvalidQueryParameterValue },
        { ACCOUNT "/c/b?timeout=-1", E_InvalidQueryParameterValue },
        { ACCOUNT "/c/b?timeout=soon", E_InvalidQueryParameterValue },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture_request(f, METHOD_GET, cases[i].target, NULL);
        if (route_request(&f->work.call) != cases[i].result)
            fail_msg("%s", cases[i].target);
    }
}

/* Every Guid form that .NET takes; others are refused. decision: 8 */
static void lease_ids(void **state)
{
    static const char *const good[] = {
        "x-ms-lease-id: 0A0b0c0d-0000-4000-8000-000000000001",
        "x-ms-lease-id: {0a0b0c0d-0000-4000-8000-000000000001}",
        "x-ms-lease-id: 0a0b0c0d000040008000000000000001",
    };
    static const char *const bad[] = { "x-ms-lease-id: mine", "x-ms-lease-id: 0a0b0c0d-0000",
                                       "x-ms-lease-id:" };
    struct fixture *f = *state;

    for (size_t i = 0; i < 3; i++) {
        fixture_request(f, METHOD_PUT, ACCOUNT "/c/b", (const char *const[]){ good[i], NULL });
        assert_int_equal(route_request(&f->work.call), OK);
        assert_non_null(f->work.call.input.lease_id);
    }
    for (size_t i = 0; i < 3; i++) {
        fixture_request(f, METHOD_PUT, ACCOUNT "/c/b", (const char *const[]){ bad[i], NULL });
        assert_int_equal(route_request(&f->work.call), E_InvalidHeaderValue);
    }
}

/* A condition, or one of the service's headers, that is sent twice is refused: the second would not
 * be looked at. rfc: 9110 5.3 */
static void repeated_headers(void **state)
{
    static const char *const twice[][2] = {
        { "If-None-Match: \"0x1\"", "If-None-Match: \"0x2\"" },
        { "If-Match: *", "if-match: \"0x2\"" },
        { "x-ms-lease-id: 0a0b0c0d-0000-4000-8000-000000000001",
          "x-ms-lease-id: 0a0b0c0d-0000-4000-8000-000000000002" },
        { "x-ms-range: bytes=0-1", "x-ms-range: bytes=2-3" },
        { "Content-MD5: 1B2M2Y8AsgTpgAmY7PhCfg==", "Content-MD5: rL0Y20zC+Fzt72VPzMSk2A==" },
        { "Content-Type: a/b", "Content-Type: c/d" },
        { "Range: bytes=0-1", "Range: bytes=2-3" },
        { "Authorization: SharedKey a:b", "Authorization: SharedKey a:c" },
        { "Date: now", "Date: then" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        fixture_request(f, METHOD_PUT, ACCOUNT "/c/b",
                        (const char *const[]){ twice[i][0], twice[i][1], NULL });
        assert_int_equal(route_request(&f->work.call), E_InvalidHeaderValue);
    }
    fixture_request(f, METHOD_PUT, ACCOUNT "/c/b",
                    (const char *const[]){ "x-ms-meta-a: 1", "x-ms-meta-a: 2", "via: x", "via: y",
                                           "if-match: *", "x-ms-range: bytes=0-1", NULL });
    assert_int_equal(route_request(&f->work.call), OK);
}

/* A PUT says how long its body is. rest: Status-and-Error-Codes2; decision: 38 */
static void missing_lengths(void **state)
{
    struct fixture *f = *state;

    fixture_request(f, METHOD_PUT, ACCOUNT "/c/b",
                    (const char *const[]){ "Transfer-Encoding: chunked", NULL });
    assert_int_equal(route_request(&f->work.call), E_MissingContentLengthHeader);
    fixture_request(f, METHOD_DELETE, ACCOUNT "/c/b", NULL);
    assert_int_equal(route_request(&f->work.call), OK);
}

/* Rule: a header is found whatever others share its bit, the first of its name. */
static void headers_that_share_a_bit(void **state)
{
    struct fixture *f = *state;
    char lines[40][32], *sent[41];
    const struct call *call = &f->work.call;

    /* 40 names of which some must share one of 64 bits; no two are alike. */
    for (size_t i = 0; i < 40; i++) {
        snprintf(lines[i], sizeof lines[i], "%c%.*s%c: %zu", (char)('a' + i % 20), (int)(i % 7),
                 "-------", (char)('a' + i / 20), i);
        sent[i] = lines[i];
    }
    sent[40] = NULL;
    for (size_t without = 0; without < 40; without++) {
        const char *rest[41];
        size_t count = 0;

        for (size_t i = 0; i < 40; i++) {
            if (i != without)
                rest[count++] = sent[i];
        }
        rest[count] = NULL;
        fixture_request(f, METHOD_GET, ACCOUNT "/c/b", rest);
        assert_int_equal(route_request(&f->work.call), OK);
        for (size_t i = 0; i < 40; i++) {
            struct bytes name, value;
            char text[32];

            bytes_cut(bytes_from_string(lines[i]), ':', &name, &value);
            snprintf(text, sizeof text, "%.*s", BYTES_ARG(name));
            assert_text(call_header(call, text), i == without ? NULL : lines[i] + name.len + 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_of_targets, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(prefix_of_urls, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(versions, fixture_set_up, fixture_tear_down),
        cmocka_unit_test(spaces_of_accounts),
        cmocka_unit_test_setup_teardown(queries, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(numbers_of_parameters, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(flags, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(repeated_headers, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(headers_that_share_a_bit, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(missing_lengths, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(timeouts, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(lease_ids, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
