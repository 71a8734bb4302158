/* Comparison of metadata in the encoded form stored in records (service/metadata.h), for
 * decisions. */
#ifndef LAGRA_SERVICE_METADATA_RUN_H
#define LAGRA_SERVICE_METADATA_RUN_H

#include "base/bytes.h"

/* Returns true if both have the same names, in any case and order, with the same values. */
bool metadata_equal(struct bytes a, struct bytes b);

#endif
