/* Copies that were pending when their container got a policy or a legal hold: blob/pending_copy.h.
 * tests/isolation/specs/hold-copy.spec has the orders of both. decision: 1450 */
#include "fixture.h"

#include <stdlib.h>

#include "service/background.h"

#define MIB         ((size_t)1 << 20)
#define BLOCKS      65 /* of 1 MiB: more than what is copied at once */
#define HOST        "Host: 127.0.0.1:10000"
#define COPY_SOURCE "x-ms-copy-source: http://127.0.0.1:10000/devstoreaccount1/box/"
#define HELD        "BlobImmutableDueToLegalHold"

static void protect(struct fixture *f, const char *change, const char *more)
{
    assert_ok(ask_as_operator(f, "PUT /box?restype=container&comp=protection",
                              textf(f, "x-ms-protection-change: %s\n%s", change, more)),
              200);
}

static void hold(struct fixture *f)
{
    protect(f, "hold", "x-ms-protection-tags: case1");
}

static const char *text_of(struct fixture *f, const char *target, const char *name)
{
    struct reply got = ask(f, target, NULL, NULL);

    assert_ok(got, 200);
    return header_of(f, &got, name);
}

/* Blob "long", whose copies are pending. */
static void make_source(struct fixture *f)
{
    struct bytes block = bytes_of(calloc(1, MIB), MIB);
    const char *list = "<BlockList>";

    assert_ok(ask_bytes(f, "PUT /box/long?comp=block&blockid=MQ%3D%3D", NULL, block), 201);
    free((void *)(uintptr_t)block.ptr);
    for (int i = 0; i < BLOCKS; i++)
        list = textf(f, "%s<Latest>MQ==</Latest>", list);
    assert_ok(ask(f, "PUT /box/long?comp=blocklist", NULL, textf(f, "%s</BlockList>", list)), 201);
}

/* Returns the target of the request that aborts the copy. */
static const char *begin(struct fixture *f, const char *blob)
{
    struct reply got =
        askf(f, HOST "\n" COPY_SOURCE "long\nx-ms-meta-of: source", NULL, "PUT /box/%s", blob);

    assert_ok(got, 202);
    assert_header(f, got, "x-ms-copy-status", "pending");
    return textf(f, "PUT /box/%s?comp=copy&copyid=%s", blob, header_of(f, &got, "x-ms-copy-id"));
}

#define ABORT "x-ms-copy-action: abort"

/* Rule: an aborted copy leaves a protected blob as it was, with its ETag, in both kinds of
 * containers, whether the policy has ended or not. */
static void aborted(void **state)
{
    struct fixture *f = *state;
    const char *abort_target, *etag;

    make_source(f);
    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: BlockBlob\nx-ms-meta-a: 1", "old"), 201);
    abort_target = begin(f, "b");
    etag = text_of(f, "HEAD /box/b", "ETag");
    protect(f, "policy", "x-ms-protection-days: 1");
    clock_advance(TICKS_PER_DAY + TICKS_PER_SECOND);
    assert_ok(ask(f, abort_target, ABORT, NULL), 204);
    assert_body(ask(f, "GET /box/b", NULL, NULL), "old");
    assert_string_equal(text_of(f, "HEAD /box/b", "ETag"), etag);
    assert_string_equal(text_of(f, "HEAD /box/b", "x-ms-meta-a"), "1");
    assert_string_equal(text_of(f, "HEAD /box/b", "x-ms-copy-status"), "aborted");
    assert_non_null(text_of(f, "HEAD /box/b", "x-ms-copy-completion-time"));
    assert_answer(ask(f, abort_target, ABORT, NULL), 409, "NoPendingCopyOperation");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_ok(ask(f, "DELETE /box/long", NULL, NULL), 202);
    assert_nothing_is_left(f);
}

/* Rule: what the copy itself created is emptied nevertheless, and so is an unprotected blob. */
static void aborted_elsewhere(void **state)
{
    struct fixture *f = *state;
    const char *abort_target;

    make_source(f);
    abort_target = begin(f, "b");
    hold(f);
    assert_ok(ask(f, abort_target, ABORT, NULL), 204);
    assert_body(ask(f, "GET /box/b", NULL, NULL), "");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, HELD);
    protect(f, "release", "x-ms-protection-tags: case1");
    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: BlockBlob", "old"), 201);
    abort_target = begin(f, "b");
    hold(f);
    protect(f, "release", "x-ms-protection-tags: case1");
    assert_ok(ask(f, abort_target, ABORT, NULL), 204);
    assert_body(ask(f, "GET /box/b", NULL, NULL), "");
}

/* ---- copies that a job completes ---- */

static void run_until_ended(struct fixture *f, const char *target)
{
    while (strcmp(text_of(f, target, "x-ms-copy-status"), "pending") == 0) {
        clock_advance(10 * TICKS_PER_SECOND);
        fixture_run_due(f);
    }
}

static const char *copy_of(struct fixture *f, const char *snapshot)
{
    return textf(f, HOST "\n" COPY_SOURCE "disk?snapshot=%s", snapshot);
}

static const char *snapshot(struct fixture *f)
{
    struct reply got = ask(f, "PUT /box/disk?comp=snapshot", NULL, NULL);

    assert_ok(got, 201);
    return header_of(f, &got, "x-ms-snapshot");
}

/* Rule: an incremental copy to a held blob fails without a snapshot, and says why; the first one
 * creates the blob, and completes. */
static void incremental(void **state)
{
    struct fixture *f = *state;
    struct background *background = background_new(1, (struct pool_shares){ .account = 0 });
    const char *one, *two, *made;

    fixture_read_sources(f, NULL, background);
    assert_ok(ask(f, "PUT /box?restype=container&comp=acl", "x-ms-blob-public-access: blob", NULL),
              200); /* the source of an incremental copy is read without the account key */
    assert_ok(
        ask(f, "PUT /box/disk", "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 512", NULL),
        201);
    one = snapshot(f);
    two = snapshot(f);
    assert_ok(ask(f, "PUT /box/b?comp=incrementalcopy", copy_of(f, one), NULL), 202);
    hold(f);
    run_until_ended(f, "HEAD /box/b");
    assert_string_equal(text_of(f, "HEAD /box/b", "x-ms-copy-status"), "success");
    made = text_of(f, "HEAD /box/b", "x-ms-copy-destination-snapshot");
    assert_answer(ask(f, "PUT /box/b?comp=incrementalcopy", copy_of(f, two), NULL), 409, HELD);
    protect(f, "release", "x-ms-protection-tags: case1");
    assert_ok(ask(f, "PUT /box/b?comp=incrementalcopy", copy_of(f, two), NULL), 202);
    hold(f);
    run_until_ended(f, "HEAD /box/b");
    assert_string_equal(text_of(f, "HEAD /box/b", "x-ms-copy-status"), "failed");
    assert_string_equal(text_of(f, "HEAD /box/b", "x-ms-copy-status-description"),
                        "409 " HELD " \"Copy failed: the destination is protected.\"");
    assert_ok(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", made), 200);
    background_stop(background);
    background_free(background);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define TEST_OF_PATHS(name)                                                                        \
    cmocka_unit_test_setup_teardown(name, fixture_setup_hierarchical, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(aborted),           TEST_OF_PATHS(aborted),
        TEST(aborted_elsewhere), TEST_OF_PATHS(aborted_elsewhere),
        TEST(incremental),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
