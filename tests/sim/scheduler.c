/* The baton, virtual time, and the report of a deadlock. */
#include "scheduler.h"

#include <assert.h>
#include <dlfcn.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine.h"
#include "faults.h"
#include "world.h"

#define THREADS_MAX 480
#define POINT_NS    200
#define FOREVER     UINT64_MAX

struct thread {
    atomic_int go;
    enum wait wait;
    const void *object;
    uint64_t deadline; /* FOREVER: none */
    bool timed_out;
    unsigned holds;
    unsigned priority;
    char name[16];
    void *(*start)(void *argument);
    void *argument;
    void *result;
    pthread_t id;
};

static struct thread threads[THREADS_MAX];
static unsigned thread_count;
static bool is_on;
static _Thread_local unsigned self;
/* Drawn for each life: a switch once in `rare` points; or by priorities that change now and
 * then. */
static unsigned rare = 16;
static bool by_priority;
static unsigned low_priority = 1000000;
/* The newest switches. */
#define LAST_SWITCHES 16u
static struct {
    unsigned thread;
    uint64_t at_ns;
} last[LAST_SWITCHES];

bool sched_is_on(void)
{
    return is_on;
}

unsigned sched_self(void)
{
    return self;
}

unsigned sched_threads(void)
{
    return thread_count;
}

void sched_name(const char *name)
{
    (void)snprintf(threads[self].name, sizeof threads[self].name, "%s", name);
}

/* One processor is enough, and a switch on one is cheaper. */
static void pin(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

static unsigned draw_priority(void)
{
    return 1000000 + world_draw(STREAM_SCHEDULE, 1000000);
}

void sched_begin(void)
{
    pin();
    thread_count = 1;
    threads[0] = (struct thread){ .deadline = FOREVER, .name = "main" };
    rare = 1u << world_draw(STREAM_SCHEDULE, 9);
    by_priority = world_once_in(STREAM_SCHEDULE, 4);
    threads[0].priority = draw_priority();
    is_on = true;
}

static void wait_for_baton(unsigned thread)
{
    atomic_int *go = &threads[thread].go;

    while (atomic_load(go) == 0)
        syscall(SYS_futex, go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    atomic_store(go, 0);
}

static void give_baton(unsigned thread)
{
    atomic_int *go = &threads[thread].go;

    atomic_store(go, 1);
    syscall(SYS_futex, go, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const char *const wait_names[] = {
    [WAIT_NONE] = "can run",
    [WAIT_MUTEX] = "waits for the mutex",
    [WAIT_CONDITION] = "waits on the condition",
    [WAIT_RWLOCK] = "waits for the rwlock",
    [WAIT_ONCE] = "waits for the once",
    [WAIT_SLEEP] = "sleeps",
    [WAIT_JOIN] = "joins",
    [WAIT_EVENT] = "waits for its answer",
    [WAIT_NEVER] = "has ended",
};

static int owner_of(const void *mutex)
{
    return ((const pthread_mutex_t *)mutex)->__data.__owner - 1;
}

/* RocksDB 7.8 opens under its lock, and takes it once more when the log that it begins cannot be
 * written. */
static bool engine_stands_still(void)
{
    return engine_is_opening() && faults_were_seen() && threads[0].wait == WAIT_MUTEX &&
           owner_of(threads[0].object) == 0;
}

static void fail_deadlock(void)
{
    char report[900] = "";
    size_t used = 0;

    if (engine_stands_still()) { /* the operator ends it */
        world->power_lost = false;
        world_end(OUTCOME_KILLED);
    }

    for (unsigned i = 0; i < thread_count && used + 100 < sizeof report; i++) {
        const struct thread *t = &threads[i];
        int owner = -1;

        if (t->wait == WAIT_NEVER)
            continue;
        if (t->wait == WAIT_MUTEX)
            owner = owner_of(t->object);
        used += (size_t)snprintf(report + used, sizeof report - used, "\n  %u %s %s %p", i, t->name,
                                 wait_names[t->wait], t->object);
        if (owner >= 0)
            used += (size_t)snprintf(report + used, sizeof report - used, ", which %d has", owner);
    }
    world_fail("deadlock: nobody can go on%s", report);
}

/* Among those who can run: drawn, or the one of the highest priority. */
static unsigned choose(const unsigned *able, unsigned count)
{
    unsigned best = able[0];

    if (!by_priority)
        return able[world_draw(STREAM_SCHEDULE, count)];
    for (unsigned i = 1; i < count; i++) {
        if (threads[able[i]].priority > threads[best].priority)
            best = able[i];
    }
    return best;
}

static unsigned pick(void)
{
    for (;;) {
        unsigned able[THREADS_MAX], count = 0;
        uint64_t next = FOREVER;

        for (unsigned i = 0; i < thread_count; i++) {
            const struct thread *t = &threads[i];

            if (t->wait == WAIT_NONE || t->deadline <= world->now_ns)
                able[count++] = i;
            else if (t->deadline < next)
                next = t->deadline;
        }
        if (count > 0) {
            unsigned chosen = choose(able, count);
            struct thread *t = &threads[chosen];

            t->timed_out = t->wait != WAIT_NONE;
            t->wait = WAIT_NONE;
            t->deadline = FOREVER;
            return chosen;
        }
        if (next == FOREVER)
            fail_deadlock();
        world->now_ns = next;
    }
}

static void switch_away(void)
{
    unsigned me = self, next = pick();

    last[world->switches % LAST_SWITCHES].thread = next;
    last[world->switches % LAST_SWITCHES].at_ns = world->now_ns;
    world->switches++;
    world_trace(next + 1);
    if (next == me)
        return;
    give_baton(next);
    wait_for_baton(me);
}

void sched_yield_now(void)
{
    if (!is_on || threads[self].holds > 0)
        return;
    world->now_ns += POINT_NS;
    if (by_priority) /* who spins must not keep the others away */
        threads[self].priority = low_priority--;
    switch_away();
}

void sched_point(void)
{
    if (!is_on)
        return;
    world->points++;
    world->now_ns += POINT_NS;
    if (threads[self].holds > 0)
        return;
    if (by_priority) {
        if (world_draw(STREAM_SCHEDULE, 1024) != 0)
            return;
        threads[self].priority = low_priority--;
    } else if (rare > 1 && world_draw(STREAM_SCHEDULE, rare) != 0) {
        return;
    }
    switch_away();
}

bool sched_wait(enum wait wait, const void *object, uint64_t deadline_ns)
{
    struct thread *t = &threads[self];

    if (!is_on)
        return true;
    t->wait = wait;
    t->object = object;
    t->deadline = deadline_ns == 0 ? FOREVER : deadline_ns;
    t->timed_out = false;
    switch_away();
    return !t->timed_out;
}

void sched_wake(enum wait wait, const void *object, unsigned count)
{
    unsigned waiting[THREADS_MAX], found = 0;

    for (unsigned i = 0; i < thread_count; i++) {
        if (threads[i].wait == wait && threads[i].object == object)
            waiting[found++] = i;
    }
    for (; count > 0 && found > 0; count--) {
        unsigned at = found == 1 || count >= found ? 0 : world_draw(STREAM_SCHEDULE, found);
        struct thread *t = &threads[waiting[at]];

        t->wait = WAIT_NONE;
        t->deadline = FOREVER;
        waiting[at] = waiting[--found];
    }
}

void sched_sleep(uint64_t ns)
{
    sched_wait(WAIT_SLEEP, NULL, world->now_ns + (ns > 0 ? ns : 1));
}

void sched_hold(void)
{
    threads[self].holds++;
}

void sched_release(void)
{
    assert(threads[self].holds > 0);
    threads[self].holds--;
}

bool sched_is_held(void)
{
    return threads[self].holds > 0;
}

void sched_show_last(char *to, size_t size)
{
    size_t used = 0;

    to[0] = '\0';
    for (uint64_t i = 1; i <= LAST_SWITCHES && i <= world->switches && used + 60 < size; i++) {
        unsigned at = (unsigned)((world->switches - i) % LAST_SWITCHES);

        used +=
            (size_t)snprintf(to + used, size - used, "\n  %.9f %u %s", (double)last[at].at_ns / 1e9,
                             last[at].thread, threads[last[at].thread].name);
    }
}

void *sched_real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void sched_stop(void)
{
    struct thread *t = &threads[self];

    t->wait = WAIT_NEVER;
    t->deadline = FOREVER;
    t->object = NULL;
    sched_wake(WAIT_JOIN, t, THREADS_MAX);
    give_baton(pick());
    for (;;)
        pause();
}

/* ---- threads ---- */

static void *run(void *argument)
{
    struct thread *t = argument;

    self = (unsigned)(t - threads);
    wait_for_baton(self);
    t->result = t->start(t->argument);
    sched_stop();
    return NULL;
}

int pthread_create(pthread_t *restrict ret_id, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    static create_fn *real;
    struct thread *t;
    int result;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    if (!is_on)
        return real(ret_id, attributes, start, argument);
    assert(thread_count < THREADS_MAX);
    t = &threads[thread_count];
    *t = (struct thread){
        .deadline = FOREVER, .start = start, .argument = argument, .priority = draw_priority()
    };
    (void)snprintf(t->name, sizeof t->name, "thread");
    result = real(&t->id, attributes, run, t);
    assert(result == 0);
    thread_count++;
    *ret_id = t->id;
    sched_point();
    return 0;
}

int pthread_join(pthread_t id, void **ret_result)
{
    for (unsigned i = 1; i < thread_count; i++) {
        struct thread *t = &threads[i];

        if (!pthread_equal(t->id, id))
            continue;
        while (t->wait != WAIT_NEVER)
            sched_wait(WAIT_JOIN, t, 0);
        if (ret_result)
            *ret_result = t->result;
        return 0;
    }
    return 0;
}

int pthread_setname_np(pthread_t id, const char *name)
{
    for (unsigned i = 0; i < thread_count; i++) {
        if (i == self ? pthread_equal(id, pthread_self()) : pthread_equal(threads[i].id, id))
            (void)snprintf(threads[i].name, sizeof threads[i].name, "%s", name);
    }
    return 0;
}
