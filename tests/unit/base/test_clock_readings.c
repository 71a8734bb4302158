/* A process may be stopped between two readings of clocks, also between those from which the clock starts. clock_now()
 * then never returns less than the time of the call, and never measures more time than has passed: a message would
 * become visible too early. Clocks are this program's own clock_gettime(). decision: 893 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define SECOND_NS   UINT64_C(1000000000)
#define BOOT_NS     (UINT64_C(1000) * SECOND_NS)
#define WALL_NS     (UINT64_C(1700000000) * SECOND_NS)
#define READING_NS  UINT64_C(40) /* what a reading takes */
#define READINGS    24u
#define INTERVALS   40u
#define ALL_OF_THEM UINT32_MAX

/* Of a child: time as it is, and which reading it is stopped before. */
static struct {
    bool is_ours;
    uint64_t now_ns; /* since the start of the child */
    uint32_t readings, stopped_before;
    uint64_t stop_ns;
} fake;

int clock_gettime(clockid_t clock, struct timespec *to)
{
    uint64_t ns;

    if (!fake.is_ours)
        return (int)syscall(SYS_clock_gettime, clock, to);
    if (fake.stopped_before == ALL_OF_THEM || fake.readings == fake.stopped_before)
        fake.now_ns += fake.stop_ns;
    fake.readings++;
    fake.now_ns += READING_NS;
    ns = fake.now_ns + (clock == CLOCK_REALTIME ? WALL_NS : BOOT_NS);
    *to = (struct timespec){ (time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS) };
    return 0;
}

static instant wall(void)
{
    return INSTANT_UNIX_EPOCH + (WALL_NS + fake.now_ns) / 100;
}

/* Returns whether answers of the clock are right from its start on, first 1 ms apart and then 0.7 s. */
static bool is_right(void)
{
    instant answers[INTERVALS], called[INTERVALS];
    bool right = true;

    for (unsigned i = 0; i < INTERVALS; i++) {
        instant end;

        called[i] = wall();
        answers[i] = clock_now();
        end = wall();
        right = right && answers[i] + 2 >= called[i];
        for (unsigned k = 0; k < i; k++)
            right = right && answers[i] - answers[k] <= end - called[k] + 2;
        fake.now_ns += i < INTERVALS / 2 ? SECOND_NS / 1000 : 7 * SECOND_NS / 10;
    }
    return right;
}

/* In a child, as the clock of a process starts once. */
static bool is_right_if_stopped(uint32_t before, uint64_t stop_ns)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        fake.is_ours = true;
        fake.stopped_before = before;
        fake.stop_ns = stop_ns;
        _exit(is_right() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void stopped_once(void **state)
{
    static const uint64_t stops_ns[] = { 0, 100000, 9000000, 11000000, 50000000, 2 * SECOND_NS };

    (void)state;
    for (uint32_t before = 0; before < READINGS; before++)
        for (size_t i = 0; i < sizeof stops_ns / sizeof stops_ns[0]; i++)
            if (!is_right_if_stopped(before, stops_ns[i]))
                fail_msg("stopped for %lu ns before reading %u", (unsigned long)stops_ns[i],
                         before);
}

/* A machine so busy that every reading is stopped before: the clock may be ahead by a stop, never behind. */
static void always_stopped(void **state)
{
    (void)state;
    assert_true(is_right_if_stopped(ALL_OF_THEM, 3000000));
    assert_true(is_right_if_stopped(ALL_OF_THEM, 9000000));
    assert_true(is_right_if_stopped(ALL_OF_THEM, 30000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_once),
        cmocka_unit_test(always_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
