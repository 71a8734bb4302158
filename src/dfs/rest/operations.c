/* The operation table of the Data Lake endpoint: one row per operation, with its name in the REST
 * reference. Columns: service/row.h. The resources, and most subjects and decide functions, are
 * those of the Blob service.
 *
 * rest: datalakestoragegen2 */
#include "dfs/rest/request.h"
#include "properties/preflight.h"
#include "service/row.h"

#define PATCH                    METHOD_PATCH
#define HEAD                     METHOD_HEAD
#define PATH_BODY_MAX            (UINT64_C(4000) << 20)

/* NEEDS_ bits of blob/blob.h. */
#define NEEDS(functions_, need_) functions_, .passes = NEEDS_##need_

#define SU                       (IF_MODIFIED_SINCE | IF_UNMODIFIED_SINCE)
#define HTTP4                    IF_HTTP4

OPERATION(preflight);
OPERATION_MERGED_AS(list_filesystems, list_containers, "");
OPERATION_AS(create_filesystem, create_container);
OPERATION_AS(get_filesystem_properties, get_container_properties);
OPERATION_AS(set_filesystem_properties, set_metadata);
OPERATION_AS(delete_filesystem, delete_container);
OPERATION(list_paths);
OPERATION(create_path);
OPERATION(rename_path);
OPERATION_WITH_PARSE(append_data);
OPERATION(flush_data);
OPERATION(set_path_properties);
OPERATION_AS(read_path, get_blob);
OPERATION_AS(get_path_properties, get_blob_properties);
OPERATION(get_access_control);
OPERATION(check_access);
OPERATION(set_access_control);
OPERATION(set_access_control_recursive);
OPERATION_AS(lease_path, lease_blob);
OPERATION(delete_path);

/* clang-format off */
static const struct operation operations[] = {
    ROW("Preflight Path Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, NULL,
        READS, MAY(ANY, "*", "*", "", ANY, CONTAINER), "2018-11-09",
        NO_IF, OTHER_READ, IGNORED, NONE, IGNORED, 0, 200, 0,
        NULL, LOGGED_AS("BlobPreflightRequest", &preflight_functions)),

    /* ---- filesystems ---- */
    ROW("Filesystem List", GET, SERVICE, "", "?resource=account",
        READS, MAY("s", "l", "", "", CONTAINER_READ, PRIVATE), "2018-11-09",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, LOGGED_AS("ListFilesystems", &list_filesystems_functions)),
    ROW("Filesystem Create", PUT, CONTAINER, "", "?resource=filesystem",
        WRITES, MAY("c", "cw", "", "", CONTAINER_WRITE, PRIVATE), "2018-11-09",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 201, 0,
        NULL, LOGGED_AS("CreateFilesystem", ADDS(&create_filesystem_functions))),
    ROW("Filesystem Get Properties", HEAD, CONTAINER, "", "?resource=filesystem",
        READS, MAY("c", "r", "", "", CONTAINER_READ, CONTAINER), "2018-11-09",
        NO_IF, OTHER_READ, IGNORED, RETURNED, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("GetFilesystemProperties", &get_filesystem_properties_functions)),
    ROW("Filesystem Set Properties", PATCH, CONTAINER, "", "?resource=filesystem",
        WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2018-11-09",
        SU, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("SetFilesystemProperties", &set_filesystem_properties_functions)),
    ROW("Filesystem Delete", DELETE, CONTAINER, "", "?resource=filesystem",
        WRITES, MAY("c", "d", "", "", CONTAINER_DELETE, PRIVATE), "2018-11-09",
        SU, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0,
        container_subject_deleted, LOGGED_AS("DeleteFilesystem", &delete_filesystem_functions)),
    ROW("Path List", GET, CONTAINER, "", "?resource=filesystem",
        READS, MAY("c", "l", "l", "", BLOB_READ, CONTAINER), "2018-11-09",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        container_subject, LOGGED_AS("ListFilesystemDir", NEEDS(&list_paths_functions, LIST))),

    /* ---- paths ---- */
    ROW("Path Rename", PUT, BLOB, "", "x-ms-rename-source",
        WRITES, MAY("o", "w", "mw", "c", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, CREATE, WHEN_LEASED, RETURNED, REFUSED, 0, 201, 0,
        rename_path_subject, LOGGED_AS("RenamePathFile", NEEDS(&rename_path_functions, NAME | NEEDS_DESTROY))),
    ROW("Path Create", PUT, BLOB, "", "?resource=file",
        WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        create_path_subject, LOGGED_AS("CreatePathFile", NEEDS(&create_path_functions, CREATE))),
    ROW("Path Create", PUT, BLOB, "", "?resource=directory",
        WRITES, MAY("o", "w", "w", "c", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, CREATE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0,
        create_path_subject,
        LOGGED_AS("CreatePathDir", NEEDS(&create_path_functions, NAME | NEEDS_REPLACE))),
    ROW("Path Append Data", PATCH, BLOB, "", "?action=append",
        WRITES, MAY("o", "aw", "aw", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        NO_IF, PATH, WHEN_LEASED, RETURNED, STAGED, PATH_BODY_MAX, 202, 0,
        blob_subject, LOGGED_AS("AppendFile", NEEDS(&append_data_functions, CONTENT | NEEDS_APPEND))),
    ROW("Path Flush Data", PATCH, BLOB, "", "?action=flush",
        WRITES, MAY("o", "aw", "aw", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, FLUSH, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("FlushFile", NEEDS(&flush_data_functions, CONTENT | NEEDS_APPEND))),
    ROW("Path Set Properties", PATCH, BLOB, "", "?action=setProperties",
        WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, PATH, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("SetFileProperties", NEEDS(&set_path_properties_functions, METADATA | NEEDS_CHANGE))),
    ROW("Path Set Access Control", PATCH, BLOB, "", "?action=setAccessControl",
        WRITES, MAY("o", "w", "op", "", BLOB_SUPER_USER, PRIVATE), "2018-11-09",
        HTTP4, PATH, WHEN_LEASED, RETURNED, REFUSED, 0, 200, 0,
        path_subject, LOGGED_AS("SetPathAccessControl", NEEDS(&set_access_control_functions, ACL))),
    ROW("Path Set Access Control Recursive", PATCH, BLOB, "", "?action=setAccessControlRecursive",
        WRITES, MAY("o", "w", "op", "", BLOB_SUPER_USER, PRIVATE), "2019-12-12",
        NO_IF, PATH, IGNORED, NONE, REFUSED, 0, 200, 0,
        path_subject, LOGGED_AS("SetPathAccessControlRecursive", NEEDS(&set_access_control_recursive_functions, ACL))),
    ROW("Path Get Access Control", HEAD, BLOB, "", "?action=getAccessControl",
        READS, MAY("o", "r", "re", "", BLOB_READ, PRIVATE), "2018-11-09",
        HTTP4, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        path_subject, LOGGED_AS("GetPathAccessControl", NEEDS(&get_access_control_functions, STATUS))),
    ROW("Path Check Access", HEAD, BLOB, "", "?action=checkAccess",
        READS, MAY("o", "r", "re", "", BLOB_READ, PRIVATE), "2018-11-09",
        HTTP4, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        path_subject, LOGGED_AS("CheckPathAccess", NEEDS(&check_access_functions, STATUS))),
    ROW("Path Get Properties", HEAD, BLOB, "", "?action=getStatus",
        READS, MAY("o", "r", "re", "", BLOB_READ, BLOB), "2018-11-09",
        HTTP4, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        blob_subject_readable, LOGGED_AS("GetPathStatus", NEEDS(&get_path_properties_functions, STATUS))),
    ROW("Path Get Properties", HEAD, BLOB, "", NULL,
        READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2018-11-09",
        HTTP4, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0,
        blob_subject_readable, LOGGED_AS("GetFileProperties", NEEDS(&get_path_properties_functions, READ))),
    ROW("Path Read", GET, BLOB, "", NULL,
        READS, MAY("o", "r", "r", "", BLOB_READ, BLOB), "2018-11-09",
        HTTP4, READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 206,
        blob_subject, LOGGED_AS("ReadFile", NEEDS(&read_path_functions, READ))),
    ROW("Path Lease", POST, BLOB, "", "x-ms-lease-action=acquire",
        WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, PATH, ACTION, RETURNED, REFUSED, 0, 201, 0,
        blob_subject, LOGGED_AS("LeaseFile", NEEDS(&lease_path_functions, METADATA))),
    ROW("Path Lease", POST, BLOB, "", "x-ms-lease-action=renew",
        WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, PATH, ACTION, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("LeaseFile", NEEDS(&lease_path_functions, METADATA))),
    ROW("Path Lease", POST, BLOB, "", "x-ms-lease-action=change",
        WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, PATH, ACTION, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("LeaseFile", NEEDS(&lease_path_functions, METADATA))),
    ROW("Path Lease", POST, BLOB, "", "x-ms-lease-action=release",
        WRITES, MAY("o", "w", "w", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, PATH, ACTION, RETURNED, REFUSED, 0, 200, 0,
        blob_subject, LOGGED_AS("LeaseFile", NEEDS(&lease_path_functions, METADATA))),
    ROW("Path Lease", POST, BLOB, "", "x-ms-lease-action=break",
        WRITES, MAY("o", "wd", "wd", "", BLOB_WRITE, PRIVATE), "2018-11-09",
        HTTP4, PATH, ACTION, RETURNED, REFUSED, 0, 202, 0,
        blob_subject, LOGGED_AS("LeaseFile", NEEDS(&lease_path_functions, METADATA))),
    ROW("Path Delete", DELETE, BLOB, "", "?recursive=true",
        WRITES, MAY("o", "d", "d", "", BLOB_DELETE, PRIVATE), "2018-11-09",
        HTTP4, PATH, WHEN_LEASED, NONE, REFUSED, 0, 200, 0,
        path_subject, LOGGED_AS("DeleteDirectory", NEEDS(&delete_path_functions, DESTROY))),
    ROW("Path Delete", DELETE, BLOB, "", NULL,
        WRITES, MAY("o", "d", "d", "", BLOB_DELETE, PRIVATE), "2018-11-09",
        HTTP4, PATH, WHEN_LEASED, NONE, REFUSED, 0, 200, 0,
        path_subject, LOGGED_AS("DeleteFile", NEEDS(&delete_path_functions, DESTROY))),
};
/* clang-format on */

static const char *const levels[] = {
    [LEVEL_SERVICE] = "/",
    [LEVEL_CONTAINER] = "/filesystem",
    [LEVEL_BLOB] = "/filesystem/path",
};

const struct service dfs_service = {
    .name = "dfs",
    .data_of = "blob",
    .operations = operations,
    .operation_count = sizeof operations / sizeof operations[0],
    .levels = levels,
    .answer_etag = answer_etag,
    .resource_size = sizeof(struct blob_resource),
    .account_elsewhere = dfs_rename_account,
    .read_resource = dfs_read_resource,
    .names = blob_signed_names,
    .check_names = dfs_check_names,
    .container = &blob_container,
    .locate = blob_locate,
    .permit_facts = blob_permit_facts,
    .has_access_control = true,
    .enter = blob_enter,
    .is_for_data_of = dfs_is_for_blob,
    .error_of = dfs_error_of,
    .answer_error = dfs_answer_error,
};
