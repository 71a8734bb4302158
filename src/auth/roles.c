/* Who was assigned which role, as `az role assignment list --all -o json` prints it: a list of objects with
 * principalId, roleDefinitionName and scope. Azure's built-in roles that say something of storage data
 * count; others are passed over. */
#include "auth/trust_private.h"

#include <stdlib.h>

#define ASSIGNMENTS_MAX 100000

#define OF_CONTAINERS                                                                              \
    (ACTION_CONTAINER_READ | ACTION_CONTAINER_WRITE | ACTION_CONTAINER_DELETE |                    \
     ACTION_CONTAINER_GET_ACL | ACTION_CONTAINER_SET_ACL)
#define OF_BLOBS                                                                                   \
    (ACTION_BLOB_READ | ACTION_BLOB_WRITE | ACTION_BLOB_DELETE | ACTION_BLOB_FILTER |              \
     ACTION_BLOB_TAGS_READ | ACTION_BLOB_TAGS_WRITE | ACTION_BLOB_DELETE_VERSION |                 \
     ACTION_BLOB_SUPER_USER)

static const struct {
    const char *name;
    unsigned actions;
} definitions[] = {
    { "Storage Blob Data Reader",
      ACTION_DELEGATION_KEY | ACTION_CONTAINER_READ | ACTION_BLOB_READ },
    { "Storage Blob Data Contributor",
      ACTION_DELEGATION_KEY | ACTION_CONTAINER_READ | ACTION_CONTAINER_WRITE |
          ACTION_CONTAINER_DELETE | ACTION_BLOB_READ | ACTION_BLOB_WRITE | ACTION_BLOB_DELETE },
    { "Storage Blob Data Owner", ACTION_DELEGATION_KEY | OF_CONTAINERS | OF_BLOBS },
    { "Storage Blob Delegator", ACTION_DELEGATION_KEY },
    { "Storage Account Contributor",
      ACTION_DELEGATION_KEY | ACTION_SERVICE_READ | ACTION_SERVICE_WRITE | OF_CONTAINERS },
};

struct assignment {
    struct bytes principal; /* into the JSON, as the others */
    struct bytes account;   /* ptr NULL: all of them */
    struct bytes container; /* ptr NULL: all of them */
    unsigned actions;
};

struct roles {
    json_t *json;
    struct assignment *list; /* by principal */
    size_t count;
};

static unsigned actions_of(struct bytes role)
{
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        if (bytes_is_nocase(role, definitions[i].name))
            return definitions[i].actions;
    }
    return 0;
}

/* The part of a scope after `name` and before the next slash; ptr NULL: it has none. */
static struct bytes part_after(struct bytes scope, const char *name)
{
    struct bytes part;

    while (scope.ptr) {
        bytes_cut(scope, '/', &part, &scope);
        if (bytes_is_nocase(part, name) && scope.ptr) {
            bytes_cut(scope, '/', &part, &scope);
            return part;
        }
    }
    return (struct bytes){ NULL, 0 };
}

/* Is the scope above the Blob service, or of it? Those of queues, tables and shares are not. */
static bool is_of_blobs(struct bytes scope)
{
    return !part_after(scope, "queueServices").ptr && !part_after(scope, "tableServices").ptr &&
           !part_after(scope, "fileServices").ptr;
}

static const char *add(struct roles *roles, const json_t *json)
{
    struct bytes principal = json_text(json, "principalId");
    struct bytes scope = json_text(json, "scope");
    unsigned actions = actions_of(json_text(json, "roleDefinitionName"));
    const json_t *condition = json_object_get(json, "condition");

    if (!principal.ptr || !scope.ptr)
        return "an assignment has no principalId or no scope";
    if (actions == 0 || !is_of_blobs(scope))
        return NULL;
    if (condition && !json_is_null(condition))
        return "an assignment has a condition, which this server cannot check";
    roles->list[roles->count++] = (struct assignment){
        .principal = principal,
        .account = part_after(scope, "storageAccounts"),
        .container = part_after(scope, "containers"),
        .actions = actions,
    };
    return NULL;
}

static int by_principal(const void *a, const void *b)
{
    return bytes_compare(((const struct assignment *)a)->principal,
                         ((const struct assignment *)b)->principal);
}

struct roles *roles_new(struct bytes text, const char **ret_problem)
{
    struct roles *roles = xcalloc(1, sizeof *roles);
    size_t count;

    *ret_problem = NULL;
    roles->json = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    count = json_array_size(roles->json);
    if (!json_is_array(roles->json) || count > ASSIGNMENTS_MAX)
        *ret_problem = "it is no JSON list of at most 100000 assignments of roles";
    else
        roles->list = xcalloc(count + 1, sizeof roles->list[0]);
    for (size_t i = 0; !*ret_problem && i < count; i++)
        *ret_problem = add(roles, json_array_get(roles->json, i));
    if (*ret_problem) {
        roles_free(roles);
        return NULL;
    }
    qsort(roles->list, roles->count, sizeof roles->list[0], by_principal);
    return roles;
}

void roles_free(struct roles *roles)
{
    if (!roles)
        return;
    json_decref(roles->json);
    free(roles->list);
    free(roles);
}

/* The first assignment that is not before this principal. */
static size_t first_of(const struct roles *roles, struct bytes principal)
{
    size_t from = 0, to = roles->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (bytes_compare(roles->list[middle].principal, principal) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

unsigned roles_actions(const struct roles *roles, struct bytes oid, struct bytes account,
                       struct bytes container)
{
    unsigned actions = 0;

    for (size_t i = first_of(roles, oid);
         i < roles->count && bytes_equal(roles->list[i].principal, oid); i++) {
        const struct assignment *one = &roles->list[i];

        if (one->account.ptr && !bytes_equal_nocase(one->account, account))
            continue;
        if (one->container.ptr && !bytes_equal(one->container, container))
            continue;
        actions |= one->actions;
    }
    return actions;
}
