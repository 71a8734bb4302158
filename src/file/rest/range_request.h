/* Inside file/rest/ only: what all that writes a range is asked. */
#ifndef LAGRA_FILE_REST_RANGE_REQUEST_H
#define LAGRA_FILE_REST_RANGE_REQUEST_H

#include "file/range_operations.h"
#include "service/answer.h"

/* Bytes with sums in between are not built, as for blobs. E_UnsupportedHeader */
enum error file_refuse_structured(struct call *call);
/* The range and the last write time.
 * returns OK, E_MissingRequiredHeader, E_InvalidHeaderValue, E_UnsupportedHeader */
enum error range_read_change(struct call *call, struct put_range_parameters *p);

#endif
