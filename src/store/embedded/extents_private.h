/* Inside the set of extents only (extents.c, extent_alloc.c). Both under extents.lock. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENTS_PRIVATE_H
#define LAGRA_STORE_EMBEDDED_EXTENTS_PRIVATE_H

#include "store/embedded/extents.h"

/* NULL when there is none. */
struct extent *extents_find(const struct extents *extents, uint32_t id);
struct extent *extents_insert(struct extents *extents, uint32_t id);

#endif
