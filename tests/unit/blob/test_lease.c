/* Lease Blob and Lease Container over requests: headers, answers, and what a lease means for other
 * operations. Every cell of the state machine itself is tested with concurrency/. */
#include "fixture.h"

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"
#define A           "11111111-1111-1111-1111-111111111111"
#define B           "22222222-2222-2222-2222-222222222222"
#define C           "33333333-3333-3333-3333-333333333333"
#define S(n)        ((n)*TICKS_PER_SECOND)

static const char *const blob = "/box/b?comp=lease";
static const char *const container = "/box?restype=container&comp=lease";

static struct reply lease(struct fixture *f, const char *target, const char *headers)
{
    return askf(f, textf(f, "x-ms-lease-action: %s", headers), NULL, "PUT %s", target);
}

static void assert_state(struct fixture *f, const char *target, const char *status,
                         const char *lease_state, const char *duration)
{
    struct reply got = ask(f, target, NULL, NULL);

    assert_ok(got, 200);
    assert_header(f, got, "x-ms-lease-status", status);
    assert_header(f, got, "x-ms-lease-state", lease_state);
    if (duration)
        assert_header(f, got, "x-ms-lease-duration", duration);
    else
        assert_no_header(f, got, "x-ms-lease-duration");
}

/* One life of a lease: every action, what it answers, what is visible after it.
 * semantics 3.1, 3.2 */
static void life_of_a_lease(struct fixture *f, const char *target, const char *head)
{
    struct reply got = ask(f, head, NULL, NULL);
    const char *etag = header_of(f, &got, "ETag");

    assert_state(f, head, "unlocked", "available", NULL);
    got = lease(f, target, "acquire\nx-ms-lease-duration: 15\nx-ms-proposed-lease-id: " A);
    assert_ok(got, 201);
    assert_header(f, got, "x-ms-lease-id", A);
    assert_header(f, got, "ETag", etag);
    assert_non_null(header_of(f, &got, "Last-Modified"));
    assert_no_header(f, got, "x-ms-lease-time");
    assert_state(f, head, "locked", "leased", "fixed");
    assert_ok(lease(f, target, "acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " A),
              201);
    assert_state(f, head, "locked", "leased", "infinite");
    assert_answer(lease(f, target, "acquire\nx-ms-lease-duration: -1"), 409, "LeaseAlreadyPresent");

    got = lease(f, target, "renew\nx-ms-lease-id: {" A "}");
    assert_ok(got, 200);
    assert_header(f, got, "x-ms-lease-id", A);
    assert_answer(lease(f, target, "renew\nx-ms-lease-id: " B), 409,
                  "LeaseIdMismatchWithLeaseOperation");
    got = lease(f, target, "change\nx-ms-lease-id: " A "\nx-ms-proposed-lease-id: " B);
    assert_ok(got, 200);
    assert_header(f, got, "x-ms-lease-id", B);
    assert_ok(lease(f, target, "change\nx-ms-lease-id: " A "\nx-ms-proposed-lease-id: " B), 200);
    assert_answer(lease(f, target, "change\nx-ms-lease-id: " A "\nx-ms-proposed-lease-id: " C), 409,
                  "LeaseIdMismatchWithLeaseOperation");

    got = lease(f, target, "break\nx-ms-lease-break-period: 10");
    assert_ok(got, 202);
    assert_header(f, got, "x-ms-lease-time", "10");
    assert_no_header(f, got, "x-ms-lease-id");
    assert_state(f, head, "locked", "breaking", NULL);
    assert_answer(lease(f, target, "renew\nx-ms-lease-id: " B), 409,
                  "LeaseIsBrokenAndCannotBeRenewed");
    clock_advance(S(11));
    assert_state(f, head, "unlocked", "broken", NULL);
    got = lease(f, target, "break");
    assert_header(f, got, "x-ms-lease-time", "0");
    got = lease(f, target, "release\nx-ms-lease-id: " B);
    assert_ok(got, 200);
    assert_no_header(f, got, "x-ms-lease-id");
    assert_header(f, got, "ETag", etag);
    assert_state(f, head, "unlocked", "available", NULL);
    assert_answer(lease(f, target, "break"), 409, "LeaseNotPresentWithLeaseOperation");

    got = lease(f, target, "acquire\nx-ms-lease-duration: 60");
    assert_int_equal(strlen(header_of(f, &got, "x-ms-lease-id")), 36);
    clock_advance(S(61));
    assert_state(f, head, "unlocked", "expired", NULL);
}

static void blob_lease_lives(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    life_of_a_lease(f, blob, "HEAD /box/b");
}

static void container_lease_lives(void **state)
{
    life_of_a_lease(*state, container, "HEAD /box?restype=container");
}

/* Rule: each action needs its headers in their form. semantics 3.1 */
static void headers_are_checked(void **state)
{
    static const struct {
        const char *headers, *code;
    } rows[] = {
        { "x-ms-lease-duration: -1", "MissingRequiredHeader" },
        { "x-ms-lease-action: take\nx-ms-lease-duration: -1", "InvalidHeaderValue" },
        { "x-ms-lease-action: acquire", "MissingRequiredHeader" },
        { "x-ms-lease-action: acquire\nx-ms-lease-duration: 14", "InvalidHeaderValue" },
        { "x-ms-lease-action: acquire\nx-ms-lease-duration: 61", "InvalidHeaderValue" },
        { "x-ms-lease-action: acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: 1",
          "InvalidHeaderValue" },
        { "x-ms-lease-action: renew", "MissingRequiredHeader" },
        { "x-ms-lease-action: renew\nx-ms-lease-id: 1", "InvalidHeaderValue" },
        { "x-ms-lease-action: change\nx-ms-lease-id: " A, "MissingRequiredHeader" },
        { "x-ms-lease-action: release", "MissingRequiredHeader" },
        { "x-ms-lease-action: break\nx-ms-lease-break-period: 61", "InvalidHeaderValue" },
    };
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_answer(ask(f, "PUT /box/b?comp=lease", rows[i].headers, NULL), 400, rows[i].code);
        assert_answer(ask(f, "PUT /box?restype=container&comp=lease", rows[i].headers, NULL), 400,
                      rows[i].code);
    }
    assert_answer(lease(f, "/box/none?comp=lease", "acquire\nx-ms-lease-duration: -1"), 404,
                  "BlobNotFound");
    assert_answer(
        lease(f, "/none?restype=container&comp=lease", "acquire\nx-ms-lease-duration: -1"), 404,
        "ContainerNotFound");
}

/* The operations on a blob and what the lease tables call them. semantics 2.1, 3.3 */
static const struct {
    const char *target, *headers, *body;
    bool is_write;
} uses[] = {
    { "PUT /box/b", PUT_HEADERS, "x", true },
    { "PUT /box/b?comp=block&blockid=MA%3D%3D", "x-ms-meta-a: 1", "x", true },
    { "PUT /box/b?comp=blocklist", "x-ms-meta-a: 1", "<BlockList/>", true },
    { "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL, true },
    { "PUT /box/b?comp=properties", "x-ms-blob-content-type: a/b", NULL, true },
    { "PUT /box/b?comp=snapshot", "x-ms-meta-a: 1", NULL, false },
    { "GET /box/b", "Accept: *", NULL, false },
    { "HEAD /box/b", "Accept: *", NULL, false },
    { "GET /box/b?comp=metadata", "Accept: *", NULL, false },
    { "GET /box/b?comp=blocklist", "Accept: *", NULL, false },
};
#define USES (sizeof uses / sizeof uses[0])

/* Every use without an id, with the id and with another one. */
static void assert_uses(struct fixture *f, const char *read_none, const char *write_none,
                        const char *same, const char *other)
{
    for (size_t i = 0; i < USES; i++) {
        const char *with_same = textf(f, "%s\nx-ms-lease-id: " A, uses[i].headers);
        const char *with_other = textf(f, "%s\nx-ms-lease-id: " B, uses[i].headers);

        assert_string_equal(ask(f, uses[i].target, with_other, uses[i].body).code, other);
        assert_string_equal(ask(f, uses[i].target, with_same, uses[i].body).code, same);
        assert_string_equal(ask(f, uses[i].target, uses[i].headers, uses[i].body).code,
                            uses[i].is_write ? write_none : read_none);
    }
}

/* Rule: the table of uses, Available, Leased and Breaking. semantics 3.3 */
static void uses_of_a_leased_blob(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_uses(f, "", "", "LeaseNotPresentWithBlobOperation", "LeaseNotPresentWithBlobOperation");
    assert_ok(lease(f, blob, "acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " A), 201);
    assert_uses(f, "", "LeaseIdMissing", "", "LeaseIdMismatchWithBlobOperation");
    assert_ok(lease(f, blob, "break\nx-ms-lease-break-period: 60"), 202);
    assert_uses(f, "", "LeaseIdMissing", "", "LeaseIdMismatchWithBlobOperation");
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 412, "LeaseIdMissing");
    assert_ok(ask(f, "DELETE /box/b", "x-ms-lease-id: " A "\nx-ms-delete-snapshots: include", NULL),
              202);
}

/* Rule: on a broken or expired lease its id is LeaseLost, another a mismatch; a write without id
 * ends it. semantics 3.3; decision: 3 */
static void uses_after_a_lease(void **state)
{
    static const char *const ends[] = { "break\nx-ms-lease-break-period: 0", "expire" };
    struct fixture *f = *state;

    for (size_t end = 0; end < 2; end++) {
        for (size_t i = 0; i < USES; i++) {
            assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
            assert_ok(
                lease(f, blob, "acquire\nx-ms-lease-duration: 15\nx-ms-proposed-lease-id: " A),
                201);
            if (end == 0)
                assert_ok(lease(f, blob, ends[end]), 202);
            else
                clock_advance(S(16));
            assert_string_equal(ask(f, uses[i].target,
                                    textf(f, "%s\nx-ms-lease-id: " A, uses[i].headers),
                                    uses[i].body)
                                    .code,
                                "LeaseLost");
            assert_string_equal(ask(f, uses[i].target,
                                    textf(f, "%s\nx-ms-lease-id: " B, uses[i].headers),
                                    uses[i].body)
                                    .code,
                                "LeaseIdMismatchWithBlobOperation");
            assert_string_equal(ask(f, uses[i].target, uses[i].headers, uses[i].body).code, "");
        }
    }
    /* What a write does to it, a read does not. */
    assert_ok(lease(f, blob, "acquire\nx-ms-lease-duration: 15\nx-ms-proposed-lease-id: " A), 201);
    clock_advance(S(16));
    assert_state(f, "GET /box/b", "unlocked", "expired", NULL);
    assert_ok(lease(f, blob, "renew\nx-ms-lease-id: " A), 200);
    clock_advance(S(16));
    assert_ok(ask(f, "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL), 200);
    assert_state(f, "GET /box/b", "unlocked", "available", NULL);
    assert_answer(lease(f, blob, "renew\nx-ms-lease-id: " A), 409,
                  "LeaseIdMismatchWithLeaseOperation");
}

/* Rule: an overwrite forgets a lease that is over. semantics 3.2, the last row */
static void overwrite_ends_an_expired_lease(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_ok(lease(f, blob, "acquire\nx-ms-lease-duration: 15\nx-ms-proposed-lease-id: " A), 201);
    clock_advance(S(16));
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "y"), 201);
    assert_state(f, "HEAD /box/b", "unlocked", "available", NULL);
    assert_answer(lease(f, blob, "renew\nx-ms-lease-id: " A), 409,
                  "LeaseIdMismatchWithLeaseOperation");
}

/* Rule: a snapshot of a leased blob has no lease: an id does not fit it, and it goes without one.
 * rest: Snapshot-Blob "Remarks" */
static void snapshot_has_no_lease(void **state)
{
    struct fixture *f = *state;
    struct reply taken;
    const char *time;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_ok(lease(f, blob, "acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " A), 201);
    taken = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    time = header_of(f, &taken, "x-ms-snapshot");
    assert_answer(askf(f, "x-ms-lease-id: " A, NULL, "GET /box/b?snapshot=%s", time), 412,
                  "LeaseNotPresentWithBlobOperation");
    assert_ok(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", time), 202);
    assert_state(f, "HEAD /box/b", "locked", "leased", "infinite");
}

/* Rule: an overwrite with the id keeps the lease; on a blob that is not there an id is refused.
 * semantics 3.2, 3.3; decision: 7 */
static void lease_survives_an_overwrite(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-lease-id: " A, "x"), 412,
                  "LeaseNotPresentWithBlobOperation");
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_ok(lease(f, blob, "acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " A), 201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-lease-id: " A, "y"), 201);
    assert_state(f, "HEAD /box/b", "locked", "leased", "infinite");
}

/* Rule: with both faults the lease's is told. decision: 2 */
static void lease_comes_before_conditions(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_ok(lease(f, blob, "acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " A), 201);
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nIf-Match: \"0x1\"", "y"), 412,
                  "LeaseIdMissing");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nIf-Match: \"0x1\"\nx-ms-lease-id: " A, "y"),
                  412, "ConditionNotMet");
    assert_answer(lease(f, blob, "break\nIf-Match: \"0x1\""), 412, "ConditionNotMet");
}

/* Rule: only Delete Container minds the lease of a container. semantics 3.4 */
static void container_lease_guards_deletion(void **state)
{
    struct fixture *f = *state;

    assert_ok(lease(f, container, "acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " A),
              201);
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "x"), 201);
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 412, "LeaseIdMissing");
    assert_answer(ask(f, "DELETE /box?restype=container", "x-ms-lease-id: " B, NULL), 412,
                  "LeaseIdMismatchWithContainerOperation");
    assert_ok(ask(f, "DELETE /box?restype=container", "x-ms-lease-id: " A, NULL), 202);
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "ContainerNotFound");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blob_lease_lives, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(container_lease_lives, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(headers_are_checked, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(uses_of_a_leased_blob, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(uses_after_a_lease, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(overwrite_ends_an_expired_lease, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(snapshot_has_no_lease, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(lease_survives_an_overwrite, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(lease_comes_before_conditions, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(container_lease_guards_deletion, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
