/* The only access to stored data. Terms as in the Windows Azure Storage paper (SOSP 2011) where it
 * has them.
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
 *  - Any function that takes an access, or reads through an object that was opened with one, may
 *  return STORE_WAIT if the access does not allow it to block: the record is not in memory. Nothing
 *  has been returned and nothing has changed. The caller repeats the whole decision on a thread
 *  that may block (STORE_MAY_BLOCK), where these functions never return STORE_WAIT.
 *  - A decision that is repeated on the same state must have the same result.
 *  - A commit is final when store_commit() has returned STORE_OK, but it is not durable yet, and
 *  snapshots show it at once. Nothing that was read or committed is reported to a client before it
 *  is durable: store_wait_durable() has woken its waiter and store_durable() has returned STORE_OK.
 *
 * Store invariants, cited as "store invariant N":
 *   (1) A commit is atomic, in memory and after a crash, over all its partitions. Views of
 *       different partitions are not of the same point in time: a reader of two may see one before
 *       and the other after a commit to both. A decision that depends on both includes both in its
 *       commit, one perhaps as a guard.
 *   (2) A record never refers to a piece that is not durable.
 *   (3) Every snapshot and commit has a sequence. Once store_durable() returns STORE_OK for it,
 *       what the snapshot showed or the commit wrote survives a crash, and so does everything up to
 *       that sequence.
 *   (4) A piece that an open snapshot refers to keeps its bytes until that snapshot is closed.
 *   (5) Bytes whose CRC does not match are never returned: STORE_CORRUPT.
 *   (6) What is not durable is never acknowledged. A failed write or sync is final: the store stops
 *       accepting commits (STORE_IO).
 *
 * No function here waits for a disk write. Reads wait for the disk only if they may block. */
#ifndef LAGRA_STORE_STORE_H
#define LAGRA_STORE_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/waiter.h"

enum store_result {
    STORE_OK = 0,
    STORE_NOT_FOUND, /* no such record; the space was dropped; the iterator is at its end */
    STORE_CONFLICT,  /* of a commit: a partition has changed since its snapshot: decide again */
    /* stored data has a wrong checksum or format; logged by the code that detected it */
    STORE_CORRUPT,
    STORE_IO, /* the disk failed, or had failed before; logged */
    /* there is not enough free space for a change that needs more; nothing was changed */
    STORE_FULL,
    /* out of descriptors or memory for now, or the caller's arena is exhausted; nothing was
     * changed: try later. Any function that returns STORE_IO may return it */
    STORE_SHORTAGE,
    /* of a commit: its space is held (store_hold_space()); of an open: another process has this data
     * folder */
    STORE_BUSY,
    STORE_WAIT, /* with a waiter: it will be woken, then call again. With STORE_NO_WAIT: not in
                 * memory; decide again with STORE_MAY_BLOCK */
};
const char *store_result_text(enum store_result result);

struct store;

/* What a function does if a record is not in memory. */
struct store_access {
    bool may_block; /* waits for it; only on threads that may block */
    /* Of commits: store_returns() before anything was read; 0: it depends only on its parts. */
    uint64_t returns;
    /* Of commits: nobody waits for it yet. It becomes durable within STORE_LEISURE_MS, or as soon
     * as any other once a request waits for it. */
    bool at_leisure;
    bool holds_space; /* Of commits: not refused because a space is held (store_hold_space()). */
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

/* (extent, offset) names a piece. Code outside the engine may only test two of them for equality
 * and adjacency. */
struct piece {
    uint32_t extent;
    uint32_t length; /* 1..PIECE_MAX_BYTES */
    uint64_t offset;
    /* One CRC-32C per sector of PIECE_SECTOR_BYTES; the last sector may be short. */
    const uint32_t *sector_crc;
};
static inline uint32_t piece_sectors(const struct piece *piece)
{
    return (piece->length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES;
}

/* ---- opening ---- */

struct store_options {
    const char *location;           /* data folder, created if missing; NULL for the memory store */
    bool must_exist;                /* opens only an existing store */
    const char *const *known_files; /* paths, then NULL: may lie in a new folder; or NULL */
    size_t cache_bytes;             /* record cache; 0: default */
    /* while less space is free, operations that need space return STORE_FULL; 0: 640 MiB, but at
     * most a quarter of the disk */
    uint64_t disk_reserve;
    void (*failed)(void); /* called once a write or sync has failed (store invariant 6); or NULL */
    bool sync;            /* false: acknowledge without syncing (tests of the tests only) */
    /* record files of up to this total size are verified at startup; larger ones when they are
     * first read; 0: 64 MiB */
    uint64_t whole_bytes;
};

/* Opens the embedded store. Calls clock_resume(): the clock continues after the newest commit.
 * *ret_problem: a message for the operator if the result is not STORE_OK (static or leaked).
 * Startup. */
enum store_result store_open_embedded(const struct store_options *options, struct store **ret_store,
                                      const char **ret_problem);
struct store *store_open_memory(void);
/* Waits until everything is durable, stops the threads and closes the store. All snapshots,
 * iterators and stages must be closed. */
void store_close(struct store *store);
/* Returns the maximum number of file descriptors that the store opens until it has grown by 128
 * GiB. Any thread. */
unsigned store_descriptors(struct store *store);
/* Returns false after a write or sync has failed, permanently (store invariant 6). Any thread. */
bool store_healthy(struct store *store);
/* Returns true after the engine ran out of descriptors or memory: every commit then returns
 * STORE_SHORTAGE until the store has been closed and opened again. Nothing is lost: reads continue,
 * and what was committed becomes durable. Any thread. */
bool store_wants_reopening(struct store *store);

/* Returns true while operations that need space return STORE_FULL. Checks the disk unless it was
 * checked recently. Any thread. */
bool store_is_full(struct store *store);

/* Current figures of an engine, for monitoring. */
struct store_figures {
    uint64_t disk_free_bytes, disk_reserve_bytes;
    uint64_t piece_bytes;           /* referenced by records */
    uint64_t extents, extents_open; /* files of pieces, and those of them that are open */
    /* bytes in record files; bytes in memory tables, which are otherwise only in the log */
    uint64_t record_bytes, memory_table_bytes;
    uint64_t live_record_bytes;        /* estimated size of the live records in both */
    uint64_t compaction_bytes;         /* to be rewritten */
    uint64_t cache_hits, cache_misses; /* of records, since the start */
    uint64_t block_cache_bytes;
    bool is_stalled; /* commits are slowed down or blocked by compaction */
};
/* Returns false if the engine has no figures. Any thread; may wait for a lock, not for the disk. */
bool store_figures(struct store *store, struct store_figures *ret_figures);

/* Content up to this size is better stored in a record than as a piece. */
#define STORE_INLINE_BYTES (16u << 10)
/* The maximum size of key and value of a record together, without the partition's key: larger ones
 * make commits and compactions slow for everyone. */
#define STORE_RECORD_BYTES (4u << 20)
/* The maximum number of parts of one commit. Independent partitions are cheaper in one commit than
 * in one each. */
#define COMMIT_PARTS_MAX   16

/* ---- snapshots ---- */

/* The committed state of one partition when it was opened. Belongs to one thread at a time. */
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
 * The instant of a decision must be greater, whatever the clock of this machine says: now =
 * max(clock_now(), this + 1), read after the snapshot was opened. */
instant read_view_instant(const struct read_view *snapshot);
/* Returns true if the partition has not changed since the snapshot, whatever else has been
 * committed. Much cheaper than opening another snapshot. False: it may have changed, or the engine
 * cannot tell; look again. Does not notice that the partition's space was dropped. Not for a
 * snapshot spent by a commit. Never waits. */
bool read_view_is_newest(const struct read_view *snapshot);
/* After a read returned STORE_NOT_FOUND: returns true if the reason is that the space had been
 * dropped before the snapshot was opened. */
bool read_view_is_deleted(const struct read_view *snapshot);

struct record {
    struct bytes key;
    struct bytes value;         /* in the arena given */
    const struct piece *pieces; /* in the arena given */
    size_t piece_count;
};

/* returns STORE_OK, STORE_NOT_FOUND, STORE_WAIT, STORE_CORRUPT, STORE_IO, STORE_SHORTAGE */
enum store_result read_view_get(struct read_view *snapshot, enum record_family family,
                                struct bytes key, struct arena *arena, struct record *ret_record);
/* Like read_view_get(), for records read one after another in key order: if the engine must read
 * this one from a disk, it may read ahead those that follow it under `prefix`. */
enum store_result read_view_get_ahead(struct read_view *snapshot, enum record_family family,
                                      struct bytes prefix, struct bytes key, struct arena *arena,
                                      struct record *ret_record);

/* Opens a scan of the records of a family whose keys begin with `prefix`, in order, from the first
 * key at or after `from`. If records are consumed from the front (messages), the caller should
 * remember where the front is: a scan from an earlier key would have to skip the tombstones of all
 * deleted ones. */
struct scan;
struct scan *scan_open(struct read_view *snapshot, enum record_family family, struct bytes prefix,
                       struct bytes from);
/* Like scan_open(), for small records that are consumed from the front: cheap however many were
 * deleted there. */
struct scan *scan_open_front(struct read_view *snapshot, enum record_family family,
                             struct bytes prefix, struct bytes from);
/* Next record; its memory is valid until the next call or close unless an arena is given. After
 * STORE_WAIT the scan can only be closed. returns like read_view_get(); STORE_NOT_FOUND at the
 * end */
enum store_result scan_next(struct scan *scan, struct arena *arena, struct record *ret_record);
void scan_close(struct scan *scan);

/* ---- changes and commit ---- */

/* A list of changes to one partition, in an arena. Keys and values are copied. */
struct changes;
struct changes *changes_new(struct arena *arena);
/* Returns the arena of the list, for building values in it. */
struct arena *changes_arena(const struct changes *changes);
bool changes_empty(const struct changes *changes);
/* Bytes of all keys and values. A piece counts only with its reference in the record. */
uint64_t changes_bytes(const struct changes *changes);
/* Moves all changes of `more`, of the same arena and partition, to the end of the list: for
 * consecutive decisions that are committed as one. */
void changes_append(struct changes *changes, struct changes *more);
/* Writes a record, with a reference to each of the pieces. */
void changes_put(struct changes *changes, enum record_family family, struct bytes key,
                 struct bytes value, const struct piece *pieces, size_t piece_count);
/* Deletes a record. */
void changes_delete(struct changes *changes, enum record_family family, struct bytes key);
/* Releases references that a record overwritten or deleted in this list had. References added and
 * released in one list cancel out. A piece with no reference left is freed after the commit is
 * durable and no open snapshot can see it. */
void changes_release(struct changes *changes, const struct piece *pieces, size_t piece_count);
/* An index record: ordered by its own key over all partitions of the space, and read by an
 * index_iterator. It belongs to the partition of the commit; the same key in another partition is
 * another record. Put replaces the value. Index records are written in the same commit, and dropped
 * with the space. */
void changes_index_put(struct changes *changes, struct bytes key, struct bytes value);
void changes_index_delete(struct changes *changes, struct bytes key);
/* Adds to a counter of the partition's space (store_count()). Counters are not part of a snapshot:
 * additions never conflict, so any number of commits may make them concurrently. */
void changes_count(struct changes *changes, struct bytes name, int64_t delta);
/* Adds a task of this partition to the list of deferred tasks (store_task_next()).
 * due      it is not run before this instant
 * kind     chosen by the caller, as the payload is: says what the task does
 * returns  the id of the task, for changes_task_done() before it is due */
struct guid changes_defer(struct changes *changes, instant due, uint32_t kind,
                          struct bytes payload);
/* Removes a task, in the commit of its work, or when there was nothing to do. */
struct deferred_task;
void changes_task_done(struct changes *changes, const struct deferred_task *task);
/* Drops a whole space in the same commit. All its partitions disappear at once for every new
 * snapshot and iterator; commits to it return STORE_NOT_FOUND; its contents are deleted in the
 * background. */
void changes_drop_space(struct changes *changes, struct guid space);

/* One partition of a commit. */
struct commit_part {
    struct read_view *snapshot;
    const struct changes
        *changes; /* NULL: a guard, which writes nothing but must be unchanged too */
};

/* Applies the changes of all parts atomically, if no partition has changed since its snapshot. Each
 * partition is in at most one part, and at least one part has changes. Use a guard if a rule spans
 * two partitions (a rename, a create in a directory, a quota), not on every write.
 *
 * To move a piece to another partition, one commit releases it in one part and puts it in another.
 *
 * After STORE_OK the snapshots of parts with changes are spent: they can only be closed. Those of
 * guards remain usable.
 *
 * now           the instant the changes were decided at, above read_view_instant() of every part
 * ret_sequence  must be durable before the success is reported
 * returns       STORE_OK         final, and durable later
 *               STORE_CONFLICT   a partition has changed; in rare cases only another one has
 *               STORE_NOT_FOUND  the space of a part is dropped
 *               STORE_BUSY       the space of a part with changes is held; try later
 *               STORE_WAIT       only under STORE_NO_WAIT
 *               STORE_IO, STORE_CORRUPT */
enum store_result store_commit(struct store *store, const struct commit_part *parts, size_t count,
                               instant now, struct store_access access, uint64_t *ret_sequence);

/* Holds a space: every commit that would change one of its partitions returns STORE_BUSY, unless
 * its access has holds_space, until store_release_space(). Commits to it in progress have ended
 * when this returns, so that its records stay as they are. It can be dropped. A hold ends with the
 * process. At most SPACE_HOLDS_MAX spaces are held. Waits for commits, not for a disk. Any thread.
 *
 * Returns false if there are too many, or the engine cannot hold spaces. */
#define SPACE_HOLDS_MAX 64
bool store_hold_space(struct store *store, struct guid space);
void store_release_space(struct store *store, struct guid space);

/* Stores the adjustments of the wall clock that the store's clock has adopted since the last
 * commit, if any. A commit stores them too, but there may be no commit for a long time. One thread
 * at a time, not concurrently with store_close(). */
void store_checkpoint_clock(struct store *store);

/* ---- time that passes ---- */

/* Converts an instant to a timeline without the adjustments of the wall clock that this store has
 * adopted so far: for ends of durations that may be long (a message hidden for a week). The result
 * may be
 * stored: it means the same in every process that opens the store, now and after a restart. The
 * order of instants is preserved. The steps are in the store's clock rows
 * (store_checkpoint_clock()). decision: 294 */
instant store_time_passed(struct store *store, instant t);
/* Converts such a time back, by the current clock: for clients, and for the due times of deferred
 * tasks. */
instant store_time_shown(struct store *store, instant passed);

/* ---- durability ---- */

/* Calls waiter->wake once everything up to `sequence` is durable, or the store has
 * failed; immediately, in this call, if that is so already. Any thread. */
void store_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter);
/* Returns whether everything read or committed up to `sequence` is durable: STORE_OK; STORE_WAIT if
 * not yet; STORE_IO if the store has failed before. Any thread. */
enum store_result store_durable(struct store *store, uint64_t sequence);
/* Waits until it is; for threads that may block. Returns STORE_OK, STORE_IO. */
enum store_result store_await(struct store *store, uint64_t sequence);

/* ---- iterating over the partitions of a space ---- */

/* The LISTED records of a space in order of (partition key, record key), as of the opening of the
 * iterator. */
struct space_iterator;
/* Starts at the first record at or after (from_partition, from_record). Never waits. */
struct space_iterator *space_iterator_open(struct store *store, struct guid space,
                                           struct bytes from_partition, struct bytes from_record,
                                           struct store_access access);
/* As read_view_sequence(). */
uint64_t space_iterator_sequence(const struct space_iterator *iterator);
struct space_record {
    struct bytes partition_key; /* all valid until the next call on this iterator */
    struct bytes record_key;
    struct bytes value;
};
/* After STORE_WAIT the iterator can only be closed.
 * returns STORE_OK, STORE_NOT_FOUND at the end, STORE_WAIT, STORE_CORRUPT, STORE_IO */
enum store_result space_iterator_next(struct space_iterator *iterator,
                                      struct space_record *ret_record);
/* As read_view_is_deleted(), after space_iterator_next() has returned STORE_NOT_FOUND. */
bool space_iterator_is_gone(const struct space_iterator *iterator);
/* The next space_iterator_next() returns the first record at or after this place. */
void space_iterator_seek(struct space_iterator *iterator, struct bytes from_partition,
                         struct bytes from_record);
void space_iterator_close(struct space_iterator *iterator);

/* ---- indexes and counters of a space ---- */

/* The index records of a space whose keys begin with `prefix`, by (key, partition key), from the
 * first at or after (from, from_partition); `from` need not begin with `prefix`. As consistent as
 * a space_iterator. Opening it never waits. */
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
/* As space_iterator_next(). */
enum store_result index_iterator_next(struct index_iterator *iterator,
                                      struct index_record *ret_record);
void index_iterator_close(struct index_iterator *iterator);

/* Returns the sum of all additions to a counter of the space by commits up to now; 0 if there were
 * none, or the space is dropped. *ret_sequence: as read_view_sequence(). Returns STORE_OK,
 * STORE_WAIT, STORE_CORRUPT, STORE_IO. */
enum store_result store_count(struct store *store, struct guid space, struct bytes name,
                              struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence);

/* ---- deferred tasks ---- */

/* A durable list of tasks, ordered by when they are due. A task is added by the commit that makes
 * it necessary, and removed by the commit that does it. So it runs at least once: again after a
 * crash or a conflict. Its handler first checks what is still to be done.
 *
 * How a runner (one thread) uses it:
 *     loop: store_task_next(store, clock_now(), NULL, ..)
 *       STORE_OK         open a snapshot of task.partition; decide; commit, with
 *                        changes_task_done(). To do it again later: changes_defer() with a later
 *                        instant, same commit.
 *                        STORE_NOT_FOUND from the commit: the space is dropped:
 *                        store_task_discard().
 *                        Any other failure: leave it; continue with store_task_next(.., after that
 *                        task, ..) to do the others; start again with NULL after a while
 *       STORE_NOT_FOUND  store_task_wait(store, due, waiter), and sleep until woken or until
 *                        *ret_due
 * A deadline that moves all the time (a week after the last use) does not need a task for each
 * move: when the task is due, its handler finds that the deadline has moved, and adds the next
 * task. */
struct deferred_task {
    instant due;
    uint32_t kind;
    struct partition partition;
    struct bytes payload; /* ptr NULL: none */
    struct guid id;       /* assigned by the store */
};

/* Returns the first task that is due at `now`; with `after`, the first after that one. In the
 * arena. May wait for a disk read. Returns STORE_OK, STORE_CORRUPT, STORE_IO, or
 *         STORE_NOT_FOUND  none; *ret_due: when the next one is due, INSTANT_MAX: the list is
 *                          empty */
enum store_result store_task_next(struct store *store, instant now,
                                  const struct deferred_task *after, struct arena *arena,
                                  struct deferred_task *ret_task, instant *ret_due);
/* Like store_task_next(), but only for inspection: returns the task whenever it is due, and
 * changes nothing that the runner relies on. Any thread. Returns STORE_OK, STORE_NOT_FOUND at the
 * end, STORE_CORRUPT, STORE_IO. */
enum store_result store_task_peek(struct store *store, const struct deferred_task *after,
                                  struct arena *arena, struct deferred_task *ret_task);
/* Wakes the waiter, once, when a task due before `due` is added, or has been since the last
 * store_task_next() without `after`. One waiter at a time. */
void store_task_wait(struct store *store, instant due, struct waiter *waiter);
/* Removes the waiter. False: it has been woken, or is being woken. */
bool store_task_forget(struct store *store, struct waiter *waiter);
/* Reschedules a task to a later time, as another kind. May wait for a disk. Returns STORE_OK;
 * STORE_NOT_FOUND if its space is dropped; on other results it is unchanged. */
enum store_result store_task_move(struct store *store, const struct deferred_task *task,
                                  instant due, uint32_t kind, struct bytes payload,
                                  struct arena *arena);
/* Removes a task whose space is dropped. May wait for a disk. Returns STORE_OK, STORE_IO. */
enum store_result store_task_discard(struct store *store, const struct deferred_task *task);

/* ---- maintenance ---- */

struct store_usage {
    uint64_t extent_count;
    uint64_t piece_bytes;     /* referenced by records */
    uint64_t allocated_bytes; /* in the file system, by extents */
    uint64_t pending_bytes;   /* freed, but not returned to the file system yet */
};
/* Collects everything that can be collected, then measures. For tests and `lagra check`; may wait
 * for disks. */
void store_collect_now(struct store *store, struct store_usage *ret_usage);
#ifdef LAGRA_GATES
/* Frees all caches, so that a test can see what else is held. No other thread may use the store. */
void store_drop_caches(struct store *store);
#endif

#endif
