/* In which form answers come, and what a body may be: OData's headers. rest/odata.h; decision: 142;
 * rest: Payload-Format-for-Table-Service-Operations, Setting-the-Prefer-Header */
#include "fixture.h"

#include "table/table.h"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &table_service);
    assert_ok(ask(*state, "POST /Tables", NULL, "{\"TableName\":\"abc\"}"), 201);
    assert_ok(ask(*state, "PUT /abc(PartitionKey='p',RowKey='r')", NULL, "{\"n\":1}"), 204);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

/* The form of an answer, "nometadata", or the code of a refusal. */
static const char *form_of(struct fixture *f, struct reply answer)
{
    struct bytes type, rest, form;

    if (*answer.code)
        return answer.code;
    bytes_cut(bytes_from_string(header_of(f, &answer, "Content-Type")), ';', &type, &rest);
    assert_true(bytes_is(type, "application/json"));
    bytes_cut(rest, ';', &form, &rest);
    assert_true(bytes_is(rest, "streaming=true;charset=utf-8"));
    assert_true(bytes_has_prefix(form, bytes_from_string("odata=")));
    return textf(f, "%.*s", BYTES_ARG(bytes_from(form, strlen("odata="))));
}

/* Rule: $format before Accept; of several types the first that can be answered. decision: 142 */
static void the_form_that_is_asked_for(void **state)
{
    static const struct {
        const char *accept, *format, *form;
    } rows[] = {
        { "", "", "minimalmetadata" },
        { "*/*", "", "minimalmetadata" },
        { "application/*", "", "minimalmetadata" },
        { "application/json", "", "minimalmetadata" },
        { "APPLICATION/JSON;ODATA=NOMETADATA", "", "nometadata" },
        { "application/json;odata=nometadata", "", "nometadata" },
        { "application/json; odata=minimalmetadata", "", "minimalmetadata" },
        { "application/json;odata=fullmetadata;charset=utf-8", "", "fullmetadata" },
        { "text/html, application/json;odata=nometadata, */*", "", "nometadata" },
        { "application/atom+xml,application/json", "", "minimalmetadata" },
        { "application/json;odata=verbose,application/json", "", "minimalmetadata" },
        { "application/json;odata=verbose", "", "InvalidHeaderValue" },
        { "text/html", "", "InvalidHeaderValue" },
        { "application/atom+xml", "", "AtomFormatNotSupported" },
        { "application/atom+xml,text/html", "", "AtomFormatNotSupported" },
        { "application/xml", "", "AtomFormatNotSupported" },
        { "application/atom+xml", "json", "minimalmetadata" },
        { "application/json", "application/json;odata=nometadata", "nometadata" },
        { "application/json;odata=nometadata", "application/json;odata=fullmetadata",
          "fullmetadata" },
        { "application/json", "atom", "AtomFormatNotSupported" },
        { "application/json", "application/atom%2Bxml", "AtomFormatNotSupported" },
        { "application/json", "xml", "InvalidQueryParameterValue" },
        { "application/json", "application/json;odata=verbose", "InvalidQueryParameterValue" },
    };
    static const char *const targets[] = { "/abc", "/abc(PartitionKey='p',RowKey='r')", "/Tables",
                                           "/Tables('abc')" };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *accept = *rows[i].accept ? textf(f, "Accept: %s", rows[i].accept) : NULL;
        const char *format = *rows[i].format ? textf(f, "?$format=%s", rows[i].format) : "";

        for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++)
            assert_string_equal(form_of(f, askf(f, accept, NULL, "GET %s%s", targets[t], format)),
                                rows[i].form);
    }
}

/* Rule: what is inserted or created comes back unless it is not wanted, in the form that is asked
 * for, and what was preferred is said, of refusals too. Recorded */
static void what_an_insert_prefers(void **state)
{
    static const struct {
        const char *prefer;
        int status;
        const char *applied;
    } rows[] = {
        { "", 201, NULL },
        { "return-content", 201, "return-content" },
        { "return-no-content", 204, "return-no-content" },
        { "RETURN-NO-CONTENT", 204, "return-no-content" },
        { "return=minimal", 201, NULL },
    };
    struct fixture *f = *state;

    for (int i = 0; i < 10; i++) {
        const char *prefer = rows[i / 2].prefer;
        bool of_table = i % 2 == 1;
        const char *target = of_table ? "POST /Tables" : "POST /abc";
        const char *body = of_table ? textf(f, "{\"TableName\":\"made%d\"}", i)
                                    : textf(f, "{\"PartitionKey\":\"q\",\"RowKey\":\"%d\"}", i);
        const char *headers = textf(f, "Accept: application/json;odata=nometadata%s%s",
                                    *prefer ? "\nPrefer: " : "", prefer);
        struct reply done = ask(f, target, headers, body), refused = ask(f, target, headers, body);
        const char *applied[] = { header_of(f, &done, "Preference-Applied"),
                                  header_of(f, &refused, "Preference-Applied") };

        assert_ok(done, rows[i / 2].status);
        assert_int_equal(refused.status, 409);
        assert_non_null(header_of(f, &done, "Location"));
        for (int n = 0; n < 2; n++) {
            assert_int_equal(applied[n] != NULL, rows[i / 2].applied != NULL);
            if (applied[n])
                assert_string_equal(applied[n], rows[i / 2].applied);
        }
        if (done.status == 201) {
            assert_string_equal(form_of(f, done), "nometadata");
            assert_no_header(f, done, "DataServiceId");
        } else {
            assert_int_equal(done.body.len, 0);
            assert_header(f, done, "DataServiceId", header_of(f, &done, "Location"));
        }
    }
}

/* Rule: bodies are JSON, which needs not be said; versions of OData up to 3.0. */
static void what_a_body_may_be(void **state)
{
    static const struct {
        const char *header, *code;
    } rows[] = {
        { "Content-Type: application/json", "" },
        { "Content-Type: application/json;odata=nometadata", "" },
        { "Content-Type: application/json; charset=utf-8", "" },
        { "Content-Type: application/atom+xml", "AtomFormatNotSupported" },
        { "Content-Type: application/atom+xml;type=entry", "AtomFormatNotSupported" },
        { "Content-Type: text/plain", "InvalidHeaderValue" },
        { "Content-Type: application/json;odata=verbose", "InvalidHeaderValue" },
        { "DataServiceVersion: 1.0", "" },
        { "DataServiceVersion: 2.0;", "" },
        { "DataServiceVersion: 3.0;NetFx", "" },
        { "DataServiceVersion: 4.0", "InvalidHeaderValue" },
        { "DataServiceVersion: x", "InvalidHeaderValue" },
    };
    static const char *const methods[] = { "PUT", "MERGE", "PATCH" };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
            struct reply answer =
                askf(f, rows[i].header, "{}", "%s /abc(PartitionKey='p',RowKey='r')", methods[m]);

            assert_string_equal(answer.code, rows[i].code);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_form_that_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(what_an_insert_prefers, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_body_may_be, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
