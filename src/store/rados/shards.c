#include "store/rados/shards.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/crc.h"
#include "base/log.h"
#include "store/rados/first_read_table.h"
#include "store/rados/routes.h"
#include "store/rados/row_key.h"

#define BUCKETS 1024u

struct known {
    struct known *next;
    struct shard *shard;
    unsigned users;
    char object[SHARD_NAME_SIZE];
};

struct shards {
    struct port *port;
    uint32_t incarnation;
    _Atomic uint64_t attempts;
    struct routes *routes;
    struct moves moves;
    struct first_reads *first_reads;
    struct shard_watch *watch; /* or NULL */
    atomic_bool is_closing;
    struct lock lock;
    struct known *buckets[BUCKETS]; /* under lock */
    unsigned count;                 /* under lock */
    unsigned entered;               /* under lock */
    struct waiter *idle;            /* under lock: to be woken when that is 0 */
};

struct shards *shards_new(struct port *port, uint32_t incarnation)
{
    struct shards *shards = xcalloc(1, sizeof *shards);

    shards->port = port;
    shards->incarnation = incarnation;
    atomic_init(&shards->attempts, 0);
    atomic_init(&shards->is_closing, false);
    shards->routes = routes_new();
    lock_init(&shards->moves.lock, RANK_PARTITION);
    shards->first_reads = first_reads_new();
    lock_init(&shards->lock, RANK_PARTITION);
    return shards;
}

static void known_free(struct known *known)
{
    assert(known->users == 0);
    shard_free(known->shard);
    free(known);
}

void shards_free(struct shards *shards)
{
    assert(shards->entered == 0);
    for (unsigned i = 0; i < BUCKETS; i++)
        while (shards->buckets[i]) {
            struct known *known = shards->buckets[i];

            shards->buckets[i] = known->next;
            known_free(known);
        }
    first_reads_free(shards->first_reads);
    routes_free(shards->routes);
    lock_release(&shards->moves.lock);
    lock_release(&shards->lock);
    free(shards);
}

struct port *shards_port(const struct shards *shards)
{
    return shards->port;
}

uint32_t shards_incarnation(const struct shards *shards)
{
    return shards->incarnation;
}

struct moves *shards_moves(struct shards *shards)
{
    return &shards->moves;
}

struct first_reads *shards_first_reads(const struct shards *shards)
{
    return shards->first_reads;
}

struct attempt shards_next_attempt(struct shards *shards)
{
    return (struct attempt){ shards->incarnation, atomic_fetch_add(&shards->attempts, 1) + 1 };
}

void shards_enter(struct shards *shards)
{
    lock_take(&shards->lock);
    shards->entered++;
    lock_give(&shards->lock);
}

void shards_leave(struct shards *shards)
{
    struct waiter *idle = NULL;

    lock_take(&shards->lock);
    assert(shards->entered > 0);
    if (--shards->entered == 0) {
        idle = shards->idle;
        shards->idle = NULL;
    }
    lock_give(&shards->lock);
    if (idle)
        idle->wake(idle);
}

void shards_wait_idle(struct shards *shards, struct waiter *waiter)
{
    bool is_idle;

    lock_take(&shards->lock);
    assert(!shards->idle);
    is_idle = shards->entered == 0;
    if (!is_idle)
        shards->idle = waiter;
    lock_give(&shards->lock);
    if (is_idle)
        waiter->wake(waiter);
}

void shards_place_in_lane(const struct shards *shards, const struct guid *space, unsigned lane,
                          struct bytes partition_key, char ret_object[SHARD_NAME_SIZE])
{
    shard_name(space, lane, routes_find(shards->routes, space, lane, partition_key), ret_object);
}

enum store_result shards_arrive_in_lane(struct shards *shards, const struct guid *space,
                                        unsigned lane, struct bytes partition_key,
                                        const struct shard_bounds *bounds)
{
    if (shard_bounds_have(bounds, partition_key))
        return STORE_OK;
    if (bounds->next == 0 || (!bounds->is_empty && bytes_compare(partition_key, bounds->lo) < 0)) {
        log_line(LOG_ERROR, "rados: no shard of lane %u has a partition", lane);
        return STORE_CORRUPT;
    }
    routes_learn(shards->routes, space, lane, bounds->hi, bounds->next, partition_key);
    return STORE_CONFLICT;
}

void shards_place(const struct shards *shards, const struct partition *partition,
                  char ret_object[SHARD_NAME_SIZE])
{
    shards_place_in_lane(shards, &partition->space,
                         partition_lane(&partition->space, partition->key), partition->key,
                         ret_object);
}

enum store_result shards_arrive(struct shards *shards, const struct partition *partition,
                                const struct shard_bounds *bounds)
{
    return shards_arrive_in_lane(shards, &partition->space,
                                 partition_lane(&partition->space, partition->key), partition->key,
                                 bounds);
}

static struct known **bucket_of(struct shards *shards, const char *object)
{
    return &shards->buckets[crc32c(0, object, strlen(object)) % BUCKETS];
}

static struct known **find(struct shards *shards, const char *object)
{
    struct known **at = bucket_of(shards, object);

    while (*at && strcmp((*at)->object, object) != 0)
        at = &(*at)->next;
    return at;
}

void shards_watch(struct shards *shards, struct shard_watch *watch)
{
    shards->watch = watch;
}

void shards_set_closing(struct shards *shards)
{
    atomic_store(&shards->is_closing, true);
}

bool shards_are_closing(const struct shards *shards)
{
    return atomic_load(&shards->is_closing);
}

struct shard *shards_take(struct shards *shards, const char *object)
{
    struct known **at, *known;

    lock_take(&shards->lock);
    at = find(shards, object);
    if (!*at) {
        known = xcalloc(1, sizeof *known);
        known->shard = shard_new_unread(shards->port, object, shard_name_is_first(object));
        shard_set_watch(known->shard, shards->watch);
        memcpy(known->object, object, strlen(object) + 1);
        *at = known;
        shards->count++;
    }
    known = *at;
    known->users++;
    lock_give(&shards->lock);
    return known->shard;
}

void shards_give(struct shards *shards, const char *object)
{
    struct known **at, *unused = NULL;

    lock_take(&shards->lock);
    at = find(shards, object);
    assert(*at && (*at)->users > 0);
    (*at)->users--;
    if ((*at)->users == 0 && shards->count > SHARDS_KEPT) {
        unused = *at;
        *at = unused->next;
        shards->count--;
    }
    lock_give(&shards->lock);
    if (unused)
        known_free(unused);
}
