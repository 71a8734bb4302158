/* simulate [--seed N] [--seeds N] [--seconds N] [--requests N] [--crashes N] [--clients N] [--operations N] [--lives N]
 *          [--faults N] [--skip N] [--planted N] [--aim N] [--fronts N] [--cluster-cells N] [--service NAME] [--twice] [--verbose]
 *          [--cells]
 *
 * Runs the seeds from --seed on, as many as --seeds says, for so many seconds, until there were so
 * many requests or crashes. Other options
 * replace what the seed would draw. --twice runs each seed two times and compares the traces.
 * --cells: which fault met which kind of file how often (cells.h). Last line: what was done. A failure prints one command that replays it, and ends with 1. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fleet.h"
#include "run.h"
#include "services.h"

struct options {
    struct plan plan;
    uint64_t seed, seeds, seconds, requests, crashes;
    bool has[9]; /* clients, operations, lives, faults, skip, planted, aim, fronts, cluster-cells */
    bool twice, no_shrink, has_service, cells;
};

static struct totals {
    uint64_t seeds, requests, crashes, faults, commits, refused;
    uint64_t damaged, damage_refused, damage_told;
    uint64_t starts_spoiled, spoiled_twice, wall_steps;
    uint64_t reached[CELLS][FILE_KINDS];
    struct fleet_counts fleet;
} totals;

/* Zeros for a run without front ends. */
static void count_fleet(void)
{
    const struct fleet_counts *of = world->fleet ? &world->fleet->counts : NULL;

    for (size_t i = 0; of && i < FLEET_COUNTS; i++)
        totals.fleet.of[i] += of->of[i];
}

static void print_fleet(void)
{
    static const char *const names[FLEET_COUNTS] = {
        "takeovers",
        "handovers",
        "dead processes and machines",
        "pauses and blocked file systems",
        "evictions",
        "cut connections",
        "forwarded requests",
        "late responses",
        "containers placed in another cell",
        "requests at another cell than that of their container",
        "moves",
        "parts of batches for other cells",
        "moves cancelled or failed",
        "direct reads",
        "direct reads that failed",
    };

    for (size_t i = 0; i < FLEET_COUNTS; i++)
        printf("%s%" PRIu64 " %s", i > 0 ? ", " : "", totals.fleet.of[i], names[i]);
    printf("\n");
}

static double real_seconds(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 0);

    if (*end || end == text) {
        fprintf(stderr, "simulate: %s is not a number\n", text);
        exit(2);
    }
    return value;
}

static void parse(int argc, char **argv, struct options *o)
{
    enum {
        SEED = 9,
        SEEDS,
        SECONDS,
        REQUESTS,
        CRASHES,
        TWICE,
        VERBOSE,
        NO_SHRINK,
        SERVICE,
        SHOW_CELLS
    };
    static const struct option known[] = {
        { "clients", 1, NULL, 0 },
        { "operations", 1, NULL, 1 },
        { "lives", 1, NULL, 2 },
        { "faults", 1, NULL, 3 },
        { "skip", 1, NULL, 4 },
        { "planted", 1, NULL, 5 },
        { "aim", 1, NULL, 6 },
        { "fronts", 1, NULL, 7 },
        { "cluster-cells", 1, NULL, 8 },
        { "seed", 1, NULL, SEED },
        { "seeds", 1, NULL, SEEDS },
        { "seconds", 1, NULL, SECONDS },
        { "requests", 1, NULL, REQUESTS },
        { "crashes", 1, NULL, CRASHES },
        { "twice", 0, NULL, TWICE },
        { "verbose", 0, NULL, VERBOSE },
        { "no-shrink", 0, NULL, NO_SHRINK },
        { "service", 1, NULL, SERVICE },
        { "cells", 0, NULL, SHOW_CELLS },
        { NULL, 0, NULL, 0 },
    };
    unsigned *const numbers[] = { &o->plan.clients, &o->plan.operations,   &o->plan.lives,
                                  &o->plan.faults,  &o->plan.skip_clients, &o->plan.planted,
                                  &o->plan.aim,     &o->plan.fronts,       &o->plan.cluster_cells };
    uint64_t *const counts[] = { &o->seed, &o->seeds, &o->seconds, &o->requests, &o->crashes };
    int at;

    while ((at = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (at >= 0 && at < SEED) {
            *numbers[at] = (unsigned)number(optarg);
            o->has[at] = true;
        } else if (at >= SEED && at <= CRASHES) {
            *counts[at - SEED] = number(optarg);
        } else if (at == TWICE) {
            o->twice = true;
        } else if (at == VERBOSE) {
            o->plan.verbose = true;
        } else if (at == SHOW_CELLS) {
            o->cells = true;
        } else if (at == NO_SHRINK) {
            o->no_shrink = true;
        } else if (at == SERVICE && sim_service_named(optarg) < SIM_SERVICES) {
            o->plan.service = sim_service_named(optarg);
            o->has_service = true;
        } else {
            exit(2);
        }
    }
}

static struct plan plan_of(const struct options *o, uint64_t seed)
{
    struct plan plan = { .verbose = o->plan.verbose };

    run_draw(seed, &plan);
    if (o->has_service)
        plan.service = o->plan.service;
    if (o->has[7] && o->plan.fronts > 0)
        run_draw_fleet(o->plan.fronts, o->plan.cluster_cells, &plan);
    if (o->has[0])
        plan.clients = o->plan.clients;
    if (o->has[1])
        plan.operations = o->plan.operations;
    if (o->has[2])
        plan.lives = o->plan.lives;
    if (o->has[3])
        plan.faults = o->plan.faults;
    if (o->has[4])
        plan.skip_clients = o->plan.skip_clients;
    if (o->has[5])
        plan.planted = o->plan.planted;
    if (o->has[6])
        plan.aim = o->plan.aim;
    return plan;
}

static void print_failure(const struct options *o, struct plan plan)
{
    printf("seed %" PRIu64 " fails: %s\n", plan.seed, world->failure);
    if (!o->no_shrink)
        run_shrink(&plan);
    printf("smallest: %s\n", world->failure);
    printf("replay: make sim SEED=%" PRIu64 " ARGS=\"--clients %u --operations %u --lives %u "
           "--faults %u --skip %u --planted %u --aim %u --fronts %u --cluster-cells %u --service "
           "%s\"\n",
           plan.seed, plan.clients, plan.operations, plan.lives, plan.faults, plan.skip_clients,
           plan.planted, plan.aim, plan.fronts, plan.cluster_cells, sim_service_name(plan.service));
}

static bool one_seed(const struct options *o, uint64_t seed)
{
    struct plan plan = plan_of(o, seed);
    bool passed = run_plan(&plan);
    uint64_t trace = world->trace, now = world->now_ns;

    totals.seeds++;
    totals.requests += world->requests;
    totals.crashes += world->crashes;
    totals.faults += world->faults;
    totals.commits += world->commits;
    totals.refused += world->refused;
    totals.damaged += world->damaged;
    totals.starts_spoiled += world->starts_spoiled;
    totals.spoiled_twice += world->spoiled_twice;
    totals.wall_steps += world->wall_steps;
    count_fleet();
    totals.damage_refused += world->damage_refused;
    totals.damage_told += world->damage_told;
    for (unsigned i = 0; i < CELLS * FILE_KINDS; i++)
        (&totals.reached[0][0])[i] += (&world->reached[0][0])[i];
    if (o->plan.verbose)
        printf(
            "seed %" PRIu64 " (%s): trace %016" PRIx64 ", %u clients x %u, faults %u, %" PRIu64
            " requests, %" PRIu64 " commits, %" PRIu64 " crashes, %" PRIu64 " switches, %.3f s\n",
            seed, sim_service_name(plan.service), trace, plan.clients, plan.operations, plan.faults,
            world->requests, world->commits, world->crashes, world->switches, (double)now / 1e9);
    if (!passed) {
        print_failure(o, plan);
        return false;
    }
    if (!o->twice)
        return true;
    run_plan(&plan);
    if (world->trace != trace || world->now_ns != now) {
        printf("seed %" PRIu64 ": two runs differ\n", seed);
        return false;
    }
    return true;
}

/* Addresses must be the same in each run: they decide about hashes of the libraries. */
static void keep_addresses(char **argv)
{
    int now = personality(0xffffffff);

    if (now < 0 || (now & ADDR_NO_RANDOMIZE))
        return;
    if (personality((unsigned)now | ADDR_NO_RANDOMIZE) >= 0)
        execv("/proc/self/exe", argv);
}

/* The first goal that is reached ends it. */
static bool is_enough(const struct options *o, uint64_t seeds, double seconds)
{
    return (o->seeds > 0 && seeds >= o->seeds) ||
           (o->seconds > 0 && seconds >= (double)o->seconds) ||
           (o->requests > 0 && totals.requests >= o->requests) ||
           (o->crashes > 0 && totals.crashes >= o->crashes);
}

/* Of this process and the lives it started; other load on the machine does not count. */
static double cpu_seconds(void)
{
    double seconds = 0;

    for (int who = 0; who < 2; who++) {
        struct rusage usage;

        getrusage(who == 0 ? RUSAGE_SELF : RUSAGE_CHILDREN, &usage);
        seconds += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return seconds;
}

static void print_totals(bool passed, double took)
{
    double cpu = cpu_seconds();

    if (totals.damaged > 0)
        printf("%" PRIu64 " damaged disks: %" PRIu64 " refused, %" PRIu64
               " told by a request, %" PRIu64 " without harm%s\n",
               totals.damaged, totals.damage_refused, totals.damage_told,
               totals.damaged - totals.damage_refused - totals.damage_told,
               passed ? ", none silent" : "");
    if (totals.fleet.of[FLEET_TAKEOVERS] > 0)
        print_fleet();
    printf("%" PRIu64 " crashes while the server started, %" PRIu64
           " times twice in a row; the wall clock was set %" PRIu64 " times\n",
           totals.starts_spoiled, totals.spoiled_twice, totals.wall_steps);
    printf("%" PRIu64 " seeds, %" PRIu64 " requests, %" PRIu64 " commits, %" PRIu64
           " crashes, %" PRIu64 " faults, %" PRIu64
           " answered that it cannot, %.0f requests/s, %.0f in a second of the processor\n",
           totals.seeds, totals.requests, totals.commits, totals.crashes, totals.faults,
           totals.refused, (double)totals.requests / took,
           cpu > 0 ? (double)totals.requests / cpu : 0);
}

int main(int argc, char **argv)
{
    struct options options = { .seed = 1 };
    double began = real_seconds();
    bool passed = true;

    keep_addresses(argv);
    setenv("MALLOC_ARENA_MAX", "1", 1);
    parse(argc, argv, &options);
    setvbuf(stdout, NULL, _IOLBF, 0);
    world_map();
    if (options.seeds + options.seconds + options.requests + options.crashes == 0)
        options.seeds = 1;
    for (uint64_t i = 0; passed && !is_enough(&options, i, real_seconds() - began); i++)
        passed = one_seed(&options, options.seed + i);
    if (options.cells)
        cells_print(totals.reached);
    print_totals(passed, real_seconds() - began);
    return passed ? 0 : 1;
}
