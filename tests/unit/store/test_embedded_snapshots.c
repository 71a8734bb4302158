/* Snapshots of the embedded store where partitions share a stripe, and views follow each other.
 * store/embedded/snapshots.h */
#include "conformance.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/embedded/embedded_private.h"
#include "store/record_key.h"
#include "store/states.h"

struct world {
    char folder[64];
    struct store *store;
    struct arena *arena;
    struct partition a, b, c; /* of one stripe */
};

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static uint32_t hash_of(struct partition partition)
{
    struct key key;
    uint32_t hash;

    key_init(&key);
    key_set_partition(&key, RECORD_LISTED, partition);
    hash = partition_hash(key_bytes(&key));
    key_release(&key);
    return hash;
}

/* The next partition, by number, of the stripe that the first one is in. */
static struct partition neighbour(struct world *world, struct guid space, unsigned *number)
{
    for (;;) {
        struct partition partition = { space, arena_printf(world->arena, "%u", ++*number) };

        if (hash_of(partition) % STRIPES == hash_of(world->a) % STRIPES)
            return partition;
    }
}

static int setup(void **state)
{
    struct world *world = xcalloc(1, sizeof *world);
    struct store_options options = { .location = world->folder, .sync = true };
    const char *problem;
    unsigned number = 0;
    struct guid space = guid_new();

    *state = world;
    (void)snprintf(world->folder, sizeof world->folder, "snapshots-XXXXXX");
    if (!mkdtemp(world->folder) || store_open_embedded(&options, &world->store, &problem))
        return -1;
    world->arena = arena_new(64u << 20);
    world->a = (struct partition){ space, bytes_from_string("0") };
    world->b = neighbour(world, space, &number);
    world->c = neighbour(world, space, &number);
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    int result;

    store_close(world->store); /* asserts that no view and no snapshot is left */
    result = nftw(world->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(world->arena);
    free(world);
    return result;
}

static enum store_result commit_on(struct world *world, struct read_view *snapshot,
                                   const char *value)
{
    struct changes *changes = changes_new(world->arena);
    uint64_t sequence;

    changes_put(changes, RECORD_LISTED, bytes_from_string("k"), bytes_from_string(value), NULL, 0);
    return store_commit(world->store, &(struct commit_part){ snapshot, changes }, 1, clock_now(),
                        STORE_MAY_BLOCK, &sequence);
}

/* Rule: a change of one partition is no conflict for another of its stripe, also when each has seen
 * the other's state before. snapshots.h */
static void neighbours_do_not_conflict(void **state)
{
    struct world *world = *state;
    struct read_view *a = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    struct read_view *b = read_view_open(world->store, world->b, STORE_MAY_BLOCK);

    assert_int_equal(commit_on(world, a, "1"), STORE_OK);
    assert_int_equal(commit_on(world, b, "2"), STORE_OK); /* has got a view by now */
    read_view_close(a);
    read_view_close(b);
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "1");
    assert_string_equal(get_now(world->store, world->b, world->arena, "k"), "2");
}

/* Rule: a change that three partitions of a stripe hide from each other is still found. store.h */
static void own_change_is_found_among_neighbours(void **state)
{
    struct world *world = *state;
    struct read_view *old = read_view_open(world->store, world->a, STORE_MAY_BLOCK);

    put_text(world->store, world->a, "k", "1");
    put_text(world->store, world->b, "k", "2");
    assert_int_equal(commit_on(world, old, "old"), STORE_CONFLICT);
    put_text(world->store, world->c, "k", "3");
    assert_int_equal(commit_on(world, old, "old"), STORE_CONFLICT);
    read_view_close(old);
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "1");
}

/* Rule: a snapshot so old that its space may have been dropped and forgotten since is decided on again.
 * spaces.h; decision: 248 */
static void old_snapshots_are_decided_again(void **state)
{
    struct world *world = *state;
    struct spaces *spaces = &embedded_of(world->store)->spaces;
    struct read_view *a = read_view_open(world->store, world->a, STORE_MAY_BLOCK);

    for (unsigned round = 1; round < SPACE_ROUNDS / 2; round++)
        spaces_end_round(spaces);
    assert_int_equal(commit_on(world, a, "1"), STORE_OK);
    read_view_close(a);
    a = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    for (unsigned round = 0; round < SPACE_ROUNDS / 2; round++)
        spaces_end_round(spaces);
    assert_int_equal(commit_on(world, a, "2"), STORE_CONFLICT);
    read_view_close(a);
    a = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    assert_int_equal(commit_on(world, a, "3"), STORE_OK);
    read_view_close(a);
}

/* Rule: a commit whose own snapshot has a view leaves the other open snapshots alone. */
static void others_stay_open_over_a_commit(void **state)
{
    struct world *world = *state;
    struct read_view *b = read_view_open(world->store, world->b, STORE_MAY_BLOCK);
    struct read_view *later;

    put_text(world->store, world->a, "k", "1"); /* b has a view */
    later = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    assert_int_equal(commit_on(world, b, "2"), STORE_OK);
    put_text(world->store, world->a, "k", "3");
    assert_string_equal(get_text(later, world->arena, "k"), "1");
    read_view_close(later);
    read_view_close(b);
}

static char *text_of_size(struct world *world, size_t size)
{
    char *text = arena_alloc(world->arena, size + 1);

    memset(text, 'x', size);
    text[size] = 0;
    return text;
}

/* Rule: a record that was read, or looked for in vain, is as the newest commit left it, and old
 * snapshots see their own state. record_cache.h */
static void what_was_read_follows_each_commit(void **state)
{
    struct world *world = *state;
    char *large = text_of_size(world, CACHED_BYTES_MAX);
    struct read_view *before = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    struct read_view *first;

    assert_string_equal(get_text(before, world->arena, "k"), "(none)");
    assert_string_equal(get_text(before, world->arena, "k"), "(none)");
    put_text(world->store, world->a, "k", "1");
    assert_string_equal(get_text(before, world->arena, "k"), "(none)");
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "1");
    first = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    put_text(world->store, world->a, "k", "22");
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "22");
    assert_string_equal(get_text(first, world->arena, "k"), "1");
    put_text(world->store, world->a, "k", large);
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), large);
    put_text(world->store, world->b, "k", "of a neighbour");
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), large);
    put_text(world->store, world->a, "k", "3");
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "3");
    delete_key(world->store, world->a, "k");
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "(none)");
    assert_string_equal(get_now(world->store, world->b, world->arena, "k"), "of a neighbour");
    put_text(world->store, world->a, "k", "4");
    assert_string_equal(get_now(world->store, world->a, world->arena, "k"), "4");
    assert_string_equal(get_text(first, world->arena, "k"), "1");
    read_view_close(first);
    read_view_close(before);
}

/* Rule: what an old snapshot sees stays until it is closed, whichever closes first. store
 * invariant 4 */
static void freed_pieces_wait_for_the_oldest(void **state)
{
    struct world *world = *state;
    struct read_view *oldest, *middle, *newest;

    put_stream(world->store, world->a, "s", 200000, 1);
    oldest = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    put_text(world->store, world->a, "k", "1");
    middle = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    delete_stream(world->store, world->a, "s");
    newest = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    put_text(world->store, world->a, "k", "2");

    read_view_close(newest);
    assert_true(usage_now(world->store).pending_bytes >= 200000);
    read_view_close(middle);
    assert_true(usage_now(world->store).pending_bytes >= 200000);
    assert_true(stream_matches(world->store, oldest, "s", 200000, 1));
    read_view_close(oldest);
    assert_int_equal(usage_now(world->store).pending_bytes, 0);
}

/* Rule: a commit that takes more references of a piece than there are has met damage, and says so;
 * decided again it would fail again. store.h, STORE_CONFLICT */
static void too_many_releases_are_no_conflict(void **state)
{
    struct world *world = *state;
    struct changes *changes = changes_new(world->arena);
    struct read_view *snapshot;
    struct record record;
    uint64_t sequence;

    put_stream(world->store, world->a, "s", 200000, 1);
    snapshot = read_view_open(world->store, world->a, STORE_MAY_BLOCK);
    assert_int_equal(
        read_view_get(snapshot, RECORD_LISTED, bytes_from_string("s"), world->arena, &record),
        STORE_OK);
    changes_release(changes, record.pieces, record.piece_count);
    changes_release(changes, record.pieces, record.piece_count);
    assert_int_equal(store_commit(world->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_CORRUPT);
    put_text(world->store, world->a, "k", "2");
    assert_int_equal(store_commit(world->store, &(struct commit_part){ snapshot, changes }, 1,
                                  clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_CONFLICT);
    read_view_close(snapshot);
}

/* ---- beside a reader ---- */

/* What comes between two steps of an iterator. */
static struct {
    struct world *world;
    struct partition partition;
    unsigned steps; /* after so many; 0: never */
} beside;

static void change_front(struct world *world)
{
    struct changes *changes = changes_new(world->arena);

    changes_delete(changes, RECORD_INNER, bytes_from_string("o2"));
    changes_put(changes, RECORD_INNER, bytes_from_string("o4"), bytes_from_string("4"), NULL, 0);
    assert_int_equal(commit_new(world->store, beside.partition, changes, NULL), STORE_OK);
}

/* In place of RocksDB's. */
void rocksdb_iter_next(rocksdb_iterator_t *iterator)
{
    void (*real)(rocksdb_iterator_t *);

    *(void **)&real = dlsym(RTLD_NEXT, "rocksdb_iter_next");
    if (beside.steps > 0 && --beside.steps == 0)
        change_front(beside.world);
    real(iterator);
}

static const char *front_text(struct world *world, struct read_view *snapshot)
{
    struct scan *scan =
        scan_open_front(snapshot, RECORD_INNER, bytes_from_string("o"), bytes_from_string("o"));
    struct text text;
    struct record record;

    text_init(&text, world->arena, 64);
    while (scan_next(scan, NULL, &record) == STORE_OK)
        text_add(&text, record.key);
    scan_close(scan);
    return arena_string(world->arena, text_bytes(&text));
}

/* Rule: what a scan reads at the front is kept for others only while it is the newest state: a commit
 * that comes between the reading and the keeping is not overlooked. front_cache.h */
static void a_front_read_beside_a_commit_is_not_kept(void **state)
{
    struct world *world = *state;
    const struct partition partitions[] = { world->a, world->b, world->c };
    struct changes *changes = changes_new(world->arena);
    struct read_view *before, *after;

    for (char key[] = "o1"; key[1] <= '3'; key[1]++)
        changes_put(changes, RECORD_INNER, bytes_from_string(key), bytes_from_string("1"), NULL, 0);
    beside.world = world;
    for (unsigned steps = 1; steps <= 3; steps++) {
        beside.partition = partitions[steps - 1];
        assert_int_equal(commit_new(world->store, beside.partition, changes, NULL), STORE_OK);
        before = read_view_open(world->store, beside.partition, STORE_MAY_BLOCK);
        beside.steps = steps;
        assert_string_equal(front_text(world, before), "o1o2o3");
        assert_int_equal(beside.steps, 0);
        assert_string_equal(front_text(world, before), "o1o2o3");
        after = read_view_open(world->store, beside.partition, STORE_MAY_BLOCK);
        assert_string_equal(front_text(world, after), "o1o3o4");
        read_view_close(after);
        read_view_close(before);
    }
}

/* ---- a state of the view that lags ---- */

/* A write that comes just before a snapshot is made: as that of a commit which lag_commits() has let through. */
static struct {
    struct keyspace *keyspace; /* NULL: none */
    struct bytes key;
    uint64_t sequence; /* of it; 0: not yet */
} in_front;

/* In place of RocksDB's. */
const rocksdb_snapshot_t *rocksdb_create_snapshot(rocksdb_t *db)
{
    const rocksdb_snapshot_t *(*real)(rocksdb_t *);

    *(void **)&real = dlsym(RTLD_NEXT, "rocksdb_create_snapshot");
    if (in_front.keyspace && in_front.sequence == 0) {
        rocksdb_writebatch_t *batch = rocksdb_writebatch_create();

        rocksdb_writebatch_delete(batch, in_front.key.ptr, in_front.key.len);
        assert_int_equal(keyspace_write(in_front.keyspace, batch), STORE_OK);
        in_front.sequence = keyspace_sequence(in_front.keyspace);
        rocksdb_writebatch_destroy(batch);
    }
    return real(db);
}

/* Rule: what a state shows is told when it is durable, with a commit that came while the state was taken. lag.h */
static void a_state_is_told_with_all_that_it_shows(void **state)
{
    const uint64_t lag = 10 * TICKS_PER_SECOND;
    struct world *world = *state;
    struct store *view = store_open_lagging(world->store, lag);
    struct read_view *snapshot;
    struct key key;

    key_init(&key);
    key_set_partition(&key, RECORD_LISTED, world->b);
    clock_advance(lag);
    in_front.key = key_bytes(&key);
    in_front.keyspace = &embedded_of(world->store)->keyspace;
    put_text(world->store, world->a, "k", "1"); /* behind the state */
    assert_true(in_front.sequence > 0);
    in_front.keyspace = NULL;
    clock_advance(lag / 2);
    snapshot = read_view_open(view, world->a, STORE_MAY_BLOCK);
    assert_string_equal(get_text(snapshot, world->arena, "k"), "(none)");
    assert_true(read_view_sequence(snapshot) >= in_front.sequence);
    read_view_close(snapshot);
    store_close(view);
    key_release(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(neighbours_do_not_conflict, setup, teardown),
        cmocka_unit_test_setup_teardown(own_change_is_found_among_neighbours, setup, teardown),
        cmocka_unit_test_setup_teardown(old_snapshots_are_decided_again, setup, teardown),
        cmocka_unit_test_setup_teardown(others_stay_open_over_a_commit, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_read_follows_each_commit, setup, teardown),
        cmocka_unit_test_setup_teardown(freed_pieces_wait_for_the_oldest, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_releases_are_no_conflict, setup, teardown),
        cmocka_unit_test_setup_teardown(a_front_read_beside_a_commit_is_not_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_state_is_told_with_all_that_it_shows, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
