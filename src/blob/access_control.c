/* See access_control.h. */
#include "blob/access_control.h"

#include "blob/namespace.h"
#include "service/small_record.h"

/* ---- callers ---- */

/* Returns the permissions on every file and directory that a user's roles grant, as in the
 * documented table of combined permissions. source: data-lake-storage-access-control-model */
static unsigned granted_by(unsigned actions)
{
    return (actions & ACTION_BLOB_READ ? POSIX_READ : 0u) |
           (actions & ACTION_BLOB_WRITE ? POSIX_WRITE : 0u);
}

/* The letter o permits acting as the owner where a sticky bit is set. */
static bool acts_as_owner(const struct sas *sas)
{
    return sas->permissions.len > 0 && memchr(sas->permissions.ptr, 'o', sas->permissions.len);
}

/* Finds the callers whose roles do not permit this action. actions: permitted by the roles */
static bool find_callers_of(const struct decision *d, unsigned action, unsigned actions,
                            struct acl_callers *ret_callers)
{
    const struct identity *identity = &d->input->identity;
    bool is_delegated = identity->kind == IDENTITY_SAS && identity->sas->kind == SAS_DELEGATION;
    struct acl_callers callers = { .granted = granted_by(actions) };

    *ret_callers = callers;
    if (!d->operation || (identity->kind != IDENTITY_BEARER && !is_delegated))
        return false;
    callers.is_subject[ACL_USER] = (action & ~actions) != 0;
    callers.is_sticky[ACL_USER] = callers.is_subject[ACL_USER];
    callers.of[ACL_USER] = (struct posix_caller){ .oid = identity->oid,
                                                  .groups = identity->groups,
                                                  .group_count = identity->group_count };
    if (is_delegated) {
        callers.is_subject[ACL_AGENT] = identity->sas->agent_is_ruled;
        callers.is_sticky[ACL_AGENT] =
            identity->sas->agent.len > 0 && !acts_as_owner(identity->sas);
        callers.of[ACL_AGENT].oid = identity->sas->agent;
    }
    *ret_callers = callers;
    return callers.is_subject[ACL_USER] || callers.is_subject[ACL_AGENT];
}

static bool find_callers(const struct decision *d, unsigned action, struct acl_callers *ret_callers)
{
    return find_callers_of(d, action, d->input->identity.actions, ret_callers);
}

bool acl_callers_find(const struct decision *d, struct acl_callers *ret_callers)
{
    *ret_callers = (struct acl_callers){ .granted = 0 };
    return d->operation && find_callers(d, decision_action(d), ret_callers);
}

void acl_callers_require(struct acl_callers *callers, const struct posix_acl *acl,
                         unsigned permissions)
{
    for (unsigned i = 0; i < ACL_CALLERS; i++) {
        unsigned wanted = permissions & ~(i == ACL_USER ? callers->granted : 0u);

        if (callers->is_subject[i] && !posix_acl_permits(acl, &callers->of[i], wanted))
            callers->is_refused[i] = true;
    }
}

bool acl_callers_own(const struct acl_callers *callers, const struct posix_acl *acl)
{
    for (unsigned i = 0; i < ACL_CALLERS; i++)
        if (callers->is_subject[i] && !posix_acl_is_owner(acl, &callers->of[i]))
            return false;
    return true;
}

bool acl_callers_are_members(const struct acl_callers *callers, struct bytes group)
{
    for (unsigned i = 0; i < ACL_CALLERS; i++)
        if (callers->is_subject[i] && !posix_is_member(&callers->of[i], group))
            return false;
    return true;
}

static void require_owner(struct acl_callers *callers, const struct posix_acl *acl)
{
    for (unsigned i = 0; i < ACL_CALLERS; i++)
        if (callers->is_subject[i] && !posix_acl_is_owner(acl, &callers->of[i]))
            callers->is_refused[i] = true;
}

void acl_callers_require_unlink(struct acl_callers *callers, const struct posix_acl *directory,
                                const struct posix_acl *child)
{
    for (unsigned i = 0; i < ACL_CALLERS; i++)
        if (callers->is_sticky[i] && !posix_acl_may_unlink(directory, child, &callers->of[i]))
            callers->is_refused[i] = true;
}

/* ---- lists of blobs ---- */

static struct bytes owner_of_root(const struct decision *d)
{
    const struct blob_state *state = (const struct blob_state *)(const void *)d->state;

    return state->container.owner.len > 0 ? state->container.owner
                                          : bytes_from_string(POSIX_SUPERUSER);
}

enum store_result access_control_of(const struct decision *d, const struct blob *blob, bool is_root,
                                    struct posix_acl *ret_acl)
{
    if (!posix_acl_decode(blob->acl, blob->is_directory, ret_acl))
        return record_is_unknown("an access control list", blob->acl);
    if (is_root && !blob->acl.ptr)
        ret_acl->owner = ret_acl->group = owner_of_root(d);
    return STORE_OK;
}

void access_control_put(struct decision *d, const struct posix_acl *acl, bool is_root,
                        struct blob *blob)
{
    blob->acl = posix_acl_encode(d->arena, acl, blob->is_directory);
    /* A list owned by the superuser differs from that of a root without a list. */
    if (is_root && !blob->acl.ptr)
        blob->acl = posix_acl_encode(d->arena, acl, !blob->is_directory);
}

enum store_result access_control_read(struct decision *d, uint64_t id, struct read_view *of,
                                      struct posix_acl *ret_acl)
{
    struct blob blob;
    enum store_result result = blob_read_kept(of, d->arena, blob_base, &blob);

    if (result == STORE_NOT_FOUND && id == TREE_ROOT)
        blob = (struct blob){ .is_directory = true };
    else if (result)
        return result == STORE_NOT_FOUND ? STORE_CONFLICT : result; /* deleted since */
    return access_control_of(d, &blob, id == TREE_ROOT, ret_acl);
}

/* ---- required permissions ---- */

/* Returns false if it requires nothing of the file or directory and of its parent. */
static bool find_operation(unsigned needs, bool exists, enum posix_operation *ret_operation)
{
    if (needs & NEEDS_ACL)
        *ret_operation = POSIX_CHANGES_ACL;
    else if (needs & NEEDS_DESTROY)
        *ret_operation = POSIX_DELETES;
    else if (!exists && (needs & (NEEDS_CREATE | NEEDS_NAME)))
        *ret_operation = POSIX_CREATES;
    else if (needs & (NEEDS_CREATE | NEEDS_NAME | NEEDS_CONTENT | NEEDS_METADATA | NEEDS_TIER |
                      NEEDS_SNAPSHOT | NEEDS_TAGS))
        *ret_operation = POSIX_WRITES;
    else if (needs & NEEDS_READ)
        *ret_operation = POSIX_READS;
    else
        return false;
    return true;
}

/* Reads the list of a directory of the path. */
static enum store_result read_directory(struct decision *d, uint64_t id, struct posix_acl *ret_acl)
{
    struct partition partition = tree_partition(d->arena, blob_state(d)->container.space, id);
    struct decision_part *open = decision_find_part(d, partition), *part = open;
    enum store_result result;

    if (!open)
        part = decision_open(d, partition, NULL);
    result = access_control_read(d, id, part->before, ret_acl);
    if (!open)
        decision_leave(d, part);
    return result;
}

/* Requires the execute permission on all existing directories of the path, and further permissions
 * on the last one. */
static enum store_result check_path(struct decision *d, const struct tree_place *place,
                                    struct acl_callers *callers, unsigned of_parent,
                                    struct posix_acl *ret_parent)
{
    for (size_t i = 0; i < place->path.count; i++) {
        bool is_last = i + 1 == place->path.count || place->directories[i + 1] == TREE_ROOT;
        enum store_result result = read_directory(d, place->directories[i], ret_parent);

        if (result)
            return result;
        acl_callers_require(callers, ret_parent, POSIX_EXECUTE | (is_last ? of_parent : 0));
        if (is_last)
            break;
    }
    return STORE_OK;
}

static enum store_result check_all(struct decision *d, struct acl_callers *callers)
{
    const struct blob_state *state = blob_state(d);
    const struct blob_node *node = state->node;
    bool exists = node->part != NULL && !state->has_expired,
         is_root = tree_place_is_root(&node->place);
    const struct posix_requirement *required = &posix_requirements[POSIX_SHOWS_STATUS];
    enum posix_operation operation;
    struct posix_acl parent, own;
    enum store_result result;

    if (find_operation(decision_passes(d), exists, &operation))
        required = &posix_requirements[operation];
    result = check_path(d, &node->place, callers, required->parent, &parent);
    if (result || !exists || (!state->found && !state->is_kept))
        return result;
    result = access_control_of(d, &state->blob, is_root, &own);
    if (result)
        return result;
    acl_callers_require(callers, &own, required->self);
    if (required->who == POSIX_THE_OWNER)
        require_owner(callers, &own);
    if (required == &posix_requirements[POSIX_DELETES] && !is_root)
        acl_callers_require_unlink(callers, &parent, &own);
    return STORE_OK;
}

enum error access_control_check_source(struct decision *d, const struct tree_place *place,
                                       const struct blob *blob, const unsigned *actions)
{
    struct acl_callers callers;
    struct posix_acl parent, own;
    enum store_result result;

    if (!find_callers_of(d, decision_action(d), actions ? *actions : d->input->identity.actions,
                         &callers) &&
        !callers.is_sticky[ACL_AGENT])
        return OK;
    result = check_path(d, place, &callers, posix_requirements[POSIX_DELETES].parent, &parent);
    if (!result)
        result = access_control_of(d, blob, false, &own);
    if (result)
        return decision_fail_store(d, result);
    acl_callers_require_unlink(&callers, &parent, &own);
    return acl_callers_are_refused(&callers) ? E_AuthorizationPermissionMismatch : OK;
}

static enum acl_result result_for(const struct acl_callers *callers, unsigned i)
{
    if (callers->is_refused[i])
        return ACL_REFUSES;
    return callers->is_subject[i] ? ACL_PERMITS : ACL_NONE;
}

enum error access_control_facts(struct decision *d, struct permit_facts *facts)
{
    const unsigned needs = decision_passes(d);
    struct acl_callers callers;
    enum store_result result = STORE_OK;

    if (!blob_state(d)->container.hierarchical || needs == 0 ||
        (!acl_callers_find(d, &callers) &&
         !(callers.is_sticky[ACL_AGENT] && (needs & NEEDS_DESTROY))))
        return OK;
    /* A list checks each directory that it reads (list_tree.h). */
    if (blob_state(d)->node)
        result = check_all(d, &callers);
    else if (!(needs & NEEDS_LIST))
        return OK;
    if (result)
        return decision_fail_store(d, result);
    facts->acl = result_for(&callers, ACL_USER);
    facts->acl_of_agent = result_for(&callers, ACL_AGENT);
    return OK;
}

/* ---- creation ---- */

struct bytes access_control_creator(const struct decision *d)
{
    const struct identity *identity = &d->input->identity;

    if (identity->kind == IDENTITY_SAS && identity->sas->agent.len > 0)
        return identity->sas->agent;
    return identity->oid.len > 0 ? identity->oid : bytes_from_string(POSIX_SUPERUSER);
}

void access_control_inherit(const struct decision *d, const struct posix_acl *parent,
                            const struct posix_creation *creation, bool is_directory,
                            struct blob *blob)
{
    struct posix_creation how = { .umask = POSIX_UMASK };
    struct posix_acl acl;

    if (creation)
        how = *creation;
    if (how.owner.len == 0)
        how.owner = access_control_creator(d);
    posix_acl_inherit(parent, &how, is_directory, &acl);
    blob->acl = posix_acl_encode(d->arena, &acl, is_directory);
}

bool access_control_may_give(const struct decision *d, struct bytes owner)
{
    const struct identity *identity = &d->input->identity;

    return identity->kind != IDENTITY_SAS || identity->sas->agent.len == 0 ||
           bytes_equal(owner, identity->sas->agent);
}

/* Only the superuser selects another owner. An owner selects the group, of which it must be a
 * member, and the entries.
 *
 * own  list of an existing file or directory, or NULL for a new one of the caller's */
static bool may_set(const struct decision *d, const struct posix_creation *creation,
                    const struct posix_acl *own, struct bytes group)
{
    struct acl_callers callers;

    if (creation->owner.len > 0 && !access_control_may_give(d, creation->owner))
        return false;
    if (!find_callers(d, ACTION_BLOB_SUPER_USER, &callers))
        return true;
    if (own && !acl_callers_own(&callers, own))
        return false;
    if (creation->owner.len > 0 &&
        !acl_callers_own(&callers, &(struct posix_acl){ .owner = creation->owner }))
        return false;
    return creation->group.len == 0 || bytes_equal(creation->group, group) ||
           acl_callers_are_members(&callers, creation->group);
}

/* Changes the list of an existing file or directory. */
static enum error change_existing(struct decision *d, const struct posix_creation *creation,
                                  struct blob *blob)
{
    bool is_root = tree_place_is_root(&blob_state(d)->node->place);
    struct posix_acl acl;
    enum store_result result = access_control_of(d, blob, is_root, &acl);

    if (result)
        return decision_fail_store(d, result);
    if (!may_set(d, creation, &acl, acl.group))
        return E_AuthorizationPermissionMismatch;
    if (creation->owner.len > 0)
        acl.owner = creation->owner;
    if (creation->group.len > 0)
        acl.group = creation->group;
    if (creation->entries)
        acl.entries = *creation->entries;
    access_control_put(d, &acl, is_root, blob);
    return OK;
}

/* Sets the list of a file that is overwritten: that of a new file, with the owner and group of the
 * old one. decision: 1273 */
static enum store_result renew(struct decision *d, const struct posix_creation *creation,
                               struct blob *blob)
{
    const struct blob_state *state = blob_state(d);
    struct posix_creation how = { .umask = POSIX_UMASK };
    struct posix_acl own, parent;
    enum store_result result = access_control_of(d, &state->blob, false, &own);

    if (!result)
        result = read_directory(d, tree_place_parent(&state->node->place), &parent);
    if (result)
        return result;
    if (creation)
        how = *creation;
    how.owner = own.owner;
    how.group = own.group;
    how.entries = NULL;
    access_control_inherit(d, &parent, &how, false, blob);
    return STORE_OK;
}

enum error access_control_give(struct decision *d, const struct posix_creation *creation,
                               struct blob *blob)
{
    const struct blob_state *state = blob_state(d);
    enum store_result result = STORE_OK;
    const struct posix_acl *parent = state->node ? state->node->parent_acl : NULL;
    bool sets = creation &&
                (creation->owner.len > 0 || creation->group.len > 0 || creation->entries != NULL);

    if (parent && sets && !may_set(d, creation, NULL, parent->group))
        return E_AuthorizationPermissionMismatch;
    if (parent)
        access_control_inherit(d, parent, creation, blob->is_directory, blob);
    else if (state->node && d->subject.exists && !blob->is_directory)
        result = renew(d, creation, blob);
    else if (state->found || state->is_kept)
        blob->acl = state->blob.acl;
    if (result)
        return decision_fail_store(d, result);
    return !parent && sets ? change_existing(d, creation, blob) : OK;
}
