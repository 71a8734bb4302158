/* See read_ahead.h. */
#include "store/embedded/read_ahead.h"

#include "store/embedded/cursor.h"
#include "store/embedded/embedded_private.h"
#include "store/embedded/snapshots.h"
#include "store/record_value.h"

/* The amounts read at once. An HTTP worker takes some 100 us for it; a thread that waits for the
 * disk anyway reads more. */
static const struct bounds {
    unsigned records;
    size_t bytes;
} of_worker = { 32, 64u << 10 }, of_blocking = { 256, 256u << 10 };

/* Gets a record from a memtable or RocksDB's cache: one just put, or read again. Returns false if
 * it is not there, may be from a commit in between, or is damaged. */
static bool get_cached(const struct embedded_snapshot *snapshot, struct bytes key,
                       struct arena *arena, struct record *ret_record)
{
    const struct keyspace *keyspace = &embedded_of(snapshot->snapshot.store)->keyspace;
    rocksdb_pinnableslice_t *slice;
    struct bytes value;
    bool found;

    if (keyspace_get_cached(keyspace, key, &slice) != STORE_OK)
        return false;
    value.ptr = rocksdb_pinnableslice_value(slice, &value.len);
    found = !snapshot_state(snapshot) && record_value_read(value, arena, ret_record) == STORE_OK;
    rocksdb_pinnableslice_destroy(slice);
    return found;
}

static void read_ahead(struct embedded_snapshot *snapshot, struct bytes key, struct bytes end)
{
    const struct bounds *most = snapshot->snapshot.access.may_block ? &of_blocking : &of_worker;
    struct cursor *cursor = embedded_scan_cursor(&snapshot->snapshot, end, SCAN_AHEAD);
    enum store_result result = embedded_cursor_seek(cursor, key);
    size_t bytes = 0;

    for (unsigned i = 0; !result && i < most->records && bytes < most->bytes; i++) {
        snapshot_keep(snapshot, cursor->key, cursor->value);
        bytes += cursor->key.len + cursor->value.len;
        result = embedded_cursor_next(cursor);
    }
    /* The reader that needs this record reports its error. */
    embedded_cursor_close(cursor);
}

enum store_result embedded_get_ahead(struct read_view *base, struct bytes key, struct bytes end,
                                     struct arena *arena, struct record *ret_record)
{
    struct embedded_snapshot *snapshot = (struct embedded_snapshot *)base;
    enum store_result result;

    if (snapshot_get_kept(snapshot, key, arena, ret_record, &result))
        return result;
    /* A reader of an older state caches nothing. */
    if (!snapshot_state(snapshot)) {
        if (get_cached(snapshot, key, arena, ret_record))
            return STORE_OK;
        read_ahead(snapshot, key, end);
    }
    return embedded_get(base, key, arena, ret_record);
}
