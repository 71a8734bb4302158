/* Turns at a partition that several front ends change as fast as they can. Who has changed it in op after op comes first
 * with the next, too: the others read what it has left, decide, and find that it has changed again. So it leaves a gap
 * now and then, as long as an op takes, in which one of them comes in, and has its turn: after each turn where another's change
 * was met lately, else after each eighth, so that nobody who is alone at a partition waits for much. decisions: 808, 839 */
#ifndef LAGRA_STORE_RADOS_TURN_H
#define LAGRA_STORE_RADOS_TURN_H

#include "base/bytes.h"

/* How long a turn is, and the longest gap. */
#define TURN_MS         40u
#define TURN_GAP_MS_MAX 25u
/* So long after it another's change counts; and how many turns pass without a gap but for the last, else. */
#define TURN_MET_MS     10000u
#define TURN_ALONE      8u

/* Of one shard. Zero at first. */
struct turn {
    uint32_t partition;          /* hash of that of the ops since it began */
    uint64_t began_ms, ended_ms; /* the turn, and its last op */
    uint64_t sent_ms, took_ms;
    uint64_t met_ms; /* another's change was found where an op was refused; 0: never */
    unsigned turns;  /* that have ended */
};

/* An op is about to be sent, with this partition first. Returns how many milliseconds it is to wait, and to ask again then;
 * 0: it is sent. */
unsigned turn_before_op(struct turn *turn, struct bytes partition_key, uint64_t now_ms);
/* It was answered. */
void turn_after_op(struct turn *turn, uint64_t now_ms);
/* And refused for another's change. */
void turn_met(struct turn *turn, uint64_t now_ms);

#endif
