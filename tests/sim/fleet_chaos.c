/* See fleet_chaos.h. */
#include "fleet_chaos.h"

#include <pthread.h>

#include "auth/auth.h"
#include "cluster/pins.h"
#include "commits.h"
#include "fleet.h"
#include "net.h"
#include "scheduler.h"

#define SECOND_NS  UINT64_C(1000000000)
#define MS_NS      UINT64_C(1000000)
#define EVENTS_MAX 12
#define WAITS_NS   (20 * SECOND_NS)
/* session_timeout of CephFS. */
#define ORPHAN_NS  (60 * SECOND_NS)

static uint64_t ended_ns;

uint64_t fleet_chaos_ended_ns(void)
{
    return ended_ns;
}

/* Draws from a distribution in which short times are as frequent as long ones. */
static uint64_t draw_time(uint64_t most_ns)
{
    return most_ns >> world_draw(STREAM_FAULTS, 10) | 1;
}

/* Waits until the process is not between a commit and its note, and no front end takes stock. Returns whether it
 * still runs. */
static bool await_moment(unsigned number)
{
    const struct machine *machine = fleet_machine(number);

    while (machine->pid != 0 && !machine->has_exited &&
           (sched_is_inside(number) || world->fleet->is_taking_stock))
        sched_sleep(1000);
    return machine->pid != 0 && !machine->has_exited;
}

static void pause_front(unsigned number, uint64_t ns)
{
    struct machine *machine = fleet_machine(number);

    machine->trouble |= TROUBLE_PAUSED;
    machine->paused_until_ns = world->now_ns + ns;
    sched_pause_process(number, machine->paused_until_ns);
    fleet_count(FLEET_HANGS);
    world_say("%.6f front end %u is paused for %.3f s", (double)world->now_ns / 1e9, number,
              (double)ns / 1e9);
}

static void kill_front(unsigned number, uint64_t starts_after_ns)
{
    struct machine *machine = fleet_machine(number);

    world_say("%.6f front end %u is killed", (double)world->now_ns / 1e9, number);
    fleet_kill(number);
    fleet_storage_end(machine->session);
    net_end_process(number);
    machine->starts_ns = world->now_ns + starts_after_ns;
    fleet_count(FLEET_DEATHS);
}

/* Neither the file system nor peers are notified. */
static void kill_machine(unsigned number, uint64_t starts_after_ns)
{
    struct machine *machine = fleet_machine(number);
    struct session *session = &world->fleet->sessions[machine->session];

    world_say("%.6f the machine of front end %u dies", (double)world->now_ns / 1e9, number);
    fleet_kill(number);
    session->is_orphan = true;
    session->ends_ns = world->now_ns + ORPHAN_NS;
    machine->vanished_ns = world->now_ns;
    machine->starts_ns = world->now_ns + starts_after_ns;
    fleet_count(FLEET_DEATHS);
}

static void take_away(unsigned number, uint64_t ns)
{
    struct machine *machine = fleet_machine(number);

    machine->trouble |= TROUBLE_AWAY;
    machine->away_until_ns = world->now_ns + ns;
    fleet_count(FLEET_HANGS);
    world_say("%.6f front end %u loses the file system for %.3f s", (double)world->now_ns / 1e9,
              number, (double)ns / 1e9);
}

static void slow_down(unsigned number, uint64_t ns)
{
    struct machine *machine = fleet_machine(number);

    machine->trouble |= TROUBLE_SLOW;
    machine->slow_until_ns = world->now_ns + ns;
    world_say("%.6f the file system is slow for front end %u", (double)world->now_ns / 1e9, number);
}

static unsigned find_owner(void)
{
    unsigned owners[FRONTS_MAX], count = 0;

    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        if (fleet_machine(i)->serves)
            owners[count++] = i;
    }
    if (count == 0)
        return 0;
    return owners[count > 1 ? world_draw(STREAM_FAULTS, count) : 0];
}

/* Restarts the owner under another incarnation before the others notice. */
static void restart_behind(unsigned owner)
{
    uint64_t ns = 4 * SECOND_NS + draw_time(8 * SECOND_NS);

    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        if (i != owner && await_moment(i))
            pause_front(i, ns);
    }
    if (await_moment(owner))
        kill_front(owner, draw_time(SECOND_NS / 2));
}

static unsigned draw_front(void)
{
    unsigned owner = find_owner(), aimed = world->fleet->moves.aimed;

    world->fleet->moves.aimed = 0;
    if (aimed > 0)
        return aimed;

    if (owner > 0 && world_draw(STREAM_FAULTS, 4) > 0)
        return owner;
    return 1 + world_draw(STREAM_FAULTS, world->plan.fronts);
}

/* Decides where the next containers are placed. */
static void pin_account(void)
{
    static struct pins pins;
    unsigned cell = world_draw(STREAM_FAULTS, world->plan.cluster_cells + 1);
    const char *problem = "";

    pins = (struct pins){ .count = 0 };
    if (cell > 0 && !pins_set(&pins, bytes_from_string(DEVELOPMENT_ACCOUNT), cell))
        world_fail("the account cannot be pinned");
    if (!pins_write(FLEET_FOLDER, &pins,
                    &problem)) /* a command that drains a cell writes them, too */
        world_say("pins are not written: %s", problem);
    world_say("%.6f the account is pinned to cell %u", (double)world->now_ns / 1e9, cell);
}

static void *change_pins(void *unused)
{
    (void)unused;
    sched_name("pins");
    while (ended_ns == 0) {
        pin_account();
        sched_sleep(SECOND_NS + draw_time(30 * SECOND_NS));
    }
    return NULL;
}

static void have_one(void)
{
    unsigned number = draw_front();
    struct machine *machine = fleet_machine(number);

    if (!await_moment(number) || (machine->trouble & TROUBLE_PAUSED))
        return;
    fleet_trouble("an event");
    switch (world_draw(STREAM_FAULTS, 10)) {
    case 0:
    case 1:
        pause_front(number, draw_time(40 * SECOND_NS));
        break;
    case 2:
        kill_front(number, draw_time(10 * SECOND_NS));
        break;
    case 3:
        kill_machine(number, 10 * SECOND_NS + draw_time(20 * SECOND_NS));
        break;
    case 4:
    case 9:
        fleet_evict(machine->session);
        break;
    case 5:
        machine->is_told_to_stop = true;
        break;
    case 6:
        take_away(number, draw_time(30 * SECOND_NS));
        break;
    case 7:
        slow_down(number, draw_time(20 * SECOND_NS));
        break;
    default:
        restart_behind(number);
    }
}

static void *have_events(void *unused)
{
    unsigned events = world_draw(STREAM_FAULTS, EVENTS_MAX + 1);
    uint64_t all = (uint64_t)world->plan.clients * world->plan.operations;

    (void)unused;
    sched_name("chaos");
    for (unsigned i = 0; i < events; i++) {
        uint64_t until_ns = world->now_ns + WAITS_NS;

        while (world->requests < all * (i + 1) / (events + 2) && world->now_ns < until_ns &&
               world->fleet->moves.aimed == 0)
            sched_sleep(10 * MS_NS);
        if (world->fleet->moves.aimed == 0)
            sched_sleep(draw_time(8 * SECOND_NS));
        have_one();
    }
    ended_ns = world->now_ns;
    return NULL;
}

void fleet_chaos_begin(void)
{
    pthread_t id;

    pthread_create(&id, NULL, have_events, NULL);
    if (commits_are_divided())
        pthread_create(&id, NULL, change_pins, NULL);
}
