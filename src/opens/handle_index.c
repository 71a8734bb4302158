/* Iteration over the handles of a share, and the paths of their nodes. */
#include "opens/handle_index.h"

#include "service/small_record.h"

/* Names of a path, outermost first. Collected from the node upwards. */
struct way {
    struct bytes name;
    struct way *below;
};

static struct bytes join(struct arena *arena, const struct way *way)
{
    struct text out;

    text_init(&out, arena, 256);
    for (; way; way = way->below) {
        text_add(&out, way->name);
        if (way->below)
            text_add_char(&out, '/');
    }
    return text_bytes(&out);
}

enum store_result handle_node_read(struct tree *tree, struct arena *arena, uint64_t id,
                                   struct tree_node *ret_node)
{
    struct decision *d = tree->d;
    struct partition at = tree_partition(arena, tree->space, id);
    struct decision_part *part = decision_open(d, at, NULL);
    enum store_result result = tree_node_read(part->before, arena, TREE_CASE_IGNORED, ret_node);

    decision_leave(d, part);
    return result;
}

enum store_result handle_path_read(struct tree *tree, struct arena *arena, uint64_t node,
                                   uint64_t top, unsigned *work, struct handle_path *ret_place)
{
    struct way *way = NULL;
    bool is_below = node == top;
    unsigned depth = 0;
    struct tree_node read;

    ret_place->parent = TREE_ROOT;
    for (uint64_t id = node; id != TREE_ROOT; id = read.parent) {
        enum store_result result = handle_node_read(tree, arena, id, &read);
        struct way *more = arena_alloc(arena, sizeof *more);

        ++*work;
        if (result || ++depth > HANDLE_DEPTH_MAX)
            return result ? result : STORE_NOT_FOUND;
        *more = (struct way){ .name = read.name.given, .below = way };
        way = more;
        if (id == node)
            ret_place->parent = read.parent;
        is_below = is_below || read.parent == top;
    }
    ret_place->path = join(arena, way);
    return is_below ? STORE_OK : STORE_NOT_FOUND;
}

struct index_iterator *handle_scan(struct tree *tree, const uint64_t *node,
                                   const struct handle_marker *from)
{
    struct decision *d = tree->d;
    struct bytes prefix = handle_prefix(d->arena, node);
    struct bytes first = from->is_given ? handle_key(d->arena, from->node, from->id) : prefix;
    struct index_iterator *iterator =
        index_iterator_open(d->store, tree->space, prefix, first, bytes_from_string(""), d->access);

    decision_saw(d, index_iterator_sequence(iterator));
    return iterator;
}

enum store_result handle_next(struct tree *tree, struct index_iterator *iterator, unsigned *work,
                              struct handle *ret_handle)
{
    struct index_record record;
    enum store_result result = tree_read_state(tree);

    if (result)
        return result;
    do {
        result = index_iterator_next(iterator, &record);
        ++*work;
        if (!result && !handle_decode(record.key, record.value, ret_handle))
            result = record_is_unknown("the entry of a handle", record.value);
    } while (!result && !handle_counts(ret_handle, tree->d->now, tree->state.reopened) &&
             *work < HANDLE_WORK_MAX);
    return result;
}
