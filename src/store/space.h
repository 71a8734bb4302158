/* Ids of new spaces. */
#ifndef LAGRA_STORE_SPACE_H
#define LAGRA_STORE_SPACE_H

#include "base/ids.h"

/* A remote engine lays its partitions in one place, until they are many. Any thread. decision: 838 */
struct guid space_new(void);

#endif
