/* The operation table of the File service: one row per operation, with its name in the REST
 * reference. Columns: service/row.h. No file operation has conditional headers; ETags are
 * informational.
 *
 * The root directory of a share has its own rows, since it cannot be created, renamed or
 * deleted.
 *
 * rest: File-Service-REST-API, Create-account-SAS, Create-service-SAS; semantics 2.2 */
#include "file/copy_file.h"
#include "file/handle_operations.h"
#include "file/permission_operations.h"
#include "file/range_operations.h"
#include "file/rest/source_file.h"
#include "file/rest/request.h"
#include "properties/metadata_acl.h"
#include "properties/preflight.h"
#include "service/small_record.h"
#include "service/row.h"
#include "properties/service_properties.h"
#include "service/user_delegation_key.h"

OPERATION_MERGED(list_shares, "");
OPERATION_WITH_PARSE(set_service_properties);
OPERATION(get_service_properties);
OPERATION_WITH_PARSE(get_user_delegation_key);
OPERATION(preflight);
OPERATION(create_share);
OPERATION(get_share_properties);
OPERATION(set_share_properties);
OPERATION(get_metadata);
OPERATION(set_metadata);
OPERATION(get_acl);
OPERATION_WITH_PARSE(set_acl);
OPERATION(get_share_stats);
OPERATION(lease_share);
OPERATION(snapshot_share);
OPERATION(delete_share);
OPERATION(restore_share);
OPERATION_WITH_PARSE(create_permission);
OPERATION(get_permission);
OPERATION(create_directory);
OPERATION(create_file);
OPERATION(get_file_properties);
OPERATION(get_file_metadata);
OPERATION(set_file_metadata);
OPERATION(set_file_properties);
OPERATION(set_directory_properties);
OPERATION(list_files);
OPERATION(list_handles);
OPERATION(force_close_handles);
OPERATION(rename_file);
OPERATION(rename_directory);
OPERATION(delete_file);
OPERATION(get_file);
OPERATION(put_range);
OPERATION_GATHERED(put_range_from_url, put_range);
OPERATION(clear_range);
OPERATION(list_ranges);
OPERATION_WITH_GATHER(copy_file);
OPERATION(abort_copy_file);

/* How the operation passes the open state of its directory or file (opens/open_state.h): REST_*.
 * For a rename, this is the destination as a node that remains; its function checks the other
 * nodes.
 * semantics 8.2, 8.4; decision: 338 */
#define PASSES(functions_, use_) functions_, .passes = REST_##use_ + 1

OPERATION(lease_file);
OPERATION(link);

/* clang-format off */
static const struct operation operations[] = {
    /* ---- service ---- */
    ROW("List Shares", GET, SHARES, "comp=list", NULL, READS, MAY("s", "l", "", "", CONTAINER_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &list_shares_functions),
    ROW("Set File Service Properties", PUT, SHARES, "comp=properties&restype=service", NULL, WRITES, MAY("s", "w", "", "", SERVICE_WRITE, PRIVATE), "2015-02-21",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 202, 0, NULL, &set_service_properties_functions),
    ROW("Get File Service Properties", GET, SHARES, "comp=properties&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2015-02-21",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &get_service_properties_functions),
    ROW("Get User Delegation Key", POST, SHARES, "comp=userdelegationkey&restype=service", NULL, READS, MAY("s", "", "", "", DELEGATION_KEY, PRIVATE), "2025-07-05",
        NO_IF, OTHER_READ, IGNORED, NONE, MEMORY, XML_BODY_MAX, 200, 0, NULL, &get_user_delegation_key_functions),
    ROW("Preflight File Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, NULL, READS, MAY(ANY, "*", "*", "", ANY, PRIVATE), "2015-02-21",
        NO_IF, OTHER_READ, IGNORED, NONE, IGNORED, 0, 200, 0, NULL, LOGGED_AS("FilePreflightRequest", &preflight_functions)),

    /* ---- shares ---- */
    ROW("Create Share", PUT, SHARE, "restype=share", NULL, WRITES, MAY("c", "cw", "", "", CONTAINER_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 201, 0, NULL, ADDS(&create_share_functions)),
    ROW("Get Share Properties", GH, SHARE, "restype=share", NULL, READS, MAY("c", "r", "", "", CONTAINER_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, share_subject, &get_share_properties_functions),
    ROW("Set Share Properties", PUT, SHARE, "comp=properties&restype=share", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2015-02-21",
        NO_IF, WRITE, OPTIONAL, CHANGED, REFUSED, 0, 200, 0, share_subject, &set_share_properties_functions),
    ROW("Get Share Metadata", GH, SHARE, "comp=metadata&restype=share", NULL, READS, MAY("c", "r", "", "", CONTAINER_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, share_subject, &get_metadata_functions),
    ROW("Set Share Metadata", PUT, SHARE, "comp=metadata&restype=share", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, OPTIONAL, CHANGED, REFUSED, 0, 200, 0, share_subject, &set_metadata_functions),
    ROW("Delete Share", DELETE, SHARE, "restype=share", NULL, WRITES, MAY("c", "d", "", "", CONTAINER_DELETE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0, share_subject_deleted, &delete_share_functions),
    ROW("Restore Share", PUT, SHARE, "comp=undelete&restype=share", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2019-12-12",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 201, 0, NULL, &restore_share_functions),
    ROW("Snapshot Share", PUT, SHARE, "comp=snapshot&restype=share", NULL, WRITES, MAY("c", "cw", "", "", CONTAINER_WRITE, PRIVATE), "2017-04-17",
        NO_IF, WRITE, IGNORED, RETURNED, REFUSED, 0, 201, 0, share_subject, &snapshot_share_functions),
    ROW("Get Share ACL", GH, SHARE, "comp=acl&restype=share", NULL, READS, MAY("c", "", "", "", CONTAINER_GET_ACL, PRIVATE), "2015-02-21",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, share_subject, LOGGED_AS("GetShareAcl", &get_acl_functions)),
    ROW("Set Share ACL", PUT, SHARE, "comp=acl&restype=share", NULL, WRITES, MAY("c", "", "", "", CONTAINER_SET_ACL, PRIVATE), "2015-02-21",
        NO_IF, WRITE, OPTIONAL, CHANGED, MEMORY, XML_BODY_MAX, 200, 0, share_subject, LOGGED_AS("SetShareAcl", &set_acl_functions)),
    ROW("Get Share Stats", GET, SHARE, "comp=stats&restype=share", NULL, READS, MAY("c", "r", "", "", CONTAINER_READ, PRIVATE), "2015-02-21",
        NO_IF, OTHER_READ, OPTIONAL, NONE, REFUSED, 0, 200, 0, share_subject, &get_share_stats_functions),
    ROW("Create Permission", PUT, SHARE, "comp=filepermission&restype=share", NULL, WRITES, ALL_LETTERS(MAY("c", "w", "wd", "", FILE_PERMISSIONS, PRIVATE)), "2019-02-02",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 201, 0, share_subject, LOGGED_AS("PutFilePermission", &create_permission_functions)),
    ROW("Get Permission", GET, SHARE, "comp=filepermission&restype=share", NULL, READS, MAY("c", "r", "r", "", FILE_READ, PRIVATE), "2019-02-02",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, share_subject, LOGGED_AS("GetFilePermission", &get_permission_functions)),
    ROW("Lease Share", PUT, SHARE, "comp=lease&restype=share", "x-ms-lease-action=acquire", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2020-02-10",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 201, 0, share_subject, LOGGED_AS("AcquireShareLease", &lease_share_functions)),
    ROW("Lease Share", PUT, SHARE, "comp=lease&restype=share", "x-ms-lease-action=renew", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2020-02-10",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0, share_subject, LOGGED_AS("RenewShareLease", &lease_share_functions)),
    ROW("Lease Share", PUT, SHARE, "comp=lease&restype=share", "x-ms-lease-action=change", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2020-02-10",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0, share_subject, LOGGED_AS("ChangeShareLease", &lease_share_functions)),
    ROW("Lease Share", PUT, SHARE, "comp=lease&restype=share", "x-ms-lease-action=release", WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2020-02-10",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0, share_subject, LOGGED_AS("ReleaseShareLease", &lease_share_functions)),
    ROW("Lease Share", PUT, SHARE, "comp=lease&restype=share", "x-ms-lease-action=break", WRITES, MAY("c", "wd", "", "", CONTAINER_WRITE, PRIVATE), "2020-02-10",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 202, 0, share_subject, LOGGED_AS("BreakShareLease", &lease_share_functions)),

    /* ---- the root directory ---- */
    ROW("Get Directory Properties", GH, ROOT, "restype=directory", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, IGNORED, RETURNED, REFUSED, 0, 200, 0, directory_subject, PASSES(&get_file_properties_functions, PASSES)),
    ROW("Set Directory Properties", PUT, ROOT, "comp=properties&restype=directory", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, directory_subject, PASSES(&set_directory_properties_functions, PASSES)),
    ROW("Get Directory Metadata", GH, ROOT, "comp=metadata&restype=directory", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2015-02-21",
        NO_IF, OTHER_READ, IGNORED, RETURNED, REFUSED, 0, 200, 0, directory_subject, PASSES(&get_file_metadata_functions, PASSES)),
    ROW("Set Directory Metadata", PUT, ROOT, "comp=metadata&restype=directory", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2015-02-21",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, directory_subject, PASSES(&set_file_metadata_functions, PASSES)),
    ROW("List Directories and Files", GET, ROOT, "comp=list&restype=directory", NULL, READS, MAY("o", "l", "l", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, directory_subject, LOGGED_AS("ListFiles", PASSES(&list_files_functions, LISTS))),
    ROW("List Handles", GET, ROOT, "comp=listhandles", NULL, READS, MAY("o", "l", "l", "", FILE_READ, PRIVATE), "2018-11-09",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, handles_subject, PASSES(&list_handles_functions, LISTS)),
    ROW("Force Close Handles", PUT, ROOT, "comp=forceclosehandles", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2018-11-09",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, handles_subject, PASSES(&force_close_handles_functions, LISTS)),

    /* ---- directories ---- */
    ROW("Create Directory", PUT, PATH, "restype=directory", NULL, WRITES, MAY("o", "cw", "cw", "", FILE_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 201, 0, new_subject, PASSES(&create_directory_functions, PASSES)),
    ROW("Get Directory Properties", GH, PATH, "restype=directory", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, IGNORED, RETURNED, REFUSED, 0, 200, 0, directory_subject, PASSES(&get_file_properties_functions, PASSES)),
    ROW("Set Directory Properties", PUT, PATH, "comp=properties&restype=directory", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, directory_subject, PASSES(&set_directory_properties_functions, PASSES)),
    ROW("Get Directory Metadata", GH, PATH, "comp=metadata&restype=directory", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2015-02-21",
        NO_IF, OTHER_READ, IGNORED, RETURNED, REFUSED, 0, 200, 0, directory_subject, PASSES(&get_file_metadata_functions, PASSES)),
    ROW("Set Directory Metadata", PUT, PATH, "comp=metadata&restype=directory", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2015-02-21",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, directory_subject, PASSES(&set_file_metadata_functions, PASSES)),
    ROW("List Directories and Files", GET, PATH, "comp=list&restype=directory", NULL, READS, MAY("o", "l", "l", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, directory_subject, LOGGED_AS("ListFiles", PASSES(&list_files_functions, LISTS))),
    ROW("Delete Directory", DELETE, PATH, "restype=directory", NULL, WRITES, MAY("o", "d", "d", "", FILE_DELETE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 202, 0, directory_subject_named, PASSES(&delete_file_functions, DELETES)),
    ROW("Rename Directory", PUT, PATH, "comp=rename&restype=directory", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2021-04-10",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, new_subject, PASSES(&rename_directory_functions, PASSES)),
    ROW("List Handles", GET, PATH, "comp=listhandles", NULL, READS, MAY("o", "l", "l", "", FILE_READ, PRIVATE), "2018-11-09",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, handles_subject, PASSES(&list_handles_functions, LISTS)),
    ROW("Force Close Handles", PUT, PATH, "comp=forceclosehandles", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2018-11-09",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, handles_subject, PASSES(&force_close_handles_functions, LISTS)),

    /* ---- files ---- */
    ROW("Get File", GET, PATH, "", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 206, file_subject, PASSES(&get_file_functions, READS)),
    ROW("Get File Properties", METHOD_HEAD, PATH, "", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, file_subject, PASSES(&get_file_properties_functions, EXAMINES)),
    ROW("Delete File", DELETE, PATH, "", NULL, WRITES, MAY("o", "d", "d", "", FILE_DELETE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 202, 0, file_subject_named, PASSES(&delete_file_functions, DELETES)),
    ROW("Set File Properties", PUT, PATH, "comp=properties", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0, file_subject, PASSES(&set_file_properties_functions, WRITES)),
    ROW("Get File Metadata", GH, PATH, "comp=metadata", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, file_subject, PASSES(&get_file_metadata_functions, EXAMINES)),
    ROW("Set File Metadata", PUT, PATH, "comp=metadata", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 200, 0, file_subject, PASSES(&set_file_metadata_functions, WRITES)),
    ROW("Lease File", PUT, PATH, "comp=lease", "x-ms-lease-action=acquire", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 201, 0, file_subject, LOGGED_AS("AcquireFileLease", PASSES(&lease_file_functions, LEASES))),
    ROW("Lease File", PUT, PATH, "comp=lease", "x-ms-lease-action=change", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0, file_subject, LOGGED_AS("ChangeFileLease", PASSES(&lease_file_functions, PASSES))),
    ROW("Lease File", PUT, PATH, "comp=lease", "x-ms-lease-action=release", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 200, 0, file_subject, LOGGED_AS("ReleaseFileLease", PASSES(&lease_file_functions, PASSES))),
    ROW("Lease File", PUT, PATH, "comp=lease", "x-ms-lease-action=break", WRITES, MAY("o", "wd", "wd", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, ACTION, RETURNED, REFUSED, 0, 202, 0, file_subject, LOGGED_AS("BreakFileLease", PASSES(&lease_file_functions, PASSES))),
    ROW("Put Range From URL", PUT, PATH, "comp=range", "x-ms-copy-source", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2019-02-02",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, file_subject, PASSES(&put_range_from_url_functions, WRITES)),
    ROW("Put Range", PUT, PATH, "comp=range", "x-ms-write=clear", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 201, 0, file_subject, LOGGED_AS("ClearRange", PASSES(&clear_range_functions, WRITES))),
    ROW("Put Range", PUT, PATH, "comp=range", "x-ms-write=update", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, STAGED, PUT_RANGE_MAX, 201, 0, file_subject, PASSES(&put_range_functions, WRITES)),
    ROW("List Ranges", GET, PATH, "comp=rangelist", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2014-02-14",
        NO_IF, OTHER_READ, OPTIONAL, RETURNED, REFUSED, 0, 200, 0, file_subject, LOGGED_AS("ListFileRanges", PASSES(&list_ranges_functions, READS))),
    ROW("Abort Copy File", PUT, PATH, "comp=copy", "x-ms-copy-action=abort", WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2015-02-21",
        NO_IF, WRITE, WHEN_LEASED, NONE, REFUSED, 0, 204, 0, file_subject, PASSES(&abort_copy_file_functions, WRITES)),
    ROW("Rename File", PUT, PATH, "comp=rename", NULL, WRITES, MAY("o", "w", "w", "", FILE_WRITE, PRIVATE), "2021-04-10",
        NO_IF, WRITE, IGNORED, CHANGED, REFUSED, 0, 200, 0, new_subject, PASSES(&rename_file_functions, PASSES)),
    ROW("Create Symbolic Link", PUT, PATH, "restype=symboliclink", NULL, WRITES, MAY("o", "cw", "cw", "", FILE_WRITE, PRIVATE), "2025-07-05",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 0, 0, NULL, &link_functions),
    ROW("Get Symbolic Link", GET, PATH, "restype=symboliclink", NULL, READS, MAY("o", "r", "r", "", FILE_READ, PRIVATE), "2025-07-05",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 0, 0, NULL, &link_functions),
    ROW("Create Hard Link", PUT, PATH, "restype=hardlink", NULL, WRITES, MAY("o", "cw", "cw", "", FILE_WRITE, PRIVATE), "2025-05-05",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 0, 0, NULL, &link_functions),

    /* ---- PUT of a whole file: all requests need the header of the last row ---- */
    ROW("Copy File", PUT, PATH, "", "x-ms-copy-source", WRITES, MAY("o", "w", "w", "c", FILE_WRITE, PRIVATE), "2015-02-21",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, REFUSED, 0, 202, 0, new_subject, PASSES(&copy_file_functions, REPLACES)),
    ROW("Create File", PUT, PATH, "", "x-ms-type=file", WRITES, MAY("o", "w", "w", "c", FILE_WRITE, PRIVATE), "2014-02-14",
        NO_IF, WRITE, WHEN_LEASED, CHANGED, STAGED, PUT_RANGE_MAX, 201, 0, new_subject, PASSES(&create_file_functions, REPLACES)),
};
/* clang-format on */

static const char *const levels[] = {
    [LEVEL_SHARES] = "/",
    [LEVEL_SHARE] = "/share",
    [LEVEL_ROOT] = "/share",
    [LEVEL_PATH] = "/share/path",
};

static const struct task_handler task_handlers[] = {
    { TASK_FORGET_DELETION, "let a deleted name be made again", recent_deletion_forget },
    { TASK_COLLECT_SNAPSHOTS, "delete data retained for a share's snapshots", collect_snapshots },
    { TASK_EXPIRE_SHARE, "permanently delete a soft-deleted share", expire_share },
    { TASK_COPY_FILE, "go on with a pending copy", copy_file_task },
};

const struct service file_service = {
    .name = "file",
    .sections = SECTION_PROTOCOLS | SECTION_SHARE_RETENTION,
    .operations = operations,
    .operation_count = sizeof operations / sizeof operations[0],
    .task_handlers = task_handlers,
    .task_handler_count = sizeof task_handlers / sizeof task_handlers[0],
    .levels = levels,
    .answer_etag = answer_etag,
    .account_elsewhere = rename_account,
    .resource_size = sizeof(struct file_resource),
    .read_resource = file_read_resource,
    .names = file_signed_names,
    .check_names = file_check_names,
    .usage = &file_usage,
    .container = &share_container,
    .restore = &file_restore,
    .locate = file_locate,
    .permit_facts = file_permit_facts,
    .enter = file_enter,
    .leave = file_leave,
    .source = &file_source_functions,
};
