/* States that are kept, and gone back to. store/states.h */
#include "conformance.h"

#include <stdlib.h>

#include "store/states.h"
#ifdef LAGRA_GATES
#include "store/embedded/embedded_private.h"
#endif

/* A space that no return touches. */
static const struct guid left_alone = { { 9 } };

/* The late store keeps none. */
static bool keeps_states(struct fixture *f)
{
    struct store_state *kept = store_keep_state(f->store);

    if (kept)
        store_drop_state(f->store, kept);
    return kept;
}

static void go_back(struct store *store, struct store_state *kept)
{
    uint64_t sequence;

    assert_int_equal(store_return_to(store, kept, &left_alone, &sequence), STORE_OK);
    assert_int_equal(store_await(store, sequence), STORE_OK);
}

static int64_t count_of(struct fixture *f)
{
    uint64_t sequence;
    int64_t sum;

    assert_int_equal(store_count(f->store, f->partition.space, bytes_from_string("n"),
                                 STORE_MAY_BLOCK, &sum, &sequence),
                     STORE_OK);
    return sum;
}

/* One record of the index, a task, and an addition to the counter. */
static void commit_beside(struct fixture *f, const char *key)
{
    struct changes *changes = changes_new(f->arena);

    changes_index_put(changes, bytes_from_string(key), bytes_from_string("i"));
    changes_count(changes, bytes_from_string("n"), 1);
    (void)changes_defer(changes, 1, 7, bytes_from_string(key));
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
}

static size_t tasks_of(struct fixture *f)
{
    struct deferred_task task, after;
    size_t count = 0;
    instant due;

    while (!store_task_next(f->store, INSTANT_MAX - 1, count > 0 ? &after : NULL, f->arena, &task,
                            &due)) {
        after = task;
        count++;
    }
    return count;
}

static size_t index_of(struct fixture *f)
{
    const struct bytes none = BYTES("");
    struct index_iterator *iterator =
        index_iterator_open(f->store, f->partition.space, none, none, none, STORE_MAY_BLOCK);
    struct index_record record;
    size_t count = 0;

    while (!index_iterator_next(iterator, &record))
        count++;
    index_iterator_close(iterator);
    return count;
}

/* Rule: records, index, counters and tasks are as they were; so it is after a restart. */
static void all_is_as_it_was(void **state)
{
    struct fixture *f = *state;
    struct store_state *kept;

    if (!keeps_states(f))
        skip();
    put_text(f->store, f->partition, "a", "1");
    put_text(f->store, f->partition, "b", "1");
    commit_beside(f, "first");
    kept = store_keep_state(f->store);
    for (int round = 0; round < 3; round++) {
        put_text(f->store, f->partition, "a", "2");
        put_text(f->store, f->partition, "c", "2");
        delete_key(f->store, f->partition, "b");
        commit_beside(f, "second");
        assert_int_equal(tasks_of(f), 2);
        go_back(f->store, kept);
        assert_string_equal(get_now(f->store, f->partition, f->arena, "a"), "1");
        assert_string_equal(get_now(f->store, f->partition, f->arena, "b"), "1");
        assert_string_equal(get_now(f->store, f->partition, f->arena, "c"), "(none)");
        assert_int_equal(count_of(f), 1);
        assert_int_equal(tasks_of(f), 1);
        assert_int_equal(index_of(f), 1);
    }
    store_drop_state(f->store, kept);
    if (!f->engine->on_disk)
        return;
    fixture_reopen(f);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "b"), "1");
    assert_string_equal(get_now(f->store, f->partition, f->arena, "c"), "(none)");
    assert_int_equal(count_of(f), 1);
    assert_int_equal(tasks_of(f), 1);
}

/* Rule: one space stays as it is now. */
static void a_space_is_left_alone(void **state)
{
    struct fixture *f = *state;
    struct partition other = partition_of(left_alone, "p");
    struct store_state *kept;

    if (!keeps_states(f))
        skip();
    put_text(f->store, other, "a", "1");
    put_text(f->store, other, "b", "1");
    kept = store_keep_state(f->store);
    put_text(f->store, other, "a", "2");
    put_text(f->store, other, "c", "2");
    delete_key(f->store, other, "b");
    put_text(f->store, f->partition, "a", "2");
    go_back(f->store, kept);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "a"), "(none)");
    assert_string_equal(get_now(f->store, other, f->arena, "a"), "2");
    assert_string_equal(get_now(f->store, other, f->arena, "b"), "(none)");
    assert_string_equal(get_now(f->store, other, f->arena, "c"), "2");
    put_text(f->store, other, "a", "3");
    go_back(f->store, kept);
    assert_string_equal(get_now(f->store, other, f->arena, "a"), "3");
    store_drop_state(f->store, kept);
}

/* Rule: what was decided on a partition that has become another one is decided again; open snapshots show what they
 * showed. */
static void decisions_before_conflict(void **state)
{
    struct fixture *f = *state;
    struct store_state *kept;
    struct read_view *old;
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;

    if (!keeps_states(f))
        skip();
    put_text(f->store, f->partition, "a", "1");
    kept = store_keep_state(f->store);
    put_text(f->store, f->partition, "a", "2");
    old = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    go_back(f->store, kept);
    assert_string_equal(get_text(old, f->arena, "a"), "2");
    changes_put(changes, RECORD_LISTED, bytes_from_string("x"), bytes_from_string("x"), NULL, 0);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ old, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(old);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "a"), "1");
    store_drop_state(f->store, kept);
}

/* Rule: so is what was decided on something that was read before, though it changes only what is as it was: nobody would
 * name what a container has that is not there. decision: 646 */
static void what_was_read_before(void **state)
{
    struct fixture *f = *state;
    struct store_access access = STORE_MAY_BLOCK;
    struct changes *changes = changes_new(f->arena);
    struct partition within = partition_of(guid_new(), "p");
    struct store_state *kept;
    struct commit_part part;
    uint64_t sequence;

    if (!keeps_states(f))
        skip();
    changes_put(changes, RECORD_LISTED, bytes_from_string("x"), bytes_from_string("x"), NULL, 0);
    kept = store_keep_state(f->store);
    put_text(f->store, f->partition, "container", "1");
    access.returns = store_returns(f->store);
    go_back(f->store, kept);
    part = (struct commit_part){ read_view_open(f->store, within, access), changes };
    assert_int_equal(store_commit(f->store, &part, 1, clock_now(), access, &sequence),
                     STORE_CONFLICT);
    assert_string_equal(get_now(f->store, within, f->arena, "x"), "(none)");
    access.returns = store_returns(f->store);
    assert_int_equal(store_commit(f->store, &part, 1, clock_now(), access, &sequence), STORE_OK);
    read_view_close(part.snapshot);
    store_drop_state(f->store, kept);
}

/* Rule: a space that was dropped since is there again, with all that was in it, however far it was collected; one that
 * was dropped before is not. */
static void dropped_spaces(void **state)
{
    struct fixture *f = *state;
    struct partition before = partition_of(guid_new(), "p"), since = partition_of(guid_new(), "p");
    struct partition of_drops = partition_of(guid_new(), "d");
    struct changes *drop = changes_new(f->arena), *again = changes_new(f->arena);
    struct read_view *snapshot;
    struct store_state *kept;

    if (!keeps_states(f))
        skip();
    put_stream(f->store, before, "s", 100000, 1);
    put_stream(f->store, since, "s", 100000, 2);
    put_text(f->store, since, "t", "t");
    changes_drop_space(drop, before.space);
    assert_int_equal(commit_new(f->store, of_drops, drop, NULL), STORE_OK);
    kept = store_keep_state(f->store);
    for (int round = 0; round < 3; round++) {
        again = changes_new(f->arena);
        changes_drop_space(again, since.space);
        assert_int_equal(commit_new(f->store, of_drops, again, NULL), STORE_OK);
        if (round != 1)
            (void)usage_now(f->store);
        go_back(f->store, kept);
        snapshot = read_view_open(f->store, since, STORE_MAY_BLOCK);
        assert_true(stream_matches(f->store, snapshot, "s", 100000, 2));
        read_view_close(snapshot);
        put_text(f->store, since, "t", "u");
        assert_string_equal(get_now(f->store, before, f->arena, "s"), "(none)");
    }
    store_drop_state(f->store, kept);
    delete_stream(f->store, since, "s");
    assert_all_given_back(f->store);
}

/* ---- at random, against a model ---- */

#define KEYS    24u
#define SPACES  3u
#define STATES  3u
#define READERS 4u
#define STEPS   3000u

/* What a store has: the seeds of streams, 0: none. */
struct world {
    struct guid spaces[SPACES];
    uint64_t seeds[KEYS];
};

struct reader {
    struct read_view *snapshot; /* of the partition of a key; NULL: none */
    unsigned key;
    uint64_t seed;
};

struct trial {
    struct fixture *f;
    struct random random;
    struct world now, then[STATES];
    struct store_state *kept[STATES];
    struct reader readers[READERS];
    uint64_t next_seed;
};

static struct partition place_of(const struct trial *run, unsigned key)
{
    static const char *const names[] = { "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7" };

    return partition_of(run->now.spaces[key % SPACES], names[key / SPACES]);
}

static uint64_t length_of(uint64_t seed)
{
    return 1 + seed * 7919 % 200000;
}

/* Deletes what is there, and puts another in its place or not. */
static void change(struct trial *run)
{
    unsigned key = (unsigned)random_below(&run->random, KEYS);

    if (run->now.seeds[key] > 0)
        delete_stream(run->f->store, place_of(run, key), "s");
    run->now.seeds[key] = 0;
    if (random_below(&run->random, 3) == 0)
        return;
    run->now.seeds[key] = ++run->next_seed;
    put_stream(run->f->store, place_of(run, key), "s", length_of(run->next_seed), run->next_seed);
}

/* A container is deleted, and another one made. */
static void drop_a_space(struct trial *run)
{
    unsigned space = (unsigned)random_below(&run->random, SPACES);
    struct changes *changes = changes_new(run->f->arena);

    changes_drop_space(changes, run->now.spaces[space]);
    assert_int_equal(commit_new(run->f->store, run->f->partition, changes, NULL), STORE_OK);
    run->now.spaces[space] = guid_new();
    for (unsigned key = space; key < KEYS; key += SPACES)
        run->now.seeds[key] = 0;
}

static void check_key(struct trial *run, unsigned key)
{
    struct read_view *snapshot = read_view_open(run->f->store, place_of(run, key), STORE_MAY_BLOCK);

    assert_int_equal(stream_matches(run->f->store, snapshot, "s", length_of(run->now.seeds[key]),
                                    run->now.seeds[key]),
                     run->now.seeds[key] > 0);
    read_view_close(snapshot);
}

static void use_states(struct trial *run)
{
    unsigned at = (unsigned)random_below(&run->random, STATES);
    struct store *store = run->f->store;

    if (!run->kept[at]) {
        run->kept[at] = store_keep_state(store);
        run->then[at] = run->now;
    } else if (random_below(&run->random, 3) == 0) {
        store_drop_state(store, run->kept[at]);
        run->kept[at] = NULL;
    } else {
#ifdef LAGRA_GATES
        if (run->f->engine->on_disk && random_below(&run->random, 4) == 0) {
            struct states *states = &embedded_of(store)->states;

            lock_acquire(&states->written_lock);
            written_release(&run->kept[at]->written);
            run->kept[at]->written.is_all = true;
            lock_release(&states->written_lock);
        }
#endif
        go_back(store, run->kept[at]);
        run->now = run->then[at];
        for (unsigned key = 0; key < KEYS; key++)
            check_key(run, key);
    }
}

/* A reader stays while all else goes on, and sees what it saw. */
static void use_readers(struct trial *run)
{
    struct reader *reader = &run->readers[random_below(&run->random, READERS)];

    if (reader->snapshot) {
        assert_true(stream_matches(run->f->store, reader->snapshot, "s", length_of(reader->seed),
                                   reader->seed));
        read_view_close(reader->snapshot);
        reader->snapshot = NULL;
        return;
    }
    reader->key = (unsigned)random_below(&run->random, KEYS);
    reader->seed = run->now.seeds[reader->key];
    if (reader->seed > 0)
        reader->snapshot =
            read_view_open(run->f->store, place_of(run, reader->key), STORE_MAY_BLOCK);
}

static void end_run(struct trial *run)
{
    for (unsigned i = 0; i < READERS; i++)
        if (run->readers[i].snapshot)
            read_view_close(run->readers[i].snapshot);
    for (unsigned i = 0; i < STATES; i++)
        if (run->kept[i])
            store_drop_state(run->f->store, run->kept[i]);
    for (unsigned key = 0; key < KEYS; key++)
        if (run->now.seeds[key] > 0)
            delete_stream(run->f->store, place_of(run, key), "s");
    assert_all_given_back(run->f->store);
}

/* Rule: whatever is done, each state is there whole, readers keep what they read, and all room comes back. */
static void at_random(void **state)
{
    struct fixture *f = *state;
    const char *seed = getenv("LAGRA_SEED");
    struct trial run = { .f = f, .random = { seed ? strtoull(seed, NULL, 10) : 1 } };

    if (!keeps_states(f))
        skip();
    for (unsigned i = 0; i < SPACES; i++)
        run.now.spaces[i] = guid_new();
    for (unsigned step = 0; step < STEPS / (f->engine->on_disk ? 4 : 1); step++) {
        uint64_t which = random_below(&run.random, 100);

        if (which < 55)
            change(&run);
        else if (which < 58)
            drop_a_space(&run);
        else if (which < 75)
            use_states(&run);
        else if (which < 97)
            use_readers(&run);
        else
            (void)usage_now(f->store);
    }
    end_run(&run);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(all_is_as_it_was, EVERY_STORE),
        TEST(a_space_is_left_alone, EVERY_STORE),
        TEST(decisions_before_conflict, EVERY_STORE),
        TEST(what_was_read_before, EVERY_STORE),
        TEST(dropped_spaces, EVERY_STORE),
        TEST(at_random, EVERY_STORE),
    };

    return conformance_run("states", tests, sizeof tests / sizeof tests[0]);
}
