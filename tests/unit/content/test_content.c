/* Contents on a store in memory, against a plain buffer: whatever blocks they are made of, whatever
 * range is read, whoever shares them. design 5; rest: Put-Block-List, Snapshot-Blob */
#include "fixture.h"

#include <stdio.h>

/* Blocks, and the same bytes one after the other. */
struct sample {
    struct content_block *blocks;
    size_t count;
    struct bytes bytes;
};

static struct bytes block_id(struct fixture *f, size_t i)
{
    return arena_printf(f->arena, "%08zu", i * 7919 % 100000000);
}

/* piece_length 0: inline. */
static void add_block(struct fixture *f, struct sample *sample, struct text *bytes, size_t length,
                      uint32_t piece_length)
{
    struct bytes data = fixture_random_bytes(f, length);
    struct body body = fixture_body(f, data, piece_length);

    sample->blocks[sample->count] = (struct content_block){
        .block_id = block_id(f, sample->count),
        .length = length,
        .inline_bytes = body.inline_bytes,
        .pieces = body.pieces,
        .piece_count = body.piece_count,
    };
    sample->count++;
    text_add(bytes, data);
}

static struct sample random_sample(struct fixture *f)
{
    size_t count = 1 + fixture_random(f, fixture_random(f, 4) == 0 ? 600 : 8);
    struct sample sample = { .blocks = arena_array(f->arena, count, sizeof sample.blocks[0]) };
    struct text bytes;

    text_init(&bytes, f->arena, 0);
    while (sample.count < count) {
        uint64_t form = fixture_random(f, 8);
        bool many = form == 0 && f->stage_count < 2000;

        if (many) /* a block that crosses segments */
            add_block(f, &sample, &bytes, 600 + fixture_random(f, 600), 1);
        else if (form == 1 && count < 20)
            add_block(f, &sample, &bytes, 1 + fixture_random(f, 300000), 70000);
        else if (form == 2 && f->stage_count < 3000)
            add_block(f, &sample, &bytes, 1 + fixture_random(f, 3000), 1000);
        else
            add_block(f, &sample, &bytes, fixture_random(f, BLOCK_INLINE_MAX + 1), 0);
    }
    sample.bytes = text_bytes(&bytes);
    return sample;
}

static struct content commit_sample(struct fixture *f, const struct sample *sample)
{
    struct content content =
        content_from_blocks(f->changes, clock_now(), sample->blocks, sample->count);

    fixture_commit(f);
    assert_int_equal(content.block_count, sample->count);
    assert_int_equal(content.length, sample->bytes.len);
    return content;
}

/* All blocks with their pieces. */
static struct content_block *read_blocks(struct fixture *f, struct read_view *snapshot,
                                         const struct content *content, size_t *ret_count)
{
    struct content_block *blocks;
    bool *wanted;

    assert_int_equal(content_blocks(snapshot, f->arena, content, &blocks, ret_count), STORE_OK);
    wanted = arena_array(f->arena, *ret_count, sizeof *wanted);
    for (size_t i = 0; i < *ret_count; i++)
        wanted[i] = blocks[i].piece_count > 0;
    assert_int_equal(content_block_pieces(snapshot, f->arena, content, blocks, wanted), STORE_OK);
    return blocks;
}

static void expect_blocks(struct fixture *f, const struct content *content,
                          const struct sample *sample)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    size_t count = 0;
    struct content_block *blocks = read_blocks(f, snapshot, content, &count);

    assert_int_equal(count, sample->count);
    for (size_t i = 0; i < count; i++) {
        const struct content_block *was = &sample->blocks[i];

        assert_true(bytes_equal(blocks[i].block_id, was->block_id));
        assert_int_equal(blocks[i].length, was->length);
        assert_true(bytes_equal(blocks[i].inline_bytes, was->inline_bytes));
        assert_int_equal(blocks[i].piece_count, was->piece_count);
        for (size_t p = 0; p < was->piece_count; p++) {
            assert_int_equal(blocks[i].pieces[p].offset, was->pieces[p].offset);
            assert_int_equal(blocks[i].pieces[p].length, was->pieces[p].length);
        }
    }
    read_view_close(snapshot);
}

static void give_up(struct fixture *f, const struct content *content, uint32_t holders)
{
    bool more = false;

    fixture_begin(f);
    assert_int_equal(content_unref(f->before, f->changes, f->arena, content, holders, &more),
                     STORE_OK);
    fixture_commit(f);
    fixture_collect_all(f);
}

/* A blob reads as the bytes of its blocks one after the other, over any range, and its block list
 * is the one committed; deleting it leaves nothing. rest: Put-Block-List, Get-Block-List */
static void random_block_lists(void **state)
{
    struct fixture *f = *state;

    for (int round = 0; round < 60; round++) {
        struct arena_mark mark = arena_mark(f->arena);
        struct sample sample;
        struct content content;

        fixture_begin(f);
        sample = random_sample(f);
        content = commit_sample(f, &sample);
        fixture_expect(f, &content, sample.bytes);
        expect_blocks(f, &content, &sample);
        give_up(f, &content, 1);
        assert_int_equal(fixture_record_count(f), 0);
        assert_int_equal(fixture_piece_bytes(f), 0);
        arena_rewind(f->arena, mark);
    }
}

static struct content commit_body(struct fixture *f, struct bytes data, uint32_t piece_length)
{
    struct content content;
    struct body body;

    fixture_begin(f);
    body = fixture_body(f, data, piece_length);
    content = content_from_body(f->changes, clock_now(), &body);
    fixture_commit(f);
    assert_int_equal(content.block_count, 0);
    return content;
}

/* A blob of one body reads as that body, inline or in pieces, and has no committed blocks.
 * rest: Put-Blob, Get-Block-List */
static void bodies(void **state)
{
    static const struct {
        size_t length;
        uint32_t piece_length;
    } cases[] = {
        { 1, 0 },         { 1024, 0 },      { SEGMENT_ONLY_MAX, 0 }, { 1, 1 },     { 16385, 16385 },
        { 65536, 65536 }, { 65537, 65537 }, { 9000000, 4194304 },    { 20000, 5 },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes data = fixture_random_bytes(f, cases[i].length);
        struct content content = commit_body(f, data, cases[i].piece_length);
        struct sample none = { .count = 0 };

        fixture_expect(f, &content, data);
        expect_blocks(f, &content, &none);
        give_up(f, &content, 1);
        assert_int_equal(fixture_record_count(f), 0);
        assert_int_equal(fixture_piece_bytes(f), 0);
    }
}

/* An empty blob has no content records at all. rest: Put-Blob */
static void empty_contents(void **state)
{
    struct fixture *f = *state;
    struct body body = { .length = 0 };
    struct content content;
    bool more = false;

    fixture_begin(f);
    content = content_from_body(f->changes, 1, &body);
    assert_int_equal(content.id, 0);
    content = content_from_blocks(f->changes, 1, NULL, 0);
    assert_int_equal(content.id, 0);
    assert_int_equal(content_ref(f->before, f->changes, f->arena, &content, 1), STORE_OK);
    assert_int_equal(content_unref(f->before, f->changes, f->arena, &content, 2, &more), STORE_OK);
    assert_true(changes_empty(f->changes));
}

/* Blocks of no bytes, wherever they stand, keep their place in the list and take none in the
 * content; no segment is lost to another of the same end. segment invariant 3 */
static void blocks_of_no_bytes(void **state)
{
    struct fixture *f = *state;

    for (size_t full = 0; full <= 40; full++) {
        struct sample sample = { .blocks = arena_array(f->arena, 200, sizeof sample.blocks[0]) };
        struct content content;
        struct text bytes;

        text_init(&bytes, f->arena, 0);
        fixture_begin(f);
        for (size_t i = 0; i < 10; i++)
            add_block(f, &sample, &bytes, 0, 0);
        for (size_t i = 0; i < full; i++) /* more than one segment */
            add_block(f, &sample, &bytes, BLOCK_INLINE_MAX, 0);
        for (size_t i = 0; i < 100; i++)
            add_block(f, &sample, &bytes, 0, 0);
        sample.bytes = text_bytes(&bytes);
        content = commit_sample(f, &sample);
        fixture_expect(f, &content, sample.bytes);
        expect_blocks(f, &content, &sample);
        give_up(f, &content, 1);
        assert_int_equal(fixture_record_count(f), 0);
    }
}

static void hold(struct fixture *f, struct content *content)
{
    fixture_begin(f);
    assert_int_equal(content_ref(f->before, f->changes, f->arena, content, 1), STORE_OK);
    fixture_commit(f);
}

/* A snapshot shares the bytes of its base: they go when the last of them goes, not before.
 * rest: Snapshot-Blob, Delete-Blob */
static void sharing(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 100000);
    struct content content = commit_body(f, data, 100000);

    hold(f, &content);
    hold(f, &content);
    hold(f, &content); /* base and three snapshots */
    give_up(f, &content, 1);
    fixture_expect(f, &content, data);
    assert_int_equal(fixture_piece_bytes(f), data.len);
    give_up(f, &content, 2);
    fixture_expect(f, &content, data);
    assert_int_equal(fixture_record_count(f), 1); /* no count for one holder */
    assert_int_equal(fixture_piece_bytes(f), data.len);
    give_up(f, &content, 1);
    assert_int_equal(fixture_record_count(f), 0);
    assert_int_equal(fixture_piece_bytes(f), 0);
}

/* Base and all snapshots deleted in one change leave nothing. rest: Delete-Blob,
 * x-ms-delete-snapshots: include */
static void all_holders_at_once(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_body(f, fixture_random_bytes(f, 5000), 1000);

    hold(f, &content);
    hold(f, &content);
    give_up(f, &content, 3);
    assert_int_equal(fixture_record_count(f), 0);
    assert_int_equal(fixture_piece_bytes(f), 0);
}

/* Appends a body like a flush of the Data Lake endpoint, which moves staged bytes to the content. */
static void append_staged(struct fixture *f, struct content *content, size_t length,
                          uint32_t piece_length)
{
    struct bytes data = fixture_random_bytes(f, length);
    struct body body = fixture_body(f, data, piece_length);
    struct content_block block;

    fixture_begin(f);
    block = content_block_from_body(f->changes, clock_now(), &body);
    content_append_blocks(f->changes, clock_now(), content, &block, 1);
    fixture_commit(f);
}

/* The last holder deletes everything that was appended since it began to share the content, also runs, of which the
 * content had none then. rest: Path-Update "flush", Snapshot-Blob */
static void appended_after_sharing(void **state)
{
    struct fixture *f = *state;
    struct content base = { .id = 0 }, snapshot;

    append_staged(f, &base, 22, 0);
    content_expect_runs(&base);
    hold(f, &base);
    snapshot = base;
    append_staged(f, &base, 19000, 4000);
    assert_true(base.has_runs);
    give_up(f, &base, 1);
    assert_int_equal(fixture_piece_bytes(f), 19000);
    give_up(f, &snapshot, 1);
    assert_int_equal(fixture_record_count(f), 0);
    assert_int_equal(fixture_piece_bytes(f), 0);
}

/* A block that the new list takes over from the old content keeps its piece; what is not taken over
 * is freed. rest: Put-Block-List, "Committed" */
static void blocks_taken_over(void **state)
{
    struct fixture *f = *state;
    struct sample sample = { .blocks = arena_array(f->arena, 3, sizeof sample.blocks[0]) };
    struct content old, new;
    struct text bytes;
    struct content_block *blocks;
    bool more = false;
    size_t count;

    text_init(&bytes, f->arena, 0);
    fixture_begin(f);
    add_block(f, &sample, &bytes, 3000, 3000);
    add_block(f, &sample, &bytes, 200, 0);
    add_block(f, &sample, &bytes, 5000, 2500);
    sample.bytes = text_bytes(&bytes);
    old = commit_sample(f, &sample);

    fixture_begin(f);
    blocks = read_blocks(f, f->before, &old, &count);
    new = content_from_blocks(f->changes, clock_now(), blocks + 1, 2);
    assert_int_equal(content_unref(f->before, f->changes, f->arena, &old, 1, &more), STORE_OK);
    fixture_commit(f);
    fixture_expect(f, &new, bytes_from(sample.bytes, 3000));
    assert_int_equal(fixture_piece_bytes(f), 5000);
}

/* Who began to read goes on reading the same bytes, whatever becomes of the blob meanwhile.
 * design 1, promise 4 */
static void reading_while_overwritten(void **state)
{
    struct fixture *f = *state;
    struct bytes data = fixture_random_bytes(f, 300000);
    struct content content = commit_body(f, data, 100000);
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct content_reader *reader =
        content_reader_open(f->store, snapshot, f->arena, &content, 0, data.len);
    char *bytes = arena_bytes(f->arena, data.len);
    size_t got = 0, count = 0;

    assert_int_equal(content_reader_read(reader, bytes, 1000, NULL, &count), STORE_OK);
    got += count;
    give_up(f, &content, 1);
    commit_body(f, fixture_random_bytes(f, 300000), 100000);
    while (got < data.len) {
        assert_int_equal(content_reader_read(reader, bytes + got, data.len - got, NULL, &count),
                         STORE_OK);
        got += count;
    }
    assert_int_equal(content_reader_read(reader, bytes, 1, NULL, &count), STORE_OK);
    assert_int_equal(count, 0);
    assert_memory_equal(bytes, data.ptr, data.len);
    content_reader_close(reader);
    assert_int_equal(fixture_piece_bytes(f), 300000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_block_lists, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(bodies, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(empty_contents, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(blocks_of_no_bytes, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(sharing, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(all_holders_at_once, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(appended_after_sharing, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(blocks_taken_over, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(reading_while_overwritten, fixture_set_up,
                                        fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
