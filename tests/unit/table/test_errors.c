/* What answers to errors look like on the wire, as recorded of the service in 2020 and 2021, and what
 * names and options are taken. rest/odata.h; decision: 144, 146, 261, 262, 263, 264 */
#include "fixture.h"

#include "table/table.h"

#define ROW "abc(PartitionKey='p',RowKey='r')"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &table_service);
    assert_ok(ask(*state, "POST /Tables", NULL, "{\"TableName\":\"abc\"}"), 201);
    assert_ok(ask(*state, "PUT /" ROW, NULL, "{\"n\":1,\"s\":\"a\\r\\nb\\u0001\",\"t\":true}"),
              204);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

static void assert_begins(struct bytes text, const char *begin)
{
    if (!bytes_has_prefix(text, bytes_from_string(begin)))
        fail_msg("%.*s", BYTES_ARG(text));
}

static bool contains(struct bytes text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

/* recorded: test_query_invalid_filter, test_create_table_fail_on_exist, BatchError */
static void errors_in_json(void **state)
{
    struct fixture *f = *state;
    const char *prefer = "Prefer: return-no-content";
    struct reply answer = ask(f, "POST /Tables", prefer, "{\"TableName\":\"abc\"}");

    assert_answer(answer, 409, "TableAlreadyExists");
    assert_no_header(f, answer, "x-ms-error-code");
    assert_header(f, answer, "Cache-Control", "no-cache");
    assert_header(f, answer, "X-Content-Type-Options", "nosniff");
    assert_header(f, answer, "Preference-Applied", "return-no-content");
    assert_begins(answer.body,
                  "{\"odata.error\":{\"code\":\"TableAlreadyExists\",\"message\":{\"lang\":"
                  "\"en-US\",\"value\":\"The table specified already exists.\\nRequestId:");
    answer = ask(f, "GET /abc()?$filter=aaa%20bbb%20ccc", NULL, NULL);
    assert_answer(answer, 400, "InvalidInput");
    assert_no_header(f, answer, "x-ms-error-code");
    assert_no_header(f, answer, "Cache-Control");
    assert_header(f, answer, "X-Content-Type-Options", "nosniff");
    assert_begins(answer.body,
                  "{\"odata.error\":{\"code\":\"InvalidInput\",\"message\":{\"lang\":"
                  "\"en-US\",\"value\":\"Syntax error at position 7 in 'aaa bbb ccc'.\\n");
    answer = ask(f, "POST /none", prefer, "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"}");
    assert_answer(answer, 404, "TableNotFound");
    assert_no_header(f, answer, "Cache-Control");
    assert_no_header(f, answer, "Preference-Applied");
}

/* recorded: test_set_table_acl_too_many_ids, test_too_many_cors_rules, test_retention_too_long */
static void errors_in_xml(void **state)
{
#define POLICY(id) "<SignedIdentifier><Id>" id "</Id></SignedIdentifier>"
    static const struct {
        const char *target, *body, *code, *message;
        int status;
    } rows[] = {
        { "PUT /abc?comp=acl",
          "<SignedIdentifiers>" POLICY("0") POLICY("1") POLICY("2") POLICY("3") POLICY("4")
              POLICY("5") "</SignedIdentifiers>",
          "InvalidXmlDocument", "XML specified is not syntactically valid.", 400 },
        { "PUT /?comp=properties&restype=service",
          "<StorageServiceProperties><MinuteMetrics><Version>1.0</Version><Enabled>true</Enabled>"
          "<RetentionPolicy><Enabled>true</Enabled><Days>366</Days></RetentionPolicy>"
          "</MinuteMetrics></StorageServiceProperties>",
          "InvalidXmlDocument", "XML specified is not syntactically valid.", 400 },
        { "GET /none?comp=acl", NULL, "TableNotFound", "The table specified does not exist.", 404 },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct reply answer = ask(f, rows[i].target, NULL, rows[i].body);
        const char *begin =
            textf(f,
                  "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"http://"
                  "schemas.microsoft.com/ado/2007/08/dataservices/metadata\"><m:code>%s</m:code>"
                  "<m:message xml:lang=\"en-US\">%s\nRequestId:",
                  rows[i].code, rows[i].message);

        assert_answer(answer, rows[i].status, rows[i].code);
        assert_header(f, answer, "x-ms-error-code", rows[i].code);
        assert_header(f, answer, "Content-Type", "application/xml");
        assert_no_header(f, answer, "Cache-Control");
        assert_begins(answer.body, begin);
        assert_true(contains(answer.body, "</m:message></m:error>"));
    }
}

/* Rule: a name that only the service can give is of a table that is not there; its length has a
 * message of its own; POST /Tables/ makes a table. decision: 261, 262 */
static void names(void **state)
{
    struct fixture *f = *state;
    struct reply answer;

    assert_ok(ask(f, "POST /Tables/", NULL, "{\"TableName\":\"slash\"}"), 201);
    assert_ok(ask(f, "GET /tables/", NULL, NULL), 200);
    assert_ok(ask(f, "GET /Tables('slash')", NULL, NULL), 200);
    assert_answer(ask(f, "GET /Tables//", NULL, NULL), 400, "InvalidResourceName");
    assert_answer(ask(f, "POST /abc/", NULL, "{\"PartitionKey\":\"p\",\"RowKey\":\"x\"}"), 400,
                  "InvalidResourceName");
    assert_answer(ask(f, "GET /Tables('$MetricsHourPrimaryTransactionsBlob')", NULL, NULL), 404,
                  "ResourceNotFound");
    assert_answer(ask(f, "GET /Tables('$metricscapacityblob')", NULL, NULL), 404,
                  "ResourceNotFound");
    assert_answer(ask(f, "GET /$MetricsCapacityBlob()", NULL, NULL), 404, "TableNotFound");
    assert_answer(ask(f, "GET /Tables('$Metrics')", NULL, NULL), 400, "InvalidResourceName");
    assert_answer(ask(f, "GET /Tables('$MetricsX_y')", NULL, NULL), 400, "InvalidResourceName");
    assert_answer(ask(f, "POST /Tables", NULL, "{\"TableName\":\"$MetricsCapacityBlob\"}"), 400,
                  "InvalidResourceName");
    answer = ask(f, "GET /Tables('ab')", NULL, NULL);
    assert_answer(answer, 400, "OutOfRangeInput");
    assert_true(contains(answer.body, "The specified resource name length is not within the "
                                      "permissible limits."));
}

/* How many entities a filter finds, percent-encoded. */
static size_t found(struct fixture *f, const char *filter)
{
    struct reply answer = askf(f, "Accept: application/json;odata=nometadata", NULL,
                               "GET /abc()?$filter=%s&$select=n", filter);

    assert_ok(answer, 200);
    return bytes_is(answer.body, "{\"value\":[{\"n\":1}]}") ? 1 : 0;
}

/* Rule: what is stored can be looked for, whatever its characters are. decision: 264 */
static void filters(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(found(f, "s%20eq%20%27a%0D%0Ab%01%27"), 1);
    assert_int_equal(found(f, "s%20eq%20%27a%0Ab%01%27"), 0);
    assert_int_equal(found(f, "%0An%20eq%0D%0A1%0B%09and%0Cs%20ne%20%27%27%0A"), 1);
    assert_int_equal(found(f, "t%20eq%20True"), 1);
    assert_int_equal(found(f, "t%20eq%20TRUE%20and%20not(t%20eq%20fAlSe)"), 1);
    assert_int_equal(found(f, "t%20eq%20FALSE"), 0);
    /* Every other parameter may be a part of a signature. */
    assert_answer(ask(f, "GET /abc()?$select=n%0A", NULL, NULL), 400, "InvalidQueryParameterValue");
    assert_answer(ask(f, "GET /abc()?sp=r%0A", NULL, NULL), 400, "InvalidQueryParameterValue");
    assert_answer(ask(f, "GET /abc?comp=acl%0A", NULL, NULL), 400, "InvalidQueryParameterValue");
    assert_answer(ask(f, "GET /abc()?$filter=n%0A&$filter=n", NULL, NULL), 400,
                  "InvalidQueryParameterValue");
}

/* Rule: keys come first, then the others in the order of $select. decision: 263 */
static void selections(void **state)
{
    static const struct {
        const char *select, *entity;
    } rows[] = {
        { "n,RowKey,PartitionKey", "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"n\":1}" },
        { "t,x,n", "{\"t\":true,\"x\":null,\"n\":1}" },
        { "RowKey", "{\"RowKey\":\"r\"}" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *accept = "Accept: application/json;odata=nometadata";

        assert_body(askf(f, accept, NULL, "GET /" ROW "?$select=%s", rows[i].select),
                    rows[i].entity);
        assert_body(askf(f, accept, NULL, "GET /abc()?$select=%s", rows[i].select),
                    textf(f, "{\"value\":[%s]}", rows[i].entity));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(errors_in_json, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_in_xml, setup, teardown),
        cmocka_unit_test_setup_teardown(names, setup, teardown),
        cmocka_unit_test_setup_teardown(filters, setup, teardown),
        cmocka_unit_test_setup_teardown(selections, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
