/* Lending of extents to other front ends of a cluster: see extents.h. */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/embedded/extents_private.h"

/* Returns true if tests want the active extent to be sealed whenever it could be lent. */
static bool seals_always(void)
{
#ifdef LAGRA_GATES
    return getenv("LAGRA_SEAL_ALWAYS") != NULL;
#else
    return false;
#endif
}

/* Returns true if the active extent has enough bytes, or is old enough, to be sealed early. */
static bool may_seal(const struct extents *extents, uint64_t now_ms)
{
    uint64_t since_ms = now_ms - extents->sealed_ms;

    return extents->active_end > EXTENT_UNIT &&
           (since_ms >= EXTENT_OLD_MS || seals_always() ||
            (extents->active_end >= EXTENT_SEAL_BYTES &&
             (!extents->has_sealed || since_ms >= EXTENT_SEAL_MS)));
}

/* Allocates no more from the active extent; the next piece starts a new one. */
static void seal(struct extents *extents, uint64_t now_ms)
{
    struct extent *sealed = extents->active;

    lock_assert_held(&extents->lock);
    assert(!extents->creating);
    extents->active = NULL;
    extents->sealed_ms = now_ms;
    extents->has_sealed = true;
    extents_settle(extents, sealed);
}

enum extent_lending extents_lend(struct extents *extents, uint32_t id, uint64_t now_ms)
{
    enum extent_lending lending = EXTENT_KEPT;
    struct extent *extent;

    lock_acquire(&extents->lock);
    extent = extents_find(extents, id);
    if (extent && extent == extents->active && !extents->creating && may_seal(extents, now_ms))
        seal(extents, now_ms);
    if (extent && extent->is_lent) {
        lending = EXTENT_LENT;
    } else if (extent && extent != extents->active && !extent->is_preparing &&
               extent->staged_count == 0 && extent->run_count == 0) {
        extent->is_preparing = true;
        lending = EXTENT_TO_PREPARE;
    }
    lock_release(&extents->lock);
    return lending;
}

/* Makes fd the file of the extent, if no other thread uses its present one. Returns the descriptor
 * to be closed, or -1. */
static int exchange_file(struct extents *extents, uint32_t id, int fd)
{
    struct extent *extent = extents_find(extents, id);
    int old = fd;

    lock_assert_held(&extents->lock);
    if (!extent)
        return fd;
    assert(extent->staged_count == 0 && extent->run_count == 0 && extent != extents->active);
    extent->is_preparing = false;
    if (fd < 0 || extent->takers > 0)
        return fd;
    extent->is_lent = true;
    if (extent->fd >= 0) {
        old = extent->fd;
        extent->fd = fd;
    }
    return old;
}

void extents_prepare_lending(struct extents *extents, uint32_t id)
{
    int fd = -1;

    (void)extent_file_open(extents->folder, id, EXTENT_READS, &fd); /* logs a failure */
    lock_acquire(&extents->lock);
    fd = exchange_file(extents, id, fd);
    lock_release(&extents->lock);
    extents_close_if_any(fd);
}
