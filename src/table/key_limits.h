/* The entities that the caller may see and write: all, or those between the first and the last key of
 * its SAS. rest: Create-service-SAS "Restrict access to table entities"; decision: 145. Pure. */
#ifndef LAGRA_TABLE_KEY_LIMITS_H
#define LAGRA_TABLE_KEY_LIMITS_H

#include "auth/identity.h"
#include "base/arena.h"

/* A place among the entities of a table: keys as they are stored (entity_key_encode()). */
struct entity_place {
    struct bytes partition, row;
};
/* As strcmp. */
int entity_place_compare(struct entity_place a, struct entity_place b);

struct key_limits {
    struct entity_place first; /* the first place that is open */
    struct entity_place last;  /* the last one; row.ptr NULL: with all rows of the partition.
                                * partition.ptr NULL: there is no end */
};
struct key_limits key_limits_of(struct arena *arena, const struct identity *identity);
bool key_limits_hold(const struct key_limits *limits, struct entity_place place);
/* Is the place behind the last one? */
bool key_limits_end_before(const struct key_limits *limits, struct entity_place place);

#endif
