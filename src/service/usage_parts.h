/* Counts the usage of containers that share a space (space_parts.h), for usage.c: the space is read
 * once, and each record counts for the container to whose part it belongs. For one thread; may
 * block. */
#ifndef LAGRA_SERVICE_USAGE_PARTS_H
#define LAGRA_SERVICE_USAGE_PARTS_H

#include "service/usage.h"

struct usage_parts;
/* Creates an empty count. To be freed with usage_parts_free(). */
struct usage_parts *usage_parts_new(const struct usage_walk *walk, struct guid space);
void usage_parts_free(struct usage_parts *parts);
/* Returns true if it counts this space. parts may be NULL. */
bool usage_parts_are_of(const struct usage_parts *parts, const struct guid *space);
/* Returns the usage to which a record of this partition counts, or NULL if it belongs to no part.
 * *ret_usage is valid until the next call. Returns the results of part_find(). */
enum store_result usage_parts_find(struct usage_parts *parts, struct bytes partition_key,
                                   struct usage **ret_usage);
/* Adds the bytes and objects of a part to *usage. */
void usage_parts_add(const struct usage_parts *parts, struct guid part, struct usage *usage);

#endif
