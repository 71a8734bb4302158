/* Get Container ACL, Set Container ACL. */
#include "listed.h"

#define ACL "/box?restype=container&comp=acl"

/* Rule: a container without policies gives an empty element (recorded,
 * test_container.test_get_container_acl), and GET and HEAD give its access.
 * rest: Get-Container-ACL */
static void no_policies(void **state)
{
    struct fixture *f = *state;
    struct reply got = ask(f, "GET " ACL, NULL, NULL);

    assert_ok(got, 200);
    assert_body(got, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers />");
    assert_non_null(header_of(f, &got, "ETag"));
    assert_no_header(f, got, "x-ms-blob-public-access");
    assert_ok(ask(f, "PUT " ACL, "x-ms-blob-public-access: container", NULL), 200);
    got = ask(f, "HEAD " ACL, NULL, NULL);
    assert_header(f, got, "x-ms-blob-public-access", "container");
}

/* Rule: policies come back in order, dates with seven digits, parts that were not set left out.
 * rest: Set-Container-ACL, Get-Container-ACL */
static void policies_come_back(void **state)
{
    static const char sent[] =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>"
        "<SignedIdentifier><Id>a &lt;b&gt;</Id><AccessPolicy><Start>2026-01-02</Start>"
        "<Expiry>2026-01-02T03:04:05.6789Z</Expiry><Permission>rwl</Permission></AccessPolicy>"
        "</SignedIdentifier><SignedIdentifier><Id>second</Id></SignedIdentifier></"
        "SignedIdentifiers>";
    struct fixture *f = *state;
    struct reply before = ask(f, "GET " ACL, NULL, NULL), set, got;

    set = ask(f, "PUT " ACL, NULL, sent);
    assert_ok(set, 200);
    assert_true(strcmp(header_of(f, &set, "ETag"), header_of(f, &before, "ETag")) > 0);
    got = ask(f, "GET " ACL, NULL, NULL);
    assert_header(f, got, "ETag", header_of(f, &set, "ETag"));
    assert_body(got, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>"
                     "<SignedIdentifier><Id>a &lt;b&gt;</Id><AccessPolicy>"
                     "<Start>2026-01-02T00:00:00.0000000Z</Start>"
                     "<Expiry>2026-01-02T03:04:05.6789000Z</Expiry><Permission>rwl</Permission>"
                     "</AccessPolicy></SignedIdentifier><SignedIdentifier><Id>second</Id>"
                     "</SignedIdentifier></SignedIdentifiers>");
}

/* Rule: all is replaced: no body, no policies; no header, private. rest: Set-Container-ACL */
static void all_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, "PUT " ACL, "x-ms-blob-public-access: blob",
                  "<SignedIdentifiers><SignedIdentifier><Id>a</Id></SignedIdentifier>"
                  "</SignedIdentifiers>"),
              200);
    assert_ok(ask(f, "PUT " ACL, NULL, NULL), 200);
    got = ask(f, "GET " ACL, NULL, NULL);
    assert_no_header(f, got, "x-ms-blob-public-access");
    assert_null(first_text(f, got, "Id"));
}

static const char *identifiers(struct fixture *f, const char *inside)
{
    return textf(f, "<SignedIdentifiers>%s</SignedIdentifiers>", inside);
}

#define POLICY(id, inside)                                                                         \
    "<SignedIdentifier><Id>" id "</Id><AccessPolicy>" inside "</AccessPolicy></SignedIdentifier>"

/* Rule: at most five policies with ids of at most 64 characters, dates and known permissions; what
 * is wrong changes nothing. rest: Set-Container-ACL, Define-a-stored-access-policy */
static void wrong_policies_are_refused(void **state)
{
    static const struct {
        const char *inside;
        const char *code;
    } wrong[] = {
        { "<SignedIdentifier><Id>a", "InvalidXmlDocument" },
        { "<Other />", "InvalidXmlDocument" },
        { "<SignedIdentifier></SignedIdentifier>", "InvalidXmlDocument" },
        { "<SignedIdentifier><Id></Id></SignedIdentifier>", "InvalidXmlDocument" },
        { "<SignedIdentifier><Id>a</Id><Id>b</Id></SignedIdentifier>", "InvalidXmlDocument" },
        { POLICY("a", "<Start>yesterday</Start>"), "InvalidXmlNodeValue" },
        { POLICY("a", "<Expiry>2026-13-01</Expiry>"), "InvalidXmlNodeValue" },
        { POLICY("a", "<Permission>rq</Permission>"), "InvalidXmlDocument" },
        { POLICY("a", "<Permission>rr</Permission>"), "InvalidXmlDocument" },
        { POLICY("a", "<Other>r</Other>"), "InvalidXmlDocument" },
        { POLICY("a", "<Permission>wrld</Permission>"), "InvalidXmlDocument" },
        { POLICY("a", "<Permission>lr</Permission>"), "InvalidXmlDocument" },
        { POLICY("a", "") POLICY("a", ""), "InvalidXmlDocument" },
        { POLICY("a", "<Start>yesterday</Start>") POLICY("b", "") POLICY("c", "") POLICY("d", "")
              POLICY("e", "") POLICY("f", ""),
          "InvalidXmlDocument" },
        { POLICY("a", "") POLICY("b", "") POLICY("c", "") POLICY("d", "") POLICY("e", "")
              POLICY("f", ""),
          "InvalidXmlDocument" },
        { POLICY("0123456789012345678901234567890123456789012345678901234567890123x", ""),
          "InvalidXmlDocument" },
    };
    struct fixture *f = *state;
    struct reply before = ask(f, "GET " ACL, NULL, NULL), after;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_answer(ask(f, "PUT " ACL, NULL, identifiers(f, wrong[i].inside)), 400,
                      wrong[i].code);
    assert_answer(ask(f, "PUT " ACL, NULL, "<Identifiers />"), 400, "InvalidXmlDocument");
    assert_answer(ask(f, "PUT " ACL, "x-ms-blob-public-access: everyone", NULL), 400,
                  "InvalidHeaderValue");
    after = ask(f, "GET " ACL, NULL, NULL);
    assert_header(f, after, "ETag", header_of(f, &before, "ETag"));

    assert_ok(
        ask(f, "PUT " ACL, NULL,
            identifiers(f, POLICY("0123456789012345678901234567890123456789012345678901234567890"
                                  "\xC3\xA4\xC3\xB6\xC3\xBC",
                                  ""))),
        200);
}

/* Rule: the two date conditions, each on both sides. semantics 4.2 */
static void dates_are_conditions(void **state)
{
    struct fixture *f = *state;
    struct reply got = ask(f, "GET " ACL, NULL, NULL);
    const char *modified = header_of(f, &got, "Last-Modified");

    assert_answer(ask(f, "PUT " ACL, textf(f, "If-Modified-Since: %s", modified), NULL), 412,
                  "ConditionNotMet");
    assert_answer(ask(f, "PUT " ACL, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT", NULL),
                  412, "ConditionNotMet");
    assert_ok(ask(f, "PUT " ACL, textf(f, "If-Unmodified-Since: %s", modified), NULL), 200);
    assert_ok(ask(f, "PUT " ACL, "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", NULL), 200);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(no_policies),          TEST(policies_come_back),
        TEST(all_is_replaced),      TEST(wrong_policies_are_refused),
        TEST(dates_are_conditions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
