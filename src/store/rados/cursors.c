/* Scans of a partition, iterators over a space and its index, and counters: rows of shards under the full keys
 * that the store's other engines have (record_key.h). */
#include <assert.h>
#include <stdlib.h>

#include "store/rados/rados_private.h"
#include "store/rados/todo.h"
#include "store/record_key.h"

#define CURSOR_ARENA_MAX (64u << 20)

struct rados_cursor {
    struct cursor base;
    struct rados_snapshot *snapshot; /* of a scan; or */
    struct walk *walk;               /* of an iterator; or neither: of tasks */
    struct store_access access;
    struct arena *arena; /* of what the last move made */
    struct arena_mark begin;
    bool is_at_end;
    struct key full, end;
    char kind; /* of full keys */
    struct guid space;
};

static struct rados_cursor *cursor_of(struct cursor *base)
{
    return (struct rados_cursor *)(void *)base;
}

static struct rados_cursor *cursor_new(struct store *store, struct bytes end)
{
    struct rados_cursor *cursor = xcalloc(1, sizeof *cursor);

    cursor->base.store = store;
    cursor->arena = arena_new(CURSOR_ARENA_MAX);
    cursor->begin = arena_mark(cursor->arena);
    key_init(&cursor->full);
    key_init(&cursor->end);
    key_set_raw(&cursor->end, end);
    return cursor;
}

struct cursor *rados_scan_cursor(struct snapshot *base, struct bytes end, enum scan_kind kind)
{
    struct rados_cursor *cursor = cursor_new(base->store, end);

    (void)kind;
    cursor->snapshot = rados_snapshot_of(base);
    return &cursor->base;
}

struct cursor *rados_space_cursor(struct store *base, const struct guid *space, struct bytes end,
                                  struct store_access access, uint64_t *ret_sequence)
{
    struct rados_cursor *cursor = cursor_new(base, end);

    cursor->space = *space;
    cursor->access = access;
    *ret_sequence = rados_newest_sequence(rados_of(base));
    return &cursor->base;
}

struct cursor *rados_row_cursor(struct store *base, struct bytes end)
{
    return &cursor_new(base, end)->base;
}

void rados_cursor_close(struct cursor *base)
{
    struct rados_cursor *cursor = cursor_of(base);

    walk_close(cursor->walk);
    arena_free(cursor->arena);
    key_release(&cursor->full);
    key_release(&cursor->end);
    free(cursor);
}

/* ---- scans ---- */

static enum store_result scan(struct rados_cursor *cursor, struct bytes from, bool is_behind)
{
    struct rados_snapshot *snapshot = cursor->snapshot;
    enum record_family family = rados_family(from);
    struct bytes prefix = snapshot->base.prefix, key, value, record;
    enum store_result result = rados_begin(snapshot);

    if (result)
        return result;
    key = arena_copy(cursor->arena, bytes_from(from, prefix.len));
    while ((result = view_next(snapshot->view, family, key, is_behind, cursor->arena, &record,
                               &value)) == STORE_WAIT) {
        result = rados_await(snapshot->base.access, view_arrival(snapshot->view));
        if (result)
            return result;
    }
    if (result)
        return result;
    key_set_record(&cursor->full, family, prefix, record);
    if (bytes_compare(key_bytes(&cursor->full), key_bytes(&cursor->end)) >= 0)
        return STORE_NOT_FOUND;
    cursor->base.key = key_bytes(&cursor->full);
    cursor->base.value = value;
    return STORE_OK;
}

/* ---- iterators ---- */

/* Takes a place in the key space of full keys apart: the (partition or index) key, and what is behind it. */
static bool split_place(struct bytes full, struct arena *arena, struct bytes *ret_key,
                        struct bytes *ret_rest)
{
    struct bytes escaped;
    char *room;
    size_t length;

    if (!key_split(full, &escaped, ret_rest))
        return false;
    room = arena_bytes(arena, escaped.len + 1);
    if (!key_unescape(escaped, room, &length))
        return false;
    *ret_key = bytes_of(room, length);
    return true;
}

/* The row at which a full key, or the beginning of one, lies. */
static struct bytes row_of_place(struct rados_cursor *cursor, struct bytes full)
{
    static const struct bytes end_of_partition = BYTES("\0\x01");
    struct arena *arena = cursor->arena;
    struct bytes key, rest, partition;

    if (cursor->kind == KEY_KIND_LISTED) {
        bool is_whole = split_place(full, arena, &key, &rest);

        assert(is_whole);
        (void)is_whole;
        return row_key_record(arena, RECORD_LISTED, key, rest);
    }
    if (!split_place(full, arena, &key, &rest)) { /* an index key that is not ended */
        struct bytes escaped = bytes_from(full, KEY_SPACE_SIZE);
        char *room = arena_bytes(arena, escaped.len + 1);
        size_t length = 0;

        if (!key_unescape(escaped, room, &length))
            length = 0;
        return row_key_index_prefix(arena, bytes_of(room, length));
    }
    if (bytes_has_suffix(rest, end_of_partition))
        rest.len -= end_of_partition.len;
    partition = (struct bytes){ NULL, 0 };
    if (rest.len > 0) {
        char *room = arena_bytes(arena, rest.len);

        if (key_unescape(rest, room, &partition.len))
            partition.ptr = room;
    }
    return row_key_index(arena, key, partition);
}

static enum store_result show_row(struct rados_cursor *cursor, struct bytes row, struct bytes value)
{
    struct row_name name;

    if (!row_key_read(row, cursor->arena, &name))
        return STORE_CORRUPT;
    if (cursor->kind == KEY_KIND_LISTED) {
        key_set_place(&cursor->full, RECORD_LISTED,
                      (struct partition){ cursor->space, name.partition_key }, name.record_key);
    } else {
        struct key partition;

        key_init(&partition);
        key_set_partition(&partition, RECORD_LISTED,
                          (struct partition){ cursor->space, name.partition_key });
        key_set_index(&cursor->full, key_bytes(&partition), name.record_key);
        key_release(&partition);
    }
    if (bytes_compare(key_bytes(&cursor->full), key_bytes(&cursor->end)) >= 0)
        return STORE_NOT_FOUND;
    cursor->base.key = key_bytes(&cursor->full);
    cursor->base.value = value;
    return STORE_OK;
}

static enum store_result iterate(struct rados_cursor *cursor, struct bytes from, bool is_behind)
{
    struct rados *rados = rados_of(cursor->base.store);
    enum store_result result;
    struct bytes place, row, value;

    if (!rados_may_fetch(cursor->access))
        return STORE_WAIT;
    if (!cursor->walk && !rados_fetch_applied(cursor->access))
        return STORE_CONFLICT;
    cursor->kind = from.ptr[0];
    if (!cursor->walk)
        cursor->walk = rados_fetch_walk(rados, cursor->access, &cursor->space,
                                        cursor->kind == KEY_KIND_LISTED ? WALK_LISTED : WALK_INDEX);
    place = row_of_place(cursor, from);
    if (is_behind)
        place = row_key_behind(cursor->arena, place);
    if (cursor->access.may_block)
        walk_forget(cursor->walk);
    while ((result = walk_next(cursor->walk, place, &row, &value)) == STORE_WAIT) {
        result = rados_await(cursor->access, walk_arrival(cursor->walk));
        if (result)
            return result;
    }
    if (result == STORE_NOT_FOUND)
        cursor->base.is_gone = walk_is_gone(cursor->walk);
    return result ? result : show_row(cursor, row, value);
}

/* ---- both, and tasks ---- */

static enum store_result move(struct rados_cursor *cursor, struct bytes key, bool is_behind)
{
    enum store_result result;
    struct key from;

    key_init(&from);
    key_set_raw(&from, key);
    arena_rewind(cursor->arena, cursor->begin);
    if (cursor->snapshot)
        result = scan(cursor, key_bytes(&from), is_behind);
    else if (from.ptr[0] == KEY_KIND_TASK)
        result = todo_seek(rados_of(cursor->base.store), key_bytes(&from), cursor->arena,
                           &cursor->base.key, &cursor->base.value);
    else
        result = iterate(cursor, key_bytes(&from), is_behind);
    key_release(&from);
    cursor->is_at_end = result == STORE_NOT_FOUND;
    return result;
}

enum store_result rados_cursor_seek(struct cursor *base, struct bytes key)
{
    return move(cursor_of(base), key, false);
}

enum store_result rados_cursor_next(struct cursor *base)
{
    if (cursor_of(base)->is_at_end)
        return STORE_NOT_FOUND;
    return move(cursor_of(base), base->key, true);
}

enum store_result rados_count(struct store *base, const struct guid *space, struct bytes key,
                              struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence)
{
    struct rados *rados = rados_of(base);
    struct walk *walk;
    enum store_result result;

    if (!rados_may_fetch(access))
        return STORE_WAIT;
    if (!rados_fetch_applied(access))
        return STORE_CONFLICT;
    *ret_sequence = rados_newest_sequence(rados);
    walk = rados_fetch_walk(rados, access, space, WALK_COUNTERS);
    while ((result = walk_sum(walk, bytes_from(key, KEY_SPACE_SIZE), ret_sum)) == STORE_WAIT) {
        result = rados_await(access, walk_arrival(walk));
        if (result)
            break;
    }
    if (!result && walk_is_gone(walk))
        *ret_sum = 0;
    walk_close(walk);
    return result;
}
