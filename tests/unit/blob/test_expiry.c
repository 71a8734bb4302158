/* Expiry of files in a hierarchical container: blob/expiry.h. rest: Set-Blob-Expiry; recorded:
 * dfs.jsonl test_file.test_set_expiry, protect.jsonl TestBlobSetExpiry; decisions: 1292 to 1294 */
#include "listed.h"
#include "paths.h"

#include <stdlib.h>

#include "blob/expiry.h"

#define LIST  "GET /box?restype=container&comp=list"
#define LARGE (1u << 20)
#define S(n)  ((n)*TICKS_PER_SECOND)

static void put(struct fixture *f, const char *name)
{
    assert_ok(askf(f, "x-ms-blob-type: BlockBlob", name, "PUT /box/%s", name), 201);
}

static struct reply set(struct fixture *f, const char *name, const char *option, const char *time)
{
    const char *headers =
        time ? textf(f, "x-ms-expiry-option: %s\nx-ms-expiry-time: %s", option, time)
             : textf(f, "x-ms-expiry-option: %s", option);

    return askf(f, headers, NULL, "PUT /box/%s?comp=expiry", name);
}

static const char *expiry(struct fixture *f, const char *name)
{
    struct reply got = askf(f, NULL, NULL, "HEAD /box/%s", name);

    assert_ok(got, 200);
    return header_of(f, &got, "x-ms-expiry-time");
}

static const char *date(struct fixture *f, instant at)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(at, text);
    return textf(f, "%s", text);
}

/* A file that expired a second ago, whose task has not run. */
static void expire(struct fixture *f, const char *name)
{
    put(f, name);
    assert_ok(set(f, name, "RelativeToNow", "1000"), 200);
    clock_advance(S(2));
}

static const char *all(struct fixture *f)
{
    return listed(f, ask(f, LIST "&include=uncommittedblobs,snapshots", NULL, NULL));
}

/* Number of expiries in the list of tasks. Only for the end of a test: afterwards the store takes
 * later tasks for already listed. */
static unsigned tasks(struct fixture *f)
{
    struct arena *arena = arena_new(1 << 20);
    struct deferred_task tasks[2], *after = NULL;
    unsigned count = 0, found = 0;
    instant due;

    while (!store_task_next(store_of(f), INSTANT_MAX - 1, after, arena, &tasks[count % 2], &due)) {
        after = &tasks[count++ % 2];
        found += after->kind == TASK_EXPIRE_FILE;
    }
    arena_free(arena);
    return found;
}

/* Rule: four options; ETag and Last-Modified are unchanged, as recorded. */
static void options(void **state)
{
    struct fixture *f = *state;
    struct reply before, after;
    const char *shown;

    put(f, "a");
    before = ask(f, "HEAD /box/a", NULL, NULL);
    assert_no_header(f, before, "x-ms-expiry-time");
    shown = date(f, clock_now() + S(100000));
    assert_ok(set(f, "a", "Absolute", shown), 200);
    assert_string_equal(expiry(f, "a"), shown);
    after = ask(f, "HEAD /box/a", NULL, NULL);
    assert_string_equal(header_of(f, &after, "ETag"), header_of(f, &before, "ETag"));
    assert_string_equal(header_of(f, &after, "Last-Modified"),
                        header_of(f, &before, "Last-Modified"));
    assert_ok(set(f, "a", "neverexpire", NULL), 200);
    assert_null(expiry(f, "a"));
    clock_advance(S(50));
    assert_ok(set(f, "a", "RelativeToCreation", "60000"), 200);
    clock_advance(S(9));
    assert_non_null(expiry(f, "a"));
    assert_ok(set(f, "a", "RelativeToNow", "60000"), 200);
    clock_advance(S(59));
    assert_non_null(expiry(f, "a"));
    clock_advance(S(2));
    assert_answer(ask(f, "GET /box/a", NULL, NULL), 404, "BlobNotFound");
}

static void refused(void **state)
{
    static const struct {
        const char *option, *time, *code;
    } cases[] = {
        { "Absolute", "Sun, 06 Nov 1994 08:49:37 GMT", "InvalidHeaderValue" },
        { "Absolute", "1000", "InvalidHeaderValue" },
        { "Absolute", NULL, "MissingRequiredHeader" },
        { "RelativeToNow", "0", "InvalidHeaderValue" },
        { "RelativeToNow", "-1", "InvalidHeaderValue" },
        { "RelativeToNow", "x", "InvalidHeaderValue" },
        { "RelativeToNow", NULL, "MissingRequiredHeader" },
        { "RelativeToNow", "18446744073709551615", "InvalidHeaderValue" },
        { "RelativeToNow", "1844674407370955", "InvalidHeaderValue" },
        { "RelativeToNow", "Fri, 06 Nov 2093 08:49:37 GMT", "InvalidHeaderValue" },
        { "RelativeToCreation", "1000", "InvalidHeaderValue" },
        { "RelativeToCreation", "315537897600000", "InvalidHeaderValue" },
        { "NeverExpire", "None", "InvalidHeaderValue" },
        { "NeverExpire", "1000", "InvalidHeaderValue" },
        { "Sometime", "1000", "InvalidHeaderValue" },
    };
    struct fixture *f = *state;

    put(f, "d/a");
    clock_advance(S(2));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_answer(set(f, "d/a", cases[i].option, cases[i].time), 400, cases[i].code);
    assert_answer(ask(f, "PUT /box/d/a?comp=expiry", NULL, NULL), 400, "MissingRequiredHeader");
    assert_answer(ask(f, "PUT /box/d/a?comp=expiry", "x-ms-expiry-time: 1000", NULL), 400,
                  "MissingRequiredHeader");
    assert_null(expiry(f, "d/a"));
    assert_answer(set(f, "d", "RelativeToNow", "1000"), 400, "OperationNotSupportedOnDirectory");
    assert_answer(set(f, "none", "RelativeToNow", "1000"), 404, "BlobNotFound");
    assert_answer(ask(f, "PUT /box/d/a?comp=expiry&snapshot=2020-01-01T00:00:00.0000000Z",
                      "x-ms-expiry-option: NeverExpire", NULL),
                  400, "InvalidQueryParameterValue");
}

static void flat_accounts(void **state)
{
    struct fixture *f = *state;

    put(f, "a");
    assert_answer(set(f, "a", "NeverExpire", NULL), 400, "HierarchicalNamespaceNotEnabled");
}

/* Rule: a lease neither prevents an expiry from being set, nor protects the file. decision: 1293 */
static void leases(void **state)
{
    struct fixture *f = *state;

    put(f, "a");
    assert_ok(ask(f, "PUT /box/a?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1",
                  NULL),
              201);
    assert_ok(set(f, "a", "RelativeToNow", "1000"), 200);
    clock_advance(S(2));
    assert_answer(ask(f, "HEAD /box/a", NULL, NULL), 404, "BlobNotFound");
    put(f, "a");
}

/* Rule: an expired file does not exist for any request, before its task has run. */
static void expired_files_are_hidden(void **state)
{
    static const char *const requests[] = {
        "GET /box/d/a",
        "HEAD /box/d/a",
        "GET /box/d/a?comp=metadata",
        "PUT /box/d/a?comp=metadata",
        "PUT /box/d/a?comp=properties",
        "PUT /box/d/a?comp=snapshot",
        "GET /box/d/a?comp=blocklist",
        "DELETE /box/d/a",
    };
    struct fixture *f = *state;

    fixture_hold_tasks(f);
    put(f, "b");
    expire(f, "d/a");
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        assert_answer(ask(f, requests[i], NULL, NULL), 404, "BlobNotFound");
    assert_answer(set(f, "d/a", "NeverExpire", NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "PUT /box/d/a", "x-ms-blob-type: BlockBlob\nIf-Match: *", "x"), 412,
                  "ConditionNotMet");
    assert_string_equal(all(f), "b d");
    assert_int_equal(rename_path(f, "d/a", "c", NULL), E_SourcePathNotFound);
    fixture_run_due(f);
    assert_string_equal(all(f), "b d");
    assert_int_equal(tasks(f), 0);
}

/* Rule: the name of an expired file is free: a file created there is new, with its own creation
 * time, and the directory can be deleted. */
static void names_are_free(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    fixture_hold_tasks(f);
    expire(f, "d/a");
    assert_ok(ask(f, "PUT /box/d/a", "x-ms-blob-type: BlockBlob\nIf-None-Match: *", "new"), 201);
    assert_null(expiry(f, "d/a"));
    got = ask(f, "HEAD /box/d/a", NULL, NULL);
    assert_string_equal(header_of(f, &got, "x-ms-creation-time"),
                        header_of(f, &got, "Last-Modified"));
    expire(f, "e");
    assert_int_equal(rename_path(f, "d/a", "e", NULL), OK);
    assert_body(ask(f, "GET /box/e", NULL, NULL), "new");
    expire(f, "g");
    assert_int_equal(create_directory(f, "g"), OK);
    expire(f, "h");
    assert_ok(ask(f, "PUT /box/h?comp=block&blockid=MQ==", NULL, "block"), 201);
    assert_ok(
        ask(f, "PUT /box/h?comp=blocklist", NULL, "<BlockList><Latest>MQ==</Latest></BlockList>"),
        201);
    expire(f, "d/x");
    expire(f, "d/y");
    assert_int_equal(delete_directory(f, "d", false), OK);
    assert_string_equal(all(f), "e g h");
    put(f, "i/z");
    expire(f, "i/x");
    assert_int_equal(delete_directory(f, "i", false), E_PathDirectoryNotEmpty);
    fixture_run_due(f);
    assert_string_equal(all(f), "e g h i i/z");
    assert_int_equal(tasks(f), 0);
}

/* Rule: a directory with up to 256 expired files, and no others, is deleted like an empty one. */
static void directories_of_expired_files(void **state)
{
    struct fixture *f = *state;

    fixture_hold_tasks(f);
    for (int i = 0; i < 257; i++) {
        put(f, textf(f, "d/%d", i));
        assert_ok(set(f, textf(f, "d/%d", i), "RelativeToNow", "60000"), 200);
    }
    assert_int_equal(delete_directory(f, "d", false), E_PathDirectoryNotEmpty);
    clock_advance(S(61));
    assert_int_equal(delete_directory(f, "d", false), E_PathDirectoryNotEmpty);
    fixture_run_due(f);
    for (int i = 0; i < 256; i++) {
        put(f, textf(f, "d/%d", i));
        assert_ok(set(f, textf(f, "d/%d", i), "RelativeToNow", "60000"), 200);
    }
    put(f, "d/x");
    clock_advance(S(61));
    assert_int_equal(delete_directory(f, "d", false), E_PathDirectoryNotEmpty);
    assert_ok(ask(f, "DELETE /box/d/x", NULL, NULL), 202);
    assert_int_equal(delete_directory(f, "d", false), OK);
    fixture_run_due(f);
    assert_string_equal(all(f), "");
    assert_int_equal(tasks(f), 0);
}

/* Rule: changes of a file retain its expiry, and another file in its place does not have it. */
static void what_retains_an_expiry(void **state)
{
    struct fixture *f = *state;
    const char *shown = date(f, clock_now() + S(100000));

    put(f, "a");
    assert_ok(set(f, "a", "Absolute", shown), 200);
    assert_ok(ask(f, "PUT /box/a?comp=metadata", "x-ms-meta-k: v", NULL), 200);
    assert_ok(ask(f, "PUT /box/a?comp=properties", NULL, NULL), 200);
    assert_ok(ask(f, "PUT /box/a?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /box/a?comp=block&blockid=MQ==", NULL, "block"), 201);
    assert_string_equal(expiry(f, "a"), shown);
    assert_ok(ask(f, "DELETE /box/a", "x-ms-delete-snapshots: only", NULL), 202);
    assert_int_equal(rename_path(f, "a", "b", NULL), OK);
    assert_string_equal(expiry(f, "b"), shown);
    put(f, "c");
    assert_int_equal(rename_path(f, "b", "c", NULL), OK);
    assert_string_equal(expiry(f, "c"), shown);
    put(f, "c");
    assert_null(expiry(f, "c"));
    assert_ok(set(f, "c", "Absolute", shown), 200);
    assert_ok(ask(f, "PUT /box/c?comp=block&blockid=MQ==", NULL, "block"), 201);
    assert_ok(
        ask(f, "PUT /box/c?comp=blocklist", NULL, "<BlockList><Latest>MQ==</Latest></BlockList>"),
        201);
    assert_null(expiry(f, "c"));
    assert_int_equal(tasks(f), 0);
}

/* Rule: a file has the task of its current expiry, and no other one. */
static void tasks_follow(void **state)
{
    struct fixture *f = *state;

    put(f, "a");
    for (int i = 0; i < 5; i++)
        assert_ok(set(f, "a", "RelativeToNow", textf(f, "%d", 100000 + i)), 200);
    assert_ok(set(f, "a", "NeverExpire", NULL), 200);
    put(f, "b");
    assert_ok(set(f, "b", "RelativeToNow", "100000"), 200);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    put(f, "d/a");
    assert_ok(set(f, "d/a", "RelativeToNow", "100000"), 200);
    assert_int_equal(delete_directory(f, "d", true), OK);
    put(f, "e");
    assert_ok(set(f, "e", "RelativeToNow", "100000"), 200);
    assert_int_equal(rename_path(f, "a", "e", NULL), OK);
    fixture_run_due(f);
    put(f, "f");
    assert_ok(set(f, "f", "RelativeToNow", "100000"), 200);
    assert_int_equal(rename_path(f, "f", "g", NULL), OK);
    assert_int_equal(tasks(f), 1);
}

/* Rule: the task deletes the file with its snapshots, blocks and content. */
static void files_are_deleted(void **state)
{
    struct fixture *f = *state;
    char *content = calloc(1, LARGE);
    const struct bytes large = bytes_of(content, LARGE);

    assert_ok(ask_bytes(f, "PUT /box/d/a", "x-ms-blob-type: BlockBlob", large), 201);
    assert_ok(ask(f, "PUT /box/d/a?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask_bytes(f, "PUT /box/d/a?comp=block&blockid=MQ==", NULL, large), 201);
    assert_ok(set(f, "d/a", "RelativeToNow", "1000"), 200);
    assert_ok(
        ask(f, "PUT /box/p", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 1048576", NULL),
        201);
    assert_ok(ask_bytes(f, "PUT /box/p?comp=page",
                        "x-ms-page-write: update\nx-ms-range: bytes=0-1048575", large),
              201);
    assert_ok(ask(f, "PUT /box/p?comp=snapshot", NULL, NULL), 201);
    assert_ok(set(f, "p", "RelativeToNow", "1000"), 200);
    fixture_run_due(f);
    assert_string_equal(all(f), "d d/a@ d/a p@ p");
    assert_int_not_equal(bytes_kept(f), 0);
    clock_advance(S(2));
    fixture_run_due(f);
    assert_string_equal(all(f), "d");
    assert_int_equal(bytes_kept(f), 0);
    assert_ok(ask(f, "DELETE /box/d", NULL, NULL), 202);
    free(content);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, fixture_setup_hierarchical, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(options),
        TEST(refused),
        cmocka_unit_test_setup_teardown(flat_accounts, fixture_setup, fixture_teardown),
        TEST(leases),
        TEST(expired_files_are_hidden),
        TEST(names_are_free),
        TEST(directories_of_expired_files),
        TEST(what_retains_an_expiry),
        TEST(tasks_follow),
        TEST(files_are_deleted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
