/* The only way to data. Words as in the Windows Azure Storage paper (SOSP 2011) where it has them.
 *
 *   space      a 128-bit id; each incarnation of a container, table, queue or share has a fresh one
 *   partition  (space, key): unit of atomicity and of snapshot isolation
 *   record     ordered key -> value inside a partition, in one of two families: LISTED records are
 *              what a walk over the space visits; INNER records are not
 *   piece      immutable bulk bytes, written once and made durable before the commit that refers to
 *              them; guarded by a CRC-32C for each sector. A record refers to pieces of its own
 *              partition; several records may refer to one piece (the store counts references)
 *
 * How a change is made: open a snapshot of the partition; read it; collect changes; commit. The
 * commit applies all of them or none, and only if the partition is still as the snapshot saw it;
 * otherwise STORE_CONFLICT, and the caller decides again on a newer snapshot.
 *
 * Store invariants, cited as "store invariant N":
 *  (1) A commit is atomic, in memory and after a crash.
 *  (2) A record never refers to a piece that is not durable.
 *  (3) Every snapshot and commit has a sequence; once store_wait_durable() lets go of that one,
 *      all that the snapshot saw or the commit did survives a crash.
 *  (4) A piece seen by an open snapshot keeps its bytes until that snapshot is closed.
 *  (5) Bytes whose CRC does not match are never returned: STORE_CORRUPT.
 *  (6) A failed write or sync is final: the store stops accepting commits (STORE_IO), and what was
 *      not durable is never acknowledged.
 *
 * No function here waits for a disk write; those that may wait for a disk read say so. */
#ifndef LAGRA_STORE_STORE_H
#define LAGRA_STORE_STORE_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/md5.h"
#include "base/waiter.h"

enum store_result {
    STORE_OK = 0,
    STORE_NOT_FOUND, /* no such record; the space was dropped; the walk is at its end */
    STORE_CONFLICT,  /* the partition changed since the snapshot: decide again */
    STORE_CORRUPT,   /* a checksum or the form of stored data is wrong; logged where it was found */
    STORE_IO,        /* the disk failed, or had failed before; logged */
    STORE_FULL,      /* no space left for pieces; nothing was changed */
    STORE_BUSY,      /* another process has this data folder (open only) */
    STORE_WAIT,      /* not now: the waiter given will be woken; then call again */
};
const char *store_result_text(enum store_result result);

struct store;

struct partition {
    struct guid space;
    struct bytes key;
};

enum record_family { RECORD_LISTED, RECORD_INNER };

/* ---- pieces ---- */

#define PIECE_MAX_BYTES    (4u << 20)
#define PIECE_SECTOR_BYTES (64u << 10)
#define PIECE_SECTORS_MAX  (PIECE_MAX_BYTES / PIECE_SECTOR_BYTES)

struct piece {
    uint32_t extent;
    uint32_t length; /* 1..PIECE_MAX_BYTES */
    uint64_t offset; /* in the extent */
    /* One CRC-32C a sector of PIECE_SECTOR_BYTES; the last sector may be short. */
    const uint32_t *sector_crc;
};
static inline uint32_t piece_sectors(const struct piece *piece)
{
    return (piece->length + PIECE_SECTOR_BYTES - 1) / PIECE_SECTOR_BYTES;
}

/* ---- opening ---- */

struct store_options {
    const char *location; /* data folder, created if missing; NULL for the memory store */
    size_t cache_bytes;   /* record cache; 0: default */
    bool sync;            /* false: acknowledge without syncing (tests of the tests only) */
};

/* Opens the embedded store. Calls clock_not_before() with the newest instant of any commit.
 * *ret_problem: a sentence for the operator when the result is not STORE_OK (static or leaked).
 * Start-up thread. */
enum store_result store_open_embedded(const struct store_options *options, struct store **ret_store,
                                      const char **ret_problem);
struct store *store_open_memory(void);
/* Waits until all is durable, stops the threads, closes. All snapshots, walks and stages must
 * be closed. */
void store_close(struct store *store);
/* True until a write or sync failed (store invariant 6). Any thread. */
bool store_healthy(struct store *store);

/* ---- snapshots ---- */

/* One committed state of one partition, from open to close. Belongs to one thread at a time. */
struct snapshot;

struct snapshot *snapshot_open(struct store *store, struct partition partition);
void snapshot_close(struct snapshot *snapshot);
/* What must be durable before anything read here may be told (store invariant 3). */
uint64_t snapshot_sequence(const struct snapshot *snapshot);

struct record {
    struct bytes key;
    struct bytes value;         /* in the arena given */
    const struct piece *pieces; /* in the arena given */
    size_t piece_count;
};

/* May wait for a disk read.
 * returns STORE_OK, STORE_NOT_FOUND, STORE_CORRUPT, STORE_IO */
enum store_result snapshot_get(struct snapshot *snapshot, enum record_family family,
                               struct bytes key, struct arena *arena, struct record *ret_record);

/* First record of the family whose key is at or after `from` and begins with `prefix`.
 * STORE_NOT_FOUND when there is none. To go on: from = key + "\0". For runs use a scan. */
struct scan;
struct scan *scan_open(struct snapshot *snapshot, enum record_family family, struct bytes prefix,
                       struct bytes from);
/* Next record; its memory is valid until the next call or close unless an arena is given. */
enum store_result scan_next(struct scan *scan, struct arena *arena, struct record *ret_record);
void scan_close(struct scan *scan);

/* ---- changes and commit ---- */

/* A list of changes to one partition, in an arena; copies keys and values it is given. */
struct changes;
struct changes *changes_new(struct arena *arena);
/* Where the list lies: for values that are being made for it. */
struct arena *changes_arena(const struct changes *changes);
bool changes_empty(const struct changes *changes);
/* Writes a record. The pieces are what it refers to from now on; each counts one reference. */
void changes_put(struct changes *changes, enum record_family family, struct bytes key,
                 struct bytes value, const struct piece *pieces, size_t piece_count);
/* Deletes a record. */
void changes_delete(struct changes *changes, enum record_family family, struct bytes key);
/* Gives up references that a record overwritten or deleted in this list had. References given and
 * taken in one list cancel out. A piece with no reference left is freed after the commit is durable
 * and no open snapshot can see it. */
void changes_release(struct changes *changes, const struct piece *pieces, size_t piece_count);
/* Drops a whole space in the same commit: all its partitions are gone at once for every new
 * snapshot and walk, commits to it give STORE_NOT_FOUND, its contents are collected in the
 * background. */
void changes_drop_space(struct changes *changes, struct guid space);

/* Applies the changes to the snapshot's partition, atomically, if it is unchanged since. A snapshot
 * whose commit gave STORE_OK is spent: it may be closed, not read or committed again.
 *
 * now           the instant the changes were decided at
 * ret_sequence  what to wait for before the success may be told
 * returns       STORE_OK
 *               STORE_CONFLICT   changed since; now and then also when only another partition was
 *               STORE_NOT_FOUND  the space is dropped
 *               STORE_IO */
enum store_result store_commit(struct store *store, struct snapshot *snapshot,
                               const struct changes *changes, instant now, uint64_t *ret_sequence);

/* ---- durability ---- */

/* Calls waiter->wake once all up to `sequence` is durable or the store has failed (ask
 * store_healthy()); at once, in this call, if it already is. Any thread. */
void store_wait_durable(struct store *store, uint64_t sequence, struct waiter *waiter);
bool store_is_durable(struct store *store, uint64_t sequence);

/* ---- walking the partitions of a space ---- */

/* Visits LISTED records of a space in order of (partition key, record key), all from one state. */
struct walk;
/* Starts at the first record at or after (from_partition, from_record). */
struct walk *walk_open(struct store *store, struct guid space, struct bytes from_partition,
                       struct bytes from_record);
uint64_t walk_sequence(const struct walk *walk);
struct walked {
    struct bytes partition_key; /* all valid until the next call on this walk */
    struct bytes record_key;
    struct bytes value;
};
/* STORE_OK, STORE_NOT_FOUND at the end, STORE_CORRUPT, STORE_IO. May wait for a disk read. */
enum store_result walk_next(struct walk *walk, struct walked *ret_walked);
/* The next walk_next() gives the first record at or after this place. */
void walk_seek(struct walk *walk, struct bytes from_partition, struct bytes from_record);
void walk_close(struct walk *walk);

/* ---- staging pieces ---- */

/* Writes a stream of bytes as pieces of at most PIECE_MAX_BYTES. Belongs to one thread at a time.
 * Bytes are copied into bounded buffers and written by the store's I/O threads. */
struct stage;
/* length_hint: how many bytes will come; UINT64_MAX unknown. */
struct stage *stage_open(struct store *store, uint64_t length_hint);
/* Before the first stage_write(): the MD5 of all bytes will be asked for. It is computed on the way,
 * by a thread of the store, together with those of other stages (base/md5.h). */
void stage_want_md5(struct stage *stage);
/* Takes some bytes (*ret_taken may be less than given, also 0).
 * returns STORE_OK    all taken
 *         STORE_WAIT  buffers are full: waiter will be woken; call again with the rest
 *         STORE_IO, STORE_FULL */
enum store_result stage_write(struct stage *stage, struct bytes data, struct waiter *waiter,
                              size_t *ret_taken);
/* No more bytes: writes what is left and makes all durable.
 * returns STORE_OK    done, the pieces may be committed
 *         STORE_WAIT  call again when woken
 *         STORE_IO, STORE_FULL */
enum store_result stage_finish(struct stage *stage, struct waiter *waiter);
/* After STORE_OK of stage_finish: the pieces, in order; valid until stage_close(). */
const struct piece *stage_pieces(const struct stage *stage, size_t *ret_count);
/* After STORE_OK of stage_finish(), where it was wanted. */
void stage_md5(const struct stage *stage, uint8_t ret_md5[MD5_SIZE]);
/* Ends the stage. Pieces that no commit refers to by now are freed. If a write of it is still under
 * way it is awaited in the background; no waiter is woken after this call. */
void stage_close(struct stage *stage);

/* ---- reading pieces ---- */

/* Checks and reads `length` bytes at `offset` of the piece into `to` (whole sectors around them are
 * read and their CRCs checked). The snapshot that gave the piece must still be open. With waiter
 * NULL the call waits for the disk itself.
 * returns STORE_OK, STORE_CORRUPT, STORE_IO
 *         STORE_WAIT  not in memory: it is being fetched; call again when woken */
enum store_result piece_read(struct store *store, const struct piece *piece, uint32_t offset,
                             uint32_t length, void *to, struct waiter *waiter);

/* A range of bytes in a file, to be sent from there; fd belongs to the store and stays open while a
 * snapshot that can see it is. */
struct piece_file {
    int fd;
    uint64_t offset;
};
/* As piece_read(), but checks only, and tells where the bytes lie.
 * STORE_NOT_FOUND: this store has no files (memory): use piece_read(). */
enum store_result piece_check(struct store *store, const struct piece *piece, uint32_t offset,
                              uint32_t length, struct piece_file *ret_file, struct waiter *waiter);

/* ---- looking after ---- */

struct store_usage {
    uint64_t extent_count;
    uint64_t piece_bytes;     /* referred to by records */
    uint64_t allocated_bytes; /* of the file system, in extents */
    uint64_t pending_bytes;   /* freed, not yet given back */
};
/* Waits until everything that can be collected now is, then measures. Tests and admin; may wait for
 * disks. */
void store_collect_now(struct store *store, struct store_usage *ret_usage);

#endif
