/* One budget of the process for memory that clients make it hold for as long as they like: request
 * bodies that are collected in memory, and large answers that are not read. What would go over it
 * is refused before it is held (503), so that a crowd of slow clients cannot take the memory of the
 * machine.
 * Any thread. */
#ifndef LAGRA_BASE_MEMORY_BUDGET_H
#define LAGRA_BASE_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define MEMORY_BUDGET_BYTES ((size_t)128 << 20)

/* Returns false, and charges nothing, if the budget does not allow it. */
bool memory_budget_charge(size_t bytes);
void memory_budget_release(size_t bytes);
/* Returns true if memory_budget_charge() would succeed now: for what an arena charges once it is allocated. */
bool memory_budget_covers(size_t bytes);
/* Whether more than half of it is held: then connections that hold memory and stall are cut
 * sooner. */
bool memory_budget_is_short(void);

#endif
