/* Kept states, and the pieces to which only they refer: see states.h. */
#include "store/embedded/states.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"
#include "store/record_key.h"

/* ---- pieces ---- */

static int by_place(uint32_t extent, uint64_t offset, uint32_t other_extent, uint64_t other_offset)
{
    if (extent != other_extent)
        return extent < other_extent ? -1 : 1;
    return offset < other_offset ? -1 : offset > other_offset;
}

static int compare_back(const void *a, const void *b)
{
    const struct came_back *x = a, *y = b;

    return by_place(x->extent, x->offset, y->extent, y->offset);
}

static int compare_pieces(const void *a, const void *b)
{
    const struct freed_piece *x = a, *y = b;

    return by_place(x->extent, x->offset, y->extent, y->offset);
}

/* Returns true if the piece was put in use again after the commit that freed it. Caller holds the
 * lock. */
static bool is_back(const struct states *states, const struct freed_piece *piece, uint64_t freed_at)
{
    const struct came_back wanted = { .extent = piece->extent, .offset = piece->offset };
    const struct came_back *found = NULL;

    if (states->back_count > 0)
        found = bsearch(&wanted, states->back, states->back_count, sizeof wanted, compare_back);
    return freed_at < states->back_before || (found && freed_at < found->sequence);
}

/* Returns true also if it cannot be read. Caller holds the lock. */
static bool is_in_a_state(struct embedded *embedded, const struct freed_piece *piece)
{
    char key[KEY_PIECE_SIZE];

    key_write_piece(key, piece->extent, piece->offset);
    for (struct store_state *state = embedded->states.first; state; state = state->next) {
        const rocksdb_readoptions_t *read = atomic_load(&state->read);
        rocksdb_pinnableslice_t *value;
        enum store_result result;

        if (!read)
            return true;
        result = keyspace_get(&embedded->keyspace, read, STORE_MAY_BLOCK, bytes_of(key, sizeof key),
                              &value);
        if (!result)
            rocksdb_pinnableslice_destroy(value);
        if (result != STORE_NOT_FOUND)
            return true;
    }
    return false;
}

static void keep(struct states *states, const struct freed_piece *piece)
{
    if (states->kept_count == STATE_PIECES_MAX)
        return;
    if (states->kept_count == states->kept_capacity) {
        states->kept_capacity = states->kept_capacity > 0 ? 2 * states->kept_capacity : 256;
        states->kept = xrealloc(states->kept, states->kept_capacity * sizeof states->kept[0]);
    }
    states->kept[states->kept_count++] = *piece;
}

void states_take_out(struct embedded *embedded, struct freed *freed)
{
    struct states *states = &embedded->states;
    size_t left = 0;

    /* Pieces to which no commit referred are in no state. */
    if (!atomic_load(&states->any) || freed->sequence == 0)
        return;
    lock_acquire(&states->lock);
    for (size_t i = 0; i < freed->count; i++) {
        const struct freed_piece piece = freed->pieces[i];
        bool is_used = is_back(states, &piece, freed->sequence);

        if (!is_used && !is_in_a_state(embedded, &piece)) {
            freed->pieces[left++] = piece;
            continue;
        }
        if (!is_used)
            keep(states, &piece);
        freed_uncount(&embedded->reclaim, &piece);
    }
    freed->count = left;
    lock_release(&states->lock);
}

static void free_state(struct embedded *embedded, struct store_state *state)
{
    written_release(&state->written);
    rocksdb_readoptions_destroy(state->read);
    rocksdb_release_snapshot(embedded->keyspace.db, state->snapshot);
    free(state);
}

/* Removes the given state or, if it is NULL, those that have ended. Under both locks. */
static struct store_state *unlink_states(struct states *states, const struct store_state *one)
{
    struct store_state *out = NULL, *stays = NULL, *state = states->first;

    while (state) {
        struct store_state *next = state->next, **to = &stays;

        if (one ? state == one : atomic_load(&state->is_over))
            to = &out;
        state->next = *to;
        *to = state;
        state = next;
    }
    states->first = stays;
    states->is_fewer = true;
    return out;
}

/* Caller holds the lock. */
static void drop_over(struct embedded *embedded)
{
    struct states *states = &embedded->states;
    struct store_state *out;

    if (!atomic_exchange(&states->any_over, false))
        return;
    lock_acquire(&states->written_lock);
    out = unlink_states(states, NULL);
    lock_release(&states->written_lock);
    while (out) {
        struct store_state *next = out->next;

        free_state(embedded, out);
        out = next;
    }
}

struct freed *states_let_go(struct embedded *embedded)
{
    struct states *states = &embedded->states;
    struct freed *freed = NULL;
    size_t left = 0;

    if (!atomic_load(&states->any))
        return NULL;
    lock_acquire(&states->lock);
    drop_over(embedded);
    if (states->is_fewer && states->kept_count > 0) {
        freed = freed_new(states->kept_count);
        for (size_t i = 0; i < states->kept_count; i++) {
            if (is_in_a_state(embedded, &states->kept[i]))
                states->kept[left++] = states->kept[i];
            else
                freed->pieces[freed->count++] = states->kept[i];
        }
        states->kept_count = left;
        qsort(freed->pieces, freed->count, sizeof freed->pieces[0], compare_pieces);
        freed_count(&embedded->reclaim, freed);
    }
    states->is_fewer = false;
    lock_release(&states->lock);
    return freed;
}

/* Removes pieces that are in use again from the kept ones. */
static void unkeep(struct states *states, const struct freed_piece *pieces, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < states->kept_count; i++)
        if (!bsearch(&states->kept[i], pieces, count, sizeof pieces[0], compare_pieces))
            states->kept[left++] = states->kept[i];
    states->kept_count = left;
}

/* If a piece was put in use again twice, only the last time counts, which is sorted last. */
static void drop_doubles(struct states *states)
{
    size_t count = 0;

    qsort(states->back, states->back_count, sizeof states->back[0], compare_back);
    for (size_t i = 0; i < states->back_count; i++) {
        struct came_back *last = count > 0 ? &states->back[count - 1] : NULL;

        if (!last || compare_back(last, &states->back[i]) != 0)
            states->back[count++] = states->back[i];
        else if (states->back[i].sequence > last->sequence)
            *last = states->back[i];
    }
    states->back_count = count;
}

void states_come_back(struct embedded *embedded, const struct freed_piece *pieces, size_t count,
                      uint64_t sequence)
{
    struct states *states = &embedded->states;

    lock_assert_held(&states->lock);
    if (count == 0)
        return;
    unkeep(states, pieces, count);
    if (atomic_load(&embedded->reclaim.under_way) == 0) {
        states->back_count = 0; /* no earlier freed piece is being processed */
        return;
    }
    if (states->back_count + count > STATE_PIECES_MAX) {
        states->back_count = 0;
        states->back_before = sequence;
        return;
    }
    if (states->back_count + count > states->back_capacity) {
        states->back_capacity = 2 * (states->back_count + count);
        states->back = xrealloc(states->back, states->back_capacity * sizeof states->back[0]);
    }
    for (size_t i = 0; i < count; i++)
        states->back[states->back_count++] =
            (struct came_back){ pieces[i].extent, pieces[i].offset, sequence };
    drop_doubles(states);
}

/* ---- states ---- */

void states_init(struct embedded *embedded)
{
    struct states *states = &embedded->states;

    *states = (struct states){ .first = NULL };
    lock_init(&states->lock, RANK_STATE_SET);
    lock_init(&states->written_lock, RANK_WRITTEN);
}

void states_release(struct embedded *embedded)
{
    struct states *states = &embedded->states;

    drop_over(embedded);
    assert(!states->first);
    free(states->kept);
    free(states->back);
    lock_destroy(&states->written_lock);
    lock_destroy(&states->lock);
}

/* A writer either sees a state that is being created, or wrote before its snapshot was taken. */
void states_wrote(struct states *states, rocksdb_writebatch_t *writes)
{
    struct bytes data;

    if (atomic_load(&states->count) == 0)
        return;
    data.ptr = rocksdb_writebatch_data(writes, &data.len);
    lock_acquire(&states->written_lock);
    for (struct store_state *state = states->first; state; state = state->next)
        if (!state->is_shown)
            written_add_batch(&state->written, data);
    lock_release(&states->written_lock);
}

/* The state is in the list before its snapshot is taken: from then on nothing in it is returned to
 * the file system. */
static struct store_state *begin_state(struct embedded *embedded, bool is_shown)
{
    struct states *states = &embedded->states;
    struct store_state *state = xcalloc(1, sizeof *state);

    state->is_shown = is_shown;
    atomic_store(&states->any, true);
    lock_acquire(&states->written_lock);
    state->next = states->first;
    states->first = state;
    if (!is_shown)
        atomic_fetch_add(&states->count, 1);
    lock_release(&states->written_lock);
    state->snapshot = rocksdb_create_snapshot(embedded->keyspace.db);
    atomic_store(&state->read, read_options_new(state->snapshot));
    return state;
}

struct store_state *states_show(struct embedded *embedded)
{
    return begin_state(embedded, true);
}

void states_over(struct embedded *embedded, struct store_state *state)
{
    assert(state->is_shown);
    atomic_store(&state->is_over, true);
    atomic_store(&embedded->states.any_over, true);
    collector_poke(&embedded->collector);
}

struct store_state *embedded_keep_state(struct store *store)
{
    struct embedded *embedded = embedded_of(store);
    struct store_state *state;

    lock_acquire(&embedded->states.lock);
    state = begin_state(embedded, false);
    lock_release(&embedded->states.lock);
    return state;
}

void embedded_drop_state(struct store *store, struct store_state *state)
{
    struct embedded *embedded = embedded_of(store);
    struct states *states = &embedded->states;

    lock_acquire(&states->lock);
    lock_acquire(&states->written_lock);
    (void)unlink_states(states, state);
    if (!state->is_shown)
        atomic_fetch_sub(&states->count, 1);
    lock_release(&states->written_lock);
    lock_release(&states->lock);
    free_state(embedded, state);
    collector_poke(&embedded->collector);
}
