/* Blobs of a hierarchical container: names are paths of a tree, with directories. issue 47 */
#include "listed.h"

#define LIST "GET /box?restype=container&comp=list"

static void put(struct fixture *f, const char *name)
{
    assert_ok(askf(f, "x-ms-blob-type: BlockBlob", name, "PUT /box/%s", name), 201);
}

static const char *list(struct fixture *f, const char *query)
{
    return listed(f, askf(f, NULL, NULL, LIST "&%s", query));
}

/* Rule: a blob's missing parents become directories, which are blobs without content and with
 * hdi_isfolder, as recorded (test_directory.test_get_properties). */
static void parents_are_created(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    put(f, "a/b/c");
    assert_body(ask(f, "GET /box/a/b/c", NULL, NULL), "a/b/c");
    got = ask(f, "HEAD /box/a/b", NULL, NULL);
    assert_ok(got, 200);
    assert_header(f, got, "x-ms-meta-hdi_isfolder", "true");
    assert_header(f, got, "x-ms-blob-type", "BlockBlob");
    assert_body(ask(f, "GET /box/a/b/", NULL, NULL), "");
    got = ask(f, "HEAD /box/a/b/c", NULL, NULL);
    assert_no_header(f, got, "x-ms-meta-hdi_isfolder");
    assert_answer(ask(f, "GET /box/a/x", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "GET /box/x/x/x", NULL, NULL), 404, "BlobNotFound");
}

/* Rule: leading, trailing and double slashes of a name are ignored, as recorded
 * (test_file_async.test_get_access_control_with_if_modified_since_async). A name of slashes only is
 * refused. decision: 1271 */
static void empty_segments_are_ignored(void **state)
{
    struct fixture *f = *state;

    put(f, "/a//b///c");
    assert_string_equal(list(f, ""), "a a/b a/b/c");
    assert_body(ask(f, "GET /box/a/b/c", NULL, NULL), "/a//b///c");
    assert_ok(ask(f, "HEAD /box//a//b/", NULL, NULL), 200);
    assert_answer(ask(f, "GET /box//", NULL, NULL), 400, "InvalidUri");
    assert_answer(ask(f, "GET /box///", NULL, NULL), 400, "InvalidUri");
}

/* Rule: a chain of parents that does not fit into one commit is created by several, up to the
 * documented depth. decision: 1221 */
static void deep_names(void **state)
{
    struct fixture *f = *state;
    char name[122];

    for (size_t i = 0; i < sizeof name - 1; i++)
        name[i] = i % 2 == 0 ? 'd' : '/';
    name[sizeof name - 1] = '\0';
    put(f, name);
    assert_body(askf(f, NULL, NULL, "GET /box/%s", name), name);
    assert_answer(askf(f, "x-ms-blob-type: BlockBlob", "x", "PUT /box/d/%s", name), 400,
                  "InvalidUri");
}

/* Rule: a request that is refused creates no parents, whether its conditions, its lease or its own
 * rules refuse it. */
static void refused_requests_create_nothing(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "PUT /box/a/b", "x-ms-blob-type: BlockBlob\nIf-Match: \"0x1\"", "x"), 412,
                  "ConditionNotMet");
    assert_answer(
        ask(f, "PUT /box/a/b?comp=blocklist", NULL, "<BlockList><Latest>MQ==</Latest></BlockList>"),
        400, "InvalidBlockList");
    assert_string_equal(list(f, "include=uncommittedblobs"), "");
}

/* Rule: a file is not a parent, and a directory not a file. */
static void kinds_conflict(void **state)
{
    struct fixture *f = *state;

    put(f, "a/b");
    assert_answer(ask(f, "PUT /box/a/b/c", "x-ms-blob-type: BlockBlob", "x"), 409, "PathConflict");
    assert_answer(ask(f, "GET /box/a/b/c", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "PUT /box/a", "x-ms-blob-type: BlockBlob", "x"), 409, "PathConflict");
    assert_answer(ask(f, "PUT /box/a?comp=snapshot", NULL, NULL), 400,
                  "OperationNotSupportedOnDirectory");
    assert_answer(ask(f, "PUT /box/a?comp=tier", "x-ms-access-tier: Cool", NULL), 400,
                  "OperationNotSupportedOnDirectory");
}

/* Rule: leases, ETags, metadata and conditions work on directories. */
static void directories_are_blobs(void **state)
{
    static const char id[] = "x-ms-lease-id: 11111111-1111-1111-1111-111111111111";
    struct fixture *f = *state;
    struct reply got;
    const char *etag;

    put(f, "a/b");
    got = ask(f, "HEAD /box/a", NULL, NULL);
    etag = header_of(f, &got, "ETag");
    assert_ok(
        ask(f, "PUT /box/a?comp=metadata", textf(f, "x-ms-meta-k: v\nIf-Match: %s", etag), NULL),
        200);
    got = ask(f, "HEAD /box/a", NULL, NULL);
    assert_header(f, got, "x-ms-meta-k", "v");
    assert_header(f, got, "x-ms-meta-hdi_isfolder", "true");
    assert_answer(ask(f, "PUT /box/a?comp=metadata", textf(f, "If-Match: %s", etag), NULL), 412,
                  "ConditionNotMet");
    assert_ok(ask(f, "PUT /box/a?comp=lease",
                  "x-ms-lease-action: acquire\nx-ms-lease-duration: -1\n"
                  "x-ms-proposed-lease-id: 11111111-1111-1111-1111-111111111111",
                  NULL),
              201);
    assert_answer(ask(f, "PUT /box/a?comp=metadata", NULL, NULL), 412, "LeaseIdMissing");
    assert_ok(ask(f, "PUT /box/a?comp=metadata", id, NULL), 200);
    put(f, "a/c"); /* the lease of a directory does not protect its contents */
}

/* Rule: only an empty directory is deleted by Delete Blob, and not with its snapshots, as reported
 * for the real service. decision: 1222 */
static void directories_are_deleted_when_empty(void **state)
{
    struct fixture *f = *state;

    put(f, "a/b/c");
    assert_answer(ask(f, "DELETE /box/a", NULL, NULL), 409, "DirectoryIsNotEmpty");
    assert_answer(ask(f, "DELETE /box/a/b", "x-ms-delete-snapshots: include", NULL), 400,
                  "OperationNotSupportedOnDirectory");
    assert_ok(ask(f, "DELETE /box/a/b/c", NULL, NULL), 202);
    assert_answer(ask(f, "GET /box/a/b/c", NULL, NULL), 404, "BlobNotFound");
    assert_ok(ask(f, "DELETE /box/a/b", NULL, NULL), 202);
    assert_ok(ask(f, "DELETE /box/a", NULL, NULL), 202);
    assert_string_equal(list(f, ""), "");
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: Put Blob without bytes and with hdi_isfolder creates a directory, as clients of hierarchical accounts do
 * (azcopy, rclone with directory markers); again, it replaces the metadata. decision: 1226 */
static void directories_are_put(void **state)
{
    static const char folder[] =
        "x-ms-blob-type: BlockBlob\nx-ms-meta-hdi_isfolder: true\nx-ms-meta-k: v";
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, "PUT /box/a/b/", folder, NULL), 201);
    assert_ok(ask(f, "PUT /box/a/b", folder, NULL), 201);
    put(f, "a/b/c");
    assert_string_equal(list(f, ""), "a a/b a/b/c");
    got = ask(f, "HEAD /box/a/b", NULL, NULL);
    assert_header(f, got, "x-ms-meta-hdi_isfolder", "true");
    assert_header(f, got, "x-ms-meta-k", "v");
    assert_answer(ask(f, "PUT /box/a/b/c", folder, NULL), 409, "PathConflict");
    assert_ok(ask(f, "PUT /box/f", folder, "x"), 201); /* it has bytes */
    assert_body(ask(f, "GET /box/f", NULL, NULL), "x");
}

/* Rule: blobs are written in steps, overwritten and snapshotted as in a flat container. */
static void blobs_work_as_before(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/x/y?comp=block&blockid=MQ==", NULL, "one"), 201);
    assert_string_equal(list(f, ""), "x");
    assert_string_equal(list(f, "include=uncommittedblobs"), "x x/y");
    assert_answer(ask(f, "GET /box/x/y", NULL, NULL), 404, "BlobNotFound");
    assert_ok(
        ask(f, "PUT /box/x/y?comp=blocklist", NULL, "<BlockList><Latest>MQ==</Latest></BlockList>"),
        201);
    assert_body(ask(f, "GET /box/x/y", NULL, NULL), "one");
    assert_ok(ask(f, "PUT /box/x/y?comp=snapshot", NULL, NULL), 201);
    put(f, "x/y");
    assert_string_equal(list(f, "include=snapshots"), "x x/y@ x/y");
    assert_answer(ask(f, "DELETE /box/x/y", NULL, NULL), 409, "SnapshotsPresent");
    assert_ok(ask(f, "DELETE /box/x/y", "x-ms-delete-snapshots: include", NULL), 202);
    assert_ok(ask(f, "DELETE /box/x", NULL, NULL), 202);
    assert_string_equal(list(f, "include=snapshots,uncommittedblobs"), "");
}

static void put_tree(struct fixture *f)
{
    static const char *const names[] = { "a/1", "a/2/3", "a/2/4", "a-b", "b/1", "c" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put(f, names[i]);
}

/* Rule: a list has a directory before its contents, and these before the next name. */
static void listed_depth_first(void **state)
{
    struct fixture *f = *state;

    put_tree(f);
    assert_string_equal(list(f, ""), "a a/1 a/2 a/2/3 a/2/4 a-b b b/1 c");
    assert_string_equal(list(f, "prefix=a"), "a a/1 a/2 a/2/3 a/2/4 a-b");
    assert_string_equal(list(f, "prefix=a/"), "a/1 a/2 a/2/3 a/2/4");
    assert_string_equal(list(f, "prefix=a/2/4"), "a/2/4");
    assert_string_equal(list(f, "prefix=a/2/5"), "");
    assert_string_equal(list(f, "prefix=x/y"), "");
    assert_string_equal(list(f, "delimiter=/"), "[a/] a-b [b/] c");
    assert_string_equal(list(f, "delimiter=/&prefix=a/"), "a/1 [a/2/]");
    assert_string_equal(list(f, "delimiter=/&prefix=a"), "[a/] a-b");
    assert_string_equal(list(f, "delimiter=/&prefix=a/2/"), "a/2/3 a/2/4");
    assert_string_equal(list(f, "startfrom=a/2/4"), "a/2/4 a-b b b/1 c");
    assert_string_equal(list(f, "startfrom=a/2/&endbefore=b/1"), "a/2 a/2/3 a/2/4 a-b b");
    assert_string_equal(list(f, "delimiter=-"), "a a/1 a/2 a/2/3 a/2/4 [a-] b b/1 c");
}

/* Rule: pages of every size have every name once, although the name at which a page starts is
 * deleted in between. */
static void pages_continue_after_deletes(void **state)
{
    struct fixture *f = *state;

    put_tree(f);
    for (unsigned max = 1; max < 10; max++) {
        struct reply page = askf(f, NULL, NULL, LIST "&maxresults=%u", max);
        const char *all = "";

        for (;;) {
            const char *names = listed(f, page), *marker = next_marker(f, page);

            all = textf(f, "%s%.*s ", all,
                        (int)(strstr(names, "...") ? strlen(names) - 4 : strlen(names)), names);
            if (!*marker)
                break;
            page = askf(f, NULL, NULL, LIST "&maxresults=%u&marker=%s", max, marker);
        }
        assert_string_equal(all, "a a/1 a/2 a/2/3 a/2/4 a-b b b/1 c ");
    }
    {
        struct reply page = ask(f, LIST "&maxresults=3", NULL, NULL); /* the next one is a/2/3 */
        const char *marker = next_marker(f, page);

        assert_ok(ask(f, "DELETE /box/a/2/3", NULL, NULL), 202);
        assert_ok(ask(f, "DELETE /box/a/2/4", NULL, NULL), 202);
        assert_ok(ask(f, "DELETE /box/a/2", NULL, NULL), 202);
        assert_string_equal(listed(f, askf(f, NULL, NULL, LIST "&marker=%s", marker)),
                            "a-b b b/1 c");
    }
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, fixture_setup_hierarchical, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(parents_are_created),
        TEST(empty_segments_are_ignored),
        TEST(deep_names),
        TEST(refused_requests_create_nothing),
        TEST(kinds_conflict),
        TEST(directories_are_blobs),
        TEST(directories_are_deleted_when_empty),
        TEST(directories_are_put),
        TEST(blobs_work_as_before),
        TEST(listed_depth_first),
        TEST(pages_continue_after_deletes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
