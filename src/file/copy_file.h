/* Copy File and Abort Copy File: parameters and results. */
#ifndef LAGRA_FILE_COPY_FILE_H
#define LAGRA_FILE_COPY_FILE_H

#include "file/file_operations.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

struct copy_source;

struct copy_file_parameters {
    struct parameters base;
    struct copy_source *source;
    struct guid id;
    struct bytes metadata; /* empty: copy the source's metadata */
    struct smb_given smb;  /* "kept" means copied from the source */
    bool sets_archive;
    enum over_read_only rule;
    /* ---- gathered ---- */
    bool is_file; /* source is a file of this server: */
    struct file file;
    struct guid space;     /* space of the source's share */
    bool is_in_other_cell; /* if so, `descriptor` has the source's permission */
    struct bytes descriptor;
    struct http_properties http;
    struct bytes source_metadata;
    uint64_t length;
    struct bytes shown;        /* source URL without signature */
    struct copied_bytes bytes; /* with ranges: the request body holds their data */
    bool has_ranges;
    bool is_pending; /* data is copied in the background: */
    struct pending_source pending;
};
struct copy_file_result {
    struct result base;
    enum copy_status status;
};
OPERATION_DECLARE(copy_file);
OPERATION_DECLARE_GATHER(copy_file);

struct abort_copy_file_parameters {
    struct parameters base;
    struct guid id;
};
OPERATION_NO_RESULT(abort_copy_file);
OPERATION_DECLARE(abort_copy_file);

#endif
