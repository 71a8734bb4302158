/* See read_range.h. */
#include "service/read_range.h"

/* Maximum length of a range with a checksum. rest: Get-Blob "x-ms-range-get-content-md5", Get-File
 * "x-ms-range-get-content-md5" */
#define SUMMED_RANGE_MAX (4u << 20)

/* Truncates the range to the content's length. */
static enum error truncate_range(struct decision *d, const struct read_range *range,
                                 uint64_t length, struct read_part *ret_part)
{
    uint64_t last = range->last;

    if (range->first >= length) {
        d->problem->length = length;
        return E_InvalidRange;
    }
    if (last > length - 1)
        last = length - 1;
    *ret_part = (struct read_part){
        .is_part = true,
        .offset = range->first,
        .length = last - range->first + 1,
    };
    return OK;
}

enum error read_range_find(struct decision *d, const struct read_range *range, uint64_t length,
                           struct read_part *ret_part)
{
    *ret_part = (struct read_part){ .length = length };
    if (range->is_given) {
        enum error e = truncate_range(d, range, length, ret_part);

        if (e)
            return e;
    }
    if ((range->md5 || range->crc64) && ret_part->length > SUMMED_RANGE_MAX) {
        problem_set_header(d->problem, range->sum_source.name, range->sum_source.value);
        return E_InvalidHeaderValue;
    }
    return OK;
}
