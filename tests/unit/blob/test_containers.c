/* Create Container, Get Container Properties and Metadata, Set Container Metadata, Delete
 * Container, Get Account Information. */
#include "blob/container_operations.h"

#include "fixture.h"

#define NEW "PUT /new?restype=container"

/* Rule: a container is created once, with metadata and public access, and answers ETag and
 * Last-Modified. rest: Create-Container */
static void created_once(void **state)
{
    struct fixture *f = *state;
    struct reply made, got;

    made = ask(f, NEW, "x-ms-meta-Owner: me\nx-ms-blob-public-access: blob", NULL);
    assert_ok(made, 201);
    assert_non_null(header_of(f, &made, "Last-Modified"));
    got = ask(f, "GET /new?restype=container", NULL, NULL);
    assert_ok(got, 200);
    assert_int_equal(got.body.len, 0);
    assert_header(f, got, "ETag", header_of(f, &made, "ETag"));
    assert_header(f, got, "Last-Modified", header_of(f, &made, "Last-Modified"));
    assert_header(f, got, "x-ms-meta-Owner", "me");
    assert_header(f, got, "x-ms-blob-public-access", "blob");
    assert_answer(ask(f, NEW, NULL, NULL), 409, "ContainerAlreadyExists");
}

/* Rule: what the recordings of Get Container Properties have, and nothing a version does not know.
 * recorded, 2018-11-09: test_container.test_container_exists */
static void properties_by_version(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    got = ask(f, "HEAD /box?restype=container", "x-ms-version: 2018-11-09", NULL);
    assert_ok(got, 200);
    assert_header(f, got, "x-ms-has-immutability-policy", "false");
    assert_header(f, got, "x-ms-has-legal-hold", "false");
    assert_header(f, got, "x-ms-lease-state", "available");
    assert_header(f, got, "x-ms-lease-status", "unlocked");
    assert_no_header(f, got, "x-ms-lease-duration");
    assert_no_header(f, got, "x-ms-blob-public-access");
    assert_no_header(f, got, "x-ms-default-encryption-scope");
    got = ask(f, "GET /box?restype=container", "x-ms-version: 2015-12-11", NULL);
    assert_ok(got, 200);
    assert_no_header(f, got, "x-ms-has-legal-hold");
    got = ask(f, "GET /box?restype=container", NULL, NULL);
    assert_header(f, got, "x-ms-default-encryption-scope", "$account-encryption-key");
    assert_header(f, got, "x-ms-deny-encryption-scope-override", "false");
    assert_header(f, got, "x-ms-immutable-storage-with-versioning-enabled", "false");
}

/* Rule: Set Container Metadata replaces all metadata and changes the ETag; If-Modified-Since is
 * the one condition it takes. rest: Set-Container-Metadata; semantics 2.1 */
static void metadata_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct reply first, second, got;

    first =
        ask(f, "PUT /box?restype=container&comp=metadata", "x-ms-meta-a: 1\nx-ms-meta-b: 2", NULL);
    assert_ok(first, 200);
    second = ask(f, "PUT /box?restype=container&comp=metadata", "x-ms-meta-C: 3", NULL);
    assert_ok(second, 200);
    assert_true(strcmp(header_of(f, &second, "ETag"), header_of(f, &first, "ETag")) > 0);
    got = ask(f, "GET /box?restype=container&comp=metadata", NULL, NULL);
    assert_ok(got, 200);
    assert_header(f, got, "ETag", header_of(f, &second, "ETag"));
    assert_header(f, got, "x-ms-meta-C", "3");
    assert_no_header(f, got, "x-ms-meta-a");
    assert_no_header(f, got, "x-ms-lease-state");

    assert_answer(ask(f, "PUT /box?restype=container&comp=metadata", "x-ms-meta-1: 1", NULL), 400,
                  "InvalidMetadata");
    assert_answer(ask(f, "PUT /box?restype=container&comp=metadata",
                      textf(f, "If-Modified-Since: %s", header_of(f, &got, "Last-Modified")), NULL),
                  412, "ConditionNotMet");
    got = ask(f, "HEAD /box?restype=container&comp=metadata", NULL, NULL);
    assert_header(f, got, "x-ms-meta-C", "3");
}

/* Rule: a deleted container is gone at once with all blobs, and a new one of its name starts empty
 * at once. rest: Delete-Container; design 4, "space" */
static void deleted_and_made_again(void **state)
{
    static char large[100000]; /* not inline in the record */
    struct fixture *f = *state;
    struct reply gone, got;

    assert_ok(
        ask_bytes(f, "PUT /box/b", "x-ms-blob-type: BlockBlob", bytes_of(large, sizeof large)),
        201);
    assert_true(bytes_kept(f) > 0);
    assert_ok(ask(f, "PUT /box/b?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1",
                  NULL),
              201);
    gone = ask(f, "DELETE /box?restype=container", NULL, NULL);
    assert_ok(gone, 202);
    assert_no_header(f, gone, "ETag");
    assert_answer(ask(f, "GET /box?restype=container", NULL, NULL), 404, "ContainerNotFound");
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "ContainerNotFound");
    assert_answer(ask(f, "GET /box?restype=container&comp=list", NULL, NULL), 404,
                  "ContainerNotFound");

    assert_ok(ask(f, "PUT /box?restype=container", NULL, NULL), 201);
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_int_equal(bytes_kept(f), 0);
    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: BlockBlob", "new"), 201);
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_body(got, "new");
}

static bool deletion_is_noted(struct fixture *f)
{
    struct partition at = { .space = blob_account_space(bytes_from_string(DEVELOPMENT_ACCOUNT)),
                            .key = bytes_from_string("box") };
    struct bytes note = bytes_from_string("d");
    struct read_view *snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct arena *arena = arena_new(SIZE_MAX);
    struct record record;
    enum store_result result = read_view_get(snapshot, RECORD_INNER, note, arena, &record);

    arena_free(arena);
    read_view_close(snapshot);
    return result == STORE_OK;
}

/* Rule: a container that was deleted less than 30 seconds ago can be deleted again, and nothing
 * else; a lease id fits none. What is remembered of it is forgotten. Delete-Container;
 * decision: 62 */
static void deleted_twice(void **state)
{
    static const char id[] = "x-ms-lease-id: 3c7e72ef-6d0a-4a0e-9f3e-aaaaaaaaaaaa";
    struct fixture *f = *state;

    assert_answer(ask(f, "DELETE /other?restype=container", NULL, NULL), 404, "ContainerNotFound");
    for (int i = 0; i < 2; i++) {
        assert_ok(ask(f, "DELETE /box?restype=container", NULL, NULL), 202);
        assert_answer(ask(f, "PUT /box?restype=container&comp=metadata", NULL, NULL), 404,
                      "ContainerNotFound");
        assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 404, "ContainerNotFound");
    }
    assert_answer(ask(f, "DELETE /box?restype=container", id, NULL), 412,
                  "LeaseNotPresentWithContainerOperation");

    clock_advance(20 * TICKS_PER_SECOND);
    assert_ok(ask(f, "PUT /box?restype=container", NULL, NULL), 201);
    assert_ok(ask(f, "DELETE /box?restype=container", NULL, NULL), 202);
    clock_advance(20 * TICKS_PER_SECOND);
    run_due(store_of(f)); /* the item of the first deletion: the second is remembered still */
    assert_true(deletion_is_noted(f));
    assert_ok(ask(f, "DELETE /box?restype=container", NULL, NULL), 202);
    clock_advance(11 * TICKS_PER_SECOND);
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 404, "ContainerNotFound");
    run_due(store_of(f));
    assert_false(deletion_is_noted(f));
}

static void no_begin(struct blob_sink *sink, instant now)
{
    (void)sink;
    (void)now;
}

/* Rule: whoever has found a container that is then deleted is told that it does not exist, and not
 * that there are no blobs in it: the decision is made again. Delete-Container; store invariant 1 */
static void deleted_while_located(void **state)
{
    static subject_fn *const subjects[] = { blob_subject, blob_subject_optional,
                                            blob_subject_uncommitted };
    struct fixture *f = *state;
    struct blob_resource asked = { .base.level = LEVEL_BLOB, BYTES("box"), BYTES("b"), { 0 } };
    struct input input = { .account = BYTES(DEVELOPMENT_ACCOUNT), .resource = &asked.base };
    struct arena *arena = arena_new((size_t)1 << 20);
    struct decision d = { .input = &input,
                          .level = LEVEL_BLOB,
                          .arena = arena,
                          .store = store_of(f),
                          .access = STORE_MAY_BLOCK };
    struct blob_sink sink = { .begin = no_begin };
    struct list_blobs_parameters listed = { .listing.max = 1, .sink = &sink };
    struct list_blobs_result result = { .base.now = 0 };
    struct partition partition;

    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: BlockBlob", "text"), 201);
    assert_int_equal(blob_locate(&d, &partition), OK);
    assert_ok(ask(f, "DELETE /box?restype=container", NULL, NULL), 202);
    d.before = read_view_open(d.store, partition, STORE_MAY_BLOCK);
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        assert_int_equal(subjects[i](&d), DECIDE_AGAIN);
    assert_int_equal(list_blobs_decide(&d, &listed, &result), DECIDE_AGAIN);
    assert_int_equal(blob_locate(&d, &partition), E_ContainerNotFound);
    read_view_close(d.before);
    arena_free(arena);
}

/* Rule: a leased container is deleted with its lease id only; everything else goes without.
 * semantics 3.4 */
static void delete_needs_the_lease(void **state)
{
    static const char lease[] = "x-ms-lease-id: 11111111-1111-1111-1111-111111111111";
    static const char other[] = "x-ms-lease-id: 22222222-2222-2222-2222-222222222222";
    struct fixture *f = *state;

    assert_answer(ask(f, "DELETE /box?restype=container", lease, NULL), 412,
                  "LeaseNotPresentWithContainerOperation");
    assert_ok(ask(f, "PUT /box?restype=container&comp=lease",
                  "x-ms-lease-action: acquire\nx-ms-lease-duration: 60\n"
                  "x-ms-proposed-lease-id: 11111111-1111-1111-1111-111111111111",
                  NULL),
              201);
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 412, "LeaseIdMissing");
    assert_answer(ask(f, "DELETE /box?restype=container", other, NULL), 412,
                  "LeaseIdMismatchWithContainerOperation");
    assert_ok(ask(f, "PUT /box?restype=container&comp=metadata", "x-ms-meta-a: 1", NULL), 200);
    assert_answer(ask(f, "GET /box?restype=container", other, NULL), 412,
                  "LeaseIdMismatchWithContainerOperation");
    assert_ok(ask(f, "DELETE /box?restype=container", lease, NULL), 202);
}

/* Rule: names are 3 to 63 of a-z, 0-9 and single dashes, or one of the service's own.
 * rest: Naming-and-Referencing-Containers--Blobs--and-Metadata */
static void names_are_checked(void **state)
{
    static const struct {
        const char *name;
        const char *code;
    } wrong[] = {
        { "ab", "OutOfRangeInput" },
        { "Upper", "InvalidResourceName" },
        { "a--b", "InvalidResourceName" },
        { "-ab", "InvalidResourceName" },
        { "ab-", "InvalidResourceName" },
        { "$own", "InvalidResourceName" },
        { "a.b", "InvalidResourceName" },
        { "a123456789b123456789c123456789d123456789e123456789f123456789g123", "OutOfRangeInput" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_answer(askf(f, NULL, NULL, "PUT /%s?restype=container", wrong[i].name), 400,
                      wrong[i].code);
    assert_ok(ask(f, "PUT /$root?restype=container", NULL, NULL), 201);
    assert_ok(ask(f, "PUT /a1-b?restype=container", NULL, NULL), 201);
}

/* Rule: what cannot be honoured is refused. promise 5 */
static void unknown_access_and_scopes_are_refused(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, NEW, "x-ms-blob-public-access: all", NULL), 400, "InvalidHeaderValue");
    assert_answer(ask(f, NEW, "x-ms-default-encryption-scope: mine", NULL), 409,
                  "EncryptionScopeNotAvailable");
    assert_answer(ask(f, NEW, "x-ms-deny-encryption-scope-override: perhaps", NULL), 400,
                  "InvalidHeaderValue");
    assert_ok(ask(f, NEW,
                  "x-ms-default-encryption-scope: $account-encryption-key\n"
                  "x-ms-deny-encryption-scope-override: false",
                  NULL),
              201);
}

/* Rule: the account's kind and SKU, asked at every level. rest: Get-Account-Information; recorded
 * header names, 2018-11-09 */
static void account_is_described(void **state)
{
    static const char *const targets[] = { "HEAD /", "GET /", "GET /box", "HEAD /box/b" };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        struct reply got = askf(f, NULL, NULL, "%s?restype=account&comp=properties", targets[i]);

        assert_ok(got, 200);
        assert_header(f, got, "x-ms-sku-name", "Standard_LRS");
        assert_header(f, got, "x-ms-account-kind", "StorageV2");
        assert_header(f, got, "x-ms-is-hns-enabled", "false");
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(created_once),
        TEST(properties_by_version),
        TEST(metadata_is_replaced),
        TEST(deleted_and_made_again),
        TEST(deleted_twice),
        TEST(deleted_while_located),
        TEST(delete_needs_the_lease),
        TEST(names_are_checked),
        TEST(unknown_access_and_scopes_are_refused),
        TEST(account_is_described),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
