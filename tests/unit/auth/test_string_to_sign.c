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

        signed_headers_read(arena, &request, &target, &headers);
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

/* ---- no two requests share a string ---- */

/* All strings that a request is accepted with; 0 when it is refused whatever it is signed with. */
static size_t strings_of(struct arena *arena, const struct accounts *accounts,
                         const struct vector *vector, struct bytes strings[FORMS])
{
    struct request request = request_of(arena, vector, -1);
    struct auth_target target = target_of(accounts, vector);
    struct signed_headers headers;
    size_t count = 0;

    if (!resource_is_unambiguous(arena, &target, request.query))
        return 0;
    signed_headers_read(arena, &request, &target, &headers);
    for (unsigned form = 0; form < FORMS; form++) {
        if ((form & ~forms_of(&headers, &target)) == 0 && form_applies(&headers, form))
            strings[count++] = string_to_sign(arena, &request, &headers, &target, SHARED_KEY, form);
    }
    return count;
}

/* Rule: a signature over one of a pair does not open the other. decision: 21 */
static void pairs_share_no_string(void **state)
{
#define OF(query, ...)                                                                             \
    {                                                                                              \
        "", "GET", "/c", query, false, false,                                                      \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                NULL, NULL                                                                         \
            }                                                                                      \
        }                                                                                          \
    }
    static const struct vector pairs[][2] = {
        { OF("comp=list&prefix=zz%0Arestype:container", { "range", "bytes=0-" }),
          OF("comp=list&prefix=zz&restype=container", { "range", "bytes=0-" }) },
        { OF("comp%3Aa=b", { "range", "bytes=0-" }), OF("comp=a%3Ab", { "range", "bytes=0-" }) },
        { OF("comp=a&comp=b", { "range", "bytes=0-" }), OF("comp=a%2Cb", { "range", "bytes=0-" }) },
        { OF("prefix=a%0D%0Ab", { "range", "bytes=0-" }),
          OF("prefix=a%0D&b", { "range", "bytes=0-" }) },
        { OF("comp=list", { "content-encoding", "gzip" }, { "content-language", "de" }),
          OF("comp=list", { "content-encoding", "de" }, { "content-language", "gzip" }) },
        { OF("comp=list", { "content-encoding", "gzip" }),
          OF("comp=list", { "content-language", "gzip" }) },
        { OF("comp=list", { "content-encoding", "de" }),
          OF("comp=list", { "content-language", "de" }) },
        { OF("comp=list", { "content-encoding", "odd" }, { "content-language", "one" }),
          OF("comp=list", { "content-encoding", "one" }, { "content-language", "odd" }) },
        { OF("comp=list", { "x-ms-meta-a", "x  y" }), OF("comp=list", { "x-ms-meta-a", "x y" }) },
        { OF("comp=list", { "x-ms-meta-a", "" }, { "x-ms-version", "2015-12-11" }),
          OF("comp=list", { "x-ms-version", "2015-12-11" }) },
    };
#undef OF
    struct accounts *accounts = accounts_new();

    (void)state;
    accounts_add_development(accounts);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct arena *arena = arena_new(TEST_ARENA_CAP);
        struct bytes a[FORMS], b[FORMS];
        size_t a_count = strings_of(arena, accounts, &pairs[i][0], a);
        size_t b_count = strings_of(arena, accounts, &pairs[i][1], b);

        for (size_t j = 0; j < a_count; j++) {
            for (size_t k = 0; k < b_count; k++) {
                if (bytes_equal(a[j], b[k]))
                    fail_msg("pair %zu shares:\n%.*s", i, BYTES_ARG(a[j]));
            }
        }
        arena_free(arena);
    }
    accounts_free(accounts);
}

/* Rule: which of two values is the language is told by its form, that of a language tag (rfc: 5646 2.1), where
 * neither is a content coding: then only the string with the language in the first place is accepted.
 * decision: 21 */
static void languages_are_known_by_their_form(void **state)
{
    static const struct {
        const char *value;
        bool is_language;
    } cases[] = {
        { "de", true },    { "DE", true },      { "gsw", true },    { "de-CH", true },
        { "de,en", true }, { "zh-Hant", true }, { "d", false },     { "deut", false },
        { "d1", false },   { "de1", false },    { "de_CH", false }, { "de.", false },
        { "de/", false },  { "-de", false },    { "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct signed_headers headers = { .ms = NULL };

        headers.standard[CONTENT_ENCODING] = bytes_from_string("my_own");
        headers.standard[CONTENT_LANGUAGE] = bytes_from_string(cases[i].value);
        if (form_applies(&headers, FORM_LANGUAGE_FIRST) != cases[i].is_language)
            fail_msg("%s", cases[i].value);
    }
}

/* What a query means, in a form that cannot be ambiguous: each name and value with its length, in
 * order; the values of `include` are one list. Written without the code under test. */
struct meaning {
    size_t count;
    char names[8][16], values[8][32];
};

static int digit_of(char c)
{
    const char *digits = "0123456789ABCDEF";
    return (int)(strchr(digits, c) - digits);
}

static struct meaning meaning_of(const char *query)
{
    struct meaning m = { .count = 0 };
    char *to = m.names[0];
    bool any = false;

    for (const char *c = query;; c++) {
        if (*c == '&' || *c == '\0') {
            m.count += any;
            any = false;
            to = m.names[m.count];
            if (*c == '\0')
                return m;
            continue;
        }
        any = true;
        if (*c == '=' && to >= m.names[m.count] && to < m.names[m.count] + sizeof m.names[0]) {
            to = m.values[m.count];
        } else if (*c == '%') {
            *to++ = (char)(digit_of(c[1]) << 4 | digit_of(c[2]));
            c += 2;
        } else {
            *to++ = *c == '+' ? ' ' : *c;
        }
    }
}

static bool same_meaning(const struct meaning *a, const struct meaning *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        bool found = false;

        for (size_t j = 0; j < b->count; j++)
            found |=
                strcmp(a->names[i], b->names[j]) == 0 && strcmp(a->values[i], b->values[j]) == 0;
        if (!found)
            return false;
    }
    return true;
}

#define QUERIES 3000

/* Rule: of many queries of signs that mean something to a query or to the string, those with one
 * string mean the same. decision: 21 */
static void queries_share_no_string(void **state)
{
    static const char *const parts[] = { "a", "b", "&",   "&",   "=",   "=",
                                         "+", ",", "%0A", "%3A", "%20", "%2C" };
    static const struct auth_target blobs = { .service = 'b' };
    static struct meaning meanings[QUERIES];
    static struct bytes strings[QUERIES];
    struct arena *arena = arena_new(1u << 26);
    unsigned random = 7;
    size_t count = 0;

    (void)state;
    while (count < QUERIES) {
        struct text query, text;

        text_init(&query, arena, 40);
        for (unsigned n = 0; n < 8; n++) {
            random = random * 1103515245u + 12345u;
            text_add_string(&query, parts[(random >> 16) % (sizeof parts / sizeof parts[0])]);
        }
        if (!resource_is_unambiguous(arena, &blobs, text_bytes(&query)))
            continue;
        text_init(&text, arena, 64);
        resource_add_parameters(&text, text_bytes(&query));
        meanings[count] = meaning_of(arena_string(arena, text_bytes(&query)));
        strings[count++] = text_bytes(&text);
        for (size_t i = 0; i + 1 < count; i++) {
            if (bytes_equal(strings[i], strings[count - 1]) &&
                !same_meaning(&meanings[i], &meanings[count - 1]))
                fail_msg("%.*s shares:%.*s", BYTES_ARG(text_bytes(&query)), BYTES_ARG(strings[i]));
        }
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documented_examples),
        cmocka_unit_test(names_are_ordered_as_words),
        cmocka_unit_test(pairs_share_no_string),
        cmocka_unit_test(languages_are_known_by_their_form),
        cmocka_unit_test(queries_share_no_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
