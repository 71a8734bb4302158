/* See waiting.h. One hash table has a list of waiters for each key, another has the keys of each
 * space. Delayed waiters are in a separate list. The lists are searched for expired waiters only
 * when the earliest deadline has passed. */
#include "service/waiting.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/lock.h"
#include "base/thread.h"

/* The clock may run up to a sixteenth faster or slower than the timer, so it is read at least this
 * often. */
#define LOOK_MS_MAX  1000
#define TICKS_PER_MS (TICKS_PER_SECOND / 1000)

#define BUCKETS      1024u

/* Waiters for one key; never empty */
struct place {
    struct place *next; /* list of the bucket */
    struct place *next_of_space, **link_of_space;
    struct waiter_key key;
    struct waiter *first; /* its `sequence` is the instant until which it waits */
};

struct bucket {
    uint64_t turn; /* turn of the newest waiters_wake() of any of its keys or spaces */
    struct place *first;
};

static struct {
    struct lock lock;
    pthread_cond_t changed;
    struct thread thread;
    bool ends;             /* protected by the lock, like all fields below */
    _Atomic uint64_t turn; /* written under the lock, read without it */
    struct bucket buckets[BUCKETS];
    struct bucket spaces[BUCKETS];
    unsigned count;      /* number of waiters in places */
    struct waiter *held; /* list of waiters_delay(); `sequence` as in a place */
    instant next_end;    /* not after the earliest deadline of all lists */
} room;

__attribute__((constructor)) static void room_init(void)
{
    lock_init(&room.lock, RANK_WAITING);
    lock_condition_init(&room.changed);
    room.next_end = INSTANT_MAX;
}

uint64_t waiters_turn(void)
{
    return atomic_load_explicit(&room.turn, memory_order_acquire);
}

unsigned waiters_count(void)
{
    unsigned count;

    lock_acquire(&room.lock);
    count = room.count;
    lock_release(&room.lock);
    return count;
}

/* ---- lists; the caller holds the lock ---- */

static void list(struct waiter **first, struct place *place, instant until, struct waiter *waiter)
{
    lock_assert_held(&room.lock);
    assert(!waiter->link);
    waiter->sequence = until;
    waiter->place = place;
    waiter->link = first;
    waiter->next = *first;
    if (waiter->next)
        waiter->next->link = &waiter->next;
    *first = waiter;
    if (place)
        room.count++;
    if (until < room.next_end) {
        room.next_end = until;
        pthread_cond_signal(&room.changed);
    }
}

static struct bucket *bucket_of(const struct waiter_key *key)
{
    uint64_t hash = (guid_hash(&key->space) ^ key->node) * UINT64_C(0x9E3779B97F4A7C15);

    return &room.buckets[(hash >> 32) % BUCKETS];
}

static struct bucket *space_of(const struct waiter_key *key)
{
    return &room.spaces[guid_hash(&key->space) * UINT64_C(0x9E3779B97F4A7C15) >> 32 &
                        (BUCKETS - 1)];
}

/* Returns the pointer to the key's place, or to the end of the bucket's list if none exists. */
static struct place **place_at(struct bucket *bucket, const struct waiter_key *key)
{
    struct place **at = &bucket->first;

    lock_assert_held(&room.lock);
    while (*at && !waiter_key_equal(&(*at)->key, key))
        at = &(*at)->next;
    return at;
}

static void free_place(struct place *empty)
{
    struct place **at = place_at(bucket_of(&empty->key), &empty->key);

    assert(*at == empty && !empty->first);
    *at = empty->next;
    *empty->link_of_space = empty->next_of_space;
    if (empty->next_of_space)
        empty->next_of_space->link_of_space = empty->link_of_space;
    free(empty);
}

/* Removes the waiter from its list, and frees its place if that becomes empty. */
static void unlist(struct waiter *waiter)
{
    struct place *place = waiter->place;

    lock_assert_held(&room.lock);
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    waiter->link = NULL;
    if (!place)
        return;
    room.count--;
    if (!place->first)
        free_place(place);
}

/* Moves the waiters whose deadline is not after `now` from a list to the front of *taken. Frees the
 * place if its list becomes empty. */
static void take_until(struct waiter *first, instant now, struct waiter **taken)
{
    for (struct waiter *waiter = first, *next; waiter; waiter = next) {
        next = waiter->next;
        if (waiter->sequence > now) {
            room.next_end = waiter->sequence < room.next_end ? waiter->sequence : room.next_end;
            continue;
        }
        unlist(waiter);
        waiter->next = *taken;
        *taken = waiter;
    }
}

/* Removes the expired waiters of all lists. */
static struct waiter *take_all_until(instant now)
{
    struct waiter *taken = NULL;

    if (now < room.next_end)
        return NULL;
    room.next_end = INSTANT_MAX;
    take_until(room.held, now, &taken);
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct place *place = room.buckets[i].first, *next; place; place = next) {
            next = place->next;
            take_until(place->first, now, &taken);
        }
    return taken;
}

static void wake_all(struct waiter *waiter)
{
    while (waiter) {
        struct waiter *next = waiter->next; /* wake() may pass the node to another thread */

        waiter->wake(waiter);
        waiter = next;
    }
}

/* ---- waiters ---- */

static void add_to_space(struct bucket *space, struct place *place)
{
    place->link_of_space = &space->first;
    place->next_of_space = space->first;
    if (space->first)
        space->first->link_of_space = &place->next_of_space;
    space->first = place;
}

static struct place *place_for(struct bucket *bucket, const struct waiter_key *key)
{
    struct place **at = place_at(bucket, key);

    if (!*at) {
        *at = xcalloc(1, sizeof **at);
        (*at)->key = *key;
        add_to_space(space_of(key), *at);
    }
    return *at;
}

enum waiting waiters_add(const struct waiter_key *key, uint64_t turn, instant until,
                         struct waiter *waiter)
{
    struct bucket *bucket = bucket_of(key);
    enum waiting result = WAITING_KEPT;

    assert(key->node != WAITING_ALL_NODES);
    lock_acquire(&room.lock);
    if (room.ends)
        result = WAITING_ENDS;
    else if (bucket->turn > turn || space_of(key)->turn > turn)
        result = WAITING_OVER;
    if (result == WAITING_KEPT) {
        struct place *place = place_for(bucket, key);

        list(&place->first, place, until, waiter);
    }
    lock_release(&room.lock);
    return result;
}

bool waiters_remove(struct waiter *waiter)
{
    bool found;

    lock_acquire(&room.lock);
    found = waiter->link != NULL;
    if (found)
        unlist(waiter);
    lock_release(&room.lock);
    return found;
}

/* Moves the waiters for the key to the front of *taken. The caller holds the lock. */
static void take_node(const struct waiter_key *key, uint64_t turn, struct waiter **taken)
{
    struct bucket *bucket = bucket_of(key);
    struct place *place = *place_at(bucket, key);

    bucket->turn = turn;
    if (place)
        take_until(place->first, INSTANT_MAX, taken);
}

/* Like take_node(), for all nodes of the key's space. */
static void take_space(const struct waiter_key *key, uint64_t turn, struct waiter **taken)
{
    struct bucket *space = space_of(key);

    space->turn = turn;
    for (struct place *place = space->first, *next; place; place = next) {
        next = place->next_of_space;
        if (guid_equal(&place->key.space, &key->space))
            take_until(place->first, INSTANT_MAX, taken);
    }
}

void waiters_wake(const struct waiter_key *key)
{
    struct waiter *taken = NULL;

    lock_acquire(&room.lock);
    room.turn++;
    if (key->node == WAITING_ALL_NODES)
        take_space(key, room.turn, &taken);
    else
        take_node(key, room.turn, &taken);
    lock_release(&room.lock);
    wake_all(taken);
}

bool waiters_delay(instant until, struct waiter *waiter)
{
    bool kept;

    lock_acquire(&room.lock);
    kept = !room.ends;
    if (kept)
        list(&room.held, NULL, until, waiter);
    lock_release(&room.lock);
    return kept;
}

void waiters_refresh(void)
{
    lock_acquire(&room.lock);
    pthread_cond_signal(&room.changed);
    lock_release(&room.lock);
}

/* ---- deadlines ---- */

/* Returns the time to the earliest deadline; -1 if none exists. The caller holds the lock. */
static int next_look_ms(instant now)
{
    uint64_t ticks = LOOK_MS_MAX * TICKS_PER_MS;

    if (room.next_end == INSTANT_MAX)
        return -1;
    if (room.next_end < now + ticks)
        ticks = room.next_end > now ? room.next_end - now : 0;
    return (int)(ticks / TICKS_PER_MS) + 1;
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "waiting");
    lock_acquire(&room.lock);
    while (!room.ends) {
        instant now = clock_now();
        struct waiter *taken = take_all_until(now);

        if (taken) {
            lock_release(&room.lock);
            wake_all(taken);
            lock_acquire(&room.lock);
            continue;
        }
        lock_wait(&room.lock, &room.changed, next_look_ms(now));
    }
    lock_release(&room.lock);
    return NULL;
}

bool waiters_start(void)
{
    room.ends = false;
    return thread_start(&room.thread, watch, NULL);
}

void waiters_stop(void)
{
    struct waiter *taken;

    lock_acquire(&room.lock);
    room.ends = true;
    taken = take_all_until(INSTANT_MAX);
    pthread_cond_signal(&room.changed);
    lock_release(&room.lock);
    thread_join(&room.thread);
    wake_all(taken);
}
