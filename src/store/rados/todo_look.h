/* A look at the deferred tasks of all shards that have hints of some; and the list that it makes. It waits for the
 * cluster. One thread. */
#ifndef LAGRA_STORE_RADOS_TODO_LOOK_H
#define LAGRA_STORE_RADOS_TODO_LOOK_H

#include "store/rados/port.h"
#include "store/store.h"

/* So many of a shard are looked at once. */
#define TODO_ROWS        256u
/* Hints are followed so long before they are due. */
#define TODO_AHEAD_TICKS (2 * 60 * TICKS_PER_SECOND)

/* On the heap, with all it points to. */
struct todo_entry {
    struct todo_entry *next;
    instant due;
    struct guid id;
    uint32_t kind; /* also of the engine's own: task_row.h */
    struct bytes payload;
    struct partition partition;
};

/* Sorted by (due, id), each id once. */
struct todo_list {
    struct todo_entry *first;
};
void todo_list_clear(struct todo_list *list);
void todo_list_remove(struct todo_list *list, const struct guid *id);
/* The first at or (is_behind) after a place, of the engine's own or not. */
const struct todo_entry *todo_list_find(const struct todo_list *list, instant due,
                                        const struct guid *id, bool is_behind, bool is_own);

/* Looks at shards with hints up to `to`, and removes those hints of minutes that are over where nothing is left.
 * *ret_is_complete: all that is due by then is in the list.
 * returns STORE_OK, STORE_IO, logged */
enum store_result todo_look(struct port *port, instant to, struct todo_list *ret_list,
                            bool *ret_is_complete);

#endif
