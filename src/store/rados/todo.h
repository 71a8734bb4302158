/* The deferred tasks of all shards, as this front end has seen them last.
 *
 * A task is a row of the shard of its partition. Which shards have something due in which minute is said by
 * hints (apply.h), written before the task and removed once it has been looked for in vain, after the shard was told
 * that there are no more tasks to be added that are due by then. So a hint without a task costs a look, and a task
 * without a hint cannot be (tests/rados/model/todo.pml). Two front ends may run the same task. */
#ifndef LAGRA_STORE_RADOS_TODO_H
#define LAGRA_STORE_RADOS_TODO_H

#include "store/rados/rados_private.h"

/* What others have added is seen after so long. */
#define TODO_REFRESH_MS 5000u

struct todo *todo_new(void);
void todo_free(struct todo *todo);

/* What a commit of this front end has changed. */
struct todo_change {
    struct todo_change *next;
    bool is_done;
    instant due;
    struct guid id;
};
void todo_changed(struct rados *rados, const struct todo_change *changes);

/* The next four may wait for the cluster. */

/* The first task of the services at or after the one with this full key (deferred.h), and what it is there, in the
 * arena. returns STORE_OK, STORE_NOT_FOUND, STORE_IO */
enum store_result todo_seek(struct rados *rados, struct bytes from, struct arena *arena,
                            struct bytes *ret_key, struct bytes *ret_value);
/* Removes one. returns STORE_OK, STORE_IO */
enum store_result todo_discard(struct store *base, const struct guid *space, struct bytes key);
/* store_task_move(), whichever front end does it. returns STORE_OK, STORE_NOT_FOUND, STORE_IO */
enum store_result todo_move(struct store *base, const struct deferred_task *task, instant due,
                            uint32_t kind, struct bytes payload);

/* A task of the engine. */
struct own_task {
    instant due;
    struct guid id;
    uint32_t kind;
    struct bytes payload;
    struct partition partition;
};
/* The first that is due at `now`, behind `after` (NULL: from the first). In the arena. False: none. is_all: also those
 * that are due later. */
bool todo_next_own(struct rados *rados, instant now, bool is_all, const struct own_task *after,
                   struct arena *arena, struct own_task *ret_task);
/* It is done: its row goes. */
enum store_result todo_end_own(struct rados *rados, const struct own_task *task);
/* Looks at all shards again, when something is asked next. */
void todo_forget(struct rados *rados);

#endif
