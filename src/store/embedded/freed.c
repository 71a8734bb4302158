/* See freed.h. */
#include "store/embedded/freed.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/extent_file.h"

void reclaim_init(struct reclaim *reclaim, void (*added)(void *context), void *context)
{
    *reclaim = (struct reclaim){ .added = added, .context = context };
    lock_init(&reclaim->lock, RANK_RECLAIM);
}

void reclaim_release(struct reclaim *reclaim)
{
    while (reclaim->waiting) {
        struct freed *next = reclaim->waiting->next;

        free(reclaim->waiting);
        reclaim->waiting = next;
    }
    free(reclaim->kept);
    lock_destroy(&reclaim->lock);
}

struct freed *freed_new(size_t room)
{
    struct freed *freed = xcalloc(1, sizeof *freed + room * sizeof freed->pieces[0]);

    return freed;
}

static uint64_t bytes_of_freed(const struct freed *freed)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < freed->count; i++)
        bytes += extent_room(freed->pieces[i].length);
    return bytes;
}

void freed_count(struct reclaim *reclaim, const struct freed *freed)
{
    atomic_fetch_add(&reclaim->pending_bytes, bytes_of_freed(freed));
    if (freed->sequence > 0)
        atomic_fetch_add(&reclaim->under_way, 1);
}

void freed_uncount(struct reclaim *reclaim, const struct freed_piece *piece)
{
    atomic_fetch_sub(&reclaim->pending_bytes, extent_room(piece->length));
}

void reclaim_add(struct reclaim *reclaim, struct freed *freed)
{
    struct freed *last = freed;

    if (!freed)
        return;
    assert(freed->count > 0);
    while (last->next)
        last = last->next;
    lock_acquire(&reclaim->lock);
    last->next = reclaim->waiting;
    reclaim->waiting = freed;
    lock_release(&reclaim->lock);
    reclaim->added(reclaim->context);
}

/* ---- The queue of the collector ---- */

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
