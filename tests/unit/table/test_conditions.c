/* If-Match of every operation on an entity, and what each does to it.
 * rest: Inserting-and-Updating-Entities; semantics 6 */
#include "fixture.h"

#include <stdlib.h>

#include "table/table.h"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &table_service);
    assert_ok(ask(*state, "POST /Tables", NULL, "{\"TableName\":\"abc\"}"), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

#define ENTITY "/abc(PartitionKey='p',RowKey='r')"

enum kind { REPLACES, MERGES, DELETES };

/* Every way to ask for it. */
static const struct way {
    const char *target, *header;
    enum kind kind;
} ways[] = {
    { "PUT " ENTITY, "", REPLACES },
    { "POST " ENTITY, "X-HTTP-Method: PUT\n", REPLACES },
    { "MERGE " ENTITY, "", MERGES },
    { "PATCH " ENTITY, "", MERGES },
    { "POST " ENTITY, "X-HTTP-Method: MERGE\n", MERGES },
    { "POST " ENTITY, "X-HTTP-Method: PATCH\n", MERGES },
    { "DELETE " ENTITY, "", DELETES },
    { "POST " ENTITY, "X-HTTP-Method: DELETE\n", DELETES },
};

/* What If-Match says; "=": the entity's ETag. `there`, `missing`: status and code. */
static const struct match {
    const char *value;
    const char *there, *missing;
} matches[] = {
    { "*", "", "404 ResourceNotFound" },
    { "=", "", "404 ResourceNotFound" },
    { "W/\"datetime'2009-04-30T00%3A00%3A00Z'\"", "412 UpdateConditionNotSatisfied",
      "404 ResourceNotFound" },
    { "W/\"0x8D434F1B2E5F3D0\"", "412 UpdateConditionNotSatisfied", "404 ResourceNotFound" },
    { "W/\"x\"", "412 UpdateConditionNotSatisfied", "404 ResourceNotFound" },
    { "\"0\"", "400 InvalidInput", "400 InvalidInput" }, /* not weak */
    { "\"datetime'2009-04-30T00%3A00%3A00Z'\"", "400 InvalidInput", "400 InvalidInput" },
    { "W/\"x\", W/\"y\"", "400 InvalidInput", "400 InvalidInput" }, /* more than one */
    { "W/x", "400 InvalidInput", "400 InvalidInput" },
    { "W/\"", "400 InvalidInput", "400 InvalidInput" },
    { "x", "400 InvalidInput", "400 InvalidInput" },
};

static const char *etag_now(struct fixture *f)
{
    struct reply answer = ask(f, "GET " ENTITY, NULL, NULL);

    return answer.status == 200 ? header_of(f, &answer, "ETag") : NULL;
}

/* Makes the entity {a:1,b:1}, or none; returns its ETag. */
static const char *begin(struct fixture *f, bool there)
{
    ask(f, "DELETE " ENTITY, "If-Match: *", NULL);
    if (there)
        assert_ok(ask(f, "PUT " ENTITY, NULL, "{\"a\":1,\"b\":1}"), 204);
    return etag_now(f);
}

static void assert_state(struct fixture *f, const char *properties)
{
    struct reply answer =
        ask(f, "GET " ENTITY "?$select=a,b,c", "Accept: application/json;odata=nometadata", NULL);

    if (!properties) {
        assert_int_equal(answer.status, 404);
        return;
    }
    assert_bytes(answer.body, properties);
}

static const char *result_of(enum kind kind, bool there)
{
    if (kind == DELETES)
        return NULL;
    return kind == MERGES && there ? "{\"a\":1,\"b\":2,\"c\":2}" : "{\"a\":null,\"b\":2,\"c\":2}";
}

static struct reply ask_way(struct fixture *f, const struct way *way, const char *match)
{
    return ask(f, way->target, textf(f, "%s%s", way->header, match),
               way->kind == DELETES ? NULL : "{\"b\":2,\"c\":2}");
}

static void check(struct fixture *f, const struct way *way, const struct match *match, bool there)
{
    const char *before = begin(f, there);
    const char *value = strcmp(match->value, "=") == 0
                            ? (before ? before : "W/\"datetime'2009-04-30T00%3A00%3A00Z'\"")
                            : match->value;
    const char *refusal = there ? match->there : match->missing;
    struct reply answer = ask_way(f, way, textf(f, "If-Match: %s", value));

    if (*refusal) {
        assert_string_equal(answer.code, refusal + strlen("404 "));
        assert_int_equal(answer.status, atol(refusal));
        assert_state(f, there ? "{\"a\":1,\"b\":1,\"c\":null}" : NULL);
        if (there)
            assert_string_equal(etag_now(f), before);
        return;
    }
    assert_ok(answer, 204);
    assert_state(f, result_of(way->kind, there));
    if (way->kind == DELETES)
        return;
    assert_header(f, answer, "ETag", etag_now(f));
    assert_string_not_equal(etag_now(f), before);
}

/* Rule: the table of semantics 6: every way, every If-Match, the entity there or not. */
static void if_match_is_kept(void **state)
{
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        for (size_t m = 0; m < sizeof matches / sizeof matches[0]; m++) {
            check(*state, &ways[w], &matches[m], true);
            check(*state, &ways[w], &matches[m], false);
        }
    }
}

/* Rule: without If-Match, or with an empty one, a replace and a merge are upserts; a delete is
 * refused. decisions: 143, 847 */
static void without_if_match(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        for (int n = 0; n < 4; n++) {
            bool there = n & 1;
            const char *before = begin(f, there);
            struct reply answer = ask_way(f, &ways[i], n & 2 ? "If-Match: " : "");

            if (ways[i].kind == DELETES) {
                assert_answer(answer, 400, "MissingRequiredHeader");
                assert_state(f, there ? "{\"a\":1,\"b\":1,\"c\":null}" : NULL);
                continue;
            }
            assert_ok(answer, 204);
            assert_state(f, result_of(ways[i].kind, there));
            assert_true(!before || strcmp(before, etag_now(f)) != 0);
        }
    }
}

/* Rule: other conditions are of no operation on entities, beside If-Match or alone. semantics 6 */
static void other_conditions(void **state)
{
    static const char *const targets[] = { "PUT " ENTITY, "MERGE " ENTITY, "DELETE " ENTITY,
                                           "GET " ENTITY, "GET /abc",      "POST /abc" };
    static const char *const headers[] = { "If-None-Match: *",
                                           "If-Modified-Since: Wed, 09 Sep 2026 08:00:00 GMT",
                                           "If-Unmodified-Since: Wed, 09 Sep 2026 08:00:00 GMT" };
    static const char body[] = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}";
    struct fixture *f = *state;

    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        bool is_conditional =
            strstr(targets[t], "GET") != targets[t] && strstr(targets[t], "POST") == NULL;
        bool has_body = strncmp(targets[t], "GET", 3) != 0 && strncmp(targets[t], "DELETE", 6) != 0;

        for (size_t h = 0; h < sizeof headers / sizeof headers[0]; h++)
            assert_answer(ask(f, targets[t],
                              textf(f, "%s%s", is_conditional ? "If-Match: *\n" : "", headers[h]),
                              has_body ? body : NULL),
                          400, "ConditionHeadersNotSupported");
    }
    assert_state(f, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(if_match_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(without_if_match, setup, teardown),
        cmocka_unit_test_setup_teardown(other_conditions, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
