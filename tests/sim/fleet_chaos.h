/* Failures of front ends and machines, drawn from the seed. */
#ifndef LAGRA_SIM_FLEET_CHAOS_H
#define LAGRA_SIM_FLEET_CHAOS_H

#include <stdint.h>

/* Starts the thread that causes them. */
void fleet_chaos_begin(void);
/* Returns the time of the last one, or 0 before that. */
uint64_t fleet_chaos_ended_ns(void);
/* Kills the process of a front end (fleet.c). */
void fleet_kill(unsigned front);

#endif
