/* The clients' process, which forks and restarts front ends, and sends requests. */
#include "cluster/envelope.h"
#include "cluster/folder.h"
#include "service/placement.h"

#include "fleet.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commits.h"
#include "disk.h"
#include "faults.h"
#include "fleet_chaos.h"
#include "fleet_moves.h"
#include "fleet_shared.h"
#include "judge.h"
#include "linear.h"
#include "moves.h"
#include "net.h"
#include "scheduler.h"
#include "services.h"
#include "wire.h"

#define SECOND_NS     UINT64_C(1000000000)
#define MS_NS         UINT64_C(1000000)
#define TICK_NS       (20 * MS_NS)
/* Requests that start later than this after the last disturbance must succeed. */
#define EXCUSED_NS    (15 * SECOND_NS)
/* And they must get a response within this time. */
#define ANSWERED_NS   (60 * SECOND_NS)
/* By then a worker has closed the connections that it dropped. */
#define SETTLES_NS    SECOND_NS
#define NEVER_OVER_NS (400 * SECOND_NS)
/* TCP notices the loss of a machine after this time. */
#define VANISHES_NS   (10 * SECOND_NS)
#define FIRST_PORT    10000u
#define INTERNAL_PORT 10500u
#define SKEW_MAX_NS   (INT64_C(100) * 1000000000)

static unsigned clients_running;
static struct server *nothing; /* for signatures only */

struct machine *fleet_machine(unsigned number)
{
    return &world->fleet->fronts[number];
}

bool fleet_is_running(void)
{
    return world->fleet && world->fleet->is_running;
}

static bool is_served(unsigned cell)
{
    for (unsigned i = 1; i <= world->plan.fronts; i++)
        if (fleet_machine(i)->serves && fleet_machine(i)->cell == cell)
            return true;
    return false;
}

bool fleet_lacks_owner(void)
{
    bool are_served = true;

    for (unsigned cell = 1; cell <= world->plan.cluster_cells && are_served; cell++)
        are_served = !fleet_is_running() || is_served(cell);
    return !are_served && commits_are_divided();
}

void fleet_count(enum fleet_count count)
{
    world->fleet->counts.of[count]++;
}

void fleet_trouble(const char *what)
{
    world_say("%.6f trouble: %s", (double)world->now_ns / 1e9, what);
    world->fleet->troubled_ns = world->now_ns;
}

int64_t fleet_boot_ns(unsigned number, int64_t ns)
{
    const struct machine *machine;

    if (number == 0)
        return ns;
    machine = fleet_machine(number);
    return ns + machine->boot_ns + ns / 1000000 * machine->rate_ppm;
}

int64_t fleet_wall_ns(void)
{
    int64_t skew_ns;

    if (fleet_self() == 0)
        return 0;
    skew_ns = fleet_machine(fleet_self())->skew_ns;
    return commits_are_divided() ? skew_ns
                                 : skew_ns - fleet_machine(world->fleet->cells[1].reigns)->skew_ns;
}

bool fleet_decided_by_owner(unsigned slot)
{
    const struct fleet *fleet = world->fleet;
    unsigned session = fleet_is_running() && slot < CLIENTS_MAX ? fleet->wishes[slot].executed : 0;

    return session == 0 ||
           fleet->sessions[session].front == fleet->cells[fleet->wishes[slot].cell].reigns;
}

unsigned fleet_cell_of(unsigned slot)
{
    unsigned cell = fleet_is_running() && slot < CLIENTS_MAX ? world->fleet->wishes[slot].cell : 0;

    return cell > 0 ? cell : commits_cell();
}

/* ---- processes ---- */

static void reap(pid_t pid)
{
    int status;

    while (syscall(SYS_wait4, pid, &status, 0, NULL) < 0)
        continue;
}

static void start_front(unsigned number)
{
    struct machine *machine = fleet_machine(number);
    unsigned thread;
    pid_t pid;

    if (machine->session == 0 || world->fleet->sessions[machine->session].is_evicted ||
        world->fleet->sessions[machine->session].is_orphan)
        machine->session = fleet_new_session(number);
    machine->has_exited = machine->is_told_to_stop = machine->serves = false;
    machine->cell = 0;
    machine->trouble = 0;
    machine->paused_until_ns = machine->away_until_ns = machine->slow_until_ns =
        machine->vanished_ns = 0;
    machine->fences = 0;
    moves_end_process(number);
    machine->tenure_ends_ns = 0;
    machine->resumed_ns = world->now_ns;
    machine->starts_ns = machine->mounts_ns = 0;
    thread = sched_add_process(number);
    pid = fork();
    assert(pid >= 0);
    if (pid == 0)
        fleet_front_run(number, thread);
    machine->pid = pid;
    world_say("%.6f front end %u is started", (double)world->now_ns / 1e9, number);
}

void fleet_kill(unsigned number)
{
    struct machine *machine = fleet_machine(number);
    pid_t pid = machine->pid;

    machine->pid = 0; /* so that its end is expected */
    machine->serves = false;
    moves_end_process(number);
    memset(machine->executing, 0, sizeof machine->executing);
    sched_end_process(number);
    syscall(SYS_kill, pid, SIGKILL);
    reap(pid);
}

/* SIGCHLD: ends the run if a front end has ended by a signal or by a judge. */
static void on_child(int signal)
{
    (void)signal;
    for (unsigned i = 1; i <= FRONTS_MAX; i++) {
        const struct machine *machine = fleet_machine(i);
        int status = 0;

        if (machine->pid == 0 || machine->has_exited ||
            syscall(SYS_wait4, machine->pid, &status, WNOHANG, NULL) <= 0)
            continue;
        if (world->outcome == OUTCOME_RUNNING)
            (void)snprintf(world->failure, sizeof world->failure,
                           "front end %u ends with status %#x", i, (unsigned)status);
        world_end(OUTCOME_FAILED);
    }
}

/* ---- periodic work ---- */

static void end_orphans(void)
{
    struct fleet *fleet = world->fleet;

    for (unsigned i = 1; i <= fleet->session_count; i++) {
        if (fleet->sessions[i].is_orphan && !fleet->sessions[i].is_evicted &&
            world->now_ns >= fleet->sessions[i].ends_ns)
            fleet_evict(i);
    }
}

static void look_at_front(unsigned number)
{
    struct machine *machine = fleet_machine(number);

    if (machine->has_exited && machine->pid != 0) {
        reap(machine->pid);
        sched_end_process(number);
        machine->pid = 0;
        machine->starts_ns =
            world->now_ns + world_random(STREAM_FAULTS) % (UINT64_C(5) * SECOND_NS);
    }
    if (machine->vanished_ns > 0 && world->now_ns >= machine->vanished_ns + VANISHES_NS) {
        net_end_process(number);
        machine->vanished_ns = 0;
    }
    if (machine->pid == 0 && machine->vanished_ns == 0 && world->now_ns >= machine->starts_ns)
        start_front(number);
    if (machine->mounts_ns > 0 && world->now_ns >= machine->mounts_ns) {
        machine->session = fleet_new_session(number);
        machine->mounts_ns = 0;
    }
    if ((machine->trouble & TROUBLE_PAUSED) && world->now_ns >= machine->paused_until_ns) {
        machine->trouble &= ~(unsigned)TROUBLE_PAUSED;
        machine->resumed_ns = world->now_ns;
    }
    if ((machine->trouble & TROUBLE_AWAY) && world->now_ns >= machine->away_until_ns)
        machine->trouble &= ~(unsigned)TROUBLE_AWAY;
    if ((machine->trouble & TROUBLE_SLOW) && world->now_ns >= machine->slow_until_ns)
        machine->trouble &= ~(unsigned)TROUBLE_SLOW;
}

static bool is_in_order(void)
{
    unsigned served = 0;

    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        const struct machine *machine = fleet_machine(i);

        if (machine->pid == 0 || machine->trouble != 0)
            return false;
        served += machine->serves && !machine->is_told_to_stop &&
                  !world->fleet->sessions[machine->session].is_evicted;
    }
    return served >= world->plan.cluster_cells;
}

static void tick(void)
{
    fleet_run_fences();
    end_orphans();
    for (unsigned i = 1; i <= world->plan.fronts; i++)
        look_at_front(i);
    if (!is_in_order())
        world->fleet->troubled_ns = world->now_ns;
}

/* ---- clients ---- */

uint16_t fleet_port(unsigned slot, unsigned *ret_front)
{
    static unsigned last[CLIENTS_MAX];

    if (last[slot] == 0 || world_once_in(STREAM_SYSTEM, 4))
        last[slot] = 1 + world_draw(STREAM_SYSTEM, world->plan.fronts);
    *ret_front = last[slot];
    world_say("%.6f client %u asks front end %u", (double)world->now_ns / 1e9, slot, last[slot]);
    return fleet_machine(last[slot])->port;
}

static bool is_excused(uint64_t since_ns)
{
    return since_ns <= world->fleet->troubled_ns + EXCUSED_NS;
}

static bool may_go_on(unsigned slot, uint64_t since_ns)
{
    if (net_is_half_open())
        return false;
    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        const struct machine *machine = fleet_machine(i);
        uint64_t from_ns = machine->resumed_ns > since_ns ? machine->resumed_ns : since_ns;

        if (machine->executing[slot] > 0)
            return false;
        if (machine->pid != 0 &&
            ((machine->trouble & TROUBLE_PAUSED) || world->now_ns < from_ns + SETTLES_NS))
            return false;
    }
    return true;
}

/* Waits until no process can execute a request any more whose connection was lost. */
static void wait_until_over(unsigned slot)
{
    uint64_t since_ns = world->now_ns;

    while (!may_go_on(slot, since_ns)) {
        if (world->now_ns > since_ns + NEVER_OVER_NS)
            world_fail("a request of client %u is not over after %u s", slot,
                       (unsigned)(NEVER_OVER_NS / SECOND_NS));
        sched_sleep(5 * TICK_NS);
    }
}

/* Returns whether the request was executed before the last takeover, and its response was in flight then. */
static bool is_late(const struct fleet_wish *wish, const struct reply *answer)
{
    return answer->came && wish->executed != 0 &&
           wish->reign != world->fleet->cells[wish->cell].reign;
}

/* Waits for the end of a stocktaking, in which the judge knows no requests. */
static void await_stock(void)
{
    while (world->fleet->is_taking_stock)
        sched_sleep(MS_NS);
}

static void judge(unsigned slot, struct fleet_wish *wish, struct reply *answer)
{
    bool excused = is_excused(wish->since_ns);

    if (!excused && !wish->ask.goes_away && wish->ask.framing.form < CUT_SHORT &&
        (!answer->came || answer->was_cut))
        world_fail("client %u gets no complete response, and there was no disturbance since %.3f s",
                   slot, (double)world->fleet->troubled_ns / 1e9);
    if (is_late(wish, answer)) {
        struct reply none = { .began_ns = answer->began_ns };

        fleet_count(FLEET_LATE);
        if (sim_is_of_blobs() && !judge_says_cannot(answer))
            linear_note(&wish->ask, answer);
        sim_service()->answered(slot, &none, true);
        return;
    }
    sim_service()->answered(slot, answer, excused || moves_were_busy(wish->since_ns));
}

/* Returns whether each cell has been served. */
static bool have_begun(void)
{
    for (unsigned i = 1; i <= world->plan.cluster_cells; i++)
        if (world->fleet->cells[i].reign == 0)
            return false;
    return true;
}

static void *client(void *argument)
{
    unsigned slot = (unsigned)(uintptr_t)argument;
    struct fleet_wish *wish = &world->fleet->wishes[slot];
    char name[16];

    (void)snprintf(name, sizeof name, "client %u", slot);
    sched_name(name);
    while (world->next_request[slot] < world->plan.operations) {
        struct reply answer;

        while (!have_begun())
            sched_sleep(TICK_NS);
        await_stock();
        sim_service()->draw(slot, world->next_request[slot]++, &wish->ask);
        if (wish->ask.think_ns > 0)
            sched_sleep(wish->ask.think_ns);
        await_stock();
        wish->since_ns = world->now_ns;
        wish->executed = wish->cell = 0;
        wish->is_placement = false;
        wish->is_waiting = true;
        sim_service()->asked(slot, &wish->ask);
        request_send(nothing, slot, &wish->ask, &answer);
        if (!answer.came || wish->ask.goes_away || wish->ask.stops_after > 0)
            wait_until_over(slot);
        await_stock();
        judge(slot, wish, &answer);
        wish->is_waiting = false;
        answer_release(&answer);
    }
    clients_running--;
    return NULL;
}

/* ---- execution ---- */

/* A client sends its next request before the exchange of the previous one has ended. */
#define EXCHANGES_MAX 8
static const struct exchange *executing[CLIENTS_MAX][EXCHANGES_MAX];
/* The end of the lease, for requests whose execution began after it. */
static uint64_t lapsed_ns[CLIENTS_MAX][EXCHANGES_MAX];

/* Returns the slot of an exchange, or a free one for NULL. */
static const struct exchange **find_executing(unsigned slot, const struct exchange *exchange)
{
    for (unsigned i = 0; i < EXCHANGES_MAX; i++) {
        if (executing[slot][i] == exchange)
            return &executing[slot][i];
    }
    return NULL;
}

/* Returns the incarnation in the envelope, or 0 if the request was not forwarded. */
static uint64_t meant_incarnation(const struct exchange *exchange)
{
    struct envelope envelope;

    if (exchange->introduction.len == 0 ||
        envelope_read(exchange->introduction, &envelope) != INTRODUCTION_WHOLE)
        return 0;
    return envelope.incarnation;
}

void fleet_executes(const struct exchange *exchange, unsigned slot)
{
    struct machine *machine = fleet_machine(fleet_self());
    struct fleet_wish *wish = &world->fleet->wishes[slot];
    uint64_t meant = meant_incarnation(exchange);
    const struct exchange **at;

    if (fleet_self() == 0 || find_executing(slot, exchange))
        return;
    if (meant != 0 && meant != machine->incarnation)
        world_fail("a request that is meant for incarnation %" PRIu64 " is executed by %" PRIu64,
                   meant, machine->incarnation);
    if (wish->executed != 0)
        world_fail("a request of client %u is executed twice", slot);
    at = find_executing(slot, NULL);
    *at = exchange;
    lapsed_ns[slot][at - executing[slot]] =
        clock_boot_ns() >= fleet_tenure_ends() ? fleet_tenure_ends() : 0;
    if (meant != 0)
        fleet_count(FLEET_FORWARDED);
    machine->executing[slot]++;
    wish->executed = machine->session;
    wish->cell = machine->cell;
    world_say("%.6f front end %u executes the request of client %u in cell %u",
              (double)world->now_ns / 1e9, fleet_self(), slot, machine->cell);
    wish->reign = world->fleet->cells[machine->cell].reign;
    wish->is_placement = false;
}

/* The response goes to a front end, which sends the request to the other cell. It is judged as if it started there. */
void fleet_misplaced(unsigned slot)
{
    struct fleet_wish *wish = &world->fleet->wishes[slot];

    if (fleet_self() == 0 || wish->executed != fleet_machine(fleet_self())->session)
        return;
    fleet_count(FLEET_MISPLACED);
    world_say("%.6f its container is elsewhere", (double)world->now_ns / 1e9);
    wish->executed = wish->cell = 0;
    sim_service()->asked(slot, &wish->ask);
}

/* ---- placements ---- */

__typeof__(placement_of_new) __real_placement_of_new, __wrap_placement_of_new;

enum error __wrap_placement_of_new(struct decision *d, bool *ret_is_elsewhere)
{
    enum error e = __real_placement_of_new(d, ret_is_elsewhere);
    int slot = request_slot();

    if (fleet_is_running() && slot >= 0 && slot < (int)CLIENTS_MAX)
        world->fleet->wishes[slot].is_placement = !e && *ret_is_elsewhere;
    return e;
}

bool fleet_commits_placement(unsigned slot)
{
    bool is_placement =
        fleet_is_running() && slot < CLIENTS_MAX && world->fleet->wishes[slot].is_placement;

    if (is_placement) {
        world->fleet->wishes[slot].is_placement = false;
        fleet_count(FLEET_PLACED);
    }
    return is_placement;
}

void fleet_executed(const struct exchange *exchange, unsigned slot)
{
    const struct exchange **at = fleet_self() > 0 ? find_executing(slot, exchange) : NULL;

    uint64_t lapsed;

    if (!at)
        return;
    lapsed = lapsed_ns[slot][at - executing[slot]];
    /* Not renewed meanwhile: it must not even be sent. */
    if (lapsed > 0 && lapsed == fleet_tenure_ends() && exchange_sent(exchange).is_whole)
        world_fail("a request of client %u is answered without a lease", slot);
    *at = NULL;
    fleet_machine(fleet_self())->executing[slot]--;
}

/* ---- the run ---- */

static void draw_machines(void)
{
    bool differ = world_once_in(STREAM_PLAN, 2), far = world_once_in(STREAM_PLAN, 3);
    bool drift = world_once_in(STREAM_PLAN, 2);
    int64_t most = far ? SKEW_MAX_NS : SKEW_MAX_NS / 50;

    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        struct machine *machine = fleet_machine(i);

        machine->port = (uint16_t)(FIRST_PORT + i);
        machine->internal_port = (uint16_t)(INTERNAL_PORT + i);
        machine->boot_ns = (int64_t)(world_random(STREAM_PLAN) % (1000000 * SECOND_NS));
        if (differ)
            machine->skew_ns = (int64_t)(world_random(STREAM_PLAN) % (uint64_t)(2 * most)) - most;
        if (drift)
            machine->rate_ppm =
                (int64_t)world_draw(STREAM_PLAN, 2 * FLEET_RATE_MAX_PPM) - FLEET_RATE_MAX_PPM;
    }
    if (differ)
        world->plan.faults |= FAULT_CLOCK;
    if (differ && commits_are_divided())
        world->wall_steps = 1; /* clients' clocks are those of no owner */
    world->fleet->has_fence = !world_once_in(STREAM_PLAN, 8);
}

static void create_cluster(void)
{
    const char *problem = "";

    if (!cluster_folder_create(FLEET_FOLDER, world->plan.cluster_cells, &problem))
        world_fail("the cluster is not made: %s", problem);
    disk_sync_all();
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
    uint64_t from_ns = world->fleet->troubled_ns + EXCUSED_NS;

    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        const struct fleet_wish *wish = &world->fleet->wishes[i];
        uint64_t since_ns = wish->since_ns > from_ns ? wish->since_ns : from_ns;
        char asked[300];

        if (!wish->is_waiting || world->now_ns < since_ns + 2 * ANSWERED_NS)
            continue;
        ask_format(&wish->ask, asked, sizeof asked);
        world_fail("no answer for %u s: %s", (unsigned)(ANSWERED_NS / SECOND_NS), asked);
    }
    if (moves_held_since_ns() > 0 && world->now_ns > from_ns + 2 * ANSWERED_NS &&
        world->now_ns > moves_held_since_ns() + 2 * ANSWERED_NS)
        world_fail("a name is held for %u s", (unsigned)(2 * ANSWERED_NS / SECOND_NS));
    if (fleet_chaos_ended_ns() > 0 && !fleet_moves_have_ended() &&
        world->now_ns > from_ns + 5 * ANSWERED_NS &&
        world->now_ns > fleet_chaos_ended_ns() + 5 * ANSWERED_NS)
        world_fail("a move has not ended");
    if (world->fleet->troubled_ns > fleet_chaos_ended_ns() &&
        world->now_ns > fleet_chaos_ended_ns() + 3 * ANSWERED_NS && fleet_chaos_ended_ns() > 0 &&
        !is_in_order())
        world_fail("no front end serves, although there was no disturbance for %u s",
                   (unsigned)(3 * ANSWERED_NS / SECOND_NS));
}

/* Stops all front ends, or kills them. */
static void end_fronts(void)
{
    bool orderly = world_once_in(STREAM_FAULTS, 2);

    for (unsigned i = 1; i <= world->plan.fronts; i++) {
        struct machine *machine = fleet_machine(i);

        if (machine->pid == 0)
            continue;
        machine->is_told_to_stop = orderly;
        for (unsigned ms = 0; orderly && !machine->has_exited && ms < 120000; ms += 20)
            sched_sleep(TICK_NS);
        if (orderly && !machine->has_exited)
            world_fail("front end %u does not stop", i);
        while (!orderly && sched_is_inside(i))
            sched_sleep(1000);
        if (orderly) {
            reap(machine->pid);
            sched_end_process(i);
        }
        if (!orderly)
            fleet_kill(i);
    }
}

noreturn void fleet_live(void)
{
    struct sigaction action = { .sa_handler = on_child };

    shared_begin();
    world->fleet = world_alloc(sizeof *world->fleet);
    sched_begin();
    faults_begin(true);
    net_begin();
    world->fleet->clients_pid = (pid_t)syscall(SYS_getpid);
    sigaction(SIGCHLD, &action, NULL);
    world->fleet->is_running = true;
    draw_machines();
    create_cluster();
    sim_service()->begin_life();
    nothing = server_of_clients();
    wire_open_clients();
    for (unsigned i = 1; i <= world->plan.fronts; i++)
        start_front(i);
    start_clients();
    fleet_chaos_begin();
    fleet_moves_begin();
    while (clients_running > 0 || fleet_chaos_ended_ns() == 0 || !fleet_moves_have_ended()) {
        tick();
        check_liveness();
        sched_sleep(TICK_NS);
    }
    end_fronts();
    world->fleet->is_running = false;
    world->power_lost = false;
    world_end(OUTCOME_KILLED);
}
