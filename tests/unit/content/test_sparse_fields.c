/* Every field of the records of a sparse content survives, next to others with any value: two parts of a page and of a
 * unit, and two holes. sparse_record.c */
#include "content/sparse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../record_fields.h"
#include "store/record_value.h"
#include "store/store_private.h"

#define ID     7u
#define NUMBER 3u

/* ---- pages ---- */

struct page {
    uint32_t epoch;
    uint64_t starts[2], ends[2], stamps[2];
    struct bytes bytes[2]; /* the first characters of each part */
};
#define SHOWN 4u

static const struct field page_fields[] = {
    VALUE(page, epoch),     VALUE(page, starts[0]), VALUE(page, starts[1]),
    VALUE(page, ends[0]),   VALUE(page, ends[1]),   VALUE(page, stamps[0]),
    VALUE(page, stamps[1]), TEXT(page, bytes[0]),   TEXT(page, bytes[1]),
};

static void page_trip(struct arena *arena, const void *from, void *to)
{
    const struct page *page = from;
    struct page *read = to;
    struct changes *changes = changes_new(arena);
    struct part items[2] = { 0 };
    const struct parts parts = { .arena = arena, .items = items, .count = 2, .capacity = 2 };
    char room[SPARSE_KEY_SIZE];
    struct version version;
    struct record record = { 0 };

    for (size_t i = 0; i < 2; i++) {
        char *bytes = arena_alloc(arena, PAGE_BYTES);

        memcpy(bytes, page->bytes[i].ptr, SHOWN);
        items[i] = (struct part){
            .start = page->starts[i], .end = page->ends[i], .stamp = page->stamps[i], .bytes = bytes
        };
    }
    sparse_put(changes, ID, SPARSE_PAGE, NUMBER, page->epoch, UINT64_MAX, &parts);
    record.key = sparse_key(ID, SPARSE_PAGE, NUMBER, page->epoch, room);
    record.value = written_record(arena, changes, RECORD_INNER, record.key);
    assert_true(sparse_decode(&record, arena, &version));
    assert_int_equal(version.parts.count, 2);
    read->epoch = version.epoch;
    for (size_t i = 0; i < 2; i++) {
        read->starts[i] = version.parts.items[i].start;
        read->ends[i] = version.parts.items[i].end;
        read->stamps[i] = version.parts.items[i].stamp;
        read->bytes[i] = bytes_of(version.parts.items[i].bytes, SHOWN);
    }
}

#define PAGE_AT (NUMBER * PAGE_BYTES)

static void pages(void **state)
{
    static const struct record_form form = RECORD_FORM(page, page_fields, page_trip);
    static const struct page samples[] = {
        { .epoch = 1,
          .starts = { PAGE_AT + 2, PAGE_AT + 60 },
          .ends = { PAGE_AT + 20, PAGE_AT + 80 },
          .stamps = { 10, 11 },
          .bytes = { BYTES("abcd"), BYTES("efgh") } },
        { .epoch = 2,
          .starts = { PAGE_AT + 3, PAGE_AT + 61 },
          .ends = { PAGE_AT + 22, PAGE_AT + 83 },
          .stamps = { 14, 19 },
          .bytes = { BYTES("ijkl"), BYTES("mnop") } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

/* ---- units ---- */

struct unit {
    uint32_t epoch;
    uint64_t starts[2], ends[2], stamps[2];
    uint32_t piece_offsets[2];
    struct piece pieces[2];
};
#define PIECE_FIELDS(i)                                                                            \
    VALUE(unit, pieces[i].extent), VALUE(unit, pieces[i].offset), SKIPPED(unit, pieces[i].length), \
        SKIPPED(unit, pieces[i].sector_crc), SKIPPED(unit, pieces[i].seal)

static const struct field unit_fields[] = {
    VALUE(unit, epoch),
    VALUE(unit, starts[0]),
    VALUE(unit, starts[1]),
    VALUE(unit, ends[0]),
    VALUE(unit, ends[1]),
    VALUE(unit, stamps[0]),
    VALUE(unit, stamps[1]),
    VALUE(unit, piece_offsets[0]),
    VALUE(unit, piece_offsets[1]),
    PIECE_FIELDS(0),
    PIECE_FIELDS(1),
};

/* The record is not committed, since its pieces do not exist. */
static void unit_trip(struct arena *arena, const void *from, void *to)
{
    const struct unit *unit = from;
    struct unit *read = to;
    struct changes *changes = changes_new(arena);
    struct part items[2] = { 0 };
    const struct parts parts = { .arena = arena, .items = items, .count = 2, .capacity = 2 };
    struct record record;
    struct version version;

    for (size_t i = 0; i < 2; i++)
        items[i] = (struct part){ .start = unit->starts[i],
                                  .end = unit->ends[i],
                                  .stamp = unit->stamps[i],
                                  .piece = &unit->pieces[i],
                                  .piece_offset = unit->piece_offsets[i] };
    sparse_put(changes, ID, SPARSE_UNIT, NUMBER, unit->epoch, UINT64_MAX, &parts);
    assert_int_equal(record_value_read(changes_first(changes)->value, arena, &record), STORE_OK);
    record.key = changes_first(changes)->key;
    assert_true(sparse_decode(&record, arena, &version));
    assert_int_equal(version.parts.count, 2);
    read->epoch = version.epoch;
    for (size_t i = 0; i < 2; i++) {
        const struct part *part = &version.parts.items[i];

        read->starts[i] = part->start;
        read->ends[i] = part->end;
        read->stamps[i] = part->stamp;
        read->piece_offsets[i] = part->piece_offset;
        memcpy(&read->pieces[i], part->piece, sizeof read->pieces[i]);
    }
}

#define UNIT_AT (NUMBER * UNIT_BYTES)

static const uint32_t sums[4096 / PIECE_SECTOR_BYTES + 1];

static void units(void **state)
{
    static const struct record_form form = RECORD_FORM(unit, unit_fields, unit_trip);
    static const struct unit samples[] = {
        { .epoch = 1,
          .starts = { UNIT_AT + 2, UNIT_AT + 60 },
          .ends = { UNIT_AT + 20, UNIT_AT + 80 },
          .stamps = { 10, 11 },
          .piece_offsets = { 5, 6 },
          .pieces = { { .extent = 21, .offset = 31, .length = 4096, .sector_crc = sums },
                      { .extent = 22, .offset = 32, .length = 4096, .sector_crc = sums } } },
        { .epoch = 2,
          .starts = { UNIT_AT + 3, UNIT_AT + 61 },
          .ends = { UNIT_AT + 22, UNIT_AT + 83 },
          .stamps = { 14, 19 },
          .piece_offsets = { 7, 8 },
          .pieces = { { .extent = 23, .offset = 33, .length = 4096, .sector_crc = sums },
                      { .extent = 24, .offset = 34, .length = 4096, .sector_crc = sums } } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

/* ---- holes ---- */

struct holes {
    struct hole of[2];
};

static const struct field hole_fields[] = {
    VALUE(holes, of[0].start), VALUE(holes, of[0].end),   VALUE(holes, of[0].stamp),
    VALUE(holes, of[0].epoch), VALUE(holes, of[1].start), VALUE(holes, of[1].end),
    VALUE(holes, of[1].stamp), VALUE(holes, of[1].epoch),
};

static void hole_trip(struct arena *arena, const void *from, void *to)
{
    const struct holes *holes = from;
    struct changes *changes = changes_new(arena);
    struct hole read[HOLES_MAX];
    struct written written;
    size_t count;

    sparse_put_holes(changes, ID, holes->of, 2);
    written = written_begin(changes);
    assert_int_equal(sparse_read_holes(written.snapshot, arena, ID, read, &count), STORE_OK);
    written_end(&written);
    assert_int_equal(count, 2);
    memcpy(to, read, sizeof *holes);
}

static void hole_lists(void **state)
{
    static const struct record_form form = RECORD_FORM(holes, hole_fields, hole_trip);
    static const struct holes samples[] = {
        { { { .start = 1, .end = 20, .stamp = 30, .epoch = 4 },
            { .start = 50, .end = 60, .stamp = 70, .epoch = 8 } } },
        { { { .start = 2, .end = 21, .stamp = 31, .epoch = 5 },
            { .start = 51, .end = 62, .stamp = 73, .epoch = 9 } } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    fields_all_differed(&form, (const void *const[]){ &samples[0], &samples[1] }, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages),
        cmocka_unit_test(units),
        cmocka_unit_test(hole_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
