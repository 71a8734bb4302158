/* Scopes of role assignments: ids of Azure's resources. Inside of auth/ only; any thread.
 *
 *   /                                                                    everything
 *   /subscriptions/S                                                     its accounts
 *   /subscriptions/S/resourceGroups/G                                    its accounts
 *   ../providers/Microsoft.Storage/storageAccounts/A                     an account
 *   ../storageAccounts/A/blobServices/default                            a service of it
 *   ../storageAccounts/A/blobServices/default/containers/C               queueServices .. queues,
 *                                     tableServices .. tables, fileServices .. fileshares as well
 *
 * Letters have no case, as in Azure. decision: 250
 * rest: Authorize-with-Azure-Active-Directory, "Resource scope" */
#ifndef LAGRA_AUTH_SCOPE_H
#define LAGRA_AUTH_SCOPE_H

#include "base/bytes.h"

enum scope_kind {
    SCOPE_UNKNOWN, /* none of these forms, and no other resource's id */
    SCOPE_OTHER,   /* a resource that is no part of a storage account, or a management group */
    SCOPE_ROOT,
    SCOPE_SUBSCRIPTION,
    SCOPE_GROUP,
    SCOPE_ACCOUNT,
    SCOPE_SERVICE,
    SCOPE_CONTAINER,
};

struct scope {
    enum scope_kind kind;
    struct bytes subscription, group, account; /* len 0: of none */
    char service;                              /* 'b', 'q', 't', 'f'; '\0': of none */
    struct bytes container;
};

/* Of the kinds before SCOPE_ROOT only `kind` says something. Points into the text. */
struct scope scope_parse(struct bytes text);

/* An order of scopes, bytewise. */
int scope_compare(const struct scope *a, const struct scope *b);

#endif
