/* Finding a row: method, level, comp and restype, variant; and what is said when there is none.
 * rest: Status-and-Error-Codes2 */
#include "blob/blob.h"

#include "../request/fixture.h"

static const struct operation_functions nothing = { .parameters_size = sizeof(struct parameters) };

static const struct operation rows[] = {
    { .name = "List",
      .methods = METHOD_GET,
      .level = LEVEL_CONTAINER,
      .selector = "comp=list&restype=container",
      .ok = { 200 },
      .functions = &nothing },
    { .name = "Put Blob",
      .methods = METHOD_PUT,
      .level = LEVEL_BLOB,
      .selector = "",
      .variant = "x-ms-blob-type=BlockBlob",
      .ok = { 201 },
      .functions = &nothing },
    { .name = "Copy Blob",
      .methods = METHOD_PUT,
      .level = LEVEL_BLOB,
      .selector = "",
      .variant = "x-ms-copy-source",
      .ok = { 202 } },
    { .name = "Get Blob",
      .methods = METHOD_GET | METHOD_HEAD,
      .level = LEVEL_BLOB,
      .selector = "",
      .ok = { 200, 206 },
      .functions = &nothing },
};
static const struct service service = { .name = "blob", .operations = rows, .operation_count = 4 };

struct finding {
    enum http_method method;
    const char *target;
    const char *header;
    const char *found; /* NULL: */
    enum error why;
};

#define C "/devstoreaccount1/c"

static const struct finding findings[] = {
    { METHOD_GET, C "?restype=container&comp=list", NULL, "List", OK },
    { METHOD_GET, C "?comp=LIST&restype=Container", NULL, "List", OK },
    { METHOD_GET, C "/b", NULL, "Get Blob", OK },
    { METHOD_HEAD, C "/b?snapshot=2026-11-21T00:00:00.0000000Z", NULL, "Get Blob", OK },
    { METHOD_PUT, C "/b", "x-ms-blob-type: BlockBlob", "Put Blob", OK },
    { METHOD_PUT, C "/b", "x-ms-blob-type: blockblob", "Put Blob", OK },
    { METHOD_PUT, C "/b", "x-ms-copy-source: http://elsewhere/", "Copy Blob", OK },
    { METHOD_PUT, C "/b", "x-ms-blob-type: Round", NULL, E_InvalidHeaderValue },
    { METHOD_PUT, C "/b", NULL, NULL, E_MissingRequiredHeader },
    { METHOD_POST, C "/b", NULL, NULL, E_UnsupportedHttpVerb },
    { METHOD_GET, C "/b?comp=nothing", NULL, NULL, E_InvalidQueryParameterValue },
    { METHOD_DELETE, C "?restype=container&comp=list", NULL, NULL, E_UnsupportedHttpVerb },
};

static void rows_are_found(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof findings / sizeof findings[0]; i++) {
        const struct finding *one = &findings[i];
        const struct operation *row;
        enum error why = OK;

        fixture_request(f, one->method, one->target, (const char *const[]){ one->header, NULL });
        assert_int_equal(route_request(&f->work.call), OK);
        row = operation_find(&service, &f->work.call, &why);
        if (one->found) {
            assert_non_null(row);
            assert_string_equal(row->name, one->found);
        } else if (row || why != one->why) {
            fail_msg("%s: found %s, %s", one->target, row ? row->name : "none", error_code(why));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_found, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
