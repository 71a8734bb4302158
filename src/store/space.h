/* Ids of new spaces. */
#ifndef LAGRA_STORE_SPACE_H
#define LAGRA_STORE_SPACE_H

#include "base/ids.h"

/* Its partitions are one, or few; or many, which different requests commit to, so that a remote engine lays them in several
 * places. decision: 809 */
enum space_spread { SPACE_TOGETHER, SPACE_SPREAD };
/* Any thread. */
struct guid space_new(enum space_spread spread);

#endif
