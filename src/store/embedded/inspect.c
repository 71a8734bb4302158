/* Visits every record once, and counts the references to each piece. */
#include "store/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/embedded/cursor.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/record_value.h"

#define RECORD_ARENA_MAX (1u << 30)

/* One reference of a record to a piece. */
struct reference {
    uint32_t extent;
    uint32_t length;
    uint64_t offset;
};

struct inspection {
    struct store *store;
    inspect_visit *visit;
    inspect_say *say;
    void *context;
    struct reference *references;
    size_t count;
    size_t capacity;
};

static void add_references(struct inspection *inspection, const struct piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (inspection->count == inspection->capacity) {
            inspection->capacity = inspection->capacity > 0 ? 2 * inspection->capacity : 1024;
            inspection->references = xrealloc(
                inspection->references, inspection->capacity * sizeof inspection->references[0]);
        }
        inspection->references[inspection->count++] =
            (struct reference){ pieces[i].extent, pieces[i].length, pieces[i].offset };
    }
}

/* ---- records ---- */

static enum store_result inspect_record(struct inspection *inspection, struct bytes key,
                                        struct bytes value)
{
    struct arena *arena = arena_new(RECORD_ARENA_MAX);
    struct record_place place = {
        .family = key.ptr[0] == KEY_KIND_LISTED ? RECORD_LISTED : RECORD_INNER,
    };
    enum store_result result = STORE_CORRUPT;
    struct record record = { 0 };
    struct bytes escaped;

    if (key.len >= KEY_SPACE_SIZE && key_split(key, &escaped, &place.record_key)) {
        char *partition = arena_bytes(arena, escaped.len + 1);

        memcpy(place.space.b, key.ptr + 1, sizeof place.space.b);
        place.partition_key.ptr = partition;
        if (key_unescape(escaped, partition, &place.partition_key.len))
            result = record_value_read(value, arena, &record);
    }
    if (result) {
        inspection->say(inspection->context, "a record is corrupt");
    } else {
        record.key = place.record_key;
        add_references(inspection, record.pieces, record.piece_count);
        inspection->visit(inspection->context, &place, &record);
    }
    arena_free(arena);
    return STORE_OK;
}

static enum store_result inspect_kind(struct inspection *inspection, char kind,
                                      enum store_result (*inspect)(struct inspection *,
                                                                   struct bytes, struct bytes))
{
    char end = (char)(kind + 1);
    struct cursor *cursor = cursor_open(inspection->store, bytes_of(&end, 1));
    enum store_result result = embedded_cursor_seek(cursor, bytes_of(&kind, 1));

    while (!result) {
        result = inspect(inspection, cursor->key, cursor->value);
        if (!result)
            result = embedded_cursor_next(cursor);
    }
    embedded_cursor_close(cursor);
    if (result && result != STORE_NOT_FOUND)
        inspection->say(inspection->context, "records cannot be read; see the log");
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* ---- the index of pieces ---- */

static int by_place(const void *a, const void *b)
{
    const struct reference *left = a, *right = b;

    if (left->extent != right->extent)
        return left->extent < right->extent ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* Counts the references to the first remaining piece. */
static size_t count_same(const struct inspection *inspection)
{
    size_t same = 1;

    while (same < inspection->count &&
           by_place(&inspection->references[same], &inspection->references[0]) == 0)
        same++;
    return same;
}

static void take(struct inspection *inspection, size_t count)
{
    inspection->references += count;
    inspection->count -= count;
}

static void say_missing(struct inspection *inspection)
{
    char sentence[160];

    snprintf(sentence, sizeof sentence,
             "the index of pieces lacks the piece at %" PRIu64 " of extent %08" PRIx32,
             inspection->references[0].offset, inspection->references[0].extent);
    inspection->say(inspection->context, sentence);
    take(inspection, count_same(inspection));
}

static enum store_result inspect_row(struct inspection *inspection, struct bytes key,
                                     struct bytes value)
{
    struct reference at = { 0 };
    struct piece_row row = { 0 };
    char sentence[160];
    size_t same = 0;

    if (!key_read_piece(key, &at.extent, &at.offset) || !piece_row_read(value, &row)) {
        inspection->say(inspection->context, "a row of the index of pieces is corrupt");
        return STORE_OK;
    }
    while (inspection->count > 0 && by_place(&inspection->references[0], &at) < 0)
        say_missing(inspection);
    if (inspection->count > 0 && by_place(&inspection->references[0], &at) == 0)
        same = count_same(inspection);
    if (row.references != same || (same > 0 && inspection->references[0].length != row.length)) {
        snprintf(sentence, sizeof sentence,
                 "the index of pieces has %" PRIu64 " references to the piece at %" PRIu64
                 " of extent %08" PRIx32 ", records have %zu",
                 row.references, at.offset, at.extent, same);
        inspection->say(inspection->context, sentence);
    }
    take(inspection, same);
    return STORE_OK;
}

enum store_result embedded_inspect(struct store *store, inspect_visit *visit, inspect_say *say,
                                   void *context)
{
    struct inspection inspection = {
        .store = store, .visit = visit, .say = say, .context = context
    };
    enum store_result result = inspect_kind(&inspection, KEY_KIND_INNER, inspect_record);
    struct reference *all;

    if (!result)
        result = inspect_kind(&inspection, KEY_KIND_LISTED, inspect_record);
    all = inspection.references;
    if (!result) {
        if (inspection.count > 0)
            qsort(all, inspection.count, sizeof all[0], by_place);
        result = inspect_kind(&inspection, KEY_KIND_PIECE, inspect_row);
        while (!result && inspection.count > 0)
            say_missing(&inspection);
    }
    free(all);
    return result;
}
