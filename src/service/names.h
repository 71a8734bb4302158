/* Names of what an account holds, and the space that holds it. */
#ifndef LAGRA_SERVICE_NAMES_H
#define LAGRA_SERVICE_NAMES_H

#include "base/errors.h"
#include "base/ids.h"

/* The space of an account in a service, made from "<service>/<account>": partition "" has what
 * belongs to the account itself, partition NAME the container, queue or table of that name.
 * service: static. */
struct guid account_space(const char *service, struct bytes account);

/* Is it a name of a container, queue or share: 3..63 lower-case letters, digits and single dashes?
 * returns  OK, E_InvalidResourceName, E_OutOfRangeInput (its length)
 * rest: Naming-and-Referencing-Containers--Blobs--and-Metadata, Naming-Queues-and-Metadata,
 * Naming-and-Referencing-Shares--Directories--Files--and-Metadata */
enum error name_check(struct bytes name);

#endif
