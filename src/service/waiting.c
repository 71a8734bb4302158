/* See waiting.h. One list: few wait at any time. */
#include "service/waiting.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"

/* The clock goes at another speed than the timer, by a sixteenth at most: it looks again. */
#define LOOK_MS_MAX  1000
#define TICKS_PER_MS (TICKS_PER_SECOND / 1000)

static struct {
    struct lock lock;
    pthread_cond_t changed;
    struct thread thread;
    bool ends;             /* under the lock, as all below */
    _Atomic uint64_t turn; /* written under the lock */
    struct waiter *first;  /* its sequence: the instant until which it waits */
    unsigned count;
} room;

__attribute__((constructor)) static void room_init(void)
{
    lock_init(&room.lock, RANK_WAITING);
    lock_condition_init(&room.changed);
}

uint64_t waiting_turn(void)
{
    return atomic_load_explicit(&room.turn, memory_order_acquire);
}

unsigned waiting_count(void)
{
    unsigned count;

    lock_take(&room.lock);
    count = room.count;
    lock_give(&room.lock);
    return count;
}

enum waiting waiting_begin(uint64_t turn, instant until, struct waiter *waiter)
{
    enum waiting result;

    lock_take(&room.lock);
    result = room.ends ? WAITING_ENDS : room.turn != turn ? WAITING_OVER : WAITING_KEPT;
    if (result == WAITING_KEPT) {
        waiter->sequence = until;
        waiter->next = room.first;
        room.first = waiter;
        room.count++;
        pthread_cond_signal(&room.changed);
    }
    lock_give(&room.lock);
    return result;
}

bool waiting_leave(struct waiter *waiter)
{
    struct waiter **at = &room.first;
    bool found;

    lock_take(&room.lock);
    while (*at && *at != waiter)
        at = &(*at)->next;
    found = *at != NULL;
    if (found) {
        *at = waiter->next;
        room.count--;
    }
    lock_give(&room.lock);
    return found;
}

/* Takes those out whose time is over at `now`. Under the lock. */
static struct waiter *take_until(instant now)
{
    struct waiter *taken = NULL, **at = &room.first;

    lock_assert_held(&room.lock);
    while (*at) {
        struct waiter *waiter = *at;

        if (waiter->sequence > now) {
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        waiter->next = taken;
        taken = waiter;
        room.count--;
    }
    assert(room.first || room.count == 0);
    return taken;
}

static void wake_all(struct waiter *waiter)
{
    while (waiter) {
        struct waiter *next = waiter->next; /* wake() may give the node to somebody else */

        waiter->wake(waiter);
        waiter = next;
    }
}

void waiting_over(void)
{
    struct waiter *taken;

    lock_take(&room.lock);
    room.turn++;
    taken = take_until(INSTANT_MAX);
    lock_give(&room.lock);
    wake_all(taken);
}

void waiting_look(void)
{
    lock_take(&room.lock);
    pthread_cond_signal(&room.changed);
    lock_give(&room.lock);
}

/* ---- those whose time is over ---- */

/* Until somebody's time is over; -1: nobody waits. Under the lock. */
static int next_look_ms(instant now)
{
    uint64_t ticks = LOOK_MS_MAX * TICKS_PER_MS;

    if (!room.first)
        return -1;
    for (const struct waiter *waiter = room.first; waiter; waiter = waiter->next)
        if (waiter->sequence - now < ticks)
            ticks = waiter->sequence - now;
    return (int)(ticks / TICKS_PER_MS) + 1;
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "waiting");
    lock_take(&room.lock);
    while (!room.ends) {
        instant now = clock_now();
        struct waiter *taken = take_until(now);

        if (taken) {
            lock_give(&room.lock);
            wake_all(taken);
            lock_take(&room.lock);
            continue;
        }
        lock_wait(&room.lock, &room.changed, next_look_ms(now));
    }
    lock_give(&room.lock);
    return NULL;
}

bool waiting_start(void)
{
    room.ends = false;
    return thread_start(&room.thread, watch, NULL);
}

void waiting_stop(void)
{
    lock_take(&room.lock);
    room.ends = true;
    pthread_cond_signal(&room.changed);
    lock_give(&room.lock);
    thread_join(&room.thread);
    waiting_over();
}
