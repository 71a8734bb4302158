/* Doors of spaces and the set of dropped ones. */
#include "store/embedded/spaces.h"

#include <assert.h>
#include <stdlib.h>

static unsigned door_of(const struct guid *space)
{
    return space->b[15] % SPACE_DOORS;
}

void spaces_init(struct spaces *spaces)
{
    for (unsigned i = 0; i < SPACE_DOORS; i++) {
        int failed = pthread_rwlock_init(&spaces->doors[i].lock, NULL);

        assert(!failed);
        spaces->doors[i].dropped = NULL;
        spaces->doors[i].count = 0;
        spaces->doors[i].capacity = 0;
    }
}

void spaces_release(struct spaces *spaces)
{
    for (unsigned i = 0; i < SPACE_DOORS; i++) {
        pthread_rwlock_destroy(&spaces->doors[i].lock);
        free(spaces->doors[i].dropped);
    }
}

void spaces_enter(struct spaces *spaces, const struct guid *space)
{
    pthread_rwlock_rdlock(&spaces->doors[door_of(space)].lock);
}

void spaces_leave(struct spaces *spaces, const struct guid *space)
{
    pthread_rwlock_unlock(&spaces->doors[door_of(space)].lock);
}

static uint64_t doors_of(const struct guid *spaces, size_t count)
{
    uint64_t doors = 0;

    for (size_t i = 0; i < count; i++)
        doors |= 1ull << door_of(&spaces[i]);
    return doors;
}

void spaces_enter_to_drop(struct spaces *spaces, const struct guid *space,
                          const struct guid *dropped, size_t count)
{
    uint64_t alone = doors_of(dropped, count);
    uint64_t all = alone | 1ull << door_of(space);

    for (unsigned i = 0; i < SPACE_DOORS; i++) {
        if (alone >> i & 1)
            pthread_rwlock_wrlock(&spaces->doors[i].lock);
        else if (all >> i & 1)
            pthread_rwlock_rdlock(&spaces->doors[i].lock);
    }
}

void spaces_leave_dropped(struct spaces *spaces, const struct guid *space,
                          const struct guid *dropped, size_t count)
{
    uint64_t all = doors_of(dropped, count) | 1ull << door_of(space);

    for (unsigned i = 0; i < SPACE_DOORS; i++)
        if (all >> i & 1)
            pthread_rwlock_unlock(&spaces->doors[i].lock);
}

/* The entry of a space, or the empty one where it belongs. Ids are random, so their bytes hash. */
static struct dropped_space *find(const struct space_door *door, const struct guid *space)
{
    uint64_t hash;

    memcpy(&hash, space->b, sizeof hash);
    for (size_t i = hash & (door->capacity - 1);; i = (i + 1) & (door->capacity - 1)) {
        struct dropped_space *entry = &door->dropped[i];

        if (entry->sequence == 0 || guid_equal(&entry->space, space))
            return entry;
    }
}

uint64_t spaces_dropped_at(const struct spaces *spaces, const struct guid *space)
{
    const struct space_door *door = &spaces->doors[door_of(space)];

    return door->count > 0 ? find(door, space)->sequence : 0;
}

static void grow(struct space_door *door)
{
    struct space_door old = *door;

    door->capacity = old.capacity > 0 ? 2 * old.capacity : 16;
    door->dropped = xcalloc(door->capacity, sizeof door->dropped[0]);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.dropped[i].sequence > 0)
            *find(door, &old.dropped[i].space) = old.dropped[i];
    free(old.dropped);
}

void spaces_add_dropped(struct spaces *spaces, const struct guid *space, uint64_t sequence)
{
    struct space_door *door = &spaces->doors[door_of(space)];
    struct dropped_space *entry;

    assert(sequence > 0);
    if (2 * door->count >= door->capacity)
        grow(door);
    entry = find(door, space);
    if (entry->sequence == 0) {
        *entry = (struct dropped_space){ *space, sequence };
        door->count++;
    }
}
