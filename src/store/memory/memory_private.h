/* Internal to store/memory/: the store's state, and declarations shared by its files. */
#ifndef LAGRA_STORE_MEMORY_PRIVATE_H
#define LAGRA_STORE_MEMORY_PRIVATE_H

#include "base/lock.h"
#include "store/memory/pieces.h"
#include "store/memory/treap.h"
#include "store/store_private.h"

/* The tree has full keys (record_key.h) and, for each partition with records, the prefix of its
 * keys with this kind, whose value is the sequence of the newest change. */
#define KEY_KIND_VERSION 'V'

struct memory_snapshot {
    struct read_view base;
    struct treap_node *root;
    bool spent;                    /* by its commit: the root is released */
    uint64_t version;              /* of the partition; 0 means it has no records */
    uint64_t seen;                 /* sequence of the newest commit in the root */
    struct memory_snapshot *older; /* both under store.lock */
    struct memory_snapshot *newer;
    char prefix[];
};

struct memory_store {
    struct store base;
    struct deferred deferred;
    struct lock lock;
    /* all below under the lock */
    struct treap_node *root;
    uint64_t sequence; /* of the newest commit */
    instant newest;    /* of any commit */
    uint64_t random;   /* state of the random generator for priorities */
    struct memory_snapshot *oldest_snapshot;
    struct memory_snapshot *newest_snapshot;
    size_t stage_count; /* open ones */
    struct memory_pieces pieces;
};

/* ---- snapshots.c ---- */

/* Allocates a snapshot of a partition, with nothing in it, by malloc. Without the lock. */
struct memory_snapshot *memory_snapshot_new(struct memory_store *store, struct partition partition);
/* Makes it show the state of another snapshot, or the current state if `like` is NULL. Caller holds
 * the lock. */
void memory_snapshot_enter(struct memory_store *store, struct memory_snapshot *snapshot,
                           struct memory_snapshot *like);
/* Removes it from the open snapshots; the caller still releases its root. Caller holds the lock. */
void memory_snapshot_leave(struct memory_store *store, struct memory_snapshot *snapshot);

struct read_view *memory_snapshot_open(struct store *base, struct partition partition);
void memory_snapshot_close(struct read_view *base);
bool memory_snapshot_is_newest(const struct read_view *base);

/* ---- cursor.c: shared by readers ---- */

struct cursor *memory_scan_cursor(struct read_view *base, struct bytes end, enum scan_kind kind);
struct cursor *memory_space_cursor(struct store *base, const struct guid *space, struct bytes end,
                                   struct store_access access, uint64_t *ret_sequence);
struct cursor *memory_row_cursor(struct store *base, struct bytes end);
enum store_result memory_cursor_seek(struct cursor *base, struct bytes key);
enum store_result memory_cursor_next(struct cursor *base);
void memory_cursor_close(struct cursor *base);
/* Returns the sum of a counter. key: full */
int64_t memory_count_in(const struct treap_node *root, const struct guid *space, struct bytes key);

/* Operations implemented in other files. */
void memory_restart_decisions(struct store *store, const struct guid *space);
enum store_result memory_commit(struct store *base, const struct commit_part *parts, size_t count,
                                instant now, struct store_access access, uint64_t *ret_sequence);
enum store_result memory_count(struct store *base, const struct guid *space, struct bytes key,
                               struct store_access access, int64_t *ret_sum,
                               uint64_t *ret_sequence);
enum store_result memory_delete_row(struct store *base, const struct guid *space, struct bytes key);
bool memory_space_is_dropped(const struct treap_node *root, const struct guid *space);
/* Returns 0 if the partition has no records. prefix: of its keys in any family */
uint64_t memory_partition_version(const struct treap_node *root, struct bytes prefix);
/* Returns a random priority for a new key. Caller holds the lock. */
uint32_t memory_next_priority(struct memory_store *store);
/* Removes the pieces that no open snapshot can see, to be freed without the lock. */
struct memory_piece *memory_collect(struct memory_store *store);

struct frozen_state *memory_freeze(struct store *base, uint64_t *ret_sequence);
void memory_thaw(struct store *base, struct frozen_state *frozen);
struct read_view *memory_frozen_snapshot(struct store *base, struct frozen_state *frozen,
                                         struct partition partition);
struct cursor *memory_frozen_cursor(struct store *base, struct frozen_state *frozen,
                                    const struct guid *space, struct bytes end,
                                    struct store_access access);
enum store_result memory_frozen_count(struct store *base, struct frozen_state *frozen,
                                      const struct guid *space, struct bytes key,
                                      struct store_access access, int64_t *ret_sum);
struct store_state *memory_keep_state(struct store *base);
void memory_drop_state(struct store *base, struct store_state *state);
enum store_result memory_return_to(struct store *base, struct store_state *state,
                                   const struct guid *except, uint64_t *ret_sequence);
struct stage *memory_stage_open(struct store *base, uint64_t length_hint);
enum store_result memory_stage_write(struct stage *base, struct bytes data, struct waiter *waiter,
                                     size_t *ret_taken);
enum store_result memory_stage_finish(struct stage *base, struct waiter *waiter);
const struct piece *memory_stage_pieces(const struct stage *base, size_t *ret_count);
void memory_stage_close(struct stage *base);
enum store_result memory_piece_read(struct store *base, const struct piece *piece, uint32_t offset,
                                    uint32_t length, void *to, struct waiter *waiter);

#endif
