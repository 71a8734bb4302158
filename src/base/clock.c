/* The clock, a few atomic words. See clock.h for its guarantees.
 *
 * Once a second, the lead of our time over the time since boot is recorded. Between two records,
 * our time is that lead plus the time since boot, adjusted towards the wall clock by at most 1/SLEW
 * of the elapsed time. A larger difference is a step of the wall clock; see observe_wall(). */
#include "base/clock.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/log.h"

/* While the clock differs from the wall clock, it gains or loses 1/SLEW of the elapsed time. */
#define SLEW          16u
/* Maximum age of the recorded lead. */
#define NOTE_TICKS    TICKS_PER_SECOND
/* If more time than this has passed between reading two clocks, they are read again, up to
 * TRIES_MAX times. */
#define AT_ONCE_TICKS (TICKS_PER_SECOND / 100000)
#define TRIES_MAX     8u
/* Minimum interval between warnings about the wall clock. */
#define WARN_TICKS    (3600 * TICKS_PER_SECOND)
/* Maximum number of steps followed by a process; each is stored for clock_after_steps(). */
#define STEPS_MAX     64

static _Atomic uint64_t newest;   /* newest result of clock_now() */
static _Atomic uint64_t advance;  /* added by tests, and by clock_move() */
static _Atomic uint64_t gone_on;  /* the part added by clock_move() */
static _Atomic int64_t wall_step; /* tests only */
/* Lead of our time over the time since boot, and when it was recorded (ticks since boot; 0 means
 * not yet). Written under `noting`, as two separate words. A reader that sees one old and one new
 * word gets a time that is wrong by a fraction of a second; `newest` still prevents the clock from
 * going back. */
static _Atomic uint64_t lead, lead_at;
static atomic_flag noting = ATOMIC_FLAG_INIT;

/* A step of the wall clock that our time has followed. No result of clock_now() is between `place`
 * and the end of the step. */
struct step {
    _Atomic instant place; /* our time just before the step */
    _Atomic uint64_t size; /* ticks */
};
static struct step steps[STEPS_MAX];
static _Atomic unsigned step_count;
static _Atomic uint64_t steps_before; /* total ticks followed before this process started */
static _Atomic unsigned step_changes; /* odd while steps are being changed, under `noting` */
static _Atomic uint64_t pending;      /* ticks; see struct clock_checkpoint */
static uint64_t warned_at;            /* ticks since boot, 0 if never; under `noting` */

instant clock_above(instant seen)
{
    instant now = clock_now();

    return now > seen ? now : seen + 1;
}

uint64_t clock_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_boot_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

uint64_t clock_coarse_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

instant clock_wall(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return INSTANT_UNIX_EPOCH + (uint64_t)now.tv_sec * TICKS_PER_SECOND +
           (uint64_t)now.tv_nsec / 100 + atomic_load_explicit(&advance, memory_order_relaxed) +
           (uint64_t)atomic_load_explicit(&wall_step, memory_order_relaxed);
}

instant clock_unmoved(void)
{
    return clock_wall() - clock_moved();
}

/* Returns the time since boot, including suspension; independent of the wall clock. */
static uint64_t since_boot(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * TICKS_PER_SECOND + (uint64_t)now.tv_nsec / 100 + 1 +
           atomic_load_explicit(&advance, memory_order_relaxed);
}

static void set_lead(uint64_t ours, uint64_t boot)
{
    atomic_store(&lead_at, boot);
    atomic_store(&lead, ours > boot ? ours - boot : 0);
}

/* Returns our time according to the recorded lead, adjusted towards the wall clock. */
static uint64_t by_lead(uint64_t wall, uint64_t boot)
{
    uint64_t at = atomic_load(&lead_at);
    uint64_t ours = boot + atomic_load(&lead);
    uint64_t most = boot > at ? (boot - at) / SLEW : 0;

    if (wall >= ours)
        return ours + (wall - ours < most ? wall - ours : most);
    return ours - (ours - wall < most ? ours - wall : most);
}

/* ---- steps of the wall clock ---- */

static bool may_warn(uint64_t boot)
{
    if (warned_at != 0 && boot - warned_at < WARN_TICKS)
        return false;
    warned_at = boot;
    return true;
}

/* Steps our time to the wall clock. All earlier results are at or below the step's place, all later
 * ones above its end (clock invariant 5). Called under `noting`. */
static void take_step(unsigned count, uint64_t wall, uint64_t ours)
{
    uint64_t last = atomic_load(&newest);

    atomic_fetch_add(&step_changes, 1);
    do {
        uint64_t place = last > ours ? last : ours;

        atomic_store(&steps[count].place, place);
        atomic_store(&steps[count].size, wall > place ? wall - place : 0);
        atomic_store(&step_count, count + 1);
    } while (wall > last && !atomic_compare_exchange_weak(&newest, &last, wall));
    atomic_fetch_add(&step_changes, 1);
}

/* Returns our time after seeing a wall clock that is far ahead. Called under `noting`. */
static uint64_t follow_step(uint64_t wall, uint64_t ours, uint64_t boot)
{
    unsigned count = atomic_load(&step_count);
    uint64_t size = wall - ours;

    if (size > CLOCK_STEP_MAX_S * TICKS_PER_SECOND || count == STEPS_MAX) {
        atomic_store(&pending, size);
        if (may_warn(boot))
            log_line(LOG_WARN,
                     "the wall clock was set forward by %llu s, which is ignored because it is too "
                     "far; if the new time is correct, restart the server",
                     size / TICKS_PER_SECOND);
        return ours;
    }
    take_step(count, wall, ours);
    atomic_store(&pending, 0);
    log_line(LOG_WARN,
             "the wall clock was set forward by %llu s: timestamps follow it, leases and messages "
             "keep their remaining time",
             size / TICKS_PER_SECOND);
    return wall;
}

/* Checks whether the wall clock was set, records the lead and returns our time. Only one thread
 * does so at a time; others continue with the old record. */
static uint64_t observe_wall(uint64_t wall, uint64_t boot, uint64_t ours)
{
    const uint64_t far = CLOCK_STEP_MIN_S * TICKS_PER_SECOND;

    if (atomic_flag_test_and_set(&noting))
        return ours;
    if (atomic_load(&lead_at) == 0) {
        ours = wall; /* there is no other source of time yet */
        set_lead(ours, boot);
    }
    ours = by_lead(wall, boot);
    if (wall > ours && wall - ours > far)
        ours = follow_step(wall, ours, boot);
    else
        atomic_store(&pending, 0);
    if (ours > wall && ours - wall > far && may_warn(boot))
        log_line(LOG_WARN,
                 "the wall clock is %llu s behind the newest change (it was set back, or had been "
                 "ahead): timestamps continue from there and run slower until it catches up",
                 (ours - wall) / TICKS_PER_SECOND);
    set_lead(ours, boot);
    atomic_flag_clear(&noting);
    return ours;
}

static bool is_far(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) > CLOCK_STEP_MIN_S * TICKS_PER_SECOND;
}

/* Returns the wall clock, and the time since boot just before it. The process may be stopped
 * between the two reads, so several pairs are read and the closest pair is used. The time since
 * boot is read first, because a delay between the reads then makes our clock fast, which is
 * corrected by running slower; a slow clock would be corrected by running faster, which would end
 * timeouts too early. decision: 893 */
static uint64_t read_at_once(uint64_t *ret_boot)
{
    uint64_t wall = 0, apart = UINT64_MAX, before = since_boot();

    for (unsigned tries = 0; tries < TRIES_MAX && apart > AT_ONCE_TICKS; tries++) {
        uint64_t read = clock_wall(), after = since_boot();

        if (after - before < apart) {
            apart = after - before;
            wall = read;
            *ret_boot = before;
        }
        before = after;
    }
    return wall;
}

/* Clock invariants 1, 3 and 4. */
instant clock_now(void)
{
    uint64_t boot = since_boot(); /* read first, as in read_at_once() */
    uint64_t wall = clock_wall();
    uint64_t last = atomic_load(&newest);
    uint64_t at, ours, now;

    while ((at = atomic_load(&lead_at)) == 0) {
        wall = read_at_once(&boot);
        observe_wall(wall, boot, wall);
    }
    ours = by_lead(wall, boot);
    if ((boot > at && boot - at >= NOTE_TICKS) || is_far(wall, ours)) {
        wall = read_at_once(&boot);
        ours = observe_wall(wall, boot, by_lead(wall, boot));
    }
    do
        now = ours > last ? ours : last + 1;
    while (!atomic_compare_exchange_weak(&newest, &last, now));
    return now;
}

void clock_not_before(instant floor)
{
    uint64_t last;

    clock_now(); /* records a lead if none exists yet */
    last = atomic_load(&newest);
    while (last < floor && !atomic_compare_exchange_weak(&newest, &last, floor))
        ;
    while (atomic_flag_test_and_set(&noting))
        ;
    uint64_t boot = since_boot();

    if (floor > by_lead(clock_wall(), boot))
        set_lead(floor, boot);
    atomic_flag_clear(&noting);
}

/* ---- converting times across steps ---- */

/* Starts a read of the steps. Readers retry if the steps were changed during the read; changes are
 * short. */
static unsigned begin_look(void)
{
    return atomic_load(&step_changes);
}

static bool was_disturbed(unsigned look)
{
    return look % 2 == 1 || atomic_load(&step_changes) != look;
}

instant clock_after_steps(instant t, uint64_t within)
{
    instant moved;
    unsigned look, count;

    assert(within < CLOCK_STEP_MIN_S * TICKS_PER_SECOND);
    do {
        look = begin_look();
        count = atomic_load(&step_count);
        moved = t;
        for (unsigned i = 0; i < count; i++) {
            instant place = atomic_load(&steps[i].place);

            if (moved > place && moved - place <= within)
                moved += atomic_load(&steps[i].size);
        }
    } while (was_disturbed(look));
    return moved;
}

/* Returns the total size of the steps followed before this instant. */
static uint64_t steps_until(instant t)
{
    uint64_t sum;
    unsigned look, count;

    do {
        look = begin_look();
        count = atomic_load(&step_count);
        sum = atomic_load(&steps_before);
        for (unsigned i = 0; i < count && atomic_load(&steps[i].place) < t; i++)
            sum += atomic_load(&steps[i].size);
    } while (was_disturbed(look));
    return sum;
}

instant clock_without_steps(instant t)
{
    return t - steps_until(t);
}

instant clock_with_steps(instant t)
{
    return t + steps_until(INSTANT_MAX);
}

struct clock_checkpoint clock_checkpoint(instant now)
{
    return (struct clock_checkpoint){ .bound = now,
                                      .steps = steps_until(now),
                                      .pending = atomic_load(&pending) };
}

bool clock_is_behind(void)
{
    return atomic_load(&pending) > 0;
}

/* If a step is still pending in this process, the process has run the store before without
 * following that step, so no time was skipped. */
void clock_resume(const struct clock_checkpoint *checkpoint)
{
    uint64_t passed, left_out = 0;
    instant now;

    clock_not_before(checkpoint->bound);
    now = clock_now();
    passed = now - checkpoint->bound;
    if (atomic_load(&pending) == 0)
        left_out = checkpoint->pending < passed ? checkpoint->pending : passed;
    atomic_fetch_add(&steps_before, checkpoint->steps + left_out - steps_until(now));
}

void clock_move(uint64_t ticks)
{
    clock_advance(ticks);
    atomic_fetch_add(&gone_on, ticks);
}

uint64_t clock_moved(void)
{
    return atomic_load_explicit(&gone_on, memory_order_relaxed);
}

void clock_advance(uint64_t ticks)
{
    atomic_fetch_add(&advance, ticks);
}

void clock_step_wall(int64_t ticks)
{
    atomic_fetch_add(&wall_step, ticks);
}
