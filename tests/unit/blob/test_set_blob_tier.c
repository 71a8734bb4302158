/* Set Blob Tier, and archived blobs: what they refuse, and how they come back. blob_operations.c,
 * tier.c; rest: Set-Blob-Tier */
#include "listed.h"

#define PUT_HEADERS "x-ms-blob-type: BlockBlob"
#define LIST        "GET /box?restype=container&comp=list"

static struct reply set_tier(struct fixture *f, const char *tier, const char *priority)
{
    return ask(f, "PUT /box/b?comp=tier",
               textf(f, "x-ms-access-tier: %s%s%s", tier,
                     priority ? "\nx-ms-rehydrate-priority: " : "", priority ? priority : ""),
               NULL);
}

static void put(struct fixture *f)
{
    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS, "hello"), 201);
}

/* Rule: a tier that is set is no longer inferred; ETag and Last-Modified stay; the time of change
 * is that of the last one. recorded */
static void a_tier_is_set(void **state)
{
    struct fixture *f = *state;
    struct reply before, after, answer;

    put(f);
    before = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, before, "x-ms-access-tier", "Hot");
    assert_header(f, before, "x-ms-access-tier-inferred", "true");
    answer = set_tier(f, "cool", NULL);
    assert_ok(answer, 200);
    assert_no_header(f, answer, "ETag");
    after = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, after, "x-ms-access-tier", "Cool");
    assert_no_header(f, after, "x-ms-access-tier-inferred");
    assert_non_null(header_of(f, &after, "x-ms-access-tier-change-time"));
    assert_header(f, after, "ETag", header_of(f, &before, "ETag"));
    assert_ok(set_tier(f, "Cold", NULL), 200);
    assert_ok(ask(f, "GET /box/b", NULL, NULL), 200);
    assert_string_equal(first_text(f, ask(f, LIST, NULL, NULL), "AccessTier"), "Cold");
}

/* Rule: what is no tier, or none of this blob, is refused. recorded: P10 of a block blob in 2017 */
static void bad_tiers_are_refused(void **state)
{
    struct fixture *f = *state;

    put(f);
    assert_answer(ask(f, "PUT /box/b?comp=tier", NULL, NULL), 400, "MissingRequiredHeader");
    assert_answer(set_tier(f, "P1", NULL), 400, "InvalidHeaderValue");
    assert_answer(set_tier(f, "P10", NULL), 400, "InvalidHeaderValue");
    assert_answer(set_tier(f, "Hot", "Low"), 400, "InvalidHeaderValue");
    assert_answer(
        ask(f, "PUT /box/b?comp=tier", "x-ms-version: 2021-04-10\nx-ms-access-tier: Cold", NULL),
        400, "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /box/none?comp=tier", "x-ms-access-tier: Hot", NULL), 404,
                  "BlobNotFound");
    assert_answer(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-access-tier: P10", "x"), 400,
                  "InvalidHeaderValue");
}

/* Rule: of an archived blob properties, metadata and tags are read, tags and tier are set, it is
 * listed and deleted; all else is 409. learn.microsoft.com: archive access tier, "operations" */
static void archived_blobs_refuse(void **state)
{
    static const char *const refused[][3] = {
        { "GET /box/b", NULL, NULL },
        { "PUT /box/b", PUT_HEADERS, "x" },
        { "PUT /box/b?comp=metadata", "x-ms-meta-a: 1", NULL },
        { "PUT /box/b?comp=properties", NULL, NULL },
        { "PUT /box/b?comp=snapshot", NULL, NULL },
        { "PUT /box/b?comp=block&blockid=MQ==", NULL, "x" },
        { "PUT /box/b?comp=blocklist", NULL, "<BlockList/>" },
    };
    struct fixture *f = *state;

    put(f);
    for (int pass = 0; pass < 2; pass++) {
        assert_ok(set_tier(f, pass == 0 ? "Archive" : "Hot", NULL), pass == 0 ? 200 : 202);
        for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
            assert_answer(ask(f, refused[i][0], refused[i][1], refused[i][2]), 409,
                          pass == 0 ? "BlobArchived" : "BlobBeingRehydrated");
        assert_ok(ask(f, "HEAD /box/b", NULL, NULL), 200);
        assert_ok(ask(f, "GET /box/b?comp=metadata", NULL, NULL), 200);
        assert_ok(ask(f, "PUT /box/b?comp=tags", NULL,
                      "<Tags><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tags>"),
                  204);
        assert_ok(ask(f, "GET /box/b?comp=tags", NULL, NULL), 200);
        assert_ok(ask(f, LIST, NULL, NULL), 200);
    }
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

static void expect_in_order(const struct reply *answer)
{
    static const char text[] = "</ArchiveStatus><RehydratePriority>Standard</RehydratePriority>"
                               "<AccessTierChangeTime>";

    assert_non_null(memmem(answer->body.ptr, answer->body.len, text, strlen(text)));
}

/* Rule: an archived blob comes back after a time; until then its tier is archive and a status says
 * where it goes. The priority may be raised, nothing else. rest: Set-Blob-Tier */
static void archived_blobs_come_back(void **state)
{
    struct fixture *f = *state;
    struct reply answer;

    put(f);
    assert_ok(set_tier(f, "Archive", "Standard"), 200);
    assert_ok(set_tier(f, "Archive", NULL), 200);
    assert_ok(set_tier(f, "Cool", NULL), 202);
    answer = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, answer, "x-ms-access-tier", "Archive");
    assert_header(f, answer, "x-ms-archive-status", "rehydrate-pending-to-cool");
    assert_header(f, answer, "x-ms-rehydrate-priority", "Standard");
    answer = ask(f, LIST, NULL, NULL);
    assert_string_equal(first_text(f, answer, "ArchiveStatus"), "rehydrate-pending-to-cool");
    assert_string_equal(first_text(f, answer, "RehydratePriority"), "Standard");
    expect_in_order(&answer); /* as recorded */
    assert_answer(set_tier(f, "Hot", NULL), 409, "BlobBeingRehydrated");
    assert_answer(set_tier(f, "Archive", NULL), 409, "BlobBeingRehydrated");
    assert_ok(set_tier(f, "Cool", NULL), 202);
    clock_advance(99 * TICKS_PER_SECOND);
    run_due(store_of(f));
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 409, "BlobBeingRehydrated");
    assert_ok(set_tier(f, "Cool", "High"), 202); /* ten seconds from now */
    assert_answer(set_tier(f, "Cool", "Standard"), 409, "BlobBeingRehydrated");
    clock_advance(2 * TICKS_PER_SECOND);
    run_due(store_of(f)); /* the first item: the blob waits for another instant */
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 409, "BlobBeingRehydrated");
    clock_advance(9 * TICKS_PER_SECOND);
    run_due(store_of(f));
    answer = ask(f, "GET /box/b", NULL, NULL);
    assert_body(answer, "hello");
    answer = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, answer, "x-ms-access-tier", "Cool");
    assert_no_header(f, answer, "x-ms-archive-status");
    assert_no_header(f, answer, "x-ms-rehydrate-priority");
}

/* Rule: a snapshot has a tier of its own, and stays in the archive; what was deleted meanwhile does
 * not come back. decision: 86 */
static void snapshots_and_deleted_blobs(void **state)
{
    struct fixture *f = *state;
    struct reply answer;
    const char *snapshot;

    put(f);
    answer = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    snapshot = header_of(f, &answer, "x-ms-snapshot");
    assert_ok(
        askf(f, "x-ms-access-tier: Archive", NULL, "PUT /box/b?comp=tier&snapshot=%s", snapshot),
        200);
    assert_answer(askf(f, NULL, NULL, "GET /box/b?snapshot=%s", snapshot), 409, "BlobArchived");
    assert_ok(ask(f, "GET /box/b", NULL, NULL), 200);
    assert_answer(askf(f, "x-ms-access-tier: Hot\nx-ms-rehydrate-priority: High", NULL,
                       "PUT /box/b?comp=tier&snapshot=%s", snapshot),
                  409, "BlobOperationNotSupported");
    assert_ok(set_tier(f, "Archive", NULL), 200);
    assert_ok(set_tier(f, "Hot", NULL), 202);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 202);
    clock_advance(101 * TICKS_PER_SECOND);
    run_due(store_of(f));
    assert_answer(ask(f, "GET /box/b", NULL, NULL), 404, "BlobNotFound");
}

/* Rule: x-ms-if-tags and a lease are conditions of it. rest: Set-Blob-Tier */
static void tiers_have_conditions(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", PUT_HEADERS "\nx-ms-tags: a=1", "x"), 201);
    assert_answer(
        ask(f, "PUT /box/b?comp=tier", "x-ms-access-tier: Cool\nx-ms-if-tags: a='2'", NULL), 412,
        "ConditionNotMet");
    assert_ok(ask(f, "PUT /box/b?comp=lease",
                  "x-ms-lease-action: acquire\n"
                  "x-ms-lease-duration: -1",
                  NULL),
              201);
    assert_answer(set_tier(f, "Cool", NULL), 412, "LeaseIdMissing");
}

/* Kinds of deferred tasks are stored: no two services or features share one. */
static void task_kinds_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < blob_service.task_handler_count; i++)
        for (size_t k = i + 1; k < blob_service.task_handler_count; k++)
            assert_int_not_equal(blob_service.task_handlers[i].kind,
                                 blob_service.task_handlers[k].kind);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_tier_is_set),
        TEST(bad_tiers_are_refused),
        TEST(archived_blobs_refuse),
        TEST(archived_blobs_come_back),
        TEST(snapshots_and_deleted_blobs),
        TEST(tiers_have_conditions),
        cmocka_unit_test(task_kinds_are_unique),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
