/* The load of numbers: committed, and checked. */
#include "conformance_numbers.h"

#include <stdlib.h>

/* From part of a sector to several. */
static uint64_t stream_length(uint64_t number)
{
    return 1000 + number * 37717 % 300000;
}

static struct partition other_partition(const struct fixture *f)
{
    return partition_of(f->partition.space, "other");
}

/* What is written beside the records of the fixture's partition: a record of another one, an index
 * record, a counter, and an item to be done later in place of the last one. */
static void add_beside(struct fixture *f, struct arena *arena, uint64_t number, struct bytes value,
                       struct changes *other)
{
    struct deferred_task item;
    instant due;

    changes_put(other, RECORD_LISTED, bytes_from_string("o"), value, NULL, 0);
    changes_index_put(other, bytes_from_string("i"), value);
    changes_count(other, bytes_from_string("n"), 1);
    changes_defer(other, 1, (uint32_t)number, value);
    if (store_task_next(f->store, clock_now(), NULL, arena, &item, &due) == STORE_OK)
        changes_task_done(other, &item);
}

static enum store_result commit_staged(struct fixture *f, struct arena *arena, uint64_t number,
                                       const struct stage *stage, uint64_t *ret_sequence)
{
    struct changes *changes = changes_new(arena), *other_changes = changes_new(arena);
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct read_view *other = read_view_open(f->store, other_partition(f), STORE_MAY_BLOCK);
    struct commit_part parts[] = { { snapshot, changes }, { other, other_changes } };
    struct bytes value = arena_printf(arena, "%llu", (unsigned long long)number);
    const struct piece *pieces;
    struct record record;
    enum store_result result;
    size_t count;

    result = read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), arena, &record);
    if (result == STORE_OK)
        changes_release(changes, record.pieces, record.piece_count);
    pieces = stage_pieces(stage, &count);
    changes_put(changes, RECORD_LISTED, bytes_from_string("a"), value, NULL, 0);
    changes_put(changes, RECORD_LISTED, bytes_from_string("s"), value, pieces, count);
    changes_put(changes, RECORD_INNER, bytes_from_string("b"), value, NULL, 0);
    add_beside(f, arena, number, value, other_changes);
    if (result == STORE_OK || result == STORE_NOT_FOUND)
        result = store_commit(f->store, parts, 2, clock_now(), STORE_MAY_BLOCK, ret_sequence);
    read_view_close(other);
    read_view_close(snapshot);
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

/* The other partition, and all else that the commit wrote with it, tell the same number. */
static void check_beside(struct fixture *f, uint64_t number, const char *text)
{
    struct space_iterator *records;
    struct index_iterator *iterator;
    struct index_record found;
    struct deferred_task item, second;
    uint64_t sequence;
    int64_t sum;
    instant due;

    assert_string_equal(get_now(f->store, other_partition(f), f->arena, "o"), text);
    records = space_iterator_open(f->store, f->partition.space, bytes_of("", 0), bytes_of("", 0),
                                  STORE_MAY_BLOCK);
    assert_string_equal(
        space_text(records, f->arena),
        arena_printf(f->arena, "other/o=%s partition/a=%s partition/s=%s%c", text, text, text, 0)
            .ptr);
    space_iterator_close(records);
    iterator = index_iterator_open(f->store, f->partition.space, bytes_of("", 0), bytes_of("", 0),
                                   bytes_of("", 0), STORE_MAY_BLOCK);
    assert_int_equal(index_iterator_next(iterator, &found), STORE_OK);
    assert_true(bytes_is(found.value, text));
    assert_int_equal(index_iterator_next(iterator, &found), STORE_NOT_FOUND);
    index_iterator_close(iterator);
    assert_int_equal(store_count(f->store, f->partition.space, bytes_from_string("n"),
                                 STORE_MAY_BLOCK, &sum, &sequence),
                     STORE_OK);
    assert_int_equal(sum, number);
    assert_int_equal(store_task_next(f->store, clock_now(), NULL, f->arena, &item, &due), STORE_OK);
    assert_int_equal(item.kind, number);
    assert_int_equal(store_task_next(f->store, clock_now(), &item, f->arena, &second, &due),
                     STORE_NOT_FOUND);
}

uint64_t numbers_check(struct fixture *f)
{
    uint64_t number = numbers_newest(f);
    struct read_view *snapshot;
    struct record record;
    const char *text;

    if (number == 0) {
        assert_int_equal(usage_now(f->store).piece_bytes, 0);
        return 0;
    }
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    text = get_text(snapshot, f->arena, "a");
    assert_string_equal(get_text(snapshot, f->arena, "s"), text);
    assert_int_equal(
        read_view_get(snapshot, RECORD_INNER, bytes_from_string("b"), f->arena, &record), STORE_OK);
    assert_true(bytes_is(record.value, text));
    assert_true(stream_matches(f->store, snapshot, "s", stream_length(number), number));
    read_view_close(snapshot);
    check_beside(f, number, text);
    assert_int_equal(usage_now(f->store).piece_bytes, stream_length(number));
    return number;
}
