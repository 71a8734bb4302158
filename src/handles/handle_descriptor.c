/* Security descriptors of open nodes and of nodes created by an open. */
#include "handles/handle_info.h"
#include "handles/handle_private.h"
#include "opens/change_notification.h"
#include "file/permission_operations.h"
#include "acl/permission_store.h"

/* Maps generic rights to those of files in ACEs that apply to the node itself. Inherit-only ACEs
 * are unchanged. */
static void map_generic(struct acl *dacl)
{
    for (size_t i = 0; i < dacl->count; i++)
        if (!(dacl->aces[i].flags & ACE_INHERIT_ONLY))
            dacl->aces[i].mask = access_mask_mapped(dacl->aces[i].mask);
}

/* Marks an ACL as inherited only if both the "inherited" and the "inherit required" bits were sent.
 * [MS-DTYP] 2.4.6 "DR", "DI"; smbtorture, smb2.acls.INHERITFLAGS */
static void settle_inherited(struct security_descriptor *from)
{
    static const unsigned required_bits[] = { CONTROL_DACL_INHERIT_ASKED,
                                              CONTROL_SACL_INHERIT_ASKED };
    static const unsigned is[] = { CONTROL_DACL_INHERITED, CONTROL_SACL_INHERITED };

    for (size_t i = 0; i < sizeof required_bits / sizeof required_bits[0]; i++) {
        if (!(from->control & required_bits[i]))
            from->control &= (uint16_t)~is[i];
        from->control &= (uint16_t)~required_bits[i];
    }
}

/* Copies the given parts of a descriptor. */
static void take_parts(struct security_descriptor *to, const struct security_descriptor *from,
                       uint32_t parts)
{
    const unsigned dacl =
        CONTROL_DACL_INHERIT_ASKED | CONTROL_DACL_INHERITED | CONTROL_DACL_PROTECTED;
    const unsigned sacl =
        CONTROL_SACL_INHERIT_ASKED | CONTROL_SACL_INHERITED | CONTROL_SACL_PROTECTED;
    unsigned taken = 0;

    if (parts & DESCRIPTOR_OWNER)
        to->owner = from->owner;
    if (parts & DESCRIPTOR_GROUP)
        to->group = from->group;
    if (parts & DESCRIPTOR_DACL) {
        to->dacl = from->dacl;
        taken |= dacl;
    }
    if (parts & DESCRIPTOR_SACL) {
        to->sacl = from->sacl;
        taken |= sacl;
    }
    to->control = (uint16_t)((to->control & ~taken) | (from->control & taken));
}

/* Returns the parts that are present. A null DACL is present: it grants all access to everyone. */
static uint32_t parts_of(const struct security_descriptor *descriptor)
{
    uint32_t parts = 0;

    if (descriptor->owner.ptr)
        parts |= DESCRIPTOR_OWNER;
    if (descriptor->group.ptr)
        parts |= DESCRIPTOR_GROUP;
    if (descriptor->control & CONTROL_DACL_PRESENT)
        parts |= DESCRIPTOR_DACL;
    if (descriptor->control & CONTROL_SACL_PRESENT)
        parts |= DESCRIPTOR_SACL;
    return parts;
}

/* Without privileges, a client can set the owner only to itself or one of its groups, and cannot
 * set a SACL. MS-FSA 2.1.5.17 */
static enum error check_token(const struct access_token *token,
                              const struct security_descriptor *from, uint32_t parts)
{
    if (token && parts & DESCRIPTOR_OWNER && !access_token_has(token, from->owner))
        return E_AuthorizationPermissionMismatch;
    return token && parts & DESCRIPTOR_SACL ? E_AuthorizationPermissionMismatch : OK;
}

/* Replaces the given parts of the existing descriptor by those sent. Sets *ret_canonical to the
 * result. */
static enum error merge(struct decision *d, const struct tree_connect *tree_connect,
                        struct bytes there, struct bytes sent, uint32_t parts,
                        struct bytes *ret_canonical)
{
    struct security_descriptor to, from;
    enum error e;

    if (!security_descriptor_decode(d->arena, there, &to))
        return decision_fail_store(d, STORE_CORRUPT);
    if (!security_descriptor_decode_parts(d->arena, sent, &from))
        return E_FileInvalidPermission;
    parts &= parts == DESCRIPTOR_ALL ? parts_of(&from) : DESCRIPTOR_ALL;
    if ((parts & DESCRIPTOR_OWNER && !from.owner.ptr) ||
        (parts & DESCRIPTOR_GROUP && !from.group.ptr))
        return E_FileInvalidPermission;
    e = check_token(tree_connect->token, &from, parts);
    if (e)
        return e;
    map_generic(&from.dacl);
    settle_inherited(&from);
    take_parts(&to, &from, parts);
    *ret_canonical = security_descriptor_encode(d->arena, &to);
    return ret_canonical->ptr ? OK : E_FileInvalidPermission;
}

/* Finds a file's descriptor by its number. */
static enum error find(struct decision *d, uint64_t number, struct bytes *ret_canonical)
{
    enum error e = permission_find(d, file_state(d)->share.space, number, ret_canonical);

    return !e && !ret_canonical->ptr ? decision_fail_store(d, STORE_CORRUPT) : e;
}

enum error handle_read_descriptor(struct decision *d, uint64_t permission,
                                  struct security_descriptor *ret_descriptor)
{
    struct bytes canonical;
    enum error e = find(d, permission, &canonical);

    if (!e && !security_descriptor_decode(d->arena, canonical, ret_descriptor))
        e = decision_fail_store(d, STORE_CORRUPT);
    return e;
}

enum error descriptor_of_new(struct decision *d, const struct tree_connect *tree_connect,
                             struct bytes raw, enum tree_kind kind, struct bytes *ret_canonical)
{
    const struct access_token *token = tree_connect->token;
    struct descriptor_maker maker = descriptor_of_system;
    struct file_state *state = file_state(d);
    struct file directory;
    enum error e = file_read_directory(d, tree_place_parent(&state->place), &directory);

    if (e)
        return e;
    if (token)
        maker = (struct descriptor_maker){ access_token_user(token), access_token_group(token) };
    e = permission_inherited(d, state->share.space, directory.permission, kind == TREE_DIRECTORY,
                             &maker, ret_canonical);
    if (!e && raw.ptr)
        e = merge(d, tree_connect, *ret_canonical, raw, DESCRIPTOR_ALL, ret_canonical);
    return e;
}

enum error handle_descriptor(struct decision *d, uint32_t parts, struct bytes *ret_descriptor)
{
    struct security_descriptor descriptor;
    enum error e = handle_read_descriptor(d, file_state(d)->file.permission, &descriptor);

    if (!e)
        *ret_descriptor = security_descriptor_encode_parts(d->arena, &descriptor, parts);
    return e;
}

enum error handle_set_descriptor_attempt(struct decision *d, void *of)
{
    struct handle_set_descriptor *set = of;
    struct permission_given given = { .kind = PERMISSION_DESCRIPTOR };
    struct open_state *opens;
    struct file_state *state;
    struct bytes there;
    enum error e = handle_find(d, set->tree_connect, set->handle, HANDLE_CHANGES, &opens);

    set->lasts = true;
    if (e)
        return e;
    state = file_state(d);
    if (!opens->set.is_delete_pending) /* a node with a pending delete can no longer be opened */
        e = open_state_break_handles(opens, set->handle->id);
    if (!e)
        e = find(d, state->file.permission, &there);
    if (!e)
        e = merge(d, set->tree_connect, there, set->descriptor, set->parts, &given.descriptor);
    if (!e)
        e = permission_settle(d, &given, &state->file);
    if (e)
        return e;
    if (!set->handle->times.keeps_changed)
        state->file.changed = d->now;
    file_write_modified(d, &state->file);
    return notify_change(&state->tree, &state->place, CHANGE_MODIFIED, CHANGE_SECURITY);
}
