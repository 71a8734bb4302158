/* Role assignments, as `az role assignment list --all -o json` prints them: a list of objects with
 * principalId, roleDefinitionName and scope. Azure's built-in roles for storage data are used;
 * others are ignored. So are scopes that contain no storage data: see scope.h.
 *
 * Assignments are sorted by principal and scope, so permissions in a container are looked up at
 * each of its six enclosing scopes, however many assignments there are. decision: 250 */
#include "auth/trust_private.h"

#include <stdlib.h>

#define OF_CONTAINERS                                                                              \
    (ACTION_CONTAINER_READ | ACTION_CONTAINER_WRITE | ACTION_CONTAINER_DELETE |                    \
     ACTION_CONTAINER_GET_ACL | ACTION_CONTAINER_SET_ACL)
#define OF_BLOBS                                                                                   \
    (ACTION_BLOB_READ | ACTION_BLOB_WRITE | ACTION_BLOB_DELETE | ACTION_BLOB_FILTER |              \
     ACTION_BLOB_TAGS_READ | ACTION_BLOB_TAGS_WRITE | ACTION_BLOB_DELETE_VERSION |                 \
     ACTION_BLOB_PERMANENT_DELETE | ACTION_BLOB_SUPER_USER)

#define OF_MESSAGES                                                                                \
    (ACTION_MESSAGE_READ | ACTION_MESSAGE_WRITE | ACTION_MESSAGE_DELETE | ACTION_MESSAGE_ADD |     \
     ACTION_MESSAGE_PROCESS)
#define OF_ENTITIES                                                                                \
    (ACTION_ENTITY_READ | ACTION_ENTITY_DELETE | ACTION_ENTITY_ADD | ACTION_ENTITY_UPDATE)

#define OF_FILES                                                                                   \
    (ACTION_FILE_READ | ACTION_FILE_WRITE | ACTION_FILE_DELETE | ACTION_FILE_PERMISSIONS)

/* rest: Authorize-with-Azure-Active-Directory, "Azure built-in roles for" blobs, queues, tables and
 * files */
static const struct definition {
    const char *name;
    const char *services; /* letters of the services whose containers the actions apply to */
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
    { "Storage File Data Privileged Reader", "f", ACTION_FILE_READ },
    { "Storage File Data Privileged Contributor", "f", OF_FILES },
    { "Storage File Delegator", "f", ACTION_DELEGATION_KEY },
    { "Storage Account Contributor", "bqtf",
      ACTION_DELEGATION_KEY | ACTION_SERVICE_READ | ACTION_SERVICE_WRITE | OF_CONTAINERS },
};

#define SERVICES 4
static const char service_letters[SERVICES + 1] = "bqtf";

/* The merged actions of a principal at one scope. */
struct assignment {
    struct bytes principal;
    struct scope at; /* in lower case; fields above the account are set only for scopes above it */
    unsigned actions[SERVICES];
};

struct roles {
    const struct places *places;
    struct arena *arena;
    struct assignment *list; /* sorted by compare() */
    size_t count, capacity;
    /* number of assignments above account level that match no account, because no account's scope
     * is configured */
    size_t unplaced;
};

static const struct definition *definition_of(struct bytes role)
{
    for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
        if (bytes_is_nocase(role, definitions[i].name))
            return &definitions[i];
    }
    return NULL;
}

/* ---- parsing ---- */

static int compare(const void *a, const void *b)
{
    const struct assignment *x = a, *y = b;
    int order = bytes_compare(x->principal, y->principal);

    return order != 0 ? order : scope_compare(&x->at, &y->at);
}

/* Returns true if the account is known to be in another scope: Azure leaves an account's
 * assignments behind when it is moved. An account without a known scope is identified by its name
 * only. */
static bool is_elsewhere(const struct roles *roles, const struct scope *at)
{
    const struct scope *place = places_find(roles->places, at->account);

    return place && !(bytes_equal(place->subscription, at->subscription) &&
                      bytes_equal(place->group, at->group));
}

static void add(struct roles *roles, struct bytes principal, const struct scope *scope,
                const struct definition *definition)
{
    struct arena *arena = roles->arena;
    struct assignment *to;
    struct scope at = *scope;

    at.subscription = arena_copy_lower(arena, at.subscription);
    at.group = arena_copy_lower(arena, at.group);
    at.account = arena_copy_lower(arena, at.account);
    at.container = arena_copy_lower(arena, at.container);
    if (at.kind >= SCOPE_ACCOUNT) {
        if (is_elsewhere(roles, &at))
            return;
        at.subscription = at.group = bytes_of(NULL, 0);
    }
    if (roles->count == roles->capacity) {
        roles->capacity = roles->capacity > 0 ? 2 * roles->capacity : 16;
        roles->list = xrealloc(roles->list, roles->capacity * sizeof roles->list[0]);
    }
    to = &roles->list[roles->count++];
    *to = (struct assignment){ .principal = arena_copy(arena, principal), .at = at };
    for (size_t i = 0; i < SERVICES; i++) {
        if (strchr(definition->services, service_letters[i]))
            to->actions[i] = definition->actions;
    }
}

enum { PRINCIPAL, ROLE, SCOPE, CONDITION, MEMBERS };
static const char *const members[MEMBERS] = { "principalId", "roleDefinitionName", "scope",
                                              "condition" };

static void read_entry(struct roles *roles, struct entries *entries,
                       const struct json_member given[MEMBERS])
{
    struct bytes principal = json_text(&given[PRINCIPAL]);
    const struct definition *definition = definition_of(json_text(&given[ROLE]));
    struct scope scope = scope_parse(json_text(&given[SCOPE]));

    if (!principal.ptr) {
        entries_refuse(entries, "no principalId");
    } else if (scope.kind == SCOPE_UNKNOWN) {
        entries_refuse(entries, "its scope is not a resource id, or names a part of a storage "
                                "account that holds no data");
    } else if (!definition || scope.kind == SCOPE_OTHER) {
        return;
    } else if (given[CONDITION].kind != JSON_ABSENT && given[CONDITION].kind != JSON_NULL) {
        entries_refuse(entries, "conditions are not supported");
    } else {
        roles->unplaced += scope.kind < SCOPE_ACCOUNT && places_count(roles->places) == 0;
        add(roles, principal, &scope, definition);
    }
}

static void merge(struct roles *roles)
{
    size_t kept = 0;

    qsort(roles->list, roles->count, sizeof roles->list[0], compare);
    for (size_t i = 1; i < roles->count; i++) {
        if (compare(&roles->list[kept], &roles->list[i]) != 0) {
            roles->list[++kept] = roles->list[i];
            continue;
        }
        for (size_t service = 0; service < SERVICES; service++)
            roles->list[kept].actions[service] |= roles->list[i].actions[service];
    }
    roles->count = kept + 1;
}

struct roles *roles_new(struct bytes json, const struct places *places,
                        struct trust_problem *ret_problem)
{
    struct roles *roles = xcalloc(1, sizeof *roles);
    struct json_member given[MEMBERS];
    struct entries entries;

    roles->places = places;
    roles->arena = arena_new(json_memory_max(json));
    entries_begin(&entries, "--oauthRoles", json, ret_problem);
    while (entries_next(&entries, members, MEMBERS, given))
        read_entry(roles, &entries, given);
    entries_end(&entries);
    if (ret_problem->text[0]) {
        roles_free(roles);
        return NULL;
    }
    if (roles->count > 0)
        merge(roles);
    return roles;
}

void roles_free(struct roles *roles)
{
    if (!roles)
        return;
    arena_free(roles->arena);
    free(roles->list);
    free(roles);
}

size_t roles_unplaced(const struct roles *roles)
{
    return roles->unplaced;
}

/* ---- lookup ---- */

static unsigned actions_at(const struct roles *roles, struct bytes oid, size_t service,
                           struct scope at)
{
    const struct assignment key = { .principal = oid, .at = at };
    const struct assignment *found =
        bsearch(&key, roles->list, roles->count, sizeof roles->list[0], compare);

    return found ? found->actions[service] : 0;
}

/* Longer than any account or container name. */
#define NAME_MAX_BYTES 128

/* Converts to lower case; returns ptr NULL if the text is longer than any name. */
static struct bytes lower(struct bytes name, char buffer[NAME_MAX_BYTES])
{
    if (name.len > NAME_MAX_BYTES)
        return bytes_of(NULL, 0);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        buffer[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return bytes_of(buffer, name.len);
}

/* Compares in lower case, because table names ignore case, and names of containers and queues are
 * lower case. rest: Understanding-the-Table-Service-Data-Model */
unsigned roles_actions(const struct roles *roles, struct bytes oid, struct bytes account,
                       char service, struct bytes container)
{
    char account_buffer[NAME_MAX_BYTES], container_buffer[NAME_MAX_BYTES];
    const char *letter = service ? strchr(service_letters, service) : NULL;
    size_t i = letter ? (size_t)(letter - service_letters) : 0;
    struct scope at = { .kind = SCOPE_ACCOUNT, .account = lower(account, account_buffer) };
    const struct scope *place;
    unsigned actions;

    if (!letter || !at.account.ptr || roles->count == 0)
        return 0;
    place = places_find(roles->places, at.account);
    actions = actions_at(roles, oid, i, at);
    at.kind = SCOPE_SERVICE;
    at.service = service;
    actions |= actions_at(roles, oid, i, at);
    at.kind = SCOPE_CONTAINER;
    at.container = container.ptr ? lower(container, container_buffer) : container;
    if (at.container.ptr)
        actions |= actions_at(roles, oid, i, at);
    if (!place)
        return actions;
    at = (struct scope){ .kind = SCOPE_ROOT };
    actions |= actions_at(roles, oid, i, at);
    at.kind = SCOPE_SUBSCRIPTION;
    at.subscription = place->subscription;
    actions |= actions_at(roles, oid, i, at);
    at.kind = SCOPE_GROUP;
    at.group = place->group;
    return actions | actions_at(roles, oid, i, at);
}
