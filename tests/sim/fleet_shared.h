/* Memory that the processes of front ends share with that of the clients: the world, and what the judges and
 * models keep in static variables (fleet_shared.ld lists their files). Requests are asked by the one process
 * and committed by the others. */
#ifndef LAGRA_SIM_FLEET_SHARED_H
#define LAGRA_SIM_FLEET_SHARED_H

#include <stdbool.h>

/* A static variable of a listed file that each process has for itself. */
#define OF_PROCESS __attribute__((section(".data_of_process")))

/* Has the judges' variables shared from now on by the processes that are forked. */
void shared_begin(void);
/* Returns whether an object lies there, so that threads of several processes may wait for it. */
bool shared_has(const void *object);

#endif
