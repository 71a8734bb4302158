/* See sm_changes.h. */
#include "sm_changes.h"

#include "world.h"

/* How far below the directory; false: it is not, or farther than is watched. */
static bool is_below(const struct sm_watched *watch, const struct fs_state *state,
                     const struct fs_node *node, unsigned *ret_above)
{
    const struct fs_node *at = &state->nodes[node->parent];

    for (*ret_above = 0;; ++*ret_above) {
        if (at->id == watch->directory)
            return *ret_above == 0 || watch->is_recursive;
        if (at == &state->nodes[FS_ROOT])
            return false;
        at = &state->nodes[at->parent];
    }
}

static void add(struct sm_watched *watch, const struct fs_state *state, const struct fs_node *node,
                unsigned action, uint64_t order)
{
    uint32_t filter = node->is_directory ? SM_OF_DIRECTORIES : SM_OF_FILES;
    unsigned above;

    if (action == SM_MODIFIED)
        filter = ~(uint32_t)(SM_OF_FILES | SM_OF_DIRECTORIES);

    if (node == &state->nodes[FS_ROOT] || !is_below(watch, state, node, &above) ||
        !(watch->filter & filter))
        return;
    if (watch->count == SM_CHANGES_MAX)
        world_fail("more than %u changes for a watch", SM_CHANGES_MAX);
    /* Directories above may have moved while it was decided. */
    watch->changes[watch->count++] =
        (struct sm_change){ .action = action,
                            .name = fs_name_bytes[node->is_other_case][node->name],
                            .above = above,
                            .is_due = order > watch->order && above == 0,
                            .at_ns = world->now_ns };
}

/* The names of a node that is in both states. */
static void see_rename(struct sm_watched *watch, const struct fs_state *old,
                       const struct fs_node *from, const struct fs_state *new,
                       const struct fs_node *to, uint64_t order)
{
    bool is_same_directory = old->nodes[from->parent].id == new->nodes[to->parent].id;

    if (is_same_directory && from->name == to->name && from->is_other_case == to->is_other_case)
        return;
    add(watch, old, from, is_same_directory ? SM_OLD_NAME : SM_REMOVED, order);
    add(watch, new, to, is_same_directory ? SM_NEW_NAME : SM_ADDED, order);
}

/* One that was made anew under its name is another node, and perhaps written otherwise; nobody is told of that. */
static bool is_same(const struct fs_state *old, const struct fs_node *from,
                    const struct fs_state *new, const struct fs_node *to)
{
    if (!from->exists || !to->exists)
        return false;
    return from->id == to->id ||
           (from->name == to->name && old->nodes[from->parent].id == new->nodes[to->parent].id);
}

static void see_node(struct sm_watched *watch, const struct fs_state *old,
                     const struct fs_state *new, unsigned at, uint64_t order)
{
    const struct fs_node *from = &old->nodes[at], *to = &new->nodes[at];

    if (is_same(old, from, new, to)) {
        bool is_sure = from->length != to->length && (watch->filter & SM_OF_SIZES);

        if (from->id == to->id)
            see_rename(watch, old, from, new, to, order);
        if (from->version != to->version || from->length != to->length)
            add(watch, new, to, SM_MODIFIED, is_sure ? order : 0);
        return;
    }
    if (from->exists)
        add(watch, old, from, SM_REMOVED, order);
    if (to->exists)
        add(watch, new, to, SM_ADDED, order);
}

void sm_changes_add(struct sm_watched *watch, const struct fs_state *old,
                    const struct fs_state *new, uint64_t order)
{
    const struct fs_node *directory = fs_node_of(new, watch->directory);

    if (!watch->has_gone && (!directory || directory->is_delete_pending)) {
        watch->has_gone = true;
        watch->gone_ns = world->now_ns;
    }
    for (unsigned i = 0; i < FS_NODES; i++)
        see_node(watch, old, new, i, order);
}
