/* Opening files and directories over SMB. */
#include "handles/handle_open.h"

#include <assert.h>

#include "file/file_content.h"
#include "handles/handle_private.h"
#include "file/file_operations.h"
#include "opens/change_notification.h"

/* Attributes that a client can set on a new node. MS-FSCC 2.6 */
#define ATTRIBUTES_OF_DIRECTORIES                                                                  \
    (ATTRIBUTES_ALL & ~(uint32_t)(ATTRIBUTE_DIRECTORY | ATTRIBUTE_TEMPORARY))
#define ATTRIBUTES_OF_FILES (ATTRIBUTES_ALL & ~(uint32_t)ATTRIBUTE_DIRECTORY)

static bool makes(const struct handle_open *open)
{
    return open->disposition != OPEN_EXISTING && open->disposition != OPEN_OVERWRITES;
}

static bool overwrites(const struct handle_open *open)
{
    return open->disposition == OPEN_SUPERSEDES || open->disposition == OPEN_OVERWRITES ||
           open->disposition == OPEN_OVERWRITES_OR_NEW;
}

/* ---- lookup ---- */

/* Looks up the name. Keeps the directory as a part only if an entry may be created in it;
 * opening an existing node depends on the node alone. */
static enum error find(struct decision *d, const struct handle_open *open)
{
    struct file_state *state = file_state(d);
    bool may_make = makes(open) && open->snapshot == 0 && open->name_count > 0;
    struct tree_path path;
    enum tree_result found;
    enum error e = handle_path(d, open->names, open->name_count, &path);

    if (e)
        return e;
    found = tree_find(&state->tree, &path, may_make ? TREE_TO_CHANGE : TREE_TO_READ, &state->place);
    if (found)
        return file_fail_tree(d, found);
    if (may_make && state->place.exists)
        decision_leave(d, tree_directory_part(&state->tree, &state->place));
    return OK;
}

/* ---- existing nodes ---- */

static enum error check_kind(const struct handle_open *open, enum tree_kind kind)
{
    if (open->kind == OPEN_FILE && kind != TREE_FILE)
        return E_ResourceTypeMismatch;
    if (open->kind == OPEN_DIRECTORY && kind != TREE_DIRECTORY)
        return E_ResourceTypeMismatch;
    return kind == TREE_DIRECTORY && overwrites(open) ? E_InvalidInput : OK;
}

/* Refuses to overwrite a hidden or system file unless the request sets the same attributes.
 * MS-FSA 2.1.5.1.2.1 */
static enum error check_attributes(const struct handle_open *open, const struct file *file)
{
    const uint32_t said = ATTRIBUTE_HIDDEN | ATTRIBUTE_SYSTEM;

    if (overwrites(open) && (file->attributes & said & ~open->attributes))
        return E_AuthorizationPermissionMismatch;
    if (open->deletes && (file->attributes & ATTRIBUTE_READ_ONLY))
        return E_ReadOnlyAttribute;
    return OK;
}

/* Returns the access that an overwrite requires in addition to the desired access. MS-FSA
 * 2.1.5.1.2.1; docs: irp-mj-create, "FILE_SUPERSEDE and FILE_OVERWRITE" */
static uint32_t needed(const struct handle_open *open)
{
    const uint32_t always = MAY_WRITE_EA | MAY_WRITE_ATTRIBUTES;

    if (!overwrites(open))
        return 0;
    return always | (open->disposition == OPEN_SUPERSEDES ? MAY_DELETE : MAY_WRITE_DATA);
}

static enum error check_deletes(const struct handle_open *open)
{
    return open->deletes && !(open->handle.granted & MAY_DELETE) ? E_AuthorizationPermissionMismatch
                                                                 : OK;
}

static enum error grant(struct decision *d, struct handle_open *open)
{
    enum error e = handle_grant(d, open->tree_connect, open->desired, needed(open),
                                &open->handle.granted, &open->maximum);

    return e ? e : check_deletes(open);
}

/* Checks the open state and adds the handle to the node's opens. */
static enum error pass(struct decision *d, struct handle_open *open, struct open_state *opens)
{
    bool is_file = file_state(d)->file.kind == TREE_FILE;
    struct durable_handle_state durable = open->durable;
    const struct open_state_open request = {
        .access = access_mask_shares(open->handle.granted),
        .meets = access_mask_meets(open->handle.granted),
        .share = open->share,
        .replaces = open->action != OPENED_NEW && overwrites(open),
        .caching = is_file ? open->caching : 0,
        .caching_key = open->caching_key,
        .is_oplock = open->is_oplock,
        .is_lease = is_file && open->is_lease,
        .epoch = open->epoch,
        .persists = is_file && open->persists,
        .durable = &durable,
        .deletes = open->deletes,
        .session = open->session,
        .client_address = open->client_address,
        .client_name = open->client_name,
    };
    struct handle handle;
    enum error e;

    durable.granted = open->handle.granted;
    e = open_state_open(opens, &request, &handle, &open->given);
    if (!e)
        open->handle.id = handle.id;
    return e;
}

/* Truncates the file and resets its attributes and times. Its id, descriptor and creation time
 * are unchanged. MS-FSA 2.1.5.1.2.1 */
static enum error overwrite(struct decision *d, const struct handle_open *open)
{
    struct file_state *state = file_state(d);
    struct file *file = &state->file;
    uint32_t kept = open->disposition == OPEN_SUPERSEDES ? 0 : file->attributes;
    enum error e = file->content.length > 0 ? file_resize(d, file, 0) : OK;

    if (e)
        return e;
    file->attributes = kept | (open->attributes & ATTRIBUTES_OF_FILES) | ATTRIBUTE_ARCHIVE;
    file->accessed = file->written = d->now;
    file->metadata = open->disposition == OPEN_SUPERSEDES ? bytes_of(NULL, 0) : file->metadata;
    file_write_changed(d, file);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED,
                         CHANGE_ATTRIBUTES | CHANGE_SIZE | CHANGE_LAST_WRITE);
}

static enum error open_there(struct decision *d, struct handle_open *open)
{
    struct file_state *state = file_state(d);
    struct open_state *opens = NULL;
    enum error e;

    if (tree_open_node(&state->tree, &state->place, &state->part))
        return decision_fail_store(d, state->tree.failed);
    decision_move_subject(d, state->part);
    decision_read_clock(d);
    e = file_load(d);
    if (!e && open->disposition == OPEN_NEW)
        e = E_ResourceAlreadyExists;
    if (!e)
        e = check_kind(open, state->file.kind);
    if (!e && open->snapshot == 0)
        e = handle_gate(d, state->part, state->place.entry.id, &state->file, &opens);
    if (!e && opens && opens->set.is_delete_pending)
        e = E_DeletePending;
    if (!e)
        e = check_attributes(open, &state->file);
    if (!e)
        e = grant(d, open);
    if (!e && opens)
        e = pass(d, open, opens);
    if (!e && overwrites(open))
        e = overwrite(d, open);
    if (!e)
        open->info = handle_show(d, NULL, opens);
    return e;
}

/* Refuses changes in a share snapshot. */
static enum error check_snapshot(const struct handle_open *open)
{
    uint32_t asked = access_mask_mapped(open->desired) & ~(MAY_MAXIMUM | MAY_ACCESS_SACL);

    return makes(open) || overwrites(open) || open->deletes || (asked & ~MAY_READ)
               ? E_ShareSnapshotOperationNotSupported
               : OK;
}

/* ---- new nodes ---- */

/* Fails if the directory has a pending delete. */
static enum error pass_directory(struct decision *d)
{
    struct file_state *state = file_state(d);
    struct open_state opens;
    enum error e =
        open_state_read(&opens, &state->tree, tree_directory_part(&state->tree, &state->place),
                        tree_place_parent(&state->place));

    return e ? e : open_state_add_name(&opens, false);
}

static enum tree_kind kind_of_new(const struct handle_open *open)
{
    return open->kind == OPEN_DIRECTORY ? TREE_DIRECTORY : TREE_FILE;
}

/* Chooses the descriptor of the new node. The default needs no record of its own. */
static enum error settle_descriptor(struct decision *d, const struct handle_open *open,
                                    struct permission_given *ret_permission)
{
    *ret_permission = (struct permission_given){ .kind = PERMISSION_INHERITED };
    if (!open->descriptor.ptr && !open->tree_connect->token)
        return OK;
    ret_permission->kind = PERMISSION_DESCRIPTOR;
    return descriptor_of_new(d, open->tree_connect, open->descriptor, kind_of_new(open),
                             &ret_permission->descriptor);
}

/* Creates the node. Its creator is granted all access it desires. */
static enum error new_node(struct decision *d, struct handle_open *open)
{
    struct file_state *state = file_state(d);
    enum tree_kind kind = kind_of_new(open);
    struct file file = { .kind = kind };
    struct smb_given given = {
        .has_attributes = true,
        .attributes = kind == TREE_FILE
                          ? (open->attributes & ATTRIBUTES_OF_FILES) | ATTRIBUTE_ARCHIVE
                          : open->attributes & ATTRIBUTES_OF_DIRECTORIES,
        .created = { .kind = TIME_NOW },
        .written = { .kind = TIME_NOW },
        .changed = { .kind = TIME_NOW },
    };
    enum tree_result made;
    enum error e = settle_descriptor(d, open, &given.permission);

    if (!e)
        e = handle_grant_new(d, open->tree_connect, given.permission.descriptor, open->desired,
                             &open->handle.granted, &open->maximum);
    if (!e)
        e = check_deletes(open);
    if (e)
        return e;
    made = tree_create(&state->tree, &state->place, kind, &state->part);
    if (made)
        return file_fail_tree(d, made);
    if (kind == TREE_FILE)
        file.content = content_sparse(d->now, 0);
    return new_file_write(d, state->part, &given, &file);
}

static enum error open_new(struct decision *d, struct handle_open *open)
{
    struct file_state *state = file_state(d);
    struct open_state *opens;
    enum error e;

    if (!makes(open))
        return E_ResourceNotFound;
    if (open->deletes && (open->attributes & ATTRIBUTE_READ_ONLY))
        return E_ReadOnlyAttribute;
    if (open->kind == OPEN_DIRECTORY && overwrites(open))
        return E_InvalidInput;
    if (open->makes_no_file && kind_of_new(open) == TREE_FILE)
        return E_InsufficientAccountCapacity;
    decision_move_subject(d, tree_directory_part(&state->tree, &state->place));
    e = handle_may_add(d, open->tree_connect, kind_of_new(open));
    if (!e)
        e = pass_directory(d);
    if (!e)
        e = new_node(d, open);
    if (!e)
        e = handle_gate(d, state->part, state->place.entry.id, &state->file, &opens);
    if (e)
        return e;
    opens->is_read_only = false; /* not enforced for the creator */
    open->action = OPENED_NEW;
    open->lasts = true;
    e = pass(d, open, opens);
    if (e)
        return e;
    open->info = handle_show(d, NULL, opens);
    return OK;
}

/* ---- both ---- */

static enum open_action action_of(const struct handle_open *open)
{
    if (open->disposition == OPEN_SUPERSEDES)
        return OPENED_NEW_FOR_OLD;
    return overwrites(open) ? OPENED_OVERWRITTEN : OPENED_EXISTING;
}

enum error handle_open_attempt(struct decision *d, void *of)
{
    struct handle_open *open = of;
    enum error e = open->snapshot > 0 ? check_snapshot(open) : OK;

    open->handle = (struct held_handle){ .snapshot = open->snapshot };
    open->given = (struct caching_given){ .epoch = open->epoch };
    open->action = action_of(open);
    open->lasts = overwrites(open);
    if (!e)
        e = handle_begin(d, open->tree_connect, open->snapshot);
    if (e == E_ShareNotFound && open->snapshot > 0)
        e = E_ResourceNotFound;
    if (!e)
        e = find(d, open);
    if (!e)
        e = file_state(d)->place.exists ? open_there(d, open) : open_new(d, open);
    if (e)
        return e;
    open->handle.node = open->info.node;
    open->handle.parent = open->info.parent;
    open->handle.kind = open->info.kind;
    return OK;
}
