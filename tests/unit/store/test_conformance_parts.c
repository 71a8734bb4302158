/* Commits of several partitions: all or none, guards, pieces that move.
 * store invariants 1 and 4; store.h, store_commit() */
#include "conformance.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define PARTITIONS 6
#define THREADS    4
#define ROUNDS     300

static const struct bytes nothing = { NULL, 0 };

static struct partition numbered(const struct fixture *f, struct arena *arena, unsigned number)
{
    return (struct partition){ f->partition.space, arena_printf(arena, "p%u", number) };
}

static void put(struct changes *changes, const char *key, struct bytes value)
{
    changes_put(changes, RECORD_LISTED, bytes_from_string(key), value, NULL, 0);
}

static enum store_result commit(struct fixture *f, const struct commit_part *parts, size_t count)
{
    uint64_t sequence;

    return store_commit(f->store, parts, count, clock_now(), STORE_MAY_BLOCK, &sequence);
}

static struct changes *one_put(struct fixture *f, const char *key, const char *value)
{
    struct changes *changes = changes_new(f->arena);

    put(changes, key, bytes_from_string(value));
    return changes;
}

/* Rule: both parts are applied, or, when either has changed, neither; in whatever order they are
 * given, and whichever stripes they fall into. */
static void parts_go_together(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 60; i++) {
        struct partition a = numbered(f, f->arena, 2 * i), b = numbered(f, f->arena, 2 * i + 1);
        struct read_view *old_a = read_view_open(f->store, a, STORE_MAY_BLOCK);
        struct read_view *old_b = read_view_open(f->store, b, STORE_MAY_BLOCK);
        struct commit_part parts[2] = { { old_a, one_put(f, "k", "a") },
                                        { old_b, one_put(f, "k", "b") } };
        struct commit_part back[2] = { parts[1], parts[0] };
        bool is_disturbed = i % 3 != 0;

        if (is_disturbed)
            put_text(f->store, i % 3 == 1 ? a : b, "k", "mine");
        assert_int_equal(commit(f, i % 2 ? parts : back, 2),
                         is_disturbed ? STORE_CONFLICT : STORE_OK);
        read_view_close(old_a);
        read_view_close(old_b);
        assert_string_equal(get_now(f->store, a, f->arena, "k"),
                            i % 3 == 0 ? "a" : (i % 3 == 1 ? "mine" : "(none)"));
        assert_string_equal(get_now(f->store, b, f->arena, "k"),
                            i % 3 == 0 ? "b" : (i % 3 == 2 ? "mine" : "(none)"));
    }
}

/* Rule: a guard writes nothing, refuses the commit when its partition has changed, and its snapshot
 * goes on to show its state after the commit. */
static void guards_guard(void **state)
{
    struct fixture *f = *state;
    struct partition rule = partition_of(f->partition.space, "rule");
    struct read_view *guard, *own;

    put_text(f->store, rule, "k", "1");
    guard = read_view_open(f->store, rule, STORE_MAY_BLOCK);
    own = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        commit(f, (struct commit_part[]){ { guard, NULL }, { own, one_put(f, "k", "x") } }, 2),
        STORE_OK);
    read_view_close(own);
    assert_string_equal(get_text(guard, f->arena, "k"), "1");
    put_text(f->store, rule, "k", "2");
    assert_string_equal(get_text(guard, f->arena, "k"), "1");

    own = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_int_equal(
        commit(f, (struct commit_part[]){ { own, one_put(f, "k", "y") }, { guard, NULL } }, 2),
        STORE_CONFLICT);
    assert_string_equal(get_text(own, f->arena, "k"), "x"); /* not spent */
    read_view_close(own);
    read_view_close(guard);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "k"), "x");
}

/* Rule: when the space of any part is dropped, nothing is committed. */
static void dropped_space_refuses_all_parts(void **state)
{
    struct fixture *f = *state;
    struct partition other = partition_of(guid_new(), "other");
    struct partition third = partition_of(f->partition.space, "third");
    struct read_view *a = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct read_view *b = read_view_open(f->store, other, STORE_MAY_BLOCK);
    struct changes *drop = changes_new(f->arena);

    changes_drop_space(drop, other.space);
    assert_int_equal(commit_new(f->store, third, drop, NULL), STORE_OK);
    assert_int_equal(
        commit(f, (struct commit_part[]){ { a, one_put(f, "k", "x") }, { b, NULL } }, 2),
        STORE_NOT_FOUND);
    assert_string_equal(get_text(a, f->arena, "k"), "(none)");
    read_view_close(a);
    read_view_close(b);
}

/* Rule: a piece that has moved keeps its bytes for those who see it at its old place, also when it
 * is freed at the new one. store invariant 4 */
static void moved_pieces_stay_readable(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 8; i++) {
        struct partition from = numbered(f, f->arena, 2 * i), to = numbered(f, f->arena, 2 * i + 1);
        struct read_view *reader, *late, *a, *b;
        struct changes *take = changes_new(f->arena), *give = changes_new(f->arena);
        struct record record;

        put_stream(f->store, from, "s", 300000, i);
        reader = read_view_open(f->store, from, STORE_MAY_BLOCK);
        a = read_view_open(f->store, from, STORE_MAY_BLOCK);
        b = read_view_open(f->store, to, STORE_MAY_BLOCK);
        assert_int_equal(read_view_get(a, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
                         STORE_OK);
        changes_delete(take, RECORD_LISTED, record.key);
        changes_release(take, record.pieces, record.piece_count);
        changes_put(give, RECORD_LISTED, bytes_from_string("t"), nothing, record.pieces,
                    record.piece_count);
        assert_int_equal(commit(f, (struct commit_part[]){ { a, take }, { b, give } }, 2),
                         STORE_OK);
        read_view_close(a);
        read_view_close(b);
        assert_int_equal(usage_now(f->store).piece_bytes, 300000);
        late = read_view_open(f->store, to, STORE_MAY_BLOCK);
        assert_true(stream_matches(f->store, late, "t", 300000, i));
        delete_stream(f->store, to, "t");
        (void)usage_now(f->store);
        assert_true(stream_matches(f->store, reader, "s", 300000, i));
        if (i % 2) {
            read_view_close(reader);
            (void)usage_now(f->store);
            assert_true(stream_matches(f->store, late, "t", 300000, i));
            read_view_close(late);
        } else {
            read_view_close(late);
            (void)usage_now(f->store);
            assert_true(stream_matches(f->store, reader, "s", 300000, i));
            read_view_close(reader);
        }
        assert_all_given_back(f->store);
    }
}

/* ---- racing ---- */

struct race {
    struct fixture *f;
    unsigned number;
};

static uint64_t value_of(struct read_view *snapshot, struct arena *arena)
{
    struct record record;
    uint64_t value = 0;

    if (read_view_get(snapshot, RECORD_LISTED, bytes_from_string("k"), arena, &record) == STORE_OK)
        assert(bytes_parse_u64(record.value, UINT64_MAX, &value));
    return value;
}

/* Moves one from a partition to another, guarded by a third that everybody changes now and then. */
static void *transfer(void *argument)
{
    struct race *race = argument;
    struct fixture *f = race->f;
    struct random random = { race->number };

    for (int i = 0; i < ROUNDS;) {
        struct arena *arena = arena_new(1u << 20);
        unsigned from = (unsigned)random_below(&random, PARTITIONS);
        unsigned to = (from + 1 + (unsigned)random_below(&random, PARTITIONS - 1)) % PARTITIONS;
        struct read_view *a = read_view_open(f->store, numbered(f, arena, from), STORE_MAY_BLOCK);
        struct read_view *b = read_view_open(f->store, numbered(f, arena, to), STORE_MAY_BLOCK);
        struct changes *less = changes_new(arena), *more = changes_new(arena);
        struct commit_part parts[] = { { a, less }, { b, more } };
        uint64_t has = value_of(a, arena), sequence;
        enum store_result result = STORE_OK;

        if (has > 0) {
            put(less, "k", arena_printf(arena, "%llu", (unsigned long long)(has - 1)));
            put(more, "k",
                arena_printf(arena, "%llu", (unsigned long long)(value_of(b, arena) + 1)));
            result = store_commit(f->store, parts, 2, clock_now(), STORE_MAY_BLOCK, &sequence);
        }
        assert(result == STORE_OK || result == STORE_CONFLICT);
        i += result == STORE_OK;
        read_view_close(a);
        read_view_close(b);
        arena_free(arena);
    }
    return NULL;
}

static void run_threads(struct fixture *f, void *(*run)(void *))
{
    pthread_t threads[THREADS];
    struct race races[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        races[i] = (struct race){ f, i };
        assert_int_equal(pthread_create(&threads[i], NULL, run, &races[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Rule: nothing is lost or made when many commits of two partitions race. store invariant 1 */
static void transfers_keep_the_sum(void **state)
{
    struct fixture *f = *state;
    uint64_t sum = 0;

    for (unsigned i = 0; i < PARTITIONS; i++)
        put_text(f->store, numbered(f, f->arena, i), "k", "10");
    run_threads(f, transfer);
    for (unsigned i = 0; i < PARTITIONS; i++) {
        struct read_view *snapshot =
            read_view_open(f->store, numbered(f, f->arena, i), STORE_MAY_BLOCK);

        sum += value_of(snapshot, f->arena);
        read_view_close(snapshot);
    }
    assert_int_equal(sum, 10 * PARTITIONS);
}

/* Two doctors: each thread goes off duty only while the other partition says 1, guarded by it, and
 * comes back unconditionally. Without guards both would go now and then (write skew). */
static void *go_on_and_off(void *argument)
{
    struct race *race = argument;
    struct fixture *f = race->f;
    unsigned own = race->number % 2;

    for (int i = 0; i < ROUNDS; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct read_view *mine = read_view_open(f->store, numbered(f, arena, own), STORE_MAY_BLOCK);
        struct read_view *other =
            read_view_open(f->store, numbered(f, arena, 1 - own), STORE_MAY_BLOCK);
        uint64_t is_on = value_of(mine, arena), other_on = value_of(other, arena), sequence;
        struct changes *changes = changes_new(arena);
        struct commit_part parts[] = { { mine, changes }, { other, NULL } };
        enum store_result result = STORE_CONFLICT;

        put(changes, "k", bytes_from_string(is_on ? "0" : "1"));
        if (!is_on || other_on)
            result = store_commit(f->store, parts, 2, clock_now(), STORE_MAY_BLOCK, &sequence);
        /* Two who are off, seen in a state that was guarded: the rule was broken. */
        assert(result != STORE_OK || is_on || other_on);
        assert(result == STORE_OK || result == STORE_CONFLICT);
        read_view_close(mine);
        read_view_close(other);
        arena_free(arena);
    }
    return NULL;
}

/* Rule: a guard prevents write skew under racing writers. */
static void guards_hold_under_races(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++)
        put_text(f->store, numbered(f, f->arena, i), "k", "1");
    run_threads(f, go_on_and_off);
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(parts_go_together, EVERY_STORE),
        TEST(guards_guard, EVERY_STORE),
        TEST(dropped_space_refuses_all_parts, EVERY_STORE),
        TEST(moved_pieces_stay_readable, EVERY_STORE),
        TEST(transfers_keep_the_sum, EVERY_STORE),
        TEST(guards_hold_under_races, EVERY_STORE),
    };

    return conformance_run("parts", tests, sizeof tests / sizeof tests[0]);
}
