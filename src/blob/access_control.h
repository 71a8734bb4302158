/* Applies the access control lists of the files and directories of hierarchical containers: their
 * subjects, the permission check, and the lists of new files and directories. The lists themselves
 * are in acl/posix_acl.h.
 *
 * Account keys, and SAS without an agent, are not subject to them. Neither is a user whose roles
 * permit an operation; otherwise the lists of all directories of the path decide. decisions: 1241,
 * 1245 */
#ifndef LAGRA_BLOB_ACCESS_CONTROL_H
#define LAGRA_BLOB_ACCESS_CONTROL_H

#include "acl/posix_acl.h"
#include "blob/blob.h"

/* The callers of a decision that are subject to lists: the user, and the agent of a SAS (suoid). */
enum { ACL_USER, ACL_AGENT, ACL_CALLERS };
struct acl_callers {
    bool is_subject[ACL_CALLERS];
    bool is_sticky[ACL_CALLERS]; /* subject to sticky bits: also an agent that is not ruled */
    bool is_refused[ACL_CALLERS];
    struct posix_caller of[ACL_CALLERS];
    unsigned granted; /* permissions that the user's roles grant */
};
/* Returns false if no caller is subject to lists. */
bool acl_callers_find(const struct decision *d, struct acl_callers *ret_callers);
/* Refuses the callers that a list does not grant all of these permissions. */
void acl_callers_require(struct acl_callers *callers, const struct posix_acl *acl,
                         unsigned permissions);
/* Refuses the callers that the sticky bit of a directory, if set, does not permit to delete this
 * child. */
void acl_callers_require_unlink(struct acl_callers *callers, const struct posix_acl *directory,
                                const struct posix_acl *child);
static inline bool acl_callers_are_refused(const struct acl_callers *callers)
{
    return callers->is_refused[ACL_USER] || callers->is_refused[ACL_AGENT];
}
/* Returns true if all callers that are subject to lists own the file or directory. */
bool acl_callers_own(const struct acl_callers *callers, const struct posix_acl *acl);
/* Returns true if all callers that are subject to lists are members of the group. */
bool acl_callers_are_members(const struct acl_callers *callers, struct bytes group);

/* Finds what the lists permit, for permit(). Called after subject(). Returns OK, or an error of
 * decision_fail_store(). */
enum error access_control_facts(struct decision *d, struct permit_facts *facts);

struct tree_place;
/* Checks that the lists permit the caller to rename this file or directory.
 *
 * actions  permitted by the caller's roles in its container, or NULL for the request's container
 * returns  OK, E_AuthorizationPermissionMismatch, or an error of decision_fail_store() */
enum error access_control_check_source(struct decision *d, const struct tree_place *place,
                                       const struct blob *blob, const unsigned *actions);

/* Decodes the list of a blob. Returns STORE_OK, STORE_CORRUPT. */
enum store_result access_control_of(const struct decision *d, const struct blob *blob, bool is_root,
                                    struct posix_acl *ret_acl);
/* Sets the list of a blob. */
void access_control_put(struct decision *d, const struct posix_acl *acl, bool is_root,
                        struct blob *blob);
/* Reads the list of a directory from its partition. Returns STORE_OK, STORE_CORRUPT, or an error of
 * read_view_get(). */
enum store_result access_control_read(struct decision *d, uint64_t id, struct read_view *of,
                                      struct posix_acl *ret_acl);

/* Returns false if a SAS names an agent other than this owner of a file or directory. */
bool access_control_may_give(const struct decision *d, struct bytes owner);
/* Returns the owner of files and directories that the decision creates; POSIX_SUPERUSER if it names
 * no user. */
struct bytes access_control_creator(const struct decision *d);
/* Sets the list of a new file or directory. creation: from the request, or NULL for
 * the default. */
void access_control_inherit(const struct decision *d, const struct posix_acl *parent,
                            const struct posix_creation *creation, bool is_directory,
                            struct blob *blob);
/* Sets the list of the blob that the decision creates or overwrites, as with
 * access_control_inherit(). An existing file retains its owner and group, and an existing directory
 * its list, except for the owner, group and entries of the creation.
 *
 * returns  OK; E_AuthorizationPermissionMismatch if the caller may not set them; or an error of
 *          decision_fail_store(). decision: 1290 */
enum error access_control_give(struct decision *d, const struct posix_creation *creation,
                               struct blob *blob);

#endif
