/* Permissions: see permission.h. */
#include "file/permission.h"

#include "file/permission_store.h"

/* Opens the partition as a guard, unless it is a part already. */
static enum store_result read_part(struct decision *d, struct partition partition,
                                   struct file *ret_file)
{
    struct decision_part *part;
    enum store_result result;

    for (unsigned i = 0; i < d->part_count; i++) {
        part = &d->parts[i];
        if (guid_equal(&part->partition.space, &partition.space) &&
            bytes_equal(part->partition.key, partition.key))
            return file_read(&file_state(d)->tree, part->before, d->arena, ret_file);
    }
    part = decision_open(d, partition, NULL);
    result = file_read(&file_state(d)->tree, part->before, d->arena, ret_file);
    decision_leave(d, part);
    return result;
}

static enum error inherit(struct decision *d, struct file *file)
{
    struct file_state *state = file_state(d);
    struct guid space = state->share.space;
    struct file directory;
    enum store_result result;
    uint64_t id;

    file->permission = permission_default(PERMISSION_OF_ROOT);
    if (tree_place_is_root(&state->place))
        return OK;
    id = tree_place_parent(&state->place);
    result = read_part(d, tree_partition(d->arena, space, id), &directory);
    if (result == STORE_NOT_FOUND && id == TREE_ROOT)
        directory.permission = permission_default(PERMISSION_OF_ROOT);
    else if (result)
        return decision_fail_store(d, result == STORE_NOT_FOUND ? STORE_CONFLICT : result);
    return permission_inherit(d, space, directory.permission, file->kind == TREE_DIRECTORY,
                              &file->permission);
}

/* decision: 308 */
static enum error settle_key(struct decision *d, struct bytes key, struct file *file)
{
    struct bytes descriptor = { NULL, 0 };
    uint64_t number;
    enum error e = OK;

    if (permission_key_parse(key, &number))
        e = permission_find(d, file_state(d)->share.space, number, &descriptor);
    if (e)
        return e;
    if (!descriptor.ptr) {
        problem_set_header(d->problem, "x-ms-file-permission-key", key);
        return decision_take_back(d, E_InvalidHeaderValue);
    }
    file->permission = number;
    return OK;
}

enum error permission_settle(struct decision *d, const struct permission_given *given,
                             struct file *file)
{
    switch (given->kind) {
    case PERMISSION_KEPT:
        break;
    case PERMISSION_INHERITED:
        return inherit(d, file);
    case PERMISSION_DESCRIPTOR:
        return permission_keep(d, file_state(d)->share.space, given->descriptor, &file->permission);
    case PERMISSION_KEY:
        return settle_key(d, given->key, file);
    }
    return OK;
}
