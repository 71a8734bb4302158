/* The operation table of the Blob service: one row an operation, under its name in the REST
 * reference.
 *
 *   methods     bits; GH: GET and HEAD
 *   selector    the comp and restype that the request has, no more and no fewer
 *   variant     a header, or header=value, that picks the row among those of one selector; the
 *               first row that fits is taken
 *   sas         permission letters, any of which allows it
 *   conditions  which conditional headers are accepted: HTTP4 the four of HTTP, S
 *               If-Modified-Since, U If-Unmodified-Since, T x-ms-if-tags; then the class that says
 *               how they are answered
 *   lease       IGNORED; OPTIONAL: checked if an id is sent; WHEN_LEASED: an id is needed while
 *               leased; ACTION: the operation is the lease's own
 *   etag        NONE; RETURNED; CHANGED: returned, and newer than before
 *   body        REFUSED; MEMORY, STAGED with the most bytes it may have
 *   the last three: check, subject, decide; decide NULL: known, not built yet, 501
 *
 * rest: Blob-service-REST-API, Specifying-Conditional-Headers-for-Blob-Service-Operations,
 * Lease-Blob, Lease-Container; semantics 2.1 */
#include "blob/blob.h"

#define MIB            (UINT64_C(1) << 20)

/* XML bodies: a list of 50,000 blocks with the longest ids takes 6 MiB; policies and service
 * properties far less. */
#define BLOCK_LIST_MAX (8 * MIB)
#define XML_BODY_MAX   (UINT64_C(256) << 10)
/* semantics 10.1 */
#define PUT_BLOB_MAX   (5000 * MIB)
#define PUT_BLOCK_MAX  (4000 * MIB)
#define APPEND_MAX     (100 * MIB)
#define PUT_PAGE_MAX   (4 * MIB)

#define GET            METHOD_GET
#define PUT            METHOD_PUT
#define POST           METHOD_POST
#define DELETE         METHOD_DELETE
#define GH             (METHOD_GET | METHOD_HEAD)

#define NO_IF          0
#define S              IF_MODIFIED_SINCE
#define SU             (IF_MODIFIED_SINCE | IF_UNMODIFIED_SINCE)
#define HTTP4          IF_HTTP4
#define T              IF_TAGS
#define HTTP4T         (IF_HTTP4 | IF_TAGS)

#define ROW(name_, methods_, level_, selector_, variant_, sas_, since_, if_, class_, lease_,       \
            etag_, body_, max_, ok_, also_, check_, subject_, decide_)                             \
    {                                                                                              \
        .name = name_, .methods = methods_, .level = LEVEL_##level_, .selector = selector_,        \
        .variant = variant_, .sas = sas_, .since = since_, .conditions = if_,                      \
        .condition_class = CONDITIONS_OF_##class_, .lease = LEASE_RULE_##lease_,                   \
        .etag = ETAG_##etag_, .body = BODY_##body_, .body_max = max_, .ok = { ok_, also_ },        \
        .check = check_, .subject = subject_, .decide = decide_                                    \
    }

/* clang-format off */
static const struct operation operations[] = {
    /* ---- service ---- */
    ROW("Get Account Information", GH, ANY, "comp=properties&restype=account", NULL, "rl", "2018-03-28",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, NULL, get_account_information),
    ROW("List Containers", GET, SERVICE, "comp=list", NULL, "l", "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        check_list_containers, NULL, list_containers),
    ROW("Set Blob Service Properties", PUT, SERVICE, "comp=properties&restype=service", NULL, "w", "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 202, 0,
        check_set_blob_service_properties, NULL, set_blob_service_properties),
    ROW("Get Blob Service Properties", GET, SERVICE, "comp=properties&restype=service", NULL, "r", "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, NULL, get_blob_service_properties),
    ROW("Get Blob Service Stats", GET, SERVICE, "comp=stats&restype=service", NULL, "r", "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Get User Delegation Key", POST, SERVICE, "comp=userdelegationkey&restype=service", NULL, "", "2018-11-09",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 200, 0, NULL, NULL, NULL),
    ROW("Find Blobs by Tags", GET, SERVICE, "comp=blobs", NULL, "f", "2019-12-12",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Blob Batch", POST, SERVICE, "comp=batch", NULL, "", "2018-11-09",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, 4 * MIB, 202, 0, NULL, NULL, NULL),
    ROW("Preflight Blob Request", METHOD_OPTIONS, ANY, "", NULL, "", "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),

    /* ---- containers ---- */
    ROW("Create Container", PUT, CONTAINER, "restype=container", NULL, "cw", "2009-09-19",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 201, 0,
        check_create_container, NULL, create_container),
    ROW("Get Container Properties", GH, CONTAINER, "restype=container", NULL, "r", "2009-09-19",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        NULL, container_subject, get_container_properties),
    ROW("Get Container Metadata", GH, CONTAINER, "comp=metadata&restype=container", NULL, "r", "2009-09-19",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        NULL, container_subject, get_container_metadata),
    ROW("Set Container Metadata", PUT, CONTAINER, "comp=metadata&restype=container", NULL, "w", "2009-09-19",
        S, WRITE, OPTIONAL, CHANGED, REFUSED, 0, 200, 0,
        check_set_container_metadata, container_subject, set_container_metadata),
    ROW("Get Container ACL", GH, CONTAINER, "comp=acl&restype=container", NULL, "", "2009-09-19",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        NULL, container_subject, get_container_acl),
    ROW("Set Container ACL", PUT, CONTAINER, "comp=acl&restype=container", NULL, "", "2009-09-19",
        SU, WRITE, OPTIONAL, CHANGED, MEMORY, XML_BODY_MAX, 200, 0,
        check_set_container_acl, container_subject, set_container_acl),
    ROW("Delete Container", DELETE, CONTAINER, "restype=container", NULL, "d", "2009-09-19",
        SU, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0,
        NULL, container_subject, delete_container),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=acquire", "w", "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 201, 0,
        check_lease, container_subject, lease_container),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=renew", "w", "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        check_lease, container_subject, lease_container),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=change", "w", "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        check_lease, container_subject, lease_container),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=release", "w", "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        check_lease, container_subject, lease_container),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=break", "wd", "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 202, 0,
        check_lease, container_subject, lease_container),
    ROW("List Blobs", GET, CONTAINER, "comp=list&restype=container", NULL, "l", "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        check_list_blobs, container_subject, list_blobs),
    ROW("Restore Container", PUT, CONTAINER, "comp=undelete&restype=container", NULL, "w", "2018-11-09",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Rename Container", PUT, CONTAINER, "comp=rename&restype=container", NULL, "w", "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Find Blobs by Tags in Container", GET, CONTAINER, "comp=blobs&restype=container", NULL, "f", "2021-04-10",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Blob Batch", POST, CONTAINER, "comp=batch&restype=container", NULL, "", "2020-04-08",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, 4 * MIB, 202, 0, NULL, NULL, NULL),

    /* ---- blobs of every type ---- */
    ROW("Get Blob", GET, BLOB, "", NULL, "r", "2009-09-19",
        HTTP4T, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 206,
        check_get_blob, blob_subject, get_blob),
    ROW("Get Blob Properties", METHOD_HEAD, BLOB, "", NULL, "r", "2009-09-19",
        HTTP4T, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        check_get_blob_properties, blob_subject, get_blob_properties),
    ROW("Set Blob Properties", PUT, BLOB, "comp=properties", NULL, "w", "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        check_set_blob_properties, blob_subject, set_blob_properties),
    ROW("Get Blob Metadata", GH, BLOB, "comp=metadata", NULL, "r", "2009-09-19",
        HTTP4T, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        check_get_blob_metadata, blob_subject, get_blob_metadata),
    ROW("Set Blob Metadata", PUT, BLOB, "comp=metadata", NULL, "w", "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        check_set_blob_metadata, blob_subject, set_blob_metadata),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=acquire", "w", "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 201, 0,
        check_lease, blob_subject, lease_blob),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=renew", "w", "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        check_lease, blob_subject, lease_blob),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=change", "w", "2012-02-12",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        check_lease, blob_subject, lease_blob),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=release", "w", "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        check_lease, blob_subject, lease_blob),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=break", "wd", "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 202, 0,
        check_lease, blob_subject, lease_blob),
    ROW("Snapshot Blob", PUT, BLOB, "comp=snapshot", NULL, "cw", "2009-09-19",
        HTTP4T, WRITE, OPTIONAL, RETURNED, REFUSED, 0, 201, 0,
        check_snapshot_blob, blob_subject, snapshot_blob),
    ROW("Delete Blob", DELETE, BLOB, "", NULL, "d", "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0,
        check_delete_blob, blob_subject_uncommitted, delete_blob),
    ROW("Undelete Blob", PUT, BLOB, "comp=undelete", NULL, "w", "2017-07-29",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Abort Copy Blob", PUT, BLOB, "comp=copy", "x-ms-copy-action=abort", "w", "2012-02-12",
        NO_IF, WRITE, OPTIONAL, NONE, REFUSED, 0, 204, 0, NULL, NULL, NULL),
    ROW("Get Blob Tags", GET, BLOB, "comp=tags", NULL, "t", "2019-12-12",
        T, OTHER_READ, OPTIONAL, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Set Blob Tags", PUT, BLOB, "comp=tags", NULL, "t", "2019-12-12",
        T, WRITE, WHEN_LEASED, NONE, MEMORY, XML_BODY_MAX, 204, 0, NULL, NULL, NULL),
    ROW("Set Blob Tier", PUT, BLOB, "comp=tier", NULL, "w", "2017-04-17",
        T, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 200, 202, NULL, NULL, NULL),
    ROW("Set Blob Expiry", PUT, BLOB, "comp=expiry", NULL, "w", "2020-02-10",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Set Blob Immutability Policy", PUT, BLOB, "comp=immutabilityPolicies", NULL, "i", "2020-06-12",
        IF_UNMODIFIED_SINCE, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Delete Blob Immutability Policy", DELETE, BLOB, "comp=immutabilityPolicies", NULL, "i", "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Set Blob Legal Hold", PUT, BLOB, "comp=legalhold", NULL, "i", "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL, NULL),
    ROW("Query Blob Contents", POST, BLOB, "comp=query", NULL, "r", "2019-12-12",
        HTTP4T, READ, OPTIONAL, RETURNED, MEMORY, XML_BODY_MAX, 200, 206, NULL, NULL, NULL),

    /* ---- PUT of a whole blob: copies, then the types; the last row's header is the one that every
     * request needs ---- */
    ROW("Copy Blob From URL", PUT, BLOB, "", "x-ms-requires-sync=true", "cw", "2018-03-28",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 202, 0, NULL, NULL, NULL),
    ROW("Copy Blob", PUT, BLOB, "", "x-ms-copy-source", "cw", "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 202, 0, NULL, NULL, NULL),
    ROW("Incremental Copy Blob", PUT, BLOB, "comp=incrementalcopy", NULL, "cw", "2016-05-31",
        HTTP4T, CREATE, IGNORED, CHANGED, REFUSED, 0, 202, 0, NULL, NULL, NULL),
    ROW("Put Blob", PUT, BLOB, "", "x-ms-blob-type=AppendBlob", "cw", "2015-02-21",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Put Blob", PUT, BLOB, "", "x-ms-blob-type=PageBlob", "cw", "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Put Blob", PUT, BLOB, "", "x-ms-blob-type=BlockBlob", "cw", "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, STAGED, PUT_BLOB_MAX, 201, 0,
        check_put_blob, blob_subject_optional, put_blob),

    /* ---- block blobs ---- */
    ROW("Put Block From URL", PUT, BLOB, "comp=block", "x-ms-copy-source", "w", "2018-03-28",
        NO_IF, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Put Block", PUT, BLOB, "comp=block", NULL, "w", "2009-09-19",
        NO_IF, WRITE, WHEN_LEASED, NONE, STAGED, PUT_BLOCK_MAX, 201, 0,
        check_put_block, blob_subject_optional, put_block),
    ROW("Put Block List", PUT, BLOB, "comp=blocklist", NULL, "w", "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, MEMORY, BLOCK_LIST_MAX, 201, 0,
        check_put_block_list, blob_subject_optional, put_block_list),
    ROW("Get Block List", GET, BLOB, "comp=blocklist", NULL, "r", "2009-09-19",
        T, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        check_get_block_list, blob_subject_uncommitted, get_block_list),

    /* ---- append blobs ---- */
    ROW("Append Block From URL", PUT, BLOB, "comp=appendblock", "x-ms-copy-source", "aw", "2018-11-09",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Append Block", PUT, BLOB, "comp=appendblock", NULL, "aw", "2015-02-21",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, STAGED, APPEND_MAX, 201, 0, NULL, NULL, NULL),
    ROW("Append Blob Seal", PUT, BLOB, "comp=seal", NULL, "aw", "2019-12-12",
        HTTP4, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0, NULL, NULL, NULL),

    /* ---- page blobs ---- */
    ROW("Put Page From URL", PUT, BLOB, "comp=page", "x-ms-copy-source", "w", "2018-11-09",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Put Page", PUT, BLOB, "comp=page", "x-ms-page-write=clear", "w", "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, NULL, NULL, NULL),
    ROW("Put Page", PUT, BLOB, "comp=page", "x-ms-page-write=update", "w", "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, STAGED, PUT_PAGE_MAX, 201, 0, NULL, NULL, NULL),
    ROW("Get Page Ranges", GET, BLOB, "comp=pagelist", NULL, "r", "2009-09-19",
        HTTP4T, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, NULL, NULL, NULL),
};
/* clang-format on */

const struct service blob_service = {
    .name = "blob",
    .operations = operations,
    .operation_count = sizeof operations / sizeof operations[0],
    .locate = blob_locate,
    .check_names = blob_check_names,
};
