/* A run of the simulator: a plan in, an outcome out. */
#ifndef LAGRA_SIM_RUN_H
#define LAGRA_SIM_RUN_H

#include "world.h"

/* The plan that a seed stands for. */
void run_draw(uint64_t seed, struct plan *plan);
/* What a cluster of front ends changes in it. */
void run_draw_fleet(unsigned fronts, unsigned cells, struct plan *plan);
/* True when no judge spoke; else world->failure says what happened. */
bool run_plan(const struct plan *plan);
/* From a plan that fails to a smaller one that does; world is as that one left it. */
void run_shrink(struct plan *smallest);

/* Returns whether no client has a request in progress. */
bool run_is_quiet(void);

#endif
