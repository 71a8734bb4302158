/* The one clock of Lagra: wall clock made monotonic and unique, in 100 ns ticks; and the time that passes. Any thread.
 *
 * Clock invariants, cited as "clock invariant N" (decision: 42):
 *  (1) clock_now() rises strictly, over all threads.
 *  (2) After clock_not_before(t) every answer is greater than t: the store calls it at open with
 *      the newest instant of any commit, so a restart never goes back even if the wall clock did.
 *  (3) While it is ahead of the wall clock (that was set back, or by (2)) it goes on at 15/16 of
 *      the speed of time until the wall has caught up: it never stands still, and a lease lasts at
 *      most a fifteenth longer. While it is behind by at most CLOCK_STEP_MIN_S it goes on at 17/16.
 *  (4) A step of the wall clock forward by more than that is followed at once if it is at most
 *      CLOCK_STEP_MAX_S, and what was to end soon is moved with it: clock_after_steps(). A larger
 *      one is not followed by the running server. Every step is logged.
 *  (5) clock_without_steps() of two answers keeps their order, also over a restart: it is time that
 *      passed, as far as the server can know. What it leaves out is in a checkpoint (struct clock_checkpoint),
 *      which the store keeps. */
#ifndef LAGRA_BASE_CLOCK_H
#define LAGRA_BASE_CLOCK_H

#include "base/dates.h"

instant clock_now(void);
/* The instant of a change: clock_now(), and above `seen`, the newest that the state it changes has
 * seen, whatever another machine's clock said then. Read the state first: what is made of this
 * instant is then newer than all that the state holds. */
instant clock_above(instant seen);
/* What the wall clock says, which may go back: for what others date by their own clocks. */
instant clock_wall(void);
/* The same without what clock_move() has added: what clients date and sign, they do by clocks that were not moved. */
instant clock_unmoved(void);
void clock_not_before(instant floor);
/* Time that passes, from some moment on, whatever the wall clock is set to: for pauses and patience of this process. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_monotonic_ms(void);
/* Returns the time since the machine started, in ns, including the time it was suspended
 * (CLOCK_BOOTTIME): for what must be seen to have expired by a process that was stopped. */
uint64_t clock_boot_ns(void);

/* A wall clock that is ahead of ours by more than the first has been set, and is believed up to the
 * second. */
#define CLOCK_STEP_MIN_S 120ull
#define CLOCK_STEP_MAX_S 86400ull
/* Where an instant lies now that was at most `within` ticks away when it was set: moved by the
 * steps that the clock has followed since. A duration in progress ends by the time that passed, not
 * by what the clock was set to. within: below CLOCK_STEP_MIN_S, so that no step is applied
 * twice. */
instant clock_after_steps(instant t, uint64_t within);

/* An answer of clock_now() without the forward steps that the clock has followed until then: for
 * what ends by the time that passed, days later and over restarts. The same for one instant,
 * always. decision: 185 */
instant clock_without_steps(instant t);
/* Where such a time lies by the clock as it is now. */
instant clock_with_steps(instant t);

/* What a start has to know of the clock of the run before. */
struct clock_checkpoint {
    instant bound;    /* the clock starts above it */
    uint64_t steps;   /* what it had followed in all, ticks */
    uint64_t pending; /* a step that it had not followed: the start will; 0: none */
};
/* As of an answer of clock_now(), or soon after one. */
struct clock_checkpoint clock_checkpoint(instant now);
/* Is a step pending? */
bool clock_is_behind(void);
/* A start, with the checkpoint of the greatest bound: clock_not_before(), and of the time that has passed
 * since, at most a pending step is left out. Before clock_without_steps() is asked. */
void clock_resume(const struct clock_checkpoint *checkpoint);

/* For the tests of clients (docs/testing.md): as if so much time had passed, here alone. */
void clock_move(uint64_t ticks);
/* Ticks, by all calls of it. */
uint64_t clock_moved(void);

/* Tests only: as if so much time had passed, for clients too. */
void clock_advance(uint64_t ticks);
/* Tests only: as if the wall clock had been set, forward or back. */
void clock_step_wall(int64_t ticks);

#endif
