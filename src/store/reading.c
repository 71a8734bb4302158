/* Scans of a partition and walks over a space: both are an engine's cursor whose keys and values
 * are taken apart here. */
#include "store/store_private.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/record_key.h"
#include "store/record_value.h"

/* The pieces of one record that is read without an arena of the caller, or of a walk. */
#define READING_ARENA_MAX (64u << 20)

static enum store_result malformed(struct bytes key)
{
    log_line(LOG_ERROR, "store: a record of kind %c with a key of %zu bytes is damaged",
             key.len > 0 ? key.ptr[0] : '?', key.len);
    return STORE_CORRUPT;
}

struct scan {
    struct cursor *cursor;       /* NULL: the space is gone, nothing to read */
    struct arena *arena;         /* of what the last call gave, when the caller had no arena */
    struct key from;             /* where to begin */
    size_t partition_prefix_len; /* of each full key */
    bool begun;
};

struct scan *scan_open(struct snapshot *snapshot, enum record_family family, struct bytes prefix,
                       struct bytes from)
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
    scan->cursor = snapshot->store->operations->scan_cursor(snapshot, key_bytes(&end));
    key_release(&end);
    return scan;
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

    record.key = bytes_from(scan->cursor->key, scan->partition_prefix_len);
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

struct walk {
    struct cursor *cursor; /* NULL: the space is gone */
    struct guid space;
    uint64_t sequence;
    struct key from; /* where to go on, when `seeking` */
    bool seeking;
    struct arena *arena;  /* of the pieces that a value names, thrown away */
    char *partition;      /* a partition key that had to be unescaped */
    size_t partition_max; /* room there */
};

struct walk *walk_open(struct store *store, struct guid space, struct bytes from_partition,
                       struct bytes from_record)
{
    struct walk *walk = xcalloc(1, sizeof *walk);
    struct key end;

    walk->space = space;
    walk->arena = arena_new(READING_ARENA_MAX);
    key_init(&walk->from);
    key_init(&end);
    key_set_space(&end, KEY_KIND_LISTED, &space);
    key_set_end(&end);
    walk->cursor = store->operations->walk_cursor(store, &space, key_bytes(&end), &walk->sequence);
    key_release(&end);
    walk_seek(walk, from_partition, from_record);
    return walk;
}

uint64_t walk_sequence(const struct walk *walk)
{
    return walk->sequence;
}

void walk_seek(struct walk *walk, struct bytes from_partition, struct bytes from_record)
{
    key_set_place(&walk->from, RECORD_LISTED, (struct partition){ walk->space, from_partition },
                  from_record);
    walk->seeking = true;
}

/* Gives the partition key of an escaped one, in place where nothing is escaped. */
static bool partition_key(struct walk *walk, struct bytes escaped, struct bytes *ret_key)
{
    size_t length;

    if (escaped.len == 0 || !memchr(escaped.ptr, 0, escaped.len)) {
        *ret_key = escaped;
        return true;
    }
    if (escaped.len > walk->partition_max) {
        walk->partition_max = 2 * escaped.len;
        walk->partition = xrealloc(walk->partition, walk->partition_max);
    }
    if (!key_unescape(escaped, walk->partition, &length))
        return false;
    *ret_key = bytes_of(walk->partition, length);
    return true;
}

enum store_result walk_next(struct walk *walk, struct walked *ret_walked)
{
    const struct store_operations *operations;
    const struct piece *pieces;
    struct arena_mark mark;
    struct walked walked;
    struct bytes escaped;
    enum store_result result;
    size_t count;

    if (!walk->cursor)
        return STORE_NOT_FOUND;
    operations = walk->cursor->store->operations;
    result = walk->seeking ? operations->cursor_seek(walk->cursor, key_bytes(&walk->from))
                           : operations->cursor_next(walk->cursor);
    walk->seeking = false;
    if (result)
        return result;

    mark = arena_mark(walk->arena);
    result = record_value_decode(walk->cursor->value, walk->arena, &walked.value, &pieces, &count);
    arena_rewind(walk->arena, mark);
    if (result || !key_split(walk->cursor->key, &escaped, &walked.record_key) ||
        !partition_key(walk, escaped, &walked.partition_key))
        return malformed(walk->cursor->key);
    *ret_walked = walked;
    return STORE_OK;
}

void walk_close(struct walk *walk)
{
    if (walk->cursor)
        walk->cursor->store->operations->cursor_close(walk->cursor);
    arena_free(walk->arena);
    key_release(&walk->from);
    free(walk->partition);
    free(walk);
}
