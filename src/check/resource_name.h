/* What a record of the store belongs to, by its names: for the log, where a scrub finds something damaged. */
#ifndef LAGRA_CHECK_RESOURCE_NAME_H
#define LAGRA_CHECK_RESOURCE_NAME_H

#include "auth/auth.h"
#include "store/inspect.h"

struct place_names {
    struct store *store;
    const struct accounts *accounts; /* that are served */
};

/* Writes "account/container/blob", or what is known of it. Looks through the containers of all accounts: for what is
 * rare. May wait for the disk. context: struct place_names */
void place_name(void *context, const struct record_place *place, char *name, size_t size);

#endif
