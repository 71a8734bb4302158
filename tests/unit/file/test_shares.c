/* Shares without a network: what ages, what is counted, what comes of a damaged record. */
#include "fixture.h"

#include <stdlib.h>

#include "file/file.h"
#include "service/names.h"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &file_service);
    assert_ok(ask(*state, "PUT /sha?restype=share", NULL, NULL), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

/* Rule: snapshots have dates of whole seconds, each its own, also when a second is taken.
 * semantics 8.1; decision: 321 */
static void dates_of_snapshots(void **state)
{
    struct fixture *f = *state;
    instant last = 0;

    for (int i = 0; i < 5; i++) {
        struct reply made = ask(f, "PUT /sha?restype=share&comp=snapshot", NULL, NULL);
        instant date;

        assert_ok(made, 201);
        assert_true(
            instant_parse_iso(bytes_from_string(header_of(f, &made, "x-ms-snapshot")), &date));
        assert_int_equal(date % TICKS_PER_SECOND, 0);
        assert_true(date > last);
        last = date;
    }
}

/* Rule: the record that a share was deleted is forgotten by a task. decision: 62 */
static void deletion_is_forgotten(void **state)
{
    struct fixture *f = *state;

    assert_ok(ask(f, "DELETE /sha?restype=share", NULL, NULL), 202);
    assert_ok(ask(f, "DELETE /sha?restype=share", NULL, NULL), 202);
    assert_answer(ask(f, "DELETE /shb?restype=share", NULL, NULL), 404, "ShareNotFound");
    assert_answer(
        ask(f, "DELETE /sha?restype=share&sharesnapshot=2026-01-01T00:00:00.0000000Z", NULL, NULL),
        404, "ShareNotFound");
}

static void put(struct fixture *f, const char *key, const char *value)
{
    struct partition at = { account_space("file", bytes_from_string("devstoreaccount1")),
                            bytes_from_string("bad") };
    struct arena *arena = arena_new(1 << 16);
    struct read_view *snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { snapshot, changes };
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_from_string(value), NULL, 0);
    assert_int_equal(store_commit(store_of(f), &part, 1, 1, STORE_MAY_BLOCK, &sequence), STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

/* Rule: no silent wrong answer (promise 5). */
static void damaged_records(void **state)
{
    struct fixture *f = *state;

    put(f, "s", "\x01?");
    assert_answer(ask(f, "GET /bad?restype=share", NULL, NULL), 500, "InternalError");
    assert_answer(ask(f, "PUT /bad?restype=share", NULL, NULL), 500, "InternalError");
    assert_answer(ask(f, "GET /?comp=list", NULL, NULL), 500, "InternalError");
    assert_ok(ask(f, "GET /?comp=list&prefix=sha", NULL, NULL), 200);
}

/* Rule: a token comes with its intent. rest: Authorize-with-Azure-Active-Directory */
static void intent(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "GET /sha/d", "Authorization: Bearer x", NULL), 400,
                  "MissingRequiredHeader");
    assert_answer(ask(f, "GET /sha?restype=directory", "Authorization: Bearer x", NULL), 400,
                  "MissingRequiredHeader");
    assert_ok(ask(f, "GET /sha?restype=share", "Authorization: Bearer x", NULL), 200);
    assert_answer(ask(f, "GET /sha?restype=share", "x-ms-file-request-intent: read", NULL), 400,
                  "InvalidHeaderValue");
    assert_ok(ask(f, "GET /sha?restype=share", "x-ms-file-request-intent: backup", NULL), 200);
}

/* Rule: paths that are no text, or name nothing, are refused. */
static void paths(void **state)
{
    struct fixture *f = *state;

    assert_answer(ask(f, "GET /sha/%00", NULL, NULL), 400, "InvalidUri");
    assert_answer(ask(f, "GET /sha/%FF", NULL, NULL), 400, "InvalidUri");
    assert_answer(ask(f, "GET /sha/%4", NULL, NULL), 400, "InvalidUri");
    assert_answer(ask(f, "GET //a", NULL, NULL), 400, "InvalidUri");
    assert_ok(ask(f, "GET /sha/?restype=share", NULL, NULL), 200);
    assert_answer(ask(f, "GET /sha?restype=share&sharesnapshot=x", NULL, NULL), 400,
                  "InvalidQueryParameterValue");
    assert_answer(ask(f, "GET /sha?restype=share", "x-ms-allow-trailing-dot: 1", NULL), 400,
                  "InvalidHeaderValue");
}

/* ---- shares that are deleted and kept ---- */

static void keep_for(struct fixture *f, unsigned days)
{
    const char *inner = days > 0 ? textf(f, "<Enabled>true</Enabled><Days>%u</Days>", days)
                                 : "<Enabled>false</Enabled>";

    assert_ok(ask(f, "PUT /?restype=service&comp=properties", NULL,
                  textf(f,
                        "<StorageServiceProperties><ShareDeleteRetentionPolicy>%s"
                        "</ShareDeleteRetentionPolicy></StorageServiceProperties>",
                        inner)),
              202);
}

/* A share with a file of this many bytes, more than lie in a record. */
static void fill(struct fixture *f, const char *name, size_t bytes)
{
    char *body = malloc(bytes);

    memset(body, 'x', bytes);
    assert_ok(askf(f, NULL, NULL, "PUT /%s?restype=share", name), 201);
    assert_ok(askf(f, textf(f, "x-ms-type: file\nx-ms-content-length: %zu", bytes), NULL,
                   "PUT /%s/f", name),
              201);
    assert_ok(ask_bytes(f, textf(f, "PUT /%s/f?comp=range", name),
                        textf(f, "x-ms-write: update\nx-ms-range: bytes=0-%zu", bytes - 1),
                        bytes_of(body, bytes)),
              201);
    free(body);
}

static size_t deleted_shares(struct fixture *f)
{
    struct reply list = ask(f, "GET /?comp=list&include=deleted", NULL, NULL);
    struct bytes rest;
    size_t count = 0;

    assert_ok(list, 200);
    rest = list.body;
    for (size_t i = 0; i + 9 <= rest.len; i++)
        count += memcmp(rest.ptr + i, "<Deleted>", 9) == 0;
    return count;
}

/* The version of the first deleted share of a list. */
static const char *version_of(struct fixture *f, const char *prefix)
{
    struct reply list = askf(f, NULL, NULL, "GET /?comp=list&include=deleted&prefix=%s", prefix);
    const char *text = textf(f, "%.*s", BYTES_ARG(list.body));
    const char *at = strstr(text, "<Version>");

    assert_non_null(at);
    return textf(f, "%.16s", at + strlen("<Version>"));
}

static void restore(struct fixture *f, const char *name, const char *version, int status,
                    const char *code)
{
    assert_answer(
        askf(f,
             textf(f, "x-ms-deleted-share-name: %s\nx-ms-deleted-share-version: %s", name, version),
             NULL, "PUT /%s?restype=share&comp=undelete", name),
        status, code);
}

enum { MANY = 100000 };

/* Rule: what is deleted is kept with all its bytes until its days are over, and then given back; what was
 * restored stays, and its task is gone. rest: Delete-Share; decision: 345 */
static void kept_shares_end(void **state)
{
    struct fixture *f = *state;
    const char *gone, *back;

    keep_for(f, 2);
    fill(f, "one", MANY);
    assert_ok(ask(f, "PUT /one?restype=share&comp=snapshot", NULL, NULL), 201);
    fill(f, "two", MANY);
    assert_ok(ask(f, "DELETE /one?restype=share", "x-ms-delete-snapshots: include", NULL), 202);
    assert_ok(ask(f, "DELETE /two?restype=share", NULL, NULL), 202);
    gone = version_of(f, "one");
    back = version_of(f, "two");
    assert_int_equal(deleted_shares(f), 2);
    clock_advance(TICKS_PER_DAY);
    fixture_run_due(f);
    assert_int_equal(bytes_kept(f), 2 * MANY);
    restore(f, "two", back, 201, "");
    assert_int_equal(deleted_shares(f), 1);
    clock_advance(TICKS_PER_DAY);
    restore(f, "one", gone, 404, "ShareNotFound");
    fixture_run_due(f);
    assert_int_equal(deleted_shares(f), 0);
    assert_int_equal(bytes_kept(f), MANY);
    assert_body(ask(f, "GET /two/f", "x-ms-range: bytes=5-7", NULL), "xxx");
    keep_for(f, 0);
    assert_ok(ask(f, "DELETE /two?restype=share", NULL, NULL), 202);
    assert_int_equal(bytes_kept(f), 0);
}

/* Rule: a deleted share is restored until the very end of its days, and no longer, whether its task has
 * run or not; one that is deleted again has a task of its own. rest: Restore-Share */
static void restored_and_deleted_again(void **state)
{
    struct fixture *f = *state;
    const char *first;

    keep_for(f, 1);
    fill(f, "one", MANY);
    assert_ok(ask(f, "DELETE /one?restype=share", NULL, NULL), 202);
    first = version_of(f, "one");
    clock_advance(TICKS_PER_DAY / 2);
    restore(f, "one", first, 201, "");
    assert_ok(ask(f, "DELETE /one?restype=share", NULL, NULL), 202);
    assert_string_not_equal(version_of(f, "one"), first);
    clock_advance(TICKS_PER_DAY / 2 + TICKS_PER_SECOND);
    fixture_run_due(f);
    assert_int_equal(bytes_kept(f), MANY);
    restore(f, "one", first, 404, "ShareNotFound");
    clock_advance(TICKS_PER_DAY / 2);
    fixture_run_due(f);
    assert_int_equal(bytes_kept(f), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dates_of_snapshots),
        TEST(deletion_is_forgotten),
        TEST(damaged_records),
        TEST(intent),
        TEST(paths),
        TEST(kept_shares_end),
        TEST(restored_and_deleted_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
