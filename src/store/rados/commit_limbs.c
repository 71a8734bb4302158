/* Commits that change records in limbs (limb.h): each limb takes part as a partition of its own. */
#include <assert.h>

#include "store/rados/commit_private.h"

/* Row keys of the places that are looked for. */
#define PLACES_ARENA_MAX (256u << 20)

struct commit_limb {
    struct commit_limb *next;
    const struct view_limb *of;
    struct part_work *work;
};

enum store_result commit_limbs_begin(struct rados_snapshot *snapshot, const struct changes *changes)
{
    struct arena *arena = arena_new(PLACES_ARENA_MAX);
    struct arena_mark empty = arena_mark(arena);
    enum store_result result = STORE_OK;

    for (const struct change *c = changes_first(changes); c && !result; c = c->next) {
        struct view_limb *limb;

        result = rados_limb(snapshot, c->family, c->key, arena, &limb);
        arena_rewind(arena, empty);
    }
    arena_free(arena);
    return result;
}

/* Takes it into the commit, and lists at home the version that it will have. */
static struct commit_limb *add_limb(struct commit *c, struct commit_member *member,
                                    const struct view_limb *of)
{
    const struct partition_header *seen = view_header(of->view);
    const struct limb_row after = { of->row.space, partition_version_after(seen, c->now),
                                    of->row.lo };
    struct commit_limb *limb = arena_alloc(c->arena, sizeof *limb);

    part_work_set(member->work, c->arena,
                  row_key_limb(c->arena, of->family, member->partition.key, of->last),
                  limb_row_write(c->arena, &after));
    *limb = (struct commit_limb){
        .next = c->limbs,
        .of = of,
        .work = transaction_add_limb(c->transaction, view_partition(of->view), seen),
    };
    c->limbs = limb;
    return limb;
}

static struct part_work *work_of(struct commit *c, struct commit_member *member,
                                 const struct view_limb *of)
{
    struct commit_limb *limb = c->limbs;

    if (!of)
        return member->work;
    while (limb && limb->of != of)
        limb = limb->next;
    return limb ? limb->work : add_limb(c, member, of)->work;
}

enum store_result commit_limbs_add(struct commit *c, struct commit_member *member,
                                   struct view *view, const struct changes *changes)
{
    for (const struct change *change = changes_first(changes); change; change = change->next) {
        struct view_limb *limb;
        enum store_result result = view_limb(view, change->family, change->key, c->arena, &limb);

        assert(result != STORE_WAIT); /* commit_limbs_begin() has read it */
        if (result)
            return result;
        part_work_record(work_of(c, member, limb), c->arena, member->partition.key, change);
    }
    return STORE_OK;
}
