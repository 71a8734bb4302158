/* See store_task_move() in store.h. */
#include "base/clock.h"
#include "store/store_private.h"

/* Maximum number of tries; the partition may change during each. */
#define MOVES_MAX 10

static enum store_result move(struct store *store, const struct deferred_task *task, instant due,
                              uint32_t kind, struct bytes payload, struct arena *arena)
{
    struct read_view *before = read_view_open(store, task->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    enum store_result result;
    uint64_t sequence;

    changes_task_done(changes, task);
    changes_defer(changes, due, kind, payload);
    result = store_commit(store, &(struct commit_part){ before, changes }, 1,
                          clock_above(read_view_instant(before)), STORE_MAY_BLOCK, &sequence);
    read_view_close(before);
    return result;
}

enum store_result store_task_move(struct store *store, const struct deferred_task *task,
                                  instant due, uint32_t kind, struct bytes payload,
                                  struct arena *arena)
{
    enum store_result result = STORE_CONFLICT;

    for (int i = 0; i < MOVES_MAX && result == STORE_CONFLICT; i++)
        result = move(store, task, due, kind, payload, arena);
    return result;
}
