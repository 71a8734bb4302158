/* Directories and renames in a hierarchical container: blob/path_operations.h. issue 47 */
#include "listed.h"
#include "paths.h"

#define LIST "GET /box?restype=container&comp=list"

static void put(struct fixture *f, const char *name)
{
    assert_ok(askf(f, "x-ms-blob-type: BlockBlob", name, "PUT /box/%s", name), 201);
}

static const char *all(struct fixture *f)
{
    return listed(f, ask(f, LIST "&include=uncommittedblobs,snapshots", NULL, NULL));
}

static const char *header(struct fixture *f, const char *path, const char *name)
{
    struct reply got = askf(f, NULL, NULL, "HEAD /box/%s", path);

    return header_of(f, &got, name);
}

/* Rule: a directory is created with its parents; again, its contents are unchanged and it gets a new
 * ETag; a file is not replaced. */
static void directories_are_created(void **state)
{
    struct fixture *f = *state;
    const char *etag;

    assert_int_equal(create_directory(f, "a/b"), OK);
    put(f, "a/b/c");
    etag = header(f, "a/b", "ETag");
    assert_int_equal(create_directory(f, "a/b"), OK);
    assert_string_not_equal(header(f, "a/b", "ETag"), etag);
    assert_string_equal(all(f), "a a/b a/b/c");
    assert_int_equal(create_directory(f, "a/b/c"), E_PathConflict);
    assert_int_equal(create_directory(f, "a/b/c/d"), E_PathConflict);
}

/* Rule: a recursive delete hides everything at once; afterwards the name can be used again, and
 * nothing remains. decision: 1224 */
static void directories_are_deleted(void **state)
{
    struct fixture *f = *state;

    put(f, "a/b/c");
    put(f, "a/b/d/e");
    put(f, "a/f");
    put(f, "g");
    assert_ok(ask(f, "PUT /box/a/f?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /box/a/u?comp=block&blockid=MQ==", NULL, "block"), 201);
    assert_ok(
        ask(f, "PUT /box/a/p", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 512", NULL),
        201);
    assert_int_equal(delete_directory(f, "a", false), E_PathDirectoryNotEmpty);
    assert_int_equal(delete_directory(f, "a/x", true), E_BlobNotFound);
    assert_int_equal(delete_directory(f, "a", true), OK);
    assert_string_equal(all(f), "g");
    put(f, "a/b");
    assert_string_equal(all(f), "a a/b g");
    run_due(store_of(f));
    assert_string_equal(all(f), "a a/b g");
    assert_body(ask(f, "GET /box/a/b", NULL, NULL), "a/b");
    assert_ok(ask(f, "DELETE /box/a/b", NULL, NULL), 202);
    assert_ok(ask(f, "DELETE /box/g", NULL, NULL), 202);
    assert_int_equal(delete_directory(f, "a", false), OK);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: a rename does not change the record of the file, with its ETag and dates. Recorded, facts 38. */
static void files_are_renamed(void **state)
{
    struct fixture *f = *state;
    const char *etag, *created;

    put(f, "a/b");
    put(f, "c/d");
    etag = header(f, "a/b", "ETag");
    created = header(f, "a/b", "x-ms-creation-time");
    assert_int_equal(rename_path(f, "a/b", "c/e", NULL), OK);
    assert_string_equal(header(f, "c/e", "ETag"), etag);
    assert_string_equal(header(f, "c/e", "x-ms-creation-time"), created);
    assert_body(ask(f, "GET /box/c/e", NULL, NULL), "a/b");
    assert_string_equal(all(f), "a c c/d c/e");
    assert_int_equal(rename_path(f, "c/e", "c/d", NULL), OK); /* over another one */
    assert_body(ask(f, "GET /box/c/d", NULL, NULL), "a/b");
    assert_string_equal(all(f), "a c c/d");
    run_due(store_of(f));
    assert_int_equal(rename_path(f, "c/x", "c/y", NULL), E_SourcePathNotFound);
    assert_int_equal(rename_path(f, "c/d", "x/y", NULL), E_RenameDestinationParentPathNotFound);
    assert_int_equal(rename_path(f, "c/d", "c/d/e", NULL), E_PathConflict);
    assert_int_equal(rename_path(f, "c/d", "c/d", NULL), E_InvalidRenameSourcePath);
    assert_int_equal(rename_path(f, "c/d", "a", NULL), E_InvalidSourceOrDestinationResourceType);
}

/* Rule: everything below a directory moves with it, onto a new name or an empty directory. */
static void directories_are_renamed(void **state)
{
    struct fixture *f = *state;
    const char *etag;

    put(f, "a/b/c");
    put(f, "d/e");
    assert_int_equal(create_directory(f, "empty"), OK);
    etag = header(f, "a", "ETag");
    assert_int_equal(rename_path(f, "a", "d/a", NULL), OK);
    assert_string_equal(all(f), "d d/a d/a/b d/a/b/c d/e empty");
    assert_body(ask(f, "GET /box/d/a/b/c", NULL, NULL), "a/b/c");
    assert_string_equal(header(f, "d/a", "ETag"), etag);
    assert_int_equal(rename_path(f, "d/a", "empty", NULL), OK);
    assert_string_equal(all(f), "d d/e empty empty/b empty/b/c");
    assert_int_equal(rename_path(f, "d", "empty", NULL), E_PathDirectoryNotEmpty);
    assert_int_equal(rename_path(f, "d", "d/x", NULL), E_InvalidRenameSourcePath);
    assert_int_equal(rename_path(f, "d", "d/x/y", NULL), E_RenameDestinationParentPathNotFound);
    assert_int_equal(rename_path(f, "", "x", NULL), E_InvalidRenameSourcePath);
    assert_string_equal(all(f), "d d/e empty empty/b empty/b/c");
}

/* Rule: conditions and the lease of the source are checked; the lease moves with the file. */
static void sources_are_checked(void **state)
{
    struct fixture *f = *state;
    struct etag_list other = { .count = 1, .tags = { { .v = 1 } } };
    struct path_rename rename = { .source_conditions = { .given = IF_MATCH, .match = &other } };
    struct guid id;

    put(f, "a");
    assert_int_equal(rename_path(f, "a", "b", &rename), E_SourceConditionNotMet);
    assert_ok(ask(f, "PUT /box/a?comp=lease",
                  "x-ms-lease-action: acquire\nx-ms-lease-duration: -1\n"
                  "x-ms-proposed-lease-id: 11111111-1111-1111-1111-111111111111",
                  NULL),
              201);
    assert_int_equal(rename_path(f, "a", "b", NULL), E_LeaseIdMissing);
    memset(id.b, 0x11, sizeof id.b);
    assert_int_equal(rename_path(f, "a", "b", &(struct path_rename){ .source_lease = &id }), OK);
    assert_string_equal(header(f, "b", "x-ms-lease-state"), "leased");
}

/* Rule: uncommitted blocks cannot be renamed, and a file renamed to their name replaces them. */
static void uncommitted_blocks(void **state)
{
    struct fixture *f = *state;

    put(f, "a");
    assert_ok(ask(f, "PUT /box/u?comp=block&blockid=MQ==", NULL, "block"), 201);
    assert_int_equal(rename_path(f, "u", "v", NULL), E_SourcePathNotFound);
    assert_int_equal(rename_path(f, "a", "u", NULL), OK);
    assert_string_equal(all(f), "u");
    assert_ok(ask(f, "DELETE /box/u", NULL, NULL), 202);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 0);
}

static void retain(struct fixture *f, unsigned days)
{
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  textf(f,
                        "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                        "<Days>%u</Days></DeleteRetentionPolicy></StorageServiceProperties>",
                        days)),
              202);
}

/* Rule: the newest deletion that is still retained is restored, also before the task has deleted newer ones whose time
 * has ended: their retention was shorter, or the file has expired. decision: 1308 */
static void ended_deletions_are_passed_over(void **state)
{
    struct fixture *f = *state;
    char read[64];

    retain(f, 7);
    assert_int_equal(put_path(f, "f", "first"), OK);
    assert_int_equal(delete_path(f, "f"), OK);
    assert_int_equal(put_path(f, "f", "expires"), OK);
    assert_ok(ask(f, "PUT /box/f?comp=expiry",
                  "x-ms-expiry-option: RelativeToNow\nx-ms-expiry-time: 60000\n", NULL),
              200);
    assert_int_equal(delete_path(f, "f"), OK);
    retain(f, 1);
    assert_int_equal(put_path(f, "f", "second one"), OK);
    assert_int_equal(delete_path(f, "f"), OK);
    clock_advance(2 * TICKS_PER_DAY);
    assert_int_equal(undelete_path(f, "f"), OK);
    assert_int_equal(read_path(f, "f", read, sizeof read), OK);
    assert_string_equal(read, "f:5");
    assert_int_equal(delete_path(f, "f"), OK);
    clock_advance(2 * TICKS_PER_DAY);
    assert_int_equal(undelete_path(f, "f"), E_BlobNotFound);
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, fixture_setup_hierarchical, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(directories_are_created),
        TEST(directories_are_deleted),
        TEST(files_are_renamed),
        TEST(directories_are_renamed),
        TEST(sources_are_checked),
        TEST(uncommitted_blocks),
        TEST(ended_deletions_are_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
