/* See route.h. */
#include "cluster/route.h"

#include "base/clock.h"

/* Without a read of the record, since the file system hangs, waiters check their own deadlines this often. */
#define WAKE_NS ((uint64_t)500000000)

void route_init(struct route *route)
{
    lock_init(&route->lock, RANK_CELLS);
    route->is_open = true;
}

enum route_found route_find(struct route *route, const struct request *request,
                            struct owner_target *ret_target, uint64_t *ret_asked_ns)
{
    enum route_found found = ROUTE_CLOSED;

    (void)request;
    lock_take(&route->lock);
    if (route->is_open)
        found = route->has_target && route->target.incarnation > route->refused ? ROUTE_FOUND
                                                                                : ROUTE_NO_OWNER;
    *ret_target = route->target;
    *ret_asked_ns = route->asked_ns;
    lock_give(&route->lock);
    return found;
}

void route_wait(struct route *route, struct waiter *waiter)
{
    bool waits;

    lock_take(&route->lock);
    waits = route->is_open;
    if (waits) {
        waiter->next = route->waiting;
        route->waiting = waiter;
    }
    lock_give(&route->lock);
    if (!waits)
        waiter->wake(waiter);
}

static void wake(struct waiter *waiter)
{
    while (waiter) {
        struct waiter *next = waiter->next; /* before it is woken: it may be gone then */

        waiter->wake(waiter);
        waiter = next;
    }
}

static struct waiter *take_waiting(struct route *route)
{
    struct waiter *waiting = route->waiting;

    lock_assert_held(&route->lock);
    route->waiting = NULL;
    return waiting;
}

static bool find_target(const struct owner_record *record, struct owner_target *ret_target)
{
    *ret_target = (struct owner_target){ .cell = record->cell, .incarnation = record->incarnation };
    return record->is_held && address_read(bytes_from_string(record->owner.forward),
                                           ret_target->address, &ret_target->port);
}

bool route_saw(struct route *route, const struct owner_record *record, uint64_t asked_ns)
{
    uint64_t now_ns = clock_boot_ns();
    bool is_new, is_other;
    struct waiter *waiting = NULL;
    struct owner_target target = { .cell = 0 };
    bool has_target = record && find_target(record, &target);

    lock_take(&route->lock);
    is_new = asked_ns != route->asked_ns;
    route->asked_ns = asked_ns;
    is_other = has_target && target.incarnation != route->target.incarnation;
    route->has_target = has_target;
    if (has_target)
        route->target = target;
    if (is_new || is_other || now_ns > route->woken_ns + WAKE_NS) {
        waiting = take_waiting(route);
        route->woken_ns = now_ns;
    }
    lock_give(&route->lock);
    wake(waiting);
    return is_other;
}

void route_refused(struct route *route, uint64_t incarnation)
{
    lock_take(&route->lock);
    if (incarnation > route->refused)
        route->refused = incarnation;
    lock_give(&route->lock);
}

void route_wake(struct route *route)
{
    struct waiter *waiting;

    lock_take(&route->lock);
    waiting = take_waiting(route);
    lock_give(&route->lock);
    wake(waiting);
}

void route_close(struct route *route)
{
    struct waiter *waiting;

    lock_take(&route->lock);
    route->is_open = false;
    waiting = take_waiting(route);
    lock_give(&route->lock);
    wake(waiting);
}
