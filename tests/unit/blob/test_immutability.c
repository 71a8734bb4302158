/* Retention policies and legal holds, of blob versions and of containers: blob/immutability.h. Every
 * operation that writes is tried in every state. rest: Set-Blob-Immutability-Policy; docs:
 * immutable-version-level-worm-policies, immutable-container-level-worm-policies "Scenarios";
 * decisions: 1400 to 1409 */
#include "fixture.h"

#include <stdlib.h>

#include "blob/container_immutability.h"
#include "dfs/dfs.h"

#define BLOCK   "x-ms-blob-type: BlockBlob"
#define PROTECT "PUT /box?restype=container&comp=protection"
#define CHANGE  "x-ms-protection-change: "
#define POLICY  "PUT /box/b?comp=immutabilityPolicies"
#define HOLD    "PUT /box/b?comp=legalhold"
#define UNTIL   "x-ms-immutability-policy-until-date: "
#define MODE    "x-ms-immutability-policy-mode: "
#define S(n)    ((n)*TICKS_PER_SECOND)

static const char *date(struct fixture *f, instant at)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(at, text);
    return textf(f, "%s", text);
}

static void protect(struct fixture *f, const char *headers)
{
    assert_ok(ask_as_operator(f, PROTECT, headers), 200);
}

static void enable_versioning(struct fixture *f)
{
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  "<StorageServiceProperties><IsVersioningEnabled>true</IsVersioningEnabled>"
                  "</StorageServiceProperties>"),
              202);
}

static void enable_versions(struct fixture *f)
{
    enable_versioning(f);
    protect(f, CHANGE "versions");
}

static const char *policy(struct fixture *f, const char *mode, uint64_t seconds)
{
    return textf(f, UNTIL "%s\n" MODE "%s", date(f, clock_now() + S(seconds)), mode);
}

/* ---- every operation in every state ---- */

enum state { UNLOCKED, LOCKED, HELD, EXPIRED, APPENDS, STATES };
static const char *const state_names[STATES] = { "unlocked", "locked", "held", "expired",
                                                 "append allowed" };

/* What the operation does, which says what is expected of it. */
enum effect_of { FREE, OVERWRITES, CHANGES, ADDS, SNAPSHOTS, DELETES };

static const struct attempt {
    const char *row; /* of the table; several attempts may be for one row */
    enum effect_of effect;
    const char *type; /* of the blob */
    const char *target, *headers, *body;
    const char *lease; /* the blob is leased with this id */
} attempts[] = {
#define ID "00000000-0000-0000-0000-000000000001"
    { "Set Blob Properties", CHANGES, "BlockBlob", "PUT /box/b?comp=properties",
      "x-ms-blob-content-type: a/b", NULL, NULL },
    { "Set Blob Properties", CHANGES, "PageBlob", "PUT /box/b?comp=properties",
      "x-ms-blob-content-length: 0", NULL, NULL },
    { "Set Blob Metadata", CHANGES, "BlockBlob", "PUT /box/b?comp=metadata", "x-ms-meta-a: 2", NULL,
      NULL },
    { "Lease Blob", FREE, "BlockBlob", "PUT /box/b?comp=lease",
      "x-ms-lease-action: acquire\nx-ms-lease-duration: -1\nx-ms-proposed-lease-id: " ID, NULL,
      NULL },
    { "Lease Blob", FREE, "BlockBlob", "PUT /box/b?comp=lease",
      "x-ms-lease-action: renew\nx-ms-lease-id: " ID, NULL, ID },
    { "Lease Blob", FREE, "BlockBlob", "PUT /box/b?comp=lease",
      "x-ms-lease-action: change\nx-ms-lease-id: " ID "\nx-ms-proposed-lease-id: " ID, NULL, ID },
    { "Lease Blob", FREE, "BlockBlob", "PUT /box/b?comp=lease",
      "x-ms-lease-action: release\nx-ms-lease-id: " ID, NULL, ID },
    { "Lease Blob", FREE, "BlockBlob", "PUT /box/b?comp=lease", "x-ms-lease-action: break", NULL,
      ID },
    { "Snapshot Blob", SNAPSHOTS, "BlockBlob", "PUT /box/b?comp=snapshot", NULL, NULL, NULL },
    { "Delete Blob", DELETES, "BlockBlob", "DELETE /box/b", NULL, NULL, NULL },
    { "Delete Blob", DELETES, "BlockBlob", "DELETE /box/b", "x-ms-delete-snapshots: include", NULL,
      NULL },
    { "Undelete Blob", FREE, "BlockBlob", "PUT /box/b?comp=undelete", NULL, NULL, NULL },
    { "Set Blob Tags", FREE, "BlockBlob", "PUT /box/b?comp=tags", NULL,
      "<Tags><TagSet><Tag><Key>a</Key><Value>1</Value></Tag></TagSet></Tags>", NULL },
    { "Set Blob Tier", FREE, "BlockBlob", "PUT /box/b?comp=tier", "x-ms-access-tier: Cool", NULL,
      NULL },
    { "Put Blob", OVERWRITES, "BlockBlob", "PUT /box/b", BLOCK, "new", NULL },
    { "Put Blob", OVERWRITES, "AppendBlob", "PUT /box/b", "x-ms-blob-type: AppendBlob", NULL,
      NULL },
    { "Put Blob", OVERWRITES, "PageBlob", "PUT /box/b",
      "x-ms-blob-type: PageBlob\nx-ms-blob-content-length: 512", NULL, NULL },
    { "Put Block", OVERWRITES, "BlockBlob", "PUT /box/b?comp=block&blockid=MQ%3D%3D", NULL, "x",
      NULL },
    { "Put Block List", OVERWRITES, "BlockBlob", "PUT /box/b?comp=blocklist", NULL,
      "<BlockList></BlockList>", NULL },
    { "Append Block", ADDS, "AppendBlob", "PUT /box/b?comp=appendblock", NULL, "x", NULL },
    { "Append Blob Seal", ADDS, "AppendBlob", "PUT /box/b?comp=seal", NULL, NULL, NULL },
    { "Put Page", CHANGES, "PageBlob", "PUT /box/b?comp=page",
      "x-ms-page-write: clear\nx-ms-range: bytes=0-511", NULL, NULL },
};

/* Rows that need more than one request, or another server: other tests have them. */
static const char *const elsewhere[] = {
    "Abort Copy Blob", /* test_protected_copy.c */
    "Set Blob Expiry", /* of hierarchical accounts */
    "Put Blob From URL",   "Copy Blob From URL",
    "Copy Blob",           "Incremental Copy Blob",
    "Put Block From URL",  "Append Block From URL",
    "Put Page From URL",   "Set Blob Immutability Policy",
    "Set Blob Legal Hold", "Delete Blob Immutability Policy",
};

static bool is_tried(const char *row)
{
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
        if (strcmp(attempts[i].row, row) == 0)
            return true;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strcmp(elsewhere[i], row) == 0)
            return true;
    return false;
}

/* Rule: no operation that writes a blob is forgotten here. */
static void every_operation_is_tried(void **state)
{
    (void)state;
    for (size_t i = 0; i < blob_service.operation_count; i++) {
        const struct operation *row = &blob_service.operations[i];

        if (row->level != LEVEL_BLOB || row->rights.effect != WRITES || is_tried(row->name))
            continue;
        print_error("%s\n", row->name);
        fail();
    }
}

static const char *refusal(enum state in)
{
    return in == HELD ? "BlobImmutableDueToLegalHold" : "BlobImmutableDueToPolicy";
}

/* Returns the code that is expected; "" if nothing refuses it. */
static const char *expected_of_container(enum effect_of effect, enum state in)
{
    switch (effect) {
    case FREE:
        return "";
    case DELETES:
        return in == EXPIRED ? "" : refusal(in);
    case ADDS:
        return in == APPENDS ? "" : refusal(in);
    case OVERWRITES:
    case CHANGES:
    case SNAPSHOTS:
        return refusal(in);
    }
    return NULL;
}

static const char *expected_of_version(enum effect_of effect, enum state in)
{
    switch (effect) {
    case FREE:
    case OVERWRITES:
    case SNAPSHOTS:
        return "";
    case DELETES:
        return in == EXPIRED ? "" : refusal(in);
    case ADDS:
    case CHANGES:
        return refusal(in);
    }
    return NULL;
}

static void make_blob(struct fixture *f, const struct attempt *attempt)
{
    const char *headers = textf(f, "x-ms-blob-type: %s%s", attempt->type,
                                attempt->type[0] == 'P' ? "\nx-ms-blob-content-length: 512" : "");

    assert_ok(ask(f, "PUT /box/b", headers, attempt->type[0] == 'B' ? "content" : NULL), 201);
    if (attempt->lease)
        assert_ok(ask(f, "PUT /box/b?comp=lease",
                      "x-ms-lease-action: acquire\nx-ms-lease-duration: -1\n"
                      "x-ms-proposed-lease-id: " ID,
                      NULL),
                  201);
}

static void protect_container(struct fixture *f, enum state in)
{
    static const char *const changes[STATES][3] = {
        [UNLOCKED] = { CHANGE "policy\nx-ms-protection-days: 1" },
        [LOCKED] = { CHANGE "policy\nx-ms-protection-days: 1", CHANGE "lock" },
        [HELD] = { CHANGE "hold\nx-ms-protection-tags: case1" },
        [EXPIRED] = { CHANGE "policy\nx-ms-protection-days: 1", CHANGE "lock" },
        [APPENDS] = { CHANGE
                      "policy\nx-ms-protection-days: 1\nx-ms-protection-append: append-blobs",
                      CHANGE "lock" },
    };

    for (unsigned i = 0; changes[in][i]; i++)
        protect(f, changes[in][i]);
    if (in == EXPIRED)
        clock_advance(TICKS_PER_DAY + S(1));
}

static void protect_version(struct fixture *f, enum state in)
{
    if (in == HELD) {
        assert_ok(ask(f, HOLD, "x-ms-legal-hold: true", NULL), 200);
        return;
    }
    assert_ok(ask(f, POLICY, policy(f, in == UNLOCKED ? "unlocked" : "locked", 100), NULL), 200);
    if (in == EXPIRED)
        clock_advance(S(101));
}

static void try_in(bool of_versions, enum state in, const struct attempt *attempt)
{
    struct reply before, got, after;
    const char *expected;
    struct fixture *f;
    void *state;

    assert_int_equal(fixture_setup(&state), 0);
    f = state;
    if (of_versions)
        enable_versions(f);
    make_blob(f, attempt);
    if (of_versions)
        protect_version(f, in);
    else
        protect_container(f, in);
    expected = of_versions ? expected_of_version(attempt->effect, in)
                           : expected_of_container(attempt->effect, in);
    before = ask(f, "GET /box/b", NULL, NULL);
    got = ask(f, attempt->target, attempt->headers, attempt->body);
    if (strcmp(got.code, expected) != 0 || (got.status == 409) != (expected[0] != '\0')) {
        print_error("%s (%s) in a %s that is %s: %d %s\n", attempt->row, attempt->target,
                    of_versions ? "version" : "container", state_names[in], got.status, got.code);
        fail();
    }
    if (expected[0] != '\0') {
        after = ask(f, "GET /box/b", NULL, NULL);
        assert_ok(after, 200);
        assert_string_equal(header_of(f, &before, "ETag"), header_of(f, &after, "ETag"));
        assert_int_equal(before.body.len, after.body.len);
    }
    fixture_teardown(&state);
}

/* Rule: a container's policy and its legal holds. docs: immutable-container-level-worm-policies
 * "Scenarios" */
static void operations_in_a_container(void **state)
{
    (void)state;
    for (unsigned in = 0; in < STATES; in++)
        for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
            try_in(false, (enum state)in, &attempts[i]);
}

/* Rule: a version's policy and its legal hold. docs: immutable-version-level-worm-policies
 * "Scenarios" */
static void operations_on_a_version(void **state)
{
    (void)state;
    for (unsigned in = 0; in < APPENDS; in++)
        for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
            try_in(true, (enum state)in, &attempts[i]);
}

/* ---- policies and holds of versions ---- */

#define UNTIL_2049 "Fri, 11 Jun 2049 20:00:00 GMT"

static void put(struct fixture *f, const char *headers)
{
    assert_ok(ask(f, "PUT /box/b", headers ? textf(f, BLOCK "\n%s", headers) : BLOCK, "content"),
              201);
}

/* Rule: the policy is returned by Set, Get and List, and the ETag is unchanged. Recorded: go-blob
 * TestAppendSetImmutabilityPolicy, TestBlobPutBlockListWithImmutabilityPolicy */
static void set_and_shown(void **state)
{
    struct fixture *f = *state;
    struct reply before, got;

    enable_versions(f);
    put(f, NULL);
    before = ask(f, "HEAD /box/b", NULL, NULL);
    assert_no_header(f, before, "x-ms-immutability-policy-mode");
    assert_no_header(f, before, "x-ms-legal-hold");
    got = ask(f, POLICY, UNTIL UNTIL_2049 "\n" MODE "Unlocked", NULL);
    assert_ok(got, 200);
    assert_header(f, got, "x-ms-immutability-policy-mode", "unlocked");
    assert_header(f, got, "x-ms-immutability-policy-until-date", UNTIL_2049);
    assert_no_header(f, got, "ETag");
    got = ask(f, HOLD, "x-ms-legal-hold: true", NULL);
    assert_ok(got, 200);
    assert_header(f, got, "x-ms-legal-hold", "true");
    got = ask(f, "GET /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-immutability-policy-mode", "unlocked");
    assert_header(f, got, "x-ms-immutability-policy-until-date", UNTIL_2049);
    assert_header(f, got, "x-ms-legal-hold", "true");
    assert_string_equal(header_of(f, &before, "ETag"), header_of(f, &got, "ETag"));
    got = ask(f, "GET /box?restype=container&comp=list&include=immutabilitypolicy,legalhold", NULL,
              NULL);
    assert_non_null(strstr(arena_string(arena_new(1 << 20), got.body),
                           "<ServerEncrypted>true</ServerEncrypted>"
                           "<ImmutabilityPolicyUntilDate>" UNTIL_2049
                           "</ImmutabilityPolicyUntilDate><ImmutabilityPolicyMode>unlocked"
                           "</ImmutabilityPolicyMode><LegalHold>true</LegalHold></Properties>"));
    got = ask(f, "GET /box?restype=container&comp=list", NULL, NULL);
    assert_null(memmem(got.body.ptr, got.body.len, "Immutab", 7));
    got = ask(f, "DELETE /box/b?comp=immutabilityPolicies", NULL, NULL);
    assert_ok(got, 200);
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToLegalHold");
    assert_ok(ask(f, HOLD, "x-ms-legal-hold: false", NULL), 200);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: a locked policy is only extended. SDK tests: kopia TestAzureStorageImmutabilityProtection
 * (ImmutabilityPolicyDeleteOnLockedPolicy); decision: 1402 */
static void locked_policies(void **state)
{
    struct fixture *f = *state;

    enable_versions(f);
    put(f, NULL);
    assert_ok(ask(f, POLICY, policy(f, "unlocked", 100), NULL), 200);
    assert_ok(ask(f, POLICY, policy(f, "unlocked", 50), NULL), 200);
    assert_ok(ask(f, POLICY, policy(f, "locked", 100), NULL), 200);
    assert_answer(ask(f, POLICY, policy(f, "locked", 90), NULL), 409, "BlobImmutableDueToPolicy");
    assert_answer(ask(f, POLICY, policy(f, "unlocked", 200), NULL), 409,
                  "BlobImmutableDueToPolicy");
    assert_answer(ask(f, "DELETE /box/b?comp=immutabilityPolicies", NULL, NULL), 409,
                  "ImmutabilityPolicyDeleteOnLockedPolicy");
    for (uint64_t i = 2; i < 10; i++)
        assert_ok(ask(f, POLICY, policy(f, "locked", i * 100), NULL), 200);
    /* without a mode it stays locked */
    assert_ok(ask(f, POLICY, textf(f, UNTIL "%s", date(f, clock_now() + S(2000))), NULL), 200);
    clock_advance(S(1990));
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToPolicy");
    clock_advance(S(11));
    assert_answer(ask(f, "DELETE /box/b?comp=immutabilityPolicies", NULL, NULL), 409,
                  "ImmutabilityPolicyDeleteOnLockedPolicy");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: what is not a policy is refused. */
static void malformed(void **state)
{
    static const char *const bad[] = {
        UNTIL "tomorrow",
        UNTIL UNTIL_2049 "\n" MODE "Mutable",
        UNTIL UNTIL_2049 "\n" MODE "",
        UNTIL "Fri, 11 Jun 2010 20:00:00 GMT",
        UNTIL "Fri, 11 Jun 9000 20:00:00 GMT",
    };
    struct fixture *f = *state;

    enable_versions(f);
    put(f, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_answer(ask(f, POLICY, bad[i], NULL), 400, "InvalidHeaderValue");
        assert_answer(ask(f, "PUT /box/b", textf(f, BLOCK "\n%s", bad[i]), "x"), 400,
                      "InvalidHeaderValue");
    }
    assert_answer(ask(f, POLICY, MODE "locked", NULL), 400, "MissingRequiredHeader");
    assert_answer(ask(f, "PUT /box/b", BLOCK "\n" MODE "locked", "x"), 400,
                  "MissingRequiredHeader");
    assert_answer(ask(f, HOLD, NULL, NULL), 400, "MissingRequiredHeader");
    assert_answer(ask(f, HOLD, "x-ms-legal-hold: yes", NULL), 400, "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /box/b", BLOCK "\nx-ms-legal-hold: 1", "x"), 400,
                  "InvalidHeaderValue");
    assert_answer(ask(f, "PUT /box/none?comp=legalhold", "x-ms-legal-hold: true", NULL), 404,
                  "BlobNotFound");
    assert_answer(ask(f, POLICY, UNTIL UNTIL_2049 "\nIf-Match: *", NULL), 400,
                  "ConditionHeadersNotSupported");
    assert_answer(ask(f, POLICY,
                      UNTIL UNTIL_2049 "\nIf-Unmodified-Since: Fri, 11 Jun 2010 20:00:00 GMT",
                      NULL),
                  412, "ConditionNotMet");
}

/* Rule: only a container with immutable storage with versioning has them. decision: 1401 */
static void other_containers(void **state)
{
    struct fixture *f = *state;

    enable_versioning(f);
    put(f, NULL);
    assert_answer(ask(f, POLICY, UNTIL UNTIL_2049, NULL), 409, "BlobOperationNotSupported");
    assert_answer(ask(f, HOLD, "x-ms-legal-hold: true", NULL), 409, "BlobOperationNotSupported");
    assert_answer(ask(f, "DELETE /box/b?comp=immutabilityPolicies", NULL, NULL), 409,
                  "BlobOperationNotSupported");
    assert_answer(ask(f, "PUT /box/b", BLOCK "\nx-ms-legal-hold: true", "x"), 409,
                  "BlobOperationNotSupported");
    assert_answer(ask(f, "PUT /box/b", BLOCK "\n" UNTIL UNTIL_2049, "x"), 409,
                  "BlobOperationNotSupported");
}

static const char *version_of(struct fixture *f, const struct reply *got)
{
    const char *id = header_of(f, got, "x-ms-version-id");

    assert_non_null(id);
    return id;
}

/* Rule: overwriting creates a version, which retains its policy and hold; the new one has the
 * default policy, or that of the request. docs: immutable-version-level-worm-policies "Configure a
 * policy on a previous version" */
static void versions(void **state)
{
    struct fixture *f = *state;
    struct reply first, got;
    const char *id;

    enable_versions(f);
    first = ask(f, "PUT /box/b",
                BLOCK "\n" UNTIL UNTIL_2049 "\n" MODE "Locked\nx-ms-legal-hold: true", "one");
    assert_ok(first, 201);
    id = version_of(f, &first);
    put(f, NULL);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_no_header(f, got, "x-ms-immutability-policy-mode");
    assert_no_header(f, got, "x-ms-legal-hold");
    got = askf(f, NULL, NULL, "GET /box/b?versionid=%s", id);
    assert_ok(got, 200);
    assert_body(got, "one");
    assert_header(f, got, "x-ms-immutability-policy-mode", "locked");
    assert_header(f, got, "x-ms-legal-hold", "true");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?versionid=%s", id), 409,
                  "BlobImmutableDueToLegalHold");
    assert_ok(askf(f, "x-ms-legal-hold: false", NULL, "PUT /box/b?comp=legalhold&versionid=%s", id),
              200);
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?versionid=%s", id), 409,
                  "BlobImmutableDueToPolicy");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    protect(f, CHANGE "policy\nx-ms-protection-days: 2");
    put(f, NULL);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-immutability-policy-mode", "unlocked");
    clock_advance(2 * TICKS_PER_DAY - S(10));
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToPolicy");
    clock_advance(S(11));
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    protect(f, CHANGE "lock");
    put(f, NULL);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-immutability-policy-mode", "locked");
    put(f, UNTIL UNTIL_2049);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_header(f, got, "x-ms-immutability-policy-mode", "unlocked");
    assert_header(f, got, "x-ms-immutability-policy-until-date", UNTIL_2049);
}

/* Rule: its blobs are versioned even if versioning is turned off for the account. decision: 1400 */
static void versioning_turned_off(void **state)
{
    struct fixture *f = *state;
    struct reply first;

    enable_versions(f);
    first = ask(f, "PUT /box/b", BLOCK "\nx-ms-legal-hold: true", "one");
    assert_ok(first, 201);
    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  "<StorageServiceProperties><IsVersioningEnabled>false</IsVersioningEnabled>"
                  "</StorageServiceProperties>"),
              202);
    put(f, NULL);
    put(f, NULL);
    assert_body(askf(f, NULL, NULL, "GET /box/b?versionid=%s", version_of(f, &first)), "one");
}

/* Rule: snapshots have policies and holds of their own, and a deletion with one that is protected
 * deletes nothing. SDK tests: ImmutableStorageWithVersioningTests SetLegalHoldAsync_Snapshot */
static void snapshots(void **state)
{
    struct fixture *f = *state;
    const char *date_of;
    struct reply got;

    enable_versions(f);
    put(f, NULL);
    got = ask(f, "PUT /box/b?comp=snapshot", NULL, NULL);
    assert_ok(got, 201);
    date_of = header_of(f, &got, "x-ms-snapshot");
    assert_ok(ask(f, "PUT /box/b?comp=snapshot", NULL, NULL), 201);
    assert_ok(
        askf(f, "x-ms-legal-hold: true", NULL, "PUT /box/b?comp=legalhold&snapshot=%s", date_of),
        200);
    got = ask(f, "HEAD /box/b", NULL, NULL);
    assert_no_header(f, got, "x-ms-legal-hold");
    got = askf(f, NULL, NULL, "HEAD /box/b?snapshot=%s", date_of);
    assert_header(f, got, "x-ms-legal-hold", "true");
    assert_answer(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: include", NULL), 409,
                  "BlobImmutableDueToLegalHold");
    assert_answer(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 409,
                  "BlobImmutableDueToLegalHold");
    assert_answer(askf(f, NULL, NULL, "DELETE /box/b?snapshot=%s", date_of), 409,
                  "BlobImmutableDueToLegalHold");
    assert_ok(ask(f, "HEAD /box/b", NULL, NULL), 200);
    assert_ok(
        askf(f, "x-ms-legal-hold: false", NULL, "PUT /box/b?comp=legalhold&snapshot=%s", date_of),
        200);
    /* a protected base keeps its snapshots deletable, and the other way round */
    assert_ok(ask(f, HOLD, "x-ms-legal-hold: true", NULL), 200);
    assert_ok(ask(f, "DELETE /box/b", "x-ms-delete-snapshots: only", NULL), 202);
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToLegalHold");
}

/* Rule: what is soft-deleted is not protected, and is permanently deleted when it expires; what is
 * protected cannot be soft-deleted. docs: immutable-storage-overview "Immutable storage with blob
 * soft delete" */
static void soft_deleted(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  "<StorageServiceProperties><DeleteRetentionPolicy><Enabled>true</Enabled>"
                  "<Days>1</Days></DeleteRetentionPolicy></StorageServiceProperties>"),
              202);
    put(f, NULL);
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    protect(f, CHANGE "hold\nx-ms-protection-tags: case1");
    assert_ok(ask(f, "PUT /box/b?comp=undelete", NULL, NULL), 200);
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToLegalHold");
    protect(f, CHANGE "release\nx-ms-protection-tags: case1");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    protect(f, CHANGE "hold\nx-ms-protection-tags: case1");
    clock_advance(TICKS_PER_DAY + S(1));
    assert_nothing_is_left(f);
}

/* ---- containers ---- */

static bool shows(const struct reply *got, const char *text)
{
    return memmem(got->body.ptr, got->body.len, text, strlen(text)) != NULL;
}

/* Rule: only the operator changes it; a client does not find the operation. */
static void of_operator(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, PROTECT, CHANGE "hold\nx-ms-protection-tags: case1", NULL), 400,
                  "InvalidQueryParameterValue");
    assert_answer(ask(f, "GET /box?restype=container&comp=protection", NULL, NULL), 400,
                  "InvalidQueryParameterValue");
}

/* Rule: an unlocked policy is changed and removed, a locked one extended five times. docs:
 * immutable-storage-overview "Locked versus unlocked policies" */
static void policies_of_containers(void **state)
{
    static const char *const bad[] = {
        CHANGE "policy\nx-ms-protection-days: 0",
        CHANGE "policy\nx-ms-protection-days: 146001",
        CHANGE "policy",
        CHANGE "policy\nx-ms-protection-days: 1\nx-ms-protection-append: some",
        CHANGE "policy\nx-ms-protection-days: 1\nx-ms-protection-tags: case1",
        CHANGE "lock\nx-ms-protection-days: 1",
        CHANGE "lock",
        CHANGE "remove",
        CHANGE "extend\nx-ms-protection-days: 9",
        CHANGE "forget",
        NULL,
    };
    struct fixture *f = *state;
    struct reply got;

    for (unsigned i = 0; bad[i]; i++)
        assert_answer(ask_as_operator(f, PROTECT, bad[i]), 400, "InvalidInput");
    protect(f, CHANGE "policy\nx-ms-protection-days: 146000");
    protect(f, CHANGE "policy\nx-ms-protection-days: 2\nx-ms-protection-append: all");
    protect(f, CHANGE "remove");
    got = ask(f, "HEAD /box?restype=container", NULL, NULL);
    assert_header(f, got, "x-ms-has-immutability-policy", "false");
    protect(f, CHANGE "policy\nx-ms-protection-days: 2\nx-ms-protection-append: append-blobs");
    protect(f, CHANGE "lock");
    got = ask(f, "HEAD /box?restype=container", NULL, NULL);
    assert_header(f, got, "x-ms-has-immutability-policy", "true");
    assert_header(f, got, "x-ms-has-legal-hold", "false");
    assert_answer(ask_as_operator(f, PROTECT, CHANGE "remove"), 409,
                  "ContainerImmutabilityPolicyLocked");
    assert_answer(ask_as_operator(f, PROTECT, CHANGE "policy\nx-ms-protection-days: 9"), 409,
                  "ContainerImmutabilityPolicyLocked");
    assert_answer(ask_as_operator(f, PROTECT, CHANGE "extend\nx-ms-protection-days: 2"), 400,
                  "InvalidInput");
    for (int i = 3; i < 8; i++)
        protect(f, textf(f, CHANGE "extend\nx-ms-protection-days: %d", i));
    assert_answer(ask_as_operator(f, PROTECT, CHANGE "extend\nx-ms-protection-days: 9"), 400,
                  "InvalidInput");
    got = ask_as_operator(f, "GET /box?restype=container&comp=protection", NULL);
    assert_ok(got, 200);
    assert_true(shows(&got, "{\"versions\":false,\"policy\":\"locked\",\"days\":7,"
                            "\"append\":\"append-blobs\",\"extensions\":5,\"holds\":[],"));
    assert_true(shows(&got, "\"change\":\"extend\",\"days\":7}]}"));
    got = ask(f, "GET /?comp=list", NULL, NULL);
    assert_true(shows(&got, "<HasImmutabilityPolicy>true</HasImmutabilityPolicy>"));
}

/* Rule: up to ten tags of 3 to 23 letters and digits, in lower case. docs:
 * immutable-container-level-worm-policies "Limits" */
static void holds_of_containers(void **state)
{
    static const char *const bad[] = {
        CHANGE "hold",
        CHANGE "hold\nx-ms-protection-tags: ab",
        CHANGE "hold\nx-ms-protection-tags: abc,",
        CHANGE "hold\nx-ms-protection-tags: a-b",
        CHANGE "hold\nx-ms-protection-tags: abcdefghijklmnopqrstuvwx",
        CHANGE "hold\nx-ms-protection-tags: aa1,aa2,aa3,aa4,aa5,aa6,aa7,aa8,aa9,aa10,aa11",
        CHANGE "hold\nx-ms-protection-tags: abc\nx-ms-protection-append: append-blobs",
        NULL,
    };
    struct fixture *f = *state;
    struct reply got;

    for (unsigned i = 0; bad[i]; i++)
        assert_answer(ask_as_operator(f, PROTECT, bad[i]), 400, "InvalidInput");
    protect(f, CHANGE "hold\nx-ms-protection-tags: Case1,case2,case1");
    got = ask_as_operator(f, PROTECT, CHANGE "hold\nx-ms-protection-tags: case2,case3");
    assert_true(shows(&got, "\"holds\":[\"case1\",\"case2\",\"case3\"],\"holdsAppend\":\"none\""));
    got = ask(f, "HEAD /box?restype=container", NULL, NULL);
    assert_header(f, got, "x-ms-has-legal-hold", "true");
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 409,
                  "ContainerHasLegalHold");
    protect(f, CHANGE "release\nx-ms-protection-tags: case1,CASE2");
    assert_ok(ask(f, "PUT /box/b", BLOCK, "x"), 201);
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToLegalHold");
    protect(f, CHANGE "release\nx-ms-protection-tags: case3");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    assert_ok(ask(f, "DELETE /box?restype=container", NULL, NULL), 202);
}

/* Rule: holds that permit appending; blobs of other types are as protected as without. */
static void appending_to_held_blobs(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "PUT /box/b", "x-ms-blob-type: AppendBlob", NULL), 201);
    protect(f, CHANGE "hold\nx-ms-protection-tags: case1\nx-ms-protection-append: all");
    assert_ok(ask(f, "PUT /box/b?comp=appendblock", NULL, "x"), 201);
    protect(f, CHANGE "policy\nx-ms-protection-days: 1");
    assert_answer(ask(f, "PUT /box/b?comp=appendblock", NULL, "x"), 409,
                  "BlobImmutableDueToPolicy");
    protect(f, CHANGE "policy\nx-ms-protection-days: 1\nx-ms-protection-append: append-blobs");
    clock_advance(TICKS_PER_DAY - S(10));
    assert_ok(ask(f, "PUT /box/b?comp=appendblock", NULL, "x"), 201);
    protect(f, CHANGE "release\nx-ms-protection-tags: case1");
    clock_advance(TICKS_PER_DAY - S(10));
    /* from the last append */
    assert_answer(ask(f, "DELETE /box/b", NULL, NULL), 409, "BlobImmutableDueToPolicy");
    clock_advance(S(11));
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
}

/* Rule: clients never delete a protected container, the operator only an empty one, once nothing can
 * be created in it. github.com/Azure/azure-sdk-for-python/issues/22255; decision: 1407 */
static void deletion_of_containers(void **state)
{
    struct fixture *f = *state;

    protect(f, CHANGE "policy\nx-ms-protection-days: 1");
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 409,
                  "BlobImmutableDueToPolicy");
    protect(f, CHANGE "lock");
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 409,
                  "ContainerImmutabilityPolicyLocked");
    assert_answer(ask_as_operator(f, "DELETE /box?restype=container", NULL), 409,
                  "ContainerImmutabilityPolicyLocked");
    put(f, NULL);
    protect(f, CHANGE "close");
    assert_answer(ask(f, "PUT /box/c", BLOCK, "x"), 409, "ContainerBeingDeleted");
    assert_ok(ask(f, "GET /box/b", NULL, NULL), 200);
    clock_advance(TICKS_PER_DAY + S(1));
    assert_answer(ask_as_operator(f, "DELETE /box?restype=container", NULL), 409,
                  "ContainerImmutabilityPolicyLocked");
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    protect(f, CHANGE "open");
    put(f, NULL);
    clock_advance(TICKS_PER_DAY + S(1));
    assert_ok(ask(f, "DELETE /box/b", NULL, NULL), 202);
    protect(f, CHANGE "close");
    assert_ok(ask_as_operator(f, "DELETE /box?restype=container", NULL), 202);
}

/* Rule: versions are never disabled, and such a container is deleted only by the operator. */
static void containers_with_versions(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_answer(ask_as_operator(f, PROTECT, CHANGE "versions"), 409, "BlobOperationNotSupported");
    enable_versioning(f);
    protect(f, CHANGE "policy\nx-ms-protection-days: 1");
    assert_answer(ask_as_operator(f, PROTECT, CHANGE "versions"), 409, "BlobOperationNotSupported");
    protect(f, CHANGE "remove");
    enable_versions(f);
    got = ask(f, "HEAD /box?restype=container", NULL, NULL);
    assert_header(f, got, "x-ms-immutable-storage-with-versioning-enabled", "true");
    got = ask(f, "GET /?comp=list", NULL, NULL);
    assert_true(shows(&got, "<ImmutableStorageWithVersioningEnabled>true<"));
    assert_answer(ask_as_operator(f, PROTECT, CHANGE "hold\nx-ms-protection-tags: case1"), 409,
                  "BlobOperationNotSupported");
    assert_answer(ask_as_operator(f, PROTECT,
                                  CHANGE "policy\nx-ms-protection-days: 1\n"
                                         "x-ms-protection-append: all"),
                  400, "InvalidInput");
    assert_answer(ask(f, "DELETE /box?restype=container", NULL, NULL), 409,
                  "ContainerImmutableStorageWithVersioningEnabled");
    protect(f, CHANGE "close");
    assert_ok(ask_as_operator(f, "DELETE /box?restype=container", NULL), 202);
}

/* Rule: the files of a hierarchical container are protected by its policy, renames included, and
 * directories while they are not empty. */
static void hierarchical(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask_as_operator(f, PROTECT, CHANGE "versions"), 409, "BlobOperationNotSupported");
    assert_ok(ask(f, "PUT /box/d/b", BLOCK, "x"), 201);
    assert_answer(ask(f, "PUT /box/d/b?comp=legalhold", "x-ms-legal-hold: true", NULL), 409,
                  "BlobOperationNotSupported");
    protect(f, CHANGE "hold\nx-ms-protection-tags: case1");
    assert_answer(ask(f, "DELETE /box/d/b", NULL, NULL), 409, "BlobImmutableDueToLegalHold");
    assert_answer(ask(f, "PUT /box/d/b", BLOCK, "y"), 409, "BlobImmutableDueToLegalHold");
    fixture_serve(f, &dfs_service);
    assert_answer(ask(f, "PUT /box/e", "x-ms-rename-source: /box/d", NULL), 409,
                  "BlobImmutableDueToLegalHold");
    assert_answer(ask(f, "PUT /box/d/c", "x-ms-rename-source: /box/d/b", NULL), 409,
                  "BlobImmutableDueToLegalHold");
    assert_answer(ask(f, "DELETE /box/d?recursive=true", NULL, NULL), 409,
                  "BlobImmutableDueToLegalHold");
    assert_answer(ask(f, "PUT /box/d/b?resource=file", NULL, NULL), 409,
                  "BlobImmutableDueToLegalHold");
    assert_answer(ask(f, "PATCH /box/d/b?action=append&position=1", NULL, "y"), 409,
                  "BlobImmutableDueToLegalHold");
    assert_ok(ask(f, "PUT /box/empty?resource=directory", NULL, NULL), 201);
    assert_ok(ask(f, "DELETE /box/empty?recursive=true", NULL, NULL), 200);
    fixture_serve(f, NULL);
    protect(f, CHANGE "release\nx-ms-protection-tags: case1");
    assert_ok(ask(f, "DELETE /box/d/b", NULL, NULL), 202);
}

/* Rule: a file that its container retains does not expire before. decision: 1408 */
static void expiry(void **state)
{
    struct fixture *f = *state;
    struct reply got;

    assert_ok(ask(f, "PUT /box/b", BLOCK, "x"), 201);
    assert_ok(ask(f, "PUT /box/b?comp=expiry",
                  "x-ms-expiry-option: RelativeToNow\nx-ms-expiry-time: 10000", NULL),
              200);
    protect(f, CHANGE "policy\nx-ms-protection-days: 1");
    assert_answer(ask(f, "PUT /box/b?comp=expiry",
                      "x-ms-expiry-option: RelativeToNow\nx-ms-expiry-time: 5000", NULL),
                  409, "BlobImmutableDueToPolicy");
    clock_advance(S(11));
    fixture_run_due(f);
    assert_body(ask(f, "GET /box/b", NULL, NULL), "x");
    fixture_serve(f, &dfs_service);
    assert_answer(ask(f, "PUT /box/c", "x-ms-rename-source: /box/b", NULL), 409,
                  "BlobImmutableDueToPolicy");
    fixture_serve(f, NULL);
    got = ask(f, "GET /box?restype=container&comp=list", NULL, NULL);
    assert_true(shows(&got, "<Name>b</Name>"));
    clock_advance(TICKS_PER_DAY - S(3600));
    fixture_run_due(f);
    assert_ok(ask(f, "HEAD /box/b", NULL, NULL), 200);
    protect(f, CHANGE "hold\nx-ms-protection-tags: case1");
    clock_advance(S(3600));
    fixture_run_due(f);
    assert_ok(ask(f, "HEAD /box/b", NULL, NULL), 200);
    protect(f, CHANGE "release\nx-ms-protection-tags: case1");
    assert_answer(ask(f, "HEAD /box/b", NULL, NULL), 404, "BlobNotFound");
    clock_advance(S(3600));
    fixture_run_due(f);
    protect(f, CHANGE "close");
    assert_ok(ask_as_operator(f, "DELETE /box?restype=container", NULL), 202);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
#define TEST_OF_PATHS(name)                                                                        \
    cmocka_unit_test_setup_teardown(name, fixture_setup_hierarchical, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_tried),
        cmocka_unit_test(operations_in_a_container),
        cmocka_unit_test(operations_on_a_version),
        TEST(set_and_shown),
        TEST(locked_policies),
        TEST(malformed),
        TEST(other_containers),
        TEST(versions),
        TEST(versioning_turned_off),
        TEST(snapshots),
        TEST(soft_deleted),
        TEST(of_operator),
        TEST(policies_of_containers),
        TEST(holds_of_containers),
        TEST(appending_to_held_blobs),
        TEST(deletion_of_containers),
        TEST(containers_with_versions),
        TEST_OF_PATHS(hierarchical),
        TEST_OF_PATHS(expiry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
