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
#include "fleet_shared.h"
#include "world.h"

#define THREADS_MAX 480
#define POINT_NS    200
#define FOREVER     UINT64_MAX
#define LATE_MS     3000u

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
    unsigned front;      /* whose process it is of; 0: of the clients', or there is one process */
    bool is_free;        /* its process has ended */
    uint64_t resumes_ns; /* after a pause of its process */
};

#define LAST_SWITCHES 16u

/* Of this process, or in the world's memory for those of all front ends. */
struct scheduler {
    struct thread threads[THREADS_MAX];
    unsigned thread_count;
    /* Drawn for each life: a switch once in `rare` points; or by priorities that change now and
     * then. */
    unsigned rare;
    bool by_priority;
    unsigned low_priority;
    uint64_t resumes_ns[FRONTS_MAX + 1]; /* a process whose threads do not run before */
    struct {
        unsigned thread;
        uint64_t at_ns;
    } last[LAST_SWITCHES]; /* the newest switches */
};

static struct scheduler own = { .rare = 16, .low_priority = 1000000 };
static struct scheduler *s = &own;
static bool is_on;
static unsigned front; /* of this process */
static int futex_private = FUTEX_PRIVATE_FLAG;
static _Thread_local unsigned self;

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
    return s->thread_count;
}

void sched_name(const char *name)
{
    (void)snprintf(s->threads[self].name, sizeof s->threads[self].name, "%s", name);
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
    if (world->plan.fronts > 0) {
        s = world_alloc(sizeof *s);
        s->low_priority = own.low_priority;
        futex_private = 0;
    }
    s->thread_count = 1;
    s->threads[0] = (struct thread){ .deadline = FOREVER, .name = "main" };
    s->rare = 1u << world_draw(STREAM_SCHEDULE, 9);
    s->by_priority = world_once_in(STREAM_SCHEDULE, 4);
    s->threads[0].priority = draw_priority();
    is_on = true;
}

static void wait_for_baton(unsigned thread)
{
    atomic_int *go = &s->threads[thread].go;

    while (atomic_load(go) == 0)
        syscall(SYS_futex, go, FUTEX_WAIT | futex_private, 0, NULL, NULL, 0);
    atomic_store(go, 0);
}

static void give_baton(unsigned thread)
{
    atomic_int *go = &s->threads[thread].go;

    atomic_store(go, 1);
    syscall(SYS_futex, go, FUTEX_WAKE | futex_private, 1, NULL, NULL, 0);
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
    return engine_is_opening() && faults_were_seen() && s->threads[0].wait == WAIT_MUTEX &&
           owner_of(s->threads[0].object) == 0;
}

static void fail_deadlock(void)
{
    char report[900] = "";
    size_t used = 0;

    if (engine_stands_still()) { /* the operator ends it */
        world->power_lost = false;
        world_end(OUTCOME_KILLED);
    }

    for (unsigned i = 0; i < s->thread_count && used + 100 < sizeof report; i++) {
        const struct thread *t = &s->threads[i];
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

    if (!s->by_priority)
        return able[world_draw(STREAM_SCHEDULE, count)];
    for (unsigned i = 1; i < count; i++) {
        if (s->threads[able[i]].priority > s->threads[best].priority)
            best = able[i];
    }
    return best;
}

static unsigned pick(void)
{
    for (;;) {
        unsigned able[THREADS_MAX], count = 0;
        uint64_t next = FOREVER;

        for (unsigned i = 0; i < s->thread_count; i++) {
            const struct thread *t = &s->threads[i];
            uint64_t from_ns = t->wait == WAIT_NONE ? 0 : t->deadline;

            if (from_ns < s->resumes_ns[t->front] && from_ns != FOREVER)
                from_ns = s->resumes_ns[t->front];
            if (from_ns < t->resumes_ns && from_ns != FOREVER)
                from_ns = t->resumes_ns;
            if (from_ns <= world->now_ns)
                able[count++] = i;
            else if (from_ns < next)
                next = from_ns;
        }
        if (count > 0) {
            unsigned chosen = choose(able, count);
            struct thread *t = &s->threads[chosen];

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

    s->last[world->switches % LAST_SWITCHES].thread = next;
    s->last[world->switches % LAST_SWITCHES].at_ns = world->now_ns;
    world->switches++;
    world_trace(next + 1);
    if (next == me)
        return;
    give_baton(next);
    wait_for_baton(me);
}

void sched_yield_now(void)
{
    if (!is_on || s->threads[self].holds > 0)
        return;
    world->now_ns += POINT_NS;
    if (s->by_priority) /* who spins must not keep the others away */
        s->threads[self].priority = s->low_priority--;
    switch_away();
}

void sched_point(void)
{
    if (!is_on)
        return;
    world->points++;
    world->now_ns += POINT_NS;
    if (s->threads[self].holds > 0)
        return;
    if (s->by_priority) {
        if (world_draw(STREAM_SCHEDULE, 1024) != 0)
            return;
        s->threads[self].priority = s->low_priority--;
    } else if (s->rare > 1 && world_draw(STREAM_SCHEDULE, s->rare) != 0) {
        return;
    }
    switch_away();
}

bool sched_wait(enum wait wait, const void *object, uint64_t deadline_ns)
{
    struct thread *t = &s->threads[self];

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

    bool is_common = shared_has(object);

    for (unsigned i = 0; i < s->thread_count; i++) {
        const struct thread *t = &s->threads[i];

        if (t->wait == wait && t->object == object && (is_common || t->front == front))
            waiting[found++] = i;
    }
    for (; count > 0 && found > 0; count--) {
        unsigned at = found == 1 || count >= found ? 0 : world_draw(STREAM_SCHEDULE, found);
        struct thread *t = &s->threads[waiting[at]];

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
    s->threads[self].holds++;
}

void sched_release(void)
{
    assert(s->threads[self].holds > 0);
    s->threads[self].holds--;
}

bool sched_is_held(void)
{
    return s->threads[self].holds > 0;
}

void sched_show_last(char *to, size_t size)
{
    size_t used = 0;

    to[0] = '\0';
    for (uint64_t i = 1; i <= LAST_SWITCHES && i <= world->switches && used + 60 < size; i++) {
        unsigned at = (unsigned)((world->switches - i) % LAST_SWITCHES);

        used += (size_t)snprintf(to + used, size - used, "\n  %.9f %u %s",
                                 (double)s->last[at].at_ns / 1e9, s->last[at].thread,
                                 s->threads[s->last[at].thread].name);
    }
}

void *sched_real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void sched_stop(void)
{
    struct thread *t = &s->threads[self];

    t->wait = WAIT_NEVER;
    t->deadline = FOREVER;
    t->object = NULL;
    sched_wake(WAIT_JOIN, t, THREADS_MAX);
    give_baton(pick());
    for (;;)
        pause();
}

/* ---- threads ---- */

/* Can run at once. */
static struct thread *new_thread(unsigned of_front)
{
    unsigned at = 0;

    while (at < s->thread_count && !s->threads[at].is_free)
        at++;
    assert(at < THREADS_MAX);
    if (at == s->thread_count)
        s->thread_count++;
    s->threads[at] =
        (struct thread){ .deadline = FOREVER, .priority = draw_priority(), .front = of_front };
    return &s->threads[at];
}

static void *run(void *argument)
{
    struct thread *t = argument;

    self = (unsigned)(t - s->threads);
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
    t = new_thread(front);
    t->start = start;
    t->argument = argument;
    (void)snprintf(t->name, sizeof t->name, "thread");
    result = real(&t->id, attributes, run, t);
    assert(result == 0);
    *ret_id = t->id;
    sched_point();
    return 0;
}

int pthread_join(pthread_t id, void **ret_result)
{
    for (unsigned i = 1; i < s->thread_count; i++) {
        struct thread *t = &s->threads[i];

        if (t->front != front || t->is_free || !pthread_equal(t->id, id))
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
    for (unsigned i = 0; i < s->thread_count; i++) {
        if (s->threads[i].front != front || s->threads[i].is_free)
            continue;
        if (i == self ? pthread_equal(id, pthread_self()) : pthread_equal(s->threads[i].id, id))
            (void)snprintf(s->threads[i].name, sizeof s->threads[i].name, "%s", name);
    }
    return 0;
}

/* ---- processes ---- */

unsigned sched_add_process(unsigned of_front)
{
    struct thread *t = new_thread(of_front);

    s->resumes_ns[of_front] = 0;
    (void)snprintf(t->name, sizeof t->name, "front %u", of_front);
    return (unsigned)(t - s->threads);
}

void sched_enter_process(unsigned thread)
{
    self = thread;
    front = s->threads[thread].front;
    wait_for_baton(self);
}

void sched_pause_process(unsigned of_front, uint64_t until_ns)
{
    bool is_even = world_draw(STREAM_FAULTS, 2) == 0;

    s->resumes_ns[of_front] = until_ns;
    for (unsigned i = 0; i < s->thread_count && !is_even; i++) {
        struct thread *t = &s->threads[i];

        if (t->front == of_front && !t->is_free && world_draw(STREAM_FAULTS, 3) == 0)
            t->resumes_ns = until_ns + world_draw(STREAM_FAULTS, LATE_MS) * UINT64_C(1000000);
    }
}

bool sched_is_inside(unsigned of_front)
{
    for (unsigned i = 0; i < s->thread_count; i++) {
        if (s->threads[i].front == of_front && !s->threads[i].is_free && s->threads[i].holds > 0)
            return true;
    }
    return false;
}

void sched_end_process(unsigned of_front)
{
    for (unsigned i = 0; i < s->thread_count; i++) {
        if (s->threads[i].front == of_front)
            s->threads[i] = (struct thread){
                .wait = WAIT_NEVER, .deadline = FOREVER, .front = of_front, .is_free = true
            };
    }
}

/* The places of its threads are free once they have ended: until then they wait for a baton there, and would take that of
 * another process's thread. */
_Noreturn void sched_leave_process(int status)
{
    for (unsigned i = 0; i < s->thread_count; i++) {
        if (s->threads[i].front == front) {
            s->threads[i].wait = WAIT_NEVER;
            s->threads[i].deadline = FOREVER;
            s->threads[i].holds = 0;
        }
    }
    give_baton(pick());
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
