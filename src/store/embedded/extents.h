/* The set of extents: allocates space for new pieces, manages the files and their used bytes, and
 * keeps the staged pieces that no record refers to yet.
 *
 * One extent is active: runs are allocated from its free end. When the rest is too short, it is
 * sealed and a new one is started. Freed space inside an extent is never reused; it is punched. A
 * sealed extent without used bytes is removed. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENTS_H
#define LAGRA_STORE_EMBEDDED_EXTENTS_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/extent_file.h"
#include "store/store_private.h"

/* The maximum number of open files. A file remains open while it is in use, is the active one, or
 * has staged pieces, because the kernel reports a failed write-back only to a sync of a file that
 * has remained open. Of the others, the least recently released one is closed when another file is
 * opened. */
#define EXTENTS_OPEN_MAX 128u

struct extent {
    uint32_t id; /* constant; the others are under lock; fd is constant while in use */
    int fd;      /* -1: not open */
    unsigned takers;
    unsigned staged_count;
    unsigned run_count; /* runs that a stage still fills */
    bool named;         /* its name is durable */
    bool counted;       /* used_bytes is complete (recovery has seen the index) */
    bool removed;       /* from the list; freed when its last user releases it */
    bool is_idle;       /* in the list of those that may be closed */
    bool is_lent;       /* other processes may read its file; never written again, see below */
    bool is_preparing;  /* extents_prepare_lending() will be called */
    int64_t used_bytes; /* size of the allocated runs; may be below 0 until counted */
    struct extent *next_idle;
    struct extent *previous_idle;
};

/* A range of bytes in an extent. */
struct run {
    uint32_t extent;
    uint64_t offset;
    uint64_t length; /* a multiple of EXTENT_UNIT */
};

/* A piece of a stage: until a commit refers to it, it is in the table of staged pieces. */
struct staged_piece {
    struct piece piece; /* sector_crc points to crc */
    uint32_t capacity;  /* maximum of length */
    bool staged;        /* in the table; under extents.lock */
    struct staged_piece *bucket_next;
    struct staged_piece *next; /* of the stage */
    uint32_t crc[PIECE_SECTORS_MAX];
    struct piece_seal *seal; /* if the stage encrypts, once its first bytes are written */
};

#define STAGED_BUCKETS 1024

/* For a backup: bytes in the extents from..to that were referenced when it started are neither
 * punched nor removed. */
struct extent_hold {
    uint32_t from, to; /* from > to: none */
    bool is_active;    /* from extents_hold() to extents_end_hold() */
    bool is_lost;      /* given up early */
};
#define EXTENT_HOLD_NONE ((struct extent_hold){ .from = 1, .to = 0 })

struct extents {
    int folder;
    struct lock lock;
    struct extent **list; /* by ascending id; under lock */
    size_t count;
    size_t capacity;
    size_t open_count;         /* files that are open or being opened; under lock */
    struct extent *idle_first; /* least recently released; under lock */
    struct extent *idle_last;
    struct extent *active; /* NULL: none; under lock */
    /* when one was last sealed early, or the store was opened (CLOCK_MONOTONIC); under lock */
    uint64_t sealed_ms;
    bool has_sealed;           /* one was sealed early; under lock */
    uint64_t active_end;       /* start of its free end; under lock */
    _Atomic uint64_t frontier; /* written under lock */
    uint32_t next_id;
    bool creating;           /* some thread is creating one; under lock */
    struct extent_hold hold; /* under lock */
    pthread_cond_t created;
    struct staged_piece *staged[STAGED_BUCKETS];
};

/* Lists the files. Called on the startup thread. Returns STORE_OK, STORE_IO. */
enum store_result extents_open(struct extents *extents, int folder, const char **ret_problem);
/* The caller closes the folder. */
void extents_release(struct extents *extents);
/* Ensures that new extents get ids above this one. Called on the startup thread. */
void extents_reserve(struct extents *extents, uint32_t id);
/* Continues the last extent at `end`, after its last piece; returns false if there is too little
 * space. Called on the startup thread. */
bool extents_go_on(struct extents *extents, uint64_t end);

/* Allocates a run of `least` to `most` bytes. May create a file. Called on I/O threads.
 *
 * Returns STORE_OK, STORE_FULL, STORE_SHORTAGE, STORE_IO. */
enum store_result extents_cut(struct extents *extents, uint64_t least, uint64_t most,
                              struct run *ret_run);
/* Ends the use of a run. `run` is the end of it, to which nothing was written; its length may be 0.
 * Thread-safe. */
void extents_give_back(struct extents *extents, struct run run);

/* Returns a number that increases with each allocation, until the process ends. */
static inline uint64_t extents_place(uint32_t extent, uint64_t offset)
{
    return (uint64_t)extent << 32 | offset;
}
/* Returns a place above all pieces allocated so far. Thread-safe. */
static inline uint64_t extents_frontier(const struct extents *extents)
{
    return atomic_load(&extents->frontier);
}

/* Opens the file of an extent until extents_give(), which must follow within a single step, without
 * waiting for a client. Returns STORE_OK, STORE_CORRUPT, STORE_SHORTAGE (also: too many are open),
 * STORE_IO. Thread-safe. */
enum store_result extents_take(struct extents *extents, uint32_t id, struct extent **ret_extent);
void extents_give(struct extents *extents, struct extent *extent);
/* Makes an extent's data and name durable. Waits for the disk. Called by the extent syncer. */
enum store_result extents_sync(struct extents *extents, uint32_t id);

/* The table of staged pieces. I/O threads; commits; threads that end a stage. */
void extents_stage(struct extents *extents, struct staged_piece *piece);
bool extents_has_staged(struct extents *extents, uint32_t extent, uint64_t offset);
/* Removes from the table pieces to which a commit has added references; `first` of them must be
 * staged. */
void extents_referred(struct extents *extents, const struct piece_change *pieces, size_t count,
                      size_t first);
/* Removes a piece from the table; returns false if a commit has done so before. */
bool extents_unstage(struct extents *extents, struct staged_piece *piece);

/* Lends extents to other front ends of a cluster, which read pieces from their files
 * (cluster/direct.h). On CephFS, a file that one machine has open for writing and another one for reading is
 * cached by neither. So only the files of extents to which nothing will be written are lent, and
 * this process has them open only for reading, except while it punches one.
 *
 * extents_lend() returns EXTENT_LENT if the extent is lent, and never waits. Otherwise it decides
 * whether the extent could be. The active extent is sealed early for this if it is large or old
 * enough; each early seal costs a file more. Thread-safe. */
#define EXTENT_SEAL_BYTES (64u << 20)
#define EXTENT_SEAL_MS    300000u
#define EXTENT_OLD_MS     3600000u
enum extent_lending {
    EXTENT_LENT,
    EXTENT_KEPT,
    EXTENT_TO_PREPARE, /* the caller must have extents_prepare_lending() called */
};
enum extent_lending extents_lend(struct extents *extents, uint32_t id, uint64_t now_ms);
/* Opens the file of an extent for reading only, unless it is in use at this moment, and lends it
 * from then on. Waits for the disk. Called on I/O threads. */
void extents_prepare_lending(struct extents *extents, uint32_t id);

/* Punches bytes of an extent that the caller has taken. Waits for the disk. */
void extents_punch_taken(struct extents *extents, const struct extent *extent, uint64_t offset,
                         uint64_t length);
/* Frees `length` bytes (a multiple of EXTENT_UNIT) at offset: removes the extent if they were its
 * last ones, otherwise punches them. Does nothing if the file of the extent is missing. Waits for
 * the disk. Called by the collector. */
void extents_punch(struct extents *extents, uint32_t id, uint64_t offset, uint64_t length);
/* For recovery: sets the used bytes of an extent according to the index. Removes it if there are
 * none. */
void extents_counted(struct extents *extents, uint32_t id, uint64_t used_bytes);
/* Returns the id at an index of the list, in ascending order; false past the end. */
bool extents_id_at(struct extents *extents, size_t at, uint32_t *ret_id);
size_t extents_count(struct extents *extents);
/* Removes sealed extents without used bytes. Called by the collector. */
void extents_sweep(struct extents *extents);

/* Holds all extents, including future ones. Returns false if they are already held. Thread-safe,
 * like the next six functions. */
bool extents_hold(struct extents *extents);
/* Limits the hold to the state that has been taken: returns the end of the newest extent (id 0:
 * there is none), after which nothing is held. */
void extents_hold_to_end(struct extents *extents, uint32_t *ret_id, uint64_t *ret_end);
/* Ends the hold of extents up to this one. Returns false if the hold was lost. */
bool extents_hold_after(struct extents *extents, uint32_t id);
bool extents_is_held(struct extents *extents, uint32_t id);
bool extents_any_held(struct extents *extents);
/* Gives up the hold because its space is needed. Returns true if there was one. */
bool extents_lose_hold(struct extents *extents);
/* Returns false if it was lost before. */
bool extents_end_hold(struct extents *extents);
/* Returns the number of extents, and the bytes they occupy in the file system. */
void extents_measure(struct extents *extents, uint64_t *ret_count, uint64_t *ret_allocated_bytes);

#endif
