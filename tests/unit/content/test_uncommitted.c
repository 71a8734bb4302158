/* Uncommitted blocks: counted, replaced, listed, dropped. rest: Put-Block; semantics 5 */
#include "fixture.h"

static void put(struct fixture *f, const char *id, struct bytes data, uint32_t piece_length,
                instant now)
{
    struct uncommitted total;
    struct body body;

    fixture_begin(f);
    assert_int_equal(uncommitted_read(f->before, f->arena, &total), STORE_OK);
    body = fixture_body(f, data, piece_length);
    assert_int_equal(
        uncommitted_put(f->before, f->changes, f->arena, &total, now, bytes_from_string(id), &body),
        STORE_OK);
    fixture_commit(f);
}

static struct uncommitted total_of(struct fixture *f)
{
    struct snapshot *snapshot = snapshot_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct uncommitted total;

    assert_int_equal(uncommitted_read(snapshot, f->arena, &total), STORE_OK);
    snapshot_close(snapshot);
    return total;
}

/* Where there are none, the total says 0 and the list is empty. rest: Put-Block */
static void none(void **state)
{
    struct fixture *f = *state;
    struct content_block *blocks, block;
    size_t count;

    assert_int_equal(total_of(f).count, 0);
    fixture_begin(f);
    assert_int_equal(uncommitted_list(f->before, f->arena, &blocks, &count), STORE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(uncommitted_find(f->before, f->arena, bytes_from_string("AAAA"), &block),
                     STORE_NOT_FOUND);
}

/* The total tells how many there are, how long their ids are once decoded (all are equal), and when
 * the last one came. rest: Put-Block, "Block IDs" */
static void total_is_kept(void **state)
{
    static const struct {
        const char *id;
        uint32_t id_length;
    } first[] = { { "AAAA", 3 }, { "AAA=", 2 }, { "AA==", 1 }, { "AAAAAAAA", 6 } };

    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        struct fixture *f = *state;

        put(f, first[i].id, bytes_from_string("one"), 0, 1000 + i);
        assert_int_equal(total_of(f).count, 1);
        assert_int_equal(total_of(f).id_length, first[i].id_length);
        assert_int_equal(total_of(f).last_put, 1000 + i);
        put(f, "BBBB", bytes_from_string("two"), 0, 2000 + i);
        assert_int_equal(total_of(f).count, 2);
        assert_int_equal(total_of(f).id_length, first[i].id_length);
        assert_int_equal(total_of(f).last_put, 2000 + i);
        fixture_begin(f);
        assert_int_equal(uncommitted_clear(f->before, f->changes, f->arena), STORE_OK);
        fixture_commit(f);
        assert_int_equal(total_of(f).count, 0);
    }
}

static void expect_found(struct fixture *f, const char *id, struct bytes data)
{
    struct snapshot *snapshot = snapshot_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct content_block block;
    char *bytes = arena_bytes(f->arena, data.len);
    size_t at = 0;

    assert_int_equal(uncommitted_find(snapshot, f->arena, bytes_from_string(id), &block), STORE_OK);
    assert_true(bytes_is(block.block_id, id));
    assert_int_equal(block.length, data.len);
    if (block.piece_count == 0)
        assert_true(bytes_equal(block.inline_bytes, data));
    for (size_t i = 0; i < block.piece_count; i++) {
        assert_int_equal(
            piece_read(f->store, &block.pieces[i], 0, block.pieces[i].length, bytes + at, NULL),
            STORE_OK);
        at += block.pieces[i].length;
    }
    assert_memory_equal(block.piece_count > 0 ? bytes : data.ptr, data.ptr, data.len);
    snapshot_close(snapshot);
}

/* The same id again: the last one wins, counts once, and the bytes of the one before are freed.
 * rest: Put-Block, "Remarks" */
static void last_one_wins(void **state)
{
    struct fixture *f = *state;
    struct bytes old = fixture_random_bytes(f, 3000), new = fixture_random_bytes(f, 2000);

    put(f, "AAAA", old, 1000, 1);
    expect_found(f, "AAAA", old);
    put(f, "AAAA", new, 700, 2);
    expect_found(f, "AAAA", new);
    assert_int_equal(total_of(f).count, 1);
    assert_int_equal(fixture_piece_bytes(f), 2000);
    put(f, "AAAA", bytes_from_string("small"), 0, 3);
    expect_found(f, "AAAA", bytes_from_string("small"));
    assert_int_equal(fixture_piece_bytes(f), 0);
    put(f, "AAAA", bytes_of(NULL, 0), 0, 4);
    expect_found(f, "AAAA", bytes_of("", 0));
    assert_int_equal(total_of(f).count, 1);
}

/* Get Block List gives uncommitted blocks in alphabetical order, whatever order they came in.
 * rest: Get-Block-List */
static void listed_in_order(void **state)
{
    static const char *const sorted[] = { "+AAA", "/AAA", "0AAA", "AAAA", "AAAB", "ZZZZ", "aaaa" };
    static const size_t order[] = { 4, 6, 0, 3, 5, 2, 1 };
    struct fixture *f = *state;
    struct content_block *blocks;
    size_t count;

    for (size_t i = 0; i < 7; i++)
        put(f, sorted[order[i]], fixture_random_bytes(f, order[i] * 10), 0, i);
    fixture_begin(f);
    assert_int_equal(uncommitted_list(f->before, f->arena, &blocks, &count), STORE_OK);
    assert_int_equal(count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_true(bytes_is(blocks[i].block_id, sorted[i]));
        assert_int_equal(blocks[i].length, i * 10);
    }
}

/* Put Block List takes some of the blocks and drops the others: the pieces of those it took stay.
 * rest: Put-Block-List, "Remarks" */
static void committed_and_dropped(void **state)
{
    struct fixture *f = *state;
    struct bytes taken = fixture_random_bytes(f, 3000);
    struct content_block block;
    struct content content;

    put(f, "AAAA", taken, 1500, 1);
    put(f, "BBBB", fixture_random_bytes(f, 9000), 9000, 2);
    fixture_begin(f);
    assert_int_equal(uncommitted_find(f->before, f->arena, bytes_from_string("AAAA"), &block),
                     STORE_OK);
    content = content_from_blocks(f->changes, clock_now(), &block, 1);
    assert_int_equal(uncommitted_clear(f->before, f->changes, f->arena), STORE_OK);
    fixture_commit(f);
    assert_int_equal(total_of(f).count, 0);
    fixture_expect(f, &content, taken);
    assert_int_equal(fixture_piece_bytes(f), 3000);
}

/* Blocks that are a week old are dropped by the Put Block that finds them: one with an id among
 * them starts anew. semantics 5 */
static void cleared_and_put_in_one_change(void **state)
{
    struct fixture *f = *state;
    struct uncommitted total = { .count = 0 };
    struct bytes data = fixture_random_bytes(f, 800);
    struct body body;

    put(f, "AAAA", fixture_random_bytes(f, 3000), 3000, 1);
    put(f, "BBBB", fixture_random_bytes(f, 3000), 3000, 2);
    fixture_begin(f);
    assert_int_equal(uncommitted_clear(f->before, f->changes, f->arena), STORE_OK);
    body = fixture_body(f, data, 800);
    assert_int_equal(uncommitted_put(f->before, f->changes, f->arena, &total, 3,
                                     bytes_from_string("AAAA"), &body),
                     STORE_OK);
    fixture_commit(f);
    assert_int_equal(total_of(f).count, 1);
    expect_found(f, "AAAA", data);
    assert_int_equal(fixture_piece_bytes(f), 800);
}

/* What an exchange may hold, as http says it. */
#define EXCHANGE_ARENA_BYTES ((size_t)256 << 20)

static struct content_block full_block(struct arena *arena, size_t i, struct bytes data)
{
    return (struct content_block){
        .block_id = arena_printf(arena, "%088zu", i), /* as long as an id can be */
        .length = data.len,
        .inline_bytes = data,
    };
}

/* The longest list of committed blocks, all inline, is replaced by as long a one from the most
 * uncommitted blocks there can be, within the memory of one exchange. rest: Put-Block-List,
 * "Remarks" */
static void largest_lists(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, BLOCK_INLINE_MAX);
    struct body body = { .length = data.len, .inline_bytes = data };
    struct content_block *blocks = arena_array(f->arena, CONTENT_BLOCKS_MAX, sizeof blocks[0]);
    struct arena *exchange = arena_new(EXCHANGE_ARENA_BYTES);
    struct content_block *committed, *uncommitted;
    size_t committed_count, uncommitted_count;
    struct uncommitted total = { .count = 0 };
    struct content old, new;

    fixture_begin(f);
    for (size_t i = 0; i < CONTENT_BLOCKS_MAX; i++)
        blocks[i] = full_block(f->arena, i, data);
    old = content_from_blocks(f->changes, 1, blocks, CONTENT_BLOCKS_MAX);
    for (size_t i = 0; i < UNCOMMITTED_BLOCKS_MAX; i++)
        assert_int_equal(uncommitted_put(f->before, f->changes, f->arena, &total, 1,
                                         full_block(f->arena, i, data).block_id, &body),
                         STORE_OK);
    fixture_commit(f);

    fixture_begin(f);
    f->changes = changes_new(exchange);
    assert_int_equal(content_blocks(f->before, exchange, &old, &committed, &committed_count),
                     STORE_OK);
    assert_int_equal(committed_count, CONTENT_BLOCKS_MAX);
    assert_int_equal(uncommitted_list(f->before, exchange, &uncommitted, &uncommitted_count),
                     STORE_OK);
    assert_int_equal(uncommitted_count, UNCOMMITTED_BLOCKS_MAX);
    new = content_from_blocks(f->changes, 2, uncommitted, CONTENT_BLOCKS_MAX);
    assert_int_equal(content_give_up(f->before, f->changes, exchange, &old, 1), STORE_OK);
    assert_int_equal(uncommitted_clear(f->before, f->changes, exchange), STORE_OK);
    fixture_commit(f);
    arena_free(exchange);
    assert_int_equal(new.length, (uint64_t)CONTENT_BLOCKS_MAX * BLOCK_INLINE_MAX);
    assert_int_equal(total_of(f).count, 0);
}

static void write_raw(struct fixture *f, const char *key, struct bytes value)
{
    fixture_begin(f);
    changes_put(f->changes, RECORD_INNER, bytes_from_string(key), value, NULL, 0);
    fixture_commit(f);
}

/* Records that make no sense are said to be damaged, and are never believed. */
static void damaged_records(void **state)
{
    static const struct bytes totals[] = {
        BYTES(""),         BYTES("\1"),       BYTES("\1\1\1"),
        BYTES("\2\1\1\1"), BYTES("\1\0\1\1"), BYTES("\1\1\1\1\1")
    };
    static const struct bytes blocks[] = { BYTES(""),      BYTES("\1"),    BYTES("\1\0"),
                                           BYTES("\2\2x"), BYTES("\1\5x"), BYTES("\1\2xx") };
    struct fixture *f = *state;
    struct content_block *all, block;
    struct uncommitted total;
    size_t count;

    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        write_raw(f, "U", totals[i]);
        fixture_begin(f);
        assert_int_equal(uncommitted_read(f->before, f->arena, &total), STORE_CORRUPT);
        fixture_commit(f);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        write_raw(f, "uAAAA", blocks[i]);
        fixture_begin(f);
        assert_int_equal(uncommitted_find(f->before, f->arena, bytes_from_string("AAAA"), &block),
                         STORE_CORRUPT);
        assert_int_equal(uncommitted_list(f->before, f->arena, &all, &count), STORE_CORRUPT);
        fixture_commit(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(none, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(total_is_kept, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(last_one_wins, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(listed_in_order, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(committed_and_dropped, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(cleared_and_put_in_one_change, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(largest_lists, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(damaged_records, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
