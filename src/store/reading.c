/* Scans of a partition and iterators over a space. Both use an engine's cursor and decode its keys
 * and values. */
#include "store/store_private.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/record_key.h"
#include "store/record_value.h"

/* Arena size for the pieces of one record, in a space iterator or a scan without a caller's
 * arena. */
#define READING_ARENA_MAX (64u << 20)

static enum store_result malformed(struct bytes key)
{
    log_line(LOG_ERROR, "store: a record of kind %c with a key of %zu bytes is corrupt",
             key.len > 0 ? key.ptr[0] : '?', key.len);
    return STORE_CORRUPT;
}

struct scan {
    struct cursor *cursor; /* NULL if the space was dropped */
    /* for the result of the last call, if the caller passed no arena */
    struct arena *arena;
    struct key from;             /* where to start */
    size_t partition_prefix_len; /* length of the partition's prefix in each full key */
    bool begun;
};

static struct scan *open_scan(struct read_view *snapshot, enum record_family family,
                              struct bytes prefix, struct bytes from, enum scan_kind kind)
{
    struct scan *scan = xcalloc(1, sizeof *scan);
    struct key end;

    key_init(&scan->from);
    if (snapshot->gone)
        return scan;
    scan->partition_prefix_len = snapshot->prefix.len;
    key_set_record(&scan->from, family, snapshot->prefix,
                   bytes_compare(from, prefix) > 0 ? from : prefix);
    key_init(&end);
    key_set_record(&end, family, snapshot->prefix, prefix);
    key_set_end(&end);
    scan->cursor = snapshot->store->operations->scan_cursor(snapshot, key_bytes(&end), kind);
    key_release(&end);
    assert(scan->cursor && scan->cursor->store == snapshot->store);
    return scan;
}

struct scan *scan_open(struct read_view *snapshot, enum record_family family, struct bytes prefix,
                       struct bytes from)
{
    return open_scan(snapshot, family, prefix, from, SCAN_PLAIN);
}

struct scan *scan_open_front(struct read_view *snapshot, enum record_family family,
                             struct bytes prefix, struct bytes from)
{
    return open_scan(snapshot, family, prefix, from, SCAN_FRONT);
}

enum store_result scan_next(struct scan *scan, struct arena *arena, struct record *ret_record)
{
    const struct store_operations *operations;
    struct record record;
    enum store_result result;

    if (!scan->cursor)
        return STORE_NOT_FOUND;
    operations = scan->cursor->store->operations;
    result = scan->begun ? operations->cursor_next(scan->cursor)
                         : operations->cursor_seek(scan->cursor, key_bytes(&scan->from));
    scan->begun = true;
    if (result)
        return result;

    assert(scan->cursor->key.len >= scan->partition_prefix_len);
    record.key = bytes_from(scan->cursor->key, scan->partition_prefix_len);
    if (arena && arena_is_exhausted(arena))
        return STORE_SHORTAGE;
    if (arena) {
        record.key = arena_copy(arena, record.key);
        result = record_value_read(scan->cursor->value, arena, &record);
    } else {
        arena_free(scan->arena);
        scan->arena = arena_new(READING_ARENA_MAX);
        result = record_value_decode(scan->cursor->value, scan->arena, &record.value,
                                     &record.pieces, &record.piece_count);
    }
    if (result)
        return malformed(scan->cursor->key);
    *ret_record = record;
    return STORE_OK;
}

void scan_close(struct scan *scan)
{
    if (scan->cursor)
        scan->cursor->store->operations->cursor_close(scan->cursor);
    arena_free(scan->arena);
    key_release(&scan->from);
    free(scan);
}

/* Buffer for a key that must be unescaped. */
struct unescaped {
    char *ptr;
    size_t capacity;
};

/* Unescapes a key. Returns the key itself if nothing in it is escaped. */
static bool unescape(struct unescaped *room, struct bytes escaped, struct bytes *ret_key)
{
    size_t length;

    if (escaped.len == 0 || !memchr(escaped.ptr, 0, escaped.len)) {
        *ret_key = escaped;
        return true;
    }
    if (escaped.len > room->capacity) {
        room->capacity = 2 * escaped.len;
        room->ptr = xrealloc(room->ptr, room->capacity);
    }
    if (!key_unescape(escaped, room->ptr, &length))
        return false;
    assert(length <= room->capacity);
    *ret_key = bytes_of(room->ptr, length);
    return true;
}

struct space_iterator {
    struct cursor *cursor; /* NULL means the space is gone */
    struct guid space;
    uint64_t sequence;
    struct key from; /* where to continue, if `seeking` */
    bool seeking;
    struct arena *arena; /* for the pieces of a value, which are not used */
    struct unescaped partition;
};

struct space_iterator *space_iterator_open(struct store *store, struct guid space,
                                           struct bytes from_partition, struct bytes from_record,
                                           struct store_access access)
{
    struct space_iterator *iterator = xcalloc(1, sizeof *iterator);
    struct key end;

    iterator->space = space;
    iterator->arena = arena_new(READING_ARENA_MAX);
    key_init(&iterator->from);
    key_init(&end);
    key_set_space(&end, KEY_KIND_LISTED, &space);
    key_set_end(&end);
    iterator->cursor = store->operations->space_cursor(store, &space, key_bytes(&end), access,
                                                       &iterator->sequence);
    key_release(&end);
    space_iterator_seek(iterator, from_partition, from_record);
    return iterator;
}

uint64_t space_iterator_sequence(const struct space_iterator *iterator)
{
    return iterator->sequence;
}

bool space_iterator_is_gone(const struct space_iterator *iterator)
{
    return !iterator->cursor;
}

static void assert_space_iterator(const struct space_iterator *iterator)
{
    assert(iterator->arena && iterator->from.len >= KEY_SPACE_SIZE);
    assert(!iterator->partition.ptr == (iterator->partition.capacity == 0));
}

void space_iterator_seek(struct space_iterator *iterator, struct bytes from_partition,
                         struct bytes from_record)
{
    key_set_place(&iterator->from, RECORD_LISTED,
                  (struct partition){ iterator->space, from_partition }, from_record);
    iterator->seeking = true;
    assert_space_iterator(iterator);
}

enum store_result space_iterator_next(struct space_iterator *iterator,
                                      struct space_record *ret_record)
{
    const struct store_operations *operations;
    const struct piece *pieces;
    struct arena_mark mark;
    struct space_record found;
    struct bytes escaped;
    enum store_result result;
    size_t count;

    assert_space_iterator(iterator);
    if (!iterator->cursor)
        return STORE_NOT_FOUND;
    operations = iterator->cursor->store->operations;
    result = iterator->seeking
                 ? operations->cursor_seek(iterator->cursor, key_bytes(&iterator->from))
                 : operations->cursor_next(iterator->cursor);
    iterator->seeking = false;
    if (result)
        return result;

    mark = arena_mark(iterator->arena);
    result = record_value_decode(iterator->cursor->value, iterator->arena, &found.value, &pieces,
                                 &count);
    arena_rewind(iterator->arena, mark);
    if (result || !key_split(iterator->cursor->key, &escaped, &found.record_key) ||
        !unescape(&iterator->partition, escaped, &found.partition_key))
        return malformed(iterator->cursor->key);
    *ret_record = found;
    return STORE_OK;
}

void space_iterator_close(struct space_iterator *iterator)
{
    if (iterator->cursor)
        iterator->cursor->store->operations->cursor_close(iterator->cursor);
    arena_free(iterator->arena);
    key_release(&iterator->from);
    free(iterator->partition.ptr);
    free(iterator);
}

struct index_iterator {
    struct cursor *cursor; /* NULL means the space is gone */
    uint64_t sequence;
    struct key from;
    bool begun;
    struct unescaped key, partition;
};

struct index_iterator *index_iterator_open(struct store *store, struct guid space,
                                           struct bytes prefix, struct bytes from,
                                           struct bytes from_partition, struct store_access access)
{
    struct index_iterator *iterator = xcalloc(1, sizeof *iterator);
    struct key end;

    key_init(&iterator->from);
    if (bytes_compare(from, prefix) < 0)
        key_set_index_from(&iterator->from, &space, prefix);
    else if (from_partition.len == 0)
        key_set_index_from(&iterator->from, &space, from);
    else
        key_set_index_place(&iterator->from, &space, from, from_partition);
    key_init(&end);
    key_set_index_from(&end, &space, prefix);
    key_set_end(&end);
    iterator->cursor = store->operations->space_cursor(store, &space, key_bytes(&end), access,
                                                       &iterator->sequence);
    key_release(&end);
    return iterator;
}

uint64_t index_iterator_sequence(const struct index_iterator *iterator)
{
    return iterator->sequence;
}

enum store_result index_iterator_next(struct index_iterator *iterator,
                                      struct index_record *ret_record)
{
    static const struct bytes end_of_partition = BYTES("\0\x01");
    const struct store_operations *operations;
    struct index_record found;
    struct bytes key, partition;
    enum store_result result;

    if (!iterator->cursor)
        return STORE_NOT_FOUND;
    operations = iterator->cursor->store->operations;
    result = iterator->begun
                 ? operations->cursor_next(iterator->cursor)
                 : operations->cursor_seek(iterator->cursor, key_bytes(&iterator->from));
    iterator->begun = true;
    if (result)
        return result;
    if (!key_split(iterator->cursor->key, &key, &partition) ||
        !bytes_has_suffix(partition, end_of_partition))
        return malformed(iterator->cursor->key);
    assert(partition.len >= end_of_partition.len);
    partition.len -= end_of_partition.len;
    if (!unescape(&iterator->key, key, &found.key) ||
        !unescape(&iterator->partition, partition, &found.partition_key))
        return malformed(iterator->cursor->key);
    found.value = iterator->cursor->value;
    *ret_record = found;
    return STORE_OK;
}

void index_iterator_close(struct index_iterator *iterator)
{
    if (iterator->cursor)
        iterator->cursor->store->operations->cursor_close(iterator->cursor);
    key_release(&iterator->from);
    free(iterator->key.ptr);
    free(iterator->partition.ptr);
    free(iterator);
}

/* ---- pieces ---- */

bool piece_is_lent(struct store *store, const struct piece *piece)
{
    return store->operations->piece_is_lent &&
           store->operations->piece_is_lent(store, piece->extent);
}
