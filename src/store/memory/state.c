/* Kept states of the memory store: a reference to the root, and the pieces that it refers to.
 * Returning to one takes time proportional to the number of pieces, but not of records. */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

#include "store/record_key.h"

struct store_state {
    struct treap_node *root;
    struct memory_piece_kept *pieces;
    size_t piece_count;
};

static struct memory_store *store_of(struct store *base)
{
    return (struct memory_store *)(void *)base;
}

struct store_state *memory_keep_state(struct store *base)
{
    struct memory_store *store = store_of(base);
    struct store_state *state = xcalloc(1, sizeof *state);

    lock_acquire(&store->lock);
    state->root = treap_hold(store->root);
    state->pieces = memory_pieces_keep(&store->pieces, &state->piece_count);
    lock_release(&store->lock);
    return state;
}

void memory_drop_state(struct store *base, struct store_state *state)
{
    struct memory_store *store = store_of(base);
    struct memory_piece *freed;

    lock_acquire(&store->lock);
    freed = memory_pieces_unkeep(&store->pieces, state->pieces, state->piece_count);
    lock_release(&store->lock);
    memory_pieces_free(freed);
    treap_release(state->root);
    free(state->pieces);
    free(state);
}

/* Replaces the records of the space, and the versions of its partitions, by those of another tree.
 * Caller holds the lock. */
static void take_over(struct memory_store *store, const struct treap_node *from,
                      const struct guid *space)
{
    static const char kinds[] = { KEY_KIND_LISTED, KEY_KIND_INNER, KEY_KIND_VERSION };

    for (size_t i = 0; i < sizeof kinds; i++) {
        struct treap_node *cut;
        struct treap_path at;
        struct key begin, end;
        struct bytes key, value;

        key_init(&begin);
        key_init(&end);
        key_set_space(&begin, kinds[i], space);
        key_set_space(&end, kinds[i], space);
        key_set_end(&end);
        store->root = treap_cut(store->root, key_bytes(&begin), key_bytes(&end), &cut);
        treap_release(cut);
        for (treap_seek(&at, from, key_bytes(&begin));
             treap_at(&at, &key, &value) && bytes_compare(key, key_bytes(&end)) < 0;
             treap_next(&at))
            store->root = treap_put(store->root, key, value, memory_next_priority(store));
        key_release(&end);
        key_release(&begin);
    }
}

/* Works like a commit to all partitions: its sequence is new, so decisions on partitions that have
 * changed are repeated. Versions of partitions are sequences, which are never reused: if a
 * partition has the version that a decision saw, it has the state that the decision saw. */
enum store_result memory_return_to(struct store *base, struct store_state *state,
                                   const struct guid *except, uint64_t *ret_sequence)
{
    struct memory_store *store = store_of(base);
    struct treap_node *left;
    struct memory_piece *freed;

    lock_acquire(&store->lock);
    left = store->root;
    store->root = treap_hold(state->root);
    if (except)
        take_over(store, left, except);
    atomic_fetch_add(&base->returns, 1);
    *ret_sequence = ++store->sequence;
    memory_pieces_return(&store->pieces, state->pieces, state->piece_count, store->sequence);
    freed = memory_collect(store);
    lock_release(&store->lock);
    treap_release(left);
    memory_pieces_free(freed);
    deferred_return(&store->deferred);
    return STORE_OK;
}
