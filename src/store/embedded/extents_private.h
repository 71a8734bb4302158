/* Inside the set of extents only (extents.c, extent_alloc.c, extent_hold.c). All under extents.lock. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENTS_PRIVATE_H
#define LAGRA_STORE_EMBEDDED_EXTENTS_PRIVATE_H

#include "store/embedded/extents.h"

/* Whether a backup does. */
static inline bool extents_holds(const struct extents *extents, uint32_t id)
{
    lock_assert_held(&extents->lock);
    return extents->hold.from <= id && id <= extents->hold.to;
}
/* NULL: not found. */
struct extent *extents_find(const struct extents *extents, uint32_t id);
struct extent *extents_insert(struct extents *extents, uint32_t id);
/* Takes part in EXTENTS_OPEN_MAX. False: none of those that are open can be closed. Else there is
 * place for one more, and *ret_close is to be closed without the lock, or -1. */
bool extents_reserve_file(struct extents *extents, int *ret_close);
/* Puts it where it belongs, among those that may be closed or not, after any change of it. */
void extents_settle(struct extents *extents, struct extent *extent);

#endif
