/* The operations on containers: what each is asked and what comes of it. The functions:
 * container_operations.c, delete_container.c, lease.c, list_blobs.c, and the files of these names in rest/. */
#ifndef LAGRA_BLOB_CONTAINER_OPERATIONS_H
#define LAGRA_BLOB_CONTAINER_OPERATIONS_H

#include "blob/blob.h"
#include "blob/listing.h"
#include "service/deferred_tasks.h"

struct create_container_parameters {
    struct parameters base;
    struct guid space; /* of the new incarnation: fresh, so that it starts empty */
    enum public_access access;
    struct bytes metadata;
};
OPERATION_NO_RESULT(create_container);
OPERATION_DECLARE(create_container);

OPERATION_NO_PARAMETERS(get_container_properties);
struct get_container_properties_result {
    struct result base;
    struct container container;
};
OPERATION_DECLARE(get_container_properties);

OPERATION_NO_PARAMETERS(get_container_metadata);
struct get_container_metadata_result {
    struct result base;
    struct bytes metadata;
};
OPERATION_DECLARE(get_container_metadata);

struct set_container_metadata_parameters {
    struct parameters base;
    struct bytes metadata;
};
OPERATION_NO_RESULT(set_container_metadata);
OPERATION_DECLARE(set_container_metadata);

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
    struct policies policies; /* by parse */
};
OPERATION_NO_RESULT(set_container_acl);
OPERATION_DECLARE(set_container_acl);
OPERATION_DECLARE_PARSE(set_container_acl);

OPERATION_NO_PARAMETERS(delete_container);
OPERATION_NO_RESULT(delete_container);
OPERATION_DECLARE(delete_container);

struct restore_container_parameters {
    struct parameters base;
    instant deleted; /* which of those that had the name */
};
OPERATION_NO_RESULT(restore_container);
OPERATION_DECLARE(restore_container);

/* Stored, as expire_blocks.h says: drops a container that was deleted and kept, when its days are over. */
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

struct list_blobs_parameters {
    struct parameters base;
    struct listing listing;
    bool snapshots, versions, uncommitted, deleted; /* are shown too */
    bool versions_only;                             /* those that have no current version, too */
    struct bytes delimiter;
    struct bytes start_from; /* names at or after it */
    struct bytes end_before; /* names before it */
    struct listing_place from;
    struct blob_sink *sink;
};
struct list_blobs_result {
    struct result base;
    struct listing_place next; /* where the next page begins; name.ptr NULL: none */
};
OPERATION_DECLARE(list_blobs);

#endif
