/* The queue of the collector. */
#include "store/embedded/collector_queue.h"

#include <assert.h>
#include <stdlib.h>

#define LIST_KEPT 1024u

void collector_init(struct collector *collector, struct embedded *embedded)
{
    *collector = (struct collector){ .embedded = embedded };
    lock_init(&collector->lock, RANK_SYNCER);
    lock_condition_init(&collector->work);
    lock_condition_init(&collector->answer);
}

void collector_release(struct collector *collector)
{
    free(collector->spaces.ids);
    free(collector->postponed.ids);
    pthread_cond_destroy(&collector->work);
    pthread_cond_destroy(&collector->answer);
    lock_destroy(&collector->lock);
}

void space_list_add(struct space_list *list, const struct guid *space)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        list->ids = xrealloc(list->ids, list->capacity * sizeof list->ids[0]);
    }
    list->ids[list->count++] = *space;
    assert(list->count <= list->capacity);
}

void space_list_trim(struct space_list *list)
{
    if (list->count > 0 || list->capacity <= LIST_KEPT)
        return;
    free(list->ids);
    *list = (struct space_list){ .ids = NULL };
}

void collector_add(struct collector *collector, const struct guid *space)
{
    lock_acquire(&collector->lock);
    space_list_add(&collector->spaces, space);
    pthread_cond_signal(&collector->work);
    lock_release(&collector->lock);
}

void collector_poke(void *context)
{
    struct collector *collector = context;

    lock_acquire(&collector->lock);
    if (!collector->poked) {
        collector->poked = true;
        pthread_cond_signal(&collector->work);
    }
    lock_release(&collector->lock);
}

void collector_wait(struct collector *collector)
{
    uint64_t round;

    lock_acquire(&collector->lock);
    round = ++collector->asked;
    pthread_cond_signal(&collector->work);
    while (collector->answered < round)
        lock_wait(&collector->lock, &collector->answer, -1);
    assert(collector->answered <= collector->asked);
    lock_release(&collector->lock);
}
