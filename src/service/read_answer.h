/* Requests and responses that read content: Get Blob, Get File.
 * rest: Get-Blob, Get-File, Specifying-the-Range-Header-for-Blob-Service-Operations,
 * Specifying-the-Range-Header-for-File-Service-Operations */
#ifndef LAGRA_SERVICE_READ_ANSWER_H
#define LAGRA_SERVICE_READ_ANSWER_H

#include "service/answer.h"
#include "service/range_list.h"
#include "service/read_range.h"

/* Reads x-ms-range or, if it is missing, Range: "bytes=a-b" or "bytes=a-". Other values count as no
 * range. */
void read_range_positions(const struct call *call, struct read_range *ret_range);
/* Reads the range of a write, which is required. The caller must refuse a range that is not
 * "bytes=a-b".
 * ret_text: as sent, for the error. Returns OK, E_MissingRequiredHeader. */
enum error write_range_read(struct call *call, struct read_range *ret_range,
                            struct bytes *ret_text);
/* Reads the range of a read, and which checksums of it are requested.
 * Returns  OK; E_InvalidHeaderValue, also for a checksum without a range;
 * E_BothCrc64AndMd5RangeHeaderPresent. */
enum error read_range_check(struct call *call, struct read_range *ret_range);
/* Sets the body and, for a range, the status and Content-Range. */
void read_answer(struct answer *a, const struct read_range *range, const struct read_part *part,
                 const struct content *content);

/* Requests and XML of Get Page Ranges and List Ranges. */

/* Reads marker and maxresults. A list with either is paged.
 * Returns  OK, E_InvalidQueryParameterValue, E_OutOfRangeQueryParameterValue. */
enum error range_list_read_page(struct call *call, struct range_list *list);

/* Names of the XML elements. */
struct range_list_names {
    const char *list, *range; /* cleared ranges are always ClearRange */
};
void range_list_answer(struct answer *a, const struct range_list *list,
                       const struct range_list_names *names, const struct content_ranges *ranges);

#endif
