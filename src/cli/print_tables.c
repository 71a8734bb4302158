/* Prints the tables of operations, errors and SMB commands: see commands.h. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "smb/commands.h"

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
    [LEASE_RULE_WHEN_LEASED] = "required if leased",
    [LEASE_RULE_ACTION] = "depends on the lease action",
};
static const char *const etag_names[] = {
    [ETAG_NONE] = "none",
    [ETAG_RETURNED] = "returned",
    [ETAG_CHANGED] = "changed",
};
static const char *const body_names[] = {
    [BODY_REFUSED] = "refused",
    [BODY_IGNORED] = "ignored",
    [BODY_MEMORY] = "collected",
    [BODY_STAGED] = "staged",
};

static const char *level_name(const struct service *service, const struct operation *row)
{
    return row->level == LEVEL_ANY ? "any" : service->levels[row->level];
}

/* Returns the selector of a row; "" for rows that match every comp and restype. */
static const char *selector_name(const struct operation *row)
{
    return strcmp(row->selector, SELECTOR_ANY) == 0 ? "" : row->selector;
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

static const char *letters_of(const char *letters)
{
    return strcmp(letters, RIGHTS_ANY) == 0 ? "any" : letters;
}

/* Prints permission letters. all: joins `always` by '+', because all of these are required. create:
 * letters printed in parentheses, because they suffice only if the resource does not exist */
static void print_letters(const char *always, bool all, const char *create)
{
    if (all)
        for (const char *letter = always; *letter; letter++)
            printf("%s%c", letter > always ? "+" : "", *letter);
    else
        printf("%s", letters_of(always));
    if (*create)
        printf("(%s)", create);
    if (!*always && !*create)
        printf("no");
}

static void print_rights(const struct service *service, const struct rights *rights)
{
    static const char *const access[] = { "no", "blob", "container" };
    const char *action = rights_action_name(service_data_name(service)[0], rights->action);

    if (rights->of_anybody) {
        printf("not needed | not needed | not needed | not needed |\n");
        return;
    }
    if (*rights->account || *rights->create)
        printf("%s: ", letters_of(rights->type));
    print_letters(rights->account, rights->all_letters, rights->create);
    printf(" | ");
    print_letters(rights->service, rights->all_letters, rights->create);
    printf(" | %s | %s |\n",
           rights->action == ACTION_ANY ? "any"
           : action                     ? action
                                        : "no",
           access[rights->anonymous]);
}

/* Prints the status codes of success. */
static void print_statuses(const struct operation *row, const char *separator)
{
    if (row->ok[0] != 0)
        printf("%d", row->ok[0]);
    if (row->ok[1] != 0)
        printf("%s%d", separator, row->ok[1]);
}

static void print_markdown(const struct service *service)
{
    printf("\n## %s\n\n", service->name);
    if (service->operation_count == 0) {
        printf("Not implemented: every request fails with 501 NotImplemented.\n");
        return;
    }
    printf("| Operation | Request | Since | Implemented | Success | Conditions | x-ms-lease-id | "
           "ETag | Account SAS | Service SAS | Bearer | Public |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < service->operation_count; i++) {
        const struct operation *row = &service->operations[i];

        printf("| %s | ", row->name);
        print_methods(row, "", "", "/");
        printf(" %s%s%s", level_name(service, row), selector_name(row)[0] ? "?" : "",
               selector_name(row));
        if (row->variant)
            printf(" [%s]", row->variant);
        printf(" | %s | %s | ", row->since,
               !row->functions   ? "501"
               : row->ok[0] == 0 ? "refused"
                                 : "yes");
        print_statuses(row, "/");
        if (row->ok[0] == 0)
            printf("none");
        printf(" | ");
        print_conditions(row);
        printf(" | %s | %s | ", lease_names[row->lease], etag_names[row->etag]);
        print_rights(service, &row->rights);
    }
}

static void print_json(const struct service *service, const char **separator)
{
    for (size_t i = 0; i < service->operation_count; i++) {
        const struct operation *row = &service->operations[i];

        printf("%s\n{\"service\":\"%s\",\"name\":\"%s\",\"methods\":[", *separator, service->name,
               row->name);
        print_methods(row, "\"", "\"", ",");
        printf("],\"level\":\"%s\",\"selector\":\"%s\",\"variant\":\"%s\",\"ok\":[",
               level_name(service, row), selector_name(row), row->variant ? row->variant : "");
        print_statuses(row, ",");
        printf("],\"effect\":\"%s\",\"etag\":\"%s\",\"lease\":\"%s\",\"body\":\"%s\","
               "\"since\":\"%s\",\"built\":%s}",
               row->rights.effect == READS ? "reads" : "writes", etag_names[row->etag],
               lease_names[row->lease], body_names[row->body], row->since,
               row->functions ? "true" : "false");
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
        "# Operations\n\n"
        "Generated by `lagra operations` from the server's own tables. Operations that are not\n"
        "implemented fail with 501 NotImplemented.\n\n"
        "- **Account SAS**: the signed resource type, and the permission letters. Any one of the\n"
        "  letters suffices, unless they are joined by +, which requires all of them. Letters in\n"
        "  parentheses suffice only if the blob or file does not exist yet.\n"
        "- **Service SAS**: the permission letters of a service or user delegation SAS.\n"
        "- **Bearer**: the action that a role of the principal must include. For a user "
        "delegation\n"
        "  SAS, a role of the user who requested its key must also include it.\n"
        "- **Public**: the public access level that the container needs for anonymous requests.\n\n"
        "The account key permits every operation except Get User Delegation Key.\n");
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

static const char *const needs_names[] = {
    [NEEDS_NOTHING] = "nothing",
    [NEEDS_SESSION] = "a session",
    [NEEDS_TREE] = "a tree connect",
    [NEEDS_FILE] = "an open file or directory",
};
static const char *const compounding_names[] = {
    [ALONE] = "no",
    [COMPOUND] = "yes",
    [LAST] = "last, if it must wait",
};
static const char *const lasting_names[] = {
    [COMMITTED] = "once it is committed",
    [SEEN] = "once everything it depends on is durable",
    [LASTING] = "once its own change is durable",
};

void print_smb_commands(void)
{
    printf(
        "\n## smb\n\nCommands of SMB; docs/smb.md describes them. The response to a command that "
        "has "
        "changed a name or a\nproperty is sent only once the change is durable, whatever its row "
        "says.\n\n"
        "| Command | Code | Needs | In a compound | Response | Credit charge depends on length |\n"
        "|---|---|---|---|---|---|\n");
    for (uint16_t command = 0; command < SMB_COMMANDS; command++) {
        const struct smb_row *row = smb_row_find(command);

        printf("| %s | %u | %s | %s | %s | %s |\n", row->name, command, needs_names[row->needs],
               compounding_names[row->compounding], lasting_names[row->lasting],
               row->charge_at[0] > 0 ? "yes" : "no");
    }
}
