#include "store/rados/turn.h"

#include "base/crc.h"
#include "store/rados/crowd.h"

/* Does the op follow the one before so soon that hardly anybody came in between? It may have waited for a crowd. */
static bool goes_on(const struct turn *turn, uint32_t partition, uint64_t now_ms)
{
    return turn->began_ms > 0 && turn->partition == partition &&
           now_ms - turn->ended_ms <= turn->took_ms + CROWD_WAIT_MS_MAX;
}

/* A turn ends: is a gap left after it? */
static bool leaves_gap(struct turn *turn, uint64_t now_ms)
{
    bool has_met = turn->met_ms > 0 && now_ms - turn->met_ms <= TURN_MET_MS;

    return ++turn->turns % TURN_ALONE == 0 || has_met;
}

unsigned turn_before_op(struct turn *turn, struct bytes partition_key, uint64_t now_ms)
{
    uint32_t partition = crc32c(0, partition_key.ptr, partition_key.len);

    if (!goes_on(turn, partition, now_ms)) {
        turn->partition = partition;
        turn->began_ms = now_ms;
    } else if (now_ms - turn->began_ms >= TURN_MS) {
        bool has_gap = leaves_gap(turn, now_ms);

        turn->began_ms = has_gap ? 0 : now_ms;
        if (has_gap)
            return turn->took_ms < TURN_GAP_MS_MAX ? (unsigned)turn->took_ms + 1 : TURN_GAP_MS_MAX;
    }
    turn->sent_ms = now_ms;
    return 0;
}

void turn_after_op(struct turn *turn, uint64_t now_ms)
{
    turn->ended_ms = now_ms;
    turn->took_ms = now_ms - turn->sent_ms;
}

void turn_met(struct turn *turn, uint64_t now_ms)
{
    turn->met_ms = now_ms;
}
