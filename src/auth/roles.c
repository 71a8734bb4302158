/* Who was assigned which role, as `az role assignment list --all -o json` prints it: a list of
 * objects with principalId, roleDefinitionName and scope. Azure's built-in roles that say something
 * of storage data count; others are passed over. */
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

#define OF_MESSAGES                                                                                \
    (ACTION_MESSAGE_READ | ACTION_MESSAGE_WRITE | ACTION_MESSAGE_DELETE | ACTION_MESSAGE_ADD |     \
     ACTION_MESSAGE_PROCESS)
#define OF_ENTITIES                                                                                \
    (ACTION_ENTITY_READ | ACTION_ENTITY_DELETE | ACTION_ENTITY_ADD | ACTION_ENTITY_UPDATE)

/* rest: Authorize-with-Azure-Active-Directory, "Azure built-in roles for" blobs, queues and
 * tables */
static const struct definition {
    const char *name;
    const char *services; /* letters: whose containers the actions are of */
    unsigned actions;
} definitions[] = {
    { "Storage Blob Data Reader", "b",
      ACTION_DELEGATION_KEY | ACTION_CONTAINER_READ | ACTION_BLOB_READ },
    { "Storage Blob Data Contributor", "b",
      ACTION_DELEGATION_KEY | ACTION_CONTAINER_READ | ACTION_CONTAINER_WRITE |
          ACTION_CONTAINER_DELETE | ACTION_BLOB_READ | ACTION_BLOB_WRITE | ACTION_BLOB_DELETE },
    { "Storage Blob Data Owner", "b", ACTION_DELEGATION_KEY | OF_CONTAINERS | OF_BLOBS },
    { "Storage Blob Delegator", "b", ACTION_DELEGATION_KEY },
    { "Storage Queue Data Reader", "q", ACTION_CONTAINER_READ | ACTION_MESSAGE_READ },
    { "Storage Queue Data Contributor", "q",
      ACTION_CONTAINER_READ | ACTION_CONTAINER_WRITE | ACTION_CONTAINER_DELETE | OF_MESSAGES },
    { "Storage Queue Data Message Sender", "q", ACTION_MESSAGE_ADD },
    { "Storage Queue Data Message Processor", "q", ACTION_MESSAGE_READ | ACTION_MESSAGE_PROCESS },
    { "Storage Queue Delegator", "q", ACTION_DELEGATION_KEY },
    { "Storage Table Data Reader", "t", ACTION_CONTAINER_READ | ACTION_ENTITY_READ },
    { "Storage Table Data Contributor", "t",
      ACTION_CONTAINER_READ | ACTION_CONTAINER_WRITE | ACTION_CONTAINER_DELETE | OF_ENTITIES },
    { "Storage Account Contributor", "bqt",
      ACTION_DELEGATION_KEY | ACTION_SERVICE_READ | ACTION_SERVICE_WRITE | OF_CONTAINERS },
};

/* What a scope's path calls a service, and what it has of the kind of containers. */
static const struct {
    char service;
    const char *services, *containers;
} scopes[] = {
    { 'b', "blobServices", "containers" },
    { 'q', "queueServices", "queues" },
    { 't', "tableServices", "tables" },
    { 'f', "fileServices", "fileshares" },
};

struct assignment {
    struct bytes principal; /* into the JSON, as the others */
    struct bytes account;   /* ptr NULL: all of them */
    char service;           /* '\0': all of them */
    struct bytes container; /* ptr NULL: all of them */
    const struct definition *definition;
};

struct roles {
    json_t *json;
    struct assignment *list; /* by principal */
    size_t count;
};

static const struct definition *definition_of(struct bytes role)
{
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        if (bytes_is_nocase(role, definitions[i].name))
            return &definitions[i];
    }
    return NULL;
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

static void read_scope(struct bytes scope, struct assignment *assignment)
{
    assignment->account = part_after(scope, "storageAccounts");
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        struct bytes container = part_after(scope, scopes[i].containers);

        if (!container.ptr && !part_after(scope, scopes[i].services).ptr)
            continue;
        assignment->service = scopes[i].service;
        assignment->container = container;
    }
}

static const char *add(struct roles *roles, const json_t *json)
{
    struct bytes principal = json_text(json, "principalId");
    struct bytes scope = json_text(json, "scope");
    const struct definition *definition = definition_of(json_text(json, "roleDefinitionName"));
    const json_t *condition = json_object_get(json, "condition");

    if (!principal.ptr || !scope.ptr)
        return "an assignment has no principalId or no scope";
    if (!definition)
        return NULL;
    if (condition && !json_is_null(condition))
        return "an assignment has a condition, which this server cannot check";
    roles->list[roles->count] =
        (struct assignment){ .principal = principal, .definition = definition };
    read_scope(scope, &roles->list[roles->count++]);
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

/* Names of tables ignore the case of letters. rest: Understanding-the-Table-Service-Data-Model */
static bool is_container(struct bytes assigned, char service, struct bytes container)
{
    return service == 't' ? bytes_equal_nocase(assigned, container)
                          : bytes_equal(assigned, container);
}

unsigned roles_actions(const struct roles *roles, struct bytes oid, struct bytes account,
                       char service, struct bytes container)
{
    unsigned actions = 0;

    for (size_t i = first_of(roles, oid);
         i < roles->count && bytes_equal(roles->list[i].principal, oid); i++) {
        const struct assignment *one = &roles->list[i];

        if (one->account.ptr && !bytes_equal_nocase(one->account, account))
            continue;
        if ((one->service && one->service != service) ||
            !strchr(one->definition->services, service))
            continue;
        if (one->container.ptr && !is_container(one->container, service, container))
            continue;
        actions |= one->definition->actions;
    }
    return actions;
}
