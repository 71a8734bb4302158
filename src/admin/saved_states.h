/* States of the store that tests save under a name and restore (docs/fault-injection.md). Used by
 * one thread at a time, which may block. */
#ifndef LAGRA_ADMIN_SAVED_STATES_H
#define LAGRA_ADMIN_SAVED_STATES_H

#include "base/json.h"
#include "store/states.h"

#define SAVED_STATES_MAX 16u
#define SAVED_NAME_MAX   64u

struct saved_state {
    char name[SAVED_NAME_MAX + 1];
    struct store_state *state;
    instant at;
    uint64_t loaded; /* number of times it was restored */
};
struct saved_states {
    struct store *store;
    size_t count;
    struct saved_state of[SAVED_STATES_MAX]; /* in the order of their first saves */
};

enum saved_result {
    SAVED_DONE,
    SAVED_NONE,     /* no state of that name */
    SAVED_TOO_MANY, /* there are already SAVED_STATES_MAX states */
    SAVED_NEVER,    /* the store does not support states */
    SAVED_NO_ROOM,  /* not enough disk space */
    SAVED_TOO_FAR,  /* more has changed than can be written at once */
    SAVED_FAILED,   /* the store has failed, or cannot be read */
};

/* Saves the current state, replacing any state with that name. name: 1 to SAVED_NAME_MAX bytes
 * without NUL */
enum saved_result saved_states_save(struct saved_states *saved, struct bytes name);
/* Restores the state durably, except for accounts: the server has them in memory, and the caller
 * still needs its own. */
enum saved_result saved_states_load(struct saved_states *saved, struct bytes name);
enum saved_result saved_states_drop(struct saved_states *saved, struct bytes name);
/* Writes a list of objects. */
void saved_states_show(const struct saved_states *saved, struct json_writer *out);
/* Drops all states, before the store is closed. */
void saved_states_release(struct saved_states *saved);

#endif
