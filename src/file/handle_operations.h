/* List Handles and Force Close Handles: SMB clients' opens (opens/open_state.h) of a file or
 * directory, or of everything below a directory. handle_operations.c, rest/handles.c
 *
 * Handles of files in share snapshots are not recorded, so they do not appear. */
#ifndef LAGRA_FILE_HANDLE_OPERATIONS_H
#define LAGRA_FILE_HANDLE_OPERATIONS_H

#include "file/file.h"
#include "opens/handle_index.h"
#include "service/listing.h"

/* Receives the handles of List Handles, like the sinks of service/listing.h. */
struct handle_sink {
    bool full;
    void (*begin)(struct handle_sink *sink);
    /* The arguments are valid during the call only. */
    void (*add)(struct handle_sink *sink, const struct handle *handle,
                const struct handle_path *place);
};
/* rest: List-Handles */
struct list_handles_parameters {
    struct parameters base;
    bool recursive;
    struct listing listing;
    struct handle_marker from;
    struct handle_sink *sink;
};
struct list_handles_result {
    struct result base;
    struct handle_marker next;
};
OPERATION_DECLARE(list_handles);

/* rest: Force-Close-Handles */
struct force_close_handles_parameters {
    struct parameters base;
    bool recursive;
    uint64_t id; /* 0 means all */
    struct handle_marker from;
};
struct force_close_handles_result {
    struct result base;
    uint64_t closed;
    struct handle_marker next;
};
OPERATION_DECLARE(force_close_handles);

#endif
