/* Parameters and results of the operations on the service and its containers, implemented in
 * container_operations.c, list_blobs.c, and the files of these names in rest/. */
#ifndef LAGRA_BLOB_CONTAINER_OPERATIONS_H
#define LAGRA_BLOB_CONTAINER_OPERATIONS_H

#include "blob/blob.h"
#include "service/deferred_tasks.h"
#include "service/listing.h"

struct create_container_parameters {
    struct parameters base;
    struct guid space;          /* of its contents; new, so that it starts empty, or shared */
    struct container_root root; /* new */
    enum public_access access;
    bool hierarchical; /* kind of the account */
    struct bytes metadata;
};
OPERATION_NO_RESULT(create_container);
OPERATION_DECLARE(create_container);
/* Decides where a new container of the account has its contents. In a cluster, its tree is not
 * shared. In rest/. */
void create_container_place(const struct call *call, struct create_container_parameters *p);

OPERATION_NO_PARAMETERS(get_container_properties);
struct get_container_properties_result {
    struct result base;
    struct container container;
};
OPERATION_DECLARE(get_container_properties);

OPERATION_NO_PARAMETERS(get_container_acl);
struct get_container_acl_result {
    struct result base;
    enum public_access access;
    struct policies policies;
};
OPERATION_DECLARE(get_container_acl);

struct set_container_acl_parameters {
    struct parameters base;
    enum public_access access;
    struct policies policies; /* set by parse */
};
OPERATION_NO_RESULT(set_container_acl);
OPERATION_DECLARE(set_container_acl);
OPERATION_DECLARE_PARSE(set_container_acl);

/* Writes the container of the state; member of struct container_type
 * (properties/metadata_acl.h). */
void container_write_state(struct decision *d);

OPERATION_NO_PARAMETERS(delete_container);
OPERATION_NO_RESULT(delete_container);
OPERATION_DECLARE(delete_container);

struct restore_container_parameters {
    struct parameters base;
    instant deleted; /* selects among deleted containers of this name */
};
OPERATION_NO_RESULT(restore_container);
OPERATION_DECLARE(restore_container);

/* Stored, see uncommitted.h. Drops a soft-deleted container when it expires. */
enum { TASK_EXPIRE_CONTAINER = 0x140 };
task_fn expire_container;

struct lease_container_parameters {
    struct parameters base;
    struct lease_request request;
};
struct lease_container_result {
    struct result base;
    struct lease_result lease;
    struct guid id; /* of the lease */
};
OPERATION_DECLARE(lease_container);

/* What a list of a hierarchical container shows. */
enum list_only { LIST_ALL, LIST_DELETED, LIST_FILES, LIST_DIRECTORIES };

struct list_blobs_parameters {
    struct parameters base;
    struct listing listing;
    bool snapshots, versions, uncommitted, deleted; /* include these too */
    bool versions_only;                             /* include blobs that have no current version */
    enum list_only only;                            /* LIST_DELETED: `deleted` is set too */
    /* In a hierarchical container: only the entries of the directory that the prefix ends with,
     * "" or "a/b/", directories among them. */
    bool one_level;
    struct bytes delimiter;
    struct bytes start_from; /* only names at or after it */
    struct bytes end_before; /* only names before it */
    struct listing_place from;
    struct blob_sink *sink;
};
struct list_blobs_result {
    struct result base;
    struct listing_place next; /* start of the next page; name.ptr NULL: none */
    bool has_records;          /* there is a blob in the range, shown or not */
};
OPERATION_DECLARE(list_blobs);

/* ---- operations on the service; properties/service_properties.h has those of all services ---- */

OPERATION_NO_PARAMETERS(get_account_information);
OPERATION_NO_RESULT(get_account_information);
OPERATION_DECLARE(get_account_information);

struct list_containers_parameters {
    struct parameters base;
    struct listing listing;
    struct listing_place from;
    struct listing_sink *sink;
};
struct list_containers_result {
    struct result base;
    struct listing_place next; /* start of the next page; name.ptr NULL: none */
};
OPERATION_DECLARE(list_containers);

/* The consumer of the entries of List Blobs, like struct listing_sink. The arguments point into
 * memory of the iterator. */
struct blob_sink {
    bool full;
    void (*begin)(struct blob_sink *sink, instant now);
    void (*add)(struct blob_sink *sink, struct bytes name, const struct blob *blob);
    /* Adds a BlobPrefix, for all blobs whose names start with it. directory: that of a hierarchical
     * container which the prefix names, existing or deleted; or NULL */
    void (*add_group)(struct blob_sink *sink, struct bytes prefix, const struct blob *directory);
};

#endif
