/* The operation table of the Blob service: one row per operation, with its name in the REST
 * reference.
 *
 * Columns: service/row.h. Some of them:
 *   conditions  accepted conditional headers: HTTP4 the four of HTTP, S If-Modified-Since,
 *               U If-Unmodified-Since, T x-ms-if-tags; then the class that selects the response
 *   lease       IGNORED; OPTIONAL: checked if an id is sent; WHEN_LEASED: an id is required while
 *               leased; ACTION: the operation acts on the lease itself
 *   etag        NONE; RETURNED; CHANGED: returned, and newer than before
 *   body        REFUSED; IGNORED; MEMORY, STAGED with the maximum size
 *   the last two: subject function; the operation's functions, NULL: not implemented, 501;
 *               LISTED: allowed in a Blob Batch
 *
 * rest: Blob-service-REST-API, Specifying-Conditional-Headers-for-Blob-Service-Operations,
 * Lease-Blob, Lease-Container; semantics 2.1 */
#include "blob/blob_operations.h"
#include "blob/container_immutability.h"
#include "blob/container_operations.h"
#include "blob/copy_blob.h"
#include "blob/uncommitted.h"
#include "blob/incremental_copy.h"
#include "blob/kept_paths.h"
#include "blob/page_blob_operations.h"
#include "blob/path_operations.h"
#include "blob/retention.h"
#include "blob/snapshot_changes.h"
#include "blob/tier.h"
#include "blob/rest/blob_batch.h"
#include "blob/rest/source_blob.h"
#include "blob/rest/request.h"
#include "blob/tag_operations.h"
#include "properties/metadata_acl.h"
#include "properties/preflight.h"
#include "service/small_record.h"
#include "service/row.h"
#include "properties/service_properties.h"
#include "service/user_delegation_key.h"

#define EVERY_METHOD             (GH | PUT | POST | DELETE | METHOD_OPTIONS | METHOD_PATCH | METHOD_MERGE)
#define MIB                      (UINT64_C(1) << 20)

/* A list of 50,000 blocks with the longest ids takes 6 MiB. */
#define BLOCK_LIST_MAX           (8 * MIB)
/* semantics 10.1 */
#define PUT_BLOB_MAX             (5000 * MIB)
#define PUT_BLOCK_MAX            (4000 * MIB)
#define APPEND_MAX               (100 * MIB)
#define PUT_PAGE_MAX             (4 * MIB)
#define BLOB_BATCH_MAX           (4 * MIB)

#define S                        IF_MODIFIED_SINCE
#define SU                       (IF_MODIFIED_SINCE | IF_UNMODIFIED_SINCE)
#define HTTP4                    IF_HTTP4
#define T                        IF_TAGS
#define HTTP4T                   (IF_HTTP4 | IF_TAGS)

/* Effects of the operation on its blob: NEEDS_ bits of blob/blob.h. An operation that creates a
 * blob also writes its content. */
#define NEEDS(functions_, need_) functions_, .passes = NEEDS_##need_

/* The four functions of an operation, as one value for a row. */
OPERATION(get_account_information);
OPERATION_MERGED(list_containers, "");
OPERATION_BATCH(blob_batch);
OPERATION_WITH_PARSE(set_service_properties);
OPERATION(get_service_properties);
OPERATION_WITH_PARSE(get_user_delegation_key);
OPERATION(get_service_stats);
OPERATION(preflight);
OPERATION(website);
OPERATION(create_container);
OPERATION(get_container_properties);
OPERATION(get_metadata);
OPERATION(set_metadata);
OPERATION(get_container_acl);
OPERATION_WITH_PARSE(set_container_acl);
OPERATION(delete_container);
OPERATION(restore_container);
OPERATION(lease_container);
OPERATION(list_blobs);
OPERATION(get_blob);
OPERATION(get_blob_properties);
OPERATION(set_blob_properties);
OPERATION(get_blob_metadata);
OPERATION(set_blob_metadata);
OPERATION(lease_blob);
OPERATION(snapshot_blob);
OPERATION(delete_blob);
OPERATION(delete_blob_permanently);
OPERATION(undelete_blob);
OPERATION_WITH_PARSE(put_blob);
OPERATION_WITH_PARSE(put_block);
OPERATION_WITH_PARSE(put_block_list);
OPERATION(get_block_list);
OPERATION(create_append_blob);
OPERATION_WITH_PARSE(append_block);
OPERATION_GATHERED(append_block_from_url, append_block);
OPERATION(seal_append_blob);
OPERATION(create_page_blob);
OPERATION(put_page);
OPERATION_GATHERED(put_page_from_url, put_page);
OPERATION(clear_page);
OPERATION(get_page_ranges);
OPERATION_WITH_GATHER(copy_blob);
OPERATION_GATHERED(copy_blob_from_url, copy_blob);
OPERATION_WITH_GATHER(incremental_copy_blob);
OPERATION(abort_copy_blob);
OPERATION_GATHERED(put_blob_from_url, put_blob);
OPERATION_GATHERED(put_block_from_url, put_block);
OPERATION(get_blob_tags);
OPERATION_WITH_PARSE(set_blob_tags);
OPERATION_MERGED(find_blobs, "");
OPERATION(find_blobs_in_container);
OPERATION(set_blob_tier);
OPERATION(set_blob_expiry);
OPERATION(protect_container);
OPERATION(get_container_protection);
OPERATION(set_blob_immutability_policy);
OPERATION(delete_blob_immutability_policy);
OPERATION(set_blob_legal_hold);

/* clang-format off */
static const struct operation operations[] = {
    /* ---- the static website, on its own host: for everyone, with any method ---- */
    ROW("Get Static Website Content", EVERY_METHOD, WEBSITE, SELECTOR_ANY, NULL, READS, MAY(ANY, "*", "*", "", ANY, CONTAINER), "2018-03-28",
        HTTP4, READ, IGNORED, RETURNED, IGNORED, 0, 200, 206,
        NULL, LOGGED_AS("GetWebContent", &website_functions)),

    /* ---- service ---- */
    ROW("Get Account Information", GH, ANY, "comp=properties&restype=account", NULL, READS, MAY(ANY, "*", "*", "", NONE, PRIVATE), "2018-03-28",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &get_account_information_functions),
    ROW("List Containers", GET, SERVICE, "comp=list", NULL, READS, MAY("s", "l", "", "", CONTAINER_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &list_containers_functions),
    ROW("Set Blob Service Properties", PUT, SERVICE, "comp=properties&restype=service", NULL, WRITES, MAY("s", "w", "", "", SERVICE_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 202, 0,
        NULL, &set_service_properties_functions),
    ROW("Get Blob Service Properties", GET, SERVICE, "comp=properties&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &get_service_properties_functions),
    ROW("Get Blob Service Stats", GET, SERVICE, "comp=stats&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &get_service_stats_functions),
    ROW("Get User Delegation Key", POST, SERVICE, "comp=userdelegationkey&restype=service", NULL, READS, MAY("s", "", "", "", DELEGATION_KEY, PRIVATE), "2018-11-09",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 200, 0, NULL, &get_user_delegation_key_functions),
    ROW("Find Blobs by Tags", GET, SERVICE, "comp=blobs", NULL, READS, MAY("o", "f", "", "", BLOB_FILTER, PRIVATE), "2019-12-12",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, LOGGED_AS("FindBlobsByTags", &find_blobs_functions)),
    ROW("Blob Batch", POST, SERVICE, "comp=batch", NULL, WRITES, MAY(ANY, "*", "*", "", ANY, PRIVATE), "2019-02-02",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, BLOB_BATCH_MAX, 202, 0,
        NULL, &blob_batch_functions),
    /* As the JavaScript client sends it with path-style URLs. */
    ROW("Blob Batch", POST, SERVICE, "comp=batch&restype=container", NULL, WRITES, MAY(ANY, "*", "*", "", ANY, PRIVATE), "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, BLOB_BATCH_MAX, 202, 0,
        NULL, &blob_batch_functions),
    ROW("Preflight Blob Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, NULL, READS, MAY(ANY, "*", "*", "", ANY, CONTAINER), "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, IGNORED, 0, 200, 0,
        NULL, LOGGED_AS("BlobPreflightRequest", &preflight_functions)),

    /* ---- containers ---- */
    ROW("Create Container", PUT, CONTAINER, "restype=container", NULL, WRITES, MAY("c", "cw", "", "", CONTAINER_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 201, 0,
        NULL, ADDS(&create_container_functions)),
    ROW("Get Container Properties", GH, CONTAINER, "restype=container", NULL, READS, MAY("c", "r", "", "", CONTAINER_READ, CONTAINER), "2009-09-19",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        container_subject, &get_container_properties_functions),
    ROW("Get Container Metadata", GH, CONTAINER, "comp=metadata&restype=container", NULL, READS, MAY("c", "r", "", "", CONTAINER_READ, CONTAINER), "2009-09-19",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        container_subject, &get_metadata_functions),
    ROW("Set Container Metadata", PUT, CONTAINER, "comp=metadata&restype=container", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2009-09-19",
        S, WRITE, OPTIONAL, CHANGED, REFUSED, 0, 200, 0,
        container_subject, &set_metadata_functions),
    ROW("Get Container ACL", GH, CONTAINER, "comp=acl&restype=container", NULL, READS, MAY("c", "", "", "", CONTAINER_GET_ACL, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        container_subject, &get_container_acl_functions),
    ROW("Set Container ACL", PUT, CONTAINER, "comp=acl&restype=container", NULL, WRITES, MAY("c", "", "", "", CONTAINER_SET_ACL, PRIVATE), "2009-09-19",
        SU, WRITE, OPTIONAL, CHANGED, MEMORY, XML_BODY_MAX, 200, 0,
        container_subject, &set_container_acl_functions),
    ROW("Delete Container", DELETE, CONTAINER, "restype=container", NULL, WRITES, MAY("c", "d", "", "", CONTAINER_DELETE, PRIVATE), "2009-09-19",
        SU, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0,
        container_subject_deleted, &delete_container_functions),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=acquire", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 201, 0,
        container_subject, LOGGED_AS("AcquireContainerLease", &lease_container_functions)),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=renew", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("RenewContainerLease", &lease_container_functions)),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=change", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("ChangeContainerLease", &lease_container_functions)),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=release", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("ReleaseContainerLease", &lease_container_functions)),
    ROW("Lease Container", PUT, CONTAINER, "comp=lease&restype=container", "x-ms-lease-action=break", WRITES, MAY("c", "wd", "", "", CONTAINER_WRITE, PRIVATE), "2012-02-12",
        SU, WRITE, ACTION, RETURNED, REFUSED, 0, 202, 0,
        container_subject, LOGGED_AS("BreakContainerLease", &lease_container_functions)),
    ROW("List Blobs", GET, CONTAINER, "comp=list&restype=container", NULL, READS, MAY("c", "l", "l", "", BLOB_READ, CONTAINER), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        container_subject, NEEDS(&list_blobs_functions, LIST)),
    ROW("Restore Container", PUT, CONTAINER, "comp=undelete&restype=container", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2019-12-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 201, 0, NULL, &restore_container_functions),
    ROW("Rename Container", PUT, CONTAINER, "comp=rename&restype=container", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, NULL),
    ROW("Find Blobs by Tags in Container", GET, CONTAINER, "comp=blobs&restype=container", NULL, READS, MAY("c", "f", "f", "", BLOB_FILTER, PRIVATE), "2021-04-10",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("FindBlobsByTags", &find_blobs_in_container_functions)),
    ROW("Blob Batch", POST, CONTAINER, "comp=batch&restype=container", NULL, WRITES, MAY(ANY, "*", "*", "", ANY, PRIVATE), "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, BLOB_BATCH_MAX, 202, 0,
        NULL, &blob_batch_functions),

    /* ---- blobs of every type ---- */
    ROW("Get Blob", GET, BLOB, "", NULL, READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2009-09-19",
        HTTP4T, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 206,
        blob_subject, NEEDS(&get_blob_functions, READ)),
    ROW("Get Blob Properties", METHOD_HEAD, BLOB, "", NULL, READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2009-09-19",
        HTTP4T, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        blob_subject_readable, NEEDS(&get_blob_properties_functions, READ)),
    ROW("Set Blob Properties", PUT, BLOB, "comp=properties", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&set_blob_properties_functions, METADATA | NEEDS_CHANGE)),
    ROW("Get Blob Metadata", GH, BLOB, "comp=metadata", NULL, READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2009-09-19",
        HTTP4T, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&get_blob_metadata_functions, READ)),
    ROW("Set Blob Metadata", PUT, BLOB, "comp=metadata", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&set_blob_metadata_functions, METADATA | NEEDS_CHANGE)),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=acquire", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 201, 0,
        blob_subject, LOGGED_AS("AcquireBlobLease", NEEDS(&lease_blob_functions, METADATA))),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=renew", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("RenewBlobLease", NEEDS(&lease_blob_functions, METADATA))),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=change", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2012-02-12",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("ChangeBlobLease", NEEDS(&lease_blob_functions, METADATA))),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=release", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("ReleaseBlobLease", NEEDS(&lease_blob_functions, METADATA))),
    ROW("Lease Blob", PUT, BLOB, "comp=lease", "x-ms-lease-action=break", WRITES, MAY("o", "wd", "wd", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, ACTION, RETURNED, REFUSED, 0, 202, 0,
        blob_subject, LOGGED_AS("BreakBlobLease", NEEDS(&lease_blob_functions, METADATA))),
    ROW("Snapshot Blob", PUT, BLOB, "comp=snapshot", NULL, WRITES, MAY("o", "cw", "cw", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, OPTIONAL, RETURNED, REFUSED, 0, 201, 0,
        blob_subject, NEEDS(&snapshot_blob_functions, SNAPSHOT)),
    ROW("Delete Blob", DELETE, BLOB, "", "?deletetype=permanent", WRITES, MAY("o", "y", "y", "", BLOB_PERMANENT_DELETE, PRIVATE), "2020-04-08",
        HTTP4T, WRITE, IGNORED, NONE, REFUSED, 0, 202, 0,
        blob_subject_kept, LISTED(NEEDS(&delete_blob_permanently_functions, DESTROY))),
    ROW("Delete Blob", DELETE, BLOB, "", "?versionid", WRITES, MAY("o", "x", "x", "", BLOB_DELETE_VERSION, PRIVATE), "2019-12-12",
        HTTP4T, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0,
        blob_subject_uncommitted, LISTED(NEEDS(&delete_blob_functions, DESTROY))),
    ROW("Delete Blob", DELETE, BLOB, "", NULL, WRITES, MAY("o", "d", "d", "", BLOB_DELETE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0,
        blob_subject_uncommitted, LISTED(NEEDS(&delete_blob_functions, DESTROY))),
    ROW("Undelete Blob", PUT, BLOB, "comp=undelete", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2017-07-29",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0,
        blob_subject_undeleted, NEEDS(&undelete_blob_functions, METADATA | NEEDS_NAME)),
    ROW("Abort Copy Blob", PUT, BLOB, "comp=copy", "x-ms-copy-action=abort", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2012-02-12",
        NO_IF, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 204, 0,
        blob_subject_copied, NEEDS(&abort_copy_blob_functions, CONTENT)),
    ROW("Get Blob Tags", GET, BLOB, "comp=tags", NULL, READS, MAY("o", "t", "t", "", BLOB_TAGS_READ, PRIVATE), "2019-12-12",
        HTTP4T, OTHER_READ, OPTIONAL, NONE, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&get_blob_tags_functions, READ)),
    ROW("Set Blob Tags", PUT, BLOB, "comp=tags", NULL, WRITES, MAY("o", "t", "t", "", BLOB_TAGS_WRITE, PRIVATE), "2019-12-12",
        HTTP4T, WRITE, WHEN_LEASED, NONE, MEMORY, XML_BODY_MAX, 204, 0,
        blob_subject, NEEDS(&set_blob_tags_functions, TAGS)),
    ROW("Set Blob Tier", PUT, BLOB, "comp=tier", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2017-04-17",
        T, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 200, 202,
        blob_subject, LISTED(NEEDS(&set_blob_tier_functions, TIER))),
    ROW("Set Blob Expiry", PUT, BLOB, "comp=expiry", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2020-02-10",
        NO_IF, WRITE, IGNORED, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&set_blob_expiry_functions, METADATA | NEEDS_CHANGE)),
    ROW("Set Blob Immutability Policy", PUT, BLOB, "comp=immutabilityPolicies", NULL, WRITES, MAY("o", "i", "i", "", BLOB_SUPER_USER, PRIVATE), "2020-06-12",
        IF_UNMODIFIED_SINCE, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&set_blob_immutability_policy_functions, METADATA)),
    ROW("Delete Blob Immutability Policy", DELETE, BLOB, "comp=immutabilityPolicies", NULL, WRITES, MAY("o", "i", "i", "", BLOB_SUPER_USER, PRIVATE), "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&delete_blob_immutability_policy_functions, METADATA)),
    ROW("Set Blob Legal Hold", PUT, BLOB, "comp=legalhold", NULL, WRITES, MAY("o", "i", "i", "", BLOB_SUPER_USER, PRIVATE), "2020-06-12",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&set_blob_legal_hold_functions, METADATA)),
    ROW("Query Blob Contents", POST, BLOB, "comp=query", NULL, READS, MAY("o", "r", "r", "", BLOB_READ, PRIVATE), "2019-12-12",
        HTTP4T, READ, OPTIONAL, RETURNED, MEMORY, XML_BODY_MAX, 200, 206, NULL, NULL),

    /* ---- PUT of a whole blob: copies, then the types; the last row's header is the one that every
     * request needs ---- */
    ROW("Put Blob From URL", PUT, BLOB, "", "x-ms-copy-source&x-ms-blob-type=BlockBlob", WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2020-04-08",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        blob_subject_optional, NEEDS(&put_blob_from_url_functions, CREATE)),
    ROW("Copy Blob From URL", PUT, BLOB, "", "x-ms-requires-sync=true", WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4T, COPY, WHEN_LEASED, CHANGED, REFUSED, 0, 202, 0,
        blob_subject_optional, NEEDS(&copy_blob_from_url_functions, CREATE)),
    ROW("Copy Blob", PUT, BLOB, "", "x-ms-copy-source", WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, COPY, WHEN_LEASED, CHANGED, REFUSED, 0, 202, 0,
        blob_subject_optional, NEEDS(&copy_blob_functions, CREATE)),
    ROW("Incremental Copy Blob", PUT, BLOB, "comp=incrementalcopy", NULL, WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2016-05-31",
        HTTP4T, CREATE, IGNORED, CHANGED, REFUSED, 0, 202, 0,
        blob_subject_incremental, NEEDS(&incremental_copy_blob_functions, CREATE | NEEDS_CHANGE)),
    ROW("Put Blob", PUT, BLOB, "", "x-ms-blob-type=AppendBlob", WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2015-02-21",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        blob_subject_optional, NEEDS(&create_append_blob_functions, CREATE)),
    ROW("Put Blob", PUT, BLOB, "", "x-ms-blob-type=PageBlob", WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        blob_subject_optional, NEEDS(&create_page_blob_functions, CREATE)),
    ROW("Put Blob", PUT, BLOB, "", "x-ms-blob-type=BlockBlob", WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, STAGED, PUT_BLOB_MAX, 201, 0,
        blob_subject_optional, NEEDS(&put_blob_functions, CREATE | NEEDS_PUT)),

    /* ---- block blobs ---- */
    ROW("Put Block From URL", PUT, BLOB, "comp=block", "x-ms-copy-source", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-03-28",
        NO_IF, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 201, 0,
        blob_subject_optional, NEEDS(&put_block_from_url_functions, CREATE)),
    ROW("Put Block", PUT, BLOB, "comp=block", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, WHEN_LEASED, NONE, STAGED, PUT_BLOCK_MAX, 201, 0,
        blob_subject_optional, NEEDS(&put_block_functions, CREATE)),
    ROW("Put Block List", PUT, BLOB, "comp=blocklist", NULL, WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, CREATE, WHEN_LEASED, CHANGED, MEMORY, BLOCK_LIST_MAX, 201, 0,
        blob_subject_optional, NEEDS(&put_block_list_functions, CREATE)),
    ROW("Get Block List", GET, BLOB, "comp=blocklist", NULL, READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2009-09-19",
        T, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        blob_subject_uncommitted, NEEDS(&get_block_list_functions, READ)),

    /* ---- append blobs ---- */
    ROW("Append Block From URL", PUT, BLOB, "comp=appendblock", "x-ms-copy-source", WRITES, MAY("o", "aw", "aw", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        blob_subject, NEEDS(&append_block_from_url_functions, CONTENT | NEEDS_APPEND)),
    ROW("Append Block", PUT, BLOB, "comp=appendblock", NULL, WRITES, MAY("o", "aw", "aw", "", BLOB_WRITE, PRIVATE), "2015-02-21",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, STAGED, APPEND_MAX, 201, 0,
        blob_subject, NEEDS(&append_block_functions, CONTENT | NEEDS_APPEND)),
    ROW("Append Blob Seal", PUT, BLOB, "comp=seal", NULL, WRITES, MAY("o", "aw", "aw", "", BLOB_WRITE, PRIVATE), "2019-12-12",
        HTTP4, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        blob_subject, NEEDS(&seal_append_blob_functions, CONTENT | NEEDS_APPEND)),

    /* ---- page blobs ---- */
    ROW("Put Page From URL", PUT, BLOB, "comp=page", "x-ms-copy-source", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        blob_subject, NEEDS(&put_page_from_url_functions, CONTENT | NEEDS_CHANGE)),
    ROW("Put Page", PUT, BLOB, "comp=page", "x-ms-page-write=clear", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        blob_subject, LOGGED_AS("ClearPage", NEEDS(&clear_page_functions, CONTENT | NEEDS_CHANGE))),
    ROW("Put Page", PUT, BLOB, "comp=page", "x-ms-page-write=update", WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2009-09-19",
        HTTP4T, WRITE, WHEN_LEASED, CHANGED, STAGED, PUT_PAGE_MAX, 201, 0,
        blob_subject, NEEDS(&put_page_functions, CONTENT | NEEDS_CHANGE)),
    ROW("Get Page Ranges", GET, BLOB, "comp=pagelist", NULL, READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2009-09-19",
        HTTP4T, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, TYPES_304(NEEDS(&get_page_ranges_functions, READ))),
};

/* Not in the REST reference of the service: the management API of Azure has them. */
static const struct operation operator_operations[] = {
    ROW("Protect Container", PUT, CONTAINER, "comp=protection&restype=container", NULL, WRITES, MAY("", "", "", "", NONE, PRIVATE), "",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0,
        container_subject, &protect_container_functions),
    ROW("Get Container Protection", GET, CONTAINER, "comp=protection&restype=container", NULL, READS, MAY("", "", "", "", NONE, PRIVATE), "",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        container_subject, &get_container_protection_functions),
};
/* clang-format on */

static const char *const levels[] = {
    [LEVEL_SERVICE] = "/",
    [LEVEL_CONTAINER] = "/container",
    [LEVEL_BLOB] = "/container/blob",
    [LEVEL_WEBSITE] = "/page",
};

static const struct task_handler task_handlers[] = {
    { TASK_EXPIRE_BLOCKS, "delete blocks that were never committed", expire_blocks },
    { TASK_COPY_BLOB, "continue a pending copy", copy_blob_task },
    { TASK_REHYDRATE, "make an archived blob readable", rehydrate_blob },
    { TASK_DELETE_DIRECTORY, "delete the contents of a deleted directory", delete_directory_task },
    { TASK_EXPIRE_PATH, "delete an expired path", expire_path },
    { TASK_FORGET_DELETION, "let a deleted name be made again", recent_deletion_forget },
    { TASK_DELETE_SNAPSHOTS, "delete or restore a blob's snapshots", snapshot_marks_task },
    { TASK_EXPIRE_CONTAINER, "delete for good a container that was kept", expire_container },
    { TASK_EXPIRE_FILE, "delete an expired file", expire_file_task },
    { TASK_EXPIRE_DELETED, "delete for good what was soft-deleted", expire_deleted },
};

const struct service blob_service = {
    .name = "blob",
    .has_access_control = true,
    .sections = SECTION_LOGGING | SECTION_LOGGING_2 | SECTION_DEFAULT_VERSION |
                SECTION_DELETE_RETENTION | SECTION_CONTAINER_RETENTION | SECTION_STATIC_WEBSITE |
                SECTION_VERSIONING,
    .operations = operations,
    .operation_count = sizeof operations / sizeof operations[0],
    .operator_operations = operator_operations,
    .operator_operation_count = sizeof operator_operations / sizeof operator_operations[0],
    .task_handlers = task_handlers,
    .task_handler_count = sizeof task_handlers / sizeof task_handlers[0],
    .levels = levels,
    .answer_etag = answer_etag,
    .resource_size = sizeof(struct blob_resource),
    .read_resource = blob_read_resource,
    .names = blob_signed_names,
    .check_names = blob_check_names,
    .usage = &blob_usage,
    .parts = &blob_parts,
    .container = &blob_container,
    .restore = &blob_restore,
    .locate = blob_locate,
    .permit_facts = blob_permit_facts,
    .enter = blob_enter,
    .source = &blob_source_functions,
    .answer_error = website_answer_error,
};
