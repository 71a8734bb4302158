/* See fs_change.h. */
#include "fs_change.h"

#include "world.h"

unsigned fs_free_place(const struct fs_state *state)
{
    unsigned at = FS_ROOT + 1;

    while (at < FS_NODES && state->nodes[at].exists)
        at++;
    if (at == FS_NODES)
        world_fail("the model has no room for another file");
    return at;
}

void fs_set_path(const struct fs_state *state, const struct fs_path *path, struct fs_node *node)
{
    unsigned last = path->depth - 1;

    node->parent = fs_find_parent(state, path);
    node->name = path->names[last];
    node->is_other_case = path->cases >> last & 1;
}

void fs_move(struct fs_state *state, const struct fs_path *path, struct fs_node *node)
{
    unsigned to = fs_find(state, path);

    if (to < FS_NODES && &state->nodes[to] != node)
        state->nodes[to].exists = false;
    fs_set_path(state, path, node);
}

void fs_add_permission(struct fs_state *state, unsigned permission)
{
    if (permission == 0)
        return;
    state->permissions |= 1u << permission;
    state->doubtful &= ~(1u << permission);
}

void fs_cut(struct fs_node *node, unsigned length, uint64_t commit)
{
    for (unsigned i = length; i < FS_SLOTS && i < node->length; i++) {
        node->slots[i] = 0;
        node->written[i] = commit;
    }
    if (node->length != length)
        node->copy = NULL;
    node->length = length;
}

void fs_end_copy(struct fs_node *node, enum fs_copied how, uint64_t commit)
{
    const struct fs_copy *copy = node->copy;

    fs_cut(node, 0, commit);
    node->copy = copy;
    node->copied_as = how;
}

uint64_t fs_etag_to_pass(const struct fs_node *node)
{
    return node->etag > 0 ? node->etag : node->above;
}

void fs_write_node(const struct fs_state *state, struct fs_node *node)
{
    node->above = fs_etag_to_pass(node);
    node->etag = 0;
    node->version = state->since;
    fs_forget_lease(node);
}

void fs_forget_lease(struct fs_node *node)
{
    if (node->lease.state == FS_BROKEN)
        node->lease = (struct fs_lease){ .state = FS_AVAILABLE };
}
