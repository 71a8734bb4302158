/* What a share counts of its files, and its quota: without a network. share_usage.h; decision: 301 */
#include "fixture.h"

#include <stdlib.h>

#include "file/file_content.h"
#include "file/share_usage.h"
#include "service/driver.h"

#define GIB (UINT64_C(1) << 30)

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &file_service);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

/* A file of a share that nobody else knows. */
struct world {
    struct decision d;
    struct file_state state;
    struct file file;
    struct problem problem;
    uint64_t length;    /* that it is to have */
    uint64_t used;      /* by share_usage_read() */
    unsigned parts_max; /* of an attempt */
};

static enum error write_share(struct decision *d, void *of)
{
    struct world *w = of;

    d->changes = changes_new(d->arena);
    decision_open_subject(d, w->state.share.at);
    decision_read_clock(d);
    share_write(d->changes, d->arena, share_itself, &w->state.share);
    return OK;
}

static void set_quota(struct world *w, uint32_t quota_gib)
{
    w->state.share.quota_gib = quota_gib;
    assert_int_equal(deciding_run_unawaited(&w->d, write_share, w), OK);
    deciding_end(&w->d);
}

static struct world *begin(struct fixture *f)
{
    struct world *w = calloc(1, sizeof *w);

    w->state.share = (struct share){ .space = guid_new() };
    w->state.share.at = (struct partition){ w->state.share.space, BYTES("the share") };
    w->file = (struct file){ .kind = TREE_FILE, .content = content_sparse(1, 0) };
    w->d = (struct decision){ .arena = arena_new(1 << 20),
                              .store = store_of(f),
                              .access = STORE_MAY_BLOCK,
                              .problem = &w->problem };
    w->d.attempt = arena_mark(w->d.arena);
    set_quota(w, 1);
    return w;
}

static void end(struct world *w)
{
    arena_free(w->d.arena);
    free(w);
}

/* ---- what happens between two looks ---- */

static struct {
    unsigned looks; /* parts to open until then; 0: nothing happens */
    void (*happens)(struct world *w);
    struct world *world; /* whose files change then */
} between;

struct decision_part *__real_decision_open(struct decision *d, struct partition partition,
                                           struct changes *changes);
struct decision_part *__wrap_decision_open(struct decision *d, struct partition partition,
                                           struct changes *changes);

struct decision_part *__wrap_decision_open(struct decision *d, struct partition partition,
                                           struct changes *changes)
{
    if (between.looks > 0 && --between.looks == 0)
        between.happens(between.world);
    return __real_decision_open(d, partition, changes);
}

static void open_file(struct decision *d, struct world *w)
{
    d->state = &w->state.base;
    d->changes = changes_new(d->arena);
    decision_open_subject(d,
                          tree_partition(d->arena, w->state.share.space, w->state.place.entry.id));
    decision_read_clock(d);
}

static enum error resize_once(struct decision *d, void *of)
{
    struct world *w = of;
    struct file file = w->file;
    enum error e;

    open_file(d, w);
    e = file_resize(d, &file, w->length);
    w->parts_max = d->part_count;
    return e;
}

static enum error read_once(struct decision *d, void *of)
{
    struct world *w = of;

    open_file(d, w);
    return share_usage_read(d, w->state.share.space, &w->used);
}

static enum error resize(struct world *w, uint64_t file, uint64_t from, uint64_t to)
{
    enum error e;

    w->state.place.entry.id = file;
    w->file.content = content_sparse(1, from);
    w->length = to;
    e = deciding_run_unawaited(&w->d, resize_once, w);
    deciding_end(&w->d);
    return e;
}

static uint64_t used(struct world *w)
{
    assert_int_equal(deciding_run_unawaited(&w->d, read_once, w), OK);
    deciding_end(&w->d);
    return w->used;
}

/* Rule: the sum is that of all lengths, whichever sum a file counts to. */
static void sums(void **state)
{
    struct world *w = begin(*state);
    uint64_t expected = 0;

    assert_int_equal(used(w), 0);
    for (uint64_t file = 1; file <= 40; file++) {
        assert_int_equal(resize(w, file, 0, 100 * file), OK);
        expected += 100 * file;
    }
    assert_int_equal(used(w), expected);
    for (uint64_t file = 1; file <= 40; file++)
        assert_int_equal(resize(w, file, 100 * file, file), OK);
    assert_int_equal(used(w), 820);
    end(w);
}

/* Rule: what would pass the quota is refused, and changes nothing; what shrinks is not. */
static void quota(void **state)
{
    struct world *w = begin(*state);

    assert_int_equal(resize(w, 1, 0, GIB), OK);
    assert_int_equal(resize(w, 2, 0, 1), E_ShareSizeLimitReached);
    assert_int_equal(resize(w, 1, GIB, GIB + 1), E_ShareSizeLimitReached);
    assert_int_equal(used(w), GIB);
    set_quota(w, 0); /* less than there is */
    assert_int_equal(resize(w, 1, GIB, GIB - 1), OK);
    assert_int_equal(used(w), GIB - 1);
    end(w);
}

/* File 2 gives up what file 1 then takes, whose sum is read later: at no moment the share has more than
 * before. */
static void move_bytes(struct world *w)
{
    assert_int_equal(resize(w, 2, GIB / 4 * 3, 0), OK);
    assert_int_equal(resize(w, 1, 0, GIB / 4 * 3), OK);
}

/* Rule: a refusal is of one moment, whenever what others give up and take is seen. Found by the simulator. */
static void refused_by_one_moment(void **state)
{
    for (unsigned looks = 1; looks <= 3 * SHARE_USAGE_PARTS; looks++) {
        struct world *w = begin(*state), *other = begin(*state);

        other->state.share = w->state.share;
        assert_int_equal(resize(w, 2, 0, GIB / 4 * 3), OK);
        between.world = other;
        between.happens = move_bytes;
        between.looks = looks;
        assert_int_equal(resize(w, 3, 0, GIB / 4), OK);
        if (between.looks > 0) {
            between.looks = 0;
            move_bytes(other);
        }
        assert_int_equal(used(w), GIB);
        end(other);
        end(w);
    }
}

/* Rule: above half of the quota every sum and the share are guards, so that nothing passes it; below, none. */
static void guards(void **state)
{
    struct world *w = begin(*state);

    assert_int_equal(resize(w, 1, 0, GIB / 2), OK);
    assert_int_equal(w->parts_max, 2); /* the file, its sum */
    assert_int_equal(resize(w, 2, 0, 1), OK);
    assert_int_equal(w->parts_max, 1 + SHARE_USAGE_PARTS + 1);
    assert_int_equal(resize(w, 1, GIB / 2, 0), OK);
    assert_int_equal(w->parts_max, 2);
    assert_int_equal(resize(w, 1, 0, 0), OK);
    assert_int_equal(w->parts_max, 1);
    end(w);
}

static void lower_quota(struct world *w)
{
    set_quota(w, 1);
}

/* Rule: a quota that is set lower while somebody who has read the old one looks at the sums is a conflict. Found by
 * the simulator. */
static void lowered_quota(void **state)
{
    struct world *w = begin(*state), *other = begin(*state);

    set_quota(w, 2);
    other->state.share = w->state.share;
    assert_int_equal(resize(w, 1, 0, GIB), OK);
    between.world = other;
    between.happens = lower_quota;
    between.looks = 3;
    assert_int_equal(resize(w, 2, 0, 1),
                     E_ServerBusy); /* what it has of the share it does not read again */
    assert_int_equal(between.looks, 0);
    assert_int_equal(used(other), GIB);
    end(other);
    end(w);
}

/* Rule: a sum that is less than its files have is damage, and not a large number (promise 5). */
static void less_than_there_is(void **state)
{
    struct world *w = begin(*state);

    assert_int_equal(resize(w, 1, 5, 4), E_InternalError);
    assert_int_equal(used(w), 0);
    end(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sums, setup, teardown),
        cmocka_unit_test_setup_teardown(quota, setup, teardown),
        cmocka_unit_test_setup_teardown(refused_by_one_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(guards, setup, teardown),
        cmocka_unit_test_setup_teardown(lowered_quota, setup, teardown),
        cmocka_unit_test_setup_teardown(less_than_there_is, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
