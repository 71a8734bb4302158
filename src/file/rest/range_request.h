/* Internal to file/rest/: parameters common to the operations that write a range. */
#ifndef LAGRA_FILE_REST_RANGE_REQUEST_H
#define LAGRA_FILE_REST_RANGE_REQUEST_H

#include "file/range_operations.h"
#include "service/answer.h"

/* Rejects structured bodies (with interleaved checksums), as for blobs. returns OK,
 * E_UnsupportedHeader */
enum error file_refuse_structured(struct call *call);
/* Reads the range and the last write time mode.
 * returns OK, E_MissingRequiredHeader, E_InvalidHeaderValue, E_UnsupportedHeader */
enum error range_read_change(struct call *call, struct put_range_parameters *p);

#endif
