/* Inheritance by a new directory or file: [MS-DTYP] 2.5.3.4.1 to 2.5.3.4.3, without object types, which
 * files do not have. */
#include "file/security_descriptor.h"

enum { FLAG_FILES = 0x01, FLAG_DIRECTORIES = 0x02, FLAG_ONCE = 0x04, FLAG_NOT_HERE = 0x08 };
enum { FLAG_INHERITED = 0x10, FLAGS_OF_INHERITANCE = 0x1F };

static const struct bytes system_sid = BYTES("\x01\x01\0\0\0\0\0\x05\x12\0\0\0");
static const struct bytes creator_owner = BYTES("\x01\x01\0\0\0\0\0\x03\0\0\0\0");
static const struct bytes creator_group = BYTES("\x01\x01\0\0\0\0\0\x03\x01\0\0\0");

/* Maps generic rights to those of files. [MS-FSCC] has them as [MS-DTYP] 2.5.1.1 "FA" and its kin. */
static uint32_t map_generic(uint32_t mask)
{
    static const struct {
        uint32_t generic, rights;
    } map[] = {
        { 0x10000000, 0x1F01FF },
        { 0x20000000, 0x1200A0 },
        { 0x40000000, 0x120116 },
        { 0x80000000, 0x120089 },
    };
    uint32_t mapped = mask & 0x0FFFFFFF;

    for (size_t i = 0; i < sizeof map / sizeof map[0]; i++)
        mapped |= (mask & map[i].generic) ? map[i].rights : 0;
    return mapped;
}

/* The entry as it applies to the new object itself; CREATOR OWNER becomes its owner. */
static struct ace effective(const struct ace *of)
{
    struct ace ace = *of;

    ace.mask = map_generic(of->mask);
    ace.flags = (uint8_t)((of->flags & ~(unsigned)FLAGS_OF_INHERITANCE) | FLAG_INHERITED);
    if (bytes_equal(of->sid, creator_owner) || bytes_equal(of->sid, creator_group))
        ace.sid = system_sid;
    return ace;
}

static bool same(const struct ace *a, const struct ace *b)
{
    return a->mask == b->mask && bytes_equal(a->sid, b->sid);
}

/* Adds the entries of a new directory: one if the same entry applies to it and is inherited further, else
 * two. */
static void inherit_for_directory(const struct ace *of, struct acl *to)
{
    struct ace here = effective(of), below = *of;

    below.flags |= FLAG_INHERITED;
    if (of->flags & FLAG_ONCE)
        below.flags &= (uint8_t) ~(FLAG_FILES | FLAG_DIRECTORIES);
    if (!(of->flags & FLAG_DIRECTORIES)) {
        if (of->flags & FLAG_ONCE)
            return;
        below.flags |= FLAG_NOT_HERE;
        to->aces[to->count++] = below;
        return;
    }
    if ((of->flags & FLAG_ONCE) || !same(&here, &below))
        to->aces[to->count++] = here;
    if (of->flags & FLAG_ONCE)
        return;
    below.flags &= (uint8_t)~FLAG_NOT_HERE;
    below.flags |= same(&here, &below) ? 0 : FLAG_NOT_HERE;
    to->aces[to->count++] = below;
}

static struct acl inherit(struct arena *arena, const struct acl *parent, bool for_directory)
{
    struct acl to = { .null = parent->null,
                      .aces = arena_array(arena, 2 * parent->count, sizeof *to.aces) };

    for (size_t i = 0; i < parent->count; i++) {
        const struct ace *ace = &parent->aces[i];

        if (for_directory && (ace->flags & (FLAG_FILES | FLAG_DIRECTORIES)))
            inherit_for_directory(ace, &to);
        else if (!for_directory && (ace->flags & FLAG_FILES))
            to.aces[to.count++] = effective(ace);
    }
    return to;
}

struct security_descriptor security_descriptor_inherit(struct arena *arena,
                                                       const struct security_descriptor *parent,
                                                       bool for_directory)
{
    return (struct security_descriptor){
        .control = CONTROL_DACL_PRESENT | CONTROL_SACL_PRESENT | CONTROL_SELF_RELATIVE |
                   CONTROL_DACL_INHERITED | CONTROL_SACL_INHERITED,
        .owner = system_sid,
        .group = system_sid,
        .dacl = inherit(arena, &parent->dacl, for_directory),
        .sacl = inherit(arena, &parent->sacl, for_directory),
    };
}
