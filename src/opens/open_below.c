/* Finds open handles below a directory; see handle_index.h. Reads each directory of the share at
 * most once, regardless of the number of handles. */
#include "opens/handle_index.h"

#define SEEN_SIZE_FIRST 64u

/* Visited nodes, none of which is below the directory. Allocated in the decision's arena. */
struct elsewhere {
    struct arena *arena;
    uint64_t *nodes; /* hash table with open addressing; TREE_ROOT: free slot */
    size_t size, count;
};

static uint64_t *place_of(const struct elsewhere *elsewhere, uint64_t node)
{
    size_t at = (size_t)(node * UINT64_C(0x9E3779B97F4A7C15) >> 20) % elsewhere->size;

    while (elsewhere->nodes[at] != TREE_ROOT && elsewhere->nodes[at] != node)
        at = (at + 1) % elsewhere->size;
    return &elsewhere->nodes[at];
}

static void grow(struct elsewhere *elsewhere)
{
    const struct elsewhere old = *elsewhere;

    elsewhere->size = old.size > 0 ? 2 * old.size : SEEN_SIZE_FIRST;
    elsewhere->nodes = arena_array(elsewhere->arena, elsewhere->size, sizeof *elsewhere->nodes);
    for (size_t i = 0; i < elsewhere->size; i++)
        elsewhere->nodes[i] = TREE_ROOT;
    for (size_t i = 0; i < old.size; i++)
        if (old.nodes[i] != TREE_ROOT)
            *place_of(elsewhere, old.nodes[i]) = old.nodes[i];
}

/* Adds a node. Returns true if it was not in the set. */
static bool add(struct elsewhere *elsewhere, uint64_t node)
{
    uint64_t *place;

    if (2 * elsewhere->count >= elsewhere->size)
        grow(elsewhere);
    place = place_of(elsewhere, node);
    if (*place == node)
        return false;
    *place = node;
    elsewhere->count++;
    return true;
}

/* Reads the ancestors of a node, up to the first one already visited. Returns STORE_OK if one of
 * them is the directory; otherwise STORE_NOT_FOUND, or an error of read_view_get(). */
static enum store_result search_parents(struct tree *tree, struct arena *arena,
                                        struct elsewhere *elsewhere, uint64_t node,
                                        uint64_t directory, unsigned *work)
{
    struct tree_node read;

    for (uint64_t id = node; id != TREE_ROOT && add(elsewhere, id); id = read.parent) {
        struct arena_mark mark = arena_mark(arena);
        enum store_result result = handle_node_read(tree, arena, id, &read);

        arena_rewind(arena, mark);
        ++*work;
        if (result || read.parent == directory)
            return result;
    }
    return STORE_NOT_FOUND;
}

enum store_result handle_open_below(struct tree *tree, uint64_t directory, unsigned *work)
{
    struct decision *d = tree->d;
    const struct handle_marker all = { .is_given = false };
    struct elsewhere elsewhere = { .arena = d->arena };
    struct index_iterator *handles = handle_scan(tree, NULL, &all);
    struct arena *arena = arena_new_like(d->arena, HANDLE_ARENA_MAX);
    enum store_result result;
    struct handle handle;

    while (!(result = handle_next(tree, handles, work, &handle))) {
        /* After HANDLE_WORK_MAX records, handle_next() also returns stale handles. */
        if (handle.node != directory && handle_counts(&handle, d->now, tree->state.reopened)) {
            result = search_parents(tree, arena, &elsewhere, handle.node, directory, work);
            if (result != STORE_NOT_FOUND)
                break;
        }
        if (*work > HANDLE_WORKER_MAX && !d->access.may_block) {
            result = STORE_WAIT;
            break;
        }
    }
    index_iterator_close(handles);
    arena_free(arena);
    return result;
}
