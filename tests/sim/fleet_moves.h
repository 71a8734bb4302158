/* Commands that move names between the cells of a cluster (fleet.h), and drain cells, while clients use them. */
#ifndef LAGRA_SIM_FLEET_MOVES_H
#define LAGRA_SIM_FLEET_MOVES_H

#include <stdbool.h>

/* Starts the threads that give the commands. They end with the events of fleet_chaos.h. */
void fleet_moves_begin(void);
/* Returns whether they and all moves have ended. */
bool fleet_moves_have_ended(void);

#endif
