/* The Security Descriptor Definition Language. [MS-DTYP] 2.5.1.1.
 *
 *   O:BA G:SY D:AI(A;OICI;FA;;;WD)(A;;0x1200a9;;;S-1-5-21-1-2-3-500) S:P(AU;SA;FA;;;WD)
 * without the spaces. ACE: type; flags; rights; object; inherited object; SID. */
#include "base/ids.h"
#include "acl/security_descriptor.h"
#include "acl/sid.h"

/* Number of ACEs of 20 bytes in an ACL of 64 KiB */
#define ACES_MAX 3276u

struct word {
    const char *text;
    uint32_t value;
};
#define COUNT(words) (sizeof(words) / sizeof(words)[0])

static const struct word types[] = {
    { "A", ACE_ALLOWED },          { "D", ACE_DENIED },         { "AU", ACE_AUDIT },
    { "OA", ACE_ALLOWED_OBJECT },  { "OD", ACE_DENIED_OBJECT }, { "OU", ACE_AUDIT_OBJECT },
    { "ML", ACE_MANDATORY_LABEL }, { "SP", ACE_SCOPED_POLICY }, { "TL", ACE_PROCESS_TRUST },
};
/* [MS-DTYP] 2.4.4.1; "CR", critical: Win32, winnt.h. */
static const struct word flags[] = {
    { "OI", 0x01 }, { "CI", 0x02 }, { "NP", 0x04 }, { "IO", 0x08 },
    { "ID", 0x10 }, { "CR", 0x20 }, { "SA", 0x40 }, { "FA", 0x80 },
};
/* Combined rights. Tried first: a mask that equals one of them is written by its name. */
static const struct word rights_together[] = {
    { "FA", 0x1F01FF }, { "FR", 0x120089 }, { "FW", 0x120116 }, { "FX", 0x1200A0 },
    { "KA", 0x0F003F }, { "KR", 0x020019 }, { "KW", 0x020006 }, { "KX", 0x020019 },
};
/* Single rights, in the order in which they are written. */
static const struct word rights[] = {
    { "CC", 0x00000001 }, { "DC", 0x00000002 }, { "LC", 0x00000004 }, { "SW", 0x00000008 },
    { "RP", 0x00000010 }, { "WP", 0x00000020 }, { "DT", 0x00000040 }, { "LO", 0x00000080 },
    { "CR", 0x00000100 }, { "SD", 0x00010000 }, { "RC", 0x00020000 }, { "WD", 0x00040000 },
    { "WO", 0x00080000 }, { "GA", 0x10000000 }, { "GX", 0x20000000 }, { "GW", 0x40000000 },
    { "GR", 0x80000000 },
};
/* Rights of mandatory labels. */
static const struct word label_rights[] = { { "NW", 1 }, { "NR", 2 }, { "NX", 4 } };
/* DACL flags; those of a SACL are one bit higher. */
static const struct word acl_flags[] = {
    { "P", CONTROL_DACL_PROTECTED },
    { "AR", CONTROL_DACL_INHERIT_ASKED },
    { "AI", CONTROL_DACL_INHERITED },
};
static const char no_list[] = "NO_ACCESS_CONTROL";

/* ---- reading ---- */

static bool take(struct bytes *text, const char *what)
{
    size_t len = strlen(what);

    if (text->len < len || !bytes_is_nocase(bytes_of(text->ptr, len), what))
        return false;
    *text = bytes_from(*text, len);
    return true;
}

static bool take_word(struct bytes *text, const struct word *words, size_t count,
                      uint32_t *ret_value)
{
    for (size_t i = 0; i < count; i++) {
        if (take(text, words[i].text)) {
            *ret_value = words[i].value;
            return true;
        }
    }
    return false;
}

static bool read_words(struct bytes text, const struct word *words, size_t count,
                       uint32_t *ret_bits)
{
    uint32_t bit;

    *ret_bits = 0;
    while (text.len > 0) {
        if (!take_word(&text, words, count, &bit))
            return false;
        *ret_bits |= bit;
    }
    return true;
}

static bool read_type(struct bytes text, uint8_t *ret_type)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (bytes_is_nocase(text, types[i].text)) {
            *ret_type = (uint8_t)types[i].value;
            return true;
        }
    }
    return false;
}

/* Parses a hexadecimal, octal or decimal number, like C. */
static bool read_mask(struct bytes text, uint32_t *ret_mask)
{
    unsigned base = text.ptr[0] == '0' && text.len > 1 ? 8 : 10;
    uint64_t mask = 0;

    if (take(&text, "0x"))
        base = 16;
    for (size_t i = 0; i < text.len; i++) {
        int digit = bytes_hex_digit(text.ptr[i]);

        if (digit < 0 || (unsigned)digit >= base)
            return false;
        mask = mask * base + (unsigned)digit;
        if (mask > UINT32_MAX)
            return false;
    }
    *ret_mask = (uint32_t)mask;
    return text.len > 0;
}

static bool read_rights(struct bytes text, uint32_t *ret_mask)
{
    uint32_t bits;

    if (text.len > 0 && text.ptr[0] >= '0' && text.ptr[0] <= '9')
        return read_mask(text, ret_mask);
    *ret_mask = 0;
    while (text.len > 0) {
        if (!take_word(&text, rights_together, COUNT(rights_together), &bits) &&
            !take_word(&text, rights, COUNT(rights), &bits) &&
            !take_word(&text, label_rights, COUNT(label_rights), &bits))
            return false;
        *ret_mask |= bits;
    }
    return true;
}

/* Converts a GUID to or from its wire form, in which the first three fields are little-endian.
 * [MS-DTYP] 2.3.4.2 */
static void swap_guid(const char *from, char *to)
{
    static const unsigned char order[] = { 3, 2, 1, 0, 5, 4, 7, 6 };

    memcpy(to, from, 16);
    for (size_t i = 0; i < sizeof order; i++)
        to[i] = from[order[i]];
}

static bool read_guid(struct arena *arena, struct bytes text, struct bytes *ret_guid)
{
    struct guid guid;
    char *raw;

    if (text.len == 0)
        return true;
    if (text.len != GUID_TEXT_SIZE - 1 || !guid_parse(text, &guid))
        return false;
    raw = arena_bytes(arena, sizeof guid.b);
    swap_guid((const char *)guid.b, raw);
    *ret_guid = bytes_of(raw, sizeof guid.b);
    return true;
}

/* Parses an ACE. text: without its parentheses */
static bool read_ace(struct arena *arena, struct bytes text, bool in_sacl, struct ace *ret_ace)
{
    struct bytes fields[6];
    uint32_t bits;

    for (size_t i = 0; i < COUNT(fields); i++) {
        bytes_cut(text, ';', &fields[i], &text);
        if (i + 1 < COUNT(fields) && !text.ptr)
            return false;
    }
    *ret_ace = (struct ace){ .type = 0 };
    if (text.ptr || !read_type(fields[0], &ret_ace->type) ||
        !ace_type_fits(ret_ace->type, in_sacl) ||
        !read_words(fields[1], flags, COUNT(flags), &bits) ||
        !read_rights(fields[2], &ret_ace->mask) || !read_guid(arena, fields[3], &ret_ace->object) ||
        !read_guid(arena, fields[4], &ret_ace->inherited_object))
        return false;
    ret_ace->flags = (uint8_t)bits;
    if (!ace_has_objects(ret_ace->type) && (ret_ace->object.ptr || ret_ace->inherited_object.ptr))
        return false;
    return sid_take(arena, &fields[5], &ret_ace->sid) && fields[5].len == 0;
}

/* Counts the ACEs at the start of `text`. */
static size_t count_aces(struct bytes text)
{
    size_t count = 0;

    for (; text.len > 0 && text.ptr[0] == '('; count++) {
        const char *end = memchr(text.ptr, ')', text.len);

        if (!end)
            break;
        text = bytes_from(text, (size_t)(end - text.ptr) + 1);
    }
    return count;
}

static bool take_acl(struct arena *arena, struct bytes *text, bool in_sacl, uint16_t *control,
                     struct acl *ret_acl)
{
    struct bytes ace;
    uint32_t bit;

    while (take_word(text, acl_flags, COUNT(acl_flags), &bit))
        *control = (uint16_t)(*control | bit << in_sacl);
    *ret_acl = (struct acl){ .null = take(text, no_list) };
    ret_acl->count = count_aces(*text);
    if (ret_acl->count > ACES_MAX || (ret_acl->null && ret_acl->count > 0))
        return false;
    ret_acl->aces = arena_array(arena, ret_acl->count, sizeof *ret_acl->aces);
    for (size_t i = 0; i < ret_acl->count; i++) {
        bytes_cut(bytes_from(*text, 1), ')', &ace, text);
        if (!read_ace(arena, ace, in_sacl, &ret_acl->aces[i]))
            return false;
    }
    return true;
}

/* Parses the next part. Each may occur once. */
static bool take_part(struct arena *arena, struct bytes *text, struct security_descriptor *sd)
{
    if (!sd->owner.ptr && take(text, "O:"))
        return sid_take(arena, text, &sd->owner);
    if (!sd->group.ptr && take(text, "G:"))
        return sid_take(arena, text, &sd->group);
    if (!(sd->control & CONTROL_DACL_PRESENT) && take(text, "D:")) {
        sd->control |= CONTROL_DACL_PRESENT;
        return take_acl(arena, text, false, &sd->control, &sd->dacl);
    }
    if (!(sd->control & CONTROL_SACL_PRESENT) && take(text, "S:")) {
        sd->control |= CONTROL_SACL_PRESENT;
        return take_acl(arena, text, true, &sd->control, &sd->sacl);
    }
    return false;
}

bool sddl_read(struct arena *arena, struct bytes text, struct security_descriptor *ret_descriptor)
{
    struct security_descriptor *sd = ret_descriptor;

    *sd = (struct security_descriptor){ .control = CONTROL_SELF_RELATIVE, .sacl.null = true };
    while (text.len > 0) {
        if (!take_part(arena, &text, sd))
            return false;
    }
    return sd->owner.ptr && sd->group.ptr && (sd->control & CONTROL_DACL_PRESENT);
}

/* ---- writing ---- */

static void add_words(struct text *out, uint32_t bits, const struct word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bits & words[i].value)
            text_add_string(out, words[i].text);
    }
}

static uint32_t all_of(const struct word *words, size_t count)
{
    uint32_t all = 0;

    for (size_t i = 0; i < count; i++)
        all |= words[i].value;
    return all;
}

static void add_rights(struct text *out, uint8_t type, uint32_t mask)
{
    bool of_label = type == ACE_MANDATORY_LABEL;
    const struct word *words = of_label ? label_rights : rights;
    size_t count = of_label ? COUNT(label_rights) : COUNT(rights);

    for (size_t i = 0; i < COUNT(rights_together); i++) {
        if (mask == rights_together[i].value) {
            text_add_string(out, rights_together[i].text);
            return;
        }
    }
    if (mask & ~all_of(words, count))
        text_printf(out, "0x%x", mask);
    else
        add_words(out, mask, words, count);
}

static void add_guid(struct text *out, struct bytes raw)
{
    char text[GUID_TEXT_SIZE];
    struct guid guid;

    if (!raw.ptr)
        return;
    swap_guid(raw.ptr, (char *)guid.b);
    guid_format(&guid, text);
    text_add_string(out, text);
}

static void add_ace(struct text *out, const struct ace *ace)
{
    text_add_char(out, '(');
    for (size_t i = 0; i < COUNT(types); i++) {
        if (types[i].value == ace->type)
            text_add_string(out, types[i].text);
    }
    text_add_char(out, ';');
    add_words(out, ace->flags, flags, COUNT(flags));
    text_add_char(out, ';');
    add_rights(out, ace->type, ace->mask);
    text_add_char(out, ';');
    add_guid(out, ace->object);
    text_add_char(out, ';');
    add_guid(out, ace->inherited_object);
    text_add_char(out, ';');
    sid_add_text(out, ace->sid);
    text_add_char(out, ')');
}

static void add_acl(struct text *out, const struct acl *acl, bool in_sacl, uint16_t control)
{
    text_add_string(out, in_sacl ? "S:" : "D:");
    if (acl->null) {
        text_add_string(out, no_list);
        return;
    }
    add_words(out, (uint32_t)control >> in_sacl, acl_flags, COUNT(acl_flags));
    for (size_t i = 0; i < acl->count; i++)
        add_ace(out, &acl->aces[i]);
}

struct bytes sddl_write(struct arena *arena, const struct security_descriptor *descriptor)
{
    struct text out;

    text_init(&out, arena, 256);
    text_add_string(&out, "O:");
    sid_add_text(&out, descriptor->owner);
    text_add_string(&out, "G:");
    sid_add_text(&out, descriptor->group);
    add_acl(&out, &descriptor->dacl, false, descriptor->control);
    add_acl(&out, &descriptor->sacl, true, descriptor->control);
    return text_bytes(&out);
}
