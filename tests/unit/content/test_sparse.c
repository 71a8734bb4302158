/* Sparse contents against a model: whatever is written, cleared, cut and kept, every generation
 * reads as it was, lists its ranges, differs from others by what changed; what no generation sees
 * is freed. design 5; rest: Put-Page, Get-Page-Ranges, Snapshot-Blob */
#include "fixture.h"

#include <stdlib.h>

#include "base/crc.h"

#define KIB             1024u
#define GENERATIONS_MAX 6
#define STAMPS_MAX      4096
#define RANGES_MAX      100000
#define WRITTEN_MAX     9

/* What one change wrote. Its bytes follow from its stamp and their offset. */
struct written {
    struct content_range ranges[WRITTEN_MAX];
    size_t count;
    uint64_t length;       /* of the body */
    uint32_t piece_length; /* 0: inline */
};

struct generation {
    bool is_kept;
    struct content content;
    uint32_t *stamps; /* of each cell; 0: a hole */
};

struct model {
    struct fixture *f;
    uint64_t cell; /* bytes; offsets and lengths are multiples of it */
    size_t cells;  /* room */
    struct generation newest, kept[GENERATIONS_MAX];
    struct written written[STAMPS_MAX];
    uint32_t stamp;
};

#define CONTENT_ID 5u

static char byte_at(uint32_t stamp, uint64_t offset)
{
    uint64_t x = (offset + 1) * 0x9E3779B97F4A7C15 ^ (uint64_t)stamp * 0xD1B54A32D192ED03;

    return (char)(x >> 37);
}

/* ---- changes ---- */

static void commit(struct model *m)
{
    if (changes_empty(m->f->changes)) {
        read_view_close(m->f->before);
        m->f->before = NULL;
        return;
    }
    fixture_commit(m->f);
}

static uint64_t random_offset(struct model *m, uint64_t below)
{
    return fixture_random(m->f, below / m->cell) * m->cell;
}

static void write_some(struct model *m)
{
    struct fixture *f = m->f;
    uint64_t room = (uint64_t)m->cells * m->cell;
    bool in_pieces = fixture_random(f, 4) == 0;
    uint64_t offset = random_offset(m, room);
    struct written w = { .count = 1 };
    uint32_t stamp = ++m->stamp;
    struct bytes data;
    struct body body;
    char *bytes;

    assert_true(stamp < STAMPS_MAX);
    w.length = m->cell + random_offset(m, (in_pieces ? 400 : 1 + fixture_random(f, 12)) * KIB);
    if (w.length > room - offset)
        w.length = room - offset;
    w.ranges[0] = (struct content_range){ offset, offset + w.length, false };
    if (in_pieces)
        w.piece_length = (uint32_t)(1000 + fixture_random(f, 200 * KIB));
    m->written[stamp] = w;
    bytes = arena_bytes(f->arena, w.length);
    for (uint64_t i = 0; i < w.length; i++)
        bytes[i] = byte_at(stamp, offset + i);
    data = bytes_of(bytes, w.length);
    fixture_begin(f);
    body = fixture_body(f, data, w.piece_length);
    assert_int_equal(content_write(f->before, f->changes, f->arena, &m->newest.content,
                                   CONTENT_ID + stamp, offset, &body),
                     STORE_OK);
    commit(m);
    for (uint64_t i = 0; i < w.length / m->cell; i++)
        m->newest.stamps[offset / m->cell + i] = stamp;
}

/* Up to WRITTEN_MAX ranges within the content, some of them holes; returns the length of the
 * others. */
static uint64_t choose_ranges(struct model *m, uint64_t longest, struct written *w)
{
    uint64_t at = random_offset(m, m->newest.content.length), length = 0;

    w->count = 0;
    while (w->count < WRITTEN_MAX && at < m->newest.content.length) {
        struct content_range *range = &w->ranges[w->count++];

        range->start = at;
        range->end = at + m->cell + random_offset(m, longest);
        if (range->end > m->newest.content.length)
            range->end = m->newest.content.length;
        range->is_hole = fixture_random(m->f, 4) == 0;
        if (!range->is_hole)
            length += range->end - range->start;
        at = range->end;
        if (fixture_random(m->f, 3) > 0)
            at += random_offset(m, longest);
    }
    return length;
}

/* What is in the body of a list of ranges. */
static struct bytes bytes_of_ranges(struct model *m, const struct written *w, uint32_t stamp)
{
    char *bytes = arena_bytes(m->f->arena, w->length);
    size_t n = 0;

    for (size_t i = 0; i < w->count; i++)
        for (uint64_t at = w->ranges[i].start; at < w->ranges[i].end && !w->ranges[i].is_hole; at++)
            bytes[n++] = byte_at(stamp, at);
    return bytes_of(bytes, n);
}

/* Many ranges at once. */
static void write_ranges(struct model *m)
{
    struct fixture *f = m->f;
    bool in_pieces = fixture_random(f, 3) == 0;
    uint32_t stamp = ++m->stamp;
    struct written *w = &m->written[stamp];
    struct body body = { .length = 0 };

    assert_true(stamp < STAMPS_MAX);
    w->length = choose_ranges(m, (in_pieces ? 100 : 1 + fixture_random(f, 12)) * KIB, w);
    w->piece_length = in_pieces ? (uint32_t)(1000 + fixture_random(f, 200 * KIB)) : 0;
    fixture_begin(f);
    if (w->length > 0)
        body = fixture_body(f, bytes_of_ranges(m, w, stamp), w->piece_length);
    assert_int_equal(content_write_ranges(f->before, f->changes, &m->newest.content,
                                          CONTENT_ID + stamp, &body, w->ranges, w->count),
                     STORE_OK);
    commit(m);
    for (size_t i = 0; i < w->count; i++)
        for (uint64_t at = w->ranges[i].start; at < w->ranges[i].end; at += m->cell)
            m->newest.stamps[at / m->cell] = w->ranges[i].is_hole ? 0 : stamp;
}

static void clear_model(struct model *m, uint64_t start, uint64_t end)
{
    for (uint64_t i = start / m->cell; i < end / m->cell; i++)
        m->newest.stamps[i] = 0;
}

static void clear_some(struct model *m, uint64_t max)
{
    struct fixture *f = m->f;
    uint64_t offset = random_offset(m, m->newest.content.length);
    uint64_t length = m->cell + random_offset(m, max);
    uint32_t stamp = m->stamp + 1;
    enum store_result result;
    bool more = false;

    if (length > m->newest.content.length - offset)
        length = m->newest.content.length - offset;
    fixture_begin(f);
    result = content_clear(f->before, f->changes, f->arena, &m->newest.content, CONTENT_ID + stamp,
                           offset, length, &more);
    if (result == STORE_SHORTAGE)
        f->changes = changes_new(f->arena);
    else
        assert_int_equal(result, STORE_OK);
    commit(m);
    if (!result) {
        m->stamp = stamp;
        clear_model(m, offset, offset + length);
    }
}

static void resize(struct model *m)
{
    struct fixture *f = m->f;
    uint64_t was = m->newest.content.length;
    uint64_t length = m->cell + random_offset(m, (uint64_t)m->cells * m->cell - m->cell);
    enum store_result result;
    bool more = false;

    fixture_begin(f);
    result = content_resize(f->before, f->changes, f->arena, &m->newest.content,
                            CONTENT_ID + m->stamp + 1, length, &more);
    if (result == STORE_SHORTAGE)
        f->changes = changes_new(f->arena);
    else
        assert_int_equal(result, STORE_OK);
    commit(m);
    if (result)
        return;
    m->stamp++;
    if (length < was)
        clear_model(m, length, was);
}

static void keep(struct model *m)
{
    struct generation *to = m->kept;

    while (to < m->kept + GENERATIONS_MAX && to->is_kept)
        to++;
    if (to == m->kept + GENERATIONS_MAX)
        return;
    fixture_begin(m->f);
    to->content = content_snapshot(m->f->changes, &m->newest.content);
    fixture_commit(m->f);
    to->is_kept = true;
    memcpy(to->stamps, m->newest.stamps, m->cells * sizeof to->stamps[0]);
}

static void give_up(struct model *m, struct generation *generation)
{
    bool more = false, is_only = generation->content.epoch == 0;

    if (!generation->is_kept)
        return;
    fixture_begin(m->f);
    if (generation == &m->newest)
        content_newest_delete(m->f->changes, &m->newest.content, &more);
    else
        assert_int_equal(content_snapshot_delete(m->f->before, m->f->changes, &generation->content,
                                                 m->newest.is_kept ? &m->newest.content : NULL,
                                                 &more),
                         STORE_OK);
    commit(m);
    assert_true(more || is_only);
    generation->is_kept = false;
}

static bool collect(struct model *m, size_t records)
{
    bool more = false;

    fixture_begin(m->f);
    assert_int_equal(content_collect(m->f->before, m->f->changes, m->f->arena, records, &more),
                     STORE_OK);
    commit(m);
    return more;
}

/* ---- looking ---- */

static void expect_bytes(struct model *m, const struct generation *generation)
{
    struct arena_mark mark = arena_mark(m->f->arena);
    uint64_t length = generation->content.length;
    struct bytes got;

    assert_int_equal(fixture_read(m->f, &generation->content, 0, length, 100000, &got), STORE_OK);
    assert_int_equal(got.len, length);
    for (uint64_t at = 0; at < length; at++) {
        uint32_t stamp = generation->stamps[at / m->cell];

        if (got.ptr[at] != (stamp ? byte_at(stamp, at) : 0))
            fail_msg("byte %llu of generation %u, stamp %u", (unsigned long long)at,
                     generation->content.epoch, stamp);
    }
    arena_rewind(m->f->arena, mark);
}

/* All pages of a list. older NULL: of ranges, else of the difference. */
static size_t list_all(struct model *m, const struct generation *older,
                       const struct generation *generation, struct content_range *ranges)
{
    struct read_view *snapshot = read_view_open(m->f->store, m->f->partition, STORE_MAY_BLOCK);
    size_t count = 0;

    for (uint64_t at = 0; at != UINT64_MAX;) {
        size_t max = 1 + fixture_random(m->f, 30);
        struct content_ranges page;
        enum store_result result =
            older ? content_difference(snapshot, m->f->arena, &older->content, &generation->content,
                                       at, INT64_MAX, max, &page)
                  : content_ranges(snapshot, m->f->arena, &generation->content, at, INT64_MAX, max,
                                   &page);

        assert_int_equal(result, STORE_OK);
        assert_true(page.count <= max);
        for (size_t i = 0; i < page.count; i++) {
            bool joins = count > 0 && ranges[count - 1].end == page.ranges[i].start &&
                         ranges[count - 1].is_hole == page.ranges[i].is_hole;

            if (joins)
                ranges[count - 1].end = page.ranges[i].end;
            else
                ranges[count++] = page.ranges[i];
        }
        assert_true(page.next > at);
        at = page.next;
    }
    read_view_close(snapshot);
    return count;
}

/* 0: no range, 1: bytes, 2: cleared. */
static int expected_kind(const struct generation *older, const struct generation *generation,
                         size_t cell)
{
    uint32_t is = generation->stamps[cell];

    if (!older)
        return is ? 1 : 0;
    if (is && is + CONTENT_ID > older->content.stamp)
        return 1;
    return older->stamps[cell] && !is ? 2 : 0;
}

static void expect_ranges(struct model *m, const struct generation *older,
                          const struct generation *generation)
{
    static struct content_range ranges[RANGES_MAX];
    struct arena_mark mark = arena_mark(m->f->arena);
    size_t count = list_all(m, older, generation, ranges), at = 0;

    for (size_t i = 0; i < m->cells; i++) {
        int kind = expected_kind(older, generation, i), got = 0;

        while (at < count && ranges[at].end <= i * m->cell)
            at++;
        if (at < count && ranges[at].start <= i * m->cell)
            got = ranges[at].is_hole ? 2 : 1;
        if (got != kind)
            fail_msg("offset %llu: %d, not %d", (unsigned long long)(i * m->cell), got, kind);
    }
    arena_rewind(m->f->arena, mark);
}

/* Where the byte at an offset lies in the body that wrote it. */
static uint64_t position_of(const struct written *w, uint64_t offset)
{
    uint64_t position = 0;

    for (size_t i = 0; i < w->count; i++) {
        const struct content_range *range = &w->ranges[i];

        if (offset >= range->start && offset < range->end)
            return position + offset - range->start;
        position += range->is_hole ? 0 : range->end - range->start;
    }
    fail();
    return 0;
}

/* Bytes of the pieces that some kept generation sees a byte of. */
static uint64_t bytes_needed(const struct model *m)
{
    static bool needed[STAMPS_MAX][512];
    uint64_t bytes = 0;

    memset(needed, 0, sizeof needed);
    for (size_t g = 0; g <= GENERATIONS_MAX; g++) {
        const struct generation *generation = g == 0 ? &m->newest : &m->kept[g - 1];

        for (size_t i = 0; generation->is_kept && i < m->cells; i++) {
            const struct written *w = &m->written[generation->stamps[i]];
            uint64_t from, to;
            uint32_t stamp = generation->stamps[i];

            if (!stamp || w->piece_length == 0)
                continue;
            from = position_of(w, i * m->cell) / w->piece_length;
            to = position_of(w, i * m->cell + m->cell - 1) / w->piece_length;
            for (; from <= to; from++) {
                uint64_t rest = w->length - from * w->piece_length;

                assert_true(from < 512);
                if (!needed[stamp][from])
                    bytes += rest < w->piece_length ? rest : w->piece_length;
                needed[stamp][from] = true;
            }
        }
    }
    return bytes;
}

static void expect_all(struct model *m)
{
    const struct generation *all[GENERATIONS_MAX + 1];
    size_t count = 0;

    for (size_t i = 0; i < GENERATIONS_MAX; i++)
        if (m->kept[i].is_kept)
            all[count++] = &m->kept[i];
    if (m->newest.is_kept)
        all[count++] = &m->newest;
    for (size_t i = 0; i < count; i++) {
        expect_bytes(m, all[i]);
        expect_ranges(m, NULL, all[i]);
        for (size_t j = 0; j < count; j++)
            if (all[j]->content.epoch < all[i]->content.epoch)
                expect_ranges(m, all[j], all[i]);
    }
}

/* ---- random changes ---- */

static void change(struct model *m, uint64_t clear_max)
{
    switch (fixture_random(m->f, 20)) {
    case 0:
    case 1:
        keep(m);
        break;
    case 2:
        give_up(m, &m->kept[fixture_random(m->f, GENERATIONS_MAX)]);
        break;
    case 3:
    case 4:
        clear_some(m, clear_max);
        break;
    case 5:
        clear_some(m, 20 * KIB);
        break;
    case 6:
        if (fixture_random(m->f, 3) == 0)
            resize(m);
        break;
    case 9:
    case 10:
    case 11:
        write_ranges(m);
        break;
    case 7:
    case 8:
        collect(m, 1 + fixture_random(m->f, 60));
        break;
    default:
        write_some(m);
        break;
    }
}

static void model_init(struct model *m, struct fixture *f, uint64_t cell, size_t cells)
{
    *m = (struct model){ .f = f, .cell = cell, .cells = cells };
    m->newest.is_kept = true;
    m->newest.content = content_sparse(CONTENT_ID, cell * cells);
    m->newest.stamps = xcalloc(cells, sizeof m->newest.stamps[0]);
    for (size_t i = 0; i < GENERATIONS_MAX; i++)
        m->kept[i].stamps = xcalloc(cells, sizeof m->kept[i].stamps[0]);
}

static void run(struct fixture *f, uint64_t seed, uint64_t cell, size_t cells, int changes)
{
    struct model *m = xcalloc(1, sizeof *m);
    struct arena_mark mark = arena_mark(f->arena);

    f->random = seed * 0x9E3779B97F4A7C15 + 1;
    model_init(m, f, cell, cells);
    for (int i = 0; i < changes; i++) {
        struct arena_mark before = arena_mark(f->arena);

        change(m, cell * cells);
        arena_rewind(f->arena, before);
        if (i % 20 == 19)
            expect_all(m);
        if (i % 60 == 59) {
            while (collect(m, 500))
                ;
            expect_all(m);
            assert_int_equal(fixture_piece_bytes(f), bytes_needed(m));
        }
    }
    if (seed % 2 == 0)
        give_up(m, &m->newest);
    for (size_t i = 0; i < GENERATIONS_MAX; i++) {
        give_up(m, &m->kept[(i * 5 + seed) % GENERATIONS_MAX]);
        while (i % 2 == 0 && collect(m, 30))
            ;
        expect_all(m);
    }
    give_up(m, &m->newest);
    fixture_collect_all(f);
    assert_int_equal(fixture_piece_bytes(f), 0);
    assert_int_equal(fixture_record_count(f), 0);
    for (size_t i = 0; i < GENERATIONS_MAX; i++)
        free(m->kept[i].stamps);
    free(m->newest.stamps);
    free(m);
    arena_rewind(f->arena, mark);
}

/* LAGRA_SEEDS: how many seeds each test runs; LAGRA_SEED: the first. */
static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Bytes at any offset, as files have them. */
static void any_offset(void **state)
{
    uint64_t seeds = number("LAGRA_SEEDS", 2), first = number("LAGRA_SEED", 1);

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run(*state, seed, 1, 600 * KIB, 120);
    }
}

/* Sectors, as page blobs have them, and ranges so large that they are cleared later. */
static void sectors(void **state)
{
    uint64_t seeds = number("LAGRA_SEEDS", 2), first = number("LAGRA_SEED", 1);

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        run(*state, seed, 512, 24 * KIB, 180);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_offset, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(sectors, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
