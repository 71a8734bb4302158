/* Requests that are let in and requests that are not.
 * rest: Authorize-with-Shared-Key; semantics 10.3 */
#include "auth_test.h"
#include "vectors.h"

#define VECTORS (sizeof vectors / sizeof vectors[0])

static struct accounts *accounts;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    accounts = accounts_new();
    accounts_add_development(accounts);
    arena = arena_new(TEST_ARENA_CAP);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    accounts_free(accounts);
    arena_free(arena);
    return 0;
}

static enum error ask_at(const struct vector *vector, int left_out, instant now,
                         struct bytes *ret_detail)
{
    struct request request = request_of(arena, vector, left_out);
    struct auth_target target = target_of(accounts, vector);

    struct identity identity;
    enum error e;

    *ret_detail = bytes_of(NULL, 0);
    e = authenticate(&request, &target, now, arena, &identity, ret_detail);
    if (e)
        return e;
    /* What the services here answer to who did not sign. */
    return identity.kind == IDENTITY_ACCOUNT_KEY ? OK : E_NoAuthenticationInformation;
}

static enum error ask(const struct vector *vector)
{
    struct bytes detail;

    return ask_at(vector, -1, signed_at(), &detail);
}

static bool contains(struct bytes text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part));
}

static const struct vector *vector_named(const char *what)
{
    for (size_t i = 0; i < VECTORS; i++) {
        if (strcmp(vectors[i].what, what) == 0)
            return &vectors[i];
    }
    fail_msg("no vector %s", what);
    return NULL;
}

static int header_at(const struct vector *vector, const char *name)
{
    for (int i = 0; i < TEST_HEADERS_MAX && vector->headers[i].name; i++) {
        if (strcmp(vector->headers[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* The vector with another Authorization header. */
static struct vector with_authorization(const struct vector *vector, const char *value)
{
    struct vector other = *vector;

    other.headers[header_at(vector, "authorization")].value = value;
    return other;
}

/* ---- right signatures ---- */

/* Rule: whatever was signed as a client or the documentation signs it is let in.
 * rest: Authorize-with-Shared-Key; semantics 10.3 */
static void signed_requests_are_let_in(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        struct bytes detail;

        if (ask_at(&vectors[i], -1, signed_at(), &detail) != OK)
            fail_msg("%s: %.*s", vectors[i].what, BYTES_ARG(detail));
    }
}

/* Rule: both keys of an account are valid. rest: Authorize-with-Shared-Key */
static void either_key_is_valid(void **state)
{
    static const char *const lists[] = {
        DEVELOPMENT_ACCOUNT ":Zmlyc3Q=:Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErC"
                            "z4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        DEVELOPMENT_ACCOUNT ":Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1S"
                            "ZFPTOtr/KBHBeksoGMGw==:c2Vjb25k",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *problem;

        accounts_free(accounts);
        accounts = accounts_new();
        assert_true(accounts_add_list(accounts, lists[i], &problem));
        assert_int_equal(ask(&vectors[0]), OK);
    }
}

/* ---- what is signed cannot be changed ---- */

static bool is_full(const struct vector *vector)
{
    int at = header_at(vector, "authorization");

    return !vector->table && strncmp(vector->headers[at].value, "SharedKey ", 10) == 0;
}

/* "Date" beside x-ms-date is the one header of the string that may be anything. */
static bool is_signed(const struct vector *vector, int at)
{
    const char *name = vector->headers[at].name;

    if (strcmp(name, "authorization") == 0)
        return false;
    return strcmp(name, "date") != 0 || header_at(vector, "x-ms-date") < 0;
}

/* Left out, these are signed as they are when they are there. */
static bool is_signed_as_nothing(const struct vector *vector, int at)
{
    const struct test_header *header = &vector->headers[at];

    return (strcmp(header->name, "content-length") == 0 && strcmp(header->value, "0") == 0) ||
           strcmp(vector->what, "an empty value is left out before 2016-05-31") == 0;
}

/* Rule: a changed, added or missing header that is part of the string makes the signature wrong.
 * rest: Authorize-with-Shared-Key */
static void every_signed_header_counts(void **state)
{
    unsigned tried = 0;

    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        for (int at = 0; is_full(&vectors[i]) && vectors[i].headers[at].name; at++) {
            struct vector changed = vectors[i];
            struct bytes detail;

            if (!is_signed(&changed, at))
                continue;
            changed.headers[at].value =
                arena_printf(arena, "%sx%c", changed.headers[at].value, '\0').ptr;
            if (ask(&changed) == OK)
                fail_msg("%s: %s was changed", changed.what, changed.headers[at].name);
            if (!is_signed_as_nothing(&vectors[i], at) &&
                ask_at(&vectors[i], at, signed_at(), &detail) == OK)
                fail_msg("%s: %s was left out", changed.what, changed.headers[at].name);
            tried++;
        }
    }
    assert_true(tried > 100);
}

static void change_and_refuse(const struct vector *vector, const char *method, const char *path,
                              const char *query)
{
    struct vector changed = *vector;

    changed.method = method;
    changed.path = path;
    changed.query = query;
    assert_int_equal(ask(&changed), E_AuthenticationFailed);
}

/* Rule: method, path, query and added x-ms-* headers are signed. rest: Authorize-with-Shared-Key */
static void method_path_and_query_count(void **state)
{
    const struct vector *get = vector_named("SDK, path style: Get Blob");
    struct vector added = *get;

    (void)state;
    assert_int_equal(ask(get), OK);
    change_and_refuse(get, "DELETE", get->path, get->query);
    change_and_refuse(get, get->method, "/devstoreaccount1/c/B", get->query);
    change_and_refuse(get, get->method, "/c/b", get->query);
    change_and_refuse(get, get->method, "/devstoreaccount1/c%2Fb", get->query);
    change_and_refuse(get, get->method, get->path, "snapshot=2019-05-09T01:19:17.1234567Z");
    change_and_refuse(get, get->method, get->path, "x");
    added.headers[header_at(get, "authorization") + 1] = (struct test_header){ "x-ms-meta-a", "" };
    assert_int_equal(ask(&added), E_AuthenticationFailed);
    added.headers[header_at(get, "authorization") + 1] = (struct test_header){ "accept", "any" };
    assert_int_equal(ask(&added), OK);
}

/* Rule: "-secondary" is dropped only where the account was named with it.
 * rest: Authorize-with-Shared-Key "Constructing the canonicalized resource string" */
static void secondary_is_dropped_from_the_account_only(void **state)
{
    struct vector vector = *vector_named("secondary, path without the suffix");

    (void)state;
    assert_int_equal(ask(&vector), OK);
    vector.secondary = false;
    assert_int_equal(ask(&vector), E_AuthenticationFailed);
    vector.secondary = true;
    vector.path = "/devstoreaccount1-secondaryx/c/b";
    assert_int_equal(ask(&vector), E_AuthenticationFailed);
}

/* ---- dates ---- */

/* Rule: 15 minutes either way are let in, no tick more. rest: Authorize-with-Shared-Key "Specifying
 * the Date header" */
static void dates_may_be_15_minutes_off(void **state)
{
    static const uint64_t skew = AUTH_SKEW_MAX_S * TICKS_PER_SECOND;
    struct bytes detail;

    (void)state;
    assert_int_equal(AUTH_SKEW_MAX_S, 15 * 60);
    assert_int_equal(ask_at(&vectors[0], -1, signed_at() + skew, &detail), OK);
    assert_int_equal(ask_at(&vectors[0], -1, signed_at() - skew, &detail), OK);
    assert_int_equal(ask_at(&vectors[0], -1, signed_at() + skew + 1, &detail),
                     E_AuthenticationFailed);
    assert_true(bytes_is(detail, "Request date header too old: '" SIGNED_AT "'"));
    assert_int_equal(ask_at(&vectors[0], -1, signed_at() - skew - 1, &detail),
                     E_AuthenticationFailed);
    assert_true(contains(detail, "'" SIGNED_AT "'"));
}

/* Rule: x-ms-date counts, not Date; without either, 403; one that is no date, 400.
 * rest: Authorize-with-Shared-Key "Specifying the Date header" */
static void a_date_is_needed(void **state)
{
    struct vector vector = *vector_named("Date beside x-ms-date is not signed");
    struct bytes detail;

    (void)state;
    vector.headers[header_at(&vector, "date")].value = "yesterday";
    assert_int_equal(ask(&vector), OK);
    vector.headers[header_at(&vector, "x-ms-date")].value = "yesterday";
    assert_int_equal(ask(&vector), E_InvalidAuthenticationInfo);
    vector.headers[header_at(&vector, "x-ms-date")].value = "";
    assert_int_equal(ask(&vector), E_InvalidAuthenticationInfo);

    vector = *vector_named("Date only");
    assert_int_equal(ask_at(&vector, header_at(&vector, "date"), signed_at(), &detail),
                     E_AuthenticationFailed);
    assert_true(bytes_is(detail, "Request date header not specified"));
}

/* ---- what is not signed, or not well ---- */

/* Rule: an Authorization header that is none is 400 InvalidAuthenticationInfo. semantics 10.3 */
static void malformed_headers_are_refused(void **state)
{
    static const char *const values[] = {
        "",
        "SharedKey",
        "SharedKey ",
        "SharedKey devstoreaccount1",
        "SharedKey devstoreaccount1:",
        "SharedKey :aaaa",
        "SharedKey devstoreaccount1:not base64",
        "SharedKey devstoreaccount1:e3vV6djE5XzoHZZ8b3R8YBlwFwbz3ZbdhpOOTfHWGa0",
        "SharedKey devstoreaccount1:aaaa:aaaa",
        "SharedKeyX devstoreaccount1:aaaa",
        "Basic ZGV2c3RvcmVhY2NvdW50MTo=",
        "devstoreaccount1:aaaa",
    };

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct vector vector = with_authorization(&vectors[0], values[i]);

        if (ask(&vector) != E_InvalidAuthenticationInfo)
            fail_msg("%s: %s", values[i], error_code(ask(&vector)));
    }
}

/* Rule: anonymous requests are 401 NoAuthenticationInformation; SAS and bearer tokens, which are
 * not built, 403. semantics 10.3 */
static void unsigned_requests_are_refused(void **state)
{
    static const char *const sases[] = { "sv=2021-12-02&sig=abc", "&&=&SIG=abc&",
                                         "a=b&s%69g=", "sig" };
    struct vector vector = vectors[0];
    int at = header_at(&vector, "authorization");
    struct bytes detail;

    (void)state;
    assert_int_equal(ask_at(&vector, at, signed_at(), &detail), E_NoAuthenticationInformation);
    vector.query = "design=1&resig=2";
    assert_int_equal(ask_at(&vector, at, signed_at(), &detail), E_NoAuthenticationInformation);
    for (size_t i = 0; i < sizeof sases / sizeof sases[0]; i++) {
        vector.query = sases[i];
        assert_int_equal(ask_at(&vector, at, signed_at(), &detail), E_AuthenticationFailed);
        assert_true(detail.len > 0);
    }

    vector = with_authorization(&vectors[0], "Bearer eyJ0eXAi");
    assert_int_equal(ask_at(&vector, -1, signed_at(), &detail), E_AuthenticationFailed);
    assert_true(detail.len > 0);
}

/* The Authorization header as "`before`signature", the signature being the vector's own. */
static struct vector with_account(const struct vector *vector, const char *before)
{
    const char *value = vector->headers[header_at(vector, "authorization")].value;
    struct bytes text = arena_printf(arena, "%s%s%c", before, strchr(value, ':') + 1, '\0');

    return with_authorization(vector, text.ptr);
}

/* Rule: a signature counts for the account that is addressed, under its own name only; one of
 * another length is as wrong. semantics 10.3 */
static void foreign_signatures_are_refused(void **state)
{
    static const char *const befores[] = {
        "SharedKey other:",
        "SharedKey devstoreaccount1-secondary:",
        "SharedKey Devstoreaccount1:",
        "SharedKey devstoreaccount1:aaaa",
    };
    static const char *const values[] = {
        "SharedKey devstoreaccount1:aaaa",
        "SharedKey devstoreaccount1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    };
    struct vector vector = with_account(&vectors[0], "SharedKey devstoreaccount1:");
    struct bytes detail;

    (void)state;
    assert_int_equal(ask(&vector), OK);
    for (size_t i = 0; i < sizeof befores / sizeof befores[0]; i++) {
        vector = with_account(&vectors[0], befores[i]);
        assert_int_equal(ask_at(&vector, -1, signed_at(), &detail), E_AuthenticationFailed);
        assert_true(detail.len > 0);
    }
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        vector = with_authorization(&vectors[0], values[i]);
        assert_int_equal(ask_at(&vector, -1, signed_at(), &detail), E_AuthenticationFailed);
        assert_true(detail.len > 0);
    }
}

/* Rule: a signature of one scheme is none of the other. rest: Authorize-with-Shared-Key */
static void schemes_are_not_mixed(void **state)
{
    const struct vector *full = vector_named("Date only");
    const struct vector *lite = vector_named("Lite, Date only");
    struct vector vector;

    (void)state;
    vector = with_account(full, "SharedKeyLite devstoreaccount1:");
    assert_int_equal(ask(&vector), E_AuthenticationFailed);
    vector = with_account(lite, "SharedKey devstoreaccount1:");
    assert_int_equal(ask(&vector), E_AuthenticationFailed);
}

/* Rule: a wrong signature is answered with the string that the server signed, and never with what
 * the right signature is. semantics 10.3 */
static void wrong_signatures_are_explained(void **state)
{
    struct vector vector = *vector_named("Date only");
    struct bytes detail;

    (void)state;
    vector.method = "PUT";
    assert_int_equal(ask_at(&vector, -1, signed_at(), &detail), E_AuthenticationFailed);
    assert_true(contains(detail, "The MAC signature found in the HTTP request '"));
    assert_true(contains(detail, "string to sign: 'PUT\n\n\n\n\n\n" SIGNED_AT
                                 "\n\n\n\n\n\nx-ms-version:2021-12-02\n/devstoreaccount1/c/b'."));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(signed_requests_are_let_in),
        TEST(either_key_is_valid),
        TEST(every_signed_header_counts),
        TEST(method_path_and_query_count),
        TEST(secondary_is_dropped_from_the_account_only),
        TEST(dates_may_be_15_minutes_off),
        TEST(a_date_is_needed),
        TEST(malformed_headers_are_refused),
        TEST(unsigned_requests_are_refused),
        TEST(foreign_signatures_are_refused),
        TEST(schemes_are_not_mixed),
        TEST(wrong_signatures_are_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
