/* Returns to a kept state: see states.h.
 *
 * All differences are written in one batch: the rows of the state, and deletions of rows that it
 * does not have. So the return is complete in the log or absent from it, durable like commits, and
 * atomic for readers. Most of the batch is prepared while commits continue; their changes are added
 * under the locks of all spaces, which block commits and new snapshots. Then every stripe counts as
 * changed, so that all earlier decisions are repeated. Open snapshots get views. The store's own
 * data is not reverted: instants keep increasing, and clock rows remain. */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

/* More than this would be too much for RocksDB's memory and for the reserve of the disk. */
#define RETURN_BYTES_MAX ((size_t)128 << 20)
/* Number of keys that may remain to be added under the locks, and maximum number of rounds to reach
 * it. */
#define LAST_KEYS_MAX    256u
#define ROUNDS_MAX       8u

/* A piece whose row was written: whether it is in use now, and in the state. */
struct piece_step {
    struct freed_piece piece;
    size_t number; /* the last entry of a piece counts */
    bool is_used, was_used;
};

struct space_step {
    struct guid space;
    bool was_dropped;
};

struct returning {
    struct embedded *embedded;
    struct store_state *state;
    const struct guid *except; /* NULL means none */
    rocksdb_writebatch_t *writes;
    struct piece_step *pieces;
    size_t piece_count, piece_capacity;
    struct space_step *spaces; /* whose drop rows were written; the last one counts */
    size_t space_count, space_capacity;
    int64_t referred_bytes; /* growth of the total of referenced bytes */
    struct freed *freed;    /* NULL means none */
    struct freed_piece *back;
    size_t back_count;
    bool is_all; /* `spaces` begins with all spaces that are dropped in the state */
};

/* ---- differences ---- */

static void *add_step(void *steps, size_t size, size_t *count, size_t *capacity)
{
    if (*count == *capacity) {
        *capacity = *capacity > 0 ? 2 * *capacity : 64;
        steps = xrealloc(steps, *capacity * size);
    }
    (*count)++;
    return steps;
}

/* now, then: ptr NULL means there is no row */
static enum store_result add_piece(struct returning *r, struct bytes key, struct bytes now,
                                   struct bytes then)
{
    struct piece_step step = { .is_used = now.ptr, .was_used = then.ptr };
    struct piece_row row = { .length = 0 };

    /* A piece in neither may have been in use when it was added before. */
    if (!key_read_piece(key, &step.piece.extent, &step.piece.offset) ||
        ((now.ptr || then.ptr) && !piece_row_read(now.ptr ? now : then, &row))) {
        log_line(LOG_ERROR, "store: a row of the piece index is damaged");
        return STORE_CORRUPT;
    }
    step.piece.length = row.length;
    step.number = r->piece_count;
    r->pieces = add_step(r->pieces, sizeof step, &r->piece_count, &r->piece_capacity);
    r->pieces[step.number] = step;
    return STORE_OK;
}

static void add_space(struct returning *r, struct bytes key, bool was_dropped)
{
    size_t at = r->space_count;

    r->spaces = add_step(r->spaces, sizeof r->spaces[0], &r->space_count, &r->space_capacity);
    r->spaces[at].was_dropped = was_dropped;
    memcpy(r->spaces[at].space.b, key.ptr + 1, sizeof r->spaces[at].space.b);
}

/* Returns true for a record of the excepted space. */
static bool is_excepted(const struct returning *r, struct bytes key)
{
    return r->except && (*key.ptr == KEY_KIND_LISTED || *key.ptr == KEY_KIND_INNER) &&
           memcmp(key.ptr + 1, r->except->b, sizeof r->except->b) == 0;
}

/* Returns STORE_SHORTAGE if the batch becomes too large. */
static enum store_result add_row(struct returning *r, struct bytes key, struct bytes now,
                                 struct bytes then)
{
    enum store_result result = STORE_OK;
    size_t size;

    if (*key.ptr == KEY_KIND_CLOCK || is_excepted(r, key))
        return STORE_OK;
    if (*key.ptr == KEY_KIND_PIECE)
        result = add_piece(r, key, now, then);
    if (*key.ptr == KEY_KIND_DROPPED)
        add_space(r, key, then.ptr);
    if (then.ptr)
        rocksdb_writebatch_put(r->writes, key.ptr, key.len, then.ptr, then.len);
    else
        rocksdb_writebatch_delete(r->writes, key.ptr, key.len);
    (void)rocksdb_writebatch_data(r->writes, &size);
    return size > RETURN_BYTES_MAX ? STORE_SHORTAGE : result;
}

static enum store_result get(const struct keyspace *keyspace, const rocksdb_readoptions_t *read,
                             struct bytes key, rocksdb_pinnableslice_t **ret_slice,
                             struct bytes *ret_value)
{
    enum store_result result = keyspace_get(keyspace, read, STORE_MAY_BLOCK, key, ret_slice);

    *ret_value = bytes_of(NULL, 0);
    if (result) {
        *ret_slice = NULL;
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    }
    ret_value->ptr = rocksdb_pinnableslice_value(*ret_slice, &ret_value->len);
    return STORE_OK;
}

static enum store_result add_key(struct returning *r, struct bytes key)
{
    const struct keyspace *keyspace = &r->embedded->keyspace;
    rocksdb_pinnableslice_t *now_slice = NULL, *then_slice = NULL;
    struct bytes now, then;
    enum store_result result = get(keyspace, keyspace->newest, key, &now_slice, &now);

    if (!result)
        result = get(keyspace, r->state->read, key, &then_slice, &then);
    if (!result)
        result = add_row(r, key, now, then);
    if (now_slice)
        rocksdb_pinnableslice_destroy(now_slice);
    if (then_slice)
        rocksdb_pinnableslice_destroy(then_slice);
    return result;
}

/* ---- if the written keys are unknown: compares all rows of both states ---- */

struct rows {
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator;
    struct bytes key, value; /* key.ptr NULL means at the end */
};

static void stand(struct rows *rows)
{
    rows->key = rows->value = bytes_of(NULL, 0);
    if (!rocksdb_iter_valid(rows->iterator))
        return;
    rows->key.ptr = rocksdb_iter_key(rows->iterator, &rows->key.len);
    rows->value.ptr = rocksdb_iter_value(rows->iterator, &rows->value.len);
}

static void rows_open(struct rows *rows, rocksdb_t *db, const rocksdb_snapshot_t *state)
{
    rows->read = read_options_new(state);
    rocksdb_readoptions_set_fill_cache(rows->read, 0);
    rows->iterator = rocksdb_create_iterator(db, rows->read);
    rocksdb_iter_seek_to_first(rows->iterator);
    stand(rows);
}

static void rows_next(struct rows *rows)
{
    rocksdb_iter_next(rows->iterator);
    stand(rows);
}

static enum store_result rows_close(struct rows *rows)
{
    char *error = NULL;

    rocksdb_iter_get_error(rows->iterator, &error);
    rocksdb_iter_destroy(rows->iterator);
    rocksdb_readoptions_destroy(rows->read);
    return error ? keyspace_error("read records", error) : STORE_OK;
}

/* Starts over: everything is added again. */
static void begin_anew(struct returning *r)
{
    rocksdb_writebatch_clear(r->writes);
    r->piece_count = r->space_count = 0;
    r->is_all = true;
}

static enum store_result add_all(struct returning *r)
{
    enum store_result result = STORE_OK, closed;
    struct rows now, then;

    begin_anew(r);
    keyspace_enter(STORE_MAY_BLOCK);
    rows_open(&now, r->embedded->keyspace.db, NULL);
    rows_open(&then, r->embedded->keyspace.db, r->state->snapshot);
    while (!result && (now.key.ptr || then.key.ptr)) {
        int order = !then.key.ptr ? -1 : !now.key.ptr ? 1 : bytes_compare(now.key, then.key);

        if (order < 0)
            result = add_row(r, now.key, now.value, bytes_of(NULL, 0));
        else if (order > 0)
            result = add_row(r, then.key, bytes_of(NULL, 0), then.value);
        else if (!bytes_equal(now.value, then.value))
            result = add_row(r, now.key, now.value, then.value);
        else if (*then.key.ptr == KEY_KIND_DROPPED)
            add_space(r, then.key, true);
        if (result)
            break;
        if (order <= 0)
            rows_next(&now);
        if (order >= 0)
            rows_next(&then);
    }
    keyspace_leave();
    closed = rows_close(&now);
    result = result ? result : closed;
    closed = rows_close(&then);
    return result ? result : closed;
}

/* Adds the keys written since the last call, or since the state was saved. */
static enum store_result add_written(struct returning *r, size_t *ret_count)
{
    struct states *states = &r->embedded->states;
    enum store_result result = STORE_OK;
    struct written written;

    lock_acquire(&states->written_lock);
    written = r->state->written;
    r->state->written = (struct written){ .count = 0 };
    lock_release(&states->written_lock);
    *ret_count = written.is_all ? SIZE_MAX : written.count;
    if (written.is_all)
        result = add_all(r);
    for (size_t i = 0; i < written.capacity && !result; i++)
        if (written.places[i].ptr)
            result = add_key(r, written.places[i]);
    written_release(&written);
    return result;
}

/* After a failure, the keys already taken are lost. */
static void forget_written(struct returning *r)
{
    struct states *states = &r->embedded->states;

    lock_acquire(&states->written_lock);
    written_release(&r->state->written);
    r->state->written.is_all = true;
    lock_release(&states->written_lock);
}

/* ---- pieces ---- */

static int compare_steps(const void *a, const void *b)
{
    const struct piece_step *x = a, *y = b;

    if (x->piece.extent != y->piece.extent)
        return x->piece.extent < y->piece.extent ? -1 : 1;
    if (x->piece.offset != y->piece.offset)
        return x->piece.offset < y->piece.offset ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool is_superseded(const struct returning *r, size_t at)
{
    const struct freed_piece *piece = &r->pieces[at].piece, *next;

    if (at + 1 == r->piece_count)
        return false;
    next = &r->pieces[at + 1].piece;
    return piece->extent == next->extent && piece->offset == next->offset;
}

/* Determines which pieces the batch frees, and which are in use again, while there are no commits.
 * May be repeated. */
static void settle_pieces(struct returning *r)
{
    free(r->freed);
    free(r->back);
    r->freed = freed_new(r->piece_count);
    r->back = xcalloc(r->piece_count + 1, sizeof r->back[0]);
    r->back_count = 0;
    r->referred_bytes = 0;
    if (r->piece_count > 0)
        qsort(r->pieces, r->piece_count, sizeof r->pieces[0], compare_steps);
    for (size_t i = 0; i < r->piece_count; i++) {
        const struct piece_step *step = &r->pieces[i];

        if (is_superseded(r, i) || step->is_used == step->was_used)
            continue;
        r->referred_bytes += step->is_used ? -(int64_t)step->piece.length : step->piece.length;
        if (step->is_used)
            r->freed->pieces[r->freed->count++] = step->piece;
        else
            r->back[r->back_count++] = step->piece;
    }
}

/* ---- the batch ---- */

static void give_views(struct embedded *embedded)
{
    for (size_t i = 0; i < STRIPES; i++) {
        lock_acquire(&embedded->stripes[i].lock);
        stripe_give_view(embedded, &embedded->stripes[i]);
        lock_release(&embedded->stripes[i].lock);
    }
}

static void free_pieces(struct returning *r, uint64_t sequence)
{
    struct embedded *embedded = r->embedded;
    struct freed *freed = r->freed;

    r->freed = NULL;
    if (freed->count == 0) {
        free(freed);
        freed = NULL;
    } else {
        freed->sequence = sequence;
        freed_count(&embedded->reclaim, freed);
    }
    if ((freed || r->back_count > 0) && stripes_join_all(embedded->stripes, freed))
        return;
    reclaim_add(&embedded->reclaim, freed);
}

static void note_spaces(struct returning *r, uint64_t sequence)
{
    struct spaces *spaces = &r->embedded->spaces;

    spaces->returns++;
    atomic_fetch_add(&r->embedded->store.returns, 1);
    if (r->is_all)
        spaces_forget_all_dropped(spaces);
    for (size_t i = 0; i < r->space_count; i++)
        if (r->spaces[i].was_dropped)
            spaces_drop_again(spaces, &r->spaces[i].space, sequence);
        else
            spaces_forget_dropped(spaces, &r->spaces[i].space);
}

/* Records in memory the changes of the write. With the locks of all spaces. */
static void note_changes(struct returning *r, uint64_t sequence)
{
    struct embedded *embedded = r->embedded;

    atomic_fetch_add(&embedded->piece_bytes, r->referred_bytes);
    record_cache_empty(embedded->records);
    for (size_t i = 0; i < STRIPES; i++) {
        lock_acquire(&embedded->stripes[i].lock);
        stripe_all_changed(&embedded->stripes[i], sequence);
        lock_release(&embedded->stripes[i].lock);
    }
    states_come_back(embedded, r->back, r->back_count, sequence);
    free_pieces(r, sequence);
    note_spaces(r, sequence);
}

/* Returns STORE_WAIT if RocksDB would have made the write wait; nothing has changed. */
static enum store_result write_all(struct returning *r, uint64_t *ret_sequence)
{
    struct embedded *embedded = r->embedded;
    const struct space_set all = { .exclusive = UINT64_MAX };
    enum store_result result;
    size_t count;

    spaces_enter_set(&embedded->spaces, &all);
    result = add_written(r, &count);
    if (!result) {
        settle_pieces(r);
        give_views(embedded);
        result = commit_write_rows(embedded, r->writes);
    }
    if (!result) {
        lock_acquire(&embedded->states.written_lock);
        written_release(&r->state->written); /* by this batch */
        lock_release(&embedded->states.written_lock);
        *ret_sequence = keyspace_sequence(&embedded->keyspace);
        note_changes(r, *ret_sequence);
    }
    spaces_leave_set(&embedded->spaces, &all);
    return result;
}

/* The batch contains nearly everything that will be written. */
static enum store_result prepare(struct returning *r)
{
    enum store_result result = STORE_OK;
    size_t count = SIZE_MAX, size;

    for (unsigned round = 0; round < ROUNDS_MAX && count > LAST_KEYS_MAX && !result; round++)
        result = add_written(r, &count);
    (void)rocksdb_writebatch_data(r->writes, &size);
    /* In the log, in a table, and again while that is compacted. */
    if (!result && !disk_space_admits(&r->embedded->space, 3 * size, 0))
        result = STORE_FULL;
    return result;
}

static void collect_dropped(const struct returning *r)
{
    for (size_t i = 0; i < r->space_count; i++)
        if (r->spaces[i].was_dropped)
            collector_add(&r->embedded->collector, &r->spaces[i].space);
}

static enum store_result run(struct returning *r, uint64_t *ret_sequence)
{
    struct embedded *embedded = r->embedded;
    enum store_result result = prepare(r);

    while (!result) {
        result = write_all(r, ret_sequence);
        if (result != STORE_WAIT)
            break;
        keyspace_pause();
        result = STORE_OK;
    }
    if (result) {
        forget_written(r);
        return result;
    }
    deferred_return(&embedded->deferred);
    syncer_wrote(&embedded->syncer);
    collect_dropped(r);
    return STORE_OK;
}

enum store_result embedded_return_to(struct store *store, struct store_state *state,
                                     const struct guid *except, uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    struct returning r = { .embedded = embedded, .state = state, .except = except };
    enum store_result result = STORE_IO;

    lock_acquire(&embedded->states.lock);
    if (atomic_load(&embedded->starved))
        result = STORE_SHORTAGE;
    else if (!atomic_load(&embedded->failed)) {
        r.writes = rocksdb_writebatch_create();
        result = run(&r, ret_sequence);
        rocksdb_writebatch_destroy(r.writes);
    }
    lock_release(&embedded->states.lock);
    if (result == STORE_IO && atomic_load(&embedded->failed))
        embedded_fail(embedded);
    free(r.pieces);
    free(r.spaces);
    free(r.freed);
    free(r.back);
    return result;
}

void embedded_restart_decisions(struct store *store, const struct guid *space)
{
    struct spaces *spaces = &embedded_of(store)->spaces;
    struct space_set set = { .shared = 0 };

    space_set_add_exclusive(&set, space);
    spaces_enter_set(spaces, &set);
    atomic_fetch_add(&store->returns, 1);
    spaces_leave_set(spaces, &set);
}
