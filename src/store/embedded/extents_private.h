/* For extents.c, extent_alloc.c and extent_hold.c only. All under extents.lock. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENTS_PRIVATE_H
#define LAGRA_STORE_EMBEDDED_EXTENTS_PRIVATE_H

#include "store/embedded/extents.h"

/* Returns true if a backup holds the extent. */
static inline bool extents_holds(const struct extents *extents, uint32_t id)
{
    lock_assert_held(&extents->lock);
    return extents->hold.from <= id && id <= extents->hold.to;
}
/* Returns NULL if it is not found. */
struct extent *extents_find(const struct extents *extents, uint32_t id);
struct extent *extents_insert(struct extents *extents, uint32_t id);
void extents_close_if_any(int fd);
/* Reserves one of the EXTENTS_OPEN_MAX files. Returns false if none of the open ones can be closed;
 * otherwise *ret_close must be closed without the lock, unless it is -1. */
bool extents_reserve_file(struct extents *extents, int *ret_close);
/* Updates the list of closable extents after any change of this one. */
void extents_settle(struct extents *extents, struct extent *extent);

#endif
