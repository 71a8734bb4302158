/* Metadata as the encoded run that records keep (service/metadata.h): what decisions ask of it. */
#ifndef LAGRA_SERVICE_METADATA_RUN_H
#define LAGRA_SERVICE_METADATA_RUN_H

#include "base/bytes.h"

/* The same names, in any case and order, with the same values? */
bool metadata_equal(struct bytes a, struct bytes b);

#endif
