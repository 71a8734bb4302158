/* Commits of the memory store: a new root, and the changed references to pieces. */
#include "store/memory/memory_private.h"

#include <assert.h>
#include <stdlib.h>

#include "store/record_key.h"
#include "store/record_value.h"

/* Maximum memory for the pieces of one record of a dropped space. */
#define DROPPING_ARENA_MAX (64u << 20)

bool memory_space_is_dropped(const struct treap_node *root, const struct guid *space)
{
    struct bytes value;
    struct key key;
    bool dropped;

    key_init(&key);
    key_set_space(&key, KEY_KIND_DROPPED, space);
    dropped = treap_find(root, key_bytes(&key), &value);
    key_release(&key);
    return dropped;
}

/* Makes the key of a partition's version from the prefix of its records. */
static void set_version_key(struct key *key, struct bytes prefix)
{
    key_set_record(key, RECORD_LISTED, prefix, (struct bytes){ NULL, 0 });
    key->ptr[0] = KEY_KIND_VERSION;
}

uint64_t memory_partition_version(const struct treap_node *root, struct bytes prefix)
{
    uint64_t version = 0;
    struct bytes value;
    struct key key;

    key_init(&key);
    set_version_key(&key, prefix);
    if (treap_find(root, key_bytes(&key), &value)) {
        assert(value.len == sizeof version);
        memcpy(&version, value.ptr, sizeof version);
    }
    key_release(&key);
    return version;
}

struct memory_piece *memory_collect(struct memory_store *store)
{
    return memory_pieces_collect(
        &store->pieces, store->oldest_snapshot ? store->oldest_snapshot->seen : store->sequence);
}

/* xorshift64*: any good distribution will do. */
uint32_t memory_next_priority(struct memory_store *store)
{
    store->random ^= store->random >> 12;
    store->random ^= store->random << 25;
    store->random ^= store->random >> 27;
    return (uint32_t)((store->random * 0x2545F4914F6CDD1Dull) >> 32);
}

static void put(struct memory_store *store, struct bytes key, struct bytes value)
{
    lock_assert_held(&store->lock);
    store->root = treap_put(store->root, key, value, memory_next_priority(store));
}

static void apply_records(struct memory_store *store, struct bytes prefix,
                          const struct change *change)
{
    struct key key;

    key_init(&key);
    for (; change; change = change->next) {
        key_set_record(&key, change->family, prefix, change->key);
        if (change->is_delete)
            store->root = treap_delete(store->root, key_bytes(&key));
        else
            put(store, key_bytes(&key), change->value);
    }
    key_release(&key);
}

static void apply_index(struct memory_store *store, struct bytes prefix,
                        const struct change *change)
{
    struct key key;

    key_init(&key);
    for (; change; change = change->next) {
        key_set_index(&key, prefix, change->key);
        if (change->is_delete)
            store->root = treap_delete(store->root, key_bytes(&key));
        else
            put(store, key_bytes(&key), change->value);
    }
    key_release(&key);
}

static int64_t counter_value(const struct treap_node *root, struct bytes key)
{
    struct bytes value;
    int64_t sum = 0;

    if (treap_find(root, key, &value)) {
        assert(value.len == sizeof sum);
        memcpy(&sum, value.ptr, sizeof sum);
    }
    return sum;
}

static void apply_counts(struct memory_store *store, const struct guid *space,
                         const struct count_change *change)
{
    struct key key;

    key_init(&key);
    for (; change; change = change->next) {
        int64_t sum;

        key_set_counter(&key, space, change->name);
        sum = counter_value(store->root, key_bytes(&key)) + change->delta;
        put(store, key_bytes(&key), bytes_of(&sum, sizeof sum));
    }
    key_release(&key);
}

int64_t memory_count_in(const struct treap_node *root, const struct guid *space, struct bytes key)
{
    return memory_space_is_dropped(root, space) ? 0 : counter_value(root, key);
}

enum store_result memory_count(struct store *base, const struct guid *space, struct bytes key,
                               struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence)
{
    struct memory_store *store = (struct memory_store *)(void *)base;

    (void)access;
    lock_acquire(&store->lock);
    *ret_sum = memory_count_in(store->root, space, key);
    *ret_sequence = store->sequence;
    lock_release(&store->lock);
    return STORE_OK;
}

enum store_result memory_delete_row(struct store *base, const struct guid *space, struct bytes key)
{
    struct memory_store *store = (struct memory_store *)(void *)base;

    lock_acquire(&store->lock);
    if (memory_space_is_dropped(store->root, space))
        store->root = treap_delete(store->root, key);
    lock_release(&store->lock);
    return STORE_OK;
}

static void apply_tasks(struct memory_store *store, struct bytes prefix,
                        const struct changes *changes)
{
    struct deferred *deferred = &store->deferred;
    struct key key;

    key_init(&key);
    for (const struct task_change *c = changes_first_task(changes); c; c = c->next) {
        if (c->is_done) {
            deferred_done_key(c, &key);
            store->root = treap_delete(store->root, key_bytes(&key));
        } else {
            struct text value;

            text_init(&value, changes_arena(changes), 0);
            (void)deferred_task_rows(deferred, c, prefix, &key, &value);
            put(store, key_bytes(&key), text_bytes(&value));
        }
    }
    key_release(&key);
}

/* Called after the commit, without a lock: wakes the waiter for tasks. */
static void tell_waiter_of_tasks(struct memory_store *store, const struct commit_part *parts,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!parts[i].changes)
            continue;
        for (const struct task_change *c = changes_first_task(parts[i].changes); c; c = c->next)
            if (!c->is_done)
                deferred_added(&store->deferred, c->due);
    }
}

/* Sets the version of a partition. An empty partition has none: it is as if it had never existed,
 * even for readers that saw it empty before. */
static void apply_version(struct memory_store *store, struct bytes prefix)
{
    static const enum record_family families[] = { RECORD_LISTED, RECORD_INNER };
    bool empty = true;
    struct key key;

    key_init(&key);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        key_set_record(&key, families[i], prefix, (struct bytes){ NULL, 0 });
        empty = empty && !treap_has_prefix(store->root, key_bytes(&key));
    }
    set_version_key(&key, prefix);
    if (empty)
        store->root = treap_delete(store->root, key_bytes(&key));
    else
        put(store, key_bytes(&key), bytes_of(&store->sequence, sizeof store->sequence));
    key_release(&key);
}

/* Removes the references of all records of a tree that was cut out. */
static void release_pieces(struct memory_store *store, const struct treap_node *cut)
{
    struct arena *arena = arena_new(DROPPING_ARENA_MAX);
    struct arena_mark mark = arena_mark(arena);
    struct treap_path path;
    struct bytes key, value;

    treap_seek(&path, cut, (struct bytes){ NULL, 0 });
    for (; treap_at(&path, &key, &value); treap_next(&path)) {
        const struct piece *pieces;
        struct bytes payload;
        size_t count;
        enum store_result result = record_value_decode(value, arena, &payload, &pieces, &count);

        assert(!result); /* encoded by us, and only ever in memory */
        for (size_t i = 0; i < count; i++)
            memory_piece_refer(&store->pieces, pieces[i].offset, -1, store->sequence);
        arena_rewind(arena, mark);
    }
    arena_free(arena);
}

/* Cuts out all keys of one kind in a space. */
static struct treap_node *cut_space(struct memory_store *store, char kind, const struct guid *space)
{
    struct treap_node *cut;
    struct key from, end;

    key_init(&from);
    key_init(&end);
    key_set_space(&from, kind, space);
    key_set_space(&end, kind, space);
    key_set_end(&end);
    store->root = treap_cut(store->root, key_bytes(&from), key_bytes(&end), &cut);
    key_release(&from);
    key_release(&end);
    return cut;
}

static void apply_drop(struct memory_store *store, const struct guid *space)
{
    static const char record_kinds[] = { KEY_KIND_LISTED, KEY_KIND_INNER };
    struct key key;

    for (size_t i = 0; i < sizeof record_kinds; i++) {
        struct treap_node *cut = cut_space(store, record_kinds[i], space);

        release_pieces(store, cut);
        treap_release(cut);
    }
    treap_release(cut_space(store, KEY_KIND_VERSION, space));
    treap_release(cut_space(store, KEY_KIND_INDEX, space));
    treap_release(cut_space(store, KEY_KIND_COUNTER, space));
    key_init(&key);
    key_set_space(&key, KEY_KIND_DROPPED, space);
    put(store, key_bytes(&key), (struct bytes){ NULL, 0 });
    key_release(&key);
}

/* Checks that the snapshot shows the newest state of its partition. */
static enum store_result check_unchanged(const struct memory_store *store,
                                         const struct memory_snapshot *snapshot)
{
    if (memory_space_is_dropped(store->root, &snapshot->base.space))
        return STORE_NOT_FOUND;
    if (memory_partition_version(store->root, snapshot->base.prefix) != snapshot->version)
        return STORE_CONFLICT;
    return STORE_OK;
}

/* Releases the state, so that nodes not shared with others are changed in place. */
static void spend(struct memory_snapshot *snapshot)
{
    assert(!snapshot->spent);
    snapshot->spent = true;
    treap_release(snapshot->root);
    snapshot->root = NULL;
}

static void apply(struct memory_store *store, const struct read_view *snapshot,
                  const struct changes *changes)
{
    apply_records(store, snapshot->prefix, changes_first(changes));
    apply_index(store, snapshot->prefix, changes_first_index(changes));
    apply_counts(store, &snapshot->space, changes_first_count(changes));
    apply_tasks(store, snapshot->prefix, changes);
    apply_version(store, snapshot->prefix);
}

static void apply_all(struct memory_store *store, const struct commit_part *parts, size_t count,
                      const struct piece_change *pieces, size_t piece_count)
{
    store->sequence++;
    for (size_t i = 0; i < count; i++)
        if (parts[i].changes && !changes_empty(parts[i].changes))
            apply(store, parts[i].snapshot, parts[i].changes);
    for (size_t i = 0; i < piece_count; i++) {
        assert(pieces[i].extent == 0);
        memory_piece_refer(&store->pieces, pieces[i].offset, pieces[i].references, store->sequence);
    }
    for (size_t i = 0; i < count; i++) {
        const struct guid *dropped;
        size_t dropped_count = 0;

        if (parts[i].changes)
            dropped = changes_dropped_spaces(parts[i].changes, &dropped_count);
        for (size_t k = 0; k < dropped_count; k++)
            apply_drop(store, &dropped[k]);
    }
}

static struct memory_snapshot *snapshot_of(const struct commit_part *part)
{
    return (struct memory_snapshot *)(void *)part->snapshot;
}

/* Checks that no part has changed since its snapshot. */
static enum store_result check_parts(const struct memory_store *store,
                                     const struct commit_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum store_result result = check_unchanged(store, snapshot_of(&parts[i]));

        if (result)
            return result;
    }
    return STORE_OK;
}

void memory_restart_decisions(struct store *base, const struct guid *space)
{
    struct memory_store *store = (struct memory_store *)(void *)base;

    (void)space;
    lock_acquire(&store->lock);
    atomic_fetch_add(&base->returns, 1);
    lock_release(&store->lock);
}

enum store_result memory_commit(struct store *base, const struct commit_part *parts, size_t count,
                                instant now, struct store_access access, uint64_t *ret_sequence)
{
    struct memory_store *store = (struct memory_store *)(void *)base;
    struct memory_piece *freed = NULL;
    bool empty = true;
    const struct piece_change *pieces;
    size_t piece_count;
    enum store_result result = commit_pieces(parts, count, &pieces, &piece_count);

    if (result)
        return result;
    for (size_t i = 0; i < count; i++) {
        assert(!snapshot_of(&parts[i])->spent);
        empty = empty && (!parts[i].changes || changes_empty(parts[i].changes));
    }
    deferred_enter(&store->deferred);
    lock_acquire(&store->lock);
    result = store_has_returned(base, access) ? STORE_CONFLICT : check_parts(store, parts, count);
    if (!result) {
        store->newest = now > store->newest ? now : store->newest + 1;
        for (size_t i = 0; i < count; i++)
            if (parts[i].changes)
                spend(snapshot_of(&parts[i]));
        if (!empty)
            apply_all(store, parts, count, pieces, piece_count);
        *ret_sequence = store->sequence;
        freed = memory_collect(store);
    }
    lock_release(&store->lock);
    deferred_leave(&store->deferred);
    if (!result)
        tell_waiter_of_tasks(store, parts, count);
    memory_pieces_free(freed);
    return result;
}
