/* The strings of the documentation's examples, and the order of header names.
 * rest: Authorize-with-Shared-Key; semantics 10.3 */
#include "auth_test.h"

struct example {
    enum auth_scheme scheme;
    const char *expected;
    struct vector request;
};

/* The page's examples, with its account's name as ours. */
static const struct example examples[] = {
    { SHARED_KEY,
      "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
      "x-ms-version:2015-02-21\n"
      "/devstoreaccount1/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20",
      { "Get Container Metadata",
        "GET",
        "/mycontainer",
        "comp=metadata&restype=container&timeout=20",
        false,
        false,
        { { "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" }, { "x-ms-version", "2015-02-21" } } } },
    { SHARED_KEY,
      "PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
      "x-ms-version:2015-02-21\n/devstoreaccount1/mycontainer\nrestype:container\ntimeout:30",
      { "Create Container, 2015-02-21 or later",
        "PUT",
        "/mycontainer",
        "restype=container&timeout=30",
        false,
        false,
        { { "content-length", "0" },
          { "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" },
          { "x-ms-version", "2015-02-21" } } } },
    { SHARED_KEY,
      "PUT\n\n\n0\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
      "x-ms-version:2014-02-14\n/devstoreaccount1/mycontainer\nrestype:container\ntimeout:30",
      { "Create Container, 2014-02-14",
        "PUT",
        "/mycontainer",
        "restype=container&timeout=30",
        false,
        false,
        { { "content-length", "0" },
          { "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" },
          { "x-ms-version", "2014-02-14" } } } },
    { SHARED_KEY,
      "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n/devstoreaccount1/"
      "mycontainer\ncomp:list\ninclude:metadata,snapshots,uncommittedblobs\nrestype:container",
      { "List Blobs",
        "GET",
        "/mycontainer",
        "restype=container&comp=list&include=snapshots&include=metadata&include=uncommittedblobs",
        false,
        false,
        { { "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" } } } },
    { SHARED_KEY,
      "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
      "/devstoreaccount1/mycontainer/myblob",
      { "Get Blob from the secondary",
        "GET",
        "/mycontainer/myblob",
        NULL,
        true,
        false,
        { { "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" } } } },
    { SHARED_KEY,
      "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\n"
      "/devstoreaccount1/devstoreaccount1/mycontainer",
      { "the emulator's path",
        "GET",
        "/devstoreaccount1/mycontainer",
        NULL,
        false,
        false,
        { { "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" } } } },
    { SHARED_KEY_LITE,
      "PUT\n\ntext/plain; charset=UTF-8\n\nx-ms-date:Sun, 20 Sep 2009 20:36:40 GMT\n"
      "x-ms-meta-m1:v1\nx-ms-meta-m2:v2\n/devstoreaccount1/mycontainer/hello.txt",
      { "Put Blob, Lite",
        "PUT",
        "/mycontainer/hello.txt",
        NULL,
        false,
        false,
        { { "content-type", "text/plain; charset=UTF-8" },
          { "x-ms-meta-m2", "v2" },
          { "x-ms-date", "Sun, 20 Sep 2009 20:36:40 GMT" },
          { "x-ms-meta-m1", "v1" } } } },
    { SHARED_KEY_LITE,
      "Sun, 11 Oct 2009 19:52:39 GMT\n/devstoreaccount1/Tables",
      { "Query Tables, Lite",
        "GET",
        "/Tables",
        NULL,
        false,
        true,
        { { "x-ms-date", "Sun, 11 Oct 2009 19:52:39 GMT" } } } },
};

/* Rule: the documentation's examples give the documentation's strings.
 * rest: Authorize-with-Shared-Key "Constructing the signature string" */
static void documented_examples(void **state)
{
    struct accounts *accounts = accounts_new();
    struct arena *arena = arena_new(TEST_ARENA_CAP);

    (void)state;
    accounts_add_development(accounts);
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const struct example *example = &examples[i];
        struct request request = request_of(arena, &example->request, -1);
        struct auth_target target = target_of(accounts, &example->request);
        struct signed_headers headers;
        struct bytes text;

        signed_headers_read(arena, &request, &headers);
        assert_int_equal(forms_of(&headers, &target), 0);
        text = string_to_sign(arena, &request, &headers, &target, example->scheme, 0);
        if (!bytes_is(text, example->expected))
            fail_msg("%s:\n%.*s\nnot\n%s", example->request.what, BYTES_ARG(text),
                     example->expected);
        if (example->scheme == SHARED_KEY)
            assert_true(bytes_equal(text, shared_key_string(arena, &request, &target)));
    }
    accounts_free(accounts);
    arena_free(arena);
}

/* Rule: header names are in .NET's order of en-US words. semantics 10.3 */
static void names_are_ordered_as_words(void **state)
{
    static const char *const ordered[] = {
        "x-ms",          "x-ms-",        "x-ms-!",      "x-ms-meta-_", "x-ms-meta-_a",
        "x-ms-meta-0",   "x-ms-meta-1a", "x-ms-meta-9", "x-ms-meta-a", "x-ms-meta-a-",
        "x-ms-meta-a_b", "x-ms-meta-aa", "x-ms-metab",  "x-ms-meta-b", "x-m-s-meta-b",
        "x-ms-meta-b-c", "x-ms-meta-bd",
    };
    const size_t count = sizeof ordered / sizeof ordered[0];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            int order = header_order(bytes_from_string(ordered[i]), bytes_from_string(ordered[j]));

            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("%s and %s: %d", ordered[i], ordered[j], order);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_examples),
        cmocka_unit_test(names_are_ordered_as_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
