/* Locks of spaces and the set of dropped ones. */
#include "store/embedded/spaces.h"

#include <assert.h>
#include <stdlib.h>

static unsigned lock_index(const struct guid *space)
{
    return space->b[15] % SPACE_LOCKS;
}

void spaces_init(struct spaces *spaces)
{
    *spaces = (struct spaces){ 0 };
    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        int failed = pthread_rwlock_init(&spaces->locks[i].lock, NULL);

        assert(!failed);
    }
}

void spaces_release(struct spaces *spaces)
{
    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        pthread_rwlock_destroy(&spaces->locks[i].lock);
        free(spaces->locks[i].dropped);
    }
}

void spaces_enter(struct spaces *spaces, const struct guid *space)
{
    pthread_rwlock_rdlock(&spaces->locks[lock_index(space)].lock);
}

void spaces_leave(struct spaces *spaces, const struct guid *space)
{
    pthread_rwlock_unlock(&spaces->locks[lock_index(space)].lock);
}

void space_set_add_shared(struct space_set *set, const struct guid *space)
{
    set->shared |= 1ull << lock_index(space);
}

void space_set_add_exclusive(struct space_set *set, const struct guid *space)
{
    set->exclusive |= 1ull << lock_index(space);
}

/* The lowest lock of a set, taken out of it. */
static unsigned next_lock(uint64_t *locks)
{
    unsigned index = (unsigned)__builtin_ctzll(*locks);

    *locks &= *locks - 1;
    return index;
}

void spaces_enter_set(struct spaces *spaces, const struct space_set *set)
{
    uint64_t left = set->shared | set->exclusive;

    while (left) {
        unsigned index = next_lock(&left);

        if (set->exclusive >> index & 1)
            pthread_rwlock_wrlock(&spaces->locks[index].lock);
        else
            pthread_rwlock_rdlock(&spaces->locks[index].lock);
    }
}

void spaces_leave_set(struct spaces *spaces, const struct space_set *set)
{
    uint64_t left = set->shared | set->exclusive;

    while (left)
        pthread_rwlock_unlock(&spaces->locks[next_lock(&left)].lock);
}

/* The entry of a space, or the empty one where it belongs. Ids are random, so their bytes hash. */
static struct dropped_space *find(const struct space_lock *lock, const struct guid *space)
{
    uint64_t hash;

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

static void grow(struct space_lock *lock)
{
    struct space_lock old = *lock;

    lock->capacity = old.capacity > 0 ? 2 * old.capacity : 16;
    lock->dropped = xcalloc(lock->capacity, sizeof lock->dropped[0]);
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
        grow(lock);
    entry = find(lock, space);
    if (entry->sequence == 0) {
        *entry = (struct dropped_space){ *space, sequence };
        lock->count++;
    }
}

static unsigned stamp_index(const struct guid *space)
{
    return space->b[14] % STAMPS_A_LOCK;
}

uint64_t spaces_stamped_at(const struct spaces *spaces, const struct guid *space)
{
    return spaces->locks[lock_index(space)].stamps[stamp_index(space)];
}

void spaces_stamp(struct spaces *spaces, const struct guid *space, uint64_t sequence)
{
    uint64_t *stamp = &spaces->locks[lock_index(space)].stamps[stamp_index(space)];

    if (sequence > *stamp)
        *stamp = sequence;
}
