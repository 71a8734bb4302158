/* Security descriptors in self-relative form. [MS-DTYP] 2.4.2.2, 2.4.4.2 to 2.4.4.13, 2.4.5,
 * 2.4.6. Every offset and length is checked before use. */
#include "acl/security_descriptor.h"

#include "base/endian.h"

#define HEADER_BYTES     20u
#define ACL_HEADER_BYTES 8u
#define ACE_HEADER_BYTES 8u /* including the mask */
#define GUID_BYTES       16u
#define ACL_BYTES_MAX    UINT16_MAX

/* ACL_REVISION_DS is for ACLs with object ACEs. */
enum { ACL_REVISION = 2, ACL_REVISION_DS = 4 };
enum { OBJECT_PRESENT = 1, INHERITED_OBJECT_PRESENT = 2 };

#define CONTROL_DACL_BITS                                                                          \
    (CONTROL_DACL_INHERIT_ASKED | CONTROL_DACL_INHERITED | CONTROL_DACL_PROTECTED)
#define CONTROL_SACL_BITS                                                                          \
    (CONTROL_SACL_INHERIT_ASKED | CONTROL_SACL_INHERITED | CONTROL_SACL_PROTECTED)

bool ace_type_fits(uint8_t type, bool in_sacl)
{
    switch (type) {
    case ACE_ALLOWED:
    case ACE_DENIED:
    case ACE_ALLOWED_OBJECT:
    case ACE_DENIED_OBJECT:
        return !in_sacl;
    case ACE_AUDIT:
    case ACE_AUDIT_OBJECT:
    case ACE_MANDATORY_LABEL:
    case ACE_SCOPED_POLICY:
    case ACE_PROCESS_TRUST:
        return in_sacl;
    default:
        return false;
    }
}

/* ---- reading ---- */

static uint16_t le16_at(struct bytes raw, size_t at)
{
    const unsigned char *from = (const unsigned char *)raw.ptr + at;

    return (uint16_t)(from[0] | from[1] << 8);
}

/* Returns the SID at this offset, which may be followed by more data; ptr NULL if it is invalid. */
static struct bytes sid_at(struct bytes raw, size_t at)
{
    struct bytes rest = bytes_from(raw, at);
    size_t numbers;

    if (rest.len < 8 || rest.ptr[0] != 1)
        return bytes_of(NULL, 0);
    numbers = (unsigned char)rest.ptr[1];
    if (numbers < 1 || numbers > SID_NUMBERS_MAX || rest.len < 8 + 4 * numbers)
        return bytes_of(NULL, 0);
    return bytes_of(rest.ptr, 8 + 4 * numbers);
}

static bool take_guid(struct bytes *rest, struct bytes *ret_guid)
{
    if (rest->len < GUID_BYTES)
        return false;
    *ret_guid = bytes_of(rest->ptr, GUID_BYTES);
    *rest = bytes_from(*rest, GUID_BYTES);
    return true;
}

static bool take_objects(struct bytes *rest, struct ace *ace)
{
    uint32_t present;

    if (rest->len < sizeof present)
        return false;
    present = le32_get(rest->ptr);
    *rest = bytes_from(*rest, sizeof present);
    if (present & ~(uint32_t)(OBJECT_PRESENT | INHERITED_OBJECT_PRESENT))
        return false;
    if ((present & OBJECT_PRESENT) && !take_guid(rest, &ace->object))
        return false;
    return !(present & INHERITED_OBJECT_PRESENT) || take_guid(rest, &ace->inherited_object);
}

/* Decodes an ACE. raw: the whole ACE and nothing else */
static bool decode_ace(struct bytes raw, bool in_sacl, struct ace *ret_ace)
{
    struct bytes rest = bytes_from(raw, ACE_HEADER_BYTES);

    *ret_ace = (struct ace){ .type = (uint8_t)raw.ptr[0],
                             .flags = (uint8_t)raw.ptr[1],
                             .mask = le32_get(raw.ptr + 4) };
    if (!ace_type_fits(ret_ace->type, in_sacl) ||
        (ace_has_objects(ret_ace->type) && !take_objects(&rest, ret_ace)))
        return false;
    ret_ace->sid = sid_at(rest, 0);
    return ret_ace->sid.ptr && ret_ace->sid.len == rest.len;
}

/* Decodes the ACEs of an ACL, which may be followed by unused space. */
static bool decode_aces(struct bytes rest, bool in_sacl, struct acl *acl)
{
    for (size_t i = 0; i < acl->count; i++) {
        size_t size;

        if (rest.len < ACE_HEADER_BYTES)
            return false;
        size = le16_at(rest, 2);
        if (size < ACE_HEADER_BYTES || size > rest.len ||
            !decode_ace(bytes_of(rest.ptr, size), in_sacl, &acl->aces[i]))
            return false;
        rest = bytes_from(rest, size);
    }
    return true;
}

static bool decode_acl(struct arena *arena, struct bytes raw, uint32_t offset, bool in_sacl,
                       struct acl *ret_acl)
{
    struct bytes rest = bytes_from(raw, offset);
    size_t size;

    *ret_acl = (struct acl){ .null = offset == 0 };
    if (offset == 0)
        return true;
    if (offset < HEADER_BYTES || rest.len < ACL_HEADER_BYTES ||
        (rest.ptr[0] != ACL_REVISION && rest.ptr[0] != ACL_REVISION_DS))
        return false;
    size = le16_at(rest, 2);
    ret_acl->count = le16_at(rest, 4);
    if (size > rest.len || size < ACL_HEADER_BYTES + ret_acl->count * ACE_HEADER_BYTES)
        return false;
    ret_acl->aces = arena_array(arena, ret_acl->count, sizeof *ret_acl->aces);
    return decode_aces(bytes_of(rest.ptr + ACL_HEADER_BYTES, size - ACL_HEADER_BYTES), in_sacl,
                       ret_acl);
}

/* Decodes the SID at an offset; 0 means absent. Returns false if it is malformed. */
static bool decode_sid(struct bytes raw, uint32_t offset, struct bytes *ret_sid)
{
    *ret_sid = bytes_of(NULL, 0);
    if (offset == 0)
        return true;
    if (offset < HEADER_BYTES)
        return false;
    *ret_sid = sid_at(raw, offset);
    return ret_sid->ptr != NULL;
}

bool security_descriptor_decode_parts(struct arena *arena, struct bytes raw,
                                      struct security_descriptor *ret_descriptor)
{
    struct security_descriptor *sd = ret_descriptor;
    uint32_t sacl, dacl;

    if (raw.len < HEADER_BYTES || raw.len > SECURITY_DESCRIPTOR_MAX || raw.ptr[0] != 1)
        return false;
    sd->control = le16_at(raw, 2);
    if (!(sd->control & CONTROL_SELF_RELATIVE))
        return false;
    sacl = (sd->control & CONTROL_SACL_PRESENT) ? le32_get(raw.ptr + 12) : 0;
    dacl = (sd->control & CONTROL_DACL_PRESENT) ? le32_get(raw.ptr + 16) : 0;
    return decode_sid(raw, le32_get(raw.ptr + 4), &sd->owner) &&
           decode_sid(raw, le32_get(raw.ptr + 8), &sd->group) &&
           decode_acl(arena, raw, sacl, true, &sd->sacl) &&
           decode_acl(arena, raw, dacl, false, &sd->dacl);
}

bool security_descriptor_decode(struct arena *arena, struct bytes raw,
                                struct security_descriptor *ret_descriptor)
{
    return security_descriptor_decode_parts(arena, raw, ret_descriptor) &&
           (ret_descriptor->control & CONTROL_DACL_PRESENT) && ret_descriptor->owner.ptr &&
           ret_descriptor->group.ptr;
}

/* ---- writing ---- */

static void add_le(struct text *out, uint32_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        text_add_char(out, (char)(value >> (8 * i)));
}

static size_t ace_size(const struct ace *ace)
{
    return ACE_HEADER_BYTES +
           (ace_has_objects(ace->type) ? 4 + ace->object.len + ace->inherited_object.len : 0) +
           ace->sid.len;
}

static size_t acl_size(const struct acl *acl)
{
    size_t size = ACL_HEADER_BYTES;

    if (acl->null)
        return 0;
    for (size_t i = 0; i < acl->count; i++)
        size += ace_size(&acl->aces[i]);
    return size;
}

static void add_ace(struct text *out, const struct ace *ace)
{
    text_add_char(out, (char)ace->type);
    text_add_char(out, (char)ace->flags);
    add_le(out, (uint32_t)ace_size(ace), 2);
    add_le(out, ace->mask, 4);
    if (ace_has_objects(ace->type)) {
        add_le(out,
               (ace->object.ptr ? (uint32_t)OBJECT_PRESENT : 0) |
                   (ace->inherited_object.ptr ? (uint32_t)INHERITED_OBJECT_PRESENT : 0),
               4);
        text_add(out, ace->object);
        text_add(out, ace->inherited_object);
    }
    text_add(out, ace->sid);
}

static void add_acl(struct text *out, const struct acl *acl)
{
    uint8_t revision = ACL_REVISION;

    if (acl->null)
        return;
    for (size_t i = 0; i < acl->count; i++) {
        if (ace_has_objects(acl->aces[i].type))
            revision = ACL_REVISION_DS;
    }
    text_add_char(out, (char)revision);
    text_add_char(out, 0);
    add_le(out, (uint32_t)acl_size(acl), 2);
    add_le(out, (uint32_t)acl->count, 2);
    add_le(out, 0, 2);
    for (size_t i = 0; i < acl->count; i++)
        add_ace(out, &acl->aces[i]);
}

/* Returns the control bits, without the flags (auto-inherit, protected, defaulted) of a NULL
 * ACL. */
static uint16_t canonical_control(const struct security_descriptor *sd)
{
    unsigned control = CONTROL_DACL_PRESENT | CONTROL_SACL_PRESENT | CONTROL_SELF_RELATIVE;

    if (!sd->dacl.null)
        control |= sd->control & CONTROL_DACL_BITS;
    if (!sd->sacl.null)
        control |= sd->control & CONTROL_SACL_BITS;
    return (uint16_t)control;
}

/* Encodes header and parts in canonical order. */
static struct bytes encode(struct arena *arena, const struct security_descriptor *sd,
                           uint16_t control)
{
    size_t sacl = acl_size(&sd->sacl), dacl = acl_size(&sd->dacl);
    size_t sids = sd->owner.len + sd->group.len;
    size_t size = HEADER_BYTES + sids + sacl + dacl;
    struct text out;

    if (sacl > ACL_BYTES_MAX || dacl > ACL_BYTES_MAX || size > SECURITY_DESCRIPTOR_MAX)
        return bytes_of(NULL, 0);
    text_init(&out, arena, size);
    add_le(&out, 1, 2);
    add_le(&out, control, 2);
    add_le(&out, sd->owner.ptr ? HEADER_BYTES : 0, 4);
    add_le(&out, sd->group.ptr ? (uint32_t)(HEADER_BYTES + sd->owner.len) : 0, 4);
    add_le(&out, sacl > 0 ? (uint32_t)(HEADER_BYTES + sids) : 0, 4);
    add_le(&out, dacl > 0 ? (uint32_t)(HEADER_BYTES + sids + sacl) : 0, 4);
    text_add(&out, sd->owner);
    text_add(&out, sd->group);
    add_acl(&out, &sd->sacl);
    add_acl(&out, &sd->dacl);
    return text_bytes(&out);
}

struct bytes security_descriptor_encode(struct arena *arena,
                                        const struct security_descriptor *descriptor)
{
    return encode(arena, descriptor, canonical_control(descriptor));
}

struct bytes security_descriptor_encode_parts(struct arena *arena,
                                              const struct security_descriptor *descriptor,
                                              uint32_t parts)
{
    struct security_descriptor sd = *descriptor;
    unsigned control;

    if (!(parts & DESCRIPTOR_OWNER))
        sd.owner = bytes_of(NULL, 0);
    if (!(parts & DESCRIPTOR_GROUP))
        sd.group = bytes_of(NULL, 0);
    sd.dacl.null = sd.dacl.null || !(parts & DESCRIPTOR_DACL);
    sd.sacl.null = sd.sacl.null || !(parts & DESCRIPTOR_SACL);
    control = canonical_control(&sd);
    if (!(parts & DESCRIPTOR_DACL))
        control &= ~(unsigned)CONTROL_DACL_PRESENT;
    if (sd.sacl.null)
        control &= ~(unsigned)CONTROL_SACL_PRESENT;
    return encode(arena, &sd, (uint16_t)control);
}
