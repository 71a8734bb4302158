/* Storage usage of the File service: service/usage.h. */
#ifndef LAGRA_FILE_USAGE_H
#define LAGRA_FILE_USAGE_H

#include "service/usage.h"

extern const struct usage_functions file_usage;

#endif
