/* Operations on access control lists, whose rows are in the table of the Data Lake endpoint. A flat
 * container has no lists: E_HierarchicalNamespaceNotEnabled. rest: Path-Update,
 * Path-Get-Properties */
#ifndef LAGRA_BLOB_ACCESS_CONTROL_OPERATIONS_H
#define LAGRA_BLOB_ACCESS_CONTROL_OPERATIONS_H

#include "blob/access_control.h"

/* Adds x-ms-owner, x-ms-group and x-ms-permissions of a blob in a hierarchical account. */
void answer_access_control(struct answer *a, const struct blob *blob);

/* Reads a header with a user or group; ptr NULL if it is absent. Returns OK,
 * E_InvalidHeaderValue. */
enum error access_control_read_id(struct call *call, const char *name, struct bytes *ret_id);

OPERATION_NO_PARAMETERS(get_access_control);
struct get_access_control_result {
    struct result base;
    bool is_directory;
    struct posix_acl acl;
};
OPERATION_DECLARE(get_access_control);

/* Determines whether the lists permit this access to the caller. rest: Path-Get-Properties
 * "checkAccess" */
struct check_access_parameters {
    struct parameters base;
    unsigned permissions;
};
OPERATION_NO_RESULT(check_access);
OPERATION_DECLARE(check_access);

/* check() demands the letter o and ACTION_BLOB_SUPER_USER for an owner. */
struct set_access_control_parameters {
    struct parameters base;
    bool has_entries, has_mode; /* not both */
    struct posix_entries entries;
    unsigned mode;
    struct bytes owner, group; /* unchanged if ptr is NULL */
};
OPERATION_NO_RESULT(set_access_control);
OPERATION_DECLARE(set_access_control);

#define ACL_RECORDS_MAX  2000u
#define ACL_FAILURES_MAX 100u
#define ACL_NAME_MAX     4096u

struct acl_failure {
    uint16_t length;
    bool is_directory;
    char name[ACL_NAME_MAX];
};
/* Progress of a recursive change: counts of the names before `from`. A change of many lists needs
 * several commits (DECIDE_PREPARED). Each attempt starts at `from` again, where lists that were
 * changed before need no change, so it does not matter whether the last commit succeeded. */
struct acl_progress {
    struct bytes from; /* without one (ptr NULL), the directory itself comes first */
    uint64_t directories, files, failures;
};
/* Allocated by check(), because the memory of an attempt does not outlive it. */
struct acl_recursion {
    struct acl_progress done;
    char from[ACL_NAME_MAX]; /* memory of done.from */
    struct acl_failure failed[ACL_FAILURES_MAX];
};
struct set_access_control_recursive_parameters {
    struct parameters base;
    enum posix_change how;
    struct posix_entries entries;
    uint64_t max;      /* 1..ACL_RECORDS_MAX names */
    bool is_forced;    /* continues after a failure */
    struct bytes from; /* a continuation, or ptr NULL */
    struct acl_recursion *recursion;
};
struct set_access_control_recursive_result {
    struct result base;
    struct acl_progress done;
    const struct acl_failure *failed; /* array of done.failures */
    struct bytes next;                /* where to continue; ptr NULL at the end */
};
OPERATION_DECLARE(set_access_control_recursive);

#endif
