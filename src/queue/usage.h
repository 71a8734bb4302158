/* What the Queue service keeps: service/usage.h. */
#ifndef LAGRA_QUEUE_USAGE_H
#define LAGRA_QUEUE_USAGE_H

#include "service/usage.h"

extern const struct usage_functions queue_usage;

#endif
