/* Dropped spaces, and the locks that separate commits from drops. A commit holds the locks of the
 * spaces that it changes shared, and of each space that it drops exclusively; so no commit to a
 * space is running while it is dropped, and none starts after that.
 *
 * Spaces share SPACE_LOCKS locks, which are acquired in the order of their numbers, before the
 * locks of stripes. No thread waits for a disk while holding one. A waiting writer takes precedence
 * over later readers, because there are so many readers that they never leave a gap.
 *
 * A request may have read the id of a space before the space was dropped. So a dropped space is
 * remembered while its contents are collected and for SPACE_ROUNDS rounds of a minute longer; then
 * it is forgotten (40 bytes each). Nothing waits between reading an id and opening a snapshot, and
 * a commit whose snapshot is older than half of that time gets STORE_CONFLICT. Rounds are counted,
 * not read from a clock, so a process that is suspended for an hour forgets nothing.
 * decision: 248 */
#ifndef LAGRA_STORE_EMBEDDED_SPACES_H
#define LAGRA_STORE_EMBEDDED_SPACES_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/store.h"

#define SPACE_LOCKS  64
#define SPACE_ROUNDS 10u

struct dropped_space {
    struct guid space;
    uint64_t sequence; /* of the drop; 0 means empty entry */
    uint32_t round;    /* when it was collected; */
    bool is_collected; /* all of its contents have been deleted */
};

struct space_lock {
    pthread_rwlock_t lock;
    struct guid *held; /* SPACE_HOLDS_MAX, or NULL if none was ever held; under the lock */
    size_t held_count;
    struct dropped_space *dropped; /* open addressing; under the lock */
    size_t count;
    size_t capacity; /* 0 or a power of 2 */
};

struct spaces {
    struct space_lock locks[SPACE_LOCKS];
    _Atomic uint32_t round;
    _Atomic size_t collected; /* number of collected spaces still remembered */
    /* number of returns to kept states (states.h); changed with all locks held exclusively */
    uint64_t returns;
};

/* A dropped space as the collector sees it. */
struct space_drop {
    struct guid space;
    uint64_t returns;
};

void spaces_init(struct spaces *spaces);
void spaces_release(struct spaces *spaces);

/* For one space, shared. */
void spaces_enter(struct spaces *spaces, const struct guid *space);
void spaces_leave(struct spaces *spaces, const struct guid *space);

/* The locks of several spaces: one bit per lock. */
struct space_set {
    uint64_t shared;
    uint64_t exclusive; /* takes precedence over shared */
};
void space_set_add_shared(struct space_set *set, const struct guid *space);
void space_set_add_exclusive(struct space_set *set, const struct guid *space);
void spaces_enter_set(struct spaces *spaces, const struct space_set *set);
void spaces_leave_set(struct spaces *spaces, const struct space_set *set);

/* Returns the sequence of the drop, or 0 if the space is not dropped. The caller holds the lock. */
uint64_t spaces_dropped_at(const struct spaces *spaces, const struct guid *space);
/* The caller holds the lock exclusively. */
void spaces_add_dropped(struct spaces *spaces, const struct guid *space, uint64_t sequence);

/* Holds a space, or releases it: store_hold_space(). The caller holds no lock. */
bool spaces_hold(struct spaces *spaces, const struct guid *space);
void spaces_let_go(struct spaces *spaces, const struct guid *space);
/* Returns true if the space is held. The caller holds the lock. */
bool spaces_is_held(const struct spaces *spaces, const struct guid *space);

/* Marks a space as no longer dropped; or as dropped again, by a commit that restored its contents.
 * The caller holds the lock exclusively. */
void spaces_forget_dropped(struct spaces *spaces, const struct guid *space);
/* The same for all spaces. The caller holds all locks exclusively. */
void spaces_forget_all_dropped(struct spaces *spaces);
void spaces_drop_again(struct spaces *spaces, const struct guid *space, uint64_t sequence);

/* Returns false if it is not dropped. Thread-safe. Caller must hold no lock. */
bool spaces_find_drop(struct spaces *spaces, const struct guid *space, struct space_drop *ret_drop);
/* Returns true if it is still dropped, and its contents were not restored. The caller holds the
 * lock. */
bool spaces_drop_stands(const struct spaces *spaces, const struct space_drop *drop);

/* Marks a dropped space as completely collected. The caller holds the lock exclusively. */
void spaces_set_collected(struct spaces *spaces, const struct guid *space);
/* The same without a lock. Thread-safe. */
void spaces_collected(struct spaces *spaces, const struct guid *space);
/* Ends a round, and forgets expired spaces. Called once a minute while there are collected spaces.
 * One thread, without a lock. */
void spaces_end_round(struct spaces *spaces);
/* Returns true if a snapshot opened in that round is too old to be committed. */
bool spaces_round_is_old(const struct spaces *spaces, uint32_t round);

#endif
