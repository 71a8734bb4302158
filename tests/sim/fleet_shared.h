/* Memory shared by the processes of front ends and clients: the world, and the static variables of judges and
 * models (fleet_shared.ld lists their files), because requests are sent by one process and committed by others. */
#ifndef LAGRA_SIM_FLEET_SHARED_H
#define LAGRA_SIM_FLEET_SHARED_H

#include <stdbool.h>

/* Marks a static variable of a listed file that is not shared. */
#define OF_PROCESS __attribute__((section(".data_of_process")))

/* Makes these variables shared between this process and its future children. */
void shared_begin(void);
/* Returns whether an object is in shared memory, so that threads of several processes may wait for it. */
bool shared_has(const void *object);

#endif
