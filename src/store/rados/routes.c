#include "store/rados/routes.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/lock.h"

#define BUCKETS 1024u

struct route {
    struct bytes first; /* on the heap */
    uint64_t number;
};

struct lane_routes {
    struct lane_routes *next; /* in its bucket */
    struct guid space;
    unsigned lane;
    struct route *routes; /* in the order of their first partitions */
    size_t count, capacity;
};

struct routes {
    struct lock lock;
    struct lane_routes *buckets[BUCKETS]; /* under lock */
    atomic_size_t count;                  /* changed under lock */
};

struct routes *routes_new(void)
{
    struct routes *routes = xcalloc(1, sizeof *routes);

    lock_init(&routes->lock, RANK_SYNCER);
    atomic_init(&routes->count, 0);
    return routes;
}

/* Under the lock, or nobody else uses it. */
static void forget_all(struct routes *routes)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        while (routes->buckets[i]) {
            struct lane_routes *lane = routes->buckets[i];

            routes->buckets[i] = lane->next;
            for (size_t k = 0; k < lane->count; k++)
                xcopy_free(lane->routes[k].first);
            free(lane->routes);
            free(lane);
        }
    atomic_store(&routes->count, 0);
}

void routes_free(struct routes *routes)
{
    forget_all(routes);
    lock_release(&routes->lock);
    free(routes);
}

/* Under the lock. */
static struct lane_routes **find_lane(struct routes *routes, const struct guid *space,
                                      unsigned lane)
{
    uint32_t hash = crc32c(lane, space->b, sizeof space->b);
    struct lane_routes **at = &routes->buckets[hash % BUCKETS];

    while (*at && ((*at)->lane != lane || !guid_equal(&(*at)->space, space)))
        at = &(*at)->next;
    return at;
}

/* How many begin at or before the partition. */
static size_t count_before(const struct lane_routes *lane, struct bytes partition_key)
{
    size_t low = 0, high = lane->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bytes_compare(lane->routes[middle].first, partition_key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t routes_find(struct routes *routes, const struct guid *space, unsigned lane,
                     struct bytes partition_key)
{
    const struct lane_routes *found;
    uint64_t number = 0;

    if (atomic_load(&routes->count) == 0)
        return 0;
    lock_take(&routes->lock);
    found = *find_lane(routes, space, lane);
    if (found) {
        size_t before = count_before(found, partition_key);

        if (before > 0)
            number = found->routes[before - 1].number;
    }
    lock_give(&routes->lock);
    return number;
}

static void insert(struct lane_routes *lane, size_t at, struct bytes first, uint64_t number)
{
    if (lane->count == lane->capacity) {
        lane->capacity = lane->capacity > 0 ? 2 * lane->capacity : 4;
        lane->routes = xrealloc(lane->routes, lane->capacity * sizeof lane->routes[0]);
    }
    memmove(&lane->routes[at + 1], &lane->routes[at], (lane->count - at) * sizeof lane->routes[0]);
    lane->routes[at] = (struct route){ xcopy(first), number };
    lane->count++;
}

void routes_learn(struct routes *routes, const struct guid *space, unsigned lane,
                  struct bytes first, uint64_t number, struct bytes partition_key)
{
    struct lane_routes **found, *known;
    size_t before;

    lock_take(&routes->lock);
    if (atomic_load(&routes->count) >= ROUTES_MAX)
        forget_all(routes);
    found = find_lane(routes, space, lane);
    known = *found;
    if (!known) {
        known = *found = xcalloc(1, sizeof *known);
        known->space = *space;
        known->lane = lane;
    }
    before = count_before(known, first);
    if (before > 0 && bytes_equal(known->routes[before - 1].first, first)) {
        known->routes[before - 1].number = number;
    } else {
        insert(known, before, first, number);
        atomic_fetch_add(&routes->count, 1);
    }
    before = count_before(known, partition_key);
    if (before > 0)
        known->routes[before - 1].number = number;
    lock_give(&routes->lock);
}
