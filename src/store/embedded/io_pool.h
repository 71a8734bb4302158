/* The threads that wait for disks on behalf of others, and the bounded buffers of staged bytes.
 *
 * Each buffer is charged to one account:
 *
 *   IO_SMALL    at most IO_SMALL_BYTES, being filled. Always granted: one per stage.
 *   IO_FILLING  larger, being filled; at most IO_FILLING_MAX bytes in all stages together
 *   IO_QUEUED   being written, or about to be queued; at most IO_QUEUED_MAX in all stages together.
 *               Only this account makes a stage wait, and the disk empties it.
 *
 * So any number of stages that fill slowly block no other stage. */
#ifndef LAGRA_STORE_EMBEDDED_IO_POOL_H
#define LAGRA_STORE_EMBEDDED_IO_POOL_H

#include <stdatomic.h>

#include "base/lock.h"
#include "base/thread.h"
#include "base/waiter.h"
#include "store/store.h"

#define IO_THREADS     2
#define IO_QUEUED_MAX  1024         /* buffers: 64 MiB */
#define IO_FILLING_MAX (32ul << 20) /* bytes */
#define IO_SMALL_BYTES 4096u
#define IO_UNUSED_MAX  64 /* more unused buffers than this are freed */

/* A job that waits for a disk; embedded in its owner's structure. */
struct io_job {
    struct io_job *next;
    void (*run)(struct io_job *job);
};

enum io_account { IO_SMALL, IO_FILLING, IO_QUEUED };

/* Bytes of a sector of a piece that is being staged: the entire sector or a part of it. */
struct io_buffer {
    /* next in its holder's list, or in the queue of buffers to write */
    struct io_buffer *next;
    struct io_buffer *hash_next; /* to be hashed */
    struct staged_piece *piece;
    uint32_t offset; /* in the piece */
    uint32_t length;
    uint32_t size; /* of bytes[] */
    enum io_account account;
    bool ends_sector; /* set when it is queued */
    unsigned holders; /* threads that still have to write or hash it; under lock */
    char bytes[];
};

struct io_pool {
    struct thread threads[IO_THREADS];
    struct lock lock;
    pthread_cond_t work;
    pthread_cond_t woken;        /* a stage's owner has been woken */
    struct io_job *first, *last; /* under lock */
    bool stopping;               /* under lock */
    struct io_buffer *unused;    /* of PIECE_SECTOR_BYTES; under lock */
    size_t unused_count;         /* under lock */
    _Atomic size_t queued_count; /* buffers charged to IO_QUEUED; changed under lock */
    size_t filling_bytes;        /* of buffers charged to IO_FILLING; under lock */
    struct waiter *waiters;      /* for IO_QUEUED, in order of arrival; under lock */
    struct waiter **waiters_end;
};

/* Returns false if not all threads could be created; io_pool_stop() must be called anyway. */
bool io_pool_start(struct io_pool *pool);
/* Runs the queued jobs, then ends the threads. */
void io_pool_stop(struct io_pool *pool);
void io_pool_release(struct io_pool *pool);
void io_pool_add(struct io_pool *pool, struct io_job *job);
/* The caller holds pool.lock. */
void io_pool_add_locked(struct io_pool *pool, struct io_job *job);

/* Reserves a buffer with space for some bytes now (at most PIECE_SECTOR_BYTES) and perhaps more
 * later. A buffer charged to IO_QUEUED must be queued before the caller waits for anything. Returns
 * NULL if all accounts are full; the waiter will be woken. */
struct io_buffer *io_buffer_take(struct io_pool *pool, size_t wanted, struct waiter *waiter);
/* Replaces a buffer by a larger one with the same contents. Returns NULL if none is granted without
 * waiting, or none is larger. */
struct io_buffer *io_buffer_grow(struct io_pool *pool, struct io_buffer *buffer);
/* Charges a buffer that is about to be queued. Returns false if too many are queued; the waiter
 * (NULL means none) will then be woken. Caller holds pool.lock. */
bool io_buffer_charge_locked(struct io_pool *pool, struct io_buffer *buffer, struct waiter *waiter);
/* Releases a list of buffers (may be NULL), and wakes waiters. */
void io_buffers_give(struct io_pool *pool, struct io_buffer *list);
/* Cancels a waiter, unless it has been woken. */
void io_buffer_forget(struct io_pool *pool, struct waiter *waiter);

#endif
