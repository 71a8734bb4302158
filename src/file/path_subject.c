/* Looks up the directories and files that requests name, in the tree of their share. */
#include "file/file.h"

#include <assert.h>

#include "acl/permission_store.h"

static bool has_trailing_dots(struct bytes text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;

    while (at < end && (at = memchr(at, '.', (size_t)(end - at)))) {
        if (++at == end || *at == '/')
            return true;
    }
    return false;
}

/* Returns the path without the trailing dots of its names. */
static struct bytes without_dots(struct arena *arena, struct bytes text)
{
    struct text out;
    struct bytes rest = text, name;

    text_init(&out, arena, text.len + 1);
    while (rest.ptr) {
        bytes_cut(rest, '/', &name, &rest);
        while (name.len > 0 && name.ptr[name.len - 1] == '.')
            name.len--;
        text_add(&out, name);
        if (rest.ptr)
            text_add_char(&out, '/');
    }
    return text_bytes(&out);
}

enum error file_path_parse(struct arena *arena, struct bytes text, bool trailing_dots,
                           struct tree_path *ret_path)
{
    if (!trailing_dots && has_trailing_dots(text))
        text = without_dots(arena, text);
    switch (tree_path_parse(arena, TREE_CASE_IGNORED, text, ret_path)) {
    case TREE_PATH_OK:
        return OK;
    case TREE_PATH_TOO_LONG:
    case TREE_PATH_TOO_DEEP:
        return E_InvalidFileOrDirectoryPathName;
    case TREE_PATH_NOT_UTF8:
    case TREE_NAME_EMPTY:
    case TREE_NAME_DOTS:
    case TREE_NAME_HAS_NUL:
    case TREE_NAME_TOO_LONG:
        break;
    }
    return E_InvalidResourceName;
}

/* Treats a file used as a directory of a path as a missing parent. decision: 325 */
enum error file_fail_tree(struct decision *d, enum tree_result result)
{
    switch (result) {
    case TREE_NO_PARENT:
    case TREE_PARENT_IS_FILE:
        return E_ParentNotFound;
    case TREE_NOT_FOUND:
        return E_ResourceNotFound;
    case TREE_EXISTS:
        return E_ResourceAlreadyExists;
    case TREE_KINDS_DIFFER:
        return E_ResourceTypeMismatch;
    case TREE_NOT_EMPTY:
        return E_DirectoryNotEmpty;
    case TREE_FAILED:
        return decision_fail_store(d, file_state(d)->tree.failed);
    case TREE_OK:
    case TREE_INTO_ITSELF:
    case TREE_IS_ROOT:
        break;
    }
    assert(false); /* handled by the caller */
    return E_InternalError;
}

/* ---- subjects ---- */

/* Returns the properties of a root directory that has no record yet; its times are the share's
 * creation time. */
static struct file untouched_root(const struct share *share)
{
    return (struct file){
        .kind = TREE_DIRECTORY,
        .etag = etag_after((struct etag){ .v = 0 }, share->created),
        .modified = share->created,
        .attributes = ATTRIBUTE_DIRECTORY,
        .created = share->created,
        .accessed = share->created,
        .written = share->created,
        .changed = share->created,
        .permission = permission_default(PERMISSION_OF_ROOT),
    };
}

enum error file_load(struct decision *d)
{
    struct file_state *state = file_state(d);
    struct file *file = &state->file;
    enum store_result result = file_read(&state->tree, state->part->before, d->arena, file);

    if (result == STORE_NOT_FOUND && tree_place_is_root(&state->place)) {
        *file = untouched_root(&state->share);
        result = STORE_OK;
    }
    if (!result && file->kind != state->place.entry.kind)
        result = STORE_CORRUPT;
    if (result)
        return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CORRUPT : result);
    if (state->tree.at) /* nothing in a snapshot can be leased */
        file->lease = (struct lease){ .kind = 0 };
    d->lease = file->lease;
    d->subject = (struct subject){ .exists = true, .etag = file->etag, .modified = file->modified };
    return OK;
}

/* Reads the file of a partition, which may already be a part. */
static enum store_result read_part(struct decision *d, struct partition partition,
                                   struct file *ret_file)
{
    const struct tree *tree = &file_state(d)->tree;
    struct decision_part *part = decision_find_part(d, partition);
    enum store_result result;

    if (part)
        return file_read(tree, part->before, d->arena, ret_file);
    part = decision_open(d, partition, NULL);
    result = file_read(tree, part->before, d->arena, ret_file);
    decision_leave(d, part);
    return result;
}

enum error file_read_directory(struct decision *d, uint64_t id, struct file *ret_file)
{
    const struct share *share = &file_state(d)->share;
    enum store_result result = read_part(d, tree_partition(d->arena, share->space, id), ret_file);

    if (result == STORE_NOT_FOUND && id == TREE_ROOT) {
        *ret_file = untouched_root(share);
        return OK;
    }
    return result ? decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CONFLICT : result)
                  : OK;
}

/* Opens the tree of the share, or of the requested snapshot. */
static enum tree_result open_tree(struct decision *d, bool of_snapshot)
{
    struct file_state *state = file_state(d);

    if (!of_snapshot && !decision_may_change(d)) {
        tree_open_to_read(&state->tree, d, state->share.space, TREE_CASE_IGNORED);
        return TREE_OK;
    }
    if (!of_snapshot)
        return tree_open(&state->tree, d, state->share.space, TREE_CASE_IGNORED);
    tree_open_at(&state->tree, d, state->share.space, TREE_CASE_IGNORED, state->share.generation);
    return TREE_OK;
}

/* Looks up the requested path and moves the decision to the node's partition, or to that of its
 * parent directory. */
static enum error find_any(struct decision *d, enum tree_use use)
{
    const struct file_resource *asked = file_requested(d);
    struct file_state *state = file_state(d);
    struct tree *tree = &state->tree;
    struct tree_path path;
    enum tree_result result;
    enum error e = file_path_parse(d->arena, asked->path, asked->trailing_dots, &path);

    if (e)
        return e;
    state->part = NULL;
    d->lease_resource = LEASE_OF_FILE;
    d->lease = (struct lease){ .kind = 0 };
    d->subject = (struct subject){ .exists = false };
    result = open_tree(d, asked->snapshot > 0);
    if (!result)
        result = tree_find_node(tree, &path, use, &state->place, &state->part);
    if (result)
        return file_fail_tree(d, result);
    if (state->part)
        decision_move_subject(d, state->part);
    else if (use == TREE_TO_CHANGE)
        decision_move_subject(d, tree_directory_part(tree, &state->place));
    decision_keep_above(d);
    return state->part ? file_load(d) : OK;
}

static enum error find(struct decision *d, enum tree_use use)
{
    if (file_requested(d)->snapshot > 0 && decision_may_change(d))
        return E_ShareSnapshotOperationNotSupported;
    return find_any(d, use);
}

/* Fails if the node is missing or of the other kind. decision: 325 */
static enum error find_kind(struct decision *d, enum tree_use use, enum tree_kind kind)
{
    enum error e = find(d, use);

    if (e)
        return e;
    if (!d->subject.exists)
        return E_ResourceNotFound;
    if (file_state(d)->file.kind == kind)
        return OK;
    return kind == TREE_DIRECTORY && !decision_may_change(d) ? E_ResourceNotFound
                                                             : E_ResourceTypeMismatch;
}

enum error file_subject(struct decision *d)
{
    return find_kind(d, TREE_TO_READ, TREE_FILE);
}

enum error directory_subject(struct decision *d)
{
    return find_kind(d, TREE_TO_READ, TREE_DIRECTORY);
}

enum error file_subject_named(struct decision *d)
{
    return find_kind(d, TREE_TO_CHANGE, TREE_FILE);
}

enum error directory_subject_named(struct decision *d)
{
    return find_kind(d, TREE_TO_CHANGE, TREE_DIRECTORY);
}

enum error handles_subject(struct decision *d)
{
    enum error e = find_any(d, TREE_TO_READ);

    return !e && !d->subject.exists ? E_ResourceNotFound : e;
}

enum error new_subject(struct decision *d)
{
    return find(d, TREE_TO_CHANGE);
}

/* ---- writing ---- */

void file_write_modified(struct decision *d, struct file *file)
{
    file->etag = d->subject.etag = etag_after(file->etag, d->now);
    file->modified = d->subject.modified = d->now;
    lease_forget_if_ended(&file->lease, d->now);
    file_write(d, file_state(d)->part, file);
}

void file_write_changed(struct decision *d, struct file *file)
{
    file->changed = d->now;
    file_write_modified(d, file);
}
