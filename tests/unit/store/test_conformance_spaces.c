/* Dropped spaces: gone at once for who comes later, kept for who was there, never written again,
 * and collected. store.h, changes_drop_space */
#include "conformance.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

static const struct bytes nothing = { NULL, 0 };

/* The partition that records which spaces there are, as the account's list of containers does. */
static struct partition registry_of(struct fixture *f)
{
    static const struct guid registry_space = { { 1, 2, 3 } };

    (void)f;
    return partition_of(registry_space, "registry");
}

/* Drops a space in the commit that deletes its entry in the registry. */
static uint64_t drop(struct fixture *f, struct guid space)
{
    struct changes *changes = changes_new(f->arena);
    uint64_t sequence = 0;

    changes_delete(changes, RECORD_LISTED, bytes_from_string("entry"));
    changes_drop_space(changes, space);
    assert_int_equal(commit_new(f->store, registry_of(f), changes, &sequence), STORE_OK);
    return sequence;
}

/* Rule: a dropped space is empty for every new snapshot and iterator, and no commit to it
 * succeeds. */
static void dropped_space_vanishes(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot, *seen_before;
    struct record record;
    struct scan *scan;
    struct space_iterator *iterator;
    uint64_t sequence, dropped;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"), bytes_from_string("again"), NULL,
                0);
    put_text(f->store, registry_of(f), "entry", "there");
    put_text(f->store, f->partition, "k", "1");
    seen_before = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    dropped = drop(f, f->partition.space);

    assert_int_equal(store_commit(f->store, &(struct commit_part){ seen_before, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_NOT_FOUND);
    assert_int_equal(
        read_view_get(seen_before, RECORD_LISTED, bytes_from_string("j"), f->arena, &record),
        STORE_NOT_FOUND);
    assert_false(read_view_is_deleted(seen_before));
    read_view_close(seen_before);
    snapshot = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    assert_true(read_view_sequence(snapshot) >= dropped);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("k"), f->arena, &record),
        STORE_NOT_FOUND);
    assert_true(read_view_is_deleted(snapshot));
    scan = scan_open(snapshot, RECORD_LISTED, nothing, nothing);
    assert_int_equal(scan_next(scan, NULL, &record), STORE_NOT_FOUND);
    scan_close(scan);
    assert_int_equal(store_commit(f->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_NOT_FOUND);
    read_view_close(snapshot);
    iterator = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    assert_true(space_iterator_sequence(iterator) >= dropped);
    assert_string_equal(space_text(iterator, f->arena), "");
    assert_true(space_iterator_is_gone(iterator));
    space_iterator_seek(iterator, nothing, nothing);
    assert_string_equal(space_text(iterator, f->arena), "");
    space_iterator_close(iterator);
    assert_int_equal(
        commit_new(f->store, partition_of(f->partition.space, "never there"), changes, NULL),
        STORE_NOT_FOUND);
    assert_string_equal(get_now(f->store, registry_of(f), f->arena, "entry"), "(none)");
}

/* Rule: who had a snapshot or iterator open goes on to see what was there. store invariant 4 */
static void readers_keep_a_dropped_space(void **state)
{
    struct fixture *f = *state;
    struct read_view *reader;
    struct space_iterator *iterator;

    put_text(f->store, f->partition, "a", "1");
    put_stream(f->store, f->partition, "s", 5000000, 2);
    reader = read_view_open(f->store, f->partition, STORE_MAY_BLOCK);
    iterator = space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);
    drop(f, f->partition.space);
    (void)usage_now(f->store);

    assert_string_equal(scan_text(reader, f->arena, nothing, nothing), "a=1 s=stream");
    assert_true(stream_matches(f->store, reader, "s", 5000000, 2));
    assert_string_equal(space_text(iterator, f->arena), "partition/a=1 partition/s=stream");
    space_iterator_close(iterator);
    read_view_close(reader);
    assert_int_equal(usage_now(f->store).piece_bytes, 0);
    assert_int_equal(usage_now(f->store).pending_bytes, 0);
}

/* Rule: other spaces stay as they are; a fresh one is empty and may be written. */
static void other_spaces_stay(void **state)
{
    struct fixture *f = *state;
    struct guid before = f->partition.space, after = f->partition.space;

    before.b[15]--;
    after.b[15]++;
    put_text(f->store, partition_of(before, "partition"), "k", "before");
    put_text(f->store, partition_of(after, "partition"), "k", "after");
    put_text(f->store, f->partition, "k", "1");
    drop(f, f->partition.space);
    (void)usage_now(f->store);
    assert_string_equal(get_now(f->store, partition_of(before, "partition"), f->arena, "k"),
                        "before");
    assert_string_equal(get_now(f->store, partition_of(after, "partition"), f->arena, "k"),
                        "after");
    put_text(f->store, partition_of(guid_new(), "partition"), "k", "fresh");
}

/* Rule: the pieces of a dropped space are freed, shared ones too, of any family. */
static void pieces_of_a_dropped_space_are_freed(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(f->arena);
    struct read_view *snapshot;
    struct record record;

    for (int i = 0; i < 5; i++)
        put_stream(f->store,
                   partition_of(f->partition.space, arena_printf(f->arena, "%d%c", i, 0).ptr), "s",
                   3000000, (uint64_t)i);
    snapshot = read_view_open(f->store, partition_of(f->partition.space, "3"), STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), f->arena, &record),
        STORE_OK);
    read_view_close(snapshot);
    changes_put(changes, RECORD_INNER, bytes_from_string("shared"), nothing, record.pieces,
                record.piece_count);
    assert_int_equal(commit_new(f->store, partition_of(f->partition.space, "3"), changes, NULL),
                     STORE_OK);
    put_stream(f->store, registry_of(f), "kept", 1000000, 9);
    assert_int_equal(usage_now(f->store).piece_bytes, 16000000);

    drop(f, f->partition.space);
    assert_int_equal(usage_now(f->store).piece_bytes, 1000000);
    assert_int_equal(usage_now(f->store).pending_bytes, 0);
    assert_true(usage_now(f->store).allocated_bytes < 2000000);
    snapshot = read_view_open(f->store, registry_of(f), STORE_MAY_BLOCK);
    assert_true(stream_matches(f->store, snapshot, "kept", 1000000, 9));
    read_view_close(snapshot);
}

/* Rule: a space of many records is dropped at once, and collected whole. */
static void large_space_is_dropped(void **state)
{
    struct fixture *f = *state;
    struct changes *late = changes_new(f->arena);

    for (int p = 0; p < 40; p++) {
        struct arena *arena = arena_new(64u << 20);
        struct changes *changes = changes_new(arena);

        for (int r = 0; r < 500; r++)
            changes_put(changes, r % 2 ? RECORD_LISTED : RECORD_INNER, arena_printf(arena, "%d", r),
                        bytes_from_string("value"), NULL, 0);
        assert_int_equal(
            commit_new(f->store,
                       (struct partition){ f->partition.space, arena_printf(arena, "%d", p) },
                       changes, NULL),
            STORE_OK);
        arena_free(arena);
    }
    drop(f, f->partition.space);
    for (int i = 0; i < 2; i++) {
        struct space_iterator *iterator =
            space_iterator_open(f->store, f->partition.space, nothing, nothing, STORE_MAY_BLOCK);

        assert_string_equal(space_text(iterator, f->arena), "");
        space_iterator_close(iterator);
        (void)usage_now(f->store);
    }
    changes_put(late, RECORD_LISTED, bytes_from_string("k"), nothing, NULL, 0);
    assert_int_equal(commit_new(f->store, f->partition, late, NULL), STORE_NOT_FOUND);
}

struct writer {
    struct fixture *f;
    char name;
    atomic_bool dropped; /* the drop has returned */
    atomic_uint written;
};

static void *write_until_dropped(void *argument)
{
    struct writer *writer = argument;

    for (;;) {
        struct arena *arena = arena_new(1u << 20);
        struct changes *changes = changes_new(arena);
        bool dropped = atomic_load(&writer->dropped);
        enum store_result result;

        changes_put(changes, RECORD_LISTED, bytes_of(&writer->name, 1),
                    arena_printf(arena, "%u", atomic_load(&writer->written)), NULL, 0);
        result = commit_new(writer->f->store, writer->f->partition, changes, NULL);
        arena_free(arena);
        assert(result == STORE_OK || result == STORE_NOT_FOUND);
        assert(!dropped || result == STORE_NOT_FOUND);
        if (result == STORE_NOT_FOUND)
            return NULL;
        atomic_fetch_add(&writer->written, 1);
    }
}

/* Rule: once a space is dropped, no commit to it succeeds, however they race. */
static void drop_ends_all_writing(void **state)
{
    struct fixture *f = *state;
    struct writer writers[2] = { { .f = f, .name = 'a' }, { .f = f, .name = 'b' } };
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_until_dropped, &writers[i]), 0);
    while (atomic_load(&writers[0].written) < 20 || atomic_load(&writers[1].written) < 20)
        put_text(f->store, registry_of(f), "entry", "there");
    drop(f, f->partition.space);
    for (int i = 0; i < 2; i++)
        atomic_store(&writers[i].dropped, true);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_string_equal(get_now(f->store, f->partition, f->arena, "a"), "(none)");
}

int main(void)
{
    static const struct conformance_test tests[] = {
        TEST(dropped_space_vanishes, EVERY_STORE),
        TEST(readers_keep_a_dropped_space, EVERY_STORE),
        TEST(other_spaces_stay, EVERY_STORE),
        TEST(pieces_of_a_dropped_space_are_freed, EVERY_STORE),
        TEST(large_space_is_dropped, EVERY_STORE),
        TEST(drop_ends_all_writing, EVERY_STORE),
    };

    return conformance_run("spaces", tests, sizeof tests / sizeof tests[0]);
}
