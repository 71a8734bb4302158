/* A reader that looks again at what it has read sees what others have committed meanwhile, also where it is repeated while
 * records are fetched. store.h store_access.afresh, snapshot_confirm(); on a RADOS in memory */
#include "decider.h"

static void put(struct fixture *f, struct store *store, const char *value)
{
    struct changes *changes = changes_new(f->arena);
    struct commit_part part = {
        snapshot_open(store, (struct partition){ f->space, B("p") }, STORE_MAY_BLOCK), changes
    };
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, B("n"), B(value), NULL, 0);
    assert_int_equal(snapshot_hold(part.snapshot), STORE_OK);
    assert_int_equal(store_commit(store, &part, 1, clock_above(snapshot_instant(part.snapshot)),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    snapshot_close(part.snapshot);
}

/* Reads it several times in one attempt, as a decision does: first, again, afresh, afresh again. */
struct reader {
    struct fetch_set *set;
    char read[4]; /* the first byte of each */
    enum store_result confirmed;
};

static enum store_result read_one(struct fixture *f, struct reader *r, unsigned at, bool is_afresh)
{
    const struct store_access access = { .fetches = r->set, .afresh = is_afresh };
    struct snapshot *snapshot =
        snapshot_open(f->store, (struct partition){ f->space, B("p") }, access);
    struct record record;
    enum store_result result = snapshot_get(snapshot, RECORD_INNER, B("n"), f->arena, &record);

    if (!result)
        r->read[at] = record.value.ptr[0];
    snapshot_close(snapshot);
    return result;
}

static enum store_result confirm(struct fixture *f, struct reader *r)
{
    struct store_access access = { .fetches = r->set };
    const struct partition partition = { f->space, B("p") };
    struct snapshot *first = snapshot_open(f->store, partition, access), *now;
    enum store_result result;

    access.afresh = true;
    now = snapshot_open(f->store, partition, access);
    result = snapshot_confirm(first, now);
    snapshot_close(first);
    snapshot_close(now);
    return result;
}

/* One attempt. changes: others' that come after the first read, and after the first one afresh. */
static enum store_result attempt(struct fixture *f, struct reader *r, bool *changes)
{
    enum store_result result = read_one(f, r, 0, false);

    if (!result && changes[0])
        put(f, f->faster, "2");
    changes[0] = changes[0] && result;
    if (!result)
        result = read_one(f, r, 1, false);
    if (!result)
        result = read_one(f, r, 2, true);
    if (!result && changes[1])
        put(f, f->faster, "3");
    changes[1] = changes[1] && result;
    if (!result)
        result = read_one(f, r, 3, true);
    if (!result)
        result = r->confirmed = confirm(f, r);
    return result;
}

static struct reader read_often(struct fixture *f, bool is_first_changed, bool is_second_changed)
{
    struct reader r = { .set = fetch_set_open(f->store) };
    bool changes[2] = { is_first_changed, is_second_changed };

    fetch_set_begin(r.set);
    while (attempt(f, &r, changes) == STORE_WAIT) {
        wait_for(r.set);
        fetch_set_begin(r.set);
    }
    fetch_set_close(r.set);
    return r;
}

/* Rule: what is read afresh is what is there now, in each repetition the same; what is read without that is what was
 * read first. A look behind says that it has changed. */
static void looks_again(void **state)
{
    struct fixture *f = *state;
    struct reader r;

    f->faster = live_open(live_client(f->live), 0);
    put(f, f->faster, "1");
    r = read_often(f, true, true);
    assert_memory_equal(r.read, "1123", 4);
    assert_int_equal(r.confirmed, STORE_CONFLICT);
}

/* Rule: what has not changed is confirmed. */
static void nothing_changed(void **state)
{
    struct fixture *f = *state;
    struct reader r;

    f->faster = live_open(live_client(f->live), 0);
    put(f, f->faster, "1");
    r = read_often(f, false, false);
    assert_memory_equal(r.read, "1111", 4);
    assert_int_equal(r.confirmed, STORE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(looks_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_changed, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
