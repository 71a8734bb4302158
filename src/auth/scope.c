/* Parses resource ids: see scope.h. An id consists of pairs of type and name; after the type
 * "providers", the name is that of the provider of the resource that follows. */
#include "auth/scope.h"

/* Names of services in ids, and of their containers. */
static const struct {
    char service;
    const char *services, *containers;
} services[] = {
    { 'b', "blobServices", "containers" },
    { 'q', "queueServices", "queues" },
    { 't', "tableServices", "tables" },
    { 'f', "fileServices", "fileshares" },
};
#define SERVICES (sizeof services / sizeof services[0])

/* ---- pairs ---- */

struct pair {
    struct bytes type, name;
};

static bool is_segment(struct bytes segment)
{
    for (size_t i = 0; i < segment.len; i++) {
        if ((uint8_t)segment.ptr[i] < 0x20 || segment.ptr[i] == 0x7f)
            return false;
    }
    return segment.len > 0;
}

/* Removes "/type/name" from the front of `rest`, whose ptr is NULL after the last pair. Returns
 * false if it is not a pair. */
static bool take_pair(struct bytes *rest, struct pair *ret_pair)
{
    struct bytes empty;

    if (!rest->ptr)
        return false;
    bytes_cut(*rest, '/', &ret_pair->type, rest);
    if (!rest->ptr)
        return false;
    bytes_cut(*rest, '/', &ret_pair->name, &empty);
    *rest = empty;
    return is_segment(ret_pair->type) && is_segment(ret_pair->name);
}

/* ---- provider resources ---- */

/* For other resources, only checks that pairs follow each provider. */
static enum scope_kind kind_of_other(struct bytes rest)
{
    struct pair pair;
    bool begun = true; /* a provider was named, but no resource of it yet */

    while (rest.ptr) {
        bool is_provider;

        if (!take_pair(&rest, &pair))
            return SCOPE_UNKNOWN;
        is_provider = bytes_is_nocase(pair.type, "providers");
        if (is_provider && begun)
            return SCOPE_UNKNOWN;
        begun = is_provider;
    }
    return begun ? SCOPE_UNKNOWN : SCOPE_OTHER;
}

static bool extends(struct bytes rest)
{
    struct pair pair;

    return take_pair(&rest, &pair) && bytes_is_nocase(pair.type, "providers");
}

/* Parses the part after a storage account's name. */
static enum scope_kind parse_in_account(struct bytes rest, struct scope *scope)
{
    struct pair pair;
    size_t i;

    if (!rest.ptr)
        return SCOPE_ACCOUNT;
    if (!take_pair(&rest, &pair) || !bytes_is_nocase(pair.name, "default"))
        return SCOPE_UNKNOWN;
    for (i = 0; i < SERVICES && !bytes_is_nocase(pair.type, services[i].services); i++)
        ;
    if (i == SERVICES)
        return SCOPE_UNKNOWN;
    scope->service = services[i].service;
    if (!rest.ptr)
        return SCOPE_SERVICE;
    if (!take_pair(&rest, &pair) || !bytes_is_nocase(pair.type, services[i].containers) || rest.ptr)
        return SCOPE_UNKNOWN;
    scope->container = pair.name;
    return SCOPE_CONTAINER;
}

/* Parses a provider's resource. Storage accounts belong to resource groups; resources of other
 * providers can be attached to any part of an account. */
static enum scope_kind parse_provider(struct bytes provider, struct bytes rest, struct scope *scope)
{
    struct bytes all = rest;
    struct pair pair;

    if (!bytes_is_nocase(provider, "Microsoft.Storage") || !take_pair(&rest, &pair) ||
        !bytes_is_nocase(pair.type, "storageAccounts"))
        return kind_of_other(all);
    for (struct bytes attached = rest; attached.ptr; take_pair(&attached, &(struct pair){ 0 })) {
        if (extends(attached))
            return kind_of_other(all);
    }
    if (scope->group.len == 0)
        return SCOPE_UNKNOWN;
    scope->account = pair.name;
    return parse_in_account(rest, scope);
}

/* ---- complete ids ---- */

static enum scope_kind parse(struct bytes text, struct scope *scope)
{
    struct bytes rest = bytes_from(text, 1);
    struct pair pair;

    if (text.len == 0 || text.ptr[0] != '/')
        return SCOPE_UNKNOWN;
    if (text.len == 1)
        return SCOPE_ROOT;
    if (!take_pair(&rest, &pair))
        return SCOPE_UNKNOWN;
    if (bytes_is_nocase(pair.type, "subscriptions")) {
        scope->subscription = pair.name;
        if (!rest.ptr)
            return SCOPE_SUBSCRIPTION;
        if (!take_pair(&rest, &pair))
            return SCOPE_UNKNOWN;
        if (bytes_is_nocase(pair.type, "resourceGroups")) {
            scope->group = pair.name;
            if (!rest.ptr)
                return SCOPE_GROUP;
            if (!take_pair(&rest, &pair))
                return SCOPE_UNKNOWN;
        }
    }
    if (!bytes_is_nocase(pair.type, "providers"))
        return SCOPE_UNKNOWN;
    return parse_provider(pair.name, rest, scope);
}

struct scope scope_parse(struct bytes text)
{
    struct scope scope = { .kind = SCOPE_UNKNOWN };

    scope.kind = parse(text, &scope);
    return scope;
}

int scope_compare(const struct scope *a, const struct scope *b)
{
    int order = (a->kind > b->kind) - (a->kind < b->kind);

    if (order == 0)
        order = bytes_compare(a->subscription, b->subscription);
    if (order == 0)
        order = bytes_compare(a->group, b->group);
    if (order == 0)
        order = bytes_compare(a->account, b->account);
    if (order == 0)
        order = (a->service > b->service) - (a->service < b->service);
    return order != 0 ? order : bytes_compare(a->container, b->container);
}
