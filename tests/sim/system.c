/* Clocks, sleeps, random bytes and identities of the simulated process. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"
#include "fleet.h"
#include "scheduler.h"
#include "world.h"

/* In some lives the clocks that the server dates by go on in ticks, as those of some machines do. */
static int64_t stand_still(int64_t ns)
{
    static const int64_t ticks[] = { 1, 1, 1000000, 16000000 };
    static int64_t tick;

    if (tick == 0)
        tick = ticks[world_draw(STREAM_SYSTEM, 4)];
    return ns - ns % tick;
}

static int64_t read_clock(clockid_t clock)
{
    int64_t ns;

    sched_point();
    faults_set_wall();
    ns = (int64_t)world->now_ns;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        return stand_still(ns + world->wall_ns + fleet_wall_ns());
    return clock == CLOCK_BOOTTIME ? stand_still(fleet_boot_ns(fleet_self(), ns)) : ns;
}

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    int64_t ns;

    if (!sched_is_on())
        return (int)syscall(SYS_clock_gettime, clock, ret_time);
    ns = read_clock(clock);

    ret_time->tv_sec = ns / 1000000000;
    ret_time->tv_nsec = ns % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
    struct timespec now;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    ret_time->tv_sec = now.tv_sec;
    ret_time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret_time)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}

static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

int nanosleep(const struct timespec *duration, struct timespec *ret_rest)
{
    (void)ret_rest;
    sched_sleep(ns_of(duration));
    return 0;
}

int usleep(useconds_t us)
{
    sched_sleep((uint64_t)us * 1000);
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                    struct timespec *ret_rest)
{
    uint64_t ns = ns_of(time);

    (void)ret_rest;
    if (flags & TIMER_ABSTIME) {
        uint64_t now = (uint64_t)read_clock(clock);

        ns = ns > now ? ns - now : 0;
    }
    sched_sleep(ns);
    return 0;
}

int sched_yield(void)
{
    sched_yield_now();
    return 0;
}

int sched_getcpu(void)
{
    return 0;
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    unsigned char *at = to;

    if (!sched_is_on())
        return syscall(SYS_getrandom, to, size, flags);
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)world_draw(STREAM_SYSTEM, 256);
    return (ssize_t)size;
}

/* std::random_device::_M_getval(): the processor's own random numbers would differ in each run. */
unsigned sim_random_device(void *device) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned sim_random_device(void *device)
{
    (void)device;
    return sched_is_on() ? (unsigned)world_random(STREAM_SYSTEM) : 1;
}

pid_t getpid(void)
{
    return sched_is_on() ? 1000 + (pid_t)(world->life + 100 * fleet_self())
                         : (pid_t)syscall(SYS_getpid);
}

pid_t gettid(void)
{
    return sched_is_on() ? 2000 + (pid_t)sched_self() : (pid_t)syscall(SYS_gettid);
}

/* Who runs next is the scheduler's business: a thread may be as nice as it likes. */
int getpriority(__priority_which_t which, id_t who)
{
    (void)which;
    (void)who;
    return 0;
}

int setpriority(__priority_which_t which, id_t who, int niceness)
{
    (void)which;
    (void)who;
    (void)niceness;
    return 0;
}

int gethostname(char *name, size_t size)
{
    if (size < 4)
        return -1;
    memcpy(name, "sim", 4);
    return 0;
}
