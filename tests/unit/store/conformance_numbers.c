/* The load of numbers: committed, and checked. */
#include "conformance_numbers.h"

#include <stdlib.h>

/* From part of a sector to several. */
static uint64_t stream_length(uint64_t number)
{
    return 1000 + number * 37717 % 300000;
}

static enum store_result commit_staged(struct fixture *f, struct arena *arena, uint64_t number,
                                       const struct stage *stage, uint64_t *ret_sequence)
{
    struct changes *changes = changes_new(arena);
    struct snapshot *snapshot = snapshot_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct bytes value = arena_printf(arena, "%llu", (unsigned long long)number);
    const struct piece *pieces;
    struct record record;
    enum store_result result;
    size_t count;

    result = snapshot_get(snapshot, RECORD_LISTED, bytes_from_string("s"), arena, &record);
    if (result == STORE_OK)
        changes_release(changes, record.pieces, record.piece_count);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("a"), value, NULL, 0);
    changes_put(changes, RECORD_LISTED, bytes_from_string("s"), value, pieces, count);
    changes_put(changes, RECORD_INNER, bytes_from_string("b"), value, NULL, 0);
    if (result == STORE_OK || result == STORE_NOT_FOUND)
        result = store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                              STORE_MAY_BLOCK, ret_sequence);
    snapshot_close(snapshot);
    return result;
}

enum store_result numbers_commit(struct fixture *f, uint64_t number, uint64_t *ret_sequence)
{
    struct arena *arena = arena_new(8u << 20);
    struct stage *stage;
    enum store_result result =
        stage_pattern(f->store, stream_length(number), number, 50000, &stage);

    if (!result)
        result = commit_staged(f, arena, number, stage, ret_sequence);
    stage_close(stage);
    arena_free(arena);
    return result;
}

uint64_t numbers_newest(struct fixture *f)
{
    return strtoull(get_now(f->store, f->partition, f->arena, "a"), NULL, 10);
}

uint64_t numbers_check(struct fixture *f)
{
    uint64_t number = numbers_newest(f);
    struct snapshot *snapshot;
    struct record record;
    const char *text;

    if (number == 0) {
        assert_int_equal(usage_now(f->store).piece_bytes, 0);
        return 0;
    }
    snapshot = snapshot_open(f->store, f->partition, STORE_MAY_BLOCK);
    text = get_text(snapshot, f->arena, "a");
    assert_string_equal(get_text(snapshot, f->arena, "s"), text);
    assert_int_equal(
        snapshot_get(snapshot, RECORD_INNER, bytes_from_string("b"), f->arena, &record), STORE_OK);
    assert_true(bytes_is(record.value, text));
    assert_true(stream_matches(f->store, snapshot, "s", stream_length(number), number));
    snapshot_close(snapshot);
    assert_int_equal(usage_now(f->store).piece_bytes, stream_length(number));
    return number;
}
