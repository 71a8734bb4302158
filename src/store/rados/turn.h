/* Turns at a shard where several front ends change the same partitions as fast as they can. Whose op was applied comes first
 * with the next, too: the others read what it has left, decide, and find that it has changed again. And each that is refused
 * costs the object as much as one that is applied. So:
 *
 *   slots   Where many wait, and a quarter of the last ops was refused, front ends share the shard by the clock: time is cut
 *           into slots, which go round those that have met, in the order of their numbers. Each sends in its own, and begins it
 *           with a look: what was decided on states that are gone is decided again before an op is spent on it. Slots are the
 *           same for all shards, so that clients who wait at one do not keep a front end from filling its ops at another. They
 *           are a habit, no guarantee: where clocks differ front ends meet in each other's slots, and one that is refused twice
 *           in its own sends when it can.
 *   asking  Who has lost for a while asks for a gap: it raises the epoch of the shard's bounds, which each op compares, and which
 *           hardly anybody else changes. By that the others' next op is refused, and they wait for as long as a read, a decision
 *           and an op take. Then both have met. Nobody leaves a gap who is not asked.
 *
 * decisions: 808, 845 */
#ifndef LAGRA_STORE_RADOS_TURN_H
#define LAGRA_STORE_RADOS_TURN_H

#include "base/bytes.h"

#define TURN_SLOT_MS       200u
/* So long after it was met last another counts; so many are known. */
#define TURN_MET_MS        1200u
#define TURN_OTHERS_MAX    3u
/* So many commits that wait are many; many do for so long after it. */
#define TURN_CROWD         4u
#define TURN_CROWD_MS      500u
#define TURN_ALL_REFUSED   256u
/* Refused so often in slots of its own, with none applied between. */
#define TURN_REFUSALS      2u
/* Who has lost for so long asks; not again within the second. The gap. */
#define TURN_LOST_MS       25u
#define TURN_ASKS_AGAIN_MS 1000u
#define TURN_GAP_MS        40u

/* Of one shard. Zero at first. Instants are of one clock, in ms, and not 0. */
struct turn {
    struct {
        uint32_t incarnation; /* 0: nobody */
        uint64_t met_ms;
    } others[TURN_OTHERS_MAX];
    uint64_t crowded_ms;        /* when many commits waited last; 0: never */
    uint64_t slot;              /* of its own, in which it has sent already */
    bool is_by_slots;           /* the op that was sent last */
    unsigned refused;           /* ops in slots of its own, since one was applied */
    uint64_t sent_ms, took_ms;  /* the last op */
    unsigned refusals;          /* of the last ops, the newer count more: 0..TURN_ALL_REFUSED */
    uint32_t lost;              /* a partition at which others came first, */
    uint64_t lost_ms, again_ms; /* since, and once more at; 0: none */
    uint64_t asked_ms;          /* for a gap; 0: never */
    uint64_t gap_ms;            /* until then it leaves one; 0: none */
};

/* ---- what happens ---- */

/* An op was answered. */
void turn_after_op(struct turn *turn, bool was_refused, uint64_t now_ms);
/* This front end has changed a partition that an op of ours compares. */
void turn_met(struct turn *turn, uint32_t incarnation, struct bytes partition_key, uint64_t now_ms);
/* One that was applied has changed the partition. */
void turn_came_in(struct turn *turn, struct bytes partition_key);
/* Others ask for a gap. */
void turn_asked(struct turn *turn, uint64_t now_ms);

/* ---- what is to be done ---- */

/* Is it to ask for a gap? It is taken to have done so then. */
bool turn_asks(struct turn *turn, uint64_t now_ms);

enum turn_slot {
    TURN_FREE,   /* to send at any time */
    TURN_OTHERS, /* to wait */
    TURN_BEGINS, /* ours begins, or a gap is over: what waits may have been decided on what is gone */
};
/* An op of this front end, `self`, is about to be sent. is_crowded: many commits wait. wall_ms: of the clock that front ends share.
 * *ret_ms: TURN_OTHERS: for how long, 1 or more */
enum turn_slot turn_before_op(struct turn *turn, uint32_t self, bool is_crowded, uint64_t now_ms,
                              uint64_t wall_ms, unsigned *ret_ms);

#endif
