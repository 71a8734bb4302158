/* See spaces.h. */
#include "store/embedded/spaces.h"

#include <assert.h>
#include <stdlib.h>

#define CAPACITY_LEAST 16u

static void must(int error)
{
    assert(error == 0);
}

static unsigned lock_index(const struct guid *space)
{
    return space->b[15] % SPACE_LOCKS;
}

void spaces_init(struct spaces *spaces)
{
    pthread_rwlockattr_t attributes;
    int failed = pthread_rwlockattr_init(&attributes);

    failed = failed || pthread_rwlockattr_setkind_np(&attributes,
                                                     PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    *spaces = (struct spaces){ 0 };
    for (unsigned i = 0; i < SPACE_LOCKS; i++)
        failed = failed || pthread_rwlock_init(&spaces->locks[i].lock, &attributes);
    assert(!failed);
    pthread_rwlockattr_destroy(&attributes);
}

void spaces_release(struct spaces *spaces)
{
    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        pthread_rwlock_destroy(&spaces->locks[i].lock);
        free(spaces->locks[i].dropped);
        free(spaces->locks[i].held);
    }
}

void spaces_enter(struct spaces *spaces, const struct guid *space)
{
    must(pthread_rwlock_rdlock(&spaces->locks[lock_index(space)].lock));
}

void spaces_leave(struct spaces *spaces, const struct guid *space)
{
    must(pthread_rwlock_unlock(&spaces->locks[lock_index(space)].lock));
}

void space_set_add_shared(struct space_set *set, const struct guid *space)
{
    set->shared |= 1ull << lock_index(space);
}

void space_set_add_exclusive(struct space_set *set, const struct guid *space)
{
    set->exclusive |= 1ull << lock_index(space);
}

/* Removes the lowest lock from a set and returns it. */
static unsigned next_lock(uint64_t *locks)
{
    unsigned index = (unsigned)__builtin_ctzll(*locks);

    *locks &= *locks - 1;
    return index;
}

void spaces_enter_set(struct spaces *spaces, const struct space_set *set)
{
    uint64_t left = set->shared | set->exclusive;

    assert(left != 0);
    while (left) {
        unsigned index = next_lock(&left);

        if (set->exclusive >> index & 1)
            must(pthread_rwlock_wrlock(&spaces->locks[index].lock));
        else
            must(pthread_rwlock_rdlock(&spaces->locks[index].lock));
    }
}

void spaces_leave_set(struct spaces *spaces, const struct space_set *set)
{
    uint64_t left = set->shared | set->exclusive;

    while (left)
        must(pthread_rwlock_unlock(&spaces->locks[next_lock(&left)].lock));
}

/* A search ends at an empty entry, so there must be one. */
static void assert_table(const struct space_lock *lock)
{
    assert(lock->dropped && lock->count < lock->capacity);
    assert((lock->capacity & (lock->capacity - 1)) == 0);
}

/* Returns the entry of a space, or the empty one where it belongs. Ids are random, so their bytes
 * serve as the hash. */
static struct dropped_space *find(const struct space_lock *lock, const struct guid *space)
{
    uint64_t hash;

    assert_table(lock);
    memcpy(&hash, space->b, sizeof hash);
    for (size_t i = hash & (lock->capacity - 1);; i = (i + 1) & (lock->capacity - 1)) {
        struct dropped_space *entry = &lock->dropped[i];

        if (entry->sequence == 0 || guid_equal(&entry->space, space))
            return entry;
    }
}

uint64_t spaces_dropped_at(const struct spaces *spaces, const struct guid *space)
{
    const struct space_lock *lock = &spaces->locks[lock_index(space)];

    return lock->count > 0 ? find(lock, space)->sequence : 0;
}

/* Moves all entries to a table of that capacity, which has room for one more. */
static void resize(struct space_lock *lock, size_t capacity)
{
    struct space_lock old = *lock;

    lock->capacity = capacity;
    lock->dropped = xcalloc(capacity, sizeof lock->dropped[0]);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.dropped[i].sequence > 0)
            *find(lock, &old.dropped[i].space) = old.dropped[i];
    free(old.dropped);
}

void spaces_add_dropped(struct spaces *spaces, const struct guid *space, uint64_t sequence)
{
    struct space_lock *lock = &spaces->locks[lock_index(space)];
    struct dropped_space *entry;

    assert(sequence > 0);
    if (2 * lock->count >= lock->capacity)
        resize(lock, lock->capacity > 0 ? 2 * lock->capacity : CAPACITY_LEAST);
    entry = find(lock, space);
    if (entry->sequence == 0) {
        *entry = (struct dropped_space){ .space = *space, .sequence = sequence };
        lock->count++;
    }
    assert_table(lock);
}

void spaces_set_collected(struct spaces *spaces, const struct guid *space)
{
    struct space_lock *lock = &spaces->locks[lock_index(space)];
    struct dropped_space *entry = lock->count > 0 ? find(lock, space) : NULL;

    if (!entry || entry->sequence == 0 || entry->is_collected)
        return;
    entry->is_collected = true;
    entry->round = atomic_load(&spaces->round);
    atomic_fetch_add(&spaces->collected, 1);
}

void spaces_collected(struct spaces *spaces, const struct guid *space)
{
    struct space_lock *lock = &spaces->locks[lock_index(space)];

    pthread_rwlock_wrlock(&lock->lock);
    spaces_set_collected(spaces, space);
    pthread_rwlock_unlock(&lock->lock);
}

/* Empties expired entries; the others must then be moved to a new table. Returns their number.
 * Caller holds the lock. */
static size_t forget_old(struct space_lock *lock, uint32_t round)
{
    size_t forgotten = 0;

    for (size_t i = 0; i < lock->capacity; i++) {
        struct dropped_space *entry = &lock->dropped[i];

        if (entry->sequence == 0 || !entry->is_collected || round - entry->round < SPACE_ROUNDS)
            continue;
        entry->sequence = 0;
        forgotten++;
    }
    assert(forgotten <= lock->count);
    lock->count -= forgotten;
    return forgotten;
}

static void shrink(struct space_lock *lock)
{
    size_t capacity = CAPACITY_LEAST;

    while (2 * lock->count >= capacity)
        capacity *= 2;
    if (lock->count > 0) {
        resize(lock, capacity);
        return;
    }
    free(lock->dropped);
    lock->dropped = NULL;
    lock->capacity = 0;
}

void spaces_forget_dropped(struct spaces *spaces, const struct guid *space)
{
    struct space_lock *lock = &spaces->locks[lock_index(space)];
    struct dropped_space *entry = lock->count > 0 ? find(lock, space) : NULL;

    if (!entry || entry->sequence == 0)
        return;
    if (entry->is_collected)
        atomic_fetch_sub(&spaces->collected, 1);
    entry->sequence = 0;
    lock->count--;
    shrink(lock);
}

void spaces_forget_all_dropped(struct spaces *spaces)
{
    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        free(spaces->locks[i].dropped);
        spaces->locks[i].dropped = NULL;
        spaces->locks[i].count = spaces->locks[i].capacity = 0;
    }
    atomic_store(&spaces->collected, 0);
}

void spaces_drop_again(struct spaces *spaces, const struct guid *space, uint64_t sequence)
{
    spaces_forget_dropped(spaces, space);
    spaces_add_dropped(spaces, space, sequence);
}

bool spaces_find_drop(struct spaces *spaces, const struct guid *space, struct space_drop *ret_drop)
{
    bool is_dropped;

    spaces_enter(spaces, space);
    *ret_drop = (struct space_drop){ *space, spaces->returns };
    is_dropped = spaces_dropped_at(spaces, space) > 0;
    spaces_leave(spaces, space);
    return is_dropped;
}

bool spaces_drop_stands(const struct spaces *spaces, const struct space_drop *drop)
{
    return drop->returns == spaces->returns && spaces_dropped_at(spaces, &drop->space) > 0;
}

void spaces_end_round(struct spaces *spaces)
{
    uint32_t round = atomic_fetch_add(&spaces->round, 1) + 1;

    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        struct space_lock *lock = &spaces->locks[i];
        size_t forgotten;

        pthread_rwlock_wrlock(&lock->lock);
        forgotten = forget_old(lock, round);
        if (forgotten > 0)
            shrink(lock);
        pthread_rwlock_unlock(&lock->lock);
        atomic_fetch_sub(&spaces->collected, forgotten);
    }
}

bool spaces_round_is_old(const struct spaces *spaces, uint32_t round)
{
    return atomic_load(&spaces->round) - round >= SPACE_ROUNDS / 2;
}

/* ---- holds ---- */

static size_t find_held(const struct space_lock *lock, const struct guid *space)
{
    size_t i = 0;

    while (i < lock->held_count && !guid_equal(&lock->held[i], space))
        i++;
    return i;
}

bool spaces_is_held(const struct spaces *spaces, const struct guid *space)
{
    const struct space_lock *lock = &spaces->locks[lock_index(space)];

    return lock->held_count > 0 && find_held(lock, space) < lock->held_count;
}

bool spaces_hold(struct spaces *spaces, const struct guid *space)
{
    struct space_lock *lock = &spaces->locks[lock_index(space)];
    bool is_held;

    must(pthread_rwlock_wrlock(&lock->lock));
    if (!lock->held)
        lock->held = xcalloc(SPACE_HOLDS_MAX, sizeof lock->held[0]);
    is_held = find_held(lock, space) < lock->held_count;
    if (!is_held && lock->held_count < SPACE_HOLDS_MAX) {
        lock->held[lock->held_count++] = *space;
        is_held = true;
    }
    must(pthread_rwlock_unlock(&lock->lock));
    return is_held;
}

void spaces_let_go(struct spaces *spaces, const struct guid *space)
{
    struct space_lock *lock = &spaces->locks[lock_index(space)];
    size_t at;

    must(pthread_rwlock_wrlock(&lock->lock));
    at = lock->held ? find_held(lock, space) : 0;
    if (at < lock->held_count)
        lock->held[at] = lock->held[--lock->held_count];
    must(pthread_rwlock_unlock(&lock->lock));
}
