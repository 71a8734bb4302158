/* Clearing any range of a sparse content: it reads as zeros, whole sectors of it are holes, its
 * neighbours stay, and so does what a snapshot has. content_zero(); rest: Put-Range "x-ms-write: clear" */
#include "fixture.h"

#include <stdlib.h>

#include "content/sparse.h"

#define ID     5u
#define SECTOR 512u
#define LENGTH (24u * UNIT_BYTES - 100) /* its last sector is not whole */
#define ROUNDS 60

struct model {
    struct fixture *f;
    struct content content;
    uint64_t stamp;
    char *bytes;
    bool *has; /* of each sector: bytes */
};

static struct model begin(struct fixture *f)
{
    return (struct model){ .f = f,
                           .content = content_sparse(ID, LENGTH),
                           .stamp = ID,
                           .bytes = calloc(1, LENGTH),
                           .has = calloc(LENGTH / SECTOR + 1, sizeof(bool)) };
}

static void end(struct model *m)
{
    free(m->bytes);
    free(m->has);
}

static void write_at(struct model *m, uint64_t offset, size_t length)
{
    struct bytes data = fixture_random_bytes(m->f, length);
    struct body body;

    fixture_begin(m->f);
    body = fixture_body(m->f, data, length > 8192 ? 3000 : 0);
    assert_int_equal(content_write(m->f->before, m->f->changes, m->f->arena, &m->content,
                                   ++m->stamp, offset, &body),
                     STORE_OK);
    fixture_commit(m->f);
    memcpy(m->bytes + offset, data.ptr, length);
    for (uint64_t at = offset / SECTOR; at <= (offset + length - 1) / SECTOR; at++)
        m->has[at] = true;
}

static void zero(struct model *m, uint64_t offset, uint64_t length)
{
    uint64_t end = offset + length;
    bool more = false;

    fixture_begin(m->f);
    assert_int_equal(content_zero(m->f->before, m->f->changes, m->f->arena, &m->content, ++m->stamp,
                                  offset, length, SECTOR, &more),
                     STORE_OK);
    fixture_commit(m->f);
    memset(m->bytes + offset, 0, length);
    for (uint64_t at = offset / SECTOR; at <= (end - 1) / SECTOR; at++)
        m->has[at] = offset > at * SECTOR || (end < (at + 1) * SECTOR && end < LENGTH);
}

static void compare(struct model *m)
{
    uint64_t next = 0, at = 0;
    struct read_view *now;

    fixture_expect(m->f, &m->content, bytes_of(m->bytes, LENGTH));
    now = read_view_open(m->f->store, m->f->partition, STORE_MAY_BLOCK);
    while (next != UINT64_MAX) {
        struct content_ranges page;

        assert_int_equal(content_ranges(now, m->f->arena, &m->content, next, LENGTH, 100, &page),
                         STORE_OK);
        for (size_t i = 0; i < page.count; i++) {
            for (; at < page.ranges[i].start / SECTOR; at++)
                assert_false(m->has[at]);
            for (; at <= (page.ranges[i].end - 1) / SECTOR; at++)
                assert_true(m->has[at]);
        }
        next = page.next;
    }
    for (; at <= (LENGTH - 1) / SECTOR; at++)
        assert_false(m->has[at]);
    read_view_close(now);
}

static void any_range_reads_as_zeros(void **state)
{
    struct model m = begin(*state);

    for (unsigned i = 0; i < ROUNDS; i++) {
        bool is_long = fixture_random(m.f, 4) == 0;
        uint64_t offset = fixture_random(m.f, LENGTH);
        uint64_t left = LENGTH - offset;
        uint64_t length = 1 + fixture_random(m.f, is_long ? left : left < 9000 ? left : 9000);

        if (fixture_random(m.f, 3) > 0)
            write_at(&m, offset, (size_t)(length < 700000 ? length : 700000));
        else
            zero(&m, offset, length);
        if (fixture_random(m.f, 5) == 0)
            fixture_collect_all(m.f);
        compare(&m);
    }
    end(&m);
}

/* Around the ends of sectors, pages, units, and of what is cleared at once. */
static void ends(void **state)
{
    static const uint64_t near[] = { SECTOR, PAGE_BYTES, UNIT_BYTES, 17 * UNIT_BYTES };
    struct model m = begin(*state);

    for (size_t i = 0; i < 4 * 3 * 3; i++) {
        uint64_t start = UNIT_BYTES + (i / 3) % 3 - 1, length = near[i / 9] + i % 3 - 1;

        write_at(&m, start - 600, 1200);
        write_at(&m, start + length - 600, 1200);
        zero(&m, start, length);
        compare(&m);
    }
    zero(&m, LENGTH - 700, 700); /* to the end: no zeros are kept there */
    zero(&m, 0, LENGTH);
    compare(&m);
    end(&m);
}

/* Of a content that had pieces alone: what is left of the sectors at the ends of a large hole has bytes, a
 * few, which are no pieces. */
static void ends_among_pieces(void **state)
{
    struct model m = begin(*state);

    for (uint64_t at = 0; at < LENGTH - UNIT_BYTES; at += UNIT_BYTES)
        write_at(&m, at, UNIT_BYTES);
    assert_true(m.content.without_pages);
    zero(&m, 100, 18 * UNIT_BYTES);
    assert_false(m.content.without_pages);
    compare(&m);
    fixture_collect_all(m.f);
    compare(&m);
    end(&m);
}

/* What was kept before stays as it was. */
static void a_snapshot_stays(void **state)
{
    struct model m = begin(*state);
    struct content kept;
    char *was = malloc(LENGTH);

    for (uint64_t at = 0; at < LENGTH - 40000; at += UNIT_BYTES - 30000)
        write_at(&m, at, 40000);
    memcpy(was, m.bytes, LENGTH);
    fixture_begin(m.f);
    kept = content_snapshot(m.f->changes, &m.content);
    fixture_commit(m.f);
    zero(&m, 1000, LENGTH - 3000);
    zero(&m, LENGTH - 2500, 1001);
    compare(&m);
    fixture_expect(m.f, &kept, bytes_of(was, LENGTH));
    fixture_collect_all(m.f);
    compare(&m);
    fixture_expect(m.f, &kept, bytes_of(was, LENGTH));
    free(was);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_range_reads_as_zeros, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(ends, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(ends_among_pieces, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_stays, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
