/* Scopes of role assignments: Azure resource ids. Internal to auth/. Thread-safe.
 *
 *   /                                                                    everything
 *   /subscriptions/S                                                     its accounts
 *   /subscriptions/S/resourceGroups/G                                    its accounts
 *   ../providers/Microsoft.Storage/storageAccounts/A                     an account
 *   ../storageAccounts/A/blobServices/default                            one of its services
 *   ../storageAccounts/A/blobServices/default/containers/C            also queueServices .. queues,
 *                                     tableServices .. tables, fileServices .. fileshares
 *
 * Case is ignored, as in Azure. decision: 250 rest: Authorize-with-Azure-Active-Directory,
 * "Resource scope" */
#ifndef LAGRA_AUTH_SCOPE_H
#define LAGRA_AUTH_SCOPE_H

#include "base/bytes.h"

enum scope_kind {
    SCOPE_UNKNOWN, /* none of these forms, nor another resource's id */
    SCOPE_OTHER,   /* a resource outside of storage accounts, or a management group */
    SCOPE_ROOT,
    SCOPE_SUBSCRIPTION,
    SCOPE_GROUP,
    SCOPE_ACCOUNT,
    SCOPE_SERVICE,
    SCOPE_CONTAINER,
};

struct scope {
    enum scope_kind kind;
    struct bytes subscription, group, account; /* len 0 if not applicable */
    char service;                              /* 'b', 'q', 't', 'f'; '\0' if not applicable */
    struct bytes container;
};

/* Parses a scope; the results point into the text. For the kinds before SCOPE_ROOT only `kind` is
 * set. */
struct scope scope_parse(struct bytes text);

/* Compares scopes bytewise. */
int scope_compare(const struct scope *a, const struct scope *b);

#endif
