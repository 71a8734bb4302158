/* What happens to front ends and their machines: drawn, a few events for each run. */
#ifndef LAGRA_SIM_FLEET_CHAOS_H
#define LAGRA_SIM_FLEET_CHAOS_H

#include <stdint.h>

/* Starts the thread that has it happen. */
void fleet_chaos_begin(void);
/* When the last event was over; 0: not yet. */
uint64_t fleet_chaos_ended_ns(void);
/* Ends the process of a front end at once. */
void fleet_kill(unsigned front);

#endif
