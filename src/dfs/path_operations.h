/* Parameters and results of the operations on paths, implemented in path_operations.c,
 * append_data.c, list_paths.c, and the files of rest/. */
#ifndef LAGRA_DFS_PATH_OPERATIONS_H
#define LAGRA_DFS_PATH_OPERATIONS_H

#include "blob/access_control_operations.h"
#include "blob/blob_operations.h"
#include "blob/container_operations.h"
#include "blob/expiry.h"
#include "blob/path_operations.h"

/* Returns true if the blob is a directory: that of a tree or, in a flat container, an empty block
 * blob with the metadata hdi_isfolder=true. decision: 1201 */
bool path_is_directory(const struct blob *blob);

/* Loads the path, which may be missing, as the subject. */
enum error create_path_subject(struct decision *d);
struct create_path_parameters {
    struct parameters base;
    struct create_blob create;
    bool is_directory;
    bool has_permissions; /* only a hierarchical account has them: */
    struct posix_creation creation;
    const struct lease_request *lease;   /* acquired on the new file, or NULL */
    const struct expiry_request *expiry; /* of the new file, or NULL */
    struct bytes encryption_context;     /* of the new file; or ptr NULL */
};
OPERATION_NO_RESULT(create_path);
OPERATION_DECLARE(create_path);

struct rename_path_parameters {
    struct parameters base;
    struct path_rename rename;
    /* of the SAS in x-ms-rename-source; NULL if the request has no SAS, so its caller counts */
    const struct identity *source_identity;
    bool moves_into; /* a destination that is a directory receives the source */
};
OPERATION_NO_RESULT(rename_path);
OPERATION_DECLARE(rename_path);
/* Loads the destination, which may be missing, or its name in an existing directory, as the
 * subject. */
enum error rename_path_subject(struct decision *d);

/* Lease action of an append or flush. rest: Path-Update "x-ms-lease-action" */
enum path_lease {
    PATH_LEASE_NONE,
    PATH_LEASE_ACQUIRE,
    PATH_LEASE_RENEW,
    PATH_LEASE_RELEASE,
    PATH_LEASE_ACQUIRE_RELEASE,
};

struct append_data_parameters {
    struct parameters base;
    uint64_t position;
    bool flushes;
    enum path_lease lease;
    struct lease_request acquire; /* of the lease */
    struct body_sums sums;
};
struct append_data_result {
    struct result base;
    bool is_renewed; /* the lease */
};
OPERATION_DECLARE(append_data);
OPERATION_DECLARE_PARSE(append_data);

struct flush_data_parameters {
    struct parameters base;
    uint64_t position;
    bool keeps_rest; /* retainUncommittedData */
    enum path_lease lease;
    struct lease_request acquire;
    struct http_properties http; /* each property in the request replaces the file's */
};
struct flush_data_result {
    struct result base;
    bool is_renewed;
};
OPERATION_DECLARE(flush_data);

struct set_path_properties_parameters {
    struct parameters base;
    struct http_properties http;
    bool has_metadata;
    struct bytes metadata;
};
OPERATION_NO_RESULT(set_path_properties);
OPERATION_DECLARE(set_path_properties);

/* Replaces the properties that the request sets. */
void path_take_properties(struct http_properties *to, const struct http_properties *sent);

/* Loads the path as the subject. In a flat container it may be missing: an operation on access
 * control is refused there anyway, and a delete can apply to a directory that exists only as part
 * of names. */
enum error path_subject(struct decision *d);

/* Where a recursive delete continues, and of which directory. */
struct delete_place {
    struct guid space; /* of the container */
    uint64_t id;       /* of the directory; 0 in a flat container */
    instant begun;     /* time of the first request */
    struct bytes from; /* name of a path in the directory */
};
#define PATH_NAME_MAX 4096u
/* Progress of the attempts of a request in a flat container. Each attempt starts at `from` again,
 * so it does not matter whether the last commit succeeded. Allocated by check(), because the memory
 * of an attempt does not outlive it. */
struct delete_progress {
    uint32_t deleted, searches; /* so far, by the request */
    bool is_kept;               /* soft-deleted */
    size_t from_len;            /* 0 before the first commit */
    char from[PATH_NAME_MAX];
};
struct delete_path_parameters {
    struct parameters base;
    bool is_recursive, is_paginated;
    struct delete_place from; /* a continuation; from.ptr is NULL without one */
    struct delete_progress *progress;
};
struct delete_path_result {
    struct result base;
    bool is_kept;             /* soft-deleted */
    instant deleted;          /* of a retained path of a hierarchical container; or 0 */
    struct delete_place next; /* from.ptr is NULL at the end */
};
OPERATION_DECLARE(delete_path);

/* Where a page of paths starts. */
struct paths_place {
    struct listing_place at;
    /* lengths, in ascending order, of those prefixes of at.name that are directories which earlier
     * pages have listed; the names below them are on later pages */
    uint32_t *open;
    size_t open_count;
};

struct list_paths_parameters {
    struct parameters base;
    struct list_blobs_parameters list; /* prefix: the directory with a '/' */
    struct paths_place from;
};
struct list_paths_result {
    struct result base;
    struct paths_place next; /* at.name.ptr is NULL at the end */
};
OPERATION_DECLARE(list_paths);

#endif
