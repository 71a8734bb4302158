/* Recovers the clock, dropped spaces and the used bytes of extents. */
#include "store/embedded/recovery.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/log.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/reclaim.h"
#include "store/record_key.h"
#include "store/record_value.h"

static enum store_result damaged(const char *what)
{
    log_line(LOG_ERROR, "store: a row of %s is corrupt", what);
    return STORE_CORRUPT;
}

/* Opens a cursor on all keys of a kind. *ret_result: result of moving to the first one */
static struct cursor *open_kind(struct embedded *embedded, char kind, enum store_result *ret_result)
{
    char end = (char)(kind + 1);
    struct cursor *cursor = cursor_open(&embedded->store, bytes_of(&end, 1));

    *ret_result = embedded_cursor_seek(cursor, bytes_of(&kind, 1));
    return cursor;
}

static enum store_result recover_clock(struct embedded *embedded)
{
    enum store_result result;
    struct cursor *cursor = open_kind(embedded, KEY_KIND_CLOCK, &result);
    struct clock_checkpoint newest = { .bound = 0 };

    for (; !result; result = embedded_cursor_next(cursor)) {
        struct clock_checkpoint found;

        if (!clock_row_read(cursor->value, &found)) {
            result = damaged("clocks");
            break;
        }
        if (found.bound > newest.bound)
            newest = found;
    }
    embedded_cursor_close(cursor);
    if (result != STORE_NOT_FOUND)
        return result;
    atomic_store(&embedded->clock_ahead, newest.bound);
    embedded->newest_at_start = newest.bound;
    embedded->clock_checkpointed = newest;
    clock_resume(&newest);
    return STORE_OK;
}

static enum store_result recover_dropped(struct embedded *embedded)
{
    enum store_result result;
    struct cursor *cursor = open_kind(embedded, KEY_KIND_DROPPED, &result);

    for (; !result; result = embedded_cursor_next(cursor)) {
        struct space_set locks = { 0 };
        struct guid space;

        if (cursor->key.len != KEY_SPACE_SIZE) {
            result = damaged("dropped spaces");
            break;
        }
        memcpy(space.b, cursor->key.ptr + 1, sizeof space.b);
        space_set_add_exclusive(&locks, &space);
        spaces_enter_set(&embedded->spaces, &locks);
        spaces_add_dropped(&embedded->spaces, &space, keyspace_sequence(&embedded->keyspace));
        spaces_leave_set(&embedded->spaces, &locks);
        collector_add(&embedded->collector, &space);
    }
    embedded_cursor_close(cursor);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Finds the last piece in the extents up to `up_to`: its extent, and its end. Returns STORE_OK,
 * STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO. */
static enum store_result find_last(struct embedded *embedded, uint32_t up_to, uint32_t *ret_extent,
                                   uint64_t *ret_end)
{
    rocksdb_iterator_t *iterator =
        rocksdb_create_iterator(embedded->keyspace.db, embedded->keyspace.newest);
    enum store_result result = STORE_NOT_FOUND;
    char key[KEY_PIECE_SIZE];
    char *error = NULL;

    key_write_piece(key, up_to, UINT64_MAX);
    rocksdb_iter_seek_for_prev(iterator, key, sizeof key);
    if (rocksdb_iter_valid(iterator)) {
        struct bytes found_key, value;
        struct piece_row row = { 0 };
        uint64_t offset;

        found_key.ptr = rocksdb_iter_key(iterator, &found_key.len);
        value.ptr = rocksdb_iter_value(iterator, &value.len);
        if (key_read_piece(found_key, ret_extent, &offset)) {
            result = piece_row_read(value, &row) ? STORE_OK : damaged("the piece index");
            *ret_end = offset + extent_room(row.length);
        }
    }
    rocksdb_iter_get_error(iterator, &error);
    if (error)
        result = keyspace_error("read the piece index", error);
    rocksdb_iter_destroy(iterator);
    return result;
}

/* The id of an extent whose file is missing remains reserved, because new pieces must not be placed
 * where the index has old ones. */
static enum store_result reserve_ids(struct embedded *embedded)
{
    uint32_t id;
    uint64_t end;
    enum store_result result = find_last(embedded, UINT32_MAX, &id, &end);

    if (!result)
        extents_reserve(&embedded->extents, id);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* Continues the last extent after its last piece, and frees bytes left there by a crash. */
static enum store_result recover_active(struct embedded *embedded)
{
    struct recovery *recovery = &embedded->recovery;
    enum store_result result;
    uint32_t id, found;
    struct extent *extent;
    uint64_t end;

    if (recovery->count == 0)
        return STORE_OK;
    id = recovery->ids[recovery->count - 1];
    result = find_last(embedded, id, &found, &end);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    /* A crash during its creation may have left it without a header; it is then empty. */
    if (found != id || extents_take(&embedded->extents, id, &extent))
        return STORE_OK;
    extents_punch_taken(&embedded->extents, extent, end, EXTENT_BYTES - end);
    extents_give(&embedded->extents, extent);
    if (extents_go_on(&embedded->extents, end)) {
        recovery->open_id = id;
        recovery->open_end = end;
    }
    return STORE_OK;
}

static void list_extents(struct embedded *embedded)
{
    struct recovery *recovery = &embedded->recovery;
    uint32_t id;

    recovery->ids = xcalloc(embedded->extents.count + 1, sizeof recovery->ids[0]);
    while (extents_id_at(&embedded->extents, recovery->count, &id))
        recovery->ids[recovery->count++] = id;
}

static enum store_result recover_tasks(struct embedded *embedded)
{
    enum store_result result;
    struct cursor *cursor = open_kind(embedded, KEY_KIND_TASK_MARK, &result);
    instant mark = 0;

    if (!result && cursor->value.len == sizeof mark)
        mark = be64_get(cursor->value.ptr);
    else if (!result)
        result = damaged("deferred tasks");
    embedded_cursor_close(cursor);
    if (result && result != STORE_NOT_FOUND)
        return result;
    deferred_begin_at(&embedded->deferred, mark);
    return STORE_OK;
}

enum store_result recovery_begin(struct embedded *embedded)
{
    enum store_result result = recover_clock(embedded);
    char end = KEY_KIND_PIECE + 1;

    if (!result)
        result = recover_dropped(embedded);
    if (!result)
        result = recover_tasks(embedded);
    if (!result)
        result = reserve_ids(embedded);
    if (result)
        return result;
    list_extents(embedded);
    embedded->recovery.index = cursor_open(&embedded->store, bytes_of(&end, 1));
    return recover_active(embedded);
}

/* Punches a gap, unless it is already empty. */
static void free_gap(struct embedded *embedded, uint32_t id, uint64_t from, uint64_t to)
{
    struct extent *extent;

    if (from >= to || extents_take(&embedded->extents, id, &extent))
        return;
    if (extent_file_has_data(extent->fd, from, to))
        extents_punch_taken(&embedded->extents, extent, from, to - from);
    extents_give(&embedded->extents, extent);
}

/* Processes the rows of one extent; leaves the cursor on the first row of a later one. Returns
 * STORE_OK, or the result of moving on. */
static enum store_result recover_extent(struct embedded *embedded, uint32_t id,
                                        enum store_result at, uint64_t *ret_used)
{
    const struct recovery *recovery = &embedded->recovery;
    struct cursor *cursor = recovery->index;
    uint64_t limit = id == recovery->open_id ? recovery->open_end : EXTENT_BYTES;
    uint64_t next = EXTENT_UNIT;
    uint64_t used = 0;
    int64_t piece_bytes = 0;

    for (; !at; at = embedded_cursor_next(cursor)) {
        struct piece_row row;
        uint32_t extent;
        uint64_t offset;

        if (!key_read_piece(cursor->key, &extent, &offset) || !piece_row_read(cursor->value, &row))
            return damaged("the piece index");
        if (extent > id)
            break;
        if (extent < id) {
            log_line(LOG_ERROR, "store: a piece in extent %08" PRIx32 ", which is missing", extent);
            continue;
        }
        free_gap(embedded, id, next, offset);
        next = offset + extent_room(row.length);
        used += extent_room(row.length);
        piece_bytes += row.length;
    }
    if (used > 0)
        free_gap(embedded, id, next, limit);
    atomic_fetch_add(&embedded->piece_bytes, piece_bytes);
    *ret_used = used;
    return at;
}

void recovery_run(struct embedded *embedded, const atomic_bool *stop)
{
    struct recovery *recovery = &embedded->recovery;
    char kind = KEY_KIND_PIECE;
    enum store_result at = embedded_cursor_seek(recovery->index, bytes_of(&kind, 1));

    for (size_t i = 0; i < recovery->count && !atomic_load(stop); i++) {
        uint64_t used;

        at = recover_extent(embedded, recovery->ids[i], at, &used);
        if (at && at != STORE_NOT_FOUND)
            break; /* extents that are not counted are not removed */
        extents_counted(&embedded->extents, recovery->ids[i], used);
        reclaim_step(embedded);
    }
    recovery_release(embedded);
}

void recovery_release(struct embedded *embedded)
{
    struct recovery *recovery = &embedded->recovery;

    if (recovery->index)
        embedded_cursor_close(recovery->index);
    recovery->index = NULL;
    free(recovery->ids);
    recovery->ids = NULL;
}
