/* See commits.h. */
#include "commits.h"

#include <string.h>

#include "engine.h"
#include "fleet_shared.h"
#include "moves.h"
#include "services.h"
#include "states.h"
#include "world.h"

static unsigned cell OF_PROCESS = 1;

unsigned commits_cell(void)
{
    return cell;
}

void commits_set_cell(unsigned number)
{
    cell = number;
}

bool commits_are_divided(void)
{
    return world->plan.cluster_cells > 1;
}

static struct commit_order *order_of(unsigned number)
{
    return &world->orders[number];
}

/* Twice as many each time. */
static void make_room(uint64_t count)
{
    uint64_t more = world->places_max > 0 ? world->places_max : 1024;
    struct commit_place *places;

    if (count < world->places_max)
        return;
    while (more <= count)
        more *= 2;
    places = world_alloc(more * sizeof *places);
    if (world->places_max > 0) {
        memcpy(places, world->places, world->places_max * sizeof *places);
        world_free(world->places, world->places_max * sizeof *places);
    }
    world->places = places;
    world->places_max = more;
}

struct commit_order *commits_here(void)
{
    return order_of(cell);
}

void commits_note(uint64_t from)
{
    if ((!commits_are_divided() && !sim_is_of_blobs()) || from == world->commits)
        return;
    make_room(world->commits);
    for (uint64_t commit = from + 1; commit <= world->commits; commit++)
        world->places[commit] = (struct commit_place){ cell, engine_sequence() };
    order_of(cell)->newest = world->commits;
}

unsigned commits_cell_of(uint64_t commit)
{
    if (!commits_are_divided())
        return 1;
    return commit < world->places_max ? world->places[commit].cell : 0;
}

void commits_acknowledge(uint64_t commit)
{
    struct commit_order *order = order_of(commits_cell_of(commit));

    if (commit > order->acknowledged)
        order->acknowledged = commit;
}

void commits_acknowledge_all(void)
{
    for (unsigned i = 1; i <= CLUSTER_CELLS; i++)
        order_of(i)->acknowledged = commits_are_divided() ? order_of(i)->newest : world->commits;
}

bool commits_is_acknowledged(uint64_t commit)
{
    return commit <= order_of(commits_cell_of(commit))->acknowledged;
}

uint64_t commits_acknowledged(void)
{
    return order_of(cell)->acknowledged;
}

uint64_t commits_newest(void)
{
    return commits_are_divided() ? order_of(cell)->newest : world->commits;
}

uint64_t commits_previous(uint64_t commit)
{
    do
        commit -= commit > 0;
    while (commit > 0 && commits_cell_of(commit) != cell);
    return commit;
}

uint64_t commits_survivor(void)
{
    uint64_t commit = commits_newest();

    while (commit > 0 && world->places[commit].sequence > engine_opened_at())
        commit = commits_previous(commit);
    return commit;
}

uint64_t commits_oldest_survivor(void)
{
    uint64_t oldest = world->commits;

    if (!commits_are_divided())
        return states_oldest(commits_acknowledged());
    for (unsigned i = 1; i <= world->plan.cluster_cells; i++) {
        const struct commit_order *order = order_of(i);

        if (order->acknowledged < order->newest && order->acknowledged < oldest)
            oldest = order->acknowledged;
    }
    return oldest;
}

bool commits_is_lost(uint64_t commit, uint64_t survivor)
{
    return commit > survivor && commits_cell_of(commit) == cell;
}

void commits_roll_back(uint64_t survivor)
{
    moves_roll_back(survivor);
    order_of(cell)->newest = order_of(cell)->acknowledged = survivor;
    if (!commits_are_divided())
        world->commits = survivor;
}
