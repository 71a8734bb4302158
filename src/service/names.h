/* Names of an account's containers, queues, tables and shares, and the space that stores them. */
#ifndef LAGRA_SERVICE_NAMES_H
#define LAGRA_SERVICE_NAMES_H

#include "base/errors.h"
#include "base/ids.h"

/* Returns the id of an account's space in a service, derived from "<service>/<account>". Partition
 * "" stores the account's own data; partition NAME stores the container, queue or table of that
 * name. service: static */
struct guid account_space(const char *service, struct bytes account);

/* Checks the name of a container, queue or share: 3..63 lower-case letters, digits and single
 * dashes.
 * Returns  OK, E_InvalidResourceName, E_OutOfRangeName (its length)
 * rest: Naming-and-Referencing-Containers--Blobs--and-Metadata, Naming-Queues-and-Metadata,
 * Naming-and-Referencing-Shares--Directories--Files--and-Metadata. */
enum error name_check(struct bytes name);

#endif
