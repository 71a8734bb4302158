/* The only access to stored data. Where possible, terms are those of the Windows Azure Storage
 * paper (SOSP 2011).
 *
 *   space      a 128-bit id; each incarnation of a container, table, queue or share has its own
 *   partition  (space, key): the unit of snapshot isolation; a commit changes one or several
 *   record     ordered key -> value inside a partition, in one of two families: an iterator over
 *              the space returns LISTED records, but not INNER ones
 *   piece      immutable bulk bytes, written once and made durable before the commit that refers to
 *              them; each sector has a CRC-32C. A record refers to pieces of its own partition;
 *              several records may refer to one piece (the store counts references)
 *
 * To make a change: open a snapshot of each partition involved; read them; collect changes; commit.
 * The commit applies all changes or none, and only if no partition has changed since its snapshot.
 * Otherwise it returns STORE_CONFLICT, and the caller decides again on newer snapshots.
 *
 * Reads, commits and durability:
 *  - Any function that takes an access, or reads through an object that was opened with one,
 *    returns STORE_WAIT if the record is not in memory and the access does not allow it to block.
 *    Nothing has been returned or changed then. The caller repeats the entire decision on a thread
 *    that may block (STORE_MAY_BLOCK), where these functions never return STORE_WAIT.
 *  - A decision that is repeated on the same state must have the same result.
 *  - A commit is final once store_commit() has returned STORE_OK. Snapshots show it at once,
 *  although it is not durable yet. Nothing that was read or committed is reported to a client
 *  before it is durable: store_wait_durable() has woken its waiter and store_durable() has returned
 *  STORE_OK.
 *
 * Store invariants, cited as "store invariant N":
 *   (1) A commit is atomic, in memory and after a crash, over all its partitions. Snapshots of
 *       different partitions may be of different points in time: a reader of two partitions may see
 *       one before and the other after a commit to both. A decision that depends on both therefore
 *       includes both in its commit, possibly one of them as a guard.
 *   (2) A record never refers to a piece that is not durable.
 *   (3) Every snapshot and commit has a sequence. Once store_durable() returns STORE_OK for it,
 *       what the snapshot showed or the commit wrote survives a crash, and so does everything up to
 *       that sequence.
 *   (4) A piece that an open snapshot refers to keeps its bytes until that snapshot is closed.
 *   (5) Bytes whose CRC does not match are never returned; the read fails with STORE_CORRUPT.
 *   (6) Nothing is acknowledged before it is durable. A failed write or sync is final: the store
 *       stops accepting commits (STORE_IO).
 *
 * No function here waits for a disk write. Reads wait for the disk only if they may block. */
#ifndef LAGRA_STORE_STORE_H
#define LAGRA_STORE_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/data_cipher.h"
#include "base/ids.h"
#include "base/waiter.h"

enum store_result {
    STORE_OK = 0,
    STORE_NOT_FOUND, /* no such record; the space was dropped; the iterator is at its end */
    STORE_CONFLICT,  /* commits: a partition has changed since its snapshot; decide again */
    /* stored data has a wrong checksum or format; logged by the code that detected it */
    STORE_CORRUPT,
    STORE_IO, /* the disk has failed, now or earlier; logged */
    /* not enough free space for a change that needs some; nothing was changed */
    STORE_FULL,
    /* temporarily out of descriptors or memory, or the caller's arena is exhausted; nothing was
     * changed, try later. Any function that returns STORE_IO may return it */
    STORE_SHORTAGE,
    /* commits: the space is held (store_hold_space()); opening: another process uses this data
     * folder */
    STORE_BUSY,
    /* with a waiter: call again when it is woken. With STORE_NO_WAIT: not in memory; decide
     * again with STORE_MAY_BLOCK */
    STORE_WAIT,
};
const char *store_result_text(enum store_result result);

struct store;
struct master_keys;

/* What a function does if a record is not in memory. */
struct store_access {
    bool may_block; /* wait for it; only on threads that may block */
    /* Commits: value of store_returns() before anything was read; 0 if the commit depends only on
     * its parts. */
    uint64_t returns;
    /* Commits: no request waits for it yet. It becomes durable within STORE_LEISURE_MS, or, once a
     * request waits for it, as soon as any other commit. */
    bool at_leisure;
    bool holds_space; /* Commits: allowed even if the space is held (store_hold_space()). */
};
#define STORE_LEISURE_MS 100
#define STORE_MAY_BLOCK  ((struct store_access){ .may_block = true })
#define STORE_NO_WAIT    ((struct store_access){ .may_block = false })

struct partition {
    struct guid space;
    struct bytes key;
};

enum record_family { RECORD_LISTED, RECORD_INNER };

/* ---- pieces ---- */

#define PIECE_MAX_BYTES    (4u << 20)
#define PIECE_SECTOR_BYTES (64u << 10)
#define PIECE_SECTORS_MAX  (PIECE_MAX_BYTES / PIECE_SECTOR_BYTES)

/* Of an encrypted piece. Its sectors are encrypted with a cipher of this salt, each under its own
 * number (base/data_cipher.h). */
struct piece_seal {
    uint32_t store_key; /* number of the store key (keyring.h), or 0 if its owner has the key */
    uint8_t salt[DATA_SALT_SIZE];
    uint8_t tags[][DATA_TAG_SIZE]; /* one per sector */
};

/* (extent, offset) identifies a piece. Code outside the engine may only test two pieces for
 * equality and adjacency. */
struct piece {
    uint32_t extent;
    uint32_t length; /* 1..PIECE_MAX_BYTES */
    uint64_t offset;
    /* One CRC-32C per sector of PIECE_SECTOR_BYTES, of the stored bytes; the last sector may be
     * short. */
    const uint32_t *sector_crc;
    const struct piece_seal *seal; /* NULL: not encrypted */
};
static inline uint32_t piece_sectors_of(uint32_t length)
{
    return (length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES;
}
static inline uint32_t piece_sectors(const struct piece *piece)
{
    return piece_sectors_of(piece->length);
}
/* Returns the size of the seal of a piece with so many sectors. */
static inline size_t piece_seal_size(uint32_t sectors)
{
    return sizeof(struct piece_seal) + (size_t)sectors * DATA_TAG_SIZE;
}

/* ---- opening ---- */

struct store_options {
    const char *location; /* data folder, created if missing; NULL for the memory store */
    bool must_exist;      /* open only an existing store */
    /* paths of files allowed in a new folder, ended by NULL; or NULL */
    const char *const *known_files;
    size_t cache_bytes; /* record cache; 0 means default */
    /* while less space is free, operations that need space return STORE_FULL; 0 means 640 MiB, but
     * at most a quarter of the disk */
    uint64_t disk_reserve;
    void (*failed)(void); /* called once a write or sync has failed (store invariant 6), or NULL */
    bool sync;            /* false: acknowledge without syncing (only for tests of the tests) */
    /* record files of up to this total size are verified at startup; larger ones when they are
     * first read; 0 means 64 MiB */
    uint64_t whole_bytes;
    const struct master_keys *master_keys; /* for encryption at rest (keyring.h), or NULL */
    const char *keys_from; /* data directory whose store keys a new one gets, or NULL */
};

/* Opens the embedded store. Calls clock_resume(): the clock continues after the newest commit.
 * *ret_problem: message for the operator if the result is not STORE_OK (static or leaked). Called
 * at startup. */
enum store_result store_open_embedded(const struct store_options *options, struct store **ret_store,
                                      const char **ret_problem);
struct store *store_open_memory(void);
/* Waits until everything is durable, stops the threads and closes the store. All snapshots,
 * iterators and stages must be closed. */
void store_close(struct store *store);
/* Returns the maximum number of file descriptors that the store opens until it has grown by 128
 * GiB. Thread-safe. */
unsigned store_descriptors(struct store *store);
/* Returns false after a write or sync has failed, permanently (store invariant 6). Thread-safe. */
bool store_healthy(struct store *store);
/* Returns true after the engine ran out of descriptors or memory: every commit then returns
 * STORE_SHORTAGE until the store has been closed and opened again. Nothing is lost: reads continue,
 * and existing commits become durable. Thread-safe. */
bool store_wants_reopening(struct store *store);

/* Returns true while operations that need space return STORE_FULL. Checks the disk unless it was
 * checked recently. Thread-safe. */
bool store_is_full(struct store *store);

/* Current metrics of an engine. */
struct store_figures {
    uint64_t disk_free_bytes, disk_reserve_bytes;
    uint64_t piece_bytes;           /* referenced by records */
    uint64_t extents, extents_open; /* extent files, and how many of them are open */
    /* bytes in record files; bytes in memory tables, whose data is otherwise only in the log */
    uint64_t record_bytes, memory_table_bytes;
    uint64_t live_record_bytes;        /* estimated size of live records in both */
    uint64_t compaction_bytes;         /* bytes to be rewritten */
    uint64_t cache_hits, cache_misses; /* hits and misses of the record cache since the start */
    uint64_t block_cache_bytes;
    bool is_stalled; /* commits are slowed down or blocked by compaction */
};
/* Returns false if the engine has no metrics. Thread-safe; may wait for a lock, not for the
 * disk. */
bool store_figures(struct store *store, struct store_figures *ret_figures);

/* Content up to this size is better stored in a record than as a piece. */
#define STORE_INLINE_BYTES (16u << 10)
/* Maximum size of a record's key and value together, without the partition's key. Larger records
 * would slow down all commits and compactions. */
#define STORE_RECORD_BYTES (4u << 20)
/* Maximum number of parts of one commit. Changing independent partitions is cheaper in one commit
 * than in one commit each. */
#define COMMIT_PARTS_MAX   16

/* ---- snapshots ---- */

/* Committed state of one partition at the time the view was opened. Belongs to one thread at a
 * time. */
struct read_view;

/* Never waits. The access applies to all reads through the snapshot. */
struct read_view *read_view_open(struct store *store, struct partition partition,
                                 struct store_access access);
void read_view_close(struct read_view *snapshot);
struct store_access read_view_access(const struct read_view *snapshot);
/* Changes the access of reads that begin after this call. */
void read_view_set_access(struct read_view *snapshot, struct store_access access);
/* Returns the sequence that must be durable before anything read here may be reported (store
 * invariant 3). */
uint64_t read_view_sequence(const struct read_view *snapshot);
/* Returns an instant at or after that of every commit of the partition; each commit advances it.
 * The instant of a decision must be greater, regardless of this machine's clock: now =
 * max(clock_now(), this + 1), with the clock read after the snapshot was opened. */
instant read_view_instant(const struct read_view *snapshot);
/* Returns true if the partition has not changed since the snapshot. Much cheaper than opening
 * another snapshot. If it returns false, the partition may have changed, or the engine cannot tell.
 * Does not notice that the partition's space was dropped. Must not be called for a snapshot spent
 * by a commit. Never waits. */
bool read_view_is_newest(const struct read_view *snapshot);
/* After a read returned STORE_NOT_FOUND: returns true if the reason is that the space had been
 * dropped before the snapshot was opened. */
bool read_view_is_deleted(const struct read_view *snapshot);

struct record {
    struct bytes key;
    struct bytes value;         /* in the caller's arena */
    const struct piece *pieces; /* in the arena given */
    size_t piece_count;
};

/* returns STORE_OK, STORE_NOT_FOUND, STORE_WAIT, STORE_CORRUPT, STORE_IO, STORE_SHORTAGE */
enum store_result read_view_get(struct read_view *snapshot, enum record_family family,
                                struct bytes key, struct arena *arena, struct record *ret_record);
/* Like read_view_get(), for records that are read in key order. If the engine must read this one
 * from a disk, it may read ahead the following records with this prefix. */
enum store_result read_view_get_ahead(struct read_view *snapshot, enum record_family family,
                                      struct bytes prefix, struct bytes key, struct arena *arena,
                                      struct record *ret_record);

/* Opens a scan of the records of a family whose keys begin with `prefix`, in order, from the first
 * key at or after `from`. If records are consumed from the front (messages), the caller should
 * remember where the front is, because a scan from an earlier key must skip the tombstones of all
 * deleted records. */
struct scan;
struct scan *scan_open(struct read_view *snapshot, enum record_family family, struct bytes prefix,
                       struct bytes from);
/* Like scan_open(), for small records that are consumed from the front; cheap even if many were
 * deleted there. */
struct scan *scan_open_front(struct read_view *snapshot, enum record_family family,
                             struct bytes prefix, struct bytes from);
/* Returns the next record, which is valid until the next call or close unless an arena is given.
 * After STORE_WAIT the scan can only be closed. Returns like read_view_get(); STORE_NOT_FOUND at
 * the end. */
enum store_result scan_next(struct scan *scan, struct arena *arena, struct record *ret_record);
void scan_close(struct scan *scan);

/* ---- changes and commit ---- */

/* A list of changes to one partition, in an arena. Keys and values are copied. */
struct changes;
struct changes *changes_new(struct arena *arena);
/* Returns the arena of the list, for building values in it. */
struct arena *changes_arena(const struct changes *changes);
bool changes_empty(const struct changes *changes);
/* Returns the size of all keys and values. Of a piece, only the reference in the record counts. */
uint64_t changes_bytes(const struct changes *changes);
/* Moves all changes of `more`, which has the same arena and partition, to the end of the list.
 * Used for consecutive decisions that are committed as one. */
void changes_append(struct changes *changes, struct changes *more);
/* Writes a record, with a reference to each of the pieces. */
void changes_put(struct changes *changes, enum record_family family, struct bytes key,
                 struct bytes value, const struct piece *pieces, size_t piece_count);
/* Deletes a record. */
void changes_delete(struct changes *changes, enum record_family family, struct bytes key);
/* Releases the references of a record that this list overwrites or deletes. References added and
 * released in one list cancel out. A piece with no reference left is freed after the commit is
 * durable and no open snapshot can see it. */
void changes_release(struct changes *changes, const struct piece *pieces, size_t piece_count);
/* Write or delete an index record. Index records are ordered by their own keys across all
 * partitions of the space, and read by an index_iterator. An index record belongs to the partition
 * of the commit; the same key in another partition is another record. Put replaces the value. Index
 * records are written in the same commit, and dropped with the space. */
void changes_index_put(struct changes *changes, struct bytes key, struct bytes value);
void changes_index_delete(struct changes *changes, struct bytes key);
/* Adds to a counter of the partition's space (store_count()). Counters are not part of a snapshot:
 * additions never conflict, so any number of commits may make them concurrently. */
void changes_count(struct changes *changes, struct bytes name, int64_t delta);
/* Adds a task of this partition to the list of deferred tasks (store_task_next()). due      the
 * task does not run before this instant kind chosen by the caller, like the payload; identifies the
 * action of the task
 * returns  the id of the task, for changes_task_done() before it is due */
struct guid changes_defer(struct changes *changes, instant due, uint32_t kind,
                          struct bytes payload);
/* Removes a task, in the commit that completes it or after it found nothing to do. */
struct deferred_task;
void changes_task_done(struct changes *changes, const struct deferred_task *task);
/* Drops an entire space in the same commit. All its partitions disappear at once for every new
 * snapshot and iterator; commits to it return STORE_NOT_FOUND; its contents are deleted in the
 * background. */
void changes_drop_space(struct changes *changes, struct guid space);

/* One partition of a commit. */
struct commit_part {
    struct read_view *snapshot;
    const struct changes
        *changes; /* NULL for a guard, which writes nothing but must also be unchanged */
};

/* Applies the changes of all parts atomically, if no partition has changed since its snapshot. Each
 * partition is in at most one part, and at least one part has changes. Use a guard if a rule spans
 * two partitions (a rename, a create in a directory, a quota), not for every write.
 *
 * To move a piece to another partition, one commit releases it in one part and puts it in another.
 *
 * After STORE_OK the snapshots of parts with changes are spent: they can only be closed. Those of
 * guards remain usable.
 *
 * now           the instant the changes were decided at, above read_view_instant() of every part
 * ret_sequence  must be durable before the success is reported
 * returns       STORE_OK         final, and durable later
 *               STORE_CONFLICT   a partition has changed (or, rarely, only another partition)
 *               STORE_NOT_FOUND  the space of a part is dropped
 *               STORE_BUSY       the space of a part with changes is held; try later
 *               STORE_WAIT       only with STORE_NO_WAIT STORE_IO, STORE_CORRUPT */
enum store_result store_commit(struct store *store, const struct commit_part *parts, size_t count,
                               instant now, struct store_access access, uint64_t *ret_sequence);

/* Holds a space: until store_release_space(), every commit that would change one of its partitions
 * returns STORE_BUSY, unless its access has holds_space. When this returns, commits to the space
 * that were in progress have ended, so its records no longer change. A held space can be dropped. A
 * hold ends with the process. At most SPACE_HOLDS_MAX spaces are held. Waits for commits, not for a
 * disk. Thread-safe.
 *
 * Returns false if too many spaces are held, or the engine cannot hold spaces. */
#define SPACE_HOLDS_MAX 64
bool store_hold_space(struct store *store, struct guid space);
void store_release_space(struct store *store, struct guid space);

/* Stores the adjustments of the wall clock that the store's clock has adopted since the last
 * commit, if any. Commits store them as well, but there may be none for a long time. One thread at
 * a time, not concurrently with store_close(). */
void store_checkpoint_clock(struct store *store);

/* ---- time that passes ---- */

/* Converts an instant to a timeline without the adjustments of the wall clock that this store has
 * adopted so far, for the ends of durations that may be long (a message hidden for a week). The
 * result may be stored, because it means the same in every process that opens the store, even after
 * a restart. Preserves the order of instants. The adjustments are stored in the store's clock rows
 * (store_checkpoint_clock()). decision: 294 */
instant store_time_passed(struct store *store, instant t);
/* Converts such a time back to the current clock, for clients and for the due times of deferred
 * tasks. */
instant store_time_shown(struct store *store, instant passed);

/* ---- durability ---- */

/* Calls waiter->wake once everything up to `sequence` is durable or the store has failed; calls it
 * before returning if that has already happened. Thread-safe. */
void store_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter);
/* Returns STORE_OK if everything read or committed up to `sequence` is durable, STORE_WAIT if it is
 * not yet, STORE_IO if the store failed before. Thread-safe. */
enum store_result store_durable(struct store *store, uint64_t sequence);
/* Waits until everything up to `sequence` is durable; for threads that may block. Returns
 * STORE_OK, STORE_IO. */
enum store_result store_await(struct store *store, uint64_t sequence);

/* ---- iterating over the partitions of a space ---- */

/* Iterates over the LISTED records of a space in order of (partition key, record key), as of the
 * time the iterator was opened. */
struct space_iterator;
/* Starts at the first record at or after (from_partition, from_record). Never waits. */
struct space_iterator *space_iterator_open(struct store *store, struct guid space,
                                           struct bytes from_partition, struct bytes from_record,
                                           struct store_access access);
/* Like read_view_sequence(). */
uint64_t space_iterator_sequence(const struct space_iterator *iterator);
struct space_record {
    struct bytes partition_key; /* all valid until the next call on this iterator */
    struct bytes record_key;
    struct bytes value;
};
/* After STORE_WAIT the iterator can only be closed.
 * Returns STORE_OK, STORE_NOT_FOUND at the end, STORE_WAIT, STORE_CORRUPT, STORE_IO. */
enum store_result space_iterator_next(struct space_iterator *iterator,
                                      struct space_record *ret_record);
/* Like read_view_is_deleted(), after space_iterator_next() has returned STORE_NOT_FOUND. */
bool space_iterator_is_gone(const struct space_iterator *iterator);
/* The next space_iterator_next() returns the first record at or after this place. */
void space_iterator_seek(struct space_iterator *iterator, struct bytes from_partition,
                         struct bytes from_record);
void space_iterator_close(struct space_iterator *iterator);

/* ---- indexes and counters of a space ---- */

/* Iterates over the index records of a space whose keys begin with `prefix`, in order of (key,
 * partition key), from the first at or after (from, from_partition); `from` need not begin with
 * `prefix`. Shows the state as of its opening, like a space_iterator. Opening it never waits. */
struct index_iterator;
struct index_iterator *index_iterator_open(struct store *store, struct guid space,
                                           struct bytes prefix, struct bytes from,
                                           struct bytes from_partition, struct store_access access);
uint64_t index_iterator_sequence(const struct index_iterator *iterator);
struct index_record {
    struct bytes key; /* all valid until the next call on this iterator */
    struct bytes partition_key;
    struct bytes value;
};
/* Like space_iterator_next(). */
enum store_result index_iterator_next(struct index_iterator *iterator,
                                      struct index_record *ret_record);
void index_iterator_close(struct index_iterator *iterator);

/* Returns the sum of all commits' additions to a counter of the space so far; 0 if there were
 * none, or the space is dropped. *ret_sequence: like read_view_sequence(). Returns STORE_OK,
 * STORE_WAIT, STORE_CORRUPT, STORE_IO. */
enum store_result store_count(struct store *store, struct guid space, struct bytes name,
                              struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence);

/* ---- deferred tasks ---- */

/* A durable list of tasks, ordered by due time. The commit that makes a task necessary adds it,
 * and the commit that completes its work removes it. A task therefore runs at least once, and again
 * after a crash or a conflict; its handler first checks what remains to be done.
 *
 * How a runner (one thread) uses it:
 *     loop: store_task_next(store, clock_now(), NULL, ..)
 *       STORE_OK         open a snapshot of task.partition; decide; commit, with
 *                        changes_task_done(). To run it again later: changes_defer() with a later
 *                        instant, in the same commit. STORE_NOT_FOUND from the commit: the space is
 *                        dropped: store_task_discard(). Any other failure: leave it; continue with
 *                        store_task_next(.., after that task, ..) to do the others; start again
 *                        with NULL after a while
 *       STORE_NOT_FOUND  store_task_wait(store, due, waiter), and sleep until woken or until
 *                        *ret_due
 * A deadline that moves often (a week after the last use) does not need a task for each move. When
 * the task is due, its handler finds that the deadline has moved, and adds a task for the new
 * deadline. */
struct deferred_task {
    instant due;
    uint32_t kind;
    struct partition partition;
    struct bytes payload; /* ptr NULL if none */
    struct guid id;       /* assigned by the store */
};

/* Returns the first task that is due at `now`, or the first one after the task `after`; its
 * strings are in the arena. May wait for a disk read. Returns STORE_OK, STORE_CORRUPT, STORE_IO, or
 *         STORE_NOT_FOUND  no task is due; *ret_due: when the next one is, INSTANT_MAX if the list
 *                           is empty */
enum store_result store_task_next(struct store *store, instant now,
                                  const struct deferred_task *after, struct arena *arena,
                                  struct deferred_task *ret_task, instant *ret_due);
/* Like store_task_next(), but only for inspection: returns the next task even if it is not due, and
 * changes nothing that the runner relies on. Thread-safe. Returns STORE_OK, STORE_NOT_FOUND at the
 * end, STORE_CORRUPT, STORE_IO. */
enum store_result store_task_peek(struct store *store, const struct deferred_task *after,
                                  struct arena *arena, struct deferred_task *ret_task);
/* Wakes the waiter, once, when a task due before `due` is added, or if one was added since the
 * last store_task_next() without `after`. One waiter at a time. */
void store_task_wait(struct store *store, instant due, struct waiter *waiter);
/* Removes the waiter. Returns false if it has been woken, or is being woken. */
bool store_task_forget(struct store *store, struct waiter *waiter);
/* Reschedules a task to a later time, as another kind. May wait for a disk. Returns STORE_OK;
 * STORE_NOT_FOUND if its space is dropped; for other results, the task is unchanged. */
enum store_result store_task_move(struct store *store, const struct deferred_task *task,
                                  instant due, uint32_t kind, struct bytes payload,
                                  struct arena *arena);
/* Removes a task whose space is dropped. May wait for a disk. Returns STORE_OK, STORE_IO. */
enum store_result store_task_discard(struct store *store, const struct deferred_task *task);

/* ---- maintenance ---- */

struct store_usage {
    uint64_t extent_count;
    uint64_t piece_bytes;     /* referenced by records */
    uint64_t allocated_bytes; /* allocated by extents in the file system */
    uint64_t pending_bytes;   /* freed, but not yet returned to the file system */
};
/* Collects everything that can be collected, then measures. For tests and `lagra check`; may wait
 * for disks. */
void store_collect_now(struct store *store, struct store_usage *ret_usage);
#ifdef LAGRA_GATES
/* Frees all caches, so that a test can measure the remaining memory. No other thread may use the
 * store. */
void store_drop_caches(struct store *store);
#endif

#endif
