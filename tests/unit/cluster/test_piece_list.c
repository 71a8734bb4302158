/* Lists of pieces: cluster/piece_list.h. A list is read as it was written, and nothing else is valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster/piece_list.h"

#define SECTOR LISTED_SECTOR_BYTES

static const uint32_t sums[LISTED_PIECE_BYTES / SECTOR] = { 0x01020304, 0xfffefdfc, 7 };

static int new_arena(void **state)
{
    *state = arena_new(16 << 20);
    return 0;
}

static int free_arena(void **state)
{
    arena_free(*state);
    return 0;
}

static struct text begin(struct arena *arena)
{
    struct text list;

    text_init(&list, arena, 64);
    piece_list_start(&list);
    return list;
}

static struct bytes of_piece(struct arena *arena, struct listed piece)
{
    struct text list = begin(arena);

    piece_list_add_piece(&list, &piece, sums);
    return text_bytes(&list);
}

static const struct listed sample = {
    .extent = 9, .offset = 4096, .length = 2 * SECTOR + 5, .skip = 10, .take = 2 * SECTOR - 10 + 1
};

static void read_as_written(void **state)
{
    struct text list = begin(*state);
    struct listed piece = sample, listed;
    struct decoder in;
    uint64_t length = piece.take + 70000 + 5;

    piece_list_add_piece(&list, &piece, sums);
    piece_list_add_zeros(&list, 70000);
    piece_list_add_bytes(&list, bytes_from_string("bytes"));
    assert_true(piece_list_is_valid(text_bytes(&list), length));
    assert_false(piece_list_is_valid(text_bytes(&list), length - 1));
    assert_false(piece_list_is_valid(text_bytes(&list), length + 1));
    piece_list_open(&in, text_bytes(&list));
    assert_true(piece_list_next(&in, &listed));
    assert_int_equal(listed.kind, LISTED_PIECE);
    assert_int_equal(listed.extent, 9);
    assert_int_equal(listed.offset, 4096);
    assert_int_equal(listed.length, piece.length);
    assert_int_equal(listed.skip, 10);
    assert_int_equal(listed.take, piece.take);
    assert_int_equal(listed_sectors(&listed), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(listed_sum(&listed, i), sums[i]);
    assert_true(piece_list_next(&in, &listed));
    assert_int_equal(listed.kind, LISTED_ZEROS);
    assert_int_equal(listed.take, 70000);
    assert_true(piece_list_next(&in, &listed));
    assert_int_equal(listed.kind, LISTED_BYTES);
    assert_memory_equal(listed.bytes, "bytes", 5);
    assert_false(piece_list_next(&in, &listed));
    assert_true(decoder_ok(&in));
}

/* Whatever is cut off, or follows. */
static void truncated(void **state)
{
    struct bytes list = of_piece(*state, sample);
    char longer[256];

    for (size_t size = 0; size < list.len; size++)
        assert_false(piece_list_is_valid(bytes_of(list.ptr, size), sample.take));
    memcpy(longer, list.ptr, list.len);
    for (int more = 0; more < 256; more++) {
        longer[list.len] = (char)more;
        assert_false(piece_list_is_valid(bytes_of(longer, list.len + 1), sample.take));
    }
}

static void assert_refused(void **state, struct listed piece)
{
    assert_false(piece_list_is_valid(of_piece(*state, piece), piece.take));
}

static void impossible_pieces(void **state)
{
    const struct {
        uint64_t offset;
        uint32_t length, skip;
        uint64_t take;
    } refused[] = {
        { 4096, SECTOR, 0, 0 },                          /* nothing taken */
        { 4096, SECTOR, 0, SECTOR + 1 },                 /* more than there is */
        { 4096, SECTOR, SECTOR, 1 },                     /* skips a whole sector */
        { 4096, 2 * SECTOR, 0, SECTOR },                 /* a sector too many */
        { 4096, 2 * SECTOR, 1, SECTOR - 1 },             /* likewise */
        { 0, SECTOR, 0, SECTOR },                        /* the header of the file */
        { 4097, SECTOR, 0, SECTOR },                     /* between blocks */
        { LISTED_FILE_BYTES, 1, 0, 1 },                  /* the end of the file */
        { LISTED_FILE_BYTES - 4096, SECTOR, 0, SECTOR }, /* beyond it */
        { UINT64_MAX - 4095, SECTOR, 0, SECTOR },        /* would overflow */
        { LISTED_FILE_BYTES + 4096, SECTOR, 0, SECTOR },
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_refused(state, (struct listed){ .extent = 1,
                                               .offset = refused[i].offset,
                                               .length = refused[i].length,
                                               .skip = refused[i].skip,
                                               .take = refused[i].take });
    assert_true(piece_list_is_valid(
        of_piece(*state, (struct listed){ .extent = UINT32_MAX,
                                          .offset = LISTED_FILE_BYTES - LISTED_PIECE_BYTES,
                                          .length = LISTED_PIECE_BYTES,
                                          .take = LISTED_PIECE_BYTES }),
        LISTED_PIECE_BYTES));
}

/* Entries of no bytes, unknown entries, too many of them, and bodies that are too long. */
static void impossible_lists(void **state)
{
    struct text list = begin(*state);

    assert_false(piece_list_is_valid(text_bytes(&list), 0));
    assert_false(piece_list_is_valid(text_bytes(&list), 1));
    piece_list_add_zeros(&list, 0);
    assert_false(piece_list_is_valid(text_bytes(&list), 0));
    list = begin(*state);
    piece_list_add_bytes(&list, bytes_of("", 0));
    piece_list_add_zeros(&list, 1);
    assert_false(piece_list_is_valid(text_bytes(&list), 1));
    list = begin(*state);
    encode_u8(&list, 4);
    encode_u64(&list, 1);
    assert_false(piece_list_is_valid(text_bytes(&list), 1));
    text_init(&list, *state, 64);
    encode_u8(&list, 2); /* version */
    piece_list_add_zeros(&list, 1);
    assert_false(piece_list_is_valid(text_bytes(&list), 1));
    list = begin(*state);
    piece_list_add_zeros(&list, PIECE_LIST_BODY_MAX);
    assert_true(piece_list_is_valid(text_bytes(&list), PIECE_LIST_BODY_MAX));
    piece_list_add_zeros(&list, 1);
    assert_false(piece_list_is_valid(text_bytes(&list), PIECE_LIST_BODY_MAX + 1));
    list = begin(*state);
    piece_list_add_zeros(&list, UINT64_MAX); /* the sum would overflow */
    piece_list_add_zeros(&list, 2);
    assert_false(piece_list_is_valid(text_bytes(&list), 1));
    list = begin(*state);
    for (unsigned i = 0; i < PIECE_LIST_COUNT_MAX; i++)
        piece_list_add_zeros(&list, 1);
    assert_true(piece_list_is_valid(text_bytes(&list), PIECE_LIST_COUNT_MAX));
    piece_list_add_zeros(&list, 1);
    assert_false(piece_list_is_valid(text_bytes(&list), PIECE_LIST_COUNT_MAX + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(read_as_written, new_arena, free_arena),
        cmocka_unit_test_setup_teardown(truncated, new_arena, free_arena),
        cmocka_unit_test_setup_teardown(impossible_pieces, new_arena, free_arena),
        cmocka_unit_test_setup_teardown(impossible_lists, new_arena, free_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
