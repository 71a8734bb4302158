/* The ordered map of the memory store: a persistent treap.
 *
 * A tree is a pointer to its root, NULL when empty. Holding a reference to the root keeps its state
 * for as long as needed, without copying. A change consumes the caller's reference to the root and
 * returns a new root; nodes that others can reach are copied on the way, the rest are changed in
 * place.
 *
 * Invariants: (1) a node that more than one holder can reach never changes. (2) Keys rise from left
 * to right; priorities fall from the root down. Priorities are random, so the depth is logarithmic
 * whatever keys a client chooses.
 *
 * Any thread may read and release a root that it holds; changes of one tree need one thread at a
 * time. */
#ifndef LAGRA_STORE_MEMORY_TREAP_H
#define LAGRA_STORE_MEMORY_TREAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct treap_node;

/* Both accept an empty tree. */
struct treap_node *treap_hold(struct treap_node *root);
void treap_release(struct treap_node *root);

/* *ret_value is valid as long as the root is held. */
bool treap_find(const struct treap_node *root, struct bytes key, struct bytes *ret_value);
/* Returns true if any key has the prefix. */
bool treap_has_prefix(const struct treap_node *root, struct bytes prefix);

/* Copies key and value. priority: random; unused if the key exists */
struct treap_node *treap_put(struct treap_node *root, struct bytes key, struct bytes value,
                             uint32_t priority);
/* Does nothing if the key does not exist. */
struct treap_node *treap_delete(struct treap_node *root, struct bytes key);
/* Cuts out the keys in [from, end), as a separate tree that the caller holds. */
struct treap_node *treap_cut(struct treap_node *root, struct bytes from, struct bytes end,
                             struct treap_node **ret_cut);

/* A position in a tree, for iterating over its keys in order. Needs no release; the root must be
 * held. A treap of n keys is about 3 ln n deep; the probability that 2^32 keys exceed this depth is
 * below that of a hardware fault. */
#define TREE_DEPTH_MAX 256
struct treap_path {
    const struct treap_node *nodes[TREE_DEPTH_MAX]; /* the last one is the current node */
    unsigned depth;                                 /* 0 means at the end */
};
/* Goes to the first key at or after `key`. */
void treap_seek(struct treap_path *path, const struct treap_node *root, struct bytes key);
void treap_next(struct treap_path *path);
/* Returns false at the end. */
bool treap_at(const struct treap_path *path, struct bytes *ret_key, struct bytes *ret_value);

#endif
