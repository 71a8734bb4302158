/* Soft delete of blobs: what is kept, shown, restored, and gone in the end.
 * rest: Delete-Blob, Undelete-Blob, Set-Blob-Service-Properties; "Soft delete for blobs"; decisions: 790-793 */
#include <stdlib.h>

#include "base/clock.h"
#include "listed.h"

#define MANY       40
#define PUT        "x-ms-blob-type: BlockBlob"
#define LIST       "GET /box?restype=container&comp=list&include=snapshots"
#define LIST_ALL   LIST ",deleted"
#define PROPERTIES "/?restype=service&comp=properties"

static int setup(void **state)
{
    int result = fixture_setup(state);

    fixture_hold_tasks(*state);
    return result;
}

static void keep(struct fixture *f, unsigned days, const char *permanent)
{
    const char *policy = days > 0 ? textf(f, "<Enabled>true</Enabled><Days>%u</Days>", days)
                                  : "<Enabled>false</Enabled>";

    assert_ok(ask(f, "PUT " PROPERTIES, NULL,
                  textf(f,
                        "<StorageServiceProperties><DeleteRetentionPolicy>%s%s"
                        "</DeleteRetentionPolicy></StorageServiceProperties>",
                        policy, permanent)),
              202);
}

static const char *take(struct fixture *f)
{
    struct reply got = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);

    assert_ok(got, 201);
    return header_of(f, &got, "x-ms-snapshot");
}

static void put(struct fixture *f, const char *content)
{
    assert_ok(ask(f, "PUT /box/b", PUT, content), 201);
}

/* Entries of the list with all: "b" and "b@", with a "-" before what is soft-deleted. */
static const char *all(struct fixture *f)
{
    struct reply got = ask(f, LIST_ALL, NULL, NULL);
    const struct xml_node *root = document(f, got, "EnumerationResults");
    const struct xml_node *blob = xml_child(root, "Blobs")->first_child;
    const char *text = "";

    for (; blob; blob = blob->next)
        text =
            textf(f, "%s%s%s%.*s%s", text, *text ? " " : "", xml_child(blob, "Deleted") ? "-" : "",
                  BYTES_ARG(xml_child(blob, "Name")->text), xml_child(blob, "Snapshot") ? "@" : "");
    return text;
}

static void pass_days(unsigned days)
{
    clock_advance(days * TICKS_PER_DAY + TICKS_PER_SECOND);
}

#define UNDELETE "PUT /box/b?comp=undelete"

/* Rule: a blob that is deleted and kept is nowhere but in lists that ask for it, and comes back as it was, without
 * its lease. recorded: test_soft_delete_with_leased_blob */
static void a_blob_comes_back_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct reply made, got;

    keep(f, 2, "");
    made =
        ask(f, "PUT /box/b", PUT "\nx-ms-meta-a: b\nx-ms-tags: t=1\nx-ms-access-tier: Cool", "x");
    assert_ok(made, 201);
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AA%3D%3D", NULL, "staged"), 201);
    assert_ok(ask(f, "PUT /box/b?comp=lease",
                  "x-ms-lease-action: acquire\nx-ms-lease-duration: -1\n"
                  "x-ms-proposed-lease-id: 11111111-1111-1111-1111-111111111111",
                  NULL),
              201);
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 412, "LeaseIdMissing");
    got = ask(f, "DELETE /box/b", "x-ms-lease-id: 11111111-1111-1111-1111-111111111111", NULL);
    assert_ok(got, 202);
    assert_header(f, got, "x-ms-delete-type-permanent", "false");

    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "PUT /box/b?comp=metadata", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "GET /box/b?comp=blocklist&blocklisttype=all", NULL, NULL), 404,
                  "BlobNotFound");
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "");
    assert_string_equal(listed(f, ask(f, "GET /?comp=blobs&where=t%3D%271%27", NULL, NULL)), "");
    assert_string_equal(all(f), "-b");
    got = ask(f, LIST_ALL, NULL, NULL);
    assert_string_equal(first_text(f, got, "RemainingRetentionDays"), "1");
    assert_null(first_text(f, got, "LeaseStatus"));
    assert_string_equal(first_text(f, got, "AccessTier"), "Cool");

    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    assert_string_equal(all(f), "b");
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_body(got, "x");
    assert_header(f, got, "etag", header_of(f, &made, "etag"));
    assert_header(f, got, "x-ms-meta-a", "b");
    assert_header(f, got, "x-ms-lease-state", "available");
    assert_string_equal(listed(f, ask(f, "GET /?comp=blobs&where=t%3D%271%27", NULL, NULL)), "b");
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200); /* changes nothing */
    assert_answer(ask(f, "PUT /box/other?comp=undelete", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, UNDELETE, "x-ms-undelete-source: b?deletionid=1", NULL), 400,
                  "UnsupportedHeader");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    pass_days(2);
    assert_string_equal(all(f), "");
    assert_answer(ask(f, UNDELETE, NULL, NULL), 404, "BlobNotFound");
    assert_nothing_is_left(f);
}

/* Rule: soft-deleted snapshots do not keep a blob from being deleted; all come back with it.
 * recorded: test_soft_delete_single_blob_snapshot, test_soft_delete_blob_including_all_snapshots */
static void snapshots_come_back(void **state)
{
    struct fixture *f = *state;
    const char *first, *second;

    keep(f, 2, "");
    put(f, "old");
    first = take(f);
    put(f, "new"); /* keeps "old" once more */
    second = take(f);
    assert_string_equal(all(f), "b@ -b@ b@ b");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", first), 202);
    assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", first), 404, "BlobNotFound");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", first), 404, "BlobNotFound");
    assert_string_equal(all(f), "-b@ -b@ b@ b");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 202);
    assert_string_equal(all(f), "-b@ -b@ -b@ b");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_string_equal(all(f), "-b@ -b@ -b@ -b");
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "");
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    assert_string_equal(all(f), "b@ b@ b@ b");
    assert_body(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", first), "old");
    assert_body(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", second), "new");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_string_equal(all(f), "-b@ -b@ -b@ -b");
    pass_days(2);
    assert_nothing_is_left(f);
}

/* Rule: what takes the place of a soft-deleted blob of its type makes it a snapshot; one of another type ends all of
 * it. "Soft delete for blobs", table of operations */
static void a_name_is_used_again(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    keep(f, 2, "");
    assert_ok(ask(f, "PUT /box/b", PUT "\nx-ms-access-tier: Cool", "one"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_ok(ask(f, "PUT /box/b", PUT "\nIf-None-Match: *", "two"), 201);
    assert_string_equal(all(f), "-b@ b");
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-access-tier", "Cool");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_string_equal(all(f), "-b@ -b");
    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: AppendBlob", NULL), 201);
    assert_string_equal(all(f), "b");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AA%3D%3D", NULL, "staged"), 201);
    assert_string_equal(all(f), "-b@");
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202); /* what was staged */
    assert_string_equal(all(f), "-b@");
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    assert_string_equal(all(f), "b@");
    put(f, "three");
    assert_string_equal(all(f), "b@ b");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    pass_days(2);
    assert_nothing_is_left(f);
}

/* Rule: blocks that a list takes over from a blob stay with what is kept of it. content_run.c */
static void blocks_are_shared_with_what_is_kept(void **state)
{
    struct fixture *f = *state;
    const char *list = "<BlockList><Latest>AAA=</Latest><Latest>AQA=</Latest></BlockList>";
    char *large = calloc(1, 100001);
    const char *snapshot;

    memset(large, 'a', 100000);
    keep(f, 5, "");
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AAA%3D", NULL, large), 201);
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AQA%3D", NULL, large), 201);
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", NULL, list), 201);
    large[0] = 'b';
    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=AQA%3D", NULL, large), 201);
    assert_ok(ask(f, "PUT /box/b?comp=blocklist", NULL, list), 201);
    free(large);
    assert_int_equal(bytes_kept(f), 300000);
    assert_string_equal(all(f), "-b@ b");
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    snapshot = first_text(f, ask(f, LIST, NULL, NULL), "Snapshot");
    assert_int_equal(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", snapshot).body.len, 200000);
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", snapshot), 202);
    pass_days(5);
    run_due(store_of(f));
    assert_int_equal(bytes_kept(f), 200000);
    assert_int_equal(ask(f, "GET /box/b", NULL, NULL).body.len, 200000);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    pass_days(5);
    assert_nothing_is_left(f);
}

static void write_page(struct fixture *f, unsigned page, char with)
{
    char bytes[512];

    memset(bytes, with, sizeof bytes);
    assert_ok(ask_bytes(f, "PUT /box/b?comp=page",
                        textf(f, "x-ms-page-write: update\nx-ms-range: bytes=%u-%u", 512 * page,
                              512 * page + 511),
                        bytes_of(bytes, sizeof bytes)),
              201);
}

/* Rule: a page blob that is overwritten keeps its pages. sparse.h */
static void pages_are_kept(void **state)
{
    static const char create[] = "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 8192";
    struct fixture *f = *state;
    const char *snapshot;
    struct reply got;

    keep(f, 5, "");
    assert_ok(ask(f, "PUT /box/b", create, NULL), 201);
    write_page(f, 1, 'A');
    snapshot = take(f);
    write_page(f, 2, 'B');
    assert_ok(ask(f, "PUT /box/b", create, NULL), 201);
    write_page(f, 3, 'C');
    run_due(store_of(f));
    assert_string_equal(all(f), "b@ -b@ b");
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    got = ask(f, LIST "&maxresults=1", NULL, NULL);
    got = askf(f, NULL, NULL, LIST "&maxresults=1&marker=%s", next_marker(f, got));
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", first_text(f, got, "Snapshot"));
    assert_int_equal(got.body.len, 8192);
    assert_int_equal(got.body.ptr[512], 'A');
    assert_int_equal(got.body.ptr[1024], 'B');
    assert_int_equal(got.body.ptr[1536], 0);
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", snapshot);
    assert_int_equal(got.body.ptr[1024], 0);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_int_equal(got.body.ptr[1536], 'C');
    assert_int_equal(got.body.ptr[1024], 0);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    pass_days(5);
    assert_nothing_is_left(f);
}

/* Rule: many snapshots are deleted and restored by commits of bounded size, which show at once, before the task has
 * come to them and behind it. decision: 792 */
static void many_snapshots(void **state)
{
    struct fixture *f = *state;
    const char *times[MANY];

    keep(f, 2, "");
    put(f, "x");
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < MANY / 2; i++)
            times[i] = take(f);
        assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 202);
        assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "b");
        for (unsigned i = 0; i < MANY / 2; i++)
            assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[i]), 404,
                          "BlobNotFound");
        assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
        assert_null(strstr(all(f), "-"));
        assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
        assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", times[1]), 202);
        assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[1]), 404, "BlobNotFound");
        assert_body(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[2]), "x");
        if (round == 0)
            run_due(store_of(f));
        assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[1]), 404, "BlobNotFound");
        assert_body(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[2]), "x");
        assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
        assert_body(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", times[1]), "x");
    }
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_string_equal(listed(f, ask(f, LIST, NULL, NULL)), "");
    run_due(store_of(f));
    assert_null(strstr(all(f), " b"));
    pass_days(2);
    assert_string_equal(all(f), "");
    assert_nothing_is_left(f);
}

/* Rule: so many such changes may be under way; who comes then tries later. */
static void changes_under_way_are_bounded(void **state)
{
    struct fixture *f = *state;
    unsigned refused = 0;

    keep(f, 2, "");
    put(f, "x");
    for (unsigned i = 0; i < MANY; i++)
        (void)take(f);
    for (unsigned i = 0; i < 10; i++) {
        struct reply got = i % 2 ? ask(f, UNDELETE, NULL, NULL)
                                 : ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL);

        refused += got.status == 503;
    }
    assert_int_equal(refused, 1); /* then there is nothing to be restored */
    run_due(store_of(f));
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    pass_days(2);
    assert_nothing_is_left(f);
}

/* Rule: each is kept for as long as the policy said when it was deleted, whatever it says later, and also when its
 * base is gone for good. "Soft delete for blobs", "Configuration settings" */
static void each_has_its_days(void **state)
{
    struct fixture *f = *state;

    keep(f, 9, "");
    put(f, "one");
    put(f, "two");
    keep(f, 2, "");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_string_equal(all(f), "-b@ -b");
    pass_days(2);
    assert_string_equal(all(f), "-b@");
    run_due(store_of(f));
    assert_string_equal(all(f), "-b@");
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 404,
                  "BlobNotFound");
    keep(f, 0, "");
    put(f, "three");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202); /* for good */
    assert_string_equal(all(f), "-b@");
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    assert_string_equal(all(f), "b@");
    assert_body(askf(f, NULL, NULL, "GET /box/b?snapshot=%s",
                     first_text(f, ask(f, LIST, NULL, NULL), "Snapshot")),
                "one");
    put(f, "four");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    pass_days(9);
    assert_nothing_is_left(f);
}

/* Rule: where the account allows it, a soft-deleted snapshot is deleted for good. rest: Delete-Blob "Permanent
 * delete" */
static void permanent_delete(void **state)
{
    struct fixture *f = *state;
    const char *snapshot;
    struct reply got;

    keep(f, 2, "");
    put(f, "x");
    snapshot = take(f);
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s&deletetype=permanent", snapshot),
                  409, "PermanentDeleteIsOff");
    keep(f, 2, "<AllowPermanentDelete>true</AllowPermanentDelete>");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s&deletetype=permanent", snapshot),
                  409, "BlobSnapshotNotSoftDeleted");
    assert_answer(ask(f, "DELETE /box/b?deletetype=permanent", NULL, NULL), 409,
                  "BlobSnapshotNotSoftDeleted");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s&deletetype=soft", snapshot), 400,
                  "InvalidQueryParameterValue");
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", snapshot), 202);
    got = askf(f, NULL, NULL, "HEAD /box/b?snapshot=%s", snapshot); /* decision: 856 */
    assert_answer(got, 404, "BlobNotFound");
    assert_header(f, got, "x-ms-is-soft-deleted", "true");
    got = askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s&deletetype=permanent", snapshot);
    assert_ok(got, 202);
    assert_header(f, got, "x-ms-delete-type-permanent", "true");
    assert_string_equal(all(f), "b");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s&deletetype=permanent", snapshot),
                  404, "BlobNotFound");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    pass_days(2);
    assert_nothing_is_left(f);
}

/* Rule: an archived blob comes back to its tier also while it is deleted. */
static void tiers_come_back_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    keep(f, 9, "");
    put(f, "x");
    assert_ok(ask(f, "PUT /box/b?comp=tier", "x-ms-access-tier: Archive", NULL), 200);
    assert_ok(ask(f, "PUT /box/b?comp=tier", "x-ms-access-tier: Cool", NULL), 202);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    pass_days(1);
    run_due(store_of(f));
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-access-tier", "Cool");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    pass_days(9);
    assert_nothing_is_left(f);
}

/* Rule: a snapshot that is restored after its blob has expired, but before the task of the expiry has run, is one of
 * the blob that is put next. */
static void a_snapshot_outlives_its_expired_blob(void **state)
{
    struct fixture *f = *state;

    keep(f, 5, "");
    put(f, "first");
    put(f, "second");
    keep(f, 1, "");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    pass_days(1);
    assert_ok(ask(f, UNDELETE, NULL, NULL), 200);
    put(f, "third");
    assert_string_equal(all(f), "b@ b");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    pass_days(10);
    assert_nothing_is_left(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_blob_comes_back_as_it_was),
        TEST(snapshots_come_back),
        TEST(a_name_is_used_again),
        TEST(blocks_are_shared_with_what_is_kept),
        TEST(pages_are_kept),
        TEST(many_snapshots),
        TEST(changes_under_way_are_bounded),
        TEST(each_has_its_days),
        TEST(permanent_delete),
        TEST(tiers_come_back_meanwhile),
        TEST(a_snapshot_outlives_its_expired_blob),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
