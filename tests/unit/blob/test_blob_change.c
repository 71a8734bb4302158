/* What changes a blob without its content: properties, metadata, snapshots, deletion. */
#include "fixture.h"

#include <stdlib.h>

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"

static const char *etag_of(struct fixture *f, const char *target)
{
    struct reply got = ask(f, target, NULL, NULL);

    assert_ok(got, 200);
    return header_of(f, &got, "ETag");
}

/* Rule: Set Blob Properties sets all of them: one that is not sent is cleared, also the MD5 and the
 * type. rest: Set-Blob-Properties */
static void properties_are_set_together(void **state)
{
    struct fixture *f = *state;
    struct reply set, got;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-meta-a: 1", "hello"), 201);
    set = ask(f, "PUT /box/b?comp=properties",
              "x-ms-blob-content-language: de\nx-ms-blob-cache-control: no-cache\n"
              "x-ms-blob-content-encoding: gzip\nx-ms-blob-content-disposition: inline\n"
              "x-ms-blob-content-type: a/b\nx-ms-blob-content-md5: AAAAAAAAAAAAAAAAAAAAAA==",
              NULL);
    assert_ok(set, 200);
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_string_equal(header_of(f, &got, "ETag"), header_of(f, &set, "ETag"));
    assert_header(f, got, "Content-Language", "de");
    assert_header(f, got, "Cache-Control", "no-cache");
    assert_header(f, got, "Content-Encoding", "gzip");
    assert_header(f, got, "Content-Disposition", "inline");
    assert_header(f, got, "Content-Type", "a/b");
    assert_header(f, got, "Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA==");
    assert_header(f, got, "x-ms-meta-a", "1");
    assert_body(got, "hello");

    assert_ok(ask(f, "PUT /box/b?comp=properties", "Content-Type: x/y", NULL), 200);
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_no_header(f, got, "Content-Language");
    assert_no_header(f, got, "Content-Type");
    assert_no_header(f, got, "Content-MD5");
    assert_answer(ask(f, "PUT /box/b?comp=properties", "x-ms-blob-content-length: 512", NULL), 409,
                  "InvalidBlobType");
    assert_answer(ask(f, "PUT /box/none?comp=properties", NULL, NULL), 404, "BlobNotFound");
}

/* Rule: Set Blob Metadata replaces all of it, keeps the rest, and changes the ETag.
 * rest: Set-Blob-Metadata, Get-Blob-Metadata */
static void metadata_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct reply set, got;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-meta-a: 1", "hello"), 201);
    set = ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-Hello: World", NULL);
    assert_ok(set, 200);
    assert_header(f, set, "x-ms-request-server-encrypted", "true");
    got = ask(f, "GET /box/b?comp=metadata", NULL, NULL);
    assert_ok(got, 200);
    assert_string_equal(header_of(f, &got, "ETag"), header_of(f, &set, "ETag"));
    assert_header(f, got, "x-ms-meta-Hello", "World");
    assert_no_header(f, got, "x-ms-meta-a");
    assert_int_equal(got.body.len, 0);
    assert_answer(ask(f, "HEAD /box/b?comp=metadata",
                      textf(f, "If-None-Match: %s", header_of(f, &got, "ETag")), NULL),
                  304, "ConditionNotMet");
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_body(got, "hello");
    assert_header(f, got, "Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==");
}

/* Rule: a snapshot keeps the blob as it was, says so with no lease headers, and does not change the
 * base. rest: Snapshot-Blob; semantics 0.5; recorded header names */
static void snapshot_keeps_the_blob(void **state)
{
    struct fixture *f = *state;
    struct reply taken, got;
    const char *base, *time;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-meta-a: 1", "before"), 201);
    base = etag_of(f, "HEAD /box/b");
    taken = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_ok(taken, 201);
    assert_header(f, taken, "ETag", base);
    assert_string_equal(etag_of(f, "HEAD /box/b"), base);
    time = header_of(f, &taken, "x-ms-snapshot");
    assert_int_equal(strlen(time), strlen("2019-05-09T00:48:31.3653282Z"));

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "after"), 201);
    got = askf(f, NULL, NULL, "GET /box/b?snapshot=%s", time);
    assert_ok(got, 200);
    assert_body(got, "before");
    assert_header(f, got, "ETag", base);
    assert_no_header(f, got, "x-ms-snapshot");
    got = askf(f, "x-ms-version: 2018-11-09", NULL, "GET /box/b?snapshot=%s",
               time); /* decision: 32 */
    assert_header(f, got, "x-ms-snapshot", time);
    assert_header(f, got, "x-ms-meta-a", "1");
    assert_no_header(f, got, "x-ms-lease-state");
    assert_ok(askf(f, NULL, NULL, "HEAD /box/b?snapshot=%s", time), 200);
    assert_ok(askf(f, NULL, NULL, "GET /box/b?comp=metadata&snapshot=%s", time), 200);
    assert_answer(ask(f, "GET /box/b?snapshot=2019-05-09T00:48:31.3653282Z", NULL, NULL), 404,
                  "BlobNotFound");
    assert_answer(ask(f, "GET /box/b?snapshot=1", NULL, NULL), 400, "InvalidQueryParameterValue");
}

/* Rule: a snapshot with metadata of its own has an ETag of its own. semantics 2.1 */
static void snapshot_with_metadata(void **state)
{
    struct fixture *f = *state;
    struct reply taken, got;
    const char *base;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-meta-a: 1", "x"), 201);
    base = etag_of(f, "HEAD /box/b");
    taken = ask(f, "PUT /box/b?comp=snapshot", "x-ms-meta-b: 2", NULL);
    assert_ok(taken, 201);
    assert_string_not_equal(header_of(f, &taken, "ETag"), base);
    assert_string_equal(etag_of(f, "HEAD /box/b"), base);
    got = askf(f, NULL, NULL, "HEAD /box/b?snapshot=%s", header_of(f, &taken, "x-ms-snapshot"));
    assert_header(f, got, "x-ms-meta-b", "2");
    assert_no_header(f, got, "x-ms-meta-a");
}

/* Rule: a snapshot is not written to. semantics 3.1; rest: Snapshot-Blob */
static void snapshot_is_not_changed(void **state)
{
    static const struct {
        const char *query, *headers, *body;
    } rows[] = {
        { "", PUT_HEADERS, "x" },
        { "comp=metadata&", "x-ms-meta-a: 1", NULL },
        { "comp=properties&", NULL, NULL },
        { "comp=snapshot&", NULL, NULL },
        { "comp=block&blockid=MA%3D%3D&", NULL, "x" },
        { "comp=blocklist&", NULL, "x" },
        { "comp=lease&", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1", NULL },
    };
    struct fixture *f = *state;
    struct reply taken;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    taken = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_answer(askf(f, rows[i].headers, rows[i].body, "PUT /box/b?%ssnapshot=%s",
                           rows[i].query, header_of(f, &taken, "x-ms-snapshot")),
                      400, "InvalidQueryParameterValue"); /* decision: 30 */
}

/* Rule: a blob with snapshots is deleted with them or not at all; "only" deletes them alone.
 * rest: Delete-Blob "x-ms-delete-snapshots"; recorded x-ms-delete-type-permanent */
static void deletion_minds_snapshots(void **state)
{
    struct fixture *f = *state;
    struct reply one, two, gone;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    one = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    two = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_string_not_equal(header_of(f, &one, "x-ms-snapshot"),
                            header_of(f, &two, "x-ms-snapshot"));
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
    assert_answer(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: all", NULL), 400,
                  "InvalidHeaderValue");
    gone = askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", header_of(f, &one, "x-ms-snapshot"));
    assert_ok(gone, 202);
    assert_header(f, gone, "x-ms-delete-type-permanent", "true");
    assert_answer(
        askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", header_of(f, &one, "x-ms-snapshot")), 404,
        "BlobNotFound");
    assert_answer(askf(f, "x-ms-delete-snapshots: include", NULL, "DELETE /box/b?snapshot=%s",
                       header_of(f, &two, "x-ms-snapshot")),
                  400, "InvalidOperation");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 202);
    assert_answer(
        askf(f, NULL, NULL, "GET /box/b?snapshot=%s", header_of(f, &two, "x-ms-snapshot")), 404,
        "BlobNotFound");
    assert_ok(ask(f, "GET /box/b", NULL, NULL), 200);
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 404, "BlobNotFound");
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "again"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: whatever is written over a blob, its snapshots stay and are minded. rest: Delete-Blob;
 * blob.h, without_snapshots */
static void snapshots_are_not_forgotten(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *target, *headers, *body;
    } writes[] = {
        { "PUT /box/b", PUT_HEADERS, "new" },
        { "PUT /box/b", "x-ms-blob-type: AppendBlob", NULL },
        { "PUT /box/b", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 512", NULL },
        { "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL },
        { "PUT /box/b", PUT_HEADERS, "" },
        { "PUT /box/b?comp=block&blockid=YQ==", NULL, "block" },
        { "PUT /box/b?comp=blocklist", NULL, "<BlockList><Latest>YQ==</Latest></BlockList>" },
    };

    assert_ok(ask(f, "PUT /box/b?comp=block&blockid=YQ==", NULL, "block"), 201);
    assert_ok(
        ask(f, "PUT /box/b?comp=blocklist", NULL, "<BlockList><Latest>YQ==</Latest></BlockList>"),
        201);
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        struct reply put = ask(f, writes[i].target, writes[i].headers, writes[i].body);

        assert_true(put.status == 200 || put.status == 201);
        assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "SnapshotsPresent");
    }
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: shared bytes go with their last holder, in whatever order the holders go. content.h */
static void shared_content_goes_with_its_last_holder(void **state)
{
    struct fixture *f = *state;
    char *large = calloc(1, 100000);
    struct reply taken;

    assert_ok(ask_bytes(f, "PUT /box/b", PUT_HEADERS, bytes_of(large, 100000)), 201);
    free(large);
    taken = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", "x-ms-meta-a: 1", NULL), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "small"), 201);
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    assert_int_equal(bytes_kept(f), 100000);
    assert_ok(
        askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", header_of(f, &taken, "x-ms-snapshot")),
        202);
    assert_int_equal(bytes_kept(f), 100000);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_int_equal(bytes_kept(f), 0);

    large = calloc(1, 100000);
    assert_ok(ask_bytes(f, "PUT /box/b", PUT_HEADERS, bytes_of(large, 100000)), 201);
    free(large);
    for (unsigned n = 0; n < 3; n++)
        assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: which operations change the ETag of a blob. semantics 0.5 */
static void etag_changes_with_writes_only(void **state)
{
    static const struct {
        const char *target, *headers, *body;
        bool changes;
    } rows[] = {
        { "PUT /box/b", PUT_HEADERS, "x", true },
        { "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL, true },
        { "PUT /box/b?comp=properties", "x-ms-blob-content-type: a/b", NULL, true },
        { "PUT /box/b?comp=snapshot", NULL, NULL, false },
        { "PUT /box/b?comp=block&blockid=MA%3D%3D", NULL, "x", false },
        { "PUT /box/b?comp=blocklist", NULL, "<BlockList><Latest>MA==</Latest></BlockList>", true },
        { "PUT /box/b?comp=lease", "x-ms-lease-action: acquire\nx-ms-lease-duration: -1", NULL,
          false },
        { "PUT /box/b?comp=lease", "x-ms-lease-action: break", NULL, false },
        { "GET /box/b", NULL, NULL, false },
        { "GET /box/b?comp=metadata", NULL, NULL, false },
        { "GET /box/b?comp=blocklist", NULL, NULL, false },
    };
    struct fixture *f = *state;
    const char *before, *after;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    before = etag_of(f, "HEAD /box/b");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(ask(f, rows[i].target, rows[i].headers, rows[i].body).code, "");
        after = etag_of(f, "HEAD /box/b");
        assert_int_equal(strcmp(before, after) != 0, rows[i].changes);
        before = after;
    }
}

/* Rule: what later versions added to an answer is given to their callers only, as recorded for
 * 2017-04-17, 2018-03-28, 2018-11-09 and 2019-02-02. */
static void answers_follow_the_version(void **state)
{
    static const struct {
        const char *target, *header, *before, *since;
    } rows[] = {
        { "HEAD /box/b", "x-ms-creation-time", "2017-07-29", "2017-11-09" },
        { "HEAD /box/b", "x-ms-access-tier", "2016-05-31", "2017-04-17" },
        { "HEAD /box/b", "x-ms-server-encrypted", "2015-07-08", "2015-12-11" },
        { "GET /box/b", "x-ms-access-tier", "2019-02-02", "2026-10-06" },
        { "HEAD /box/b?snapshot=%s", "x-ms-snapshot", "2018-03-28", "2018-11-09" },
        { "HEAD /box/b?snapshot=%s", "x-ms-access-tier", "2018-11-09", "2019-12-12" },
        { "PUT /box/b?comp=snapshot", "x-ms-request-server-encrypted", "2018-03-28", "2018-11-09" },
        { "PUT /box/b?comp=block&blockid=MA%3D%3D", "Content-MD5", "2026-10-06", NULL },
        { "PUT /box/b?comp=block&blockid=MA%3D%3D", "x-ms-content-crc64", "2018-11-09",
          "2019-02-02" },
        { "DELETE /box/b", "x-ms-delete-type-permanent", "2017-04-17", NULL },
    };
    struct fixture *f = *state;
    struct reply got;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *target, *time, *body = strstr(rows[i].target, "block") ? "x" : NULL;

        assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
        got = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
        time = header_of(f, &got, "x-ms-snapshot");
        target = bytes_has_suffix(bytes_from_string(rows[i].target), bytes_from_string("%s"))
                     ? textf(f, "%.*s%s", (int)strlen(rows[i].target) - 2, rows[i].target, time)
                     : rows[i].target;
        if (strncmp(target, "DELETE", 6) == 0)
            assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 202);
        got = ask(f, target, textf(f, "x-ms-version: %s", rows[i].before), body);
        assert_string_equal(got.code, "");
        assert_no_header(f, got, rows[i].header);
        if (!rows[i].since)
            continue;
        got = ask(f, target, textf(f, "x-ms-version: %s", rows[i].since), body);
        assert_string_equal(got.code, "");
        assert_non_null(header_of(f, &got, rows[i].header));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(properties_are_set_together, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(metadata_is_replaced, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(snapshot_keeps_the_blob, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(snapshot_with_metadata, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(snapshot_is_not_changed, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(deletion_minds_snapshots, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(snapshots_are_not_forgotten, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(shared_content_goes_with_its_last_holder, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(etag_changes_with_writes_only, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(answers_follow_the_version, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
