/* Reading bytes as a request and as an answer: Get Blob, Get File.
 * rest: Get-Blob, Get-File, Specifying-the-Range-Header-for-Blob-Service-Operations,
 * Specifying-the-Range-Header-for-File-Service-Operations */
#ifndef LAGRA_SERVICE_READ_ANSWER_H
#define LAGRA_SERVICE_READ_ANSWER_H

#include "service/answer.h"
#include "service/read_range.h"

/* x-ms-range or, without it, Range: "bytes=a-b" or "bytes=a-"; anything else counts as no range. */
void read_range_positions(const struct call *call, struct read_range *ret_range);
/* Reads the range of a write, which must be sent. A range that is not "bytes=a-b" is for the caller to refuse.
 * ret_text: as sent, for the error. Returns OK, E_MissingRequiredHeader. */
enum error write_range_read(struct call *call, struct read_range *ret_range,
                            struct bytes *ret_text);
/* The same, and which sums of the range are wanted.
 * returns  OK, E_InvalidHeaderValue: also a sum without a range,
 *          E_BothCrc64AndMd5RangeHeaderPresent */
enum error read_range_check(struct call *call, struct read_range *ret_range);
/* The bytes, and of a part of them status and Content-Range. */
void read_answer(struct answer *a, const struct read_range *asked, const struct read_part *part,
                 const struct content *content);

#endif
