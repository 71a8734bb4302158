/* The operation table of the Blob service against the REST definitions kept as data: each operation
 * of the newest client has a row, with its statuses, conditional headers and lease. Skipped where
 * the data is not there (LAGRA_TEST_SHARED, or ../shared beside the repository). semantics 2.1 */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static json_t *load_definitions(void)
{
    const char *shared = getenv("LAGRA_TEST_SHARED");
    char path[4096];

    snprintf(path, sizeof path, "%s/spec/blob-2026-10-06.ops.json",
             shared ? shared : SOURCE_ROOT "/../shared");
    return json_load_file(path, 0, NULL);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

/* The entry of a list of parameters with this name; NULL without one. */
static const json_t *find(const json_t *list, const char *name)
{
    const json_t *entry;
    size_t i;

    json_array_foreach((json_t *)list, i, entry)
    {
        if (bytes_is_nocase(bytes_from_string(text_of(entry, "name")), name))
            return entry;
    }
    return NULL;
}

/* ---- which row an operation of the definitions is ---- */

static enum http_method method_of(const char *name)
{
    return strcmp(name, "GET") == 0    ? METHOD_GET
           : strcmp(name, "HEAD") == 0 ? METHOD_HEAD
           : strcmp(name, "PUT") == 0  ? METHOD_PUT
           : strcmp(name, "POST") == 0 ? METHOD_POST
                                       : METHOD_DELETE;
}

static bool level_is(const struct operation *row, const char *path)
{
    uint32_t level = strstr(path, "{blob}")       ? LEVEL_BLOB
                     : strstr(path, "{container") ? LEVEL_CONTAINER
                                                  : LEVEL_SERVICE;

    return row->level == LEVEL_ANY || row->level == level;
}

static bool selector_is(const struct operation *row, const json_t *query)
{
    const char *comp = text_of(find(query, "comp"), "default");
    const char *restype = text_of(find(query, "restype"), "default");
    char selector[128];

    snprintf(selector, sizeof selector, "%s%s%s%s%s", *comp ? "comp=" : "", comp,
             *comp && *restype ? "&" : "", *restype ? "restype=" : "", restype);
    return bytes_is_nocase(bytes_from_string(row->selector), selector);
}

/* Would the headers that the operation always sends pick this row? */
static bool variant_is(const struct operation *row, const json_t *headers)
{
    struct bytes name, value;
    const json_t *header;
    char text[128];

    if (!row->variant)
        return true;
    bytes_cut(bytes_from_string(row->variant), '=', &name, &value);
    snprintf(text, sizeof text, "%.*s", BYTES_ARG(name));
    header = find(headers, text);
    if (!header || (!value.ptr && !json_is_true(json_object_get(header, "required"))))
        return false;
    return !value.ptr || bytes_is(value, text_of(header, "default"));
}

static const struct operation *row_of(const json_t *definition)
{
    for (size_t i = 0; i < blob_service.operation_count; i++) {
        const struct operation *row = &blob_service.operations[i];

        if ((row->methods & method_of(text_of(definition, "method"))) &&
            level_is(row, text_of(definition, "path")) &&
            selector_is(row, json_object_get(definition, "query")) &&
            variant_is(row, json_object_get(definition, "headers")))
            return row;
    }
    return NULL;
}

/* ---- what they must have in common ---- */

/* Operations on tags have names of their own for the conditions on the blob. */
static unsigned condition_of(const json_t *headers, const char *name, unsigned bit)
{
    char of_blob[64];

    snprintf(of_blob, sizeof of_blob, "x-ms-blob-%s", name);
    for (char *c = of_blob; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return find(headers, name) || find(headers, of_blob) ? bit : 0u;
}

static unsigned conditions_of(const json_t *headers)
{
    return condition_of(headers, "If-Match", IF_MATCH) |
           condition_of(headers, "If-None-Match", IF_NONE_MATCH) |
           condition_of(headers, "If-Modified-Since", IF_MODIFIED_SINCE) |
           condition_of(headers, "If-Unmodified-Since", IF_UNMODIFIED_SINCE) |
           (find(headers, "x-ms-if-tags") ? IF_TAGS : 0u);
}

static bool statuses_fit(const struct operation *row, const json_t *responses)
{
    const char *name;
    json_t *response;

    json_object_foreach((json_t *)responses, name, response)
    {
        int status = (int)strtol(name, NULL, 10); /* "default": 0 */

        if (status != 0 && status != row->ok[0] && status != row->ok[1])
            return false;
    }
    return true;
}

static bool answers_etag(const json_t *responses)
{
    const char *name;
    json_t *response;

    json_object_foreach((json_t *)responses, name, response)
    {
        if (strcmp(name, "default") != 0 && find(json_object_get(response, "headers"), "etag"))
            return true;
    }
    return false;
}

/* The lease operations send x-ms-lease-id as a part of theirs; Get Container ACL and the like
 * may. */
static bool lease_fits(const struct operation *row, const json_t *headers)
{
    bool sends = find(headers, "x-ms-lease-id");

    return row->lease == LEASE_RULE_ACTION || sends == (row->lease != LEASE_RULE_IGNORED);
}

/* Told from Copy Blob by two headers, where a row's variant is one; both are 501 so far. */
static const char shares_a_row[] = "BlockBlob_putBlobFromUrl";

/* One wrong row does not hide the others. */
static unsigned check(const json_t *definition)
{
    const struct operation *row = row_of(definition);
    const json_t *headers = json_object_get(definition, "headers");
    const json_t *responses = json_object_get(definition, "responses");
    const char *id = text_of(definition, "id");
    const char *wrong = NULL;

    if (!row)
        wrong = "no row";
    else if (row->conditions != conditions_of(headers))
        wrong = "conditions";
    else if (!statuses_fit(row, responses))
        wrong = "statuses";
    else if (answers_etag(responses) != (row->etag != ETAG_NONE))
        wrong = "ETag";
    else if (!lease_fits(row, headers))
        wrong = "lease";
    if (wrong && strcmp(id, shares_a_row) == 0)
        return 0;
    if (wrong)
        print_error("%s: %s\n", id, wrong);
    return wrong != NULL;
}

/* Rule: the table says what the definitions say. */
static void table_is_the_definitions(void **state)
{
    json_t *definitions = load_definitions();
    const json_t *definition;
    unsigned wrong = 0;
    size_t i;

    (void)state;
    if (!definitions)
        skip();
    assert_true(json_array_size(json_object_get(definitions, "operations")) > 60);
    json_array_foreach(json_object_get(definitions, "operations"), i, definition) wrong +=
        check(definition);
    json_decref(definitions);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(table_is_the_definitions) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
