/* Reads and compares metadata in the encoded form stored in records (service/metadata.h), for
 * decisions. */
#ifndef LAGRA_SERVICE_METADATA_RUN_H
#define LAGRA_SERVICE_METADATA_RUN_H

#include "base/bytes.h"

/* Returns true if both have the same names, in any case and order, with the same values. */
bool metadata_equal(struct bytes a, struct bytes b);
/* Takes the next pair of a run. Returns false at its end. */
bool metadata_next(struct bytes *rest, struct bytes *ret_name, struct bytes *ret_value);

#endif
