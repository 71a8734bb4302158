/* What a front end knows of placements: in which cell a container, queue, table or share is, and under which incarnation. A
 * name that is not here is asked for at the root. What is here may have become wrong; the cell then refuses the request, which
 * goes to the root. So the cache has no part in what is right; its bounds are for memory. Thread-safe. */
#ifndef LAGRA_CLUSTER_PLACEMENTS_H
#define LAGRA_CLUSTER_PLACEMENTS_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/lock.h"

#define PLACEMENTS_MAX    16384u
#define PLACEMENT_KEY_MAX 192u
/* An entry is used for so long: much less than a cell remembers what it has released (service/placement.h). */
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
/* Returns false if nothing is known of the name. now_s: of the monotonic clock */
bool placements_find(struct placements *placements, struct bytes key, uint64_t now_s,
                     struct placed *ret_placed);
/* Notes where a name is; the entry that was used least recently makes way. A key that is empty or too long is not noted, nor is
 * an older incarnation than the one that is known. */
void placements_put(struct placements *placements, struct bytes key, struct placed placed,
                    uint64_t now_s);
/* Forgets the name, unless it is known under a newer incarnation than this one. */
void placements_drop(struct placements *placements, struct bytes key, uint64_t incarnation);

#endif
