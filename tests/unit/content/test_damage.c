/* Maps that are damaged or large: what a record says is never believed, and no segment is large.
 * segment.h */
#include "fixture.h"

#include "content/segment.h"

#define RECORDS_MAX 256

/* The records of the partition. */
struct records {
    struct record list[RECORDS_MAX];
    size_t count;
};

static void read_records(struct fixture *f, struct records *records)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct scan *scan = scan_open(snapshot, RECORD_INNER, bytes_of("", 0), bytes_of("", 0));

    records->count = 0;
    while (scan_next(scan, f->arena, &records->list[records->count]) == STORE_OK)
        assert_true(++records->count < RECORDS_MAX);
    scan_close(scan);
    read_view_close(snapshot);
}

/* Inline blocks in some segments, and a block in pieces. */
#define INLINE_BLOCKS (3 * SEGMENT_WEIGHT_MAX / BLOCK_INLINE_MAX)
#define SEGMENTS      4

static struct content commit_blocks(struct fixture *f)
{
    struct content_block blocks[INLINE_BLOCKS + 1];
    struct content content;

    fixture_begin(f);
    for (size_t i = 0; i < INLINE_BLOCKS; i++)
        blocks[i] = (struct content_block){
            .block_id = arena_printf(f->arena, "%08zu", i),
            .length = BLOCK_INLINE_MAX,
            .inline_bytes = fixture_random_bytes(f, BLOCK_INLINE_MAX),
        };
    blocks[INLINE_BLOCKS] =
        (struct content_block){ .block_id = bytes_from_string("AAAAAAAA"), .length = 3000 };
    blocks[INLINE_BLOCKS].pieces =
        fixture_pieces(f, fixture_random_bytes(f, 3000), 1000, &blocks[INLINE_BLOCKS].piece_count);
    content = content_from_blocks(f->changes, 7, blocks, INLINE_BLOCKS + 1);
    fixture_commit(f);
    return content;
}

static enum store_result list_blocks(struct fixture *f, const struct content *content)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct content_block *blocks;
    size_t count;
    enum store_result result = content_blocks(snapshot, f->arena, content, &blocks, &count);

    read_view_close(snapshot);
    return result;
}

/* Puts a segment's value in place of the one that is there; its pieces stay. */
static void overwrite(struct fixture *f, const struct record *record, struct bytes value)
{
    fixture_begin(f);
    changes_put(f->changes, RECORD_INNER, record->key, value, record->pieces, record->piece_count);
    changes_release(f->changes, record->pieces, record->piece_count);
    fixture_commit(f);
}

/* A value cut anywhere is damage, to the reader and to the block list. */
static void cut_values(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_blocks(f);
    struct records records;

    read_records(f, &records);
    assert_int_equal(records.count, SEGMENTS);
    for (size_t r = 0; r < records.count; r++) {
        struct bytes whole = records.list[r].value;

        for (size_t length = 0; length < whole.len; length += length < 40 ? 1 : 197) {
            struct arena_mark mark = arena_mark(f->arena);
            struct bytes got;

            overwrite(f, &records.list[r], bytes_of(whole.ptr, length));
            assert_int_equal(list_blocks(f, &content), STORE_CORRUPT);
            assert_int_equal(fixture_read(f, &content, 0, content.length, 65536, &got),
                             STORE_CORRUPT);
            arena_rewind(f->arena, mark);
        }
        overwrite(f, &records.list[r], whole);
        assert_int_equal(list_blocks(f, &content), STORE_OK);
    }
}

/* Bits that flip give damage or other bytes, never a read outside of the record or a length that
 * does not fit. */
static void flipped_bits(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_blocks(f);
    struct records records;

    read_records(f, &records);
    for (int round = 0; round < 3000; round++) {
        struct arena_mark mark = arena_mark(f->arena);
        const struct record *record = &records.list[fixture_random(f, records.count)];
        struct bytes changed = arena_copy(f->arena, record->value);
        size_t at = fixture_random(f, round % 2 == 0 ? 24 : changed.len);
        enum store_result result;
        struct bytes got;

        ((char *)(uintptr_t)changed.ptr)[at] ^= (char)(1 << fixture_random(f, 8));
        overwrite(f, record, changed);
        result = list_blocks(f, &content);
        assert_true(result == STORE_OK || result == STORE_CORRUPT);
        result = fixture_read(f, &content, 0, content.length, 65536, &got);
        assert_true(result == STORE_OK || result == STORE_CORRUPT);
        overwrite(f, record, record->value);
        arena_rewind(f->arena, mark);
    }
}

/* A segment that is missing is damage where it would be, and is read up to there. What is left of
 * the map can still be deleted. */
static void missing_segments(void **state)
{
    struct fixture *f = *state;

    for (size_t missing = 0; missing < SEGMENTS; missing++) {
        struct content content = commit_blocks(f);
        struct records records;
        struct bytes got;
        bool more = false;

        read_records(f, &records);
        fixture_begin(f);
        changes_delete(f->changes, RECORD_INNER, records.list[missing].key);
        changes_release(f->changes, records.list[missing].pieces,
                        records.list[missing].piece_count);
        fixture_commit(f);
        assert_int_equal(list_blocks(f, &content), STORE_CORRUPT);
        assert_int_equal(fixture_read(f, &content, 0, content.length, 100, &got), STORE_CORRUPT);
        assert_int_equal(got.len > 0, missing > 0);

        fixture_begin(f);
        assert_int_equal(content_unref(f->before, f->changes, f->arena, &content, 1, &more),
                         STORE_OK);
        fixture_commit(f);
        read_records(f, &records);
        assert_int_equal(records.count, 0);
        assert_int_equal(fixture_piece_bytes(f), 0);
    }
}

/* A blob's record that does not fit its map: other length, other number of blocks. */
static void other_content(void **state)
{
    struct fixture *f = *state;
    struct content content = commit_blocks(f), wrong;
    struct bytes got;

    wrong = content;
    wrong.length++;
    assert_int_equal(list_blocks(f, &wrong), STORE_CORRUPT);
    assert_int_equal(fixture_read(f, &wrong, 0, wrong.length, 65536, &got), STORE_CORRUPT);
    wrong = content;
    wrong.length--;
    assert_int_equal(list_blocks(f, &wrong), STORE_CORRUPT);
    assert_int_equal(fixture_read(f, &wrong, 0, wrong.length, 65536, &got), STORE_CORRUPT);
    wrong = content;
    wrong.block_count++;
    assert_int_equal(list_blocks(f, &wrong), STORE_CORRUPT);
    wrong.block_count = INLINE_BLOCKS;
    assert_int_equal(list_blocks(f, &wrong), STORE_CORRUPT);
    wrong.block_count = UINT32_MAX;
    assert_int_equal(list_blocks(f, &wrong), STORE_CORRUPT);
    wrong = content;
    wrong.id++;
    assert_int_equal(list_blocks(f, &wrong), STORE_CORRUPT);
    assert_int_equal(fixture_read(f, &wrong, 0, wrong.length, 65536, &got), STORE_CORRUPT);
}

/* The number of holders is believed only when it is one that would have been written. */
static void damaged_holders(void **state)
{
    static const struct bytes values[] = { BYTES(""),
                                           BYTES("\1"),
                                           BYTES("\1\0"),
                                           BYTES("\1\1"),
                                           BYTES("\1\2\0"),
                                           BYTES("\2\2"),
                                           BYTES("\1\377\377\377\377\377\377\377\377\377\1") };
    struct fixture *f = *state;
    struct content content = commit_blocks(f);
    bool more = false;

    content.is_alone = false; /* else nobody asks */
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        fixture_begin(f);
        changes_put(f->changes, RECORD_INNER, bytes_of("r\0\0\0\0\0\0\0\7", 9), values[i], NULL, 0);
        fixture_commit(f);
        fixture_begin(f);
        assert_int_equal(content_ref(f->before, f->changes, f->arena, &content, 1), STORE_CORRUPT);
        assert_int_equal(content_unref(f->before, f->changes, f->arena, &content, 1, &more),
                         STORE_CORRUPT);
        assert_true(changes_empty(f->changes));
        fixture_commit(f);
    }
    fixture_begin(f);
    changes_delete(f->changes, RECORD_INNER, bytes_of("r\0\0\0\0\0\0\0\7", 9));
    fixture_commit(f);
    fixture_begin(f); /* more than hold it */
    assert_int_equal(content_unref(f->before, f->changes, f->arena, &content, 2, &more),
                     STORE_CORRUPT);
}

/* ---- segments of large contents, as they are written: changes_put() is wrapped ---- */

static struct {
    bool on;
    struct arena *arena;
    struct records records;
} captured;

void __real_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count);
void __wrap_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count);

void __wrap_changes_put(struct changes *changes, enum record_family family, struct bytes key,
                        struct bytes value, const struct piece *pieces, size_t piece_count)
{
    struct piece *copy;

    if (!captured.on) {
        __real_changes_put(changes, family, key, value, pieces, piece_count);
        return;
    }
    assert_true(captured.records.count < RECORDS_MAX);
    copy = arena_array(captured.arena, piece_count, sizeof copy[0]);
    memcpy(copy, pieces, piece_count * sizeof copy[0]);
    captured.records.list[captured.records.count++] =
        (struct record){ .key = arena_copy(captured.arena, key),
                         .value = arena_copy(captured.arena, value),
                         .pieces = copy,
                         .piece_count = piece_count };
}

/* Bytes of a record in the store, about. */
static size_t weight(const struct record *record)
{
    size_t bytes = record->value.len;

    for (size_t i = 0; i < record->piece_count; i++)
        bytes += 16 + 4 * (size_t)piece_sectors(&record->pieces[i]);
    return bytes;
}

/* Blocks of 4,000 MiB in pieces of 4 MiB are cut into segments of bounded size that follow each
 * other. segment invariants 1 and 2; rest: Put-Block, "Remarks" */
static void segments_are_bounded(void **state)
{
    static const uint32_t crc[PIECE_SECTORS_MAX] = { 1 };
    struct fixture *f = *state;
    struct piece *pieces = arena_array(f->arena, 1000, sizeof pieces[0]);
    struct content_block blocks[3] = { { .length = 0 } };
    uint64_t at = 0, entries = 0;
    struct content content;

    for (size_t i = 0; i < 1000; i++)
        pieces[i] = (struct piece){ .extent = (uint32_t)(i / 250),
                                    .length = PIECE_MAX_BYTES,
                                    .offset = (uint64_t)(i % 250) * PIECE_MAX_BYTES,
                                    .sector_crc = crc };
    for (size_t i = 0; i < 3; i++)
        blocks[i] = (struct content_block){ .block_id = bytes_from_string("AAAA"),
                                            .length = 1000ull * PIECE_MAX_BYTES,
                                            .pieces = pieces,
                                            .piece_count = 1000 };
    fixture_begin(f);
    captured.arena = f->arena;
    captured.on = true;
    content = content_from_blocks(f->changes, 7, blocks, 3);
    captured.on = false;

    for (size_t r = 0; r < captured.records.count; r++) {
        struct segment segment;

        assert_true(weight(&captured.records.list[r]) <= SEGMENT_WEIGHT_MAX + 512);
        assert_int_equal(segment_decode(&captured.records.list[r], f->arena, &segment), STORE_OK);
        assert_int_equal(segment.start, at);
        at = segment.end;
        for (size_t i = 0; i < segment.entry_count; i++)
            entries += segment.entries[i].kind == ENTRY_PIECES;
    }
    assert_int_equal(at, 3000ull * PIECE_MAX_BYTES);
    assert_int_equal(at, content.length);
    assert_int_equal(entries, 3);
    assert_true(captured.records.count > 40 && captured.records.count < 70);
}

/* A content whose record says that it was changed later than now is damage to what changes it, and
 * nothing is changed. */
static void changed_later_than_now(void **state)
{
    struct fixture *f = *state;
    struct content content = content_sparse(5, 1 << 20), before;
    struct content_range range = { 0, 512, .is_hole = false };
    bool more = false;
    struct body body;

    content.stamp = 1000;
    before = content;
    fixture_begin(f);
    body = fixture_body(f, fixture_random_bytes(f, 512), 0);
    assert_int_equal(content_write(f->before, f->changes, f->arena, &content, 1000, 0, &body),
                     STORE_CORRUPT);
    assert_int_equal(content_clear(f->before, f->changes, f->arena, &content, 999, 0, 512, &more),
                     STORE_CORRUPT);
    assert_int_equal(content_resize(f->before, f->changes, f->arena, &content, 999, 512, &more),
                     STORE_CORRUPT);
    assert_int_equal(content_write_ranges(f->before, f->changes, &content, 999, &body, &range, 1),
                     STORE_CORRUPT);
    assert_false(more);
    assert_memory_equal(&content, &before, sizeof content);
    assert_int_equal(content_write(f->before, f->changes, f->arena, &content, 1001, 0, &body),
                     STORE_OK);
    fixture_commit(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cut_values, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(flipped_bits, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(missing_segments, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(other_content, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(damaged_holders, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(segments_are_bounded, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(changed_later_than_now, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
