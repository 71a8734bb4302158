/* Shares without a network: what ages, what is counted, what comes of a damaged record. */
#include "fixture.h"

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
    struct snapshot *snapshot = snapshot_open(store_of(f), at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { snapshot, changes };
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string(key), bytes_from_string(value), NULL, 0);
    assert_int_equal(store_commit(store_of(f), &part, 1, 1, STORE_MAY_BLOCK, &sequence), STORE_OK);
    snapshot_close(snapshot);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dates_of_snapshots),
        TEST(deletion_is_forgotten),
        TEST(damaged_records),
        TEST(intent),
        TEST(paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
