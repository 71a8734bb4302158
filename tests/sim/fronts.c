/* Front ends: their starts and ends, the weather, and their clocks. */
#include "fronts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "../rados/live.h"
#include "request.h"
#include "scheduler.h"
#include "services.h"
#include "store/rados/open.h"
#include "store/rados/root.h"
#include "world.h"

#define MS            UINT64_C(1000000)
#define SECOND_NS     UINT64_C(1000000000)
#define FRONTS_MAX    60u
#define STEP_NS       (50 * MS)
/* While a stop waits for a commit with pieces to be on its way. */
#define LOOK_NS       MS
#define LOOK_MAX_NS   (3 * SECOND_NS)
/* While one waits until that is sent. */
#define SEND_MAX_NS   (40 * SECOND_NS)
/* After which a front end that was stopped has been taken for dead. */
#define DEAD_NS       (70 * SECOND_NS)
/* Clocks that differ by no more commit. */
#define SKEW_BORNE_NS (SECOND_NS * 9 / 10)
/* In the place of a day, after which a dead front end's pieces are looked for once more. */
#define AGAIN_S       100u
/* One that goes on finds out within that time that it has been taken for dead. */
#define CALM_NS       (20 * SECOND_NS)

struct front {
    struct port *inner; /* of the cluster */
    struct port *port;
    struct server *server; /* NULL: it starts */
    bool is_gone, is_stopped, is_fenced, was_stopped;
    bool is_held;        /* what it sends waits */
    uint64_t goes_on_ns; /* of one that is stopped */
};
static struct front fronts[FRONTS_MAX + 1];
static unsigned front_count;

static struct machine {
    unsigned front;     /* 0: none runs */
    uint64_t starts_ns; /* then one does */
    int64_t ahead_ns;
} machines[MACHINES_MAX];

/* That a shard may have, in every other run: so that all are split, all the time. */
#define SPLIT_ROWS_SMALL 8u
#define CUT_ROWS_SMALL   3u

static struct live *cluster;
static unsigned grace_s;
static bool may_fail, was_last;
static uint64_t next_ns, skew_ns, calm_ns;
static unsigned actions_left;
static struct {      /* a stop, or a kill, that waits for the worst moment */
    unsigned front;  /* 0: none */
    bool is_kill;    /* when it sends what decides a commit over several partitions: that is lost */
    bool is_at_send; /* of a commit with pieces: that goes out when the front end goes on */
    bool is_last;    /* nobody asks anything more, so that what it sends then is what is found */
    uint64_t until_ns;
} stop;

unsigned fronts_machine(unsigned front)
{
    return (front - 1) % MACHINES_MAX;
}

/* ---- one front end ---- */

static void fenced(void)
{
    fronts[sched_front()].is_fenced = true;
}

bool fronts_open_store(struct store **ret_store, const char **ret_problem)
{
    struct front *front = &fronts[sched_front()];
    const struct rados_options options = {
        .records = front->port,
        .pieces = front->port,
        .pool_of_pieces = LIVE_POOL,
        .failed = fenced,
        .grace_ticks = grace_s * TICKS_PER_SECOND,
        .again_ticks = AGAIN_S * TICKS_PER_SECOND,
        .split_rows = world->plan.seed % 2 == 0 ? SPLIT_ROWS_SMALL : 0,
        .cut_rows = world->plan.seed % 4 == 0 ? CUT_ROWS_SMALL : UINT32_MAX,
        .is_always_busy = world_once_in(STREAM_SYSTEM, 2),
    };
    enum store_result result = root_make(front->port, LIVE_POOL, ret_problem);

    return !result && !store_open_rados(&options, ret_store, ret_problem);
}

static void *start(void *argument)
{
    unsigned front = (unsigned)(uintptr_t)argument;
    const char *problem;
    struct server *server;
    char name[16];

    (void)snprintf(name, sizeof name, "start %u", front);
    sched_name(name);
    sched_enter(front, SCHED_OF_IT);
    server = server_open(&problem);
    if (!server)
        world_fail("front end %u does not start: %s", front, problem);
    fronts[front].server = server;
    world_say("%.6f front end %u serves", (double)world->now_ns / 1e9, front);
    return NULL;
}

/* Numbers name the machine, too. */
static void start_on(unsigned machine)
{
    unsigned number = front_count / MACHINES_MAX * MACHINES_MAX + machine + 1;
    pthread_t id;

    if (fronts[number].inner)
        number += MACHINES_MAX;
    if (number > front_count)
        front_count = number;
    assert(number <= FRONTS_MAX);
    fronts[number].inner = live_client(cluster);
    fronts[number].port = front_port_new(fronts[number].inner, number);
    machines[machine].front = number;
    pthread_create(&id, NULL, start, (void *)(uintptr_t)number);
}

bool fronts_is_gone(unsigned front)
{
    return fronts[front].is_gone;
}

int64_t fronts_ahead_ns(unsigned front)
{
    return front == 0 ? 0 : machines[fronts_machine(front)].ahead_ns;
}

uint64_t fronts_skew_ns(void)
{
    return skew_ns;
}

bool fronts_may_fail(void)
{
    return may_fail;
}

bool fronts_must_read(unsigned front)
{
    return !fronts[front].was_stopped && skew_ns <= SKEW_BORNE_NS;
}

bool fronts_are_asked(void)
{
    return !was_last;
}

void fronts_sends(unsigned front, struct front_sent sent)
{
    bool is_awaited = stop.is_kill ? sent.decides_many : sent.has_pieces;

    if (stop.front != front || !stop.is_at_send || !is_awaited || fronts[front].is_held ||
        fronts[front].is_gone)
        return;
    live_stop(cluster, fronts[front].inner);
    fronts[front].is_held = true;
}

struct server *fronts_server(unsigned machine)
{
    const struct front *front = &fronts[machines[machine].front];

    return machines[machine].front > 0 ? front->server : NULL;
}

unsigned fronts_front(unsigned machine)
{
    return machines[machine].front;
}

struct port *fronts_port(void)
{
    return live_port(cluster);
}

void fronts_set_clocks(void)
{
    for (unsigned m = 0; m < MACHINES_MAX; m++)
        machines[m].ahead_ns = 0;
}

struct server *fronts_draw(unsigned *ret_front)
{
    for (;;) {
        unsigned machine = world_draw(STREAM_SYSTEM, world->plan.fronts);

        if (fronts_server(machine)) {
            *ret_front = machines[machine].front;
            return fronts_server(machine);
        }
        sched_sleep(10 * MS);
    }
}

/* ---- what happens to them ---- */

static void kill_on(unsigned machine, const char *why)
{
    struct front *front = &fronts[machines[machine].front];

    world_say("%.6f front end %u %s", (double)world->now_ns / 1e9, machines[machine].front, why);
    may_fail = true;
    world->crashes++;
    front->is_gone = true;
    sched_freeze(machines[machine].front, SCHED_DEAD);
    live_kill(cluster, front->inner);
    requests_of_front_end(machines[machine].front);
    machines[machine].front = 0;
    machines[machine].starts_ns =
        world->now_ns + world_random(STREAM_FAULTS) % (SECOND_NS << world_draw(STREAM_FAULTS, 8));
}

static void stop_on(unsigned machine)
{
    struct front *front = &fronts[machines[machine].front];
    uint64_t ns = world_random(STREAM_FAULTS) % (SECOND_NS << world_draw(STREAM_FAULTS, 9));

    if (was_last || world_once_in(STREAM_FAULTS, 2))
        ns += DEAD_NS;
    world_say("%.6f front end %u is stopped for %.3f s", (double)world->now_ns / 1e9,
              machines[machine].front, (double)ns / 1e9);
    may_fail = true;
    world->faults++;
    front->is_stopped = front->was_stopped = true;
    front->goes_on_ns = world->now_ns + ns;
    if (!front->is_held)
        live_stop(cluster, front->inner);
    front->is_held = true;
    sched_freeze(machines[machine].front, SCHED_STOPPED);
}

static void continue_on(unsigned machine)
{
    struct front *front = &fronts[machines[machine].front];

    world_say("%.6f front end %u goes on", (double)world->now_ns / 1e9, machines[machine].front);
    front->is_stopped = front->is_held = false;
    sched_freeze(machines[machine].front, SCHED_GOES_ON);
    live_continue(cluster, front->inner);
}

static bool draws(unsigned fault)
{
    return (world->plan.faults & fault) != 0 && world_once_in(STREAM_FAULTS, 2);
}

/* Runs of nothing else are aimed at what is sent by one that is dead to the others. */
static bool is_last_drawn(void)
{
    return world_once_in(STREAM_FAULTS, 4) == (world->plan.faults != FAULT_LATENCY);
}

static void await_worst(unsigned machine, bool is_kill, bool is_at_send)
{
    stop.front = machines[machine].front;
    stop.is_kill = is_kill;
    stop.is_at_send = is_at_send;
    stop.is_last = false;
    stop.until_ns = world->now_ns + (is_at_send ? SEND_MAX_NS : LOOK_MAX_NS);
}

static void act(void)
{
    unsigned machine = world_draw(STREAM_FAULTS, world->plan.fronts);

    next_ns =
        world->now_ns + world_random(STREAM_FAULTS) % (100 * MS << world_draw(STREAM_FAULTS, 10));
    actions_left--;
    if (machines[machine].front == 0 || fronts[machines[machine].front].is_stopped)
        return;
    if (draws(FAULT_KILL)) {
        if (world_once_in(STREAM_FAULTS, 2))
            kill_on(machine, "is killed");
        else
            await_worst(machine, true, true);
    } else if (draws(FAULT_LATENCY)) {
        await_worst(machine, false, world_once_in(STREAM_FAULTS, 2));
        stop.is_last = stop.is_at_send && is_last_drawn();
    }
}

/* At a moment when it matters most, if that comes soon. */
static void stop_now(void)
{
    unsigned machine = fronts_machine(stop.front);
    bool is_there = machines[machine].front == stop.front;
    bool is_worst = stop.is_at_send ? fronts[stop.front].is_held : front_commits_pieces(stop.front);

    if (is_there && !is_worst && world->now_ns < stop.until_ns)
        return;
    was_last = is_worst && stop.is_last;
    if (is_there && stop.is_kill)
        kill_on(machine, is_worst ? "is killed as it decides" : "is killed");
    else if (is_there)
        stop_on(machine);
    stop.front = 0;
}

bool fronts_go_on(bool is_asked)
{
    bool is_calm;

    if (!is_asked) /* nobody would see it */
        actions_left = 0;
    is_calm = actions_left == 0 && stop.front == 0;
    if (stop.front > 0)
        stop_now();
    else if (actions_left > 0 && world->now_ns >= next_ns)
        act();
    for (unsigned m = 0; m < world->plan.fronts; m++) {
        struct front *front = &fronts[machines[m].front];

        if (machines[m].front == 0 && world->now_ns >= machines[m].starts_ns)
            start_on(m);
        else if (front->is_stopped && world->now_ns >= front->goes_on_ns)
            continue_on(m);
        else if (front->is_fenced)
            kill_on(m, "was taken for dead, and ends");
        is_calm = is_calm && fronts_server(m) && !front->is_stopped && !front->is_fenced;
    }
    if (!is_calm)
        calm_ns = world->now_ns;
    sched_sleep(stop.front > 0 ? LOOK_NS : STEP_NS);
    return world->now_ns - calm_ns < CALM_NS;
}

uint64_t fronts_calm_ns(void)
{
    return calm_ns;
}

/* ---- the beginning ---- */

/* Within what front ends bear, or, seldom, one beyond it: that refuses to commit. */
static void draw_clocks(void)
{
    uint64_t most = world_once_in(STREAM_FAULTS, 4) ? 3 * SECOND_NS : SECOND_NS * 9 / 20;

    for (unsigned m = 0; (world->plan.faults & FAULT_CLOCK) && m < world->plan.fronts; m++)
        machines[m].ahead_ns = (int64_t)(world_random(STREAM_FAULTS) % most) *
                               (world_once_in(STREAM_FAULTS, 2) ? 1 : -1);
    for (unsigned m = 0; m < world->plan.fronts; m++) {
        uint64_t away = (uint64_t)llabs(machines[m].ahead_ns);

        skew_ns = 2 * away > skew_ns ? 2 * away : skew_ns;
    }
    may_fail = may_fail || skew_ns > SKEW_BORNE_NS;
}

/* All commits in a share meet in its stamp, and each takes some twenty ops: where these take long one of sixteen clients
 * waits for minutes until the others ask less. */
static unsigned pauses(void)
{
    return world->plan.service == SIM_FILE ? 8 : 12;
}

void fronts_begin(void)
{
    struct fake_options options = { .seed = world_random(STREAM_FAULTS),
                                    .applied = front_commits_applied };

    if (draws(FAULT_ERRORS)) {
        options.resent = 2 + world_draw(STREAM_FAULTS, 30);
        options.late = 2 + world_draw(STREAM_FAULTS, 20);
    }
    if (world->plan.faults & (FAULT_KILL | FAULT_LATENCY))
        actions_left = 1 + world_draw(STREAM_FAULTS, 12);
    cluster = live_new(options);
    grace_s = world_once_in(STREAM_FAULTS, 2) ? 20 : 100;
    /* Each op takes as long, before it is applied and before it is answered. */
    live_set_pause(cluster, 1u << world_draw(STREAM_FAULTS, pauses()));
    draw_clocks();
    for (unsigned m = 0; m < world->plan.fronts; m++)
        start_on(m);
}
