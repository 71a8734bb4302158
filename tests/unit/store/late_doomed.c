/* See late_doomed.h. */
#include "late_doomed.h"

#include <assert.h>
#include <stdlib.h>

#include "store/store_private.h"

struct doomed {
    struct doomed *next;
    struct arena *arena; /* it lies there, with all below */
    struct partition partition;
    struct changes *undo;
};

void doomed_init(struct doomed_list *list, struct store *inner)
{
    list->inner = inner;
    list->first = NULL;
    pthread_mutex_init(&list->mutex, NULL);
}

void doomed_release(struct doomed_list *list)
{
    assert(!list->first);
    pthread_mutex_destroy(&list->mutex);
}

void doomed_lock(struct doomed_list *list)
{
    pthread_mutex_lock(&list->mutex);
}

void doomed_unlock(struct doomed_list *list)
{
    pthread_mutex_unlock(&list->mutex);
}

bool doomed_covers(const struct doomed_list *list, struct partition partition)
{
    for (const struct doomed *d = list->first; d; d = d->next)
        if (guid_equal(&d->partition.space, &partition.space) &&
            bytes_equal(d->partition.key, partition.key))
            return true;
    return false;
}

bool doomed_can(const struct changes *changes)
{
    size_t dropped;

    changes_dropped_spaces(changes, &dropped);
    return changes_first(changes) && !changes_first_index(changes) &&
           !changes_first_count(changes) && !changes_first_task(changes) &&
           !changes_have_pieces(changes) && dropped == 0;
}

/* What the record is without the change. */
static enum store_result add_undo(struct doomed *d, struct snapshot *before,
                                  const struct change *change)
{
    struct record record;
    enum store_result result = snapshot_get(before, change->family, change->key, d->arena, &record);

    if (result == STORE_NOT_FOUND) {
        changes_delete(d->undo, change->family, change->key);
        return STORE_OK;
    }
    if (!result && record.piece_count > 0)
        return STORE_FULL; /* not for this list */
    if (!result)
        changes_put(d->undo, change->family, change->key, record.value, NULL, 0);
    return result;
}

static struct doomed *doomed_new(const struct commit_part *part, struct partition partition)
{
    struct arena *arena = arena_new(SIZE_MAX);
    struct doomed *d = arena_alloc(arena, sizeof *d);

    d->arena = arena;
    d->partition = (struct partition){ partition.space, arena_copy(arena, partition.key) };
    d->undo = changes_new(arena);
    for (const struct change *c = changes_first(part->changes); c; c = c->next) {
        if (add_undo(d, part->snapshot, c)) {
            arena_free(arena);
            return NULL;
        }
    }
    return d;
}

enum store_result doomed_commit(struct doomed_list *list, const struct commit_part *part,
                                struct partition partition, instant now, uint64_t *ret_sequence)
{
    struct doomed *d = doomed_new(part, partition);
    enum store_result result;

    doomed_lock(list);
    if (d && doomed_covers(list, partition)) { /* undone as one: the newer one was never applied */
        arena_free(d->arena);
        d = NULL;
    }
    result = d ? store_commit(list->inner, part, 1, now, STORE_MAY_BLOCK, ret_sequence) : STORE_OK;
    if (d && !result) {
        d->next = list->first;
        list->first = d;
    } else if (d) {
        arena_free(d->arena);
    }
    doomed_unlock(list);
    return result;
}

/* Nobody else has committed to the partition since. */
static void undo(struct doomed_list *list, struct doomed *d)
{
    struct snapshot *before = snapshot_open(list->inner, d->partition, STORE_MAY_BLOCK);
    uint64_t sequence;
    enum store_result result =
        store_commit(list->inner, &(struct commit_part){ before, d->undo }, 1,
                     clock_above(snapshot_instant(before)), STORE_MAY_BLOCK, &sequence);

    assert(result != STORE_CONFLICT);
    (void)result; /* its space was dropped, or the disk is full: it is a commit then */
    snapshot_close(before);
    arena_free(d->arena);
}

void doomed_undo(struct doomed_list *list)
{
    doomed_lock(list);
    while (list->first) {
        struct doomed *d = list->first;

        list->first = d->next;
        undo(list, d);
    }
    doomed_unlock(list);
}
