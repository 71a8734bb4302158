/* Index tags of blobs: set, read, listed, found. After each test fixture.c compares the index of
 * the container with the tags of its blobs. blob_tags.c, find_blobs.c, tag_index.c */
#include <stdio.h>

#include "base/encode.h"
#include "listed.h"

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"

static const char *tags_document(struct fixture *f, const char *tags)
{
    struct arena *arena = arena_new(1u << 20);
    struct bytes rest = bytes_from_string(tags), pair, name, value;
    struct text out;
    const char *document;

    text_init(&out, arena, 256);
    text_add_string(&out, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Tags><TagSet>");
    while (rest.len > 0) {
        bytes_cut(rest, '&', &pair, &rest);
        bytes_cut(pair, '=', &name, &value);
        text_printf(&out, "<Tag><Key>%.*s</Key><Value>%.*s</Value></Tag>", BYTES_ARG(name),
                    BYTES_ARG(value));
    }
    text_add_string(&out, "</TagSet></Tags>");
    document = textf(f, "%.*s", (int)out.len, out.ptr);
    arena_free(arena);
    return document;
}

/* "a=1&b=2" of Get Blob Tags. */
static const char *tags_of(struct fixture *f, const char *path)
{
    struct reply answer = askf(f, NULL, NULL, "GET %s?comp=tags", path);
    const struct xml_node *set = xml_child(document(f, answer, "Tags"), "TagSet");
    struct text out;

    assert_non_null(set);
    text_init(&out, answer.response->arena, 64);
    for (const struct xml_node *tag = set->first_child; tag; tag = tag->next)
        text_printf(&out, "%s%.*s=%.*s", out.len > 0 ? "&" : "",
                    BYTES_ARG(xml_child(tag, "Key")->text),
                    BYTES_ARG(xml_child(tag, "Value")->text));
    return arena_string(answer.response->arena, text_bytes(&out));
}

static struct reply set_tags(struct fixture *f, const char *path, const char *tags)
{
    return askf(f, NULL, tags_document(f, tags), "PUT %s?comp=tags", path);
}

static struct reply find_page(struct fixture *f, const char *where, const char *container,
                              unsigned max, const char *marker)
{
    struct arena *arena = arena_new(1u << 20);
    struct bytes encoded = percent_encode(arena, bytes_from_string(where), "");
    struct reply answer;

    answer = askf(f, NULL, NULL, "GET /%s?%scomp=blobs&where=%.*s&maxresults=%u&marker=%s",
                  container ? container : "", container ? "restype=container&" : "",
                  BYTES_ARG(encoded), max, marker);
    arena_free(arena);
    return answer;
}

static const char *found(struct fixture *f, const char *where)
{
    return listed(f, find_page(f, where, NULL, 5000, ""));
}

/* Rule: tags are replaced, read back, and change neither ETag nor Last-Modified; x-ms-tag-count is
 * their number. rest: Set-Blob-Tags, Get-Blob-Tags; recorded */
static void tags_are_set_and_read(void **state)
{
    struct fixture *f = *state;
    struct reply before, after, answer;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    before = ask(f, "GET /box/b", NULL, NULL);
    assert_no_header(f, before, "x-ms-tag-count");
    answer = ask(f, "GET /box/b?comp=tags", NULL, NULL);
    assert_body(answer, "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                        "<Tags><TagSet/></Tags>");
    answer = set_tags(f, "/box/b", "b=2&a=1&c=");
    assert_ok(answer, 204);
    assert_no_header(f, answer, "ETag");
    assert_string_equal(tags_of(f, "/box/b"), "a=1&b=2&c="); /* sorted by name */
    after = ask(f, "GET /box/b", NULL, NULL);
    assert_header(f, after, "x-ms-tag-count", "3");
    assert_header(f, after, "ETag", header_of(f, &before, "ETag"));
    assert_header(f, after, "Last-Modified", header_of(f, &before, "Last-Modified"));
    answer = ask(f, "GET /box/b", "x-ms-version: 2019-07-07", NULL);
    assert_no_header(f, answer, "x-ms-tag-count");
    assert_ok(set_tags(f, "/box/b", ""), 204);
    assert_string_equal(tags_of(f, "/box/b"), "");
    assert_answer(set_tags(f, "/box/none", "a=1"), 404, "BlobNotFound");
    assert_answer(ask(f, "GET /box/none?comp=tags", NULL, NULL), 404, "BlobNotFound");
}

/* Rule: a document that is no tag set, or breaks a limit, changes nothing. */
static void bad_tags_are_refused(void **state)
{
    static const struct {
        const char *body;
        const char *code;
    } rows[] = {
        { "", "InvalidXmlDocument" },
        { "<Tags/>", "InvalidXmlDocument" },
        { "<TagSet/>", "InvalidXmlDocument" },
        { "<Tags><TagSet/><TagSet/></Tags>", "InvalidXmlDocument" },
        { "<Tags><TagSet><Tag/></TagSet></Tags>", "InvalidXmlDocument" },
        { "<Tags><TagSet><Tag><Key>a</Key></Tag></TagSet></Tags>", "InvalidXmlDocument" },
        { "<Tags><TagSet><Tug><Key>a</Key><Value/></Tug></TagSet></Tags>", "InvalidXmlDocument" },
        { "<Tags><TagSet><Tag><Key></Key><Value/></Tag></TagSet></Tags>", "EmptyTagName" },
        { "<Tags><TagSet><Tag><Key>\xC3\xA4</Key><Value/></Tag></TagSet></Tags>", "InvalidTag" },
        { "<Tags><TagSet><Tag><Key>a</Key><Value>*</Value></Tag></TagSet></Tags>", "InvalidTag" },
        { "<Tags><TagSet><Tag><Key>a</Key><Value/></Tag><Tag><Key>a</Key><Value/></Tag>"
          "</TagSet></Tags>",
          "DuplicateTagNames" },
    };
    static const struct {
        const char *header;
        const char *code;
    } headers[] = {
        { "a", "InvalidTag" },
        { "=b", "EmptyTagName" },
        { "a=1&a=2", "DuplicateTagNames" },
        { "1=&2=&3=&4=&5=&6=&7=&8=&9=&10=&11=", "TagsTooLarge" },
    };
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-tags: k=v", "x"), 201);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_answer(ask(f, "PUT /box/b?comp=tags", NULL, rows[i].body), 400, rows[i].code);
    assert_answer(set_tags(f, "/box/b", "1=&2=&3=&4=&5=&6=&7=&8=&9=&10=&11="), 400, "TagsTooLarge");
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        assert_answer(
            ask(f, "PUT /box/b", textf(f, PUT_HEADERS "\nx-ms-tags: %s", headers[i].header), "y"),
            400, headers[i].code);
    assert_string_equal(tags_of(f, "/box/b"), "k=v");
}

/* Rule: a write of the whole blob sets its tags, or drops them; other changes keep them; a snapshot
 * keeps those of its moment, read-only, and is not found. recorded; rest: Get-Blob-Tags */
static void writes_set_or_drop_tags(void **state)
{
    struct fixture *f = *state;
    const char *snapshot;
    struct reply answer;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-tags: k=1", "x"), 201);
    assert_ok(ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL), 200);
    assert_ok(ask(f, "PUT /box/b?comp=properties", NULL, NULL), 200);
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=MQ==", NULL, "block"), 201);
    assert_string_equal(tags_of(f, "/box/b"), "k=1");
    answer = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_ok(answer, 201);
    snapshot = header_of(f, &answer, "x-ms-snapshot");
    assert_ok(set_tags(f, "/box/b", "k=2"), 204);
    assert_string_equal(tags_of(f, "/box/b"), "k=2");
    answer = askf(f, NULL, NULL, "GET /box/b?comp=tags&snapshot=%s", snapshot);
    assert_string_equal(first_text(f, answer, "Value"), "1");
    assert_answer(
        askf(f, NULL, tags_document(f, "k=3"), "PUT /box/b?comp=tags&snapshot=%s", snapshot), 400,
        "InvalidQueryParameterValue");
    assert_string_equal(found(f, "k = '1'"), "");
    assert_string_equal(found(f, "k = '2'"), "b");
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", "x-ms-tags: l=3",
                  "<BlockList><Latest>MQ==</Latest></BlockList>"),
              201);
    assert_string_equal(tags_of(f, "/box/b"), "l=3");
    assert_string_equal(found(f, "k >= ''"), "");
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_string_equal(tags_of(f, "/box/b"), "");
    assert_ok(set_tags(f, "/box/b", "k=2"), 204);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_string_equal(found(f, "k >= ''"), "");
}

/* Rule: List Blobs has the number of tags, and with include=tags the tags. rest: List-Blobs */
static void tags_are_listed(void **state)
{
    struct fixture *f = *state;
    struct reply answer;

    assert_ok(ask(f, "PUT /box/a", PUT_HEADERS "\nx-ms-tags: k=1&l=2", "x"), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    answer = ask(f, "GET /box?restype=container&comp=list", NULL, NULL);
    assert_string_equal(first_text(f, answer, "TagCount"), "2");
    assert_null(first_text(f, answer, "Tags"));
    answer = ask(f, "GET /box?restype=container&comp=list&include=tags", NULL, NULL);
    assert_string_equal(first_text(f, answer, "Key"), "k");
    assert_string_equal(first_text(f, answer, "Value"), "1");
    answer = ask(f, "GET /box?restype=container&comp=list&include=tags", "x-ms-version: 2019-07-07",
                 NULL);
    assert_null(first_text(f, answer, "TagCount"));
}

/* Rule: x-ms-if-tags is a condition of what takes it; Get and Set Blob Tags have those on the blob
 * under names of their own, and no plain ones. semantics 4.2; rest: Set-Blob-Tags */
static void tags_are_conditions(void **state)
{
    static const char *const met = "x-ms-if-tags: k = '1'", *const unmet = "x-ms-if-tags: k <> '1'";
    struct fixture *f = *state;
    const char *etag;
    struct reply answer;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-tags: k=1", "x"), 201);
    assert_ok(ask(f, "GET /box/b", met, NULL), 200);
    assert_answer(ask(f, "GET /box/b", unmet, NULL), 412, "ConditionNotMet");
    assert_answer(ask(f, "HEAD /box/b", unmet, NULL), 412, "ConditionNotMet");
    assert_answer(ask(f, "GET /box/b?comp=tags", unmet, NULL), 412, "ConditionNotMet");
    assert_ok(ask(f, "GET /box/b?comp=tags", met, NULL), 200);
    assert_answer(ask(f, "PUT /box/b?comp=metadata", unmet, NULL), 412, "ConditionNotMet");
    assert_answer(ask(f, "PUT /box/b?comp=tags", unmet, tags_document(f, "k=2")), 412,
                  "ConditionNotMet");
    assert_answer(ask(f, "PUT /box/b", textf(f, PUT_HEADERS "\n%s", unmet), "y"), 412,
                  "ConditionNotMet");
    assert_answer(ask(f, "PUT /box/new", textf(f, PUT_HEADERS "\n%s", met), "y"), 412,
                  "ConditionNotMet");
    assert_answer(ask(f, "DELETE /box/new", unmet, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "DELETE /box/b", unmet, NULL), 412, "ConditionNotMet");
    assert_answer(ask(f, "GET /box/b", "x-ms-if-tags: k =", NULL), 400, "InvalidHeaderValue");
    answer = ask(f, "GET /box/b", NULL, NULL);
    etag = header_of(f, &answer, "ETag");
    assert_ok(ask(f, "GET /box/b?comp=tags", textf(f, "x-ms-blob-if-match: %s", etag), NULL), 200);
    assert_answer(
        ask(f, "GET /box/b?comp=tags", textf(f, "x-ms-blob-if-none-match: %s", etag), NULL), 304,
        "ConditionNotMet");
    assert_answer(
        ask(f, "PUT /box/b?comp=tags", "x-ms-blob-if-match: \"0x1\"", tags_document(f, "k=2")), 412,
        "ConditionNotMet");
    assert_answer(ask(f, "PUT /box/b?comp=tags", "x-ms-blob-if-modified-since: then",
                      tags_document(f, "k=2")),
                  400, "InvalidHeaderValue");
    assert_answer(ask(f, "GET /box/b?comp=tags", textf(f, "If-Match: %s", etag), NULL), 400,
                  "ConditionHeadersNotSupported");
    assert_string_equal(tags_of(f, "/box/b"), "k=1");
}

/* Rule: a search finds by one tag, a range, several tags, in one container or all, and shows the
 * tags it names. rest: Find-Blobs-by-Tags */
static void searches_find(void **state)
{
    struct fixture *f = *state;
    struct reply answer;

    assert_ok(ask(f, "PUT /cat?restype=container", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /box/a", PUT_HEADERS "\nx-ms-tags: k=1&l=x&m=q", "x"), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-tags: k=10&l=y", "x"), 201);
    assert_ok(ask(f, "PUT /cat/c", PUT_HEADERS "\nx-ms-tags: k=2&l=x", "x"), 201);
    assert_ok(ask(f, "PUT /cat/d", PUT_HEADERS "\nx-ms-tags: k=", "x"), 201);
    assert_ok(ask(f, "PUT /cat/e", PUT_HEADERS, "x"), 201);
    assert_string_equal(found(f, "k = '1'"), "a");
    assert_string_equal(found(f, "k > '1'"), "b c");
    assert_string_equal(found(f, "k >= '1'"), "a b c");
    assert_string_equal(found(f, "k < '2'"), "a b d");
    assert_string_equal(found(f, "k <= '2' and k > '1'"), "b c");
    assert_string_equal(found(f, "k = ''"), "d");
    assert_string_equal(found(f, "k >= '1' and l = 'x'"), "a c");
    assert_string_equal(found(f, "k >= '1' and l >= 'x' and m <= 'q'"), "a");
    assert_string_equal(found(f, "k >= '1' and @container = 'cat'"), "c");
    assert_string_equal(found(f, "@container = 'none' and k = '1'"), "");
    assert_string_equal(found(f, "z = '1'"), "");
    assert_string_equal(listed(f, find_page(f, "k >= ''", "box", 5000, "")), "a b");
    answer = find_page(f, "m = 'q' and k = '1'", NULL, 10, "");
    assert_string_equal(
        normal(f, answer),
        "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
        "ServiceEndpoint=\"http://localhost/devstoreaccount1/\"><Where>m = 'q' and k = '1'</Where>"
        "<MaxResults>10</MaxResults>"
        "<Blobs><Blob><Name>a</Name><ContainerName>box</ContainerName><Tags><TagSet><Tag><Key>k"
        "</Key><Value>1</Value></Tag><Tag><Key>m</Key><Value>q</Value></Tag></TagSet></Tags>"
        "</Blob></Blobs><NextMarker /></EnumerationResults>");
    answer = ask(f, "GET /?comp=blobs&where=k%3D%271%27", "x-ms-version: 2019-12-12", NULL);
    assert_string_equal(first_text(f, answer, "TagValue"), "1");
    assert_ok(ask(f, "DELETE /cat?restype=container", NULL, NULL), 202);
    assert_string_equal(found(f, "k >= ''"), "a b");
    assert_answer(find_page(f, "k = '1'", "cat", 1, ""), 404, "ContainerNotFound");
}

/* Rule: what is no search, no size of a page and no marker of this search is refused. */
static void bad_searches_are_refused(void **state)
{
    struct fixture *f = *state;
    const char *marker;

    assert_ok(ask(f, "PUT /box/a", PUT_HEADERS "\nx-ms-tags: k=1", "x"), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-tags: k=1", "x"), 201);
    assert_answer(ask(f, "GET /?comp=blobs", NULL, NULL), 400, "MissingRequiredQueryParameter");
    assert_answer(find_page(f, "k <> '1'", NULL, 1, ""), 400, "InvalidQueryParameterValue");
    assert_answer(find_page(f, "k = '1' or l = '1'", NULL, 1, ""), 400,
                  "InvalidQueryParameterValue");
    assert_answer(find_page(f, "@container = 'box'", NULL, 1, ""), 400,
                  "InvalidQueryParameterValue");
    assert_answer(find_page(f, "k = '1' and @container = 'box'", "box", 1, ""), 400,
                  "InvalidQueryParameterValue");
    assert_answer(find_page(f, "k = '1'", NULL, 0, ""), 400, "OutOfRangeQueryParameterValue");
    assert_answer(find_page(f, "k = '1'", NULL, 1, "x"), 400, "InvalidQueryParameterValue");
    marker = next_marker(f, find_page(f, "k = '1'", NULL, 1, ""));
    assert_string_equal(listed(f, find_page(f, "k = '1'", NULL, 1, marker)), "b");
    assert_string_equal(listed(f, find_page(f, "k = '1'", "box", 1, marker)), "b");
    assert_answer(find_page(f, "k = '2'", NULL, 1, marker), 400, "InvalidQueryParameterValue");
    assert_answer(find_page(f, "l = '1'", NULL, 1, marker), 400, "InvalidQueryParameterValue");
    assert_ok(ask(f, "PUT /cat?restype=container", NULL, NULL), 201);
    assert_answer(find_page(f, "k = '1'", "cat", 1, marker), 400, "InvalidQueryParameterValue");
}

/* ---- a model: random tags and searches, at every size of a page ---- */

#define BLOBS 12
static const char *const values[] = { NULL, "", "1", "10", "2", "a" };
#define VALUES (sizeof values / sizeof values[0])

static unsigned next_random(unsigned below)
{
    static unsigned seed = 7;

    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % below;
}

struct model {
    bool exists[BLOBS];
    unsigned k[BLOBS], l[BLOBS]; /* positions in values */
};

static const char *container_of(unsigned i)
{
    return i % 2 ? "cat" : "box";
}

static const char *model_tags(struct fixture *f, const struct model *m, unsigned i)
{
    const char *k = values[m->k[i]], *l = values[m->l[i]];

    return textf(f, "%s%s%s%s%s", k ? "k=" : "", k ? k : "", k && l ? "&" : "", l ? "l=" : "",
                 l ? l : "");
}

static void random_step(struct fixture *f, struct model *m)
{
    unsigned i = next_random(BLOBS);
    const char *path = textf(f, "/%s/b%02u", container_of(i), i);

    m->k[i] = next_random(VALUES);
    m->l[i] = next_random(VALUES);
    switch (m->exists[i] ? next_random(4) : 0) {
    case 0:
        assert_ok(askf(f, textf(f, PUT_HEADERS "\nx-ms-tags: %s", model_tags(f, m, i)), "x",
                       "PUT %s", path),
                  201);
        m->exists[i] = true;
        break;
    case 1:
        assert_ok(askf(f, NULL, NULL, "DELETE %s", path), 202);
        m->exists[i] = false;
        break;
    default:
        assert_ok(set_tags(f, path, model_tags(f, m, i)), 204);
        break;
    }
}

/* Blobs for which the expression holds, in the order of a search by `driver`. */
static const char *expected(struct fixture *f, const struct model *m, const char *where,
                            const unsigned *driver)
{
    struct arena *arena = arena_new(1u << 20);
    struct tag_expression e;
    struct tag_syntax_error error;
    struct text out;
    const char *text;

    text_init(&out, arena, 64);
    assert_true(tag_expression_parse(arena, bytes_from_string(where), TAG_SEARCH, &e, &error));
    for (unsigned c = 0; c < 2; c++)
        for (unsigned v = 1; v < VALUES; v++)
            for (unsigned i = c; i < BLOBS; i += 2) {
                struct tags tags;

                tags_from_query(arena, bytes_from_string(model_tags(f, m, i)), &tags);
                if (m->exists[i] && driver[i] == v &&
                    tag_expression_holds(&e, bytes_from_string(container_of(i)),
                                         tags_encode(arena, &tags)))
                    text_printf(&out, "%sb%02u", out.len > 0 ? " " : "", i);
            }
    text = textf(f, "%.*s", (int)out.len, out.ptr ? out.ptr : "");
    arena_free(arena);
    return text;
}

static const char *found_in_pages(struct fixture *f, const char *where, unsigned size)
{
    const char *marker = "", *all = "";

    do {
        struct reply page = find_page(f, where, NULL, size, marker);
        const char *names = listed(f, page);
        size_t len = strlen(names);

        marker = next_marker(f, page);
        if (*marker && len >= 4)
            names = textf(f, "%.*s", (int)len - 4, names); /* " ..." */
        all = textf(f, "%s%s%s", all, *all && *names ? " " : "", names);
    } while (*marker);
    return all;
}

static void searches_agree_with_a_model(void **state)
{
    static const struct {
        const char *where;
        bool by_l;
    } searches[] = {
        { "k = '1'", false },
        { "k > '1'", false },
        { "k >= '10' and k < 'a'", false },
        { "k <= '2'", false },
        { "k < ''", false },
        { "l = '' and k >= ''", true },
        { "k >= '1' and l >= '1'", false },
        { "k >= '1' and l = '10' and @container = 'cat'", true },
    };
    struct fixture *f = *state;
    struct model m = { { false }, { 0 }, { 0 } };

    assert_ok(ask(f, "PUT /cat?restype=container", NULL, NULL), 201);
    for (int step = 0; step < 200; step++) {
        random_step(f, &m);
        if (step % 5 > 0)
            continue;
        for (size_t s = 0; s < sizeof searches / sizeof searches[0]; s++) {
            unsigned size = step % 25 ? next_random(BLOBS) + 1 : 1;
            const char *wanted = expected(f, &m, searches[s].where, searches[s].by_l ? m.l : m.k);

            do
                assert_string_equal(found_in_pages(f, searches[s].where, size), wanted);
            while (step % 25 == 0 && ++size <= BLOBS + 1);
        }
    }
}

/* Rule: a page looks at a bounded number of records and of containers, and the next goes on there.
 * decision: 80 */
static void work_of_a_page_is_bounded(void **state)
{
    struct fixture *f = *state;
    unsigned pages = 0;
    const char *marker = "";

    for (int i = 0; i < 1001; i++)
        assert_ok(askf(f, NULL, NULL, "PUT /many%04d?restype=container", i), 201);
    assert_ok(ask(f, "PUT /many1000/z", PUT_HEADERS "\nx-ms-tags: k=1", "x"), 201);
    do {
        struct reply page = find_page(f, "k = '1'", NULL, 10, marker);

        assert_string_equal(listed(f, page), pages == 0 ? "..." : "z");
        marker = next_marker(f, page);
        pages++;
    } while (*marker);
    assert_int_equal(pages, 2); /* 1,002 containers */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(tags_are_set_and_read),     TEST(bad_tags_are_refused),
        TEST(writes_set_or_drop_tags),   TEST(tags_are_listed),
        TEST(tags_are_conditions),       TEST(searches_find),
        TEST(bad_searches_are_refused),  TEST(searches_agree_with_a_model),
        TEST(work_of_a_page_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
