/* The ordered map of the memory store: a persistent treap. Only src/store/memory uses it.
 *
 * A tree is a pointer to its root, NULL when empty. To keep a state for ever, take the root: one
 * count, no copying. A change consumes the caller's hold on the root and returns a new root; nodes
 * that another holder can reach are copied on the way, others are changed in place.
 *
 * Invariants: (1) a node that more than one holder can reach never changes. (2) Keys rise from
 * left to right; priorities fall from the root down. Priorities are random, so that the depth is
 * logarithmic whatever keys a client chooses.
 *
 * Any thread may read, and release, a root that it holds; changes of one tree need one thread at a
 * time. */
#ifndef LAGRA_STORE_MEMORY_TREE_H
#define LAGRA_STORE_MEMORY_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct tree_node;

/* Both accept an empty tree. */
struct tree_node *tree_hold(struct tree_node *root);
void tree_release(struct tree_node *root);

/* *ret_value is valid as long as the root is held. */
bool tree_find(const struct tree_node *root, struct bytes key, struct bytes *ret_value);
/* Whether any key begins so. */
bool tree_has_prefix(const struct tree_node *root, struct bytes prefix);

/* Copies key and value. priority: random; of no meaning when the key is there already. */
struct tree_node *tree_put(struct tree_node *root, struct bytes key, struct bytes value,
                           uint32_t priority);
/* A key that is not there changes nothing. */
struct tree_node *tree_delete(struct tree_node *root, struct bytes key);
/* Cuts the keys from `from` to below `end` out, as a tree of their own that the caller holds. */
struct tree_node *tree_cut(struct tree_node *root, struct bytes from, struct bytes end,
                           struct tree_node **ret_cut);

/* A place in a tree, for going through its keys in order. Nothing to release; the root must be
 * held. A treap of n keys is about 3 ln n deep; 2^32 keys exceed this depth with a probability
 * below that of a broken machine. */
#define TREE_DEPTH_MAX 256
struct tree_path {
    const struct tree_node *nodes[TREE_DEPTH_MAX]; /* the last one is where it stands */
    unsigned depth;                                /* 0: at the end */
};
/* Goes to the first key at or after `key`. */
void tree_seek(struct tree_path *path, const struct tree_node *root, struct bytes key);
void tree_next(struct tree_path *path);
/* False at the end. */
bool tree_at(const struct tree_path *path, struct bytes *ret_key, struct bytes *ret_value);

#endif
