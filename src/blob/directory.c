/* Deleting directories: see path_operations.h.
 *
 * A deleted directory with contents moves to the hidden directory (namespace.h), and its task deletes
 * one file or empty directory below it in each step; if soft delete is on, once the retention has
 * ended (kept_paths.h). So everything below it disappears in one commit, and changes that were
 * decided before conflict with it, because a directory has moved. */
#include "blob/path_operations.h"

#include "base/endian.h"
#include "blob/blob_operations.h"
#include "blob/expiry.h"
#include "blob/immutability.h"
#include "blob/kept_paths.h"
#include "blob/namespace.h"
#include "blob/pending_copy.h"

/* Moves the subject to the hidden directory, and has it deleted there. */
static enum error hide(struct decision *d)
{
    enum error e = namespace_hide(d);

    if (!e)
        changes_defer(d->changes, d->now, TASK_DELETE_DIRECTORY, bytes_of(NULL, 0));
    return e;
}

enum error path_delete_directory(struct decision *d, bool is_recursive, instant *ret_deleted)
{
    struct retention retention;
    enum store_result result;
    bool is_empty;
    enum error e;

    *ret_deleted = 0;
    if (tree_place_is_root(&blob_state(d)->node->place))
        return E_OperationNotSupportedOnDirectory;
    e = namespace_is_empty(d, &is_empty);
    if (e || is_empty)
        return e ? e : path_delete(d, ret_deleted);
    e = immutability_permit(d, NEEDS_NAME | NEEDS_DESTROY);
    if (e)
        return e;
    e = is_recursive ? OK : expired_files_only(d, &is_recursive);
    if (e || !is_recursive)
        return e ? e : E_PathDirectoryNotEmpty;
    result = retention_find_of_paths(d, d->input->account, &retention);
    if (result)
        return decision_fail_store(d, result);
    return retention.expires > 0 ? kept_path_retain(d, &retention, ret_deleted) : hide(d);
}

/* ---- the task ---- */

/* Finds the first file, or empty directory, below a directory, or the directory itself. */
static enum store_result find_leaf(struct decision *d, struct tree *tree, uint64_t directory,
                                   uint64_t *ret_id)
{
    struct tree_page page = { .count = 0 };
    struct tree_entry entry = { .id = directory, .kind = TREE_DIRECTORY };

    do {
        unsigned open = d->part_count;
        struct decision_part *part;
        struct tree_place place;
        enum tree_result result = tree_find_id(tree, entry.id, TREE_TO_READ, &place, &part);

        if (!result)
            result = tree_list(tree, &place, bytes_of("", 0), bytes_of("", 0), 1, &page);
        if (result)
            return result == TREE_FAILED ? tree->failed : STORE_CONFLICT;
        if (d->part_count > open)
            decision_leave(d, part);
        if (page.count > 0)
            entry = page.entries[0];
    } while (page.count > 0 && entry.kind == TREE_DIRECTORY);
    *ret_id = entry.id;
    return STORE_OK;
}

/* Ends a copy to a blob that is deleted. */
static enum store_result drop_copy(struct decision *d, const struct blob *blob)
{
    struct pending_copy pending;
    enum store_result result;

    if (blob->copy.status != COPY_PENDING)
        return STORE_OK;
    result = pending_copy_read(d->before, d->arena, &pending);
    if (result)
        return result;
    if (pending.target.content.id != 0)
        content_newest_delete(d->changes, &pending.target.content, &d->leaves_more);
    pending_copy_delete(d->changes);
    return STORE_OK;
}

static enum error delete_leaf(struct decision *d)
{
    struct blob_state *state = arena_alloc(d->arena, sizeof *state);
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &state->blob);

    d->state = &state->base;
    state->found = true;
    if (result == STORE_NOT_FOUND) { /* the hidden directory, whose container was deleted */
        result = namespace_remove(d);
        return result ? decision_fail_store(d, result) : OK;
    }
    if (!result)
        result = drop_copy(d, &state->blob);
    return result ? decision_fail_content(d, result) : blob_delete_for_good(d, SNAPSHOTS_INCLUDED);
}

enum store_result blob_delete_in_task(struct decision *d)
{
    enum error e;

    decision_keep_above(d);
    e = delete_leaf(d);
    if (e)
        return e == DECIDE_AGAIN ? STORE_CONFLICT : STORE_BUSY;
    if (d->leaves_more)
        decision_defer_collection(d);
    return STORE_OK;
}

enum store_result delete_directory_task(struct decision *d, const struct deferred_task *task,
                                        const struct endpoint *endpoint)
{
    const uint64_t directory = be64_get(d->partition.key.ptr);
    struct decision_part *top, *part;
    struct tree_node node;
    struct tree tree;
    uint64_t leaf = directory;
    enum store_result result;
    enum tree_result opened = tree_open(&tree, d, d->partition.space, TREE_CASE_EXACT);

    (void)task;
    (void)endpoint;
    if (!opened)
        opened = tree_open_id(&tree, directory, &top, &node);
    if (opened)
        return opened == TREE_FAILED ? tree.failed : STORE_NOT_FOUND;
    result = find_leaf(d, &tree, directory, &leaf);
    if (!result && tree_open_id(&tree, leaf, &part, &node))
        result = STORE_CONFLICT;
    if (result)
        return result;
    if (leaf != directory) {
        decision_move_subject(d, part);
        top->changes = changes_new(d->arena);
        changes_defer(top->changes, d->now, TASK_DELETE_DIRECTORY, bytes_of(NULL, 0));
    }
    return blob_delete_in_task(d);
}
