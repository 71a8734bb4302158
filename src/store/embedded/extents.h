/* The set of extents: where new pieces go, which files there are, how many bytes of each are in
 * use, and which staged pieces no record refers to yet.
 *
 * One extent is active: runs are cut from its free end. When what is left is too short it is sealed
 * and a new one begun. Free places inside an extent are never filled again; they are punched.
 * A sealed extent with no bytes in use is removed. */
#ifndef LAGRA_STORE_EMBEDDED_EXTENTS_H
#define LAGRA_STORE_EMBEDDED_EXTENTS_H

#include <stdatomic.h>

#include "base/lock.h"
#include "store/embedded/extent_file.h"
#include "store/store_private.h"

/* Files open at once. One of them is kept open while it is taken, while it is the active one, and
 * while it has staged pieces: the kernel reports a failed write-out only to a sync of a file that stayed
 * open. Of the others, the one that was released first is closed when another is opened. */
#define EXTENTS_OPEN_MAX 128u

struct extent {
    uint32_t id; /* constant. The others under lock; fd is constant while it is taken */
    int fd;      /* -1: not open */
    unsigned takers;
    unsigned staged_count;
    bool named;         /* its name is durable */
    bool counted;       /* used_bytes is complete (recovery has seen the index) */
    bool removed;       /* from the list: freed when its last taker gives it back */
    bool is_idle;       /* in the list of those that may be closed */
    int64_t used_bytes; /* runs cut and not given back. Below 0 at most until counted */
    struct extent *next_idle;
    struct extent *previous_idle;
};

/* A place in an extent. */
struct run {
    uint32_t extent;
    uint64_t offset;
    uint64_t length; /* a multiple of EXTENT_UNIT */
};

/* A piece of a stage: until a commit refers to it, it is in the table of staged pieces. */
struct staged_piece {
    struct piece piece; /* sector_crc points to crc */
    uint32_t capacity;  /* the most that length may become */
    bool staged;        /* in the table; under extents.lock */
    struct staged_piece *bucket_next;
    struct staged_piece *next; /* of the stage */
    uint32_t crc[PIECE_SECTORS_MAX];
};

#define STAGED_BUCKETS 1024

/* For a backup: bytes that records referred to when it began are neither punched nor removed in the
 * extents from..to. */
struct extent_hold {
    uint32_t from, to; /* from > to: in none */
    bool is_active;    /* from extents_hold() to extents_end_hold() */
    bool is_lost;      /* given up before its end */
};
#define EXTENT_HOLD_NONE ((struct extent_hold){ .from = 1, .to = 0 })

struct extents {
    int folder;
    struct lock lock;
    struct extent **list; /* by rising id; under lock */
    size_t count;
    size_t capacity;
    size_t open_count;         /* files that are open, or about to be; under lock */
    struct extent *idle_first; /* given back the longest ago; under lock */
    struct extent *idle_last;
    struct extent *active;     /* NULL: none yet; under lock */
    uint64_t active_end;       /* where its free end begins; under lock */
    _Atomic uint64_t frontier; /* written under lock */
    uint32_t next_id;
    bool creating;           /* some thread makes a new one; under lock */
    struct extent_hold hold; /* under lock */
    pthread_cond_t created;
    struct staged_piece *staged[STAGED_BUCKETS];
};

/* Lists the files. Start-up thread. returns STORE_OK, STORE_IO */
enum store_result extents_open(struct extents *extents, int folder, const char **ret_problem);
/* The caller closes the folder. */
void extents_release(struct extents *extents);
/* This id, and those below, are never given to a new extent. Start-up thread. */
void extents_reserve(struct extents *extents, uint32_t id);
/* The last extent goes on from `end`, behind its last piece; false when there is too little room.
 * Start-up thread. */
bool extents_go_on(struct extents *extents, uint64_t end);

/* Cuts a run of `least` to `most` bytes. May create a file. I/O threads.
 * returns STORE_OK, STORE_FULL, STORE_SHORTAGE, STORE_IO */
enum store_result extents_cut(struct extents *extents, uint64_t least, uint64_t most,
                              struct run *ret_run);
/* Returns a run, or the end of one, in which nothing was written. Any thread. */
void extents_give_back(struct extents *extents, struct run run);

/* Places are given out in rising order of this number, until the process ends. */
static inline uint64_t extents_place(uint32_t extent, uint64_t offset)
{
    return (uint64_t)extent << 32 | offset;
}
/* All pieces that have a place now lie before this place. Any thread. */
static inline uint64_t extents_frontier(const struct extents *extents)
{
    return atomic_load(&extents->frontier);
}

/* An extent with its file open, until it is given back: for one step, not for as long as a client
 * likes. returns STORE_OK, STORE_CORRUPT, STORE_SHORTAGE (also: as many as may be are open),
 * STORE_IO.
 * Any thread. */
enum store_result extents_take(struct extents *extents, uint32_t id, struct extent **ret_extent);
void extents_give(struct extents *extents, struct extent *extent);
/* Makes an extent's data and name durable. Waits for the disk. Extent syncer. */
enum store_result extents_sync(struct extents *extents, uint32_t id);

/* The table of staged pieces. I/O threads; commits; threads that end a stage. */
void extents_stage(struct extents *extents, struct staged_piece *piece);
bool extents_has_staged(struct extents *extents, uint32_t extent, uint64_t offset);
/* Of pieces with references given by a commit, `first` must be staged; they are so no longer. */
void extents_referred(struct extents *extents, const struct piece_change *pieces, size_t count,
                      size_t first);
/* Takes it out of the table; false when a commit has done so before. */
bool extents_unstage(struct extents *extents, struct staged_piece *piece);

/* `length` bytes (a multiple of EXTENT_UNIT) at offset are gone: removes the extent when they were
 * the last in it, else punches them; of an extent whose file is missing there is nothing to give
 * back. Waits for the disk. Collector. */
void extents_punch(struct extents *extents, uint32_t id, uint64_t offset, uint64_t length);
/* Recovery: the index has `used_bytes` of that extent in use. Removes it if that is 0. */
void extents_counted(struct extents *extents, uint32_t id, uint64_t used_bytes);
/* The id at a place in the list, in rising order; false past the end. */
bool extents_id_at(struct extents *extents, size_t at, uint32_t *ret_id);
size_t extents_count(struct extents *extents);
/* Removes sealed extents that nothing is in. Collector. */
void extents_sweep(struct extents *extents);

/* Holds all extents, those to come too. False: they are held already. Any thread, as the next six. */
bool extents_hold(struct extents *extents);
/* The state to be held has been taken: it refers to nothing behind this place, the end of the newest
 * extent (id 0: there is none). What is newer is held no longer. */
void extents_hold_to_end(struct extents *extents, uint32_t *ret_id, uint64_t *ret_end);
/* Extents up to this one need no longer be held. False: the hold was lost. */
bool extents_hold_after(struct extents *extents, uint32_t id);
bool extents_is_held(struct extents *extents, uint32_t id);
bool extents_any_held(struct extents *extents);
/* Gives the hold up, if there is one: their space is needed. True: there was one. */
bool extents_lose_hold(struct extents *extents);
/* returns false if it was lost before */
bool extents_end_hold(struct extents *extents);
/* How many, and what they take of the file system. */
void extents_measure(struct extents *extents, uint64_t *ret_count, uint64_t *ret_allocated_bytes);

#endif
