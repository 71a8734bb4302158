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
    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        int failed = pthread_rwlock_init(&spaces->locks[i].lock, NULL);

        assert(!failed);
        spaces->locks[i].dropped = NULL;
        spaces->locks[i].count = 0;
        spaces->locks[i].capacity = 0;
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

static uint64_t lock_set(const struct guid *spaces, size_t count)
{
    uint64_t locks = 0;

    for (size_t i = 0; i < count; i++)
        locks |= 1ull << lock_index(&spaces[i]);
    return locks;
}

void spaces_enter_to_drop(struct spaces *spaces, const struct guid *space,
                          const struct guid *dropped, size_t count)
{
    uint64_t alone = lock_set(dropped, count);
    uint64_t all = alone | 1ull << lock_index(space);

    for (unsigned i = 0; i < SPACE_LOCKS; i++) {
        if (alone >> i & 1)
            pthread_rwlock_wrlock(&spaces->locks[i].lock);
        else if (all >> i & 1)
            pthread_rwlock_rdlock(&spaces->locks[i].lock);
    }
}

void spaces_leave_dropped(struct spaces *spaces, const struct guid *space,
                          const struct guid *dropped, size_t count)
{
    uint64_t all = lock_set(dropped, count) | 1ull << lock_index(space);

    for (unsigned i = 0; i < SPACE_LOCKS; i++)
        if (all >> i & 1)
            pthread_rwlock_unlock(&spaces->locks[i].lock);
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
