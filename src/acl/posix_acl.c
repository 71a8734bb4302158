/* See posix_acl.h. */
#include "acl/posix_acl.h"

#include <assert.h>
#include <stdlib.h>

#include "base/codec.h"

#define RECORD_VERSION 1
#define FLAG_DEFAULT   32u
#define BASE_COUNT     3u

/* Types of the unnamed entries of a scope */
static const enum posix_type base_types[BASE_COUNT] = { POSIX_USER, POSIX_GROUP, POSIX_OTHER };

/* ---- entries ---- */

static struct bytes no_id(void)
{
    return bytes_from_string("");
}

static int compare(const void *left, const void *right)
{
    const struct posix_entry *a = left, *b = right;

    if (a->is_default != b->is_default)
        return a->is_default ? 1 : -1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return bytes_compare(a->id, b->id);
}

static bool is_same(const struct posix_entry *a, const struct posix_entry *b)
{
    return a->is_default == b->is_default && a->type == b->type && bytes_equal_nocase(a->id, b->id);
}

static bool is_named(const struct posix_entry *entry)
{
    return entry->id.len > 0;
}

size_t posix_entries_index(const struct posix_entries *entries, const struct posix_entry *wanted)
{
    size_t i = 0;

    while (i < entries->count && !is_same(&entries->of[i], wanted))
        i++;
    return i;
}

static struct posix_entry *find(const struct posix_entries *entries, bool is_default,
                                enum posix_type type)
{
    const struct posix_entry wanted = { .is_default = is_default, .type = type };
    size_t i = posix_entries_index(entries, &wanted);

    return i < entries->count ? (struct posix_entry *)(uintptr_t)&entries->of[i] : NULL;
}

static size_t count_in(const struct posix_entries *entries, bool is_default)
{
    size_t count = 0;

    for (size_t i = 0; i < entries->count; i++)
        count += entries->of[i].is_default == is_default;
    return count;
}

/* Adds an entry. Returns false if there is no space. */
static bool put(struct posix_entries *entries, struct posix_entry entry)
{
    size_t i = posix_entries_index(entries, &entry);

    if (i == POSIX_ENTRIES_MAX)
        return false;
    if (i == entries->count)
        entries->count++;
    entries->of[i] = entry;
    return true;
}

static void take_out(struct posix_entries *entries, size_t i)
{
    memmove(&entries->of[i], &entries->of[i + 1], (--entries->count - i) * sizeof entries->of[0]);
}

static void sort(struct posix_entries *entries)
{
    qsort(entries->of, entries->count, sizeof entries->of[0], compare);
}

void posix_entries_without_defaults(struct posix_entries *entries)
{
    for (size_t i = entries->count; i-- > 0;)
        if (entries->of[i].is_default)
            take_out(entries, i);
}

/* Adds the three access entries of a mode. */
static void set_base(struct posix_entries *entries, unsigned mode)
{
    for (unsigned i = 0; i < BASE_COUNT; i++)
        entries->of[i] = (struct posix_entry){ .type = base_types[i],
                                               .id = no_id(),
                                               .permissions = mode >> 3 * (2 - i) & 7 };
    entries->count = BASE_COUNT;
}

/* ---- modes ---- */

static unsigned new_mode(bool is_directory)
{
    return is_directory ? 0777 : 0666;
}

/* Returns the entry shown and changed as the group bits of a mode. */
static struct posix_entry *group_class(const struct posix_acl *acl)
{
    struct posix_entry *mask = find(&acl->entries, false, POSIX_MASK);

    return mask ? mask : find(&acl->entries, false, POSIX_GROUP);
}

unsigned posix_acl_mode(const struct posix_acl *acl)
{
    return (acl->is_sticky ? POSIX_STICKY : 0) |
           find(&acl->entries, false, POSIX_USER)->permissions << 6 |
           group_class(acl)->permissions << 3 |
           find(&acl->entries, false, POSIX_OTHER)->permissions;
}

void posix_acl_set_mode(struct posix_acl *acl, unsigned mode)
{
    find(&acl->entries, false, POSIX_USER)->permissions = mode >> 6 & 7;
    group_class(acl)->permissions = mode >> 3 & 7;
    find(&acl->entries, false, POSIX_OTHER)->permissions = mode & 7;
    acl->is_sticky = (mode & POSIX_STICKY) != 0;
}

/* ---- records ---- */

void posix_acl_init(struct posix_acl *acl, bool is_directory)
{
    *acl = (struct posix_acl){ .owner = bytes_from_string(POSIX_SUPERUSER),
                               .group = bytes_from_string(POSIX_SUPERUSER) };
    set_base(&acl->entries, new_mode(is_directory) & ~POSIX_UMASK);
}

static struct bytes decode_owner(struct decoder *in)
{
    struct bytes id = decode_bytes(in);

    return id.len == 0 ? bytes_from_string(POSIX_SUPERUSER) : id;
}

static bool decode_entry(struct decoder *in, struct posix_entry *ret_entry)
{
    unsigned form = decode_u8(in);

    *ret_entry = (struct posix_entry){ .is_default = (form & FLAG_DEFAULT) != 0,
                                       .type = (enum posix_type)(form >> 3 & 3),
                                       .id = decode_bytes(in),
                                       .permissions = form & 7 };
    return form < 2 * FLAG_DEFAULT && (!is_named(ret_entry) || ret_entry->type < POSIX_MASK);
}

/* Checks the invariants of the header. */
static bool is_valid(const struct posix_acl *acl, bool is_directory)
{
    const struct posix_entries *entries = &acl->entries;
    size_t defaults = count_in(entries, true);

    if (defaults > POSIX_SCOPE_MAX || entries->count - defaults > POSIX_SCOPE_MAX ||
        (defaults > 0 && !is_directory))
        return false;
    for (size_t i = 0; i < BASE_COUNT; i++)
        if (!find(entries, false, base_types[i]) ||
            (defaults > 0 && !find(entries, true, base_types[i])))
            return false;
    for (size_t i = 0; i < entries->count; i++) {
        const struct posix_entry *entry = &entries->of[i];

        if (is_named(entry) && !find(entries, entry->is_default, POSIX_MASK))
            return false;
        if (i > 0 && compare(&entries->of[i - 1], entry) >= 0)
            return false;
    }
    return true;
}

bool posix_acl_decode(struct bytes record, bool is_directory, struct posix_acl *ret_acl)
{
    struct posix_acl acl = { .is_sticky = false };
    struct decoder in;
    uint64_t mode;
    size_t count;

    if (!record.ptr) {
        posix_acl_init(ret_acl, is_directory);
        return true;
    }
    decoder_init(&in, record);
    if (decode_u8(&in) != RECORD_VERSION)
        return false;
    mode = decode_u64(&in);
    acl.owner = decode_owner(&in);
    acl.group = decode_owner(&in);
    acl.is_sticky = (mode & POSIX_STICKY) != 0;
    set_base(&acl.entries, (unsigned)mode & 0777);
    count = decode_u8(&in);
    if (mode > POSIX_MODE_ALL || count > POSIX_ENTRIES_MAX - BASE_COUNT)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!decode_entry(&in, &acl.entries.of[acl.entries.count++]))
            return false;
    sort(&acl.entries);
    if (!decoder_ok(&in) || !is_valid(&acl, is_directory))
        return false;
    *ret_acl = acl;
    return true;
}

static void encode_owner(struct text *out, struct bytes id)
{
    encode_bytes(out, bytes_is(id, POSIX_SUPERUSER) ? no_id() : id);
}

static bool is_base(const struct posix_entry *entry)
{
    return !entry->is_default && entry->type != POSIX_MASK && !is_named(entry);
}

struct bytes posix_acl_encode(struct arena *arena, const struct posix_acl *acl, bool is_directory)
{
    const struct posix_entries *entries = &acl->entries;
    unsigned mode = (acl->is_sticky ? POSIX_STICKY : 0) |
                    find(entries, false, POSIX_USER)->permissions << 6 |
                    find(entries, false, POSIX_GROUP)->permissions << 3 |
                    find(entries, false, POSIX_OTHER)->permissions;
    struct text out;

    if (mode == (new_mode(is_directory) & ~POSIX_UMASK) && entries->count == BASE_COUNT &&
        bytes_is(acl->owner, POSIX_SUPERUSER) && bytes_is(acl->group, POSIX_SUPERUSER))
        return bytes_of(NULL, 0);
    text_init(&out, arena, 64);
    encode_u8(&out, RECORD_VERSION);
    encode_u64(&out, mode);
    encode_owner(&out, acl->owner);
    encode_owner(&out, acl->group);
    encode_u8(&out, (uint8_t)(entries->count - BASE_COUNT));
    for (size_t i = 0; i < entries->count; i++) {
        const struct posix_entry *entry = &entries->of[i];

        if (is_base(entry))
            continue;
        encode_u8(&out, (uint8_t)(entry->permissions | (unsigned)entry->type << 3 |
                                  (entry->is_default ? FLAG_DEFAULT : 0)));
        encode_bytes(&out, entry->id);
    }
    return text_bytes(&out);
}

/* ---- changes ---- */

/* Adds missing unnamed default entries, with the permissions of the access entries. */
static bool complete_defaults(struct posix_entries *entries)
{
    size_t count = entries->count;

    if (count_in(entries, true) == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        struct posix_entry entry = entries->of[i];

        entry.is_default = true;
        if (is_base(&entries->of[i]) && posix_entries_index(entries, &entry) == entries->count &&
            !put(entries, entry))
            return false;
    }
    return true;
}

/* Sets the mask of a scope to the union of the entries that it limits, if the scope needs one. */
static bool compute_mask(struct posix_entries *entries, bool is_default)
{
    struct posix_entry mask = { .is_default = is_default, .type = POSIX_MASK, .id = no_id() };
    bool is_needed = find(entries, is_default, POSIX_MASK) != NULL;

    for (size_t i = 0; i < entries->count; i++) {
        const struct posix_entry *entry = &entries->of[i];

        if (entry->is_default != is_default)
            continue;
        is_needed |= is_named(entry);
        if (is_named(entry) || entry->type == POSIX_GROUP)
            mask.permissions |= entry->permissions;
    }
    return !is_needed || put(entries, mask);
}

static bool remove_entries(struct posix_entries *from, const struct posix_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        size_t at = posix_entries_index(from, &entries->of[i]);

        if (is_base(&entries->of[i]))
            return false;
        if (at < from->count)
            take_out(from, at);
    }
    return true;
}

static bool put_entries(struct posix_entries *to, const struct posix_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        if (!put(to, entries->of[i]))
            return false;
    return true;
}

bool posix_acl_change(struct posix_acl *acl, enum posix_change how,
                      const struct posix_entries *entries, bool is_directory)
{
    struct posix_acl changed = *acl;

    if (how == POSIX_SET)
        changed.entries.count = 0;
    if (how == POSIX_REMOVE ? !remove_entries(&changed.entries, entries)
                            : !put_entries(&changed.entries, entries))
        return false;
    if (!complete_defaults(&changed.entries))
        return false;
    for (int is_default = 0; is_default < 2; is_default++)
        if (count_in(entries, is_default) > 0 && !find(entries, is_default, POSIX_MASK) &&
            !compute_mask(&changed.entries, is_default))
            return false;
    sort(&changed.entries);
    if (!is_valid(&changed, is_directory))
        return false;
    *acl = changed;
    return true;
}

void posix_acl_inherit(const struct posix_acl *parent, const struct posix_creation *creation,
                       bool is_directory, struct posix_acl *ret_acl)
{
    unsigned mode = creation->has_mode ? creation->mode : new_mode(is_directory);
    struct posix_entries *entries = &ret_acl->entries;

    *ret_acl = (struct posix_acl){
        .owner = creation->owner,
        .group = creation->group.len > 0 ? creation->group : parent->group,
    };
    if (creation->entries) {
        *entries = *creation->entries;
        return;
    }
    if (count_in(&parent->entries, true) == 0) {
        set_base(entries, mode & ~creation->umask);
        ret_acl->is_sticky = (mode & POSIX_STICKY) != 0;
        return;
    }
    for (size_t i = 0; i < parent->entries.count; i++) {
        struct posix_entry entry = parent->entries.of[i];

        if (!entry.is_default)
            continue;
        if (is_directory)
            entries->of[entries->count++] = entry;
        entry.is_default = false;
        entries->of[entries->count++] = entry;
    }
    sort(entries);
    posix_acl_set_mode(ret_acl, (posix_acl_mode(ret_acl) & mode) | (mode & POSIX_STICKY));
}

/* ---- checks ---- */

#define W_X   (POSIX_WRITE | POSIX_EXECUTE)
#define R_X   (POSIX_READ | POSIX_EXECUTE)
#define R_W   (POSIX_READ | POSIX_WRITE)
#define R_W_X (POSIX_READ | POSIX_WRITE | POSIX_EXECUTE)

/* source: data-lake-storage-access-control "Common scenarios related to ACL permissions" */
const struct posix_requirement posix_requirements[POSIX_OPERATIONS] = {
    [POSIX_READS] = { 0, POSIX_READ, POSIX_ANYONE },
    [POSIX_SHOWS_STATUS] = { 0, 0, POSIX_ANYONE },
    [POSIX_WRITES] = { 0, R_W, POSIX_ANYONE },
    [POSIX_CREATES] = { W_X, 0, POSIX_ANYONE },
    [POSIX_DELETES] = { W_X, 0, POSIX_ANYONE },
    [POSIX_DELETES_TREE] = { W_X, R_W_X, POSIX_ANYONE },
    [POSIX_LISTS] = { 0, R_X, POSIX_ANYONE },
    [POSIX_CHANGES_ACL] = { 0, 0, POSIX_THE_OWNER },
    [POSIX_CHANGES_GROUP] = { 0, 0, POSIX_THE_OWNER },
    [POSIX_CHANGES_OWNER] = { 0, 0, POSIX_ONLY_SUPERUSER },
};

bool posix_acl_is_owner(const struct posix_acl *acl, const struct posix_caller *caller)
{
    return bytes_equal_nocase(acl->owner, caller->oid);
}

bool posix_is_member(const struct posix_caller *caller, struct bytes group)
{
    for (size_t i = 0; i < caller->group_count; i++)
        if (bytes_equal_nocase(caller->groups[i], group))
            return true;
    return false;
}

/* Returns the caller's permissions: those of the entry or entries that apply to it, limited by the
 * mask unless the caller is the owner or one of the others. Permissions of several groups are
 * combined. */
static unsigned granted(const struct posix_acl *acl, const struct posix_caller *caller)
{
    const struct posix_entry *mask = find(&acl->entries, false, POSIX_MASK);
    unsigned limit = mask ? mask->permissions : 7, of_groups = 0;
    bool is_in_group = false;

    if (posix_acl_is_owner(acl, caller))
        return find(&acl->entries, false, POSIX_USER)->permissions;
    for (size_t i = 0; i < acl->entries.count && !acl->entries.of[i].is_default; i++) {
        const struct posix_entry *entry = &acl->entries.of[i];

        if (entry->type == POSIX_USER && is_named(entry) &&
            bytes_equal_nocase(entry->id, caller->oid))
            return entry->permissions & limit;
        if (entry->type == POSIX_GROUP &&
            posix_is_member(caller, is_named(entry) ? entry->id : acl->group)) {
            is_in_group = true;
            of_groups |= entry->permissions;
        }
    }
    return is_in_group ? of_groups & limit : find(&acl->entries, false, POSIX_OTHER)->permissions;
}

bool posix_acl_permits(const struct posix_acl *acl, const struct posix_caller *caller,
                       unsigned permissions)
{
    return (granted(acl, caller) & permissions) == permissions;
}

bool posix_acl_may_unlink(const struct posix_acl *directory, const struct posix_acl *child,
                          const struct posix_caller *caller)
{
    return !directory->is_sticky || posix_acl_is_owner(child, caller) ||
           posix_acl_is_owner(directory, caller);
}
