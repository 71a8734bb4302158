/* Copying files: parameters and results of the operations. copy_file.c decides. */
#ifndef LAGRA_FILE_COPY_FILE_H
#define LAGRA_FILE_COPY_FILE_H

#include "file/file_operations.h"
#include "file/new_file.h"
#include "source/copied_bytes.h"
#include "source/pending_source.h"

struct copy_source;

struct copy_file_parameters {
    struct parameters base;
    struct copy_source *source;
    struct guid id;
    struct bytes metadata; /* empty: the source's */
    struct smb_given smb;  /* "kept" here means: as the source has it */
    bool sets_archive;
    enum over_read_only rule;
    /* ---- gathered ---- */
    bool is_file; /* the source is a file of this server: */
    struct file file;
    struct guid space; /* of the share that it is in */
    struct http_properties http;
    struct bytes source_metadata;
    uint64_t length;
    struct bytes shown;        /* its URL without a signature */
    struct copied_bytes bytes; /* with ranges: the body has what lies in them */
    bool has_ranges;
    bool is_pending; /* it has no bytes yet, and goes on behind the answer: */
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
