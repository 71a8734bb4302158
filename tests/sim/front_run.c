/* A run of front ends: clients that ask any of them, the weather, and what has to be true when all is quiet. */
#include <stdio.h>

#include "faults.h"
#include "fronts.h"
#include "judge.h"
#include "scheduler.h"
#include "services.h"
#include "world.h"

#define SECOND_NS    UINT64_C(1000000000)
/* The longest way of a request: it waits for the cluster for 30 s, perhaps several times, and a front end that was
 * started is told dead ones after a minute. */
#define ANSWER_MAX_S 180
/* Until who is dead is known to be, what it began is ended, and clocks have come together. */
#define QUIET_S      400

static unsigned clients_running;
static struct wish {
    bool is_waiting;
    uint64_t since_ns;
    struct ask ask;
} wishes[SLOTS_MAX];

/* Whoever got no answer learns what became of it. */
static void wait_for_fate(unsigned slot)
{
    while (front_commits_open(slot))
        sched_sleep(SECOND_NS / 100);
}

static void check_answer(unsigned slot, const struct reply *answer)
{
    char asked[300];

    if (!front_commits_open(slot) || sim_service()->has_committed(slot))
        return;
    ask_format(&wishes[slot].ask, asked, sizeof asked);
    world_fail("answered %d %s while its commit is on its way: %s", answer->status, answer->code,
               asked);
}

/* What was begun to be read can be read to its end. */
static void check_not_cut(unsigned slot, unsigned front, const struct reply *answer)
{
    char asked[300];

    if (!answer->was_cut || !fronts_must_read(front))
        return;
    ask_format(&wishes[slot].ask, asked, sizeof asked);
    world_fail("the answer is broken off after %zu bytes: %s", answer->body_size, asked);
}

/* That it cannot now (503), as long as something is wrong; that it cannot read what there is (500) only if the front end
 * itself was away. */
static bool may_fail(unsigned front, const struct reply *answer)
{
    return fronts_may_fail() && (answer->status != 500 || !fronts_must_read(front));
}

static void ask_one(unsigned slot)
{
    struct wish *wish = &wishes[slot];
    struct reply answer;
    uint64_t voids = front_commits_voids();
    unsigned front;
    struct server *server = fronts_draw(&front);

    wish->since_ns = world->now_ns;
    wish->is_waiting = true;
    front_commits_asked(slot);
    sim_service()->asked(slot, &wish->ask);
    world_say("%.6f client %u asks front end %u", (double)world->now_ns / 1e9, slot, front);
    sched_enter(front, SCHED_CLIENT);
    request_send(server, slot, &wish->ask, &answer);
    sched_enter(0, SCHED_OF_IT);
    check_not_cut(slot, front, &answer);
    if (answer.came)
        check_answer(slot, &answer);
    else
        wait_for_fate(slot);
    /* What was read there was perhaps of a commit that the model does not have. */
    if (front_commits_into_void(slot) ||
        (voids < front_commits_voids() && !sim_service()->has_committed(slot)))
        answer.came = false;
    sim_service()->answered(slot, &answer, may_fail(front, &answer));
    front_commits_answered(slot);
    wish->is_waiting = false;
    answer_release(&answer);
}

static void *client(void *argument)
{
    unsigned slot = (unsigned)(uintptr_t)argument;
    char name[16];

    (void)snprintf(name, sizeof name, "client %u", slot);
    sched_name(name);
    while (world->next_request[slot] < world->plan.operations) {
        sim_service()->draw(slot, world->next_request[slot]++, &wishes[slot].ask);
        if (wishes[slot].ask.think_ns > 0)
            request_think(slot, wishes[slot].ask.think_ns);
        if (fronts_are_asked())
            ask_one(slot);
    }
    clients_running--;
    return NULL;
}

static void start_clients(void)
{
    for (unsigned i = 0; i < world->plan.clients; i++) {
        pthread_t id;

        if (world->plan.skip_clients >> i & 1)
            continue;
        clients_running++;
        pthread_create(&id, NULL, client, (void *)(uintptr_t)i);
    }
}

static void check_liveness(void)
{
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        const struct wish *wish = &wishes[i];
        uint64_t since = wish->since_ns > fronts_calm_ns() ? wish->since_ns : fronts_calm_ns();
        char asked[300];

        if (!wish->is_waiting || wish->ask.pause_ns > 0 ||
            world->now_ns < since + ANSWER_MAX_S * SECOND_NS)
            continue;
        ask_format(&wish->ask, asked, sizeof asked);
        world_fail("no answer for %d s: %s", ANSWER_MAX_S, asked);
    }
}

static void take_stock(unsigned machine)
{
    struct server *server = fronts_server(machine);

    sched_enter(fronts_front(machine), SCHED_CLIENT);
    if (!sim_service()->take_stock(server, true))
        world_fail("a front end has failed when all is quiet");
    sched_enter(0, SCHED_OF_IT);
}

static void check_end(void)
{
    world->acknowledged = world->commits;
    for (unsigned m = 0; m < world->plan.fronts; m++)
        take_stock(m);
    front_cluster_check();
    if (!sim_service()->check_end)
        return;
    sched_enter(fronts_front(0), SCHED_CLIENT);
    sim_service()->check_end(fronts_server(0));
    sched_enter(0, SCHED_OF_IT);
}

void fronts_live(void)
{
    sched_begin();
    faults_begin(true);
    sim_service()->begin_life();
    world->has_started = true;
    fronts_begin();
    start_clients();
    while (fronts_go_on(clients_running > 0) || clients_running > 0)
        check_liveness();
    fronts_set_clocks();
    for (unsigned i = 0; i < QUIET_S; i++)
        sched_sleep(SECOND_NS);
    check_end();
    world_end(OUTCOME_DONE);
}
