/* Finds the name of the resource that a stored record belongs to, for logging corruption found by a
 * scrub. */
#ifndef LAGRA_CHECK_RESOURCE_NAME_H
#define LAGRA_CHECK_RESOURCE_NAME_H

#include "auth/auth.h"
#include "store/inspect.h"

struct resource_names {
    struct store *store;
    const struct accounts *accounts; /* served accounts */
};

/* Writes "account/container/blob", or as much as is known. Searches the containers of all accounts,
 * so it is slow, and may wait for the disk. context: struct resource_names */
void resource_name(void *context, const struct record_place *place, char *name, size_t size);

#endif
