/* Indexes and counters of a space: ordered over all partitions, exact, gone with the space.
 * store.h, "indexes and counters of a space" */
#include "conformance.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static const struct bytes nothing = { NULL, 0 };

static const char *index_text_at(struct fixture *f, struct bytes prefix, struct bytes from,
                                 struct bytes from_partition)
{
    struct index_iterator *iterator = index_iterator_open(f->store, f->partition.space, prefix,
                                                          from, from_partition, STORE_MAY_BLOCK);
    struct index_record found;
    struct text out;

    text_init(&out, f->arena, 64);
    while (index_iterator_next(iterator, &found) == STORE_OK)
        text_printf(&out, "%s%.*s@%.*s=%.*s", out.len > 0 ? " " : "", BYTES_ARG(found.key),
                    BYTES_ARG(found.partition_key), BYTES_ARG(found.value));
    assert_int_equal(index_iterator_next(iterator, &found), STORE_NOT_FOUND);
    wait_durable(f->store, index_iterator_sequence(iterator));
    index_iterator_close(iterator);
    text_add_char(&out, 0);
    return text_bytes(&out).ptr;
}

static const char *index_text(struct fixture *f, struct bytes prefix, struct bytes from)
{
    return index_text_at(f, prefix, from, nothing);
}

static void put_index(struct fixture *f, const char *partition, const char *key, const char *value)
{
    struct changes *changes = changes_new(f->arena);

    if (value)
        changes_index_put(changes, bytes_from_string(key), bytes_from_string(value));
    else
        changes_index_delete(changes, bytes_from_string(key));
    assert_int_equal(
        commit_new(f->store, partition_of(f->partition.space, partition), changes, NULL), STORE_OK);
}

/* Rule: index records are in order of (key, partition), from a key, with a prefix; the same key of
 * two partitions is two records; they are no records of their partition. */
static void index_is_ordered_over_partitions(void **state)
{
    struct fixture *f = *state;

    put_index(f, "z", "b", "1");
    put_index(f, "a", "b", "2");
    put_index(f, "m", "ab", "3");
    put_index(f, "m", "c", "4");
    put_index(f, "m", "", "5");
    assert_string_equal(index_text(f, nothing, nothing), "@m=5 ab@m=3 b@a=2 b@z=1 c@m=4");
    assert_string_equal(index_text(f, bytes_from_string("b"), nothing), "b@a=2 b@z=1");
    assert_string_equal(index_text(f, nothing, bytes_from_string("b")), "b@a=2 b@z=1 c@m=4");
    assert_string_equal(index_text_at(f, nothing, bytes_from_string("b"), bytes_from_string("aa")),
                        "b@z=1 c@m=4");
    assert_string_equal(
        index_text_at(f, bytes_from_string("b"), bytes_from_string("b"), bytes_from_string("z")),
        "b@z=1");
    assert_string_equal(
        index_text_at(f, bytes_from_string("b"), bytes_from_string("a"), bytes_from_string("z")),
        "b@a=2 b@z=1"); /* a place before the prefix */
    put_index(f, "a", "b", "6");
    put_index(f, "z", "b", NULL);
    put_index(f, "z", "none", NULL);
    assert_string_equal(index_text(f, nothing, nothing), "@m=5 ab@m=3 b@a=6 c@m=4");
    assert_string_equal(get_now(f->store, partition_of(f->partition.space, "m"), f->arena, "c"),
                        "(none)");
    if (f->engine->on_disk) {
        fixture_reopen(f);
        assert_string_equal(index_text(f, nothing, nothing), "@m=5 ab@m=3 b@a=6 c@m=4");
    }
}

/* Rule: any bytes may be in keys of an index and of a partition. */
static void index_keys_are_any_bytes(void **state)
{
    static const struct bytes keys[] = { BYTES(""),       BYTES("\0"),     BYTES("\0\0"),
                                         BYTES("\0\x01"), BYTES("\0\xff"), BYTES("a"),
                                         BYTES("a\0b"),   BYTES("a\x01"),  BYTES("\xff") };
    const size_t count = sizeof keys / sizeof keys[0];
    struct fixture *f = *state;
    struct index_iterator *iterator;
    struct index_record found;

    for (size_t p = count; p > 0; p--)
        for (size_t k = 0; k < count; k++) {
            struct changes *changes = changes_new(f->arena);

            changes_index_put(changes, keys[k], nothing);
            assert_int_equal(commit_new(f->store,
                                        (struct partition){ f->partition.space, keys[p - 1] },
                                        changes, NULL),
                             STORE_OK);
        }
    iterator = index_iterator_open(f->store, f->partition.space, nothing, nothing, nothing,
                                   STORE_MAY_BLOCK);
    for (size_t k = 0; k < count; k++)
        for (size_t p = 0; p < count; p++) {
            assert_int_equal(index_iterator_next(iterator, &found), STORE_OK);
            assert_true(bytes_equal(found.key, keys[k]));
            assert_true(bytes_equal(found.partition_key, keys[p]));
        }
    assert_int_equal(index_iterator_next(iterator, &found), STORE_NOT_FOUND);
    index_iterator_close(iterator);
}

/* Rule: an index record is written with its record or not at all. store invariant 1 */
static void index_goes_with_its_commit(void **state)
{
    struct fixture *f = *state;
    struct read_view *stale = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence;
    int64_t sum;

    put_text(f->store, f->partition, "k", "1");
    changes_index_put(changes, bytes_from_string("i"), nothing);
    changes_count(changes, bytes_from_string("n"), 1);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ stale, changes }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(stale);
    assert_string_equal(index_text(f, nothing, nothing), "");
    assert_int_equal(store_count(f->store, f->partition.space, bytes_from_string("n"),
                                 STORE_MAY_BLOCK, &sum, &sequence),
                     STORE_OK);
    assert_int_equal(sum, 0);
}

static int64_t count_now(struct fixture *f, const char *name)
{
    int64_t sum = -1;
    uint64_t sequence;

    assert_int_equal(store_count(f->store, f->partition.space, bytes_from_string(name),
                                 STORE_MAY_BLOCK, &sum, &sequence),
                     STORE_OK);
    return sum;
}

static void *count_up_and_down(void *argument)
{
    struct fixture *f = argument;

    for (int i = 0; i < 500; i++) {
        struct arena *arena = arena_new(1u << 20);
        struct changes *changes = changes_new(arena);

        changes_count(changes, bytes_from_string("n"), 3);
        changes_count(changes, bytes_from_string("n"), i % 2 ? -1 : 0);
        changes_count(changes, bytes_from_string("m"), -7);
        assert(commit_new(f->store,
                          (struct partition){ f->partition.space,
                                              arena_printf(arena, "%d %p", i, (void *)arena) },
                          changes, NULL) == STORE_OK);
        arena_free(arena);
    }
    return NULL;
}

/* Rule: a counter is the sum of what was added, by however many at once, also after a restart. */
static void counters_are_exact(void **state)
{
    struct fixture *f = *state;
    pthread_t threads[4];

    assert_int_equal(count_now(f, "n"), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up_and_down, f), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(count_now(f, "n"), 4 * (500 * 3 - 250));
    assert_int_equal(count_now(f, "m"), 4 * 500 * -7);
    if (!f->engine->on_disk)
        return;
    fixture_reopen(f);
    assert_int_equal(count_now(f, "n"), 4 * (500 * 3 - 250));
    count_up_and_down(f);
    fixture_reopen(f);
    assert_int_equal(count_now(f, "n"), 5 * (500 * 3 - 250));
    assert_int_equal(count_now(f, "m"), 5 * 500 * -7);
}

/* Rule: indexes and counters go with their space; who iterates goes on to see what was there. */
static void index_is_dropped_with_its_space(void **state)
{
    struct fixture *f = *state;
    struct changes *drop = changes_new(f->arena);
    struct changes *count = changes_new(f->arena);
    struct index_iterator *iterator;
    struct index_record found;
    struct read_view *snapshot;
    uint64_t sequence;

    for (int i = 0; i < 700; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "%03d", i);
        put_index(f, "p", key, "v");
    }
    changes_count(count, bytes_from_string("n"), 5);
    assert_int_equal(commit_new(f->store, f->partition, count, NULL), STORE_OK);
    iterator = index_iterator_open(f->store, f->partition.space, nothing, nothing, nothing,
                                   STORE_MAY_BLOCK);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    changes_drop_space(drop, f->partition.space);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, drop }, 1, clock_now(),
                                  STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(snapshot);
    assert_string_equal(index_text(f, nothing, nothing), "");
    assert_int_equal(count_now(f, "n"), 0);
    (void)usage_now(f->store);
    for (int i = 0; i < 700; i++)
        assert_int_equal(index_iterator_next(iterator, &found), STORE_OK);
    index_iterator_close(iterator);
    if (f->engine->on_disk) {
        fixture_reopen(f); /* the space is forgotten by now: only its rows could show */
        assert_string_equal(index_text(f, nothing, nothing), "");
        assert_int_equal(count_now(f, "n"), 0);
    }
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(index_is_ordered_over_partitions, EVERY_STORE),
        TEST(index_keys_are_any_bytes, EVERY_STORE),
        TEST(index_goes_with_its_commit, EVERY_STORE),
        TEST(counters_are_exact, EVERY_STORE),
        TEST(index_is_dropped_with_its_space, EVERY_STORE),
    };

    return conformance_run("index", tests, sizeof tests / sizeof tests[0]);
}
