/* The locks of the simulated process, under the C library's names: the state lies in the object
 * itself, and who has to wait gives the baton away. The store's library calls these too. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "fleet.h"
#include "scheduler.h"
#include "world.h"

/* ---- mutexes: owner is a thread's number + 1 ---- */

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    int kind = PTHREAD_MUTEX_NORMAL;

    if (attributes)
        pthread_mutexattr_gettype(attributes, &kind);
    memset(mutex, 0, sizeof *mutex);
    mutex->__data.__kind = kind;
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    return mutex->__data.__owner == 0 ? 0 : EBUSY;
}

static int mine(void)
{
    return (int)sched_self() + 1;
}

static bool is_recursive(const pthread_mutex_t *mutex)
{
    return (mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE;
}

static bool try_lock(pthread_mutex_t *mutex)
{
    if (mutex->__data.__owner != 0 && (mutex->__data.__owner != mine() || !is_recursive(mutex)))
        return false;
    mutex->__data.__owner = mine();
    mutex->__data.__count++;
    return true;
}

static void lock(pthread_mutex_t *mutex)
{
    while (!try_lock(mutex))
        sched_wait(WAIT_MUTEX, mutex, 0);
}

static void unlock(pthread_mutex_t *mutex)
{
    if (mutex->__data.__owner != mine())
        world_fail("a thread gives back a mutex that it does not have");
    if (--mutex->__data.__count > 0)
        return;
    mutex->__data.__owner = 0;
    sched_wake(WAIT_MUTEX, mutex, UINT_MAX);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    sched_point();
    lock(mutex);
    return 0;
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    sched_point();
    return try_lock(mutex) ? 0 : EBUSY;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    unlock(mutex);
    sched_point();
    return 0;
}

/* ---- conditions: the first byte tells the clock ---- */

int pthread_condattr_init(pthread_condattr_t *attributes)
{
    memset(attributes, 0, sizeof *attributes);
    return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock)
{
    attributes->__size[0] = (char)clock;
    return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attributes)
{
    (void)attributes;
    return 0;
}

int pthread_cond_init(pthread_cond_t *restrict condition,
                      const pthread_condattr_t *restrict attributes)
{
    memset(condition, 0, sizeof *condition);
    condition->__size[0] = attributes ? attributes->__size[0] : (char)CLOCK_REALTIME;
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

/* In virtual nanoseconds; at least 1, which has passed. */
static uint64_t deadline_of(clockid_t clock, const struct timespec *until)
{
    int64_t ns = (int64_t)until->tv_sec * 1000000000 + until->tv_nsec;

    if (clock == CLOCK_REALTIME)
        ns -= world->wall_ns + fleet_wall_ns();
    return ns < 1 ? 1 : (uint64_t)ns;
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline_ns)
{
    bool woken = true;

    unlock(mutex);
    if (!sched_is_on() ||
        world_draw(STREAM_SCHEDULE, 4096) != 0) /* else woken for no reason, as may be */
        woken = sched_wait(WAIT_CONDITION, condition, deadline_ns);
    else
        sched_yield_now();
    lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex)
{
    return wait_on(condition, mutex, 0);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    return wait_on(condition, mutex, deadline_of(condition->__size[0], until));
}

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict until)
{
    return wait_on(condition, mutex, deadline_of(clock, until));
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    sched_wake(WAIT_CONDITION, condition, 1);
    sched_point();
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    sched_wake(WAIT_CONDITION, condition, UINT_MAX);
    sched_point();
    return 0;
}

/* ---- read-write locks ---- */

struct rwlock {
    int writer; /* thread + 1 */
    int readers;
};

static struct rwlock *rwlock_of(pthread_rwlock_t *lock)
{
    return (struct rwlock *)(void *)lock;
}

int pthread_rwlock_init(pthread_rwlock_t *restrict rwlock,
                        const pthread_rwlockattr_t *restrict attributes)
{
    (void)attributes;
    memset(rwlock, 0, sizeof *rwlock);
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *rwlock)
{
    const struct rwlock *own = rwlock_of(rwlock);

    return own->writer == 0 && own->readers == 0 ? 0 : EBUSY;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock)
{
    struct rwlock *own = rwlock_of(rwlock);

    if (own->writer != 0)
        return EBUSY;
    own->readers++;
    return 0;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock)
{
    struct rwlock *own = rwlock_of(rwlock);

    if (own->writer != 0 || own->readers > 0)
        return EBUSY;
    own->writer = mine();
    return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
    sched_point();
    while (pthread_rwlock_tryrdlock(rwlock) != 0)
        sched_wait(WAIT_RWLOCK, rwlock, 0);
    return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
    sched_point();
    while (pthread_rwlock_trywrlock(rwlock) != 0)
        sched_wait(WAIT_RWLOCK, rwlock, 0);
    return 0;
}

int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
    struct rwlock *own = rwlock_of(rwlock);

    if (own->writer != 0)
        own->writer = 0;
    else
        own->readers--;
    sched_wake(WAIT_RWLOCK, rwlock, UINT_MAX);
    sched_point();
    return 0;
}

/* ---- once, and the guards of C++ statics, which would wait in the kernel ---- */

int pthread_once(pthread_once_t *control, void (*run)(void))
{
    while (*control == 1)
        sched_wait(WAIT_ONCE, control, 0);
    if (*control != 0)
        return 0;
    *control = 1;
    run();
    *control = 2;
    sched_wake(WAIT_ONCE, control, UINT_MAX);
    return 0;
}

int sim_guard_acquire(char *guard) __asm__("__cxa_guard_acquire");
int sim_guard_acquire(char *guard)
{
    while (guard[0] == 0 && guard[1] != 0)
        sched_wait(WAIT_ONCE, guard, 0);
    if (guard[0] != 0)
        return 0;
    guard[1] = 1;
    return 1;
}

static void end_guard(char *guard, bool done)
{
    guard[0] = done;
    guard[1] = 0;
    sched_wake(WAIT_ONCE, guard, UINT_MAX);
}

void sim_guard_release(char *guard) __asm__("__cxa_guard_release");
void sim_guard_release(char *guard)
{
    end_guard(guard, true);
}

void sim_guard_abort(char *guard) __asm__("__cxa_guard_abort");
void sim_guard_abort(char *guard)
{
    end_guard(guard, false);
}
