/* Internal to store/: the interface that an engine (memory/, embedded/) implements for store.h,
 * and helpers that the engines share.
 *
 * An engine is an ordered map from full keys (record_key.h) to values (record_value.h), with
 * snapshots of one partition, cursors over a range of keys, an atomic commit, and storage for
 * pieces. Records, prefixes and partition names are handled above it, in store.c and reading.c.
 * Each object starts with the struct defined here, so that the public functions find the engine;
 * the engine's own members follow. */
#ifndef LAGRA_STORE_STORE_PRIVATE_H
#define LAGRA_STORE_STORE_PRIVATE_H

#include <stdatomic.h>

#include "store/backup.h"
#include "store/deferred.h"
#include "store/inspect.h"
#include "store/lag.h"
#include "store/piece.h"
#include "store/states.h"

/* The first member of an engine's store. */
struct store {
    const struct store_operations *operations;
    struct deferred *deferred; /* of the engine */
    struct lag *lag;           /* lagging view, or NULL; set at startup */
    struct keyring *keyring;   /* owned by the engine; NULL if not encrypted at rest */
    struct tenure *tenure;     /* store_use_tenure(), or NULL */
    /* number of returns to saved states, which change it only while no commit is running, and of
     * restarts, which change it while no commit to their space is running */
    _Atomic uint64_t returns;
};

/* The first member of an engine's snapshot; immutable once open, except `access`. */
struct read_view {
    struct store *store;
    /* at least that of the newest change to the partition, or of the drop of its space */
    uint64_t sequence;
    instant newest; /* read_view_instant() */
    struct store_access access;
    struct lag_state *shown; /* state shown by a snapshot of a lagging view, otherwise NULL */
    struct guid space;
    bool gone; /* the space had been dropped, so there is nothing to read */
    /* prefix of every key of the partition, starting with the family byte; owned by the engine */
    struct bytes prefix;
};

/* The first member of an engine's cursor. key and value are those of the current record, valid
 * until the cursor moves or closes. Belongs to one thread at a time. */
struct cursor {
    struct store *store;
    struct bytes key;
    struct bytes value;
};

/* The first member of an engine's stage. */
struct stage {
    struct store *store;
    bool wants_md5;        /* immutable once bytes have been written */
    struct md5_stream md5; /* owned by the hasher until stage_finish() returns STORE_OK */
    uint64_t taken;        /* bytes taken by calls of stage_write() that have returned */
    uint64_t cut_begin;    /* offset of the last cut, where a piece starts */
    uint64_t cut;          /* offset at which that piece ends; no effect if not above `taken` */
    bool encrypts;
    uint32_t store_key;         /* number of the key if it is a store key, otherwise 0 */
    uint8_t key[DATA_KEY_SIZE]; /* if encrypts; wiped when the stage is freed */
};

/* SCAN_AHEAD returns STORE_WAIT instead of stepping over many deleted keys. */
enum scan_kind { SCAN_PLAIN, SCAN_FRONT, SCAN_AHEAD };

/* One table per engine. Results and threads as in store.h, unless noted here. */
struct store_operations {
    void (*close)(struct store *store);
    bool (*healthy)(struct store *store);
    bool (*wants_reopening)(struct store *store); /* NULL means never */
    /* NULL means no metrics */
    bool (*figures)(struct store *store, struct store_figures *ret_figures);
    bool (*is_full)(struct store *store);         /* NULL means never */
    unsigned (*descriptors)(struct store *store); /* NULL means none */

    /* The caller sets the access. */
    struct read_view *(*read_view_open)(struct store *store, struct partition partition);
    void (*read_view_close)(struct read_view *snapshot);
    bool (*read_view_is_newest)(const struct read_view *snapshot); /* NULL means it cannot tell */
    /* Reads the record with a full key into the arena; does not set ret_record->key. */
    enum store_result (*get)(struct read_view *snapshot, struct bytes key, struct arena *arena,
                             struct record *ret_record);
    /* Like get(), and may read ahead keys below `end`. NULL means no reading ahead. */
    enum store_result (*get_ahead)(struct read_view *snapshot, struct bytes key, struct bytes end,
                                   struct arena *arena, struct record *ret_record);
    /* Not called if the space of a part had been dropped when its snapshot was opened. */
    enum store_result (*commit)(struct store *store, const struct commit_part *parts, size_t count,
                                instant now, struct store_access access, uint64_t *ret_sequence);

    /* Both NULL if spaces cannot be held. */
    bool (*hold_space)(struct store *store, const struct guid *space);
    void (*release_space)(struct store *store, const struct guid *space);

    void (*restart_decisions)(struct store *store, const struct guid *space);

    void (*wait_durable)(struct store *store, uint64_t sequence, struct waiter *waiter);
    enum store_result (*durable)(struct store *store, uint64_t sequence);

    /* Open cursors, which see only keys below `end` (copied) and have no position until
     * cursor_seek(). A scan's cursor sees the snapshot's state and is closed before the snapshot; a
     * space iterator's cursor sees the newest state and returns its sequence; NULL if the space is
     * dropped. */
    struct cursor *(*scan_cursor)(struct read_view *snapshot, struct bytes end,
                                  enum scan_kind kind);
    struct cursor *(*space_cursor)(struct store *store, const struct guid *space, struct bytes end,
                                   struct store_access access, uint64_t *ret_sequence);
    /* Both return STORE_OK, STORE_NOT_FOUND at the end, STORE_WAIT, STORE_CORRUPT, STORE_IO. */
    enum store_result (*cursor_seek)(struct cursor *cursor, struct bytes key);
    enum store_result (*cursor_next)(struct cursor *cursor);
    void (*cursor_close)(struct cursor *cursor);

    /* Like space_cursor(), for rows that belong to no space; may wait for a disk read. */
    struct cursor *(*row_cursor)(struct store *store, struct bytes end);
    /* Deletes such a row, which was written for this space, if the space is dropped. */
    enum store_result (*delete_row)(struct store *store, const struct guid *space,
                                    struct bytes key);
    void (*checkpoint_clock)(struct store *store); /* NULL means not stored */
    /* key: the full key of the counter */
    enum store_result (*count)(struct store *store, const struct guid *space, struct bytes key,
                               struct store_access access, int64_t *ret_sum,
                               uint64_t *ret_sequence);

    struct stage *(*stage_open)(struct store *store, uint64_t length_hint);
    enum store_result (*stage_write)(struct stage *stage, struct bytes data, struct waiter *waiter,
                                     size_t *ret_taken);
    enum store_result (*stage_finish)(struct stage *stage, struct waiter *waiter);
    const struct piece *(*stage_pieces)(const struct stage *stage, size_t *ret_count);
    void (*stage_close)(struct stage *stage);

    enum store_result (*piece_read)(struct store *store, const struct piece *piece, uint32_t offset,
                                    uint32_t length, void *to, struct waiter *waiter);
    /* Both NULL if pieces are not in files that a reader could use. */
    enum store_result (*piece_check)(struct store *store, const struct piece *piece,
                                     uint32_t offset, uint32_t length, struct piece_file *ret_file,
                                     struct waiter *waiter);
    void (*piece_give)(struct store *store, const struct piece_file *file);
    bool (*piece_is_lent)(struct store *store, uint32_t extent); /* NULL: never */

    /* All NULL if there are no files to back up. */
    enum store_result (*backup_begin)(struct store *store, struct backup_state *ret_state);
    bool (*backup_copied)(struct store *store, uint32_t extent);
    bool (*backup_end)(struct store *store);

    /* Freezes the current state of all partitions for reading, until thaw(); neither waits for a
     * disk. Snapshots from frozen_snapshot() are closed before thaw(). frozen_cursor() is like
     * space_cursor(). All five are NULL if not supported. */
    struct frozen_state *(*freeze)(struct store *store, uint64_t *ret_sequence);
    void (*thaw)(struct store *store, struct frozen_state *frozen);
    struct read_view *(*frozen_snapshot)(struct store *store, struct frozen_state *frozen,
                                         struct partition partition);
    struct cursor *(*frozen_cursor)(struct store *store, struct frozen_state *frozen,
                                    const struct guid *space, struct bytes end,
                                    struct store_access access);
    enum store_result (*frozen_count)(struct store *store, struct frozen_state *frozen,
                                      const struct guid *space, struct bytes key,
                                      struct store_access access, int64_t *ret_sum);
    /* All NULL if states cannot be saved. */
    struct store_state *(*keep_state)(struct store *store);
    void (*drop_state)(struct store *store, struct store_state *state);
    enum store_result (*return_to)(struct store *store, struct store_state *state,
                                   const struct guid *except, uint64_t *ret_sequence);

    void (*collect_now)(struct store *store, struct store_usage *ret_usage);
    enum store_result (*inspect)(struct store *store, inspect_visit *visit, inspect_say *say,
                                 void *context); /* NULL means cannot be inspected */
#ifdef LAGRA_GATES
    void (*drop_caches)(struct store *store); /* NULL means no caches */
#endif
};

/* Returns true if the store has returned to a saved state since the data for the commit was read.
 * The caller prevents returns until the commit ends. */
static inline bool store_has_returned(const struct store *store, struct store_access access)
{
    return access.returns > 0 && access.returns != atomic_load(&store->returns) + 1;
}

/* ---- contents of a list of changes, for the engines ---- */

struct change {
    struct change *next;
    enum record_family family;
    bool is_delete;
    struct bytes key;   /* key of the record */
    struct bytes value; /* encoded (record_value.h) */
};

struct count_change {
    struct count_change *next;
    struct bytes name;
    int64_t delta;
};

struct task_change {
    struct task_change *next;
    bool is_done; /* remove the task */
    instant due;
    struct guid id;
    uint32_t kind;
    struct bytes payload;
};

/* Change of a piece's reference count by a commit; never 0. */
struct piece_change {
    uint32_t extent;
    uint32_t length;
    uint64_t offset;
    int64_t references;
};

/* Changes in the order they were added; the last one of a key wins. */
const struct change *changes_first(const struct changes *changes);
/* Changes of index records, by their own keys, in the order they were added; the family is
 * unused. */
const struct change *changes_first_index(const struct changes *changes);
const struct count_change *changes_first_count(const struct changes *changes);
const struct task_change *changes_first_task(const struct changes *changes);
bool changes_have_pieces(const struct changes *changes);
/* Combines the piece changes of all parts, each piece once, sorted by (extent, offset); in the
 * arena of the changes.
 *
 * Returns STORE_OK; STORE_CORRUPT if records disagree on the length of a piece. */
enum store_result commit_pieces(const struct commit_part *parts, size_t count,
                                const struct piece_change **ret_pieces, size_t *ret_count);
const struct guid *changes_dropped_spaces(const struct changes *changes, size_t *ret_count);
/* Returns a new seal for a piece of at most `sectors` sectors, from malloc(), and its cipher. */
struct piece_seal *piece_seal_new(const struct stage *stage, uint32_t sectors,
                                  struct data_cipher **ret_cipher);

#endif
