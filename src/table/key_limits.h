/* The entities that the caller may see and write: all, or those between the first and last key of
 * its SAS. rest: Create-service-SAS "Restrict access to table entities"; decision: 145. Pure. */
#ifndef LAGRA_TABLE_KEY_LIMITS_H
#define LAGRA_TABLE_KEY_LIMITS_H

#include "auth/identity.h"
#include "base/arena.h"

/* A position among the entities of a table, with keys as stored (entity_key_encode()). */
struct entity_place {
    struct bytes partition, row;
};
/* Compares like strcmp(). */
int entity_place_compare(struct entity_place a, struct entity_place b);

struct key_limits {
    struct entity_place first; /* first permitted position */
    /* last permitted position; row.ptr NULL: all rows of the partition. partition.ptr NULL:
     * unlimited */
    struct entity_place last;
};
struct key_limits key_limits_of(struct arena *arena, const struct identity *identity);
bool key_limits_hold(const struct key_limits *limits, struct entity_place place);
/* Returns true if the position is after the last permitted one. */
bool key_limits_end_before(const struct key_limits *limits, struct entity_place place);

#endif
