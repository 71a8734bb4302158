/* Registry of break listeners: hash lists by key, in stripes with a lock each. */
#include "opens/break_notification.h"

#include <assert.h>

#include "base/lock.h"

#define STRIPES         64u
#define LISTS_OF_STRIPE 16u

static struct stripe {
    struct lock lock;
    struct break_listener *lists[LISTS_OF_STRIPE];
} stripes[STRIPES];

__attribute__((constructor)) static void stripes_init(void)
{
    for (size_t i = 0; i < STRIPES; i++)
        lock_init(&stripes[i].lock, RANK_NEWS);
}

/* Keys are random or hashes, so any of their bytes is evenly distributed. */
static struct stripe *stripe_of(const struct guid *key)
{
    return &stripes[key->b[0] % STRIPES];
}

static struct break_listener **list_of(const struct guid *key)
{
    return &stripe_of(key)->lists[key->b[1] % LISTS_OF_STRIPE];
}

void break_listener_add(struct break_listener *listener)
{
    struct stripe *stripe = stripe_of(&listener->key);
    struct break_listener **at = list_of(&listener->key);

    assert(listener->on_break);
    lock_acquire(&stripe->lock);
    while (*at)
        at = &(*at)->next;
    listener->next = NULL;
    *at = listener;
    lock_release(&stripe->lock);
}

void break_listener_remove(struct break_listener *listener)
{
    struct stripe *stripe = stripe_of(&listener->key);
    struct break_listener **at = list_of(&listener->key);

    lock_acquire(&stripe->lock);
    while (*at != listener) {
        assert(*at); /* the listener must have been added */
        at = &(*at)->next;
    }
    *at = listener->next;
    listener->next = NULL;
    lock_release(&stripe->lock);
}

static bool is_of(const struct break_listener *listener, const struct guid *space,
                  const struct guid *key)
{
    return guid_equal(&listener->key, key) && guid_equal(&listener->space, space);
}

void break_listener_has(struct break_listener *listener, uint64_t node)
{
    struct stripe *stripe = stripe_of(&listener->key);

    lock_acquire(&stripe->lock);
    listener->node = node;
    lock_release(&stripe->lock);
}

bool break_listener_find(const struct guid *space, const struct guid *key, uint64_t *ret_node)
{
    struct stripe *stripe = stripe_of(key);
    const struct break_listener *at;

    lock_acquire(&stripe->lock);
    for (at = *list_of(key); at && !(at->node != 0 && is_of(at, space, key)); at = at->next)
        ;
    *ret_node = at ? at->node : 0;
    lock_release(&stripe->lock);
    return at != NULL;
}

struct break_report {
    struct commit_callback callback;
    struct break_notification notification;
};

static void notify(struct commit_callback *callback)
{
    const struct break_report *report = (const struct break_report *)(const void *)callback;
    struct stripe *stripe = stripe_of(&report->notification.key);
    bool is_first = true;

    lock_acquire(&stripe->lock);
    for (struct break_listener *at = *list_of(&report->notification.key); at; at = at->next) {
        if (!is_of(at, &report->notification.space, &report->notification.key))
            continue;
        at->on_break(at, &report->notification, is_first);
        is_first = false;
    }
    lock_release(&stripe->lock);
}

void break_notification_forward(const struct break_notification *notification)
{
    struct stripe *stripe = stripe_of(&notification->key);
    struct break_listener *at;

    lock_acquire(&stripe->lock);
    at = *list_of(&notification->key);
    while (at && !is_of(at, &notification->space, &notification->key))
        at = at->next;
    if (at)
        at->on_break(at, notification, true);
    lock_release(&stripe->lock);
}

void break_notification_add(struct decision *d, const struct break_notification *notification)
{
    struct break_report *report = arena_alloc(d->arena, sizeof *report);

    report->callback.run = notify;
    report->notification = *notification;
    decision_on_commit(d, &report->callback);
}
