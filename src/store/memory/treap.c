/* The persistent treap: nodes and entries with reference counts; all changes are splits and
 * merges. */
#include "store/memory/treap.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"

/* Key and value, shared by all copies of a node. */
struct entry {
    atomic_uint holders;
    size_t key_len;
    size_t value_len;
    char data[]; /* key, value */
};

struct treap_node {
    atomic_uint holders; /* parents and owners of roots */
    uint32_t priority;
    struct entry *entry;
    struct treap_node *left;
    struct treap_node *right;
};

/* Asserts the heap order: no child has a higher priority. */
static void assert_node(const struct treap_node *node)
{
    assert(!node->left || node->left->priority <= node->priority);
    assert(!node->right || node->right->priority <= node->priority);
}

static struct entry *entry_new(struct bytes key, struct bytes value)
{
    struct entry *entry = xmalloc(sizeof *entry + key.len + value.len);

    atomic_init(&entry->holders, 1);
    entry->key_len = key.len;
    entry->value_len = value.len;
    if (key.len > 0)
        memcpy(entry->data, key.ptr, key.len);
    if (value.len > 0)
        memcpy(entry->data + key.len, value.ptr, value.len);
    return entry;
}

static struct entry *entry_take(struct entry *entry)
{
    atomic_fetch_add_explicit(&entry->holders, 1, memory_order_relaxed);
    return entry;
}

static void entry_give(struct entry *entry)
{
    if (atomic_fetch_sub_explicit(&entry->holders, 1, memory_order_acq_rel) == 1)
        free(entry);
}

static struct bytes node_key(const struct treap_node *node)
{
    return bytes_of(node->entry->data, node->entry->key_len);
}

static struct bytes node_value(const struct treap_node *node)
{
    return bytes_of(node->entry->data + node->entry->key_len, node->entry->value_len);
}

static struct treap_node *node_new(struct entry *entry, uint32_t priority, struct treap_node *left,
                                   struct treap_node *right)
{
    struct treap_node *node = xmalloc(sizeof *node);

    atomic_init(&node->holders, 1);
    node->priority = priority;
    node->entry = entry;
    node->left = left;
    node->right = right;
    return node;
}

struct treap_node *treap_hold(struct treap_node *root)
{
    if (root)
        atomic_fetch_add_explicit(&root->holders, 1, memory_order_relaxed);
    return root;
}

void treap_release(struct treap_node *root)
{
    if (!root || atomic_fetch_sub_explicit(&root->holders, 1, memory_order_acq_rel) != 1)
        return;
    treap_release(root->left);
    treap_release(root->right);
    entry_give(root->entry);
    free(root);
}

/* Turns the caller's reference to a node into a node that only the caller can reach (invariant 1).
 * The children of an owned node are either reachable only through it or shared themselves. */
static struct treap_node *own(struct treap_node *node)
{
    struct treap_node *copy;

    if (atomic_load_explicit(&node->holders, memory_order_acquire) == 1)
        return node;
    copy = node_new(entry_take(node->entry), node->priority, treap_hold(node->left),
                    treap_hold(node->right));
    treap_release(node);
    return copy;
}

/* Consumes the tree. Returns the keys below `key`, and the rest. */
static void split(struct treap_node *node, struct bytes key, struct treap_node **ret_below,
                  struct treap_node **ret_rest)
{
    if (!node) {
        *ret_below = NULL;
        *ret_rest = NULL;
        return;
    }
    node = own(node);
    if (bytes_compare(node_key(node), key) < 0) {
        split(node->right, key, &node->right, ret_rest);
        *ret_below = node;
    } else {
        split(node->left, key, ret_below, &node->left);
        *ret_rest = node;
    }
}

/* Consumes both trees; all keys of the first are below those of the second. */
static struct treap_node *merge(struct treap_node *first, struct treap_node *second)
{
    if (!first)
        return second;
    if (!second)
        return first;
    if (first->priority >= second->priority) {
        first = own(first);
        first->right = merge(first->right, second);
        assert_node(first);
        return first;
    }
    second = own(second);
    second->left = merge(first, second->left);
    assert_node(second);
    return second;
}

static const struct treap_node *find(const struct treap_node *node, struct bytes key)
{
    while (node) {
        int order = bytes_compare(key, node_key(node));

        if (order == 0)
            return node;
        node = order < 0 ? node->left : node->right;
    }
    return NULL;
}

bool treap_find(const struct treap_node *root, struct bytes key, struct bytes *ret_value)
{
    const struct treap_node *node = find(root, key);

    if (!node)
        return false;
    *ret_value = node_value(node);
    return true;
}

bool treap_has_prefix(const struct treap_node *root, struct bytes prefix)
{
    const struct treap_node *first = NULL;

    while (root) {
        if (bytes_compare(node_key(root), prefix) >= 0) {
            first = root;
            root = root->left;
        } else {
            root = root->right;
        }
    }
    return first && bytes_has_prefix(node_key(first), prefix);
}

/* The key is in the tree. */
static struct treap_node *replace(struct treap_node *node, struct entry *entry, struct bytes key)
{
    int order = bytes_compare(key, node_key(node));

    node = own(node);
    if (order < 0) {
        node->left = replace(node->left, entry, key);
    } else if (order > 0) {
        node->right = replace(node->right, entry, key);
    } else {
        entry_give(node->entry);
        node->entry = entry;
    }
    return node;
}

/* The key is not in the tree. */
static struct treap_node *insert(struct treap_node *node, struct entry *entry, struct bytes key,
                                 uint32_t priority)
{
    if (!node || node->priority < priority) {
        struct treap_node *added = node_new(entry, priority, NULL, NULL);

        split(node, key, &added->left, &added->right);
        assert_node(added);
        return added;
    }
    node = own(node);
    if (bytes_compare(key, node_key(node)) < 0)
        node->left = insert(node->left, entry, key, priority);
    else
        node->right = insert(node->right, entry, key, priority);
    assert_node(node);
    return node;
}

struct treap_node *treap_put(struct treap_node *root, struct bytes key, struct bytes value,
                             uint32_t priority)
{
    struct entry *entry = entry_new(key, value);

    if (find(root, key))
        return replace(root, entry, key);
    return insert(root, entry, key, priority);
}

/* The key is in the tree. */
static struct treap_node *without(struct treap_node *node, struct bytes key)
{
    int order = bytes_compare(key, node_key(node));

    if (order == 0) {
        struct treap_node *rest = merge(treap_hold(node->left), treap_hold(node->right));

        treap_release(node);
        return rest;
    }
    node = own(node);
    if (order < 0)
        node->left = without(node->left, key);
    else
        node->right = without(node->right, key);
    assert_node(node);
    return node;
}

struct treap_node *treap_delete(struct treap_node *root, struct bytes key)
{
    return find(root, key) ? without(root, key) : root;
}

struct treap_node *treap_cut(struct treap_node *root, struct bytes from, struct bytes end,
                             struct treap_node **ret_cut)
{
    struct treap_node *below, *above;

    split(root, from, &below, &root);
    split(root, end, ret_cut, &above);
    return merge(below, above);
}

static void push_leftmost(struct treap_path *path, const struct treap_node *node)
{
    for (; node; node = node->left) {
        assert(path->depth < TREE_DEPTH_MAX);
        path->nodes[path->depth++] = node;
    }
}

void treap_seek(struct treap_path *path, const struct treap_node *root, struct bytes key)
{
    path->depth = 0;
    while (root) {
        assert(atomic_load(&root->holders) > 0);
        if (bytes_compare(node_key(root), key) < 0) {
            root = root->right;
            continue;
        }
        assert(path->depth < TREE_DEPTH_MAX);
        path->nodes[path->depth++] = root;
        root = root->left;
    }
}

void treap_next(struct treap_path *path)
{
    assert(path->depth > 0);
    push_leftmost(path, path->nodes[--path->depth]->right);
}

bool treap_at(const struct treap_path *path, struct bytes *ret_key, struct bytes *ret_value)
{
    const struct treap_node *node;

    if (path->depth == 0)
        return false;
    node = path->nodes[path->depth - 1];
    *ret_key = node_key(node);
    *ret_value = node_value(node);
    return true;
}
