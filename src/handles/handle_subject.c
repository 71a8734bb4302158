/* The subject of an attempt of an SMB command: its share, and the node of its handle. */
#include <assert.h>

#include "file/file_operations.h"
#include "handles/handle_private.h"

/* Opens the share's tree, current or as of a snapshot; the generation is in the record of the
 * share or snapshot. */
static enum error open_tree(struct decision *d, instant snapshot)
{
    struct file_state *state = file_state(d);

    if (snapshot == 0)
        return tree_open(&state->tree, d, state->share.space, TREE_CASE_IGNORED)
                   ? decision_fail_store(d, state->tree.failed)
                   : OK;
    tree_open_at(&state->tree, d, state->share.space, TREE_CASE_IGNORED, state->share.generation);
    return OK;
}

enum error handle_begin(struct decision *d, const struct tree_connect *tree_connect,
                        instant snapshot)
{
    struct file_state *state = arena_alloc(d->arena, sizeof *state);
    enum error e = tree_connect_read_share(d, tree_connect, snapshot, &state->share);

    if (e)
        return e;
    d->state = &state->base;
    decision_open_subject(d, tree_stamp_partition(state->share.space));
    e = open_tree(d, snapshot);
    decision_read_clock(d);
    return e;
}

/* Keeps trailing dots, because Windows clients have already stripped them. */
enum error handle_path(struct decision *d, const struct bytes *names, size_t count,
                       struct tree_path *ret_path)
{
    struct text out;
    enum error e = OK;

    if (count > TREE_DEPTH_MAX)
        return E_InvalidFileOrDirectoryPathName;
    text_init(&out, d->arena, 64);
    for (size_t i = 0; i < count && !e; i++) {
        e = memchr(names[i].ptr, '/', names[i].len) ? E_InvalidResourceName
                                                    : file_check_name(names[i], true);
        if (i > 0)
            text_add_char(&out, '/');
        text_add(&out, names[i]);
    }
    return e ? e : file_path_parse(d->arena, text_bytes(&out), true, ret_path);
}

enum error handle_gate(struct decision *d, struct decision_part *part, uint64_t node,
                       const struct file *file, struct open_state **ret_opens)
{
    struct open_state *opens = arena_alloc(d->arena, sizeof *opens);
    enum error e = open_state_read(opens, &file_state(d)->tree, part, node);

    opens->is_leased = lease_state(&file->lease, d->now) == LEASE_LEASED;
    opens->is_read_only = file_refuse_read_only(file) != OK;
    *ret_opens = opens;
    return e;
}

/* Finds the node of a handle in a snapshot. The node's partition has all of its versions. */
static enum error find_in_snapshot(struct decision *d, const struct held_handle *handle)
{
    struct file_state *state = file_state(d);
    struct tree_place *place = &state->place;

    *place = (struct tree_place){ .exists = true,
                                  .entry = { .id = handle->node, .kind = handle->kind } };
    if (handle->node != TREE_ROOT) {
        place->path = (struct tree_path){ arena_alloc(d->arena, sizeof(struct tree_name)), 1 };
        place->directories = arena_array(d->arena, 1, sizeof place->directories[0]);
        place->directories[0] = handle->parent;
    }
    return tree_open_node(&state->tree, place, &state->part)
               ? decision_fail_store(d, state->tree.failed)
               : OK;
}

static enum error find_now(struct decision *d, const struct held_handle *handle,
                           enum handle_use use)
{
    struct file_state *state = file_state(d);
    enum tree_result found = tree_find_id(&state->tree, handle->node,
                                          use == HANDLE_NAMES ? TREE_TO_CHANGE : TREE_TO_READ,
                                          &state->place, &state->part);

    return found ? file_fail_tree(d, found) : OK;
}

enum error handle_find(struct decision *d, const struct tree_connect *tree_connect,
                       const struct held_handle *handle, enum handle_use use,
                       struct open_state **ret_opens)
{
    enum error e;

    *ret_opens = NULL;
    if (handle->snapshot > 0 && use != HANDLE_READS)
        return E_ShareSnapshotOperationNotSupported;
    e = handle_begin(d, tree_connect, handle->snapshot);
    return e ? e : handle_find_begun(d, handle, use, ret_opens);
}

enum error handle_find_begun(struct decision *d, const struct held_handle *handle,
                             enum handle_use use, struct open_state **ret_opens)
{
    enum error e = handle->snapshot > 0 ? find_in_snapshot(d, handle) : find_now(d, handle, use);

    return e ? e : handle_load(d, handle, ret_opens);
}

enum error handle_load(struct decision *d, const struct held_handle *handle,
                       struct open_state **ret_opens)
{
    struct file_state *state = file_state(d);
    enum error e;

    *ret_opens = NULL;
    decision_move_subject(d, state->part);
    decision_read_clock(d);
    e = file_load(d);
    if (e || handle->snapshot > 0)
        return e;
    e = handle_gate(d, state->part, handle->node, &state->file, ret_opens);
    return !e && !open_set_find(&(*ret_opens)->set, handle->id) ? E_ResourceNotFound : e;
}

/* ---- file information ---- */

struct handle_info handle_info_of(const struct file *file, uint64_t node, uint64_t parent)
{
    uint64_t length = file->kind == TREE_FILE ? file->content.length : 0;

    return (struct handle_info){
        .node = node,
        .parent = parent,
        .kind = file->kind,
        .attributes = file->attributes,
        .created = file->created,
        .accessed = file->accessed,
        .written = file->written,
        .changed = file->changed,
        .length = length,
        .allocated = (length + FILE_CLUSTER_BYTES - 1) / FILE_CLUSTER_BYTES * FILE_CLUSTER_BYTES,
    };
}

struct handle_info handle_show(const struct decision *d, const struct handle_times *times,
                               const struct open_state *opens)
{
    const struct file_state *state = (const struct file_state *)(const void *)d->state;
    const struct tree_place *place = &state->place;
    struct handle_info info =
        handle_info_of(&state->file, place->entry.id,
                       tree_place_is_root(place) ? TREE_ROOT : tree_place_parent(place));

    if (times)
        info.written = handle_times_of(d, times, &state->file);
    info.is_delete_pending = opens && opens->set.is_delete_pending;
    return info;
}
