/* See status.h. */
#include "smb_protocol/status.h"

#include <assert.h>

static const struct {
    const char *name;
    uint32_t value;
} statuses[NT_STATUS_COUNT] = {
#define NT_STATUS(name, value) [name] = { #name, value },
#include "smb_protocol/status.def"
#undef NT_STATUS
};

uint32_t nt_status_value(enum nt_status status)
{
    assert(status < NT_STATUS_COUNT);
    return statuses[status].value;
}

const char *nt_status_name(enum nt_status status)
{
    assert(status < NT_STATUS_COUNT);
    return statuses[status].name;
}

bool nt_status_is_error(enum nt_status status)
{
    return nt_status_value(status) >> 30 == 3;
}

/* NTSTATUS of decision errors; STATUS_INVALID_PARAMETER for errors not listed. ms-fsa: 2.1.5;
 * ms-smb2: 3.3.5; ms-erref: 2.3.1; semantics 8.2, 8.3 */
static const enum nt_status answers[ERROR_COUNT] = {
    [E_AccountIsDisabled] = STATUS_ACCESS_DENIED,
    [E_AuthenticationFailed] = STATUS_LOGON_FAILURE,
    [E_AuthorizationFailure] = STATUS_ACCESS_DENIED,
    [E_AuthorizationPermissionMismatch] = STATUS_ACCESS_DENIED,
    [E_CannotDeleteFileOrDirectory] = STATUS_CANNOT_DELETE,
    /* another client still has the file open */
    [E_ClientCacheFlushDelay] = STATUS_SHARING_VIOLATION,
    [E_DeletePending] = STATUS_DELETE_PENDING,
    [E_DirectoryNotEmpty] = STATUS_DIRECTORY_NOT_EMPTY,
    [E_FileInvalidPermission] = STATUS_INVALID_SECURITY_DESCR,
    [E_FileLockConflict] = STATUS_FILE_LOCK_CONFLICT,
    [E_InsufficientAccountCapacity] = STATUS_DISK_FULL,
    [E_InsufficientAccountPermissions] = STATUS_ACCESS_DENIED,
    [E_InsufficientStorage] = STATUS_DISK_FULL,
    [E_InternalError] = STATUS_UNEXPECTED_IO_ERROR,
    [E_InvalidFileOrDirectoryPathName] = STATUS_OBJECT_NAME_INVALID,
    [E_InvalidResourceName] = STATUS_OBJECT_NAME_INVALID,
    [E_LeaseIdMismatchWithContainerOperationOnShare] = STATUS_SHARING_VIOLATION,
    [E_LeaseIdMismatchWithFileOperation] = STATUS_SHARING_VIOLATION,
    [E_LeaseIdMissing] = STATUS_SHARING_VIOLATION,
    [E_LeaseIdMissingOnFile] = STATUS_SHARING_VIOLATION,
    [E_LeaseIdMissingOnShare] = STATUS_SHARING_VIOLATION,
    [E_NotImplemented] = STATUS_NOT_SUPPORTED,
    [E_OperationTimedOut] = STATUS_IO_TIMEOUT,
    [E_OutOfRangeInput] = STATUS_INVALID_PARAMETER,
    [E_ParentNotFound] = STATUS_OBJECT_PATH_NOT_FOUND,
    [E_PendingCopyOperation] = STATUS_SHARING_VIOLATION,
    [E_ReadOnlyAttribute] = STATUS_ACCESS_DENIED,
    [E_RequestBodyTooLarge] = STATUS_INVALID_PARAMETER,
    [E_ResourceAlreadyExists] = STATUS_OBJECT_NAME_COLLISION,
    [E_ResourceNotFound] = STATUS_OBJECT_NAME_NOT_FOUND,
    [E_ResourceTypeMismatch] = STATUS_OBJECT_NAME_COLLISION,
    [E_ServerBusy] = STATUS_INSUFF_SERVER_RESOURCES,
    [E_ShareBeingDeleted] = STATUS_NETWORK_NAME_DELETED,
    [E_ShareDisabled] = STATUS_ACCESS_DENIED,
    [E_ShareNotFound] = STATUS_BAD_NETWORK_NAME,
    [E_ShareSizeLimitReached] = STATUS_DISK_FULL,
    [E_ShareSnapshotOperationNotSupported] = STATUS_MEDIA_WRITE_PROTECTED,
    [E_SharingViolation] = STATUS_SHARING_VIOLATION,
    [E_WriteNotAllowed] = STATUS_ACCESS_DENIED,
};

enum nt_status nt_status_of(enum error e)
{
    assert(e < ERROR_COUNT);
    if (e == OK)
        return STATUS_SUCCESS;
    return answers[e] != STATUS_SUCCESS ? answers[e] : STATUS_INVALID_PARAMETER;
}

enum nt_status nt_status_of_handle(enum error e)
{
    return e == E_ResourceNotFound ? STATUS_FILE_CLOSED : nt_status_of(e);
}
