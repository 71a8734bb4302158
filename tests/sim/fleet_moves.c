/* See fleet_moves.h. The real commands of src/cli/move_command.c run in threads of the clients' process. */
#include "fleet_moves.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "auth/auth.h"
#include "cli/move_command.h"
#include "commits.h"
#include "fleet.h"
#include "fleet_chaos.h"
#include "moves.h"
#include "scheduler.h"
#include "services.h"

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS     UINT64_C(1000000)

static const struct command_row move_row = { .name = "cluster move",
                                             .options = cluster_move_options };
static const struct command_row drain_row = { .name = "cluster drain",
                                              .options = cluster_drain_options };
static unsigned threads_running;

static const char *kind(void)
{
    static const char *const kinds[SIM_SERVICES] = {
        [SIM_BLOB] = "container", [SIM_QUEUE] = "queue",    [SIM_TABLE] = "table",
        [SIM_FILE] = "share",     [SIM_PATH] = "container", [SIM_PROTECT] = "container"
    };

    return kinds[world->plan.service];
}

static bool move(unsigned name, unsigned cell, bool is_cancelled)
{
    const char number[] = { (char)('0' + cell), '\0' };
    const struct command_call call = {
        .row = &move_row,
        .words = { FLEET_FOLDER, DEVELOPMENT_ACCOUNT, kind(), sim_service()->names[name], number },
        .word_count = 5,
        .values = { is_cancelled ? "" : NULL },
    };

    world_say("%.6f %s is to be moved to cell %u%s", (double)world->now_ns / 1e9,
              sim_service()->names[name], cell, is_cancelled ? ", is cancelled" : "");
    return cluster_move_run(&call) == EXIT_SUCCESS;
}

/* Afterwards containers are created there again. */
static void drain(unsigned cell)
{
    const char number[] = { (char)('0' + cell), '\0' };
    struct command_call call = { .row = &drain_row,
                                 .words = { FLEET_FOLDER, number },
                                 .word_count = 2 };

    world_say("%.6f cell %u is to be drained", (double)world->now_ns / 1e9, cell);
    (void)cluster_drain_run(&call);
    call.values[0] = "";
    (void)cluster_drain_run(&call);
}

static unsigned draw_below(unsigned count)
{
    return count > 1 ? world_draw(STREAM_FAULTS, count) : 0;
}

/* Draws a name and a cell: mostly an existing name, and another cell. */
static void draw_move(unsigned *ret_name, unsigned *ret_cell)
{
    for (unsigned tries = 0; tries < 6; tries++) {
        *ret_name = draw_below(sim_service()->name_count);
        *ret_cell = 1 + draw_below(world->plan.cluster_cells);
        if (sim_service()->cell_of(*ret_name) > 0 && sim_service()->cell_of(*ret_name) != *ret_cell)
            return;
    }
}

/* Waits for a while, shorter times are as frequent as longer ones. */
static void rest(uint64_t most_ns)
{
    sched_sleep(most_ns >> world_draw(STREAM_FAULTS, 10) | 1);
}

static void *move_names(void *unused)
{
    unsigned name, cell;

    (void)unused;
    sched_name("mover");
    while (fleet_chaos_ended_ns() == 0) {
        rest(8 * SECOND_NS);
        draw_move(&name, &cell);
        if (world_once_in(STREAM_FAULTS, 10))
            drain(2 + draw_below(world->plan.cluster_cells - 1));
        else if (!move(name, cell, false))
            fleet_count(FLEET_UNDONE);
    }
    threads_running--;
    return NULL;
}

static void *cancel_moves(void *unused)
{
    unsigned name, cell;

    (void)unused;
    sched_name("canceller");
    while (fleet_chaos_ended_ns() == 0) {
        rest(30 * SECOND_NS);
        draw_move(&name, &cell);
        (void)move(name, cell, true);
    }
    threads_running--;
    return NULL;
}

/* The commands print their results. */
static void print_nothing(void)
{
    long fd = syscall(SYS_open, "/dev/null", O_WRONLY | O_CLOEXEC);

    if (world->plan.verbose || fd < 0)
        return;
    syscall(SYS_dup2, fd, STDOUT_FILENO);
    syscall(SYS_dup2, fd, STDERR_FILENO);
}

static void start(void *(*run)(void *))
{
    pthread_t id;

    threads_running++;
    pthread_create(&id, NULL, run, NULL);
}

void fleet_moves_begin(void)
{
    if (!commits_are_divided() || world_once_in(STREAM_PLAN, 4))
        return;
    print_nothing();
    start(move_names);
    if (world_once_in(STREAM_PLAN, 3))
        start(cancel_moves);
}

bool fleet_moves_have_ended(void)
{
    return threads_running == 0 && moves_have_ended();
}
