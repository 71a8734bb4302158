/* See written.h. */
#include "store/embedded/written.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crc.h"
#include "store/deferred.h"

#define PLACES_LEAST 64u
/* 8 le sequence, 4 le count; then the changes: kind, and key and value with varint lengths. */
#define BATCH_HEADER 12u

enum { CHANGE_DELETE = 0, CHANGE_PUT = 1, CHANGE_MERGE = 2 };

static void empty(struct written *written, bool is_all)
{
    if (written->arena)
        arena_free(written->arena);
    free(written->places);
    *written =
        (struct written){ .space = written->space, .limit = written->limit, .is_all = is_all };
}

void written_release(struct written *written)
{
    empty(written, false);
}

size_t written_bytes(const struct written *written)
{
    return (written->arena ? arena_held(written->arena) : 0) +
           written->capacity * sizeof written->places[0];
}

/* Returns the place of the key, or where it belongs. */
static struct bytes *find(const struct written *written, struct bytes key)
{
    size_t mask = written->capacity - 1;
    size_t at = crc32c(0, key.ptr, key.len) & mask;

    assert(written->count < written->capacity);
    while (written->places[at].ptr && !bytes_equal(written->places[at], key))
        at = (at + 1) & mask;
    return &written->places[at];
}

static void grow(struct written *written)
{
    struct written old = *written;

    written->capacity = old.capacity > 0 ? 2 * old.capacity : PLACES_LEAST;
    written->places = xcalloc(written->capacity, sizeof written->places[0]);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.places[i].ptr)
            *find(written, old.places[i]) = old.places[i];
    free(old.places);
}

static void add(struct written *written, struct bytes key)
{
    size_t limit = written->limit > 0 ? written->limit : WRITTEN_BYTES_MAX;
    struct bytes *place;

    if (written->is_all)
        return;
    if (!written->arena)
        written->arena = arena_new(2 * limit);
    if (2 * written->count >= written->capacity)
        grow(written);
    place = find(written, key);
    if (place->ptr)
        return;
    if (arena_held(written->arena) + key.len + 2 * written->capacity * sizeof written->places[0] >
        limit) {
        empty(written, true);
        return;
    }
    *place = arena_copy(written->arena, key);
    written->count++;
}

/* From a batch created by RocksDB, so it is complete. */
static struct bytes read_string(struct bytes *from)
{
    size_t length = 0;
    unsigned shift = 0;
    unsigned char c;
    struct bytes string;

    do {
        c = (unsigned char)*from->ptr;
        *from = bytes_from(*from, 1);
        length |= (size_t)(c & 0x7F) << shift;
        shift += 7;
    } while (c >= 0x80);
    assert(length <= from->len);
    string = bytes_of(from->ptr, length);
    *from = bytes_from(*from, length);
    return string;
}

/* value: of a put; ptr NULL if none */
static bool is_wanted(const struct written *written, struct bytes key, struct bytes value)
{
    struct task_row task;

    if (!written->space)
        return true;
    switch (key.ptr[0]) {
    case KEY_KIND_LISTED:
    case KEY_KIND_INNER:
    case KEY_KIND_INDEX:
        return key.len >= KEY_SPACE_SIZE &&
               memcmp(key.ptr + 1, written->space->b, sizeof written->space->b) == 0;
    case KEY_KIND_TASK:
        return deferred_read_row(key, value, &task) && guid_equal(&task.space, written->space);
    default:
        return false;
    }
}

void written_add_batch(struct written *written, struct bytes data)
{
    struct bytes left = bytes_from(data, BATCH_HEADER);

    while (left.len > 0) {
        unsigned char kind = (unsigned char)*left.ptr;
        struct bytes key, value = { NULL, 0 };

        assert(kind <= CHANGE_MERGE);
        left = bytes_from(left, 1);
        key = read_string(&left);
        if (kind != CHANGE_DELETE)
            value = read_string(&left);
        if (is_wanted(written, key, value))
            add(written, key);
    }
}
