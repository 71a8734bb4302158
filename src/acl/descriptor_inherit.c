/* Inheritance of ACEs by a new directory or file: [MS-DTYP] 2.5.3.4.1 to 2.5.3.4.3, without
 * object types, which files do not have. */
#include "acl/access_check.h"
#include "acl/security_descriptor.h"
#include "acl/sid.h"

const struct descriptor_maker descriptor_of_system = { SID_SYSTEM, SID_SYSTEM };

/* What is common to all ACEs of a new ACL */
struct heir {
    const struct descriptor_maker *maker;
    uint8_t mark; /* ACE_INHERITED, or 0 */
};

/* Returns the ACE in the form that applies to the new object itself. Replaces CREATOR OWNER and
 * CREATOR GROUP. */
static struct ace effective(const struct ace *of, const struct heir *heir)
{
    struct ace ace = *of;

    ace.mask = access_mask_mapped(of->mask);
    ace.flags = (uint8_t)((of->flags & ~(unsigned)ACE_INHERITANCE) | heir->mark);
    if (bytes_equal(of->sid, sid_creator_owner))
        ace.sid = heir->maker->owner;
    if (bytes_equal(of->sid, sid_creator_group))
        ace.sid = heir->maker->group;
    return ace;
}

static bool same(const struct ace *a, const struct ace *b)
{
    return a->mask == b->mask && bytes_equal(a->sid, b->sid);
}

/* Adds the ACEs of a new directory: one if the effective ACE and the inherited one are equal,
 * otherwise two. */
static void inherit_for_directory(const struct ace *of, const struct heir *heir, struct acl *to)
{
    struct ace here = effective(of, heir), below = *of;

    below.flags = (uint8_t)((of->flags & ~(unsigned)ACE_INHERITED) | heir->mark);
    if (!(of->flags & ACE_FOR_DIRECTORIES)) {
        if (of->flags & ACE_ONCE)
            return;
        below.flags |= ACE_INHERIT_ONLY;
        to->aces[to->count++] = below;
        return;
    }
    if ((of->flags & ACE_ONCE) || !same(&here, &below))
        to->aces[to->count++] = here;
    if (of->flags & ACE_ONCE)
        return;
    below.flags &= (uint8_t)~ACE_INHERIT_ONLY;
    below.flags |= same(&here, &below) ? 0 : ACE_INHERIT_ONLY;
    to->aces[to->count++] = below;
}

static struct acl inherit(struct arena *arena, const struct acl *parent, bool for_directory,
                          const struct heir *heir)
{
    struct acl to = { .null = parent->null,
                      .aces = arena_array(arena, 2 * parent->count, sizeof *to.aces) };

    for (size_t i = 0; i < parent->count; i++) {
        const struct ace *ace = &parent->aces[i];

        if (for_directory && (ace->flags & (ACE_FOR_FILES | ACE_FOR_DIRECTORIES)))
            inherit_for_directory(ace, heir, &to);
        else if (!for_directory && (ace->flags & ACE_FOR_FILES))
            to.aces[to.count++] = effective(ace, heir);
    }
    return to;
}

/* Returns the default DACL of a token. [MS-DTYP] 2.5.3.4.1 */
static struct acl default_dacl(struct arena *arena, const struct descriptor_maker *maker)
{
    struct acl acl = { .aces = arena_array(arena, 2, sizeof *acl.aces), .count = 1 };

    acl.aces[0] = (struct ace){ .type = ACE_ALLOWED, .mask = MAY_ALL, .sid = maker->owner };
    if (!bytes_equal(maker->owner, sid_system))
        acl.aces[acl.count++] =
            (struct ace){ .type = ACE_ALLOWED, .mask = MAY_ALL, .sid = sid_system };
    return acl;
}

struct security_descriptor security_descriptor_inherit(struct arena *arena,
                                                       const struct security_descriptor *parent,
                                                       bool for_directory,
                                                       const struct descriptor_maker *maker)
{
    unsigned marks = parent->control & (CONTROL_DACL_INHERITED | CONTROL_SACL_INHERITED);
    const struct heir of_dacl = { maker, marks & CONTROL_DACL_INHERITED ? ACE_INHERITED : 0 };
    const struct heir of_sacl = { maker, marks & CONTROL_SACL_INHERITED ? ACE_INHERITED : 0 };
    struct security_descriptor new = {
        .control =
            (uint16_t)(CONTROL_DACL_PRESENT | CONTROL_SACL_PRESENT | CONTROL_SELF_RELATIVE | marks),
        .owner = maker->owner,
        .group = maker->group,
        .dacl = inherit(arena, &parent->dacl, for_directory, &of_dacl),
        .sacl = inherit(arena, &parent->sacl, for_directory, &of_sacl),
    };

    if (new.dacl.count == 0)
        new.dacl = default_dacl(arena, maker);
    return new;
}
