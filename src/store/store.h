/* The only way to data. Words as in the Windows Azure Storage paper (SOSP 2011) where it has them.
 *
 *   space      a 128-bit id; each incarnation of a container, table, queue or share has a fresh one
 *   partition  (space, key): the unit of snapshot isolation; a commit changes one or several
 *   record     ordered key -> value inside a partition, in one of two families: LISTED records are
 *              what an iterator over the space returns; INNER records are not
 *   piece      immutable bulk bytes, written once and made durable before the commit that refers to
 *              them; guarded by a CRC-32C for each sector. A record refers to pieces of its own
 *              partition; several records may refer to one piece (the store counts references)
 *
 * How a change is made: open a snapshot of each partition that matters; read them; collect changes;
 * commit. The commit applies all changes or none, and only if each partition is still as its
 * snapshot saw it; otherwise STORE_CONFLICT, and the caller decides again on newer snapshots.
 *
 * There are two kinds of engine. A local one (embedded, memory) has all records at hand, and knows
 * the outcome of a commit when store_commit() returns. A remote one (records on other machines) has
 * to ask for what it does not hold, and learns the outcome later. Callers are written for both:
 *  - Any function that takes an access, or reads through an object that was opened with one, may
 *    return STORE_WAIT where it may not block: the answer is not in memory. Nothing has been returned
 *    and nothing has changed. A remote engine fetches it then, without a thread that waits: the caller
 *    asks to be woken (fetch_set_wait()), and repeats the whole decision. Where nothing is being
 *    fetched it repeats the decision on a thread that may block (STORE_MAY_BLOCK): a local engine
 *    reads from its disk there. These functions never return STORE_WAIT where they may block.
 *  - Reads may return STORE_CONFLICT: the state of the snapshot is gone. Decide again on a new one.
 *    Never after snapshot_hold() returned STORE_OK, and never from a local engine.
 *  - A decision that is repeated on the same state must come to the same result.
 *  - A snapshot may show commits that are not settled yet. Nothing that was seen or done is reported
 *    to a client before store_wait_durable() has woken its waiter and store_settled() has returned
 *    STORE_OK. On STORE_CONFLICT the caller decides again, as if store_commit() had returned it.
 *
 * Store invariants, cited as "store invariant N":
 *  (1) A commit is atomic, in memory and after a crash, over all its partitions. Snapshots of
 *      different partitions are not of one moment: a reader of two may see one before and the other
 *      after a commit to both. Who needs both unchanged makes one of them a guard of its commit.
 *  (2) A record never refers to a piece that is not durable.
 *  (3) Every snapshot and commit has a sequence. Once store_wait_durable() has woken the waiter of
 *      that sequence and store_settled() returns STORE_OK, all that the snapshot saw or the commit
 *      did survives a crash.
 *  (4) A piece seen by an open snapshot keeps its bytes until that snapshot is closed. In a remote
 *      engine this holds for snapshots that are held (snapshot_hold()), and for five minutes for
 *      others.
 *  (5) Bytes whose CRC does not match are never returned: STORE_CORRUPT.
 *  (6) What is not durable is never acknowledged. In a local engine a failed write or sync is final:
 *      the store stops accepting commits (STORE_IO). In a remote engine a commit whose outcome cannot
 *      be learned is neither acknowledged nor repeated: store_settled() returns STORE_UNKNOWN.
 *
 * No function here waits for a disk write. Reads wait for the disk, or for other machines, only where
 * they may block. */
#ifndef LAGRA_STORE_STORE_H
#define LAGRA_STORE_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/waiter.h"

enum store_result {
    STORE_OK = 0,
    STORE_NOT_FOUND, /* no such record; the space was dropped; the iterator is at its end */
    STORE_CONFLICT, /* a partition changed since its snapshot, or its state is gone: decide again */
    STORE_CORRUPT,  /* a checksum or the form of stored data is wrong; logged where it was found */
    STORE_IO,       /* the disk failed, or had failed before; logged */
    STORE_FULL,     /* too little space is left for what grows; nothing was changed */
    STORE_SHORTAGE, /* descriptors or memory ran out just now; nothing was changed: try later. Any
                     * function that returns STORE_IO may return it */
    STORE_BUSY,     /* another process has this data folder (open only) */
    STORE_WAIT,     /* with a waiter: it will be woken, then call again. With STORE_NO_WAIT: not in
                      * memory; decide again with STORE_MAY_BLOCK */
    STORE_UNKNOWN,  /* store_settled() only: the outcome cannot be learned; close the connection
                      * without an answer. Never from a local engine */
};
const char *store_result_text(enum store_result result);

struct store;

/* What is done where an answer is not in memory. */
struct store_access {
    bool may_block;            /* it is waited for in the call: for threads that may */
    struct fetch_set *fetches; /* STORE_WAIT, and it is fetched into this set; NULL: it is not */
};
#define STORE_MAY_BLOCK ((struct store_access){ .may_block = true })
#define STORE_NO_WAIT   ((struct store_access){ .may_block = false })

struct partition {
    struct guid space;
    struct bytes key;
};

enum record_family { RECORD_LISTED, RECORD_INNER };

/* ---- pieces ---- */

#define PIECE_MAX_BYTES    (4u << 20)
#define PIECE_SECTOR_BYTES (64u << 10)
#define PIECE_SECTORS_MAX  (PIECE_MAX_BYTES / PIECE_SECTOR_BYTES)

/* (extent, offset) names a piece. Outside the engine these two are compared for equality and for
 * lying next to each other, nothing else. */
struct piece {
    uint32_t extent;
    uint32_t length; /* 1..PIECE_MAX_BYTES */
    uint64_t offset;
    /* One CRC-32C a sector of PIECE_SECTOR_BYTES; the last sector may be short. */
    const uint32_t *sector_crc;
};
static inline uint32_t piece_sectors(const struct piece *piece)
{
    return (piece->length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES;
}

/* ---- opening ---- */

struct store_options {
    const char *location;           /* data folder, created if missing; NULL for the memory store */
    bool must_exist;                /* only a folder that holds a store is opened */
    const char *const *known_files; /* paths, then NULL: may lie in a new folder; or NULL */
    size_t cache_bytes;             /* record cache; 0: default */
    /* While less is free, what grows is STORE_FULL; 0: 640 MiB, at most a quarter of the disk */
    uint64_t disk_reserve;
    void (*failed)(void); /* called once a write or sync has failed (store invariant 6); or NULL */
    bool sync;            /* false: acknowledge without syncing (tests of the tests only) */
};

/* Opens the embedded store. Calls clock_resume(): no instant of any commit comes again.
 * *ret_problem: for the operator when the result is not STORE_OK (static or leaked). Start-up. */
enum store_result store_open_embedded(const struct store_options *options, struct store **ret_store,
                                      const char **ret_problem);
struct store *store_open_memory(void);
/* Waits until all is durable, stops the threads, closes. All snapshots, iterators and stages must
 * be closed. */
void store_close(struct store *store);
/* Most file descriptors that the store has open until it has grown by 128 GiB. Any thread. */
unsigned store_descriptors(struct store *store);
/* False after a write or sync has failed (store invariant 6). A local engine stays so; a remote one
 * may recover. Any thread. */
bool store_healthy(struct store *store);
/* True after descriptors or memory ran out inside the engine: every commit is STORE_SHORTAGE then,
 * until the store has been closed and opened again. Nothing is lost: reads go on, and what was
 * committed becomes durable. Any thread. */
bool store_wants_reopening(struct store *store);

/* Every engine takes records of so many bytes beside what lies inline in them. */
#define STORE_RECORD_BYTES_LEAST (64u << 10)
/* No commit has more parts. */
#define COMMIT_PARTS_MAX         16

/* What a caller may put into one record and one commit. Partitions' keys do not count. */
struct store_limits {
    uint32_t
        inline_bytes; /* bytes of content up to this size lie better in a record than in a piece */
    uint32_t record_bytes; /* most bytes of the key and the value of one record, together: at least
                            * inline_bytes + STORE_RECORD_BYTES_LEAST */
    uint64_t commit_bytes; /* most bytes of all keys and values of one commit (changes_bytes()): at
                            * least record_bytes */
    uint32_t
        group_parts; /* changes of so many partitions that do not depend on each other cost less in
                           * one commit than in one each: 1..COMMIT_PARTS_MAX */
};
struct store_limits store_limits(const struct store *store);

/* ---- fetching, without a thread that waits ---- */

/* What is fetched for a reader that may not block (struct store_access): a decision, a look at a rule, a
 * part of a content's map. One set serves the readers of one exchange, one after another. A reader that
 * is repeated asks in the same order as before; what has come by then is answered at once, and is of
 * the state that it was asked of. A commit asks too, and is repeated alone. */
struct fetch_set;
/* NULL: the engine is a local one, which fetches nothing. The functions below take NULL. */
struct fetch_set *fetch_set_open(struct store *store);
/* What is still being fetched is dropped; no waiter is waiting. */
void fetch_set_close(struct fetch_set *set);
/* A reader begins: what came for the one before is forgotten, unless this is the repetition that
 * fetch_set_wait() was called for. */
void fetch_set_begin(struct fetch_set *set);
/* After STORE_WAIT: wakes the waiter, once, when the reader is to be repeated: what it asked for has come,
 * or the repetition is told why not. False: nothing is being fetched, and the waiter is not kept. */
bool fetch_set_wait(struct fetch_set *set, struct waiter *waiter);

/* ---- snapshots ---- */

/* One committed state of one partition, from open to close. Belongs to one thread at a time. */
struct snapshot;

/* Never waits. The access is that of all reads through the snapshot. */
struct snapshot *snapshot_open(struct store *store, struct partition partition,
                               struct store_access access);
void snapshot_close(struct snapshot *snapshot);
struct store_access snapshot_access(const struct snapshot *snapshot);
/* Changes the access of reads that begin after this call. */
void snapshot_set_access(struct snapshot *snapshot, struct store_access access);
/* What must be durable before anything read here may be reported (store invariant 3). */
uint64_t snapshot_sequence(const struct snapshot *snapshot);
/* At least the newest instant of any commit of the partition. The instant of a decision must be
 * above it, whatever the clock of this machine says: now = max(clock_now(), this + 1), read after
 * the snapshot was opened. */
instant snapshot_instant(const struct snapshot *snapshot);
/* After a read that returned STORE_NOT_FOUND: there was nothing to read, because the space had been
 * dropped before the snapshot was opened. */
bool snapshot_is_gone(const struct snapshot *snapshot);
/* Keeps the state of the snapshot readable until it is closed: reads no longer return
 * STORE_CONFLICT, and pieces keep their bytes (store invariant 4). For readers that live long: a
 * streaming answer, a long scan.
 * returns STORE_OK, STORE_WAIT, STORE_CONFLICT, STORE_IO */
enum store_result snapshot_hold(struct snapshot *snapshot);

struct record {
    struct bytes key;
    struct bytes value;         /* in the arena given */
    const struct piece *pieces; /* in the arena given */
    size_t piece_count;
};

/* returns STORE_OK, STORE_NOT_FOUND, STORE_WAIT, STORE_CONFLICT, STORE_CORRUPT, STORE_IO */
enum store_result snapshot_get(struct snapshot *snapshot, enum record_family family,
                               struct bytes key, struct arena *arena, struct record *ret_record);
/* As snapshot_get(), of records that are read once, in the order of their keys: an engine that has to
 * look for this one may read those behind it, of this `prefix`, for whoever asks next. */
enum store_result snapshot_get_ahead(struct snapshot *snapshot, enum record_family family,
                                     struct bytes prefix, struct bytes key, struct arena *arena,
                                     struct record *ret_record);

/* The records of a family whose keys begin with `prefix`, in order, from the first key at or after
 * `from`. Of those that are consumed from their front (messages) the caller keeps that place: a scan
 * steps over everything deleted behind it. */
struct scan;
struct scan *scan_open(struct snapshot *snapshot, enum record_family family, struct bytes prefix,
                       struct bytes from);
/* As scan_open(), of records that are consumed from their front: an engine may keep the first of them
 * in memory, so that such a scan costs little however many were deleted there. For small records. */
struct scan *scan_open_front(struct snapshot *snapshot, enum record_family family,
                             struct bytes prefix, struct bytes from);
/* Next record; its memory is valid until the next call or close unless an arena is given. After
 * STORE_WAIT or STORE_CONFLICT the scan can only be closed.
 * returns as snapshot_get(); STORE_NOT_FOUND at the end */
enum store_result scan_next(struct scan *scan, struct arena *arena, struct record *ret_record);
void scan_close(struct scan *scan);

/* ---- changes and commit ---- */

/* A list of changes to one partition, in an arena; copies keys and values it is given. */
struct changes;
struct changes *changes_new(struct arena *arena);
/* Where the list lies: for values that are being made for it. */
struct arena *changes_arena(const struct changes *changes);
bool changes_empty(const struct changes *changes);
/* Bytes of all keys and values, as store_limits() counts them; pieces count as their records name
 * them. */
uint64_t changes_bytes(const struct changes *changes);
/* Adds all changes of another list, of the same arena and partition, which is empty afterwards: for
 * decisions that are made one after another and committed as one. */
void changes_append(struct changes *changes, struct changes *more);
/* Writes a record. The pieces are what it refers to from now on; each counts one reference. */
void changes_put(struct changes *changes, enum record_family family, struct bytes key,
                 struct bytes value, const struct piece *pieces, size_t piece_count);
/* Deletes a record. */
void changes_delete(struct changes *changes, enum record_family family, struct bytes key);
/* Releases references that a record overwritten or deleted in this list had. References added and
 * released in one list cancel out. A piece with no reference left is freed after the commit is durable
 * and no open snapshot can see it. */
void changes_release(struct changes *changes, const struct piece *pieces, size_t piece_count);
/* A record of an index: ordered by its own key over all partitions of the space, found by an
 * index_iterator. It belongs to the partition of the commit; the same key of another partition is
 * another record. Put replaces the value. Written in the same commit, dropped with the space. */
void changes_index_put(struct changes *changes, struct bytes key, struct bytes value);
void changes_index_delete(struct changes *changes, struct bytes key);
/* Adds to a counter of the partition's space (store_count()). Counters are no part of a snapshot:
 * adding conflicts with nobody, so any number of commits may do it at once. */
void changes_count(struct changes *changes, struct bytes name, int64_t delta);
/* Adds a task to the list of deferred tasks (store_task_next()), of this partition.
 * due      not before this instant
 * kind     what is to be done, a number of the caller's; payload: for whoever does it
 * returns  the id of the task, for changes_task_done() before it is due */
struct guid changes_defer(struct changes *changes, instant due, uint32_t kind,
                          struct bytes payload);
/* Removes a task: part of the commit that has done it, or has found nothing to do. */
struct deferred_task;
void changes_task_done(struct changes *changes, const struct deferred_task *task);
/* Drops a whole space in the same commit: all its partitions are gone at once for every new
 * snapshot and iterator, commits to it return STORE_NOT_FOUND, its contents are collected in the
 * background. */
void changes_drop_space(struct changes *changes, struct guid space);

/* One partition of a commit. */
struct commit_part {
    struct snapshot *snapshot;
    const struct changes
        *changes; /* NULL: a guard. Nothing is written, but the commit is refused if
                                    * the partition has changed since the snapshot */
};

/* Applies the changes of all parts atomically, if every partition is unchanged since its snapshot.
 * Each partition is in one part at most, and at least one part has changes. A guard costs a remote
 * engine a message: use one where a rule spans two partitions (a rename, a create in a directory, a
 * quota), not on every write.
 *
 * A piece moves to another partition by one commit that releases it in one part and puts it in
 * another.
 *
 * After STORE_OK the snapshots of parts with changes are spent: they may be closed, not read or
 * committed again. Those of guards stay as they were.
 *
 * now           the instant the changes were decided at, above snapshot_instant() of every part
 * ret_sequence  what to wait for before the success may be reported
 * returns       STORE_OK         see store_settled()
 *               STORE_CONFLICT   changed since; now and then also when only another partition was
 *               STORE_NOT_FOUND  the space of a part is dropped
 *               STORE_WAIT       only under STORE_NO_WAIT
 *               STORE_IO, STORE_CORRUPT */
enum store_result store_commit(struct store *store, const struct commit_part *parts, size_t count,
                               instant now, struct store_access access, uint64_t *ret_sequence);

/* Notes what the clock has followed since the last commit, if anything: a commit does too, but
 * there may be none for long. One thread at a time, never beside store_close(). */
void store_checkpoint_clock(struct store *store);

/* ---- time that passes ---- */

/* For what ends after a duration that may be long (a message that is hidden for a week): an instant
 * without the steps of wall clocks that this store has followed until then. It may be stored: it means
 * the same in every process that opens the store, now and after a restart. Of two instants the later
 * one is not earlier here. A local engine takes the steps of its one process, and keeps them in its
 * clock rows (store_checkpoint_clock()). In a remote engine the steps are a record of the store, the same for
 * all; a process whose own wall clock is set does not follow it there. decision: 294 */
instant store_time_passed(struct store *store, instant t);
/* Where such a time lies by the clock as it is now: for clients, and for the due instants of deferred
 * tasks. */
instant store_time_shown(struct store *store, instant passed);

/* ---- durability ---- */

/* Calls waiter->wake once all up to `sequence` is durable or settled otherwise, or the store has
 * failed; at once, in this call, if it already is. Any thread. */
void store_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter);
/* What became of all that was seen or done up to `sequence`, after its waiter was woken.
 * returns STORE_OK        durable
 *         STORE_WAIT      not settled yet
 *         STORE_CONFLICT  what was seen or done never came to be: decide again
 *         STORE_IO        the store has failed
 *         STORE_UNKNOWN   see there */
enum store_result store_settled(struct store *store, uint64_t sequence);
/* Both in one, for threads that may wait. returns as store_settled(), never STORE_WAIT */
enum store_result store_await(struct store *store, uint64_t sequence);

/* ---- iterating over the partitions of a space ---- */

/* The LISTED records of a space in order of (partition key, record key). Each partition is seen in
 * one committed state, and everything acknowledged before the iterator was opened is seen; states
 * of different partitions may be of different moments. (Local engines show one state of all.) */
struct space_iterator;
/* Starts at the first record at or after (from_partition, from_record). Never waits. */
struct space_iterator *space_iterator_open(struct store *store, struct guid space,
                                           struct bytes from_partition, struct bytes from_record,
                                           struct store_access access);
/* As snapshot_sequence(). */
uint64_t space_iterator_sequence(const struct space_iterator *iterator);
struct space_record {
    struct bytes partition_key; /* all valid until the next call on this iterator */
    struct bytes record_key;
    struct bytes value;
};
/* After STORE_WAIT or STORE_CONFLICT the iterator can only be closed.
 * returns STORE_OK, STORE_NOT_FOUND at the end, STORE_WAIT, STORE_CONFLICT, STORE_CORRUPT,
 *         STORE_IO */
enum store_result space_iterator_next(struct space_iterator *iterator,
                                      struct space_record *ret_record);
/* As snapshot_is_gone(), after space_iterator_next() has returned STORE_NOT_FOUND. */
bool space_iterator_is_gone(const struct space_iterator *iterator);
/* The next space_iterator_next() returns the first record at or after this place. */
void space_iterator_seek(struct space_iterator *iterator, struct bytes from_partition,
                         struct bytes from_record);
void space_iterator_close(struct space_iterator *iterator);

/* ---- indexes and counters of a space ---- */

/* The index records of a space whose keys begin with `prefix`, by (key, partition key), from the
 * first at or after (from, from_partition); `from` need not begin with `prefix`. Promises as a
 * space_iterator. Never waits. */
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

/* The sum of all that was added to a counter of the space by commits up to now; 0 when nothing was,
 * or when the space is dropped. *ret_sequence: as snapshot_sequence().
 * returns STORE_OK, STORE_WAIT, STORE_CORRUPT, STORE_IO */
enum store_result store_count(struct store *store, struct guid space, struct bytes name,
                              struct store_access access, int64_t *ret_sum, uint64_t *ret_sequence);

/* ---- deferred tasks ---- */

/* A durable list of tasks, ordered by the instant they are due at. A task is added by the commit
 * that makes it necessary, and removed by the commit that does it, so it is done at least once: again
 * after a crash or a conflict, and perhaps by two processes at the same time. Whoever does it
 * therefore decides on the state as it is now: it looks whether there still is something to do.
 *
 * How a runner (one thread) uses it:
 *     loop: store_task_next(store, clock_now(), NULL, ..)
 *       STORE_OK         open a snapshot of task.partition; decide; commit, with changes_task_done().
 *                        To do it again later: changes_defer() with a later instant, same commit.
 *                        STORE_NOT_FOUND from the commit: the space is dropped: store_task_discard()
 *                        Any other failure: leave it; go on with store_task_next(.., after that
 *                        task, ..) to do the others; begin with NULL again after a while
 *       STORE_NOT_FOUND  store_task_wait(store, due, waiter), and sleep until woken or until *ret_due
 * A limit that moves ahead all the time (a week after the last use) needs no task for each move: when
 * the task is due, whoever does it sees that the limit has moved and adds the next one. */
struct deferred_task {
    instant due;
    uint32_t kind;
    struct partition partition;
    struct bytes payload; /* ptr NULL: none was given */
    struct guid id;       /* of the store */
};

/* The first task that is due at `now`; with `after`, the first behind that one. In the arena. May
 * wait for a disk read.
 * returns STORE_OK
 *         STORE_NOT_FOUND  none; *ret_due: when the next one is, INSTANT_MAX: there is none
 *         STORE_CORRUPT, STORE_IO */
enum store_result store_task_next(struct store *store, instant now,
                                  const struct deferred_task *after, struct arena *arena,
                                  struct deferred_task *ret_task, instant *ret_due);
/* Wakes the waiter, once, when a task due before `due` is added, or has been since the last
 * store_task_next() without `after`. One waiter at a time. */
void store_task_wait(struct store *store, instant due, struct waiter *waiter);
/* The waiter is not to be woken any more. False: it has been, or is being, woken. */
bool store_task_forget(struct store *store, struct waiter *waiter);
/* Removes a task whose space is dropped. May wait for a disk. returns STORE_OK, STORE_IO */
enum store_result store_task_discard(struct store *store, const struct deferred_task *task);

/* ---- looking after ---- */

struct store_usage {
    uint64_t extent_count;
    uint64_t piece_bytes;     /* referred to by records */
    uint64_t allocated_bytes; /* of the file system, in extents */
    uint64_t pending_bytes;   /* freed, not yet given back */
};
/* Measures, once everything is collected that can be now. Tests and admin; may wait for disks. */
void store_collect_now(struct store *store, struct store_usage *ret_usage);
#ifdef LAGRA_GATES
/* Frees all caches, so that a test can measure what else is held. While no other thread uses the
 * store; may wait for disks. */
void store_drop_caches(struct store *store);
#endif

#endif
