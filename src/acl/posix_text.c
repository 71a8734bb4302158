/* The text of POSIX ACLs: see posix_acl.h. rest: Path-Update "x-ms-acl", "x-ms-permissions" */
#include "acl/posix_acl.h"

static const struct bytes type_names[] = {
    [POSIX_USER] = BYTES("user"),
    [POSIX_GROUP] = BYTES("group"),
    [POSIX_MASK] = BYTES("mask"),
    [POSIX_OTHER] = BYTES("other"),
};

bool posix_id_is_valid(struct bytes id)
{
    for (size_t i = 0; i < id.len; i++)
        if ((unsigned char)id.ptr[i] <= ' ' || id.ptr[i] == 0x7f || id.ptr[i] == ':' ||
            id.ptr[i] == ',')
            return false;
    return id.len > 0 && id.len <= POSIX_ID_MAX;
}

bool posix_permissions_parse(struct bytes text, unsigned *ret_permissions)
{
    static const char letters[] = "rwx";

    *ret_permissions = 0;
    for (size_t i = 0; i < 3 && text.len == 3; i++) {
        if (text.ptr[i] == letters[i])
            *ret_permissions |= 4u >> i;
        else if (text.ptr[i] != '-')
            return false;
    }
    return text.len == 3;
}

static bool parse_type(struct bytes text, enum posix_type *ret_type)
{
    size_t i = 0;

    while (i < sizeof type_names / sizeof type_names[0] && !bytes_equal(text, type_names[i]))
        i++;
    *ret_type = (enum posix_type)i;
    return i < sizeof type_names / sizeof type_names[0];
}

static bool parse_entry(struct bytes text, enum posix_change how, struct posix_entry *ret_entry)
{
    static const struct bytes scope = BYTES("default:");
    struct posix_entry entry = { .is_default = bytes_has_prefix(text, scope) };
    struct bytes type, permissions;

    if (entry.is_default)
        text = bytes_from(text, scope.len);
    bytes_cut(text, ':', &type, &text);
    bytes_cut(text, ':', &entry.id, &permissions);
    if (!parse_type(type, &entry.type))
        return false;
    if (entry.id.len > 0 && (entry.type >= POSIX_MASK || !posix_id_is_valid(entry.id)))
        return false;
    if (entry.id.len == 0)
        entry.id = bytes_from_string("");
    *ret_entry = entry;
    return how == POSIX_REMOVE ? permissions.len == 0
                               : posix_permissions_parse(permissions, &ret_entry->permissions);
}

bool posix_entries_parse(struct bytes text, enum posix_change how,
                         struct posix_entries *ret_entries)
{
    struct posix_entries entries = { .count = 0 };

    while (text.ptr) {
        struct bytes one;
        struct posix_entry entry;

        bytes_cut(text, ',', &one, &text);
        if (!parse_entry(one, how, &entry) || entries.count == POSIX_ENTRIES_MAX ||
            posix_entries_index(&entries, &entry) < entries.count)
            return false;
        entries.of[entries.count++] = entry;
    }
    *ret_entries = entries;
    return entries.count > 0;
}

static void add_permissions(struct text *out, unsigned permissions)
{
    static const char letters[] = "rwx";

    for (unsigned i = 0; i < 3; i++)
        text_add_char(out, permissions & 4u >> i ? letters[i] : '-');
}

struct bytes posix_entries_text(struct arena *arena, const struct posix_entries *entries)
{
    struct text out;

    text_init(&out, arena, 64);
    for (size_t i = 0; i < entries->count; i++) {
        const struct posix_entry *entry = &entries->of[i];

        text_printf(&out, "%s%s%.*s:%.*s:", i > 0 ? "," : "", entry->is_default ? "default:" : "",
                    BYTES_ARG(type_names[entry->type]), BYTES_ARG(entry->id));
        add_permissions(&out, entry->permissions);
    }
    return text_bytes(&out);
}

/* ---- modes ---- */

static bool parse_octal(struct bytes text, unsigned max, unsigned *ret_mode)
{
    unsigned mode = 0;

    for (size_t i = 0; i < text.len && text.len == 4; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '7')
            return false;
        mode = mode << 3 | (unsigned)(text.ptr[i] - '0');
    }
    *ret_mode = mode;
    return text.len == 4 && mode <= max;
}

bool posix_umask_parse(struct bytes text, unsigned *ret_umask)
{
    return parse_octal(text, 0777, ret_umask);
}

bool posix_mode_parse(struct bytes text, unsigned *ret_mode)
{
    char last = text.len == 9 ? text.ptr[8] : '-';
    char others[3];
    unsigned owner, group, other;

    if (parse_octal(text, POSIX_MODE_ALL, ret_mode))
        return true;
    if (text.len != 9)
        return false;
    memcpy(others, text.ptr + 6, sizeof others);
    if (last == 't' || last == 'T')
        others[2] = last == 't' ? 'x' : '-';
    if (!posix_permissions_parse(bytes_of(text.ptr, 3), &owner) ||
        !posix_permissions_parse(bytes_of(text.ptr + 3, 3), &group) ||
        !posix_permissions_parse(bytes_of(others, sizeof others), &other))
        return false;
    *ret_mode = owner << 6 | group << 3 | other | (last == 't' || last == 'T' ? POSIX_STICKY : 0);
    return true;
}

struct bytes posix_mode_text(struct arena *arena, const struct posix_acl *acl)
{
    unsigned mode = posix_acl_mode(acl);
    struct text out;

    text_init(&out, arena, 16);
    for (unsigned shift = 9; shift > 0; shift -= 3)
        add_permissions(&out, mode >> (shift - 3) & 7);
    if (acl->is_sticky)
        out.ptr[out.len - 1] = mode & POSIX_EXECUTE ? 't' : 'T';
    if (acl->entries.count > 3)
        text_add_char(&out, '+');
    return text_bytes(&out);
}
