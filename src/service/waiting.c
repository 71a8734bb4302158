/* See waiting.h. One list: few wait at any time. Those who are held up may be many: they have another one, which is
 * looked at when the first of them is due, and not for each that comes. */
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
    struct waiter *held; /* the same, of those who are held up */
    instant next_end;    /* not after the first end of theirs */
} room;

__attribute__((constructor)) static void room_init(void)
{
    lock_init(&room.lock, RANK_WAITING);
    lock_condition_init(&room.changed);
    room.next_end = INSTANT_MAX;
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

/* Takes those out of a list whose time is over at `now`, and puts them in front of *taken. Under the lock.
 * returns the first end of the others; INSTANT_MAX: there are none */
static instant take_until(struct waiter **at, instant now, struct waiter **taken)
{
    instant next = INSTANT_MAX;

    lock_assert_held(&room.lock);
    while (*at) {
        struct waiter *waiter = *at;

        if (waiter->sequence > now) {
            next = waiter->sequence < next ? waiter->sequence : next;
            at = &waiter->next;
            continue;
        }
        *at = waiter->next;
        waiter->next = *taken;
        *taken = waiter;
    }
    return next;
}

/* Of both lists. */
static struct waiter *take_all_until(instant now)
{
    struct waiter *taken = NULL, *over = NULL;

    if (now >= room.next_end)
        room.next_end = take_until(&room.held, now, &over);
    take_until(&room.first, now, &taken);
    for (struct waiter *waiter = taken; waiter; waiter = waiter->next)
        room.count--;
    assert(room.first || room.count == 0);
    while (over) {
        struct waiter *waiter = over;

        over = waiter->next;
        waiter->next = taken;
        taken = waiter;
    }
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
    struct waiter *taken = NULL;

    lock_take(&room.lock);
    room.turn++;
    take_until(&room.first, INSTANT_MAX, &taken);
    room.count = 0;
    lock_give(&room.lock);
    wake_all(taken);
}

bool waiting_hold(instant until, struct waiter *waiter)
{
    bool kept;

    lock_take(&room.lock);
    kept = !room.ends;
    if (kept) {
        waiter->sequence = until;
        waiter->next = room.held;
        room.held = waiter;
    }
    if (kept && until < room.next_end) {
        room.next_end = until;
        pthread_cond_signal(&room.changed);
    }
    lock_give(&room.lock);
    return kept;
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

    if (!room.first && !room.held)
        return -1;
    if (room.held && room.next_end < now + ticks)
        ticks = room.next_end > now ? room.next_end - now : 0;
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
        struct waiter *taken = take_all_until(now);

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
    struct waiter *held = NULL;

    lock_take(&room.lock);
    room.ends = true;
    take_until(&room.held, INSTANT_MAX, &held);
    room.next_end = INSTANT_MAX;
    pthread_cond_signal(&room.changed);
    lock_give(&room.lock);
    thread_join(&room.thread);
    wake_all(held);
    waiting_over();
}
