/* Uncommitted blocks: counted, replaced, listed, dropped. rest: Put-Block; semantics 5 */
#include "blob/uncommitted.h"

#include "../content/fixture.h"

static void put(struct fixture *f, const char *id, struct bytes data, uint32_t piece_length,
                instant now)
{
    struct uncommitted total;
    struct body body;

    fixture_begin(f);
    assert_int_equal(uncommitted_read(f->before, f->arena, &total), STORE_OK);
    body = fixture_body(f, data, piece_length);
    if (total.count == 0)
        total.id_length = (uint32_t)strlen(id);
    assert_int_equal(uncommitted_put(f->before, f->changes, f->arena, &total, now,
                                     bytes_from_string(id), &body, bytes_of(NULL, 0)),
                     STORE_OK);
    fixture_commit(f);
}

static struct uncommitted total_of(struct fixture *f)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct uncommitted total;

    assert_int_equal(uncommitted_read(snapshot, f->arena, &total), STORE_OK);
    read_view_close(snapshot);
    return total;
}

/* The block as the change being made sees it. */
static enum store_result find(struct fixture *f, const char *id, struct content_block *ret_block)
{
    struct uncommitted total;

    assert_int_equal(uncommitted_read(f->before, f->arena, &total), STORE_OK);
    return uncommitted_find(f->before, f->arena, &total, bytes_from_string(id), ret_block);
}

/* Drops all but what `blocks` names. */
static void drop(struct fixture *f, const struct named_blocks *blocks)
{
    struct uncommitted total;
    bool more = false;

    assert_int_equal(uncommitted_read(f->before, f->arena, &total), STORE_OK);
    assert_int_equal(uncommitted_drop(f->before, f->changes, f->arena, &total, blocks, &more),
                     STORE_OK);
}

/* Where there are none, the total says 0 and the list is empty. rest: Put-Block */
static void none(void **state)
{
    struct fixture *f = *state;
    struct uncommitted total = total_of(f);
    struct content_block *blocks, block;
    size_t count;

    assert_int_equal(total.count, 0);
    fixture_begin(f);
    assert_int_equal(uncommitted_list(f->before, f->arena, &total, &blocks, &count), STORE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(find(f, "AAAA", &block), STORE_NOT_FOUND);
}

/* The total tells how many there are, how long their ids are (all are equal), and when the last one
 * came. rest: Put-Block, "Block IDs" */
static void total_is_kept(void **state)
{
    static const struct {
        const char *id;
        uint32_t id_length;
    } first[] = { { "AAAA", 4 }, { "AAAAAAAA", 8 } };

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
        drop(f, NULL);
        fixture_commit(f);
        assert_int_equal(total_of(f).count, 0);
        assert_int_equal(fixture_record_count(f), 0);
    }
}

static void expect_found(struct fixture *f, const char *id, struct bytes data)
{
    struct content_block block;
    struct content content;

    fixture_begin(f);
    assert_int_equal(find(f, id, &block), STORE_OK);
    assert_true(bytes_is(block.block_id, id));
    assert_int_equal(block.length, data.len);
    content = content_from_blocks(f->changes, clock_now(), &block, 1);
    fixture_commit(f);
    fixture_expect(f, &content, data);

    fixture_begin(f); /* its map alone: the run is still the uncommitted block's */
    content.has_runs = false;
    assert_int_equal(content_unref(f->before, f->changes, f->arena, &content, 1, &(bool){ 0 }),
                     STORE_OK);
    fixture_commit(f);
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
    struct uncommitted total;
    size_t count;

    for (size_t i = 0; i < 7; i++)
        put(f, sorted[order[i]], fixture_random_bytes(f, order[i] * 10), 0, i + 1);
    fixture_begin(f);
    total = total_of(f);
    assert_int_equal(uncommitted_list(f->before, f->arena, &total, &blocks, &count), STORE_OK);
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
    struct content_block blocks[2];
    struct named_blocks named = {
        .named = blocks, .named_count = 1, .staged = blocks, .staged_count = 2
    };
    struct content content;

    put(f, "AAAA", taken, 1500, 1);
    put(f, "BBBB", fixture_random_bytes(f, 9000), 9000, 2);
    fixture_begin(f);
    assert_int_equal(find(f, "AAAA", &blocks[0]), STORE_OK);
    assert_int_equal(find(f, "BBBB", &blocks[1]), STORE_OK);
    content = content_from_blocks(f->changes, clock_now(), &blocks[0], 1);
    drop(f, &named);
    fixture_commit(f);
    assert_int_equal(total_of(f).count, 0);
    fixture_expect(f, &content, taken);
    assert_int_equal(fixture_piece_bytes(f), 3000);
}

/* Many blocks are dropped step by step: what a list named stays, all else goes, whatever new blocks
 * are staged meanwhile. content.h */
static void many_are_dropped(void **state)
{
    for (int with_list = 0; with_list <= 1; with_list++) {
        struct fixture *f = *state;
        struct bytes data = fixture_random_bytes(f, 2000), got;
        struct named_blocks named = { .named_count = 0 };
        struct content content = { .id = 0 };
        struct content_block *blocks;
        struct uncommitted total;

        for (size_t i = 0; i < 300; i++)
            put(f, arena_string(f->arena, arena_printf(f->arena, "%08zu", i)),
                i % 3 == 0 ? bytes_of("inline", 6) : data, i % 3 == 0 ? 0 : 2000, 10 + i);
        fixture_begin(f);
        total = total_of(f);
        assert_int_equal(
            uncommitted_list(f->before, f->arena, &total, &blocks, &named.staged_count), STORE_OK);
        assert_int_equal(named.staged_count, 300);
        named.staged = blocks;
        named.named = blocks + 100;
        named.named_count = 51;
        if (with_list)
            content = content_from_blocks(f->changes, clock_now(), named.named, 51);
        drop(f, with_list ? &named : NULL);
        fixture_commit(f);
        assert_int_equal(total_of(f).count, 0);

        put(f, "00000100", data, 2000, 1000); /* an id of the old set */
        fixture_collect_all(f);
        expect_found(f, "00000100", data);
        assert_int_equal(fixture_piece_bytes(f), with_list ? 35 * 2000 : 2000);
        if (with_list) {
            assert_int_equal(fixture_read(f, &content, 0, content.length, 65536, &got), STORE_OK);
            assert_int_equal(got.len, content.length);
            fixture_begin(f);
            assert_int_equal(
                content_unref(f->before, f->changes, f->arena, &content, 1, &(bool){ false }),
                STORE_OK);
            fixture_commit(f);
        }
        fixture_begin(f);
        drop(f, NULL);
        fixture_commit(f);
        fixture_collect_all(f);
        assert_int_equal(fixture_record_count(f), 0);
        assert_int_equal(fixture_piece_bytes(f), 0);
    }
}

/* Blocks that are a week old are dropped by the Put Block that finds them: one with an id among
 * them starts anew. semantics 5 */
static void dropped_and_put_in_one_change(void **state)
{
    struct fixture *f = *state;
    struct uncommitted total = { .count = 0 };
    struct bytes data = fixture_random_bytes(f, 800);
    struct body body;

    put(f, "AAAA", fixture_random_bytes(f, 3000), 3000, 1);
    put(f, "BBBB", fixture_random_bytes(f, 3000), 3000, 2);
    fixture_begin(f);
    drop(f, NULL);
    body = fixture_body(f, data, 800);
    assert_int_equal(uncommitted_put(f->before, f->changes, f->arena, &total, 3,
                                     bytes_from_string("AAAA"), &body, bytes_of(NULL, 0)),
                     STORE_OK);
    fixture_commit(f);
    assert_int_equal(total_of(f).count, 1);
    expect_found(f, "AAAA", data);
    assert_int_equal(fixture_piece_bytes(f), 800);
}

/* What an exchange may hold, as http says it. */
#define EXCHANGE_ARENA_BYTES ((size_t)256 << 20)
/* What is copied into the log and the memtable while other commits wait. */
#define LARGEST_COMMIT_BYTES ((uint64_t)17 << 20)

static struct content_block full_block(struct arena *arena, size_t i, struct bytes data)
{
    return (struct content_block){
        .block_id = arena_printf(arena, "%088zu", i), /* as long as an id can be */
        .length = data.len,
        .inline_bytes = data,
    };
}

/* The longest list of committed blocks, all inline, is replaced by as long a one from the most
 * uncommitted blocks there can be, within the memory of one exchange and by a commit of a bounded
 * size. rest: Put-Block-List, "Remarks" */
static void largest_lists(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, BLOCK_INLINE_MAX);
    struct body body = { .length = data.len, .inline_bytes = data };
    struct content_block *blocks = arena_array(f->arena, CONTENT_BLOCKS_MAX, sizeof blocks[0]);
    struct arena *exchange = arena_new(EXCHANGE_ARENA_BYTES);
    struct named_blocks named = { .named_count = CONTENT_BLOCKS_MAX };
    struct content_block *committed, *uncommitted;
    struct uncommitted total = { .count = 0 };
    struct content old, new;
    size_t committed_count;
    bool more = false;

    fixture_begin(f);
    for (size_t i = 0; i < CONTENT_BLOCKS_MAX; i++)
        blocks[i] = full_block(f->arena, i, data);
    old = content_from_blocks(f->changes, 1, blocks, CONTENT_BLOCKS_MAX);
    for (size_t i = 0; i < UNCOMMITTED_BLOCKS_MAX; i++)
        assert_int_equal(uncommitted_put(f->before, f->changes, f->arena, &total, 1,
                                         full_block(f->arena, i, data).block_id, &body,
                                         bytes_of(NULL, 0)),
                         STORE_OK);
    fixture_commit(f);

    fixture_begin(f);
    f->changes = changes_new(exchange);
    assert_int_equal(content_blocks(f->before, exchange, &old, &committed, &committed_count),
                     STORE_OK);
    assert_int_equal(committed_count, CONTENT_BLOCKS_MAX);
    assert_int_equal(
        uncommitted_list(f->before, exchange, &total, &uncommitted, &named.staged_count), STORE_OK);
    assert_int_equal(named.staged_count, UNCOMMITTED_BLOCKS_MAX);
    named.staged = named.named = uncommitted;
    new = content_from_blocks(f->changes, 2, uncommitted, CONTENT_BLOCKS_MAX);
    assert_int_equal(content_replace(f->before, f->changes, exchange, &old, &new, uncommitted,
                                     CONTENT_BLOCKS_MAX, &more),
                     STORE_OK);
    assert_int_equal(uncommitted_drop(f->before, f->changes, exchange, &total, &named, &more),
                     STORE_OK);
    assert_true(more);
    assert_in_range(changes_bytes(f->changes), 1, LARGEST_COMMIT_BYTES);
    fixture_commit(f);
    arena_free(exchange);
    assert_int_equal(new.length, (uint64_t)CONTENT_BLOCKS_MAX * BLOCK_INLINE_MAX);
    assert_int_equal(total_of(f).count, 0);
}

static void write_raw(struct fixture *f, struct bytes key, struct bytes value)
{
    fixture_begin(f);
    changes_put(f->changes, RECORD_INNER, key, value, NULL, 0);
    fixture_commit(f);
}

/* Records that make no sense are said to be damaged, and are never believed. */
static void damaged_records(void **state)
{
    static const struct bytes totals[] = {
        BYTES(""),
        BYTES("\1"),
        BYTES("\1\1\1\1\1"),
        BYTES("\1\1\1\1\1\1"
              "0123456789abcde"), /* one byte less */
        BYTES("\1\1\1\1\1\1"
              "0123456789abcdef+"), /* one more */
        BYTES("\1\0\1\1\1\1"
              "0123456789abcdef"), /* no block */
        BYTES("\2\1\1\1\1\1"
              "0123456789abcdef"), /* another version */
    };
    static const struct bytes blocks[] = { BYTES(""),        BYTES("\1"),      BYTES("\1\0"),
                                           BYTES("\2\0\2x"), BYTES("\1\0\5x"), BYTES("\1\0\2xx"),
                                           BYTES("\1\5\0"),  BYTES("\1\0\0") };
    struct fixture *f = *state;
    struct content_block *all, block;
    struct uncommitted total;
    size_t count;

    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        write_raw(f, bytes_from_string("U"), totals[i]);
        fixture_begin(f);
        assert_int_equal(uncommitted_read(f->before, f->arena, &total), STORE_CORRUPT);
        fixture_commit(f);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        write_raw(f, bytes_of("v\0\0\0\0\0\0\0\1AAAA", 13), blocks[i]);
        fixture_begin(f);
        total = (struct uncommitted){ .count = 1, .set = 1 };
        assert_int_equal(
            uncommitted_find(f->before, f->arena, &total, bytes_from_string("AAAA"), &block),
            STORE_CORRUPT);
        assert_int_equal(uncommitted_list(f->before, f->arena, &total, &all, &count),
                         STORE_CORRUPT);
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
        cmocka_unit_test_setup_teardown(many_are_dropped, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(dropped_and_put_in_one_change, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(largest_lists, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(damaged_records, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
