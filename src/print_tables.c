/* The tables in print: see print_tables.h. */
#include "print_tables.h"

#include <stdio.h>

static const struct {
    unsigned bit;
    const char *name;
} methods[] = {
    { METHOD_GET, "GET" },       { METHOD_HEAD, "HEAD" },       { METHOD_PUT, "PUT" },
    { METHOD_POST, "POST" },     { METHOD_DELETE, "DELETE" },   { METHOD_OPTIONS, "OPTIONS" },
    { METHOD_PATCH, "PATCH" },   { METHOD_MERGE, "MERGE" },
}, conditions[] = {
    { IF_MATCH, "If-Match" },
    { IF_NONE_MATCH, "If-None-Match" },
    { IF_MODIFIED_SINCE, "If-Modified-Since" },
    { IF_UNMODIFIED_SINCE, "If-Unmodified-Since" },
    { IF_TAGS, "x-ms-if-tags" },
};

static const char *const lease_names[] = {
    [LEASE_RULE_IGNORED] = "ignored",
    [LEASE_RULE_OPTIONAL] = "optional",
    [LEASE_RULE_WHEN_LEASED] = "needed when leased",
    [LEASE_RULE_ACTION] = "is the operation",
};
static const char *const etag_names[] = {
    [ETAG_NONE] = "none",
    [ETAG_RETURNED] = "returned",
    [ETAG_CHANGED] = "changed",
};

static const char *level_name(const struct service *service, const struct operation *row)
{
    return row->level == LEVEL_ANY ? "any" : service->levels[row->level];
}

static void print_methods(const struct operation *row, const char *before, const char *after,
                          const char *between)
{
    const char *separator = "";

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if ((row->methods & methods[i].bit) == 0)
            continue;
        printf("%s%s%s%s", separator, before, methods[i].name, after);
        separator = between;
    }
}

static void print_conditions(const struct operation *row)
{
    const char *separator = "";

    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        if ((row->conditions & conditions[i].bit) == 0)
            continue;
        printf("%s%s", separator, conditions[i].name);
        separator = ", ";
    }
}

static void print_markdown(const struct service *service)
{
    printf("\n## %s\n\n", service->name);
    if (service->operation_count == 0) {
        printf("Not built yet: every request is answered 501 NotImplemented.\n");
        return;
    }
    printf("| Operation | Request | Since | Built | Success | Conditions | x-ms-lease-id | ETag |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < service->operation_count; i++) {
        const struct operation *row = &service->operations[i];

        printf("| %s | ", row->name);
        print_methods(row, "", "", "/");
        printf(" %s%s%s", level_name(service, row), row->selector[0] ? "?" : "", row->selector);
        if (row->variant)
            printf(" [%s]", row->variant);
        printf(" | %s | %s | %d", row->since, row->functions ? "yes" : "501", row->ok[0]);
        if (row->ok[1] != 0)
            printf("/%d", row->ok[1]);
        printf(" | ");
        print_conditions(row);
        printf(" | %s | %s |\n", lease_names[row->lease], etag_names[row->etag]);
    }
}

static void print_json(const struct service *service, const char **separator)
{
    for (size_t i = 0; i < service->operation_count; i++) {
        const struct operation *row = &service->operations[i];

        printf("%s\n{\"service\":\"%s\",\"name\":\"%s\",\"methods\":[", *separator, service->name,
               row->name);
        print_methods(row, "\"", "\"", ",");
        printf("],\"level\":\"%s\",\"selector\":\"%s\",\"variant\":\"%s\",\"ok\":[%d",
               level_name(service, row), row->selector, row->variant ? row->variant : "",
               row->ok[0]);
        if (row->ok[1] != 0)
            printf(",%d", row->ok[1]);
        printf("],\"effect\":\"%s\",\"etag\":\"%s\",\"lease\":\"%s\",\"built\":%s}",
               row->rights.effect == READS ? "reads" : "writes", etag_names[row->etag],
               lease_names[row->lease], row->functions ? "true" : "false");
        *separator = ",";
    }
}

void print_operations(const struct service *const *services, size_t count, enum print_form form)
{
    const char *separator = "";

    if (form == PRINT_JSON) {
        printf("[");
        for (size_t i = 0; i < count; i++)
            print_json(services[i], &separator);
        printf("\n]\n");
        return;
    }
    printf(
        "# Operations\n\nPrinted by `lagra operations` from the tables that the server runs by.\n"
        "An operation that is not built yet is answered 501 NotImplemented.\n");
    for (size_t i = 0; i < count; i++)
        print_markdown(services[i]);
}

void print_errors(void)
{
    printf("[");
    for (int e = OK + 1; e < ERROR_COUNT; e++)
        printf("%s\n{\"code\":\"%s\",\"status\":%d}", e > 1 ? "," : "", error_code((enum error)e),
               error_status((enum error)e));
    printf("\n]\n");
}
