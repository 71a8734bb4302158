/* Renaming files and directories: see path_operations.h. */
#include "blob/path_operations.h"

#include "blob/access_control.h"
#include "blob/container_root.h"
#include "blob/contents.h"
#include "blob/immutability.h"
#include "blob/kept_paths.h"
#include "blob/namespace.h"
#include "blob/snapshot_changes.h"

/* The renamed file or directory. */
struct rename_source {
    struct tree_place place;
    struct blob blob;
};

/* Returns true if the source is in another container than the destination. */
static bool is_across(const struct decision *d, const struct path_rename *asked)
{
    return asked->container.ptr && !bytes_equal(asked->container, blob_asked(d)->container);
}

static enum error fail_other_tree(struct decision *d)
{
    return decision_fail(d, E_NotImplemented,
                         "The paths of these two filesystems are not in one tree, so that none can "
                         "be renamed from one to the other.");
}

enum error path_rename_open_container(struct decision *d, const struct path_rename *asked,
                                      struct container *ret_container)
{
    const struct partition at = { .space = blob_account_space(d->input->account),
                                  .key = is_across(d, asked) ? asked->container
                                                             : blob_asked(d)->container };
    struct decision_part *open = decision_find_part(d, at), *part = open;
    enum store_result result;

    *ret_container = blob_state(d)->container;
    if (!ret_container->hierarchical || (!is_across(d, asked) && !asked->keeps_container))
        return OK;
    if (!part)
        part = decision_open(d, at, NULL);
    result = container_read(part->before, d->arena, ret_container);
    if (!open && !asked->keeps_container)
        decision_leave(d, part);
    if (result == STORE_NOT_FOUND)
        return asked->may_be_elsewhere ? fail_other_tree(d) : E_SourcePathNotFound;
    return result ? decision_fail_store(d, result) : OK;
}

/* Source and destination are read one after the other. What is decided from now on rests on both, so
 * none of what has been read may have changed. */
enum error path_rename_find_source(struct decision *d, const struct path_rename *asked)
{
    struct blob_node *node = blob_state(d)->node;
    struct tree *tree = &node->tree;
    struct rename_source *source = arena_alloc(d->arena, sizeof *source);
    struct container *container = arena_alloc(d->arena, sizeof *container);
    struct decision_part *part;
    struct tree_path path;
    enum tree_result found;
    enum store_result read;
    enum error e = path_rename_open_container(d, asked, container);

    if (!e)
        e = namespace_parse(d->arena, asked->source, &path);
    if (e)
        return e;
    if (is_across(d, asked) && !containers_share_tree(container, &blob_state(d)->container))
        return fail_other_tree(d);
    found = container_find(tree, container, &path, TREE_TO_CHANGE, &source->place, &part);
    if (found == TREE_FAILED)
        return decision_fail_store(d, tree->failed);
    if (found || !part)
        return E_SourcePathNotFound;
    if (tree_place_is_root(&source->place))
        return E_InvalidRenameSourcePath;
    decision_read_clock(d);
    read = blob_read(part->before, d->arena, blob_base, &source->blob);
    if (read)
        return decision_fail_content(d, read);
    if (source->blob.uncommitted ||
        (blob_has_expired(&source->blob, d->now) &&
         !container_retains(&container->immutability, &source->blob, d->now)))
        return E_SourcePathNotFound;
    node->rename_source = source;
    node->leaves = is_across(d, asked) ? &container->immutability : NULL;
    read = decision_confirm(d);
    return read ? decision_fail_store(d, read) : OK;
}

static enum error check_source(struct decision *d, const struct path_rename *asked,
                               const struct blob *source)
{
    const struct subject subject = {
        .exists = true, .etag = source->etag, .modified = source->modified, .tags = source->tags
    };
    enum error e = lease_check_write(LEASE_OF_BLOB, &source->lease, asked->source_lease, d->now);

    if (!e)
        e = conditions_check(CONDITIONS_OF_WRITE, &asked->source_conditions, &subject);
    if (e == E_ConditionNotMet)
        return E_SourceConditionNotMet;
    if (!e && source->copy.status == COPY_PENDING)
        return E_PendingCopyOperation;
    return e;
}

/* Checks the destination, before the tree does. */
static enum error check_destination(struct decision *d, const struct rename_source *source)
{
    const struct blob_node *node = blob_state(d)->node;

    if (node->found == TREE_NO_PARENT)
        return E_RenameDestinationParentPathNotFound;
    if (node->found == TREE_PARENT_IS_FILE)
        return E_PathConflict;
    if (node->part && node->place.entry.id == source->place.entry.id)
        return E_InvalidRenameSourcePath;
    if (node->part && node->place.entry.kind != source->place.entry.kind)
        return E_InvalidSourceOrDestinationResourceType;
    return OK;
}

/* Deletes the records of the blob that is replaced. */
static enum error drop_replaced(struct decision *d)
{
    const struct blob *replaced = &blob_state(d)->blob;
    struct ended_contents ended = { .count = 0 };
    enum store_result result;

    if (!replaced->uncommitted)
        contents_end(d, &ended, replaced);
    result = contents_drop_staged(d, NULL);
    if (!result)
        result = content_release_reference(d, &ended, NULL);
    if (result)
        return decision_fail_content(d, result);
    blob_change(d, replaced, NULL);
    return OK;
}

/* Determines whether the replaced blob is retained, and until when. */
static enum error find_retention(struct decision *d, struct retention *ret_retention)
{
    const struct blob *replaced = &blob_state(d)->blob;
    bool has_snapshots;
    enum store_result result = snapshots_find_live(d, replaced, &has_snapshots);

    *ret_retention = (struct retention){ .expires = 0 };
    if (!result && has_snapshots)
        return E_SnapshotsPresent;
    if (!result && !replaced->uncommitted)
        result = retention_find_of_paths(d, d->input->account, ret_retention);
    return result ? decision_fail_store(d, result) : OK;
}

static enum error fail_rename(struct decision *d, enum tree_result result)
{
    switch (result) {
    case TREE_NOT_EMPTY:
        return decision_take_back(d, E_PathDirectoryNotEmpty);
    case TREE_INTO_ITSELF:
    case TREE_IS_ROOT:
        return decision_take_back(d, E_InvalidRenameSourcePath);
    case TREE_FAILED:
        return decision_fail_store(d, blob_state(d)->node->tree.failed);
    case TREE_OK:
    case TREE_NO_PARENT:
    case TREE_PARENT_IS_FILE:
    case TREE_NOT_FOUND:
    case TREE_EXISTS:
    case TREE_KINDS_DIFFER:
        break;
    }
    return decision_fail_store(d, STORE_CONFLICT); /* was checked before */
}

/* Moves the source to the destination, whose blob is retained or deleted. */
static enum error move(struct decision *d, const struct tree_place *source)
{
    struct blob_state *state = blob_state(d);
    struct blob_node *node = state->node;
    struct retention retention = { .expires = 0 };
    struct tree_renamed renamed;
    struct tree_place aside;
    enum tree_result result;
    enum error e = state->found ? find_retention(d, &retention) : OK;

    if (!e && retention.expires > 0)
        e = namespace_hidden_place(d, node->place.entry.id, &aside);
    else if (!e && state->found)
        e = drop_replaced(d);
    if (e)
        return e;
    result = retention.expires > 0
                 ? tree_rename_aside(&node->tree, source, &node->place, &aside, &renamed)
                 : tree_rename(&node->tree, source, &node->place, TREE_OVER_OTHERS, &renamed);
    if (result)
        return fail_rename(d, result);
    return retention.expires > 0 ? kept_path_mark(d, &retention) : OK;
}

enum error path_rename(struct decision *d, const struct path_rename *asked, struct blob *ret_blob)
{
    struct blob_state *state = blob_state(d);
    struct rename_source *source;
    enum error e = state->node->rename_source ? OK : path_rename_find_source(d, asked);

    if (e)
        return e;
    source = state->node->rename_source;
    e = access_control_check_source(d, &source->place, &source->blob,
                                    is_across(d, asked) ? &asked->granted : NULL);
    if (!e)
        e = check_source(d, asked, &source->blob);
    if (!e)
        e = check_destination(d, source);
    if (!e)
        e = move(d, &source->place);
    if (e)
        return e;
    d->subject = (struct subject){ .exists = true,
                                   .etag = source->blob.etag,
                                   .modified = source->blob.modified };
    *ret_blob = source->blob;
    return OK;
}
