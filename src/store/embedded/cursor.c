/* Iterators with an end, and how a scan gets the state of its snapshot. */
#include "store/embedded/cursor.h"

#include <assert.h>
#include <stdlib.h>

#include "store/embedded/embedded_private.h"
#include "store/record_key.h"

/* The number of records that a scan from the front reads in advance. */
#define FRONT_READ_AHEAD 32u

struct embedded_cursor {
    struct cursor cursor;
    struct embedded_snapshot *front;   /* of a SCAN_FRONT; else NULL */
    rocksdb_readoptions_t *options;    /* refers to end[] and the state */
    struct store_access access;        /* of the iterator */
    rocksdb_iterator_t *iterator;      /* NULL means the cached front was sufficient so far */
    struct unsealed unsealed;          /* the value at the iterator, if values are encrypted */
    char held[FRONT_RECORD_BYTES_MAX]; /* the current record while there is no iterator */
    size_t end_size;
    char end[];
};

/* The number of deleted records that a cursor that reads ahead may step over at once. */
#define AHEAD_SKIPPED_MAX 200u

/* CURSOR_AHEAD: for clients, as SCAN_AHEAD. */
enum cursor_use { CURSOR_OF_CLIENTS, CURSOR_OF_STORE, CURSOR_AHEAD };

static struct embedded_cursor *new_cursor(struct store *store, struct bytes end)
{
    struct embedded_cursor *cursor = xmalloc(sizeof *cursor + end.len);

    cursor->cursor = (struct cursor){ .store = store };
    cursor->front = NULL;
    cursor->options = NULL;
    cursor->iterator = NULL;
    cursor->unsealed = (struct unsealed){ .room = 0 };
    cursor->end_size = end.len;
    memcpy(cursor->end, end.ptr, end.len);
    return cursor;
}

static void open_iterator(struct embedded_cursor *cursor, const rocksdb_snapshot_t *state,
                          struct store_access access, enum cursor_use use)
{
    struct store *store = cursor->cursor.store;

    cursor->options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(cursor->options, 1);
    rocksdb_readoptions_set_iterate_upper_bound(cursor->options, cursor->end, cursor->end_size);
    /* A scan of everything must not evict blocks that clients read. */
    if (use == CURSOR_OF_STORE)
        rocksdb_readoptions_set_fill_cache(cursor->options, 0);
    if (use == CURSOR_AHEAD)
        rocksdb_readoptions_set_max_skippable_internal_keys(cursor->options, AHEAD_SKIPPED_MAX);
    if (state)
        rocksdb_readoptions_set_snapshot(cursor->options, state);
    cursor->access = access;
    read_options_set_access(cursor->options, access);
    keyspace_enter(access);
    cursor->iterator = rocksdb_create_iterator(embedded_of(store)->keyspace.db, cursor->options);
    keyspace_leave();
}

static void close_iterator(struct embedded_cursor *cursor)
{
    if (!cursor->iterator)
        return;
    rocksdb_iter_destroy(cursor->iterator);
    rocksdb_readoptions_destroy(cursor->options);
}

static struct cursor *open_cursor(struct store *store, struct bytes end, struct store_access access,
                                  enum cursor_use use)
{
    struct embedded_cursor *cursor = new_cursor(store, end);

    open_iterator(cursor, NULL, access, use);
    return &cursor->cursor;
}

struct cursor *cursor_open(struct store *store, struct bytes end)
{
    return open_cursor(store, end, STORE_MAY_BLOCK, CURSOR_OF_STORE);
}

static void open_in_state(struct embedded_cursor *cursor, const struct embedded_snapshot *snapshot,
                          enum cursor_use use)
{
    const rocksdb_snapshot_t *state = snapshot_state(snapshot);
    struct store_access access = snapshot->snapshot.access;

    assert(!cursor->iterator);
    open_iterator(cursor, state, access, use);
    if (snapshot_state(snapshot) == state)
        return;
    /* A commit happened in between: the iterator may include its changes. */
    close_iterator(cursor);
    open_iterator(cursor, snapshot_state(snapshot), access, use);
}

struct cursor *embedded_scan_cursor(struct read_view *base, struct bytes end, enum scan_kind kind)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    struct embedded_cursor *cursor = new_cursor(base->store, end);

    if (kind == SCAN_FRONT)
        cursor->front = snapshot;
    else
        open_in_state(cursor, snapshot, kind == SCAN_AHEAD ? CURSOR_AHEAD : CURSOR_OF_CLIENTS);
    return &cursor->cursor;
}

struct cursor *embedded_row_cursor(struct store *store, struct bytes end)
{
    return open_cursor(store, end, STORE_MAY_BLOCK, CURSOR_OF_CLIENTS);
}

struct cursor *embedded_state_cursor(struct store *store, const rocksdb_snapshot_t *state,
                                     struct bytes end, struct store_access access)
{
    struct embedded_cursor *cursor = new_cursor(store, end);

    open_iterator(cursor, state, access, CURSOR_OF_CLIENTS);
    return &cursor->cursor;
}

struct cursor *embedded_space_cursor(struct store *store, const struct guid *space,
                                     struct bytes end, struct store_access access,
                                     uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    struct cursor *cursor = NULL;
    uint64_t dropped_at;

    spaces_enter(&embedded->spaces, space);
    dropped_at = spaces_dropped_at(&embedded->spaces, space);
    if (dropped_at == 0)
        cursor = open_cursor(store, end, access, CURSOR_OF_CLIENTS);
    spaces_leave(&embedded->spaces, space);
    /* Everything that the iterator sees is covered by the current sequence. */
    *ret_sequence = cursor ? keyspace_sequence(&embedded->keyspace) : dropped_at;
    return cursor;
}

/* Updates the base from the position of the iterator. */
static enum store_result stand(struct embedded_cursor *cursor)
{
    char *error = NULL;

    if (rocksdb_iter_valid(cursor->iterator)) {
        cursor->cursor.key.ptr = rocksdb_iter_key(cursor->iterator, &cursor->cursor.key.len);
        cursor->cursor.value.ptr = rocksdb_iter_value(cursor->iterator, &cursor->cursor.value.len);
        return record_unseal_in(embedded_of(cursor->cursor.store)->sealer, cursor->cursor.key,
                                &cursor->cursor.value, &cursor->unsealed);
    }
    rocksdb_iter_get_error(cursor->iterator, &error);
    return error ? keyspace_error("read records", error) : STORE_NOT_FOUND;
}

static enum store_result seek(struct embedded_cursor *cursor, struct bytes key)
{
    keyspace_enter(cursor->access);
    rocksdb_iter_seek(cursor->iterator, key.ptr, key.len);
    keyspace_leave();
    return stand(cursor);
}

static enum store_result next(struct embedded_cursor *cursor)
{
    if (rocksdb_iter_valid(cursor->iterator)) {
        keyspace_enter(cursor->access);
        rocksdb_iter_next(cursor->iterator);
        keyspace_leave();
    }
    return stand(cursor);
}

/* ---- at the front of a partition ---- */

static void hold(struct embedded_cursor *cursor, const struct front_record *record)
{
    assert(record->key_length + record->value_length <= sizeof cursor->held);
    memcpy(cursor->held, record->bytes, record->key_length + record->value_length);
    cursor->cursor.key = bytes_of(cursor->held, record->key_length);
    cursor->cursor.value = bytes_of(cursor->held + record->key_length, record->value_length);
}

/* Seeks in the cached front. STORE_WAIT: it is not in the cache; there is nothing before *from. */
static enum store_result seek_kept(struct embedded_cursor *cursor, struct key *from)
{
    struct stripe *stripe = cursor->front->stripe;
    struct bytes end = bytes_of(cursor->end, cursor->end_size);
    enum store_result result = STORE_WAIT;

    lock_acquire(&stripe->lock);
    if (stripe->front && !atomic_load(&cursor->front->view)) {
        const struct front_record *record;
        struct bytes known;

        if (front_first(stripe->front, key_bytes(from), &record, &known) == FRONT_HELD) {
            known = front_key(record);
            hold(cursor, record);
            result = STORE_OK;
        }
        if (known.ptr && bytes_compare(known, end) >= 0)
            result = STORE_NOT_FOUND;
        else if (known.ptr)
            key_set_raw(from, known);
    }
    lock_release(&stripe->lock);
    return result;
}

/* Adds a range of the newest state to the stripe's cache, if the snapshot shows that state. */
static void keep_run(struct embedded_snapshot *snapshot, struct front_cache *run)
{
    struct stripe *stripe = snapshot->stripe;

    lock_acquire(&stripe->lock);
    if (!atomic_load(&snapshot->view)) {
        if (!stripe->front)
            stripe->front = xcalloc(1, sizeof *stripe->front);
        front_join(stripe->front, run);
    }
    lock_release(&stripe->lock);
    front_empty(run);
}

#ifdef LAGRA_GATES
void stripe_forget_front(struct stripe *stripe)
{
    lock_acquire(&stripe->lock);
    front_free(stripe->front);
    stripe->front = NULL;
    lock_release(&stripe->lock);
}
#endif

/* Caches the record at the iterator, which was placed with this result, and the following ones. */
static void read_ahead(struct embedded_cursor *cursor, struct bytes from, enum store_result result)
{
    struct front_cache run;
    struct key high;

    key_init(&high);
    key_set_raw(&high, from);
    front_begin(&run, from);
    while (!result && run.count < FRONT_READ_AHEAD &&
           front_append(&run, cursor->cursor.key, cursor->cursor.value)) {
        key_set_raw(&high, cursor->cursor.key);
        key_set_next(&high);
        result = next(cursor);
    }
    if (result == STORE_NOT_FOUND)
        front_end(&run, bytes_of(cursor->end, cursor->end_size));
    else
        front_end(&run, result ? key_bytes(&high) : cursor->cursor.key);
    keep_run(cursor->front, &run);
    key_release(&high);
}

static enum store_result seek_front(struct embedded_cursor *cursor, struct bytes key)
{
    enum store_result result;
    struct key from;

    key_init(&from);
    key_set_raw(&from, key);
    result = seek_kept(cursor, &from);
    if (result == STORE_WAIT) {
        open_in_state(cursor, cursor->front, CURSOR_OF_CLIENTS);
        result = seek(cursor, key_bytes(&from));
        /* Nothing is cached by a reader of an older state, or after a failed read. */
        if (!atomic_load(&cursor->front->view) && (!result || result == STORE_NOT_FOUND)) {
            read_ahead(cursor, key_bytes(&from), result);
            result = seek(cursor, key_bytes(&from));
        }
    }
    key_release(&from);
    return result;
}

static enum store_result next_kept(struct embedded_cursor *cursor)
{
    enum store_result result;
    struct key after;

    key_init(&after);
    key_set_raw(&after, cursor->cursor.key);
    key_set_next(&after);
    result = seek_front(cursor, key_bytes(&after));
    key_release(&after);
    return result;
}

/* ---- for the table of operations ---- */

enum store_result embedded_cursor_seek(struct cursor *base, struct bytes key)
{
    struct embedded_cursor *cursor = (struct embedded_cursor *)base;

    return cursor->iterator ? seek(cursor, key) : seek_front(cursor, key);
}

enum store_result embedded_cursor_next(struct cursor *base)
{
    struct embedded_cursor *cursor = (struct embedded_cursor *)base;

    return cursor->iterator ? next(cursor) : next_kept(cursor);
}

void embedded_cursor_close(struct cursor *base)
{
    struct embedded_cursor *cursor = (struct embedded_cursor *)base;

    close_iterator(cursor);
    free(cursor->unsealed.bytes);
    free(cursor);
}
