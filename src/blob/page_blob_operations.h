/* Parameters and results of the operations on page blobs only, implemented in page_blob.c and
 * rest/page_blob.c. */
#ifndef LAGRA_BLOB_PAGE_BLOB_OPERATIONS_H
#define LAGRA_BLOB_PAGE_BLOB_OPERATIONS_H

#include "blob/blob_operations.h"
#include "service/range_list.h"

#define PAGE_SIZE     512u
/* 8 TiB. rest: Understanding-Block-Blobs--Append-Blobs--and-Page-Blobs */
#define PAGE_BLOB_MAX (UINT64_C(8) << 40)

struct create_page_blob_parameters {
    struct parameters base;
    struct create_blob create;
    uint64_t length; /* whole pages, at most PAGE_BLOB_MAX */
    uint64_t sequence_number;
};
WRITES_VERSION(create_page_blob);
OPERATION_DECLARE(create_page_blob);

/* ---- Put Page ---- */

/* A range of whole pages. */
struct page_range {
    uint64_t start, length; /* length: 1 page or more */
};
struct sequence_conditions {
    bool has_le, has_lt, has_eq;
    uint64_t le, lt, eq;
};

struct put_page_parameters {
    struct parameters base;
    struct page_range range; /* as long as the body */
    struct sequence_conditions conditions;
    struct body_sums sums;
    struct copy_source *source; /* Put Page From URL */
};
struct put_page_result {
    struct result base;
    uint64_t sequence_number;
};
OPERATION_DECLARE(put_page);
OPERATION_DECLARE_GATHERED(put_page_from_url, put_page);

struct clear_page_parameters {
    struct parameters base;
    struct page_range range;
    struct sequence_conditions conditions;
};
struct clear_page_result {
    struct result base;
    uint64_t sequence_number;
};
OPERATION_DECLARE(clear_page);

/* ---- Get Page Ranges ---- */

struct get_page_ranges_parameters {
    struct parameters base;
    struct range_list list;
    instant previous; /* snapshot to compare with; 0: none */
};
struct get_page_ranges_result {
    struct result base;
    struct content_ranges ranges;
    uint64_t length; /* of the blob */
};
OPERATION_DECLARE(get_page_ranges);

#endif
