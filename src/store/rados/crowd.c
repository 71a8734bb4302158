#include "store/rados/crowd.h"

void crowd_answered(struct crowd *crowd, unsigned commits, unsigned waiting, uint64_t took_ms,
                    uint64_t now_ms)
{
    crowd->answered_before = crowd->answered_before / 2 + crowd->answered;
    crowd->back_before =
        crowd->back_before / 2 + (crowd->back < crowd->answered ? crowd->back : crowd->answered);
    crowd->answered = commits;
    crowd->back = 0;
    crowd->stayed = waiting;
    crowd->answered_ms = now_ms;
    crowd->wait_ms = took_ms < CROWD_WAIT_MS_MAX ? (unsigned)took_ms : CROWD_WAIT_MS_MAX;
}

static bool is_within(const struct crowd *crowd, uint64_t now_ms)
{
    return now_ms - crowd->answered_ms < crowd->wait_ms;
}

void crowd_came(struct crowd *crowd, uint64_t now_ms)
{
    if (is_within(crowd, now_ms))
        crowd->back++;
}

unsigned crowd_awaited(const struct crowd *crowd, uint64_t now_ms, unsigned *ret_ms)
{
    if (!is_within(crowd, now_ms) || crowd->answered + crowd->stayed < CROWD_COMMITS_MIN ||
        crowd->back_before == 0 || 2 * crowd->back_before < crowd->answered_before)
        return 0;
    *ret_ms = (unsigned)(crowd->answered_ms + crowd->wait_ms - now_ms);
    return crowd->stayed + crowd->answered * crowd->back_before / crowd->answered_before;
}
