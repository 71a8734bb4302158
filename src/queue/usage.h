/* Storage usage of the Queue service: service/usage.h. */
#ifndef LAGRA_QUEUE_USAGE_H
#define LAGRA_QUEUE_USAGE_H

#include "service/usage.h"

extern const struct usage_functions queue_usage;

#endif
