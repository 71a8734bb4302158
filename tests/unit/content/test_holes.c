/* Large holes of a sparse content: they take effect at once, few of them wait for their records to go,
 * and one that covers others takes their place. content_clear(), content_resize(); design 5 */
#include "fixture.h"

#include "content/sparse.h"

#define ID    5u
#define LARGE (17u * UNIT_BYTES) /* above what is cleared at once */

struct holes {
    struct fixture *f;
    struct content content;
    uint64_t stamp;
};

static struct holes begin(struct fixture *f, uint64_t length)
{
    return (struct holes){ .f = f, .content = content_sparse(ID, length), .stamp = ID };
}

/* Commits the change, or drops what was refused. */
static enum store_result end(struct holes *h, enum store_result result)
{
    if (result)
        h->f->changes = changes_new(h->f->arena);
    if (changes_empty(h->f->changes)) {
        read_view_close(h->f->before);
        h->f->before = NULL;
    } else {
        fixture_commit(h->f);
    }
    return result;
}

static enum store_result clear(struct holes *h, uint64_t offset, uint64_t length)
{
    bool more = false;

    fixture_begin(h->f);
    return end(h, content_clear(h->f->before, h->f->changes, h->f->arena, &h->content, ++h->stamp,
                                offset, length, &more));
}

static enum store_result resize(struct holes *h, uint64_t length)
{
    bool more = false;

    fixture_begin(h->f);
    return end(h, content_resize(h->f->before, h->f->changes, h->f->arena, &h->content, ++h->stamp,
                                 length, &more));
}

static void write_at(struct holes *h, uint64_t offset)
{
    struct body body;

    fixture_begin(h->f);
    body = fixture_body(h->f, fixture_random_bytes(h->f, PAGE_BYTES), 0);
    assert_int_equal(end(h, content_write(h->f->before, h->f->changes, h->f->arena, &h->content,
                                          ++h->stamp, offset, &body)),
                     STORE_OK);
}

static bool is_hole(struct holes *h, uint64_t offset)
{
    static const char zeros[PAGE_BYTES];
    struct bytes bytes;

    assert_int_equal(fixture_read(h->f, &h->content, offset, PAGE_BYTES, PAGE_BYTES, &bytes),
                     STORE_OK);
    return memcmp(bytes.ptr, zeros, PAGE_BYTES) == 0;
}

/* Each change has its time, which is later than that of the one before: a record that says otherwise was not written
 * by a commit. */
static void stamps_rise(void **state)
{
    struct holes h = begin(*state, LARGE);

    write_at(&h, 0);
    assert_int_equal(h.content.stamp, h.stamp);
    assert_int_equal(clear(&h, 0, PAGE_BYTES), STORE_OK);
    assert_int_equal(h.content.stamp, h.stamp);
    assert_int_equal(resize(&h, 2 * LARGE), STORE_OK);
    assert_int_equal(h.content.stamp, h.stamp);
    h.stamp--;
    assert_int_equal(clear(&h, 0, PAGE_BYTES), STORE_CORRUPT);
    h.stamp -= 2;
    assert_int_equal(clear(&h, 0, PAGE_BYTES), STORE_CORRUPT);
    h.stamp = h.content.stamp;
    assert_int_equal(clear(&h, 0, PAGE_BYTES), STORE_OK);
}

/* The same range, again and again, is one hole, and so is what lies within a larger one. */
static void covered_ones_go(void **state)
{
    struct holes h = begin(*state, 64 * LARGE);

    for (unsigned i = 0; i < 2 * HOLES_MAX; i++)
        assert_int_equal(clear(&h, LARGE, LARGE), STORE_OK);
    for (unsigned i = 0; i + 1 < HOLES_MAX; i++)
        assert_int_equal(clear(&h, (2 + 2 * i) * (uint64_t)LARGE, LARGE), STORE_OK);
    assert_int_equal(clear(&h, 0, h.content.length), STORE_OK);
    assert_int_equal(clear(&h, LARGE, LARGE), STORE_OK);
}

/* Of two that overlap each still hides what the other does not. */
static void overlapping_ones_stay(void **state)
{
    struct holes h = begin(*state, 8 * LARGE);
    const uint64_t written[] = { 0, LARGE + LARGE / 2, 3 * LARGE - PAGE_BYTES };

    for (unsigned i = 0; i < 3; i++)
        write_at(&h, written[i] / PAGE_BYTES * PAGE_BYTES);
    assert_int_equal(clear(&h, 0, 2 * LARGE), STORE_OK);
    assert_int_equal(clear(&h, LARGE, 2 * LARGE), STORE_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_true(is_hole(&h, written[i] / PAGE_BYTES * PAGE_BYTES));
}

/* Of another generation none is taken away: a snapshot's hole still hides what lies in it. */
static void those_of_a_snapshot_stay(void **state)
{
    struct fixture *f = *state;
    struct holes h = begin(f, 4 * LARGE);
    struct content snapshot;

    write_at(&h, LARGE);
    assert_int_equal(clear(&h, LARGE, LARGE), STORE_OK);
    fixture_begin(f);
    snapshot = content_snapshot(f->changes, &h.content);
    fixture_commit(f);
    write_at(&h, LARGE);
    assert_int_equal(clear(&h, 0, 4 * LARGE), STORE_OK);
    assert_true(is_hole(&h, LARGE));
    h.content = snapshot;
    assert_true(is_hole(&h, LARGE));
}

/* There are few; one more is refused and changes nothing, until they are collected. */
static void too_many_are_refused(void **state)
{
    struct holes h = begin(*state, 64 * LARGE);
    uint64_t length = h.content.length;

    for (unsigned i = 0; i < HOLES_MAX; i++)
        assert_int_equal(clear(&h, 2 * i * (uint64_t)LARGE, LARGE), STORE_OK);
    assert_int_equal(clear(&h, 2 * HOLES_MAX * (uint64_t)LARGE, LARGE), STORE_SHORTAGE);
    assert_int_equal(resize(&h, length - 2 * LARGE), STORE_SHORTAGE);
    assert_int_equal(h.content.length, length);
    fixture_collect_all(*state);
    assert_int_equal(resize(&h, length - 2 * LARGE), STORE_OK);
    assert_int_equal(h.content.length, length - 2 * LARGE);
}

/* When a hole is collected, what it hid does not come back, in the first and last page of a unit neither,
 * and what lies beside it in the same unit stays. */
static void collected_ones_leave_nothing(void **state)
{
    struct fixture *f = *state;
    struct holes h = begin(f, 4 * LARGE);
    const uint64_t from = LARGE + UNIT_BYTES - 2 * PAGE_BYTES, to = from + LARGE;
    const uint64_t covered[] = { from, LARGE + UNIT_BYTES - PAGE_BYTES, LARGE + UNIT_BYTES,
                                 LARGE + 2 * UNIT_BYTES - PAGE_BYTES, to - PAGE_BYTES };
    const uint64_t beside[] = { 0, from - PAGE_BYTES, to, to + PAGE_BYTES };

    for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++)
        write_at(&h, covered[i]);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        write_at(&h, beside[i]);
    assert_int_equal(clear(&h, from, to - from), STORE_OK);
    fixture_collect_all(f);
    for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++)
        assert_true(is_hole(&h, covered[i]));
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        assert_false(is_hole(&h, beside[i]));
}

/* A content that is deleted while a hole of it still waits leaves no record, though both are collected at once: what
 * is left of a page that the hole cuts is not written again. Found by the simulator. */
static void deleted_ones_leave_nothing(void **state)
{
    struct fixture *f = *state;
    struct holes h = begin(f, 4 * LARGE);
    bool more = false;

    write_at(&h, 0);
    assert_int_equal(resize(&h, PAGE_BYTES / 2), STORE_OK);
    fixture_begin(f);
    content_newest_delete(f->changes, &h.content, &more);
    fixture_commit(f);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), 0);
}

/* Makes a content of so many bytes, written at these places by `bytes` bytes each, and deletes it.
 * returns whether it leaves something to be collected; what it leaves is collected, and no record stays */
static bool deleted_leaves_more(struct fixture *f, uint64_t length, const uint64_t *places,
                                size_t count, size_t bytes)
{
    struct content content = content_sparse(f->random + length, length);
    uint64_t stamp = content.id;
    bool more = false;

    for (size_t i = 0; i < count; i++) {
        struct body body = fixture_body(f, fixture_random_bytes(f, bytes),
                                        bytes > PAGE_BYTES ? (uint32_t)bytes : 0);

        fixture_begin(f);
        assert_int_equal(
            content_write(f->before, f->changes, f->arena, &content, ++stamp, places[i], &body),
            STORE_OK);
        fixture_commit(f);
    }
    fixture_begin(f);
    content_newest_delete(f->changes, &content, &more);
    fixture_commit(f);
    assert_true(more || fixture_record_count(f) == 0);
    fixture_collect_all(f);
    assert_int_equal(fixture_record_count(f), 0);
    return more;
}

/* A short content that no snapshot was taken of goes with its file, and leaves no task. */
static void short_ones_go_at_once(void **state)
{
    static const uint64_t first[] = { 0 }, last[] = { 0, 3 * PAGE_BYTES },
                          behind[] = { 0, 4 * PAGE_BYTES };
    struct fixture *f = *state;

    assert_false(deleted_leaves_more(f, PAGE_BYTES, NULL, 0, 0));
    assert_false(deleted_leaves_more(f, LARGE, NULL, 0, 0));
    assert_false(deleted_leaves_more(f, 1024, first, 1, 1024));
    assert_false(deleted_leaves_more(f, 4 * PAGE_BYTES, last, 2, PAGE_BYTES));
    assert_true(deleted_leaves_more(f, 5 * PAGE_BYTES, behind, 2, PAGE_BYTES));
    assert_true(deleted_leaves_more(f, 4 * PAGE_BYTES, first, 1, 4 * PAGE_BYTES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stamps_rise, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(covered_ones_go, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(overlapping_ones_stay, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(those_of_a_snapshot_stay, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(too_many_are_refused, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(collected_ones_leave_nothing, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(deleted_ones_leave_nothing, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(short_ones_go_at_once, fixture_set_up, fixture_tear_down),
    };

    return cmocka_run_group_tests_name("holes", tests, NULL, NULL);
}
