/* Rename File and Rename Directory, in one commit regardless of the size of the subtree. */
#include "file/file_operations.h"
#include "opens/change_notification.h"
#include "file/share_usage.h"

/* Finds the source. The subject function has found the destination.
 * Returns OK, E_ParentNotFound, E_ResourceNotFound, E_ResourceTypeMismatch. */
static enum error find_source(struct decision *d, const struct rename *asked, enum tree_kind kind,
                              struct tree_place *ret_place, struct file *ret_file)
{
    struct tree *tree = &file_state(d)->tree;
    struct decision_part *part;
    struct tree_path path;
    enum tree_result result;
    enum store_result read;
    enum error e = file_path_parse(d->arena, asked->source, asked->source_trailing_dots, &path);

    if (e)
        return e;
    result = tree_find(tree, &path, TREE_TO_CHANGE, ret_place);
    if (!result && !ret_place->exists)
        result = TREE_NOT_FOUND;
    if (!result && ret_place->entry.kind != kind)
        result = TREE_KINDS_DIFFER;
    if (!result)
        result = tree_open_node(tree, ret_place, &part);
    if (result)
        return file_fail_tree(d, result);
    decision_read_clock(d); /* not earlier than the source's record, for its lease */
    read = file_read(tree, part->before, d->arena, ret_file);
    if (!read && ret_file->kind != kind)
        read = STORE_CORRUPT;
    return read ? decision_fail_store(d, read == STORE_NOT_FOUND ? STORE_CORRUPT : read) : OK;
}

/* Checks that the source can be renamed and the existing destination replaced. Only files have
 * leases and the read-only attribute.
 * rest: Rename-File; semantics 8.1; decision: 329 */
static enum error check_leases(struct decision *d, const struct rename *asked,
                               const struct file *source, bool replaces)
{
    const struct file *over = &file_state(d)->file;
    enum error e = OK;

    if (replaces && over->kind == TREE_FILE && !asked->ignores_read_only)
        e = file_refuse_read_only(over);
    if (!e)
        e = lease_check_write(d->lease_resource, &source->lease, asked->source_lease, d->now);
    if (!e)
        e = lease_check_write(d->lease_resource,
                              replaces ? &over->lease : &(struct lease){ .kind = 0 },
                              asked->destination_lease, d->now);
    return e;
}

static enum error fail_rename(struct decision *d, enum tree_result result)
{
    if (result == TREE_INTO_ITSELF || result == TREE_IS_ROOT)
        return decision_fail(d, E_InvalidHeaderValue,
                             "A directory cannot be moved into its own subtree.");
    return file_fail_tree(d, result);
}

/* Writes the record of the renamed node with the properties set by the request. */
static enum error write_renamed(struct decision *d, const struct rename *asked, struct file *file)
{
    enum error e = smb_apply(d, &asked->smb, file);

    if (e)
        return e;
    if (asked->has_metadata)
        file->metadata = asked->metadata;
    if (asked->content_type.ptr)
        file->http.content_type = asked->content_type;
    file_write_modified(d, file);
    return OK;
}

/* Deletes the replaced node with its contents. It has no opens, because it was checked against
 * them like for a delete. */
static enum error drop_replaced(struct decision *d, struct decision_part *part, uint64_t id,
                                const struct file *file)
{
    struct length_change length = { .file = id, .was = file->content.length };

    file_delete(d, part, file);
    if (file->kind != TREE_FILE)
        return OK;
    return share_usage_change(d, &file_state(d)->share, &length, 1);
}

/* Makes waiting requests decide again if their path no longer leads to their node once the rename
 * is committed: requests that wait for the file, or for any node if a directory is renamed.
 * decision: 1060 */
static void wake_moved(struct decision *d, const struct tree_place *from)
{
    const struct tree_entry *moved = &from->entry;
    const struct waiter_key key = {
        .space = file_state(d)->tree.space,
        .node = moved->kind == TREE_DIRECTORY ? WAITING_ALL_NODES : moved->id,
    };

    decision_wakes(d, &key);
}

enum error file_move(struct decision *d, const struct tree_place *from, const struct file *source,
                     enum tree_over over)
{
    struct file_state *state = file_state(d);
    struct tree_place replaced = state->place;
    struct tree_renamed renamed;
    enum tree_result result = tree_rename(&state->tree, from, &state->place, over, &renamed);
    enum error e = OK;

    if (result)
        return fail_rename(d, result);
    wake_moved(d, from);
    if (renamed.replaced)
        e = drop_replaced(d, renamed.replaced, replaced.entry.id, &state->file);
    if (!e && renamed.replaced)
        e = notify_name(&state->tree, &replaced, CHANGE_REMOVED);
    if (!e)
        e = notify_rename(&state->tree, from, &state->place);
    state->part = renamed.node;
    state->file = *source;
    return e;
}

/* Checks the rename against the opens of the source and the replaced node. The check for the row's
 * access column has treated the replaced node as a remaining one. */
static enum error pass(struct decision *d, const struct tree_place *from, const struct file *source,
                       bool replaces)
{
    struct file_state *state = file_state(d);
    struct decision_part *part;
    enum error e = OK;

    if (tree_open_node(&state->tree, from, &part))
        return decision_fail_store(d, state->tree.failed);
    if (replaces)
        e = file_pass(d, state->part, state->place.entry.id, &state->file, REST_DELETES);
    return e ? e : file_pass(d, part, from->entry.id, source, REST_RENAMES);
}

/* returns OK, E_ParentNotFound, E_ResourceNotFound, E_ResourceAlreadyExists,
 * E_ResourceTypeMismatch, E_DirectoryNotEmpty, E_ReadOnlyAttribute, as lease_check_write();
 * E_InvalidHeaderValue if the source would move into its own subtree */
static enum error rename_node(struct decision *d, const struct rename *asked, enum tree_kind kind,
                              struct file_shown *ret_shown)
{
    struct file_state *state = file_state(d);
    struct file source;
    struct tree_place from;
    bool replaces;
    enum error e = find_source(d, asked, kind, &from, &source);

    if (e)
        return e;
    replaces = state->place.exists && state->place.entry.id != from.entry.id && asked->replaces &&
               (kind == TREE_DIRECTORY || state->file.kind == TREE_FILE);
    e = check_leases(d, asked, &source, replaces);
    if (!e)
        e = pass(d, &from, &source, replaces);
    if (e)
        return e;
    e = file_move(d, &from, &source, asked->replaces ? TREE_OVER_OTHERS : TREE_OVER_NOTHING);
    if (e)
        return e;
    e = write_renamed(d, asked, &state->file);
    *ret_shown = file_show(state);
    return e;
}

/* Renames the node. Source and destination are read one after the other, so a refusal that depends
 * on both is first confirmed to be based on a consistent state. */
static enum error rename_or_refuse(struct decision *d, const struct rename *asked,
                                   enum tree_kind kind, struct file_shown *ret_shown)
{
    enum error e = rename_node(d, asked, kind, ret_shown);

    if (e && !decision_is_unfinished(e)) {
        enum store_result confirmed = decision_confirm(d);

        if (confirmed)
            return decision_fail_store(d, confirmed);
    }
    return e;
}

/* rest: Rename-File */
enum error rename_file_decide(struct decision *d, const struct rename_file_parameters *p,
                              struct rename_file_result *r)
{
    return rename_or_refuse(d, &p->rename, TREE_FILE, &r->shown);
}

/* rest: Rename-Directory */
enum error rename_directory_decide(struct decision *d, const struct rename_directory_parameters *p,
                                   struct rename_directory_result *r)
{
    return rename_or_refuse(d, &p->rename, TREE_DIRECTORY, &r->shown);
}
