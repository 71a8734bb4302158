/* When the next op of a shard waits: for those who come back, and for other front ends.
 *
 * One pause at a time is under way. Where an op is sent before it is over it goes on, and ends nothing; so may it when nobody
 * uses the shard any more, which is freed by it then. */
#include <assert.h>
#include <limits.h>

#include "base/clock.h"
#include "store/rados/shard_private.h"

#define ENDS UINT_MAX /* as many as never come: the pause is to its end */

/* Under the lock. Do so many wait, or as many as an op takes? */
static bool do_wait(const struct shard *shard, unsigned commits)
{
    const struct shard_commit *commit = shard->waiting;
    unsigned count = 0;

    lock_assert_held(&shard->lock);
    if (commits == ENDS)
        return false;
    for (; commit && count < commits && count < SHARD_GROUP_COMMITS; commit = commit->next)
        count++;
    return count == commits || count == SHARD_GROUP_COMMITS;
}

bool shard_pause_over(struct shard *shard, bool *ret_is_freed)
{
    bool goes_on;

    lock_take(&shard->lock);
    goes_on = shard->is_held;
    shard->is_held = shard->is_pausing = false;
    *ret_is_freed = shard->is_freed;
    lock_give(&shard->lock);
    assert(!goes_on || !*ret_is_freed);
    return goes_on;
}

/* Under the lock. So long other front ends have their turn. */
static unsigned others_ms(struct shard *shard, uint64_t now_ms)
{
    uint32_t self = shard->waiting->attempt.incarnation;
    unsigned ms = 0;
    enum turn_slot slot = turn_before_op(&shard->turn, self, do_wait(shard, TURN_CROWD), now_ms,
                                         clock_wall() / (TICKS_PER_SECOND / 1000), &ms);

    shard->looks_first = shard->looks_first || slot == TURN_BEGINS;
    return slot == TURN_OTHERS ? ms : 0;
}

/* Under the lock. For how long, and until how many wait; 0: it is sent. */
static unsigned pause_ms(struct shard *shard, uint64_t now_ms, unsigned *ret_awaited)
{
    unsigned ms, awaited = crowd_awaited(&shard->crowd, now_ms, &ms);

    if (!shard->waiting)
        return 0;
    if (awaited > 0 && !do_wait(shard, awaited)) {
        *ret_awaited = awaited;
        return ms;
    }
    *ret_awaited = ENDS;
    return others_ms(shard, now_ms);
}

bool shard_holds_back(struct shard *shard)
{
    unsigned ms;
    bool is_pausing;

    if (shard->group)
        return false;
    lock_take(&shard->lock);
    ms = pause_ms(shard, clock_monotonic_ms(), &shard->awaited);
    shard->is_held = ms > 0;
    is_pausing = shard->is_pausing;
    shard->is_pausing = is_pausing || ms > 0;
    lock_give(&shard->lock);
    if (ms > 0 && !is_pausing)
        port_pause(shard->port, ms, &shard->pause);
    return ms > 0;
}

bool shard_has_come(struct shard *shard)
{
    lock_assert_held(&shard->lock);
    crowd_came(&shard->crowd, clock_monotonic_ms());
    if (!shard->is_held || !do_wait(shard, shard->awaited))
        return false;
    shard->is_held = false;
    return true;
}

void shard_answered(struct shard *shard, const struct shard_commit *ended)
{
    const struct shard_commit *waiting;
    unsigned commits = 0, waits = 0;
    uint64_t now_ms = clock_monotonic_ms();

    for (; ended; ended = ended->next)
        commits++;
    lock_take(&shard->lock);
    for (waiting = shard->waiting; waiting && waits < SHARD_GROUP_COMMITS; waiting = waiting->next)
        waits++;
    crowd_answered(&shard->crowd, commits, waits, now_ms - shard->sent_ms, now_ms);
    lock_give(&shard->lock);
}
