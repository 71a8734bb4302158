/* The runner of the store's durable list of things to do later (store_later_next()): one thread
 * that takes what is due, in order of time, and decides and commits it as a request's exchange
 * would. A service names the kinds of items that it adds in struct service.
 *
 * An item is done at least once: again after a crash or a conflict. So its function decides on the
 * state as it is now, and looks first whether there still is something to do.
 *
 * An item that cannot be done is put off, by a second, two, four, up to an hour, and never given up
 * (later_again.h). It must not be able to end the process either: its function does a bounded part of
 * what may be much, and goes on later. */
#ifndef LAGRA_SERVICE_LATER_H
#define LAGRA_SERVICE_LATER_H

#include "store/store.h"

struct service;
struct endpoint;

/* One attempt to do an item. */
struct later_work {
    const struct later_item *item;
    struct snapshot *before; /* of the item's partition */
    struct changes *changes; /* committed together with the item's removal */
    struct arena *arena;
    instant now;
    const struct endpoint *endpoint; /* of its service; NULL where nobody serves */
};
/* Decides; may be called again on a newer state. To go on later it adds another item to the
 * changes.
 * returns STORE_OK; as the store: then nothing is committed, and the item is put off */
typedef enum store_result later_fn(struct later_work *work);

/* Numbers of kinds are stored: one is never given to anything else. Those of the Blob service begin
 * at 0x100. */
enum { LATER_COLLECT_CONTENT = 1 }; /* 2: later_again.h */
struct later_kind {
    uint32_t kind;
    later_fn *decide;
};

/* Adds an item that deletes, step by step, what these changes leave to content_collect(). */
void later_collect_content(struct changes *changes, instant now);

/* Does items that are due at `now`: all, or some hundred. Waits for disks; not while a runner runs.
 *
 * ret_left  some failed, or are of a kind that nobody here knows: they stay in the list, most of them
 *           put off
 * returns   when the next one is due, at most `now` when there are more; INSTANT_MAX: none is
 *           left */
instant later_run_due(struct store *store, const struct service *const *services,
                      const struct endpoint *endpoints, size_t count, instant now, bool *ret_left);

struct later_runner;
/* NULL: no thread could be started. services, and the endpoint of each (NULL: none): stay the
 * caller's. Main thread. */
struct later_runner *later_start(struct store *store, const struct service *const *services,
                                 const struct endpoint *endpoints, size_t count);
/* Returns when the item that is being done is done. Before the store is closed. Main thread. */
void later_stop(struct later_runner *runner);

#endif
