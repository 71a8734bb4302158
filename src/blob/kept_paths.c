/* See kept_paths.h. */
#include "blob/kept_paths.h"

#include "base/endian.h"
#include "blob/container_root.h"
#include "blob/contents.h"
#include "blob/kept_path_index.h"
#include "blob/namespace.h"
#include "blob/path_operations.h"
#include "blob/snapshot_changes.h"

#define PAYLOAD_SIZE 8

/* ---- retaining ---- */

/* Returns the path of the request in the tree. */
static struct bytes path_text(struct decision *d)
{
    const struct blob_state *state = blob_state(d);
    const struct tree_path *path = &state->node->place.path;
    struct text out;

    text_init(&out, d->arena, 256);
    for (size_t i = 0; i < path->count; i++) {
        if (i > 0)
            text_add_char(&out, '/');
        text_add(&out, path->names[i].given);
    }
    return container_tree_path(d->arena, &state->container, text_bytes(&out));
}

enum error kept_path_mark(struct decision *d, const struct retention *retention)
{
    const struct blob_state *state = blob_state(d);
    struct blob kept = state->blob;
    char payload[PAYLOAD_SIZE];
    enum store_result result = contents_drop_staged(d, NULL);

    if (result)
        return decision_fail_content(d, result);
    kept.deletion = retention_deletion(d, retention);
    kept.deleted_path = path_text(d);
    kept.lease = (struct lease){ .kind = 0 };
    kept.nothing_staged = true;
    blob_change(d, &state->blob, &kept);
    be64_put(payload, kept.deletion.at);
    changes_defer(d->changes, kept.deletion.expires, TASK_EXPIRE_PATH,
                  bytes_of(payload, sizeof payload));
    return OK;
}

enum error kept_path_retain(struct decision *d, const struct retention *retention,
                            instant *ret_deleted)
{
    enum error e = namespace_hide(d);

    if (e)
        return e;
    e = kept_path_mark(d, retention);
    *ret_deleted = e ? 0 : d->now;
    return e;
}

/* ---- restoring ---- */

/* Refuses it because of the destination. */
static enum error check_destination(struct decision *d)
{
    const struct blob_node *node = blob_state(d)->node;

    if (node->part)
        return E_BlobAlreadyExists;
    if (!node->found)
        return OK;
    d->problem->message = bytes_from_string("The destination parent directory was not found.");
    return E_RenameDestinationParentPathNotFound;
}

/* Opens a deleted node, which the index has shown, and finds its place. It may have been restored
 * since, so this is checked before its directory is read. */
static enum store_result open_node(struct decision *d, const struct kept_path *kept,
                                   struct tree_place *ret_place, struct decision_part **ret_part,
                                   struct blob *ret_blob)
{
    struct tree *tree = &blob_state(d)->node->tree;
    struct tree_node node;
    enum store_result result;
    enum tree_result found = tree_open_id(tree, kept->node, ret_part, &node);

    if (found)
        return found == TREE_FAILED ? tree->failed : STORE_CONFLICT;
    result = blob_read_kept((*ret_part)->before, d->arena, blob_base, ret_blob);
    if (result == STORE_NOT_FOUND || (!result && ret_blob->deletion.at != kept->blob.deletion.at))
        return STORE_CONFLICT;
    if (result)
        return result;
    found = tree_find_id(tree, kept->node, TREE_TO_CHANGE, ret_place, ret_part);
    return found ? tree->failed : STORE_OK;
}

/* Finds the deletion, and makes its node the subject. The index is read at another time than the
 * destination, so a refusal holds only if that has not changed. */
static enum error open_kept(struct decision *d, instant deleted, struct tree_place *ret_place,
                            struct blob *ret_blob)
{
    const struct bytes path = path_text(d);
    struct decision_part *part;
    struct kept_path kept;
    enum store_result result = kept_path_find(d, path, deleted, &kept);

    if (result == STORE_NOT_FOUND) {
        result = decision_confirm(d);
        return result ? decision_fail_store(d, result) : E_BlobNotFound;
    }
    if (!result)
        result = open_node(d, &kept, ret_place, &part, ret_blob);
    if (result)
        return decision_fail_store(d, result);
    decision_move_subject(d, part);
    return OK;
}

enum error kept_path_undelete(struct decision *d, instant deleted, struct blob *ret_blob)
{
    struct blob_node *node = blob_state(d)->node;
    struct tree_renamed renamed;
    struct tree_place from;
    enum tree_result result;
    struct blob kept;
    enum error e;

    *ret_blob = blob_state(d)->blob;
    if (d->subject.exists && deleted == 0)
        return OK;
    e = check_destination(d);
    if (!e)
        e = open_kept(d, deleted, &from, &kept);
    if (e)
        return e;
    result = tree_rename(&node->tree, &from, &node->place, TREE_OVER_NOTHING, &renamed);
    if (result)
        return decision_fail_store(d, result == TREE_FAILED ? node->tree.failed : STORE_CORRUPT);
    *ret_blob = kept;
    ret_blob->deletion = (struct blob_deletion){ .at = 0 };
    ret_blob->deleted_path = bytes_of(NULL, 0);
    blob_change(d, &kept, ret_blob);
    return OK;
}

/* ---- the end of the retention ---- */

enum store_result expire_path(struct decision *d, const struct deferred_task *task,
                              const struct endpoint *endpoint)
{
    struct blob kept, expired;
    enum store_result result = blob_read_kept(d->before, d->arena, blob_base, &kept);

    (void)endpoint;
    if (result)
        return result;
    if (task->payload.len != PAYLOAD_SIZE || kept.deletion.at != be64_get(task->payload.ptr))
        return STORE_OK;
    if (kept.is_directory) {
        /* From now on it is incomplete. It has expired by every clock. */
        expired = kept;
        expired.deletion.expires = expired.deletion.at + 1;
        blob_change(d, &kept, &expired);
        changes_defer(d->changes, d->now, TASK_DELETE_DIRECTORY, bytes_of(NULL, 0));
        return STORE_OK;
    }
    result = base_end_kept(d, &kept);
    if (!result && d->leaves_more)
        decision_defer_collection(d);
    return result;
}
