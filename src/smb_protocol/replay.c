/* See replay.h. */
#include "smb_protocol/replay.h"

#include <assert.h>

/* Sequences wrap around: the next 0x7FFF count as newer. */
#define NEWER_MAX     0x7FFFu
/* Value of *ret_change for a request whose channel sequence is older than the current one. */
#define CHANGE_BEFORE UINT64_MAX

bool channel_sequence_begin(struct channel_sequence *open, uint16_t sequence, bool modifies,
                            bool replays, uint64_t *ret_change)
{
    uint16_t ahead = (uint16_t)(sequence - open->sequence);

    if (ahead > NEWER_MAX) {
        if (modifies)
            return false;
        open->before++;
        *ret_change = CHANGE_BEFORE;
        return true;
    }
    if (ahead > 0) {
        open->before += open->now;
        open->now = 0;
        open->changes++;
        open->sequence = sequence;
    }
    if (modifies && replays && open->before > 0)
        return false;
    open->now++;
    *ret_change = open->changes;
    return true;
}

void channel_sequence_end(struct channel_sequence *open, uint64_t change)
{
    uint32_t *count = change == open->changes ? &open->now : &open->before;

    assert(*count > 0);
    --*count;
}

/* ---- lock sequences ---- */

struct lock_sequence lock_sequence_read(uint32_t field)
{
    return (struct lock_sequence){ .index = field >> 4, .number = field & 0xF };
}

static bool is_kept(const struct lock_sequence *lock)
{
    return lock->index > 0 && lock->index <= LOCK_SEQUENCES;
}

bool lock_sequence_is_repeated(uint8_t entries[LOCK_SEQUENCES], const struct lock_sequence *lock)
{
    if (!is_kept(lock))
        return false;
    if (entries[lock->index - 1] == lock->number)
        return true;
    entries[lock->index - 1] = LOCK_SEQUENCE_NONE;
    return false;
}

void lock_sequence_done(uint8_t entries[LOCK_SEQUENCES], const struct lock_sequence *lock)
{
    if (is_kept(lock))
        entries[lock->index - 1] = lock->number;
}
