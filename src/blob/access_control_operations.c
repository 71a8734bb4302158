/* See access_control_operations.h. A change of a list changes neither ETag nor Last-Modified, as
 * recorded. */
#include "blob/access_control_operations.h"

#include <assert.h>

#include "blob/immutability.h"
#include "blob/list_tree.h"
#include "blob/namespace.h"

/* Parts that the walk needs besides those of changed lists. */
#define FREE_PARTS 4u

/* Reads the list of the subject. */
static enum error read_own(struct decision *d, struct posix_acl *ret_acl)
{
    const struct blob_state *state = blob_state(d);
    enum store_result result;

    if (!state->node)
        return E_HierarchicalNamespaceNotEnabled;
    result = access_control_of(d, &state->blob, tree_place_is_root(&state->node->place), ret_acl);
    return result ? decision_fail_store(d, result) : OK;
}

static void write_own(struct decision *d, const struct posix_acl *acl)
{
    const struct blob_state *state = blob_state(d);
    struct blob blob = state->blob;

    access_control_put(d, acl, tree_place_is_root(&state->node->place), &blob);
    if (bytes_equal(blob.acl, state->blob.acl))
        return;
    blob_change(d, &state->blob, &blob);
}

enum error get_access_control_decide(struct decision *d,
                                     const struct get_access_control_parameters *p,
                                     struct get_access_control_result *r)
{
    (void)p;
    r->is_directory = blob_is_directory(d);
    return read_own(d, &r->acl);
}

enum error check_access_decide(struct decision *d, const struct check_access_parameters *p,
                               struct check_access_result *r)
{
    struct acl_callers callers;
    struct posix_acl acl;
    enum error e = read_own(d, &acl);

    (void)r;
    if (e || !acl_callers_find(d, &callers))
        return e;
    acl_callers_require(&callers, &acl, p->permissions);
    return acl_callers_are_refused(&callers) ? E_AuthorizationPermissionMismatch : OK;
}

/* ---- one list ---- */

/* An owner may select a group of which it is a member; the superuser may select any group. */
static bool may_set_group(const struct decision *d, struct bytes group)
{
    struct acl_callers callers;

    return !acl_callers_find(d, &callers) || acl_callers_are_members(&callers, group);
}

enum error set_access_control_decide(struct decision *d,
                                     const struct set_access_control_parameters *p,
                                     struct set_access_control_result *r)
{
    struct posix_acl acl;
    enum error e = read_own(d, &acl);

    (void)r;
    if (e)
        return e;
    if (p->has_entries && !posix_acl_change(&acl, POSIX_SET, &p->entries, blob_is_directory(d)))
        return E_InvaldAccessControlList;
    if (p->has_mode)
        posix_acl_set_mode(&acl, p->mode);
    if (p->owner.ptr && !access_control_may_give(d, p->owner))
        return E_AuthorizationPermissionMismatch;
    if (p->owner.ptr)
        acl.owner = p->owner;
    if (p->group.ptr && !bytes_equal(p->group, acl.group) && !may_set_group(d, p->group))
        return E_AuthorizationPermissionMismatch;
    if (p->group.ptr)
        acl.group = p->group;
    write_own(d, &acl);
    return OK;
}

/* ---- a directory with its content ---- */

struct recursion {
    struct decision *d;
    const struct set_access_control_recursive_parameters *p;
    struct acl_callers callers;
    bool is_ruled;
    struct acl_progress now;   /* at the current name */
    struct acl_progress batch; /* at the first name that this attempt changes */
    bool has_changed;
};

static void count_failure(struct recursion *r, struct bytes name, bool is_directory)
{
    struct acl_failure *failure = &r->p->recursion->failed[r->now.failures++];

    assert(name.len <= ACL_NAME_MAX);
    failure->length = (uint16_t)name.len;
    failure->is_directory = is_directory;
    memcpy(failure->name, name.ptr, name.len);
}

/* Changes the list of a blob. Returns OK; E_InvaldAccessControlList if it cannot be changed so;
 * E_AuthorizationPermissionMismatch. *ret_blob: with the new list */
static enum error change_list(struct recursion *r, const struct blob *blob, bool is_root,
                              struct blob *ret_blob)
{
    struct posix_entries entries = r->p->entries;
    struct posix_acl acl;
    enum store_result result = access_control_of(r->d, blob, is_root, &acl);

    if (result)
        return decision_fail_store(r->d, result);
    if (r->is_ruled && !acl_callers_own(&r->callers, &acl))
        return E_AuthorizationPermissionMismatch;
    if (!blob->is_directory)
        posix_entries_without_defaults(&entries);
    if (entries.count > 0 && !posix_acl_change(&acl, r->p->how, &entries, blob->is_directory))
        return E_InvaldAccessControlList;
    *ret_blob = *blob;
    access_control_put(r->d, &acl, is_root, ret_blob);
    return OK;
}

static void count_success(struct recursion *r, const struct blob *blob)
{
    if (blob->is_directory)
        r->now.directories++;
    else
        r->now.files++;
}

/* Changes the list of the directory itself. */
static enum error change_own(struct recursion *r)
{
    const struct blob_state *state = blob_state(r->d);
    struct blob changed;
    enum error e = change_list(r, &state->blob, tree_place_is_root(&state->node->place), &changed);

    if (e)
        return e;
    if (!bytes_equal(changed.acl, state->blob.acl)) {
        r->batch = r->now;
        r->has_changed = true;
        blob_change(r->d, &state->blob, &changed);
    }
    count_success(r, &changed);
    return OK;
}

/* Changes the list of the current name of the walk. Returns DECIDE_PREPARED if the commit is
 * full. */
static enum error change_one(struct recursion *r, struct tree_records *records, struct bytes name,
                             const struct blob *blob)
{
    struct decision_part *part;
    struct blob changed;
    enum error e = change_list(r, blob, false, &changed);

    if (e == E_AuthorizationPermissionMismatch) {
        count_failure(r, name, blob->is_directory);
        return OK;
    }
    if (e)
        return e;
    if (!bytes_equal(changed.acl, blob->acl)) {
        if (r->d->part_count + FREE_PARTS >= DECISION_PARTS_MAX)
            return DECIDE_PREPARED;
        if (!r->has_changed)
            r->batch = r->now;
        r->has_changed = true;
        part = tree_records_keep(records);
        part->changes = changes_new(r->d->arena);
        blob_write(part->changes, r->d->arena, &changed);
    }
    count_success(r, &changed);
    return OK;
}

static uint64_t count_of(const struct acl_progress *progress)
{
    return progress->directories + progress->files + progress->failures;
}

static enum error walk(struct recursion *r, struct tree_records *records, struct bytes *ret_next)
{
    for (;;) {
        struct space_record record;
        struct bytes name;
        struct blob blob;
        enum store_result result = tree_records_next(records, &record);
        enum error e;

        if (result)
            return result == STORE_NOT_FOUND ? OK : decision_fail_store(r->d, result);
        name = arena_copy(r->d->arena, record.partition_key);
        if (count_of(&r->now) >= r->p->max || r->now.failures == ACL_FAILURES_MAX) {
            *ret_next = name;
            return OK;
        }
        if (!blob_decode(record.value, &blob))
            return decision_fail_store(r->d, STORE_CORRUPT);
        r->now.from = name;
        if (file_has_expired(r->d, &blob))
            continue;
        e = change_one(r, records, name, &blob);
        if (e || (r->now.failures > 0 && !r->p->is_forced))
            return e;
    }
}

/* Walks over the directory's content, from the progress of the earlier attempts. */
static enum error change_below(struct recursion *r, struct bytes *ret_next)
{
    struct list_blobs_parameters asked = { .uncommitted = true };
    struct bytes path = blob_asked(r->d)->blob;
    struct tree_records *records;
    enum error e;

    if (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    asked.listing.prefix =
        path.len > 0 ? arena_printf(r->d->arena, "%.*s/", BYTES_ARG(path)) : bytes_from_string("");
    records = tree_records_open(r->d, &asked, r->now.from.ptr ? r->now.from : asked.listing.prefix);
    e = walk(r, records, ret_next);
    tree_records_close(records);
    return e;
}

static void keep_progress(struct recursion *r)
{
    struct acl_recursion *kept = r->p->recursion;

    kept->done = r->batch;
    if (!r->batch.from.ptr)
        return;
    assert(r->batch.from.len <= sizeof kept->from);
    memmove(kept->from, r->batch.from.ptr, r->batch.from.len);
    kept->done.from.ptr = kept->from;
}

enum error set_access_control_recursive_decide(
    struct decision *d, const struct set_access_control_recursive_parameters *p,
    struct set_access_control_recursive_result *ret)
{
    struct recursion r = { .d = d, .p = p, .now = p->recursion->done };
    struct bytes next = { NULL, 0 };
    enum error e = OK;

    if (!blob_state(d)->node)
        return E_HierarchicalNamespaceNotEnabled;
    if (!r.now.from.ptr)
        r.now.from = p->from;
    r.is_ruled = acl_callers_find(d, &r.callers);
    if (!r.now.from.ptr)
        e = change_own(&r);
    if (!e && blob_is_directory(d))
        e = change_below(&r, &next);
    if (e == DECIDE_PREPARED)
        keep_progress(&r);
    ret->done = r.now;
    ret->failed = p->recursion->failed;
    ret->next = next;
    return e;
}
