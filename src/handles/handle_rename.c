/* Renaming over SMB. Uses file_move(), like Rename File. */
#include "file/file_operations.h"
#include "handles/handle_names.h"
#include "opens/handle_index.h"
#include "handles/handle_private.h"

/* Looks up the new name: sets state->place and loads the existing node. The target directory
 * becomes a part. */
static enum error find_target(struct decision *d, const struct handle_rename *rename)
{
    struct file_state *state = file_state(d);
    struct tree_path path;
    enum tree_result found;
    enum error e = handle_path(d, rename->names, rename->name_count, &path);

    if (e)
        return e;
    found = tree_find(&state->tree, &path, TREE_TO_CHANGE, &state->place);
    if (!found && state->place.exists)
        found = tree_open_node(&state->tree, &state->place, &state->part);
    if (found)
        return file_fail_tree(d, found);
    return state->place.exists ? file_load(d) : OK;
}

static bool is_below(const struct tree_place *place, uint64_t directory)
{
    for (size_t i = 0; i < place->path.count; i++)
        if (place->directories[i] == directory)
            return true;
    return false;
}

/* Checks that the opens of the target directory allow adding a name. MS-FSA 2.1.5.15.12 */
static enum error pass_directory(struct decision *d)
{
    struct file_state *state = file_state(d);
    struct open_state opens;
    enum error e =
        open_state_read(&opens, &state->tree, tree_directory_part(&state->tree, &state->place),
                        tree_place_parent(&state->place));

    return e ? e : open_state_add_name(&opens, true);
}

/* Checks that the existing target can be replaced: it must be a writable file without opens and
 * lease. */
static enum error pass_replaced(struct decision *d, const struct handle_rename *rename)
{
    struct file_state *state = file_state(d);
    struct open_state *opens;
    enum error e;

    if (!rename->replaces)
        return E_ResourceAlreadyExists;
    e = handle_may_delete(d, rename->tree_connect);
    if (e)
        return e;
    if (state->file.kind == TREE_DIRECTORY || rename->handle->kind == TREE_DIRECTORY ||
        file_refuse_read_only(&state->file))
        return E_AuthorizationPermissionMismatch;
    e = handle_gate(d, state->part, state->place.entry.id, &state->file, &opens);
    if (!e && opens->is_leased)
        e = E_SharingViolation;
    if (!e)
        e = open_state_check_rest(opens, REST_DELETES);
    if (!e)
        open_state_delete(opens);
    return e == E_SharingViolation ? E_AuthorizationPermissionMismatch : e;
}

/* Refuses to rename a directory if a node below it is open. Does not detect opens made between this
 * check and the commit. decision: 1061 */
static enum error refuse_open_below(struct decision *d, uint64_t directory)
{
    unsigned work = 0;
    enum store_result result = handle_open_below(&file_state(d)->tree, directory, &work);

    if (result == STORE_NOT_FOUND)
        return OK;
    return result ? decision_fail_store(d, result) : E_AuthorizationPermissionMismatch;
}

static enum error read_source(struct decision *d, struct decision_part *part, struct file *ret_file)
{
    enum store_result result = file_read(&file_state(d)->tree, part->before, d->arena, ret_file);

    return result ? decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CORRUPT : result) : OK;
}

static enum error rename_found(struct decision *d, struct handle_rename *rename)
{
    struct file_state *state = file_state(d);
    const struct held_handle *handle = rename->handle;
    struct tree_place from;
    struct decision_part *part;
    struct open_state *opens;
    struct file source;
    enum tree_result found = tree_find_id(&state->tree, handle->node, TREE_TO_CHANGE, &from, &part);
    enum error e;

    if (found)
        return file_fail_tree(d, found);
    if (is_below(&state->place, handle->node))
        return E_InvalidInput;
    decision_move_subject(d, part);
    e = read_source(d, part, &source);
    if (!e)
        e = handle_gate(d, part, handle->node, &source, &opens);
    if (!e)
        e = open_state_break_handles(opens, handle->id);
    if (!e)
        e = handle_may_add(d, rename->tree_connect, handle->kind);
    if (!e)
        e = pass_directory(d);
    if (!e && state->place.exists && state->place.entry.id != handle->node)
        e = pass_replaced(d, rename);
    if (!e && handle->kind == TREE_DIRECTORY)
        e = refuse_open_below(d, handle->node);
    if (!e)
        e = file_move(d, &from, &source, rename->replaces ? TREE_OVER_OTHERS : TREE_OVER_NOTHING);
    if (e)
        return e;
    if (!handle->times.keeps_changed)
        state->file.changed = d->now;
    file_write_modified(d, &state->file);
    return OK;
}

enum error handle_rename_attempt(struct decision *d, void *of)
{
    struct handle_rename *rename = of;
    enum error e = OK;

    rename->lasts = true;
    if (rename->handle->snapshot > 0)
        return E_ShareSnapshotOperationNotSupported;
    if (rename->handle->node == TREE_ROOT || rename->name_count == 0)
        return E_AuthorizationPermissionMismatch;
    e = handle_begin(d, rename->tree_connect, 0);
    if (!e)
        e = find_target(d, rename);
    if (!e)
        e = rename_found(d, rename);
    /* Confirm that the reads on which the refusal is based were consistent. */
    if (e && !decision_is_unfinished(e)) {
        enum store_result confirmed = decision_confirm(d);

        if (confirmed)
            e = decision_fail_store(d, confirmed);
    }
    return e;
}
