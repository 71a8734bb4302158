/* Operations on the data of files: parameters and results. */
#ifndef LAGRA_FILE_RANGE_OPERATIONS_H
#define LAGRA_FILE_RANGE_OPERATIONS_H

#include "file/file_operations.h"
#include "service/range_list.h"
#include "service/request_body.h"

/* rest: Put-Range "Content-Length" */
#define PUT_RANGE_MAX (UINT64_C(4) << 20)

/* ---- Get File ---- */

struct get_file_parameters {
    struct parameters base;
    struct read_range range;
};
struct get_file_result {
    struct result base;
    struct file_shown shown;
    struct read_part part;
};
OPERATION_DECLARE(get_file);

/* ---- Put Range ---- */

struct copy_source;

/* Conditions on the CRC64 of the source range. */
struct crc64_conditions {
    bool has_match, has_none_match;
    char match[8], none_match[8];
};

struct put_range_parameters {
    struct parameters base;
    uint64_t offset, length; /* length: at least 1; with a body, the body's */
    bool keeps_written;      /* x-ms-file-last-write-time: preserve */
    bool keeps_changed;      /* also leaves the change time unchanged (older versions) */
    struct body_sums sums;
    struct copy_source *source; /* Put Range From URL only: */
    struct crc64_conditions source_crc64;
};
struct put_range_result {
    struct result base;
    instant written; /* last write time */
};
OPERATION_DECLARE(put_range);
OPERATION_DECLARE_GATHERED(put_range_from_url, put_range);

struct clear_range_parameters {
    struct parameters base;
    struct put_range_parameters range;
};
struct clear_range_result {
    struct result base;
    instant written;
};
OPERATION_DECLARE(clear_range);

/* ---- List Ranges ---- */

struct list_ranges_parameters {
    struct parameters base;
    struct range_list list;
    instant previous; /* share snapshot to compare with; 0 means none */
};
struct list_ranges_result {
    struct result base;
    struct content_ranges ranges;
    uint64_t length; /* of the file */
};
OPERATION_DECLARE(list_ranges);

#endif
