/* What Azure's built-in roles permit, and which actions an operation needs, as the reference has
 * them. Known to roles.c only. */
#ifndef LAGRA_SIM_ROLES_RIGHTS_H
#define LAGRA_SIM_ROLES_RIGHTS_H

#include "request.h"

/* Actions of any service. */
enum {
    MAY_GET_KEY = 1 << 0, /* a user delegation key */
    MAY_READ_SERVICE = 1 << 1,
    MAY_WRITE_SERVICE = 1 << 2,
    MAY_READ_CONTAINER = 1 << 3,
    MAY_WRITE_CONTAINER = 1 << 4,
    MAY_DELETE_CONTAINER = 1 << 5,
    MAY_GET_ACL = 1 << 6,
    MAY_SET_ACL = 1 << 7,
    MAY_READ = 1 << 8, /* blobs, messages, entities, files */
    MAY_WRITE = 1 << 9,
    MAY_DELETE = 1 << 10,
    MAY_ADD = 1 << 11,
    MAY_UPDATE = 1 << 12,
    MAY_PROCESS = 1 << 13,
    MAY_READ_TAGS = 1 << 14,
    MAY_WRITE_TAGS = 1 << 15,
    MAY_FILTER = 1 << 16,
    MAY_DELETE_VERSION = 1 << 17,
    MAY_DELETE_FOR_GOOD = 1 << 18,
};

struct role {
    const char *name;
    char service; /* its first letter, or 0 for all services */
    unsigned actions;
};
extern const struct role roles_built_in[];
extern const unsigned roles_count;
#define BLOB_OWNER 2

/* A request that no token permits. */
#define NEEDS_MORE (1u << 31)

/* Parts of a transaction are permitted one by one. */
#define NEEDS_MAX  TABLE_PARTS_MAX
struct needs {
    unsigned actions[NEEDS_MAX]; /* all that are set */
    unsigned count;
    int container; /* -1: the account */
};
void roles_needs(const struct ask *ask, struct needs *ret_needs);

#endif
