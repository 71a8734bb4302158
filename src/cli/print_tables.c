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
    [LEASE_RULE_WHEN_LEASED] = "needed when leased",
    [LEASE_RULE_ACTION] = "is the operation",
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

/* Prints permissions: joined by '+' if all are required, in parentheses if required only while the
 * resource does not exist. */
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
    const char *action = rights_action_name(service->name[0], rights->action);

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
        printf("Not built yet: every request is answered 501 NotImplemented.\n");
        return;
    }
    printf("| Operation | Request | Since | Built | Success | Conditions | x-ms-lease-id | ETag | "
           "Account SAS | Service SAS | Bearer | Public |\n"
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
        "# Operations\n\nPrinted by `lagra operations` from the tables that the server runs by.\n"
        "An operation that is not built yet is answered 501 NotImplemented.\n\n"
        "Who may: of an account SAS the signed resource type and the permission letters, any of\n"
        "which allows it, or, joined by +, all of which it needs; of a service or user delegation\n"
        "SAS the letters; letters in parentheses allow it only as long as the blob does not "
        "exist.\n"
        "A bearer token's owner (and whoever signed a user delegation SAS) needs a role with the\n"
        "action. Public: what the container has to be opened to for anybody to do it. The\n"
        "account's key may do everything, but ask for a user delegation key.\n");
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
    [NEEDS_TREE] = "a tree",
    [NEEDS_FILE] = "an open file or directory",
};
static const char *const compounding_names[] = {
    [ALONE] = "no",
    [COMPOUND] = "yes",
    [LAST] = "last, where it waits",
};
static const char *const lasting_names[] = {
    [COMMITTED] = "when it is committed",
    [SEEN] = "when all that it rests on is durable",
    [LASTING] = "when it is durable itself",
};

void print_smb_commands(void)
{
    printf("\n## smb\n\nThe commands of SMB, which has no operations: docs/smb.md. One that has "
           "changed a name or a "
           "property is answered when that is durable,\nwhatever its row says.\n\n"
           "| Command | Code | Needs | In a compound | Answered | Credits pay for lengths |\n"
           "|---|---|---|---|---|---|\n");
    for (uint16_t command = 0; command < SMB_COMMANDS; command++) {
        const struct smb_row *row = smb_row_find(command);

        printf("| %s | %u | %s | %s | %s | %s |\n", row->name, command, needs_names[row->needs],
               compounding_names[row->compounding], lasting_names[row->lasting],
               row->charge_at[0] > 0 ? "yes" : "no");
    }
}
