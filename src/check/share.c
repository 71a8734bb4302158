/* Checks and repairs records of shares; see records.h. */
#include "check/records.h"

#include "file/share_usage.h"
#include "service/names.h"

bool check_share(struct bytes value, struct guid *ret_space)
{
    struct share share;
    struct share_key key;
    bool is_valid = share_decode(bytes_from_string("s"), value, &share, &key);

    if (is_valid)
        *ret_space = share.space;
    return is_valid;
}

bool check_is_of_share(struct bytes record_key)
{
    return share_key_is_whole(record_key);
}

bool check_usage(struct store *store, struct guid space, uint64_t bytes)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    uint64_t total = 0;
    bool is_read = true;

    for (unsigned i = 0; i < SHARE_USAGE_PARTS && is_read; i++) {
        struct read_view *before =
            read_view_open(store, share_usage_partition(arena, space, i), STORE_MAY_BLOCK);
        uint64_t sum = 0;

        is_read = !share_usage_sum(before, arena, &sum);
        total += sum;
        read_view_close(before);
    }
    arena_free(arena);
    return is_read && total == bytes;
}

/* ---- after a salvage ---- */

bool check_adopt_share(struct store *store, struct bytes account, const char *name,
                       struct guid space)
{
    struct partition partition = { account_space("file", account), bytes_from_string(name) };
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct read_view *before = read_view_open(store, partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { before, changes };
    instant now = clock_now();
    struct share share = { .space = space,
                           .created = now,
                           .etag = etag_after((struct etag){ 0 }, now),
                           .modified = now,
                           .quota_gib = SHARE_QUOTA_DEFAULT_GIB,
                           .tier_changed = now };
    struct share found;
    uint64_t sequence;
    bool adopted = false;

    if (share_read(before, arena, share_itself, &found) == STORE_NOT_FOUND) {
        share_write(changes, arena, share_itself, &share);
        adopted = !store_commit(store, &part, 1, now, STORE_MAY_BLOCK, &sequence);
    }
    read_view_close(before);
    arena_free(arena);
    return adopted;
}

/* Finds the record of the share with this space, which may be soft-deleted. Returns false if no
 * readable one exists. */
static bool find_record(struct read_view *before, struct arena *arena, struct guid space,
                        struct share_key *ret_key, struct share *ret_share)
{
    struct scan *scan = scan_open(before, RECORD_LISTED, bytes_of("", 0), bytes_of("", 0));
    struct record record;
    bool found = false;

    while (!found && scan_next(scan, arena, &record) == STORE_OK)
        found = share_key_is_whole(record.key) &&
                share_decode(record.key, record.value, ret_share, ret_key) &&
                guid_equal(&ret_share->space, &space);
    scan_close(scan);
    return found;
}

/* Reads the generations of existing snapshots, in order, and sets the number of snapshots and the
 * newest date in *share. */
static void read_snapshots(struct read_view *before, struct arena *arena, instant deleted,
                           struct retained_generations *ret_retained, struct share *share)
{
    struct scan *scan = share_scan_snapshots(before, arena, deleted);
    struct share_key key;
    struct share snapshot;
    struct record record;

    *ret_retained =
        (struct retained_generations){ arena_array(arena, SHARE_SNAPSHOTS_MAX, sizeof(uint64_t)),
                                       0 };
    while (ret_retained->count < SHARE_SNAPSHOTS_MAX &&
           scan_next(scan, NULL, &record) == STORE_OK) {
        if (!share_decode(record.key, record.value, &snapshot, &key))
            continue;
        ret_retained->generations[ret_retained->count++] = snapshot.generation;
        if (key.snapshot > share->newest_snapshot)
            share->newest_snapshot = key.snapshot;
    }
    scan_close(scan);
    share->snapshots = (uint32_t)ret_retained->count;
}

/* Writes a tree state that retains all data of the snapshots and assigns a newer generation to
 * later writes. */
static void put_state(struct read_view *before, struct arena *arena,
                      const struct retained_generations *retained, uint64_t newest,
                      struct changes *changes)
{
    struct tree_state state;
    uint64_t last = retained->count > 0 ? retained->generations[retained->count - 1] : 0;

    if (tree_state_read(before, arena, &state))
        state = (struct tree_state){ .moves = 0, .generation = 1 };
    if (newest > state.generation)
        state.generation = newest;
    if (last >= state.generation)
        state.generation = last + 1;
    state.last_retained = last;
    tree_state_put(changes, &state);
    retained_generations_put(changes, retained);
}

void check_restore_snapshots(struct store *store, struct guid account, const char *share,
                             struct guid space, uint64_t newest)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct partition partition = { account, bytes_from_string(share) };
    struct read_view *before = read_view_open(store, partition, STORE_MAY_BLOCK), *tree;
    struct changes *of_share = changes_new(arena), *of_tree = changes_new(arena);
    struct share found;
    struct share_key key;
    struct retained_generations retained;
    uint64_t sequence;

    if (find_record(before, arena, space, &key, &found)) {
        read_snapshots(before, arena, key.deleted, &retained, &found);
        tree = read_view_open(store, tree_stamp_partition(space), STORE_MAY_BLOCK);
        share_write(of_share, arena, key, &found);
        put_state(tree, arena, &retained, newest, of_tree);
        (void)store_commit(store,
                           (const struct commit_part[]){ { before, of_share }, { tree, of_tree } },
                           2, clock_now(), STORE_MAY_BLOCK, &sequence);
        read_view_close(tree);
    }
    read_view_close(before);
    arena_free(arena);
}
