/* Iterators with an end, and how a scan gets the state of its snapshot. */
#include "store/embedded/cursor.h"

#include <stdlib.h>

#include "store/embedded/embedded_private.h"

struct embedded_cursor {
    struct cursor cursor;
    rocksdb_readoptions_t *options; /* names end[] and the state */
    rocksdb_iterator_t *iterator;
    size_t end_size;
    char end[];
};

enum cursor_use { CURSOR_OF_CLIENTS, CURSOR_OF_STORE };

static struct embedded_cursor *open_cursor(struct store *store, const rocksdb_snapshot_t *state,
                                           struct bytes end, enum store_access access,
                                           enum cursor_use use)
{
    struct embedded_cursor *cursor = xmalloc(sizeof *cursor + end.len);

    *cursor = (struct embedded_cursor){ .cursor = { .store = store }, .end_size = end.len };
    memcpy(cursor->end, end.ptr, end.len);
    cursor->options = rocksdb_readoptions_create();
    rocksdb_readoptions_set_verify_checksums(cursor->options, 1);
    rocksdb_readoptions_set_iterate_upper_bound(cursor->options, cursor->end, end.len);
    if (access == STORE_NO_WAIT)
        rocksdb_readoptions_set_read_tier(cursor->options, READ_BLOCK_CACHE);
    /* Going through all there is must not throw out what clients read. */
    if (use == CURSOR_OF_STORE)
        rocksdb_readoptions_set_fill_cache(cursor->options, 0);
    if (state)
        rocksdb_readoptions_set_snapshot(cursor->options, state);
    cursor->iterator = rocksdb_create_iterator(embedded_of(store)->keyspace.db, cursor->options);
    return cursor;
}

struct cursor *cursor_open(struct store *store, struct bytes end)
{
    struct embedded_cursor *cursor =
        open_cursor(store, NULL, end, STORE_MAY_BLOCK, CURSOR_OF_STORE);

    return &cursor->cursor;
}

struct cursor *embedded_scan_cursor(struct snapshot *base, struct bytes end)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    const rocksdb_snapshot_t *state = snapshot_state(snapshot);
    struct embedded_cursor *cursor =
        open_cursor(base->store, state, end, base->access, CURSOR_OF_CLIENTS);

    if (snapshot_state(snapshot) != state) {
        /* A writer came between: the iterator may have been made after its write. */
        embedded_cursor_close(&cursor->cursor);
        cursor = open_cursor(base->store, snapshot_state(snapshot), end, base->access,
                             CURSOR_OF_CLIENTS);
    }
    return &cursor->cursor;
}

struct cursor *embedded_row_cursor(struct store *store, struct bytes end)
{
    return &open_cursor(store, NULL, end, STORE_MAY_BLOCK, CURSOR_OF_CLIENTS)->cursor;
}

struct cursor *embedded_space_cursor(struct store *store, const struct guid *space,
                                     struct bytes end, enum store_access access,
                                     uint64_t *ret_sequence)
{
    struct embedded *embedded = embedded_of(store);
    struct cursor *cursor = NULL;
    uint64_t dropped_at;

    spaces_enter(&embedded->spaces, space);
    dropped_at = spaces_dropped_at(&embedded->spaces, space);
    if (dropped_at == 0)
        cursor = &open_cursor(store, NULL, end, access, CURSOR_OF_CLIENTS)->cursor;
    spaces_leave(&embedded->spaces, space);
    /* All that the iterator sees was the newest before now. */
    *ret_sequence = cursor ? keyspace_sequence(&embedded->keyspace) : dropped_at;
    return cursor;
}

/* Brings the base up to date with where the iterator stands. */
static enum store_result stand(struct embedded_cursor *cursor)
{
    char *error = NULL;

    if (rocksdb_iter_valid(cursor->iterator)) {
        cursor->cursor.key.ptr = rocksdb_iter_key(cursor->iterator, &cursor->cursor.key.len);
        cursor->cursor.value.ptr = rocksdb_iter_value(cursor->iterator, &cursor->cursor.value.len);
        return STORE_OK;
    }
    rocksdb_iter_get_error(cursor->iterator, &error);
    return error ? keyspace_error("read records", error) : STORE_NOT_FOUND;
}

enum store_result embedded_cursor_seek(struct cursor *base, struct bytes key)
{
    struct embedded_cursor *cursor = (struct embedded_cursor *)base;

    rocksdb_iter_seek(cursor->iterator, key.ptr, key.len);
    return stand(cursor);
}

enum store_result embedded_cursor_next(struct cursor *base)
{
    struct embedded_cursor *cursor = (struct embedded_cursor *)base;

    if (rocksdb_iter_valid(cursor->iterator))
        rocksdb_iter_next(cursor->iterator);
    return stand(cursor);
}

void embedded_cursor_close(struct cursor *base)
{
    struct embedded_cursor *cursor = (struct embedded_cursor *)base;

    rocksdb_iter_destroy(cursor->iterator);
    rocksdb_readoptions_destroy(cursor->options);
    free(cursor);
}
