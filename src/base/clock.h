/* Lagra's clock: the wall clock, made strictly monotonic, in 100 ns ticks. Also the monotonic
 * clocks. Thread-safe.
 *
 * Clock invariants, cited as "clock invariant N" (decision: 42):
 *  (1) clock_now() is strictly increasing across all threads.
 *  (2) After clock_not_before(t) every result is greater than t. The store calls it with the
 *      newest instant of any commit when it is opened, so the clock never goes back at a restart,
 *      even if the wall clock did.
 *  (3) While ahead of the wall clock (which was set back, or because of (2)), the clock runs at
 *      15/16 speed until the wall clock has caught up. It never stands still, and a lease lasts at
 *      most a fifteenth longer. While behind by at most CLOCK_STEP_MIN_S, it runs at 17/16 speed.
 *  (4) If the wall clock jumps forward by more than that, but at most CLOCK_STEP_MAX_S, the clock
 *      follows this step at once, and timeouts due soon are moved with it (clock_after_steps()). A
 *      running server does not follow a larger step. Every step is logged.
 *  (5) clock_without_steps() preserves the order of two results, even across a restart. It is
 *      elapsed time, as far as the server can know it. The steps that it leaves out are in a
 *      checkpoint (struct clock_checkpoint), which the store saves. */
#ifndef LAGRA_BASE_CLOCK_H
#define LAGRA_BASE_CLOCK_H

#include "base/dates.h"

instant clock_now(void);
/* Returns the instant of a change: clock_now(), but later than `seen`, the newest instant in the
 * state to change, which may come from another machine's clock. If the state was read first, the
 * instant is newer than everything in it. */
instant clock_above(instant seen);
/* Returns the wall clock, which may go back, for comparisons with times from other machines. */
instant clock_wall(void);
/* Like clock_wall(), but without the effect of clock_move(), for comparisons with dates and
 * signatures of clients, whose clocks were not moved. */
instant clock_unmoved(void);
void clock_not_before(instant floor);
/* Return the time since an arbitrary start, independent of the wall clock, for pauses and timeouts
 * of this process. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_monotonic_ms(void);
/* Returns clock_monotonic_ms() with the resolution of the kernel's tick, at less cost. */
uint64_t clock_coarse_ms(void);
/* Returns the time since the machine started in ns, including suspension (CLOCK_BOOTTIME): for
 * timeouts that must also expire while the process is stopped. */
uint64_t clock_boot_ns(void);
#define NS_PER_MS        ((uint64_t)1000000)

/* Range of steps: a wall clock that is ahead of ours by more than the minimum must have been set;
 * our clock follows it up to the maximum. */
#define CLOCK_STEP_MIN_S 120ull
#define CLOCK_STEP_MAX_S 86400ull
/* Converts an instant that was at most `within` ticks ahead when it was set, by adding the steps
 * that the clock has followed since then. A duration in progress therefore ends after its elapsed
 * time, regardless of steps. within: below CLOCK_STEP_MIN_S, so that no step is applied twice. */
instant clock_after_steps(instant t, uint64_t within);

/* Subtracts from a result of clock_now() the forward steps followed until then, for timeouts that
 * end after an elapsed time of days, even across restarts. Always returns the same for the same
 * instant.
 * decision: 185 */
instant clock_without_steps(instant t);
/* Converts a time without steps back to the current clock. */
instant clock_with_steps(instant t);

/* State of the clock that the next run needs. */
struct clock_checkpoint {
    instant bound;  /* the clock starts above it */
    uint64_t steps; /* total ticks of steps followed */
    /* ticks of a step that was not followed and that the next start will follow; 0 if none */
    uint64_t pending;
};
/* Returns the checkpoint as of `now`, a recent result of clock_now(). */
struct clock_checkpoint clock_checkpoint(instant now);
/* Returns true if a step is pending. */
bool clock_is_behind(void);
/* Resumes from the checkpoint with the greatest bound: calls clock_not_before(), and excludes a
 * pending step from the elapsed time. Must be called before clock_without_steps(). */
void clock_resume(const struct clock_checkpoint *checkpoint);

/* Advances the clock as if `ticks` had passed on this server only, for tests of clients
 * (docs/fault-injection.md). */
void clock_move(uint64_t ticks);
/* Returns the total of all clock_move() calls, in ticks. */
uint64_t clock_moved(void);

/* Tests only: advances the clock as if the time had also passed for clients. */
void clock_advance(uint64_t ticks);
/* Tests only: acts as if the wall clock had been set, forward or back. */
void clock_step_wall(int64_t ticks);

#endif
