/* Access granted to an open. A superuser has all rights; other clients have those granted by the
 * descriptors of the node and its directory. The file's attributes limit both. MS-FSA 2.1.5.1.1,
 * 2.1.5.1.2.1; decision: 440
 * docs: storage-files-identity-auth-domain-services "superuser" */
#include "acl/access_check.h"
#include "handles/handle_private.h"

static enum error rights_by(struct decision *d, const struct access_token *token,
                            uint64_t permission, uint32_t *ret_rights)
{
    struct security_descriptor descriptor;
    enum error e;

    *ret_rights = MAY_ALL | MAY_ACCESS_SACL;
    if (!token)
        return OK;
    e = handle_read_descriptor(d, permission, &descriptor);
    if (!e)
        *ret_rights = access_check(&descriptor, token);
    return e;
}

static enum error rights_in_directory(struct decision *d, const struct access_token *token,
                                      uint32_t *ret_rights)
{
    struct file directory = { .permission = 0 };
    enum error e = OK;

    if (token)
        e = file_read_directory(d, tree_place_parent(&file_state(d)->place), &directory);
    return e ? e : rights_by(d, token, directory.permission, ret_rights);
}

/* Adds the rights to the node at state->place that its directory gives to the client. */
static enum error add_from_directory(struct decision *d, const struct access_token *token,
                                     uint32_t *rights)
{
    const uint32_t both = MAY_DELETE | MAY_READ_ATTRIBUTES;
    uint32_t above;
    enum error e;

    if ((*rights & both) == both || tree_place_is_root(&file_state(d)->place))
        return OK;
    e = rights_in_directory(d, token, &above);
    if (e)
        return e;
    *rights |= above & MAY_DELETE_CHILD ? MAY_DELETE : 0;
    *rights |= above & MAY_READ_DATA ? MAY_READ_ATTRIBUTES : 0;
    return OK;
}

static enum error rights_of(struct decision *d, const struct access_token *token,
                            uint32_t *ret_rights)
{
    enum error e = rights_by(d, token, file_state(d)->file.permission, ret_rights);

    return e ? e : add_from_directory(d, token, ret_rights);
}

/* Returns the access that the node's state allows at most: share snapshots are read-only, and so is
 * the data (but not the attributes) of a read-only file. */
static uint32_t most(struct decision *d)
{
    const struct file_state *state = file_state(d);

    if (state->tree.at)
        return MAY_READ;
    if (state->file.kind == TREE_FILE && (state->file.attributes & ATTRIBUTE_READ_ONLY))
        return MAY_ALL & ~(MAY_WRITE_DATA | MAY_APPEND_DATA);
    return MAY_ALL;
}

enum error handle_grant(struct decision *d, const struct tree_connect *tree_connect,
                        uint32_t desired, uint32_t needed, uint32_t *ret_granted,
                        uint32_t *ret_maximum)
{
    uint32_t mapped = access_mask_mapped(desired), rights;
    enum error e = rights_of(d, tree_connect->token, &rights);

    if (e)
        return e;
    *ret_maximum = rights & most(d);
    if (mapped & MAY_MAXIMUM)
        mapped = (mapped & ~MAY_MAXIMUM) | *ret_maximum;
    if ((mapped | needed) & ~rights)
        return E_AuthorizationPermissionMismatch;
    *ret_granted = mapped;
    return OK;
}

enum error handle_grant_new(struct decision *d, const struct tree_connect *tree_connect,
                            struct bytes descriptor, uint32_t desired, uint32_t *ret_granted,
                            uint32_t *ret_maximum)
{
    uint32_t mapped = access_mask_mapped(desired), rights = MAY_ALL;
    struct security_descriptor decoded;
    enum error e = OK;

    if (mapped & MAY_MAXIMUM)
        mapped = (mapped & ~MAY_MAXIMUM) | MAY_ALL;
    if (mapped & ~(MAY_ALL | (tree_connect->token ? 0 : MAY_ACCESS_SACL)))
        return E_AuthorizationPermissionMismatch;
    if (tree_connect->token && !security_descriptor_decode(d->arena, descriptor, &decoded))
        return decision_fail_store(d, STORE_CORRUPT);
    if (tree_connect->token) {
        rights = access_check(&decoded, tree_connect->token);
        e = add_from_directory(d, tree_connect->token, &rights);
    }
    *ret_granted = mapped;
    *ret_maximum = rights;
    return e;
}

enum error handle_may_add(struct decision *d, const struct tree_connect *tree_connect,
                          enum tree_kind kind)
{
    uint32_t needed = kind == TREE_DIRECTORY ? MAY_APPEND_DATA : MAY_WRITE_DATA, rights;
    enum error e = rights_in_directory(d, tree_connect->token, &rights);

    return e || (rights & needed) ? e : E_AuthorizationPermissionMismatch;
}

enum error handle_may_delete(struct decision *d, const struct tree_connect *tree_connect)
{
    uint32_t rights;
    enum error e = rights_of(d, tree_connect->token, &rights);

    return e || (rights & MAY_DELETE) ? e : E_AuthorizationPermissionMismatch;
}
