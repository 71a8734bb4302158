/* The one clock of Lagra: the wall clock made monotonic and unique, in 100 ns ticks, and the
 * monotonic clocks. Thread-safe.
 *
 * Clock invariants, cited as "clock invariant N" (decision: 42):
 *  (1) clock_now() is strictly increasing over all threads.
 *  (2) After clock_not_before(t) every result is greater than t. The store calls it at open with
 *  the newest instant of any commit, so a restart never goes back even if the wall clock did.
 *  (3) While ahead of the wall clock (because that was set back, or by (2)) the clock runs at 15/16
 *  speed until the wall clock has caught up: it never stands still, and a lease lasts at most a
 *  fifteenth longer. While behind by at most CLOCK_STEP_MIN_S it runs at 17/16 speed.
 *  (4) A forward step of the wall clock of more than that is followed at once if it is at most
 *  CLOCK_STEP_MAX_S, and timeouts due soon are moved with it: clock_after_steps(). A running server
 *  does not follow a larger step. Every step is logged.
 *  (5) clock_without_steps() of two results keeps their order, also over a restart: it is elapsed
 *  time, as far as the server can know it. The steps that it leaves out are in a checkpoint (struct
 *  clock_checkpoint), which the store saves. */
#ifndef LAGRA_BASE_CLOCK_H
#define LAGRA_BASE_CLOCK_H

#include "base/dates.h"

instant clock_now(void);
/* Returns the instant of a change: clock_now(), but above `seen`, the newest instant in the state
 * that is changed, whatever another machine's clock said then. Read the state first; the instant is
 * then newer than everything in it. */
instant clock_above(instant seen);
/* Returns the wall clock, which may go back: to compare with times from other machines. */
instant clock_wall(void);
/* Like clock_wall() without what clock_move() has added: to compare with dates and signatures of
 * clients, whose clocks were not moved. */
instant clock_unmoved(void);
void clock_not_before(instant floor);
/* Elapsed time since an arbitrary start, independent of the wall clock: for this process's pauses
 * and timeouts. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_monotonic_ms(void);
/* Returns clock_monotonic_ms() with the resolution of the kernel's tick, at less cost. */
uint64_t clock_coarse_ms(void);
/* Returns the time since the machine started in ns, including suspension (CLOCK_BOOTTIME): for
 * timeouts that a process must see as expired after having been stopped. */
uint64_t clock_boot_ns(void);
#define NS_PER_MS        ((uint64_t)1000000)

/* A wall clock ahead of ours by more than the minimum has been set; it is believed up to the
 * maximum. */
#define CLOCK_STEP_MIN_S 120ull
#define CLOCK_STEP_MAX_S 86400ull
/* Converts an instant that was at most `within` ticks away when it was set: adds the steps that the
 * clock has followed since. A duration in progress so ends by elapsed time, not by what the clock
 * was set to. within: below CLOCK_STEP_MIN_S, so that no step is applied twice. */
instant clock_after_steps(instant t, uint64_t within);

/* Removes from a result of clock_now() the forward steps followed until then: for timeouts that end
 * by elapsed time, days later and over restarts. Always the same for the same instant.
 * decision: 185 */
instant clock_without_steps(instant t);
/* Converts a time without steps back to the clock as it is now. */
instant clock_with_steps(instant t);

/* State of the clock that the next run needs. */
struct clock_checkpoint {
    instant bound;  /* the clock starts above it */
    uint64_t steps; /* total ticks of steps followed */
    /* ticks of a step not followed, which the next start will follow; 0 if none */
    uint64_t pending;
};
/* Returns the checkpoint as of `now`, a recent result of clock_now(). */
struct clock_checkpoint clock_checkpoint(instant now);
/* Returns true if a step is pending. */
bool clock_is_behind(void);
/* Resumes from the checkpoint with the greatest bound: calls clock_not_before(), and leaves at most
 * a pending step out of the elapsed time. Call before clock_without_steps(). */
void clock_resume(const struct clock_checkpoint *checkpoint);

/* Advances the clock as if `ticks` had passed on this server only, for tests of clients
 * (docs/fault-injection.md). */
void clock_move(uint64_t ticks);
/* Returns the total of all clock_move() calls, in ticks. */
uint64_t clock_moved(void);

/* Tests only: advances the clock as if the time had passed for clients too. */
void clock_advance(uint64_t ticks);
/* Tests only: acts as if the wall clock had been set, forward or back. */
void clock_step_wall(int64_t ticks);

#endif
