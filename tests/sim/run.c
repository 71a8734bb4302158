/* One run: lives of a server, crashes between them, clients that go on; many runs: seeds one after
 * the other; a failure made smaller. See README.md for what is printed. */
#include "run.h"

#include <assert.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "census.h"
#include "commits.h"
#include "damage.h"
#include "disk.h"
#include "faults.h"
#include "files.h"
#include "fleet.h"
#include "judge.h"
#include "request.h"
#include "recorded.h"
#include "restored.h"
#include "roles.h"
#include "scheduler.h"
#include "services.h"
#include "states.h"
#include "throttle.h"

#define SECOND_NS          UINT64_C(1000000000)
#define ANSWER_MAX_S       60
/* RocksDB's cache and buffers are most of it. */
#define MEMORY_MAX         ((size_t)100 << 20)
#define FILES_MAX          300u
/* Buffers of a body on both sides, and what is read ahead. */
#define REQUEST_MEMORY_MAX ((size_t)4 << 20)
/* A life takes a second of the processor; one of many requests takes longer. The machine may have others to do. */
#define LIFE_CPU_S         10u
#define REQUESTS_IN_A_S    500u
#define LIFE_REAL_S        1800
#define LIVES_MORE         40 /* starts that a fault spoils before it is called a loop */

/* ---- one life, in a process of its own ---- */

static struct server *server;
static unsigned clients_running;
static struct wish {
    bool is_waiting;
    uint64_t since_ns;
    struct ask ask;
} wishes[SLOTS_MAX];

static bool may_fail(void)
{
    return world->was_damaged || faults_were_seen() || !server_healthy(server);
}

/* To its service, a request that was not permitted looks like one without a response. */
static void judge(unsigned slot, struct reply *answer)
{
    bool has_committed = !wishes[slot].ask.wants_key && sim_service()->has_committed(slot);

    if (throttle_refused(slot, answer, has_committed, may_fail()))
        answer->came = false;
    if (wishes[slot].ask.wants_key) {
        roles_judge_key(slot, answer, may_fail());
        return;
    }
    if (roles_refused(slot, answer, may_fail())) {
        if (has_committed)
            world_fail("a request that is not permitted has committed");
        answer->came = false;
    }
    sim_service()->answered(slot, answer, may_fail());
}

static void *client(void *argument)
{
    unsigned slot = (unsigned)(uintptr_t)argument;
    struct wish *wish = &wishes[slot];
    char name[16];

    (void)snprintf(name, sizeof name, "client %u", slot);
    sched_name(name);
    while (world->next_request[slot] < world->plan.operations && server_healthy(server)) {
        struct reply answer;

        sim_service()->draw(slot, world->next_request[slot], &wish->ask);
        roles_draw(slot, world->next_request[slot]++, &wish->ask);
        if (wish->ask.think_ns > 0)
            request_think(slot, wish->ask.think_ns);
        restored_wait();
        wish->since_ns = world->now_ns;
        wish->is_waiting = true;
        throttle_draw(&wish->ask);
        states_draw(&wish->ask);
        roles_asked(slot, &wish->ask);
        throttle_asked(slot, &wish->ask);
        if (!wish->ask.wants_key)
            sim_service()->asked(slot, &wish->ask);
        request_send(server, slot, &wish->ask, &answer);
        if (answer.was_cut && !may_fail())
            world_fail("an answer is broken off after %zu bytes", answer.body_size);
        if (answer.came)
            recorded_answered();
        judge(slot, &answer);
        wish->is_waiting = false;
        answer_release(&answer);
    }
    request_leave(slot);
    clients_running--;
    return NULL;
}

bool run_is_quiet(void)
{
    for (unsigned i = 0; i < SLOTS_MAX; i++)
        if (wishes[i].is_waiting)
            return false;
    return true;
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

/* When faults have stopped, every request is answered within a minute. What a client lets wait by
 * its own pauses is not counted: those are shorter. */
static void check_liveness(uint64_t calm_since_ns)
{
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        const struct wish *wish = &wishes[i];
        uint64_t since = wish->since_ns > calm_since_ns ? wish->since_ns : calm_since_ns;
        char asked[300];

        if (!wish->is_waiting || world->now_ns < since + (ANSWER_MAX_S + 60) * SECOND_NS)
            continue;
        ask_format(&wish->ask, asked, sizeof asked);
        world_fail("no answer for %d s: %s", ANSWER_MAX_S, asked);
    }
}

/* While requests run, each may have so much; when nobody asks, what they had is given back. */
static void check_budgets(unsigned requests)
{
    size_t bytes = mallinfo2().uordblks;

    if (bytes > MEMORY_MAX + requests * REQUEST_MEMORY_MAX)
        world_fail("%zu bytes of memory are in use by %u requests", bytes, requests);
    if (files_open() > FILES_MAX + requests)
        world_fail("%u files are open for %u requests", files_open(), requests);
}

static void wait_for_clients(void)
{
    uint64_t calm_since_ns = 0;

    while (clients_running > 0) {
        sched_sleep(SECOND_NS / 20);
        check_budgets(clients_running);
        if (!server_healthy(server)) {
            if (!faults_were_seen())
                world_fail("the store has failed without a fault");
            world_end(OUTCOME_FINAL);
        }
        if (!faults_have_stopped())
            continue;
        if (calm_since_ns == 0)
            calm_since_ns = world->now_ns;
        check_liveness(calm_since_ns);
    }
    if (!server_healthy(server))
        world_end(OUTCOME_FINAL);
    /* A start shows what came of damage, or is there to be damaged. */
    if (world->life < world->plan.lives && (world->plan.faults & FAULT_DAMAGE)) {
        world->power_lost = false;
        world_end(OUTCOME_KILLED);
    }
}

/* All is quiet: what is there is what the model has, and what clients were told has an order. */
static void check_end(void)
{
    throttle_end();
    states_end();
    if (world->plan.service != SIM_FILE) /* what SMB clients have left is synced a little later */
        commits_acknowledge_all();
    if (!sim_service()->take_stock(server, may_fail()))
        world_end(OUTCOME_FINAL);
    if (sim_service()->check_end)
        sim_service()->check_end(server);
    recorded_end();
    check_budgets(0);
    faults_begin(true); /* no crash takes back what the model does not know: days pass */
    census_take(server);
    if (!server_healthy(server))
        world_end(OUTCOME_FINAL);
    if (world_once_in(STREAM_SYSTEM, 2))
        server_close(server);
    world_end(OUTCOME_DONE);
}

static noreturn void live(bool calm)
{
    const char *problem;
    bool has_room;

    sched_begin();
    faults_begin(calm);
    has_room = world->disk->pages_max == UINT64_MAX;
    sim_service()->begin_life();
    server = server_open(&problem);
    if (!server) {
        world_say("refused: %s", problem);
        /* A disk without room is a fault that no call need have met, and that may be over by now. */
        if (!faults_were_seen() && !world->was_damaged && has_room)
            world_fail("the store does not open after a %s: %s",
                       world->power_lost ? "power cut" : "kill", problem);
        if (!world->was_damaged && (strstr(problem, "damaged") || strstr(problem, "backup")))
            world_fail("a start takes a fault that passes for damage: %s", problem);
        world_end(OUTCOME_REFUSED);
    }
    if (!sim_service()->take_stock(server, may_fail()))
        world_end(OUTCOME_FINAL);
    commits_here()->has_started = true;
    world->note_is_old = false;
    world->spoiled = 0;
    if (world->was_damaged)
        world_end(OUTCOME_DONE);
    if (world->plan.faults & FAULT_WIRE)
        server_open_wire(server);
    throttle_start(server_account());
    states_start(server);
    start_clients();
    wait_for_clients();
    check_end();
    world_end(OUTCOME_DONE);
}

/* Assertions of ours are defects. The record engine has some that a failing disk can reach: then
 * the process ends, as by a kill. */
noreturn void __assert_fail(const char *expression, const char *file, unsigned line,
                            const char *function)
{
    if (fleet_self() > 0 && !strstr(file, "src/") && !strstr(file, "tests/") && fleet_is_cut_off())
        fleet_give_up();
    if (strstr(file, "src/") || strstr(file, "tests/") || !faults_were_seen())
        world_fail("%s:%u: %s: %s", file, line, function, expression);
    world->power_lost = false;
    world_end(OUTCOME_KILLED);
}

/* ---- one run ---- */

static void end_by_signal(int status)
{
    if (!WIFSIGNALED(status))
        return;
    if (WTERMSIG(status) == SIGABRT && (world->plan.faults & FAULT_ERRORS)) {
        world->outcome = OUTCOME_KILLED; /* the record engine gave up */
        world->power_lost = false;
        return;
    }
    world->outcome = OUTCOME_FAILED;
    (void)snprintf(world->failure, sizeof world->failure, "the process ended by signal %d%s",
                   WTERMSIG(status),
                   WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM ? ": it hung" : "");
}

/* It goes in circles: who goes, and what is asked for all that time. */
static void fail_circle(int number)
{
    char last[900], asked[300] = "";

    (void)number;
    sched_show_last(last, sizeof last);
    for (unsigned i = 0; i < SLOTS_MAX && asked[0] == '\0'; i++)
        if (wishes[i].is_waiting)
            ask_format(&wishes[i].ask, asked, sizeof asked);
    world_fail("a life has not ended in its seconds of the processor, after %" PRIu64
               " switches; one asks: %s; last:%s",
               world->switches, asked, last);
}

static void limit_processor(void)
{
    rlim_t seconds = LIFE_CPU_S + world->plan.clients * world->plan.operations / REQUESTS_IN_A_S;

    signal(SIGXCPU, fail_circle);
    setrlimit(RLIMIT_CPU, &(struct rlimit){ seconds, seconds + LIFE_CPU_S });
}

static void run_life(bool calm)
{
    int status = 0;
    pid_t child;

    world->outcome = OUTCOME_RUNNING;
    commits_set_cell(commits_are_divided() && world->life > 0 ? world->life : 1);
    if (commits_are_divided() && commits_here()->has_started) /* nothing was lost since */
        commits_here()->opened_at = 0;
    commits_here()->has_started = false;
    world->may_be_final = false;
    child = fork();
    assert(child >= 0);
    if (child == 0) {
        limit_processor();
        alarm(LIFE_REAL_S);
        signal(SIGALRM, SIG_DFL);
        if (world->plan.fronts > 0 && world->life == 0)
            fleet_live();
        live(calm);
    }
    while (waitpid(child, &status, 0) < 0)
        continue;
    end_by_signal(status);
    if (WIFEXITED(status) && WEXITSTATUS(status) != (int)world->outcome) {
        world->outcome = OUTCOME_FAILED;
        (void)snprintf(world->failure, sizeof world->failure, "the process left by exit(%d)",
                       WEXITSTATUS(status));
    }
}

/* What a fault of a client, of what only one request needs, or of a file of which nobody depends may
 * not bring about (docs/failure-guarantees.md: "final"). */
static void check_final(void)
{
    if (world->outcome != OUTCOME_FINAL || world->may_be_final || world->was_damaged)
        return;
    world->outcome = OUTCOME_FAILED;
    (void)snprintf(world->failure, sizeof world->failure,
                   "the store has failed for good by a fault that it has to outlive");
}

/* Between two lives: what is left of the disk. */
static void crash(void)
{
    enum file_kind file;
    char what[200];

    world->crashes++;
    if (commits_here()->has_started) {
        commits_here()->opened_at = 0;
    } else {
        world->starts_spoiled++;
        world->spoiled_twice += ++world->spoiled == 2;
    }
    if (world->outcome != OUTCOME_KILLED)
        world->power_lost = (world->plan.faults & FAULT_POWER) && !world->was_damaged &&
                            world_once_in(STREAM_CRASH, 2);
    world->spoiled_by_power = !world->power_lost            ? 0
                              : commits_here()->has_started ? 1
                                                            : world->spoiled_by_power + 1;
    if (world->power_lost)
        disk_power_cut();
    else
        disk_kill();
    world->note_is_old |= world->power_lost;
    /* Of logs not after a power cut: there nobody can tell a torn end from a damaged one. */
    if ((world->plan.faults & FAULT_DAMAGE) && !world->was_damaged &&
        damage_disk(world->note_is_old, &file, what, sizeof what)) {
        cell_reached(world->note_is_old ? CELL_DAMAGE_POWER : CELL_DAMAGE, file);
        world->was_damaged = true;
        world->damaged++;
        world_say("damage: %s", what);
    }
}

static bool run_lives(const struct plan *plan)
{
    uint64_t ended_ns = 0; /* end of the cluster's life; a census advances the time of one cell */
    unsigned lives = 0;

    world_begin(plan);
    disk_begin();
    sim_service()->begin();
    roles_begin();
    for (;;) {
        bool calm = lives >= plan->lives || world->was_damaged;

        world->life = lives;
        run_life(calm);
        check_final();
        if (lives++ == 0)
            ended_ns = world->now_ns;
        if (world->outcome == OUTCOME_DONE && lives <= plan->cluster_cells &&
            plan->cluster_cells > 1) {
            world->now_ns = ended_ns;
            continue;
        }
        if (world->outcome == OUTCOME_DONE || world->outcome == OUTCOME_FAILED)
            break;
        if (world->was_damaged && world->outcome == OUTCOME_REFUSED) {
            world->outcome = OUTCOME_DONE;
            world->damage_refused++;
            break;
        }
        if (lives > plan->lives + LIVES_MORE) {
            world->outcome = OUTCOME_FAILED;
            (void)snprintf(world->failure, sizeof world->failure,
                           "faults have ended, and %d starts did not heal it", LIVES_MORE);
            break;
        }
        crash();
    }
    return world->outcome == OUTCOME_DONE;
}

/* In a process of its own: what a run leaves in the heap of this one would decide about the
 * addresses of the next, and these about hashes. */
bool run_plan(const struct plan *plan)
{
    int status = 0;
    pid_t child = fork();

    assert(child >= 0);
    if (child == 0)
        _exit(run_lives(plan) ? 0 : 1);
    while (waitpid(child, &status, 0) < 0)
        continue;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void run_draw(uint64_t seed, struct plan *plan)
{
    static const unsigned clients[] = { 1, 2, 3, 4, 6, 8, 16, 40 };
    uint64_t draw = world_mix(seed ^ 0xD1CE);

    plan->seed = seed;
    plan->clients = clients[draw % 8];
    plan->operations = 40 + (unsigned)(draw >> 8) % 400 / plan->clients;
    plan->lives = 0;
    plan->faults = 0;
    if (draw >> 20 & 1)
        plan->faults |= FAULT_CLIENTS;
    if ((draw >> 21 & 3) != 0) {
        plan->lives = 1 + (unsigned)(draw >> 24) % 5;
        plan->faults |= FAULT_KILL | FAULT_POWER;
    }
    if ((draw >> 32 & 3) == 0)
        plan->faults |= FAULT_ERRORS | FAULT_SPACE | FAULT_FILES | FAULT_SHORT | FAULT_LATENCY;
    if ((draw >> 34 & 3) == 0)
        plan->faults |= FAULT_CLOCK;
    if ((draw >> 36 & 3) == 0)
        plan->faults |= FAULT_WIRE;
    if ((draw >> 48 & 1) != 0)
        plan->faults |= FAULT_SMB;
    plan->service = sim_service_of(draw >> 40);
}

/* Every second cluster of three front ends or more has several cells, and mostly a front end that stands by. */
static unsigned draw_cells(const struct plan *plan)
{
    uint64_t draw = world_mix(plan->seed ^ 0xCE11);
    unsigned most = plan->fronts < CLUSTER_CELLS ? plan->fronts : CLUSTER_CELLS;

    if (most < 2 || draw % 2 == 0)
        return 1;
    return draw / 2 % 4 == 0 ? most : 2;
}

/* One life of the cluster, and then one of a server for each cell. */
void run_draw_fleet(unsigned fronts, unsigned cells, struct plan *plan)
{
    plan->fronts = fronts < FRONTS_MAX ? fronts : FRONTS_MAX;
    plan->cluster_cells = cells > 0 ? cells : draw_cells(plan);
    if (plan->cluster_cells > plan->fronts || plan->cluster_cells > CLUSTER_CELLS)
        plan->cluster_cells = plan->fronts < CLUSTER_CELLS ? plan->fronts : CLUSTER_CELLS;
    plan->lives = 1;
    plan->faults &= FAULT_CLIENTS;
    if (plan->clients > 8)
        plan->clients = 8;
    plan->operations = 100 + (unsigned)(world_mix(plan->seed ^ 0xF1EE) % 1500) / plan->clients;
}

/* ---- making a failure smaller ---- */

static bool still_fails(const struct plan *plan, struct plan *smallest)
{
    if (run_plan(plan))
        return false;
    *smallest = *plan;
    return true;
}

void run_shrink(struct plan *smallest)
{
    unsigned tries = 0;
    struct plan plan;

    for (unsigned bit = 1; bit < FAULT_ALL; bit <<= 1) {
        plan = *smallest;
        plan.faults &= ~bit;
        if (plan.faults != smallest->faults)
            still_fails(&plan, smallest);
    }
    while (smallest->lives > 0 && tries++ < 10) {
        plan = *smallest;
        plan.lives--;
        if (!still_fails(&plan, smallest))
            break;
    }
    for (unsigned i = 0; i < smallest->clients && i < 32; i++) {
        plan = *smallest;
        plan.skip_clients |= 1u << i;
        still_fails(&plan, smallest);
    }
    for (tries = 0; smallest->operations > 1 && tries < 20; tries++) {
        plan = *smallest;
        plan.operations -= 1 + plan.operations / 3;
        if (!still_fails(&plan, smallest))
            break;
    }
    run_plan(smallest);
}
