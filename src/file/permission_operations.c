#include "file/permission_operations.h"

#include "acl/permission_store.h"

/* rest: Create-Permission */
enum error create_permission_decide(struct decision *d,
                                    const struct create_permission_parameters *p,
                                    struct create_permission_result *r)
{
    return permission_keep(d, file_state(d)->share.space, p->descriptor, &r->number);
}

/* returns OK, or an error of permission_find_key()
 * rest: Get-Permission; decision: 308 */
enum error get_permission_decide(struct decision *d, const struct get_permission_parameters *p,
                                 struct get_permission_result *r)
{
    uint64_t number;
    enum error e =
        permission_find_key(d, file_state(d)->share.space, p->key, &number, &r->canonical);

    if (e)
        return e;
    return security_descriptor_decode(d->arena, r->canonical, &r->descriptor)
               ? OK
               : decision_fail_store(d, STORE_CORRUPT);
}

/* ---- permission ---- */

static enum error inherit(struct decision *d, struct file *file)
{
    struct file_state *state = file_state(d);
    struct file directory;
    enum error e;

    file->permission = permission_default(PERMISSION_OF_ROOT);
    if (tree_place_is_root(&state->place))
        return OK;
    e = file_read_directory(d, tree_place_parent(&state->place), &directory);
    if (e)
        return e;
    return permission_inherit(d, state->share.space, directory.permission,
                              file->kind == TREE_DIRECTORY, &file->permission);
}

/* Sets the permission with this key. decision: 308 */
static enum error settle_key(struct decision *d, struct bytes key, struct file *file)
{
    struct bytes descriptor;

    return permission_find_key(d, file_state(d)->share.space, key, &file->permission, &descriptor);
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
