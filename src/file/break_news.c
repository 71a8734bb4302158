/* See break_news.h. The listeners lie in lists by their keys. */
#include "file/break_news.h"

#include <assert.h>

#include "base/lock.h"

#define LISTS 1024u

static struct {
    struct lock lock;
    struct break_listener *lists[LISTS]; /* under the lock */
} room;

__attribute__((constructor)) static void room_init(void)
{
    lock_init(&room.lock, RANK_NEWS);
}

/* Keys are random, or made by a hash. */
static struct break_listener **list_of(const struct guid *key)
{
    return &room.lists[(key->b[0] | (unsigned)key->b[1] << 8) % LISTS];
}

void break_listener_add(struct break_listener *listener)
{
    struct break_listener **at = list_of(&listener->key);

    assert(listener->asked);
    lock_take(&room.lock);
    while (*at)
        at = &(*at)->next;
    listener->next = NULL;
    *at = listener;
    lock_give(&room.lock);
}

void break_listener_remove(struct break_listener *listener)
{
    struct break_listener **at = list_of(&listener->key);

    lock_take(&room.lock);
    while (*at != listener) {
        assert(*at); /* it was added */
        at = &(*at)->next;
    }
    *at = listener->next;
    listener->next = NULL;
    lock_give(&room.lock);
}

static bool is_of(const struct break_listener *listener, const struct guid *space,
                  const struct guid *key)
{
    return guid_equal(&listener->key, key) && guid_equal(&listener->space, space);
}

void break_listener_has(struct break_listener *listener, uint64_t node)
{
    lock_take(&room.lock);
    listener->node = node;
    lock_give(&room.lock);
}

bool break_listener_find(const struct guid *space, const struct guid *key, uint64_t *ret_node)
{
    const struct break_listener *at;

    lock_take(&room.lock);
    for (at = *list_of(key); at && !(at->node != 0 && is_of(at, space, key)); at = at->next)
        ;
    *ret_node = at ? at->node : 0;
    lock_give(&room.lock);
    return at != NULL;
}

struct break_report {
    struct decision_news news;
    struct break_news asked;
};

static void tell(struct decision_news *news)
{
    const struct break_report *report = (const struct break_report *)(const void *)news;

    bool is_first = true;

    lock_take(&room.lock);
    for (struct break_listener *at = *list_of(&report->asked.key); at; at = at->next) {
        if (!is_of(at, &report->asked.space, &report->asked.key))
            continue;
        at->asked(at, &report->asked, is_first);
        is_first = false;
    }
    lock_give(&room.lock);
}

void break_news_add(struct decision *d, const struct break_news *news)
{
    struct break_report *report = arena_alloc(d->arena, sizeof *report);

    report->news.tell = tell;
    report->asked = *news;
    decision_tell(d, &report->news);
}
