/* Parts of a batch that the root has the owner of another cell execute (request/cell_parts.h): whose they are. */
#ifndef LAGRA_SIM_FLEET_PARTS_H
#define LAGRA_SIM_FLEET_PARTS_H

/* Returns the number of the part that the calling thread executes for the root, or -1. */
int fleet_part(void);

#endif
