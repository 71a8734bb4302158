/* Commits and snapshots: all or nothing, one state from open to close, no lost update, and what is
 * told is durable. store invariants 1 and 3 */
#include "conformance.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const struct bytes nothing = { NULL, 0 };

/* Rule: a record reads as it was put, by key and family; what was not put is not there. store.h */
static void records_read_as_put(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot;
    struct record record;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"), bytes_from_string("listed"), NULL,
                0);
    changes_put(changes, RECORD_INNER, bytes_from_string("k"), bytes_from_string("inner"), NULL, 0);
    changes_put(changes, RECORD_LISTED, nothing, bytes_from_string("at the empty key"), NULL, 0);
    changes_put(changes, RECORD_LISTED, bytes_from_string("empty"), nothing, NULL, 0);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);

    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_string_equal(get_text(snapshot, f->arena, "k"), "listed");
    assert_string_equal(get_text(snapshot, f->arena, ""), "at the empty key");
    assert_string_equal(get_text(snapshot, f->arena, "empty"), "");
    assert_string_equal(get_text(snapshot, f->arena, "kk"), "(none)");
    assert_int_equal(
        read_view_get(snapshot, RECORD_INNER, bytes_from_string("k"), f->arena, &record), STORE_OK);
    assert_true(bytes_is(record.value, "inner"));
    assert_true(bytes_is(record.key, "k"));
    assert_int_equal(record.piece_count, 0);
    assert_int_equal(
        read_view_get(snapshot, RECORD_INNER, bytes_from_string("empty"), f->arena, &record),
        STORE_NOT_FOUND);
    read_view_close(snapshot);
}

/* Rule: a later change in a list wins over an earlier one to the same key. store_private.h */
static void later_change_in_a_list_wins(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);

    put_text(f->store, f->partition, "c", "before");
    for (int i = 0; i < 3; i++)
        changes_put(changes, RECORD_LISTED, bytes_from_string("a"), bytes_of(&"123"[i], 1), NULL,
                    0);
    changes_put(changes, RECORD_LISTED, bytes_from_string("b"), bytes_from_string("x"), NULL, 0);
    changes_delete(changes, RECORD_LISTED, bytes_from_string("b"));
    changes_delete(changes, RECORD_LISTED, bytes_from_string("c"));
    changes_put(changes, RECORD_LISTED, bytes_from_string("c"), bytes_from_string("after"), NULL,
                0);
    assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "a"), "3");
    assert_string_equal(get_now(f->store, f->partition, f->arena, "b"), "(none)");
    assert_string_equal(get_now(f->store, f->partition, f->arena, "c"), "after");
}

/* Rule: a commit on a state that is no longer the newest changes nothing. store invariant 1 */
static void stale_commit_changes_nothing(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *stale;
    uint64_t sequence = 12345;

    put_text(f->store, f->partition, "old", "1");
    stale = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    put_text(f->store, f->partition, "other key", "2");

    changes_put(changes, RECORD_LISTED, bytes_from_string("new"), bytes_from_string("3"), NULL, 0);
    changes_put(changes, RECORD_INNER, bytes_from_string("new"), bytes_from_string("3"), NULL, 0);
    changes_delete(changes, RECORD_LISTED, bytes_from_string("old"));
    changes_drop_space(changes, f->partition.space);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ stale, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    assert_int_equal(sequence, 12345);
    read_view_close(stale);

    stale = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_string_equal(scan_text(stale, f->arena, nothing, nothing), "old=1 other key=2");
    read_view_close(stale);
}

/* Rule: any change of the partition since the snapshot is a conflict: its first record, its last,
 * one of another key or family. store.h */
static void any_change_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    struct read_view *seen_empty = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct changes *inner = changes_new(f->arena);
    struct read_view *seen_one;
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("mine"), bytes_from_string("m"), NULL, 0);
    changes_put(inner, RECORD_INNER, bytes_from_string("theirs"), nothing, NULL, 0);
    put_text(f->store, f->partition, "k", "1");
    assert_int_equal(store_commit(f->store, &(struct commit_part){ seen_empty, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(seen_empty);
    seen_one = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    delete_key(f->store, f->partition, "k");
    assert_int_equal(store_commit(f->store, &(struct commit_part){ seen_one, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(seen_one);
    seen_one = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(commit_new(f->store, f->partition, inner, NULL), STORE_OK);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ seen_one, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(seen_one);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "mine"), "(none)");
    assert_int_equal(commit_new(f->store, f->partition, changes, &sequence), STORE_OK);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "mine"), "m");
}

/* Rule: changes of other partitions are rarely a conflict. store.h, STORE_CONFLICT */
static void other_partitions_rarely_conflict(void **state)
{
    struct fixture *f = *state;
    int conflicts = 0;

    for (int i = 0; i < 200; i++) {
        struct partition mine = { f->partition.space, arena_printf(f->arena, "mine %d", i) };
        struct partition other = { f->partition.space, arena_printf(f->arena, "other %d", i) };
        struct read_view *snapshot = read_view_open(f->store, mine, STORE_MAY_BLOCK);
        struct changes *changes = changes_new(f->arena);
        enum store_result result;
        uint64_t sequence;

        put_text(f->store, other, "k", "1");
        changes_put(changes, RECORD_LISTED, bytes_from_string("k"), nothing, NULL, 0);
        result = store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                              STORE_MAY_BLOCK, &sequence);
        assert_true(result == STORE_OK || result == STORE_CONFLICT);
        conflicts += result == STORE_CONFLICT;
        read_view_close(snapshot);
    }
    assert_true(conflicts <= 10);
}

/* Rule: a snapshot shows one state from open to close. design: promise 4 */
static void snapshot_never_changes(void **state)
{
    struct fixture *f = *state;
    struct read_view *before, *after;
    struct scan *scan;
    struct record record;

    put_text(f->store, f->partition, "a", "1");
    put_text(f->store, f->partition, "c", "1");
    put_text(f->store, f->partition, "d", "1");
    before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    scan = scan_open(before, RECORD_LISTED, nothing, nothing);
    assert_int_equal(scan_next(scan, NULL, &record), STORE_OK);
    assert_true(bytes_is(record.key, "a"));

    put_text(f->store, f->partition, "a", "2");
    put_text(f->store, f->partition, "b", "2");
    delete_key(f->store, f->partition, "c");
    after = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    delete_key(f->store, f->partition, "a");

    assert_int_equal(scan_next(scan, NULL, &record), STORE_OK);
    assert_true(bytes_is(record.key, "c"));
    scan_close(scan);
    assert_string_equal(scan_text(before, f->arena, nothing, nothing), "a=1 c=1 d=1");
    assert_string_equal(get_text(before, f->arena, "b"), "(none)");
    assert_string_equal(scan_text(after, f->arena, nothing, nothing), "a=2 b=2 d=1");
    read_view_close(before);
    assert_string_equal(scan_text(after, f->arena, nothing, nothing), "a=2 b=2 d=1");
    read_view_close(after);
}

/* ---- several threads; cmocka's asserts are for the first thread only ---- */

#define THREADS    4
#define INCREMENTS 150

static void increment(struct fixture *f, struct arena *arena)
{
    for (;;) {
        struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
        unsigned long count = strtoul(get_text(snapshot, arena, "count") + 0, NULL, 10);
        struct changes *changes = changes_new(arena);
        enum store_result result;
        uint64_t sequence;

        changes_put(changes, RECORD_LISTED, bytes_from_string("count"),
                    arena_printf(arena, "%lu", count + 1), NULL, 0);
        result = store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                              STORE_MAY_BLOCK, &sequence);
        read_view_close(snapshot);
        assert(result == STORE_OK || result == STORE_CONFLICT);
        if (result == STORE_OK)
            return;
    }
}

static void *increment_often(void *argument)
{
    for (int i = 0; i < INCREMENTS; i++) {
        struct arena *arena = arena_new(64u << 20);

        increment(argument, arena);
        arena_free(arena);
    }
    return NULL;
}

/* Rule: of commits decided on one state, one is applied: no update is lost. store.h */
static void no_update_is_lost(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[THREADS];

    put_text(f->store, f->partition, "count", "0");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, increment_often, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(strtoul(get_now(f->store, f->partition, f->arena, "count"), NULL, 10),
                     THREADS * INCREMENTS);
}

struct watched {
    struct fixture *f;
    atomic_bool stop;
    atomic_uint looks;
};

/* Whether two records that are always changed together are the same, by get, scan and iterator. */
static void look(struct fixture *f, struct arena *arena)
{
    struct read_view *snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct space_iterator *iterator =
        space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    const char *a = get_text(snapshot, arena, "a");
    const char *b = get_text(snapshot, arena, "b");
    const char *both = arena_printf(arena, "a=%s b=%s%c", a, b, 0).ptr;
    struct space_record found;
    struct bytes seen = { NULL, 0 };

    assert(strcmp(a, b) == 0);
    if (strcmp(a, "(none)") != 0)
        assert(strcmp(scan_text(snapshot, arena, nothing, nothing), both) == 0);
    else
        assert(strcmp(scan_text(snapshot, arena, nothing, nothing), "") == 0);
    while (space_iterator_next(iterator, &found) == STORE_OK) {
        assert(!seen.ptr || bytes_equal(seen, found.value));
        seen = arena_copy(arena, found.value);
    }
    space_iterator_close(iterator);
    for (int i = 0; i < 5; i++) { /* writers have gone on meanwhile */
        assert(strcmp(get_text(snapshot, arena, "b"), b) == 0);
        assert(strcmp(get_text(snapshot, arena, "a"), a) == 0);
    }
    read_view_close(snapshot);
}

static void *look_often(void *argument)
{
    struct watched *watched = argument;

    while (!atomic_load(&watched->stop)) {
        struct arena *arena = arena_new(1u << 20);

        look(watched->f, arena);
        arena_free(arena);
        atomic_fetch_add(&watched->looks, 1);
    }
    return NULL;
}

/* Rule: a reader sees all changes of a commit or none, at any moment. store invariant 1 */
static void readers_see_all_or_none(void **state)
{
    struct fixture *f = *state;
    struct watched watched = { .f = f };
    pthread_t readers[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, look_often, &watched), 0);
    for (unsigned i = 1; i <= 400 || atomic_load(&watched.looks) < 50; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct changes *changes = changes_new(arena);
        struct bytes value = arena_printf(arena, "%u", i);

        for (const char *key = "ab"; *key; key++) {
            if (i % 5 == 0)
                changes_delete(changes, RECORD_LISTED, bytes_of(key, 1));
            else
                changes_put(changes, RECORD_LISTED, bytes_of(key, 1), value, NULL, 0);
        }
        assert_int_equal(commit_new(f->store, f->partition, changes, NULL), STORE_OK);
        arena_free(arena);
    }
    atomic_store(&watched.stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
}

/* Rule: a sequence is never below that of what was seen; its waiter is woken once, at once when it
 * is durable already; what is durable stays so. store invariant 3 */
static void durability_is_told(void **state)
{
    struct fixture *f = *state;
    struct blocking_waiter blocking;
    struct read_view *snapshot;
    uint64_t first, second, gone;

    blocking_init(&blocking);
    first = put_text(f->store, f->partition, "k", "1");
    second = put_text(f->store, f->partition, "k", "2");
    assert_true(second > first);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(read_view_sequence(snapshot) >= second);
    read_view_close(snapshot);
    gone = delete_key(f->store, f->partition, "k");
    assert_true(gone > second);
    snapshot =
        read_view_open(f->store, f->partition, STORE_MAY_BLOCK); /* that it is gone is seen too */
    assert_true(read_view_sequence(snapshot) >= gone);
    wait_durable(f->store, read_view_sequence(snapshot));
    assert_int_equal(store_durable(f->store, read_view_sequence(snapshot)), STORE_OK);
    read_view_close(snapshot);

    assert_int_equal(store_durable(f->store, first), STORE_OK);
    assert_int_equal(store_durable(f->store, second), STORE_OK);
    assert_int_equal(store_durable(f->store, gone), STORE_OK);
    store_wait_durable(f->store, gone, &blocking.waiter);
    assert_int_equal(blocking_woken(&blocking), 1);
    assert_true(store_healthy(f->store));
    blocking_release(&blocking);
}

static void *commit_and_wait(void *argument)
{
    struct fixture *f = argument;
    static atomic_uint names;
    char name[32];
    uint64_t last = 0;

    (void)snprintf(name, sizeof name, "thread %u", atomic_fetch_add(&names, 1));
    for (int i = 0; i < 25; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct changes *changes = changes_new(arena);
        enum store_result result;
        uint64_t sequence = 0;

        changes_put(changes, RECORD_LISTED, bytes_from_string("k"), arena_printf(arena, "%d", i),
                    NULL, 0);
        result = commit_new(f->store, partition_of(f->partition.space, name), changes, &sequence);
        assert(result == STORE_OK && sequence > last);
        wait_durable(f->store, sequence);
        assert(store_durable(f->store, sequence) == STORE_OK);
        last = sequence;
        arena_free(arena);
    }
    return NULL;
}

/* Rule: every waiter of every thread is woken. store invariant 3 */
static void many_wait_for_durability(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[THREADS];
    struct space_iterator *iterator;
    struct space_record found;
    int partitions = 0;

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, commit_and_wait, f), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    iterator = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    for (; space_iterator_next(iterator, &found) == STORE_OK; partitions++)
        assert_true(bytes_is(found.value, "24"));
    space_iterator_close(iterator);
    assert_int_equal(partitions, THREADS);
}

/* Rule: a snapshot is not the newest once anything of its partition has been committed; until then it may be, and
 * is so where nothing else is committed either, if the engine can tell at all. store.h */
static void newest_snapshots(void **state)
{
    struct fixture *f = *state;
    struct partition other = partition_of(f->partition.space, "other");
    struct read_view *before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct read_view *beside = read_view_open(f->store, other, STORE_MAY_BLOCK), *behind;
    bool can_tell = read_view_is_newest(before);

    assert_int_equal(read_view_is_newest(beside), can_tell);
    put_text(f->store, f->partition, "k", "1");
    assert_false(read_view_is_newest(before));
    behind = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(read_view_is_newest(behind), can_tell);
    put_text(f->store, other, "k", "1");
    assert_false(read_view_is_newest(before));
    assert_false(read_view_is_newest(beside));
    put_text(f->store, f->partition, "k", "2");
    assert_false(read_view_is_newest(behind));
    assert_string_equal(get_text(behind, f->arena, "k"), "1");
    read_view_close(before);
    read_view_close(beside);
    read_view_close(behind);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(records_read_as_put, EVERY_STORE),
        TEST(later_change_in_a_list_wins, EVERY_STORE),
        TEST(stale_commit_changes_nothing, EVERY_STORE),
        TEST(any_change_is_a_conflict, EVERY_STORE),
        TEST(other_partitions_rarely_conflict, EVERY_STORE),
        TEST(snapshot_never_changes, EVERY_STORE),
        TEST(newest_snapshots, EVERY_STORE),
        TEST(no_update_is_lost, EVERY_STORE),
        TEST(readers_see_all_or_none, EVERY_STORE),
        TEST(durability_is_told, EVERY_STORE),
        TEST(many_wait_for_durability, EVERY_STORE),
    };

    return conformance_run("commit", tests, sizeof tests / sizeof tests[0]);
}
