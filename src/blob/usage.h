/* Storage used by the Blob service: service/usage.h. */
#ifndef LAGRA_BLOB_USAGE_H
#define LAGRA_BLOB_USAGE_H

#include "service/usage.h"

extern const struct usage_functions blob_usage;

#endif
