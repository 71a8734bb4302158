/* Security descriptors of what is open, and of what an open makes. */
#include "file/handle_info.h"
#include "file/handle_private.h"
#include "file/notify.h"
#include "file/permission.h"
#include "file/permission_store.h"

/* Takes those parts of the one into the other. */
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

/* The parts that one has. A DACL that is there and null lets everybody do everything. */
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

/* What is there with those parts of what was sent, in canonical form. */
static enum error merge(struct decision *d, struct bytes there, struct bytes sent, uint32_t parts,
                        struct bytes *ret_canonical)
{
    struct security_descriptor to, from;

    if (!security_descriptor_decode(d->arena, there, &to))
        return decision_fail_store(d, STORE_CORRUPT);
    if (!security_descriptor_decode_parts(d->arena, sent, &from))
        return E_FileInvalidPermission;
    parts &= parts == DESCRIPTOR_ALL ? parts_of(&from) : DESCRIPTOR_ALL;
    if ((parts & DESCRIPTOR_OWNER && !from.owner.ptr) ||
        (parts & DESCRIPTOR_GROUP && !from.group.ptr))
        return E_FileInvalidPermission;
    take_parts(&to, &from, parts);
    *ret_canonical = security_descriptor_encode(d->arena, &to);
    return ret_canonical->ptr ? OK : E_FileInvalidPermission;
}

/* What a file has by number; *ret_canonical. */
static enum error find(struct decision *d, uint64_t number, struct bytes *ret_canonical)
{
    enum error e = permission_find(d, file_state(d)->share.space, number, ret_canonical);

    return !e && !ret_canonical->ptr ? decision_fail_store(d, STORE_CORRUPT) : e;
}

enum error descriptor_of_new(struct decision *d, struct bytes raw, enum tree_kind kind,
                             struct bytes *ret_canonical)
{
    struct bytes there;
    enum error e = find(
        d, permission_default(kind == TREE_FILE ? PERMISSION_OF_FILES : PERMISSION_OF_DIRECTORIES),
        &there);

    return e ? e : merge(d, there, raw, DESCRIPTOR_ALL, ret_canonical);
}

enum error handle_descriptor(struct decision *d, uint32_t parts, struct bytes *ret_descriptor)
{
    struct security_descriptor descriptor;
    struct bytes canonical;
    enum error e = find(d, file_state(d)->file.permission, &canonical);

    if (e)
        return e;
    if (!security_descriptor_decode(d->arena, canonical, &descriptor))
        return decision_fail_store(d, STORE_CORRUPT);
    *ret_descriptor = security_descriptor_encode_parts(d->arena, &descriptor, parts);
    return OK;
}

enum error handle_set_descriptor_attempt(struct decision *d, void *of)
{
    struct handle_set_descriptor *set = of;
    struct permission_given given = { .kind = PERMISSION_DESCRIPTOR };
    struct file_gate *gate;
    struct file_state *state;
    struct bytes there;
    enum error e = handle_find(d, set->mount, set->handle, HANDLE_CHANGES, &gate);

    set->lasts = true;
    if (e)
        return e;
    state = file_state(d);
    e = find(d, state->file.permission, &there);
    if (!e)
        e = merge(d, there, set->descriptor, set->parts, &given.descriptor);
    if (!e)
        e = permission_settle(d, &given, &state->file);
    if (e)
        return e;
    if (!set->handle->times.keeps_changed)
        state->file.changed = d->now;
    file_write_modified(d, &state->file);
    return notify_change(d, &state->place, CHANGE_MODIFIED, CHANGE_SECURITY);
}
