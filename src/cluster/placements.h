/* A front end's cache of placements: the cell and incarnation of each container, queue, table or
 * share. Requests for a name that is not cached go to the root. An entry may be out of date. The
 * cell then refuses the request, which goes to the root. So correctness does not depend on the
 * cache, and its limits only bound memory. Thread-safe. */
#ifndef LAGRA_CLUSTER_PLACEMENTS_H
#define LAGRA_CLUSTER_PLACEMENTS_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/lock.h"

#define PLACEMENTS_MAX    16384u
#define PLACEMENT_KEY_MAX 192u
/* Lifetime of an entry; much shorter than the time for which a cell remembers the names that it has
 * released (service/placement.h). */
#define PLACEMENT_USED_S  600u

#define PLACEMENT_BUCKETS 8192u

struct placed {
    uint32_t cell;
    uint64_t incarnation;
};

struct placement_entry;

struct placements {
    struct lock lock; /* RANK_CELLS */
    struct placement_entry *buckets[PLACEMENT_BUCKETS];
    struct placement_entry *newest, *oldest; /* by last use */
    unsigned count;
};

void placements_init(struct placements *placements);
void placements_release(struct placements *placements);
/* Looks up a name. Returns false if it is not cached. now_s: monotonic clock */
bool placements_find(struct placements *placements, struct bytes key, uint64_t now_s,
                     struct placed *ret_placed);
/* Stores the placement of a name, and evicts the least recently used entry if the cache is full.
 * Ignores a key that is empty or too long, and an incarnation older than the cached one. */
void placements_put(struct placements *placements, struct bytes key, struct placed placed,
                    uint64_t now_s);
/* Removes a name, unless it is cached with a newer incarnation. */
void placements_drop(struct placements *placements, struct bytes key, uint64_t incarnation);

#endif
