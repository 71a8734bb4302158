/* Storage usage of the Table service: service/usage.h. */
#ifndef LAGRA_TABLE_USAGE_H
#define LAGRA_TABLE_USAGE_H

#include "service/usage.h"

extern const struct usage_functions table_usage;

#endif
