#include "store/rados/turn.h"

#include "base/crc.h"

#define MANY_REFUSALS (TURN_ALL_REFUSED / 4)

static uint32_t hash(struct bytes partition_key)
{
    return crc32c(0, partition_key.ptr, partition_key.len);
}

static bool is_lately(uint64_t then_ms, uint64_t now_ms, uint64_t ms)
{
    return then_ms > 0 && now_ms - then_ms <= ms;
}

static bool is_crowded_lately(const struct turn *turn, uint64_t now_ms)
{
    return is_lately(turn->crowded_ms, now_ms, TURN_CROWD_MS);
}

/* ---- what happens ---- */

/* Its place, or that of who was met longest ago. */
static unsigned place_of(const struct turn *turn, uint32_t incarnation)
{
    unsigned place = 0;

    for (unsigned i = 0; i < TURN_OTHERS_MAX; i++) {
        if (turn->others[i].incarnation == incarnation)
            return i;
        if (turn->others[i].met_ms < turn->others[place].met_ms)
            place = i;
    }
    return place;
}

/* Slots begin where many ops are refused, and last for as long as any of many commits is. */
static void note_other(struct turn *turn, uint32_t incarnation, uint64_t now_ms)
{
    unsigned place = place_of(turn, incarnation);
    bool has_slot = turn->others[place].incarnation == incarnation &&
                    is_lately(turn->others[place].met_ms, now_ms, TURN_MET_MS);

    if (!is_crowded_lately(turn, now_ms) || (!has_slot && turn->refusals < MANY_REFUSALS))
        return;
    turn->others[place].incarnation = incarnation;
    turn->others[place].met_ms = now_ms;
}

void turn_met(struct turn *turn, uint32_t incarnation, struct bytes partition_key, uint64_t now_ms)
{
    note_other(turn, incarnation, now_ms);
    if (!is_lately(turn->again_ms, now_ms, TURN_ASKS_AGAIN_MS)) {
        turn->lost = hash(partition_key);
        turn->lost_ms = turn->again_ms = now_ms;
    } else if (turn->lost == hash(partition_key)) {
        turn->again_ms = now_ms;
    }
}

void turn_after_op(struct turn *turn, bool was_refused, uint64_t now_ms)
{
    turn->took_ms = now_ms - turn->sent_ms;
    turn->refused = was_refused ? turn->refused + turn->is_by_slots : 0;
    turn->refusals += (was_refused ? TURN_ALL_REFUSED / 8 : 0) - turn->refusals / 8;
}

void turn_came_in(struct turn *turn, struct bytes partition_key)
{
    if (turn->again_ms > 0 && turn->lost == hash(partition_key))
        turn->again_ms = 0;
}

void turn_asked(struct turn *turn, uint64_t now_ms)
{
    turn->gap_ms = now_ms + TURN_GAP_MS;
    if (turn->refusals < MANY_REFUSALS) /* theirs were */
        turn->refusals = MANY_REFUSALS;
}

/* ---- what is to be done ---- */

bool turn_asks(struct turn *turn, uint64_t now_ms)
{
    if (turn->again_ms == 0 || turn->again_ms - turn->lost_ms < TURN_LOST_MS ||
        is_lately(turn->asked_ms, now_ms, TURN_ASKS_AGAIN_MS))
        return false;
    turn->asked_ms = now_ms;
    return true;
}

static enum turn_slot by_gap(struct turn *turn, uint64_t now_ms, unsigned *ret_ms)
{
    if (turn->gap_ms > now_ms) {
        *ret_ms = (unsigned)(turn->gap_ms - now_ms);
        return TURN_OTHERS;
    }
    turn->gap_ms = 0;
    return TURN_BEGINS;
}

static enum turn_slot by_slots(struct turn *turn, unsigned all, unsigned own, uint64_t wall_ms,
                               unsigned *ret_ms)
{
    uint64_t slot = wall_ms / TURN_SLOT_MS;
    uint64_t needs = turn->took_ms < TURN_SLOT_MS / 2 ? turn->took_ms : TURN_SLOT_MS / 2;
    unsigned into = (unsigned)(wall_ms % TURN_SLOT_MS);
    unsigned until = (unsigned)((own + all - slot % all) % all);
    bool is_first = turn->slot != slot;

    if (until > 0 || into + needs > TURN_SLOT_MS) {
        *ret_ms = (until > 0 ? until : all) * TURN_SLOT_MS - into;
        return TURN_OTHERS;
    }
    turn->slot = slot;
    return is_first ? TURN_BEGINS : TURN_FREE;
}

enum turn_slot turn_before_op(struct turn *turn, uint32_t self, bool is_crowded, uint64_t now_ms,
                              uint64_t wall_ms, unsigned *ret_ms)
{
    unsigned all = 1, own = 0;

    turn->sent_ms = now_ms;
    if (is_crowded)
        turn->crowded_ms = now_ms;
    if (turn->gap_ms > 0)
        return by_gap(turn, now_ms, ret_ms);
    for (unsigned i = 0; is_crowded_lately(turn, now_ms) && i < TURN_OTHERS_MAX; i++)
        if (is_lately(turn->others[i].met_ms, now_ms, TURN_MET_MS)) {
            all++;
            own += turn->others[i].incarnation < self;
        }
    turn->is_by_slots = all > 1 && turn->refused < TURN_REFUSALS;
    return turn->is_by_slots ? by_slots(turn, all, own, wall_ms, ret_ms) : TURN_FREE;
}
