/* The threads that wait for disks on behalf of others, and the bounded buffers of staged bytes.
 *
 * Each buffer is charged to one account:
 *
 *   IO_SMALL    at most IO_SMALL_BYTES, being filled. Always granted: one for each stage.
 *   IO_FILLING  larger, being filled; at most IO_FILLING_MAX bytes in all stages together
 *   IO_QUEUED   on its way to the disk, or about to be queued; at most IO_QUEUED_MAX in all stages
 *               together. Only this account makes a stage wait, and the disk empties it.
 *
 * So a stage that fills slowly holds back nobody, however many there are. */
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
#define IO_UNUSED_MAX  64 /* unused buffers beyond this are given back to the system */

/* Something to do that waits for a disk; its owner embeds it. */
struct io_job {
    struct io_job *next;
    void (*run)(struct io_job *job);
};

enum io_account { IO_SMALL, IO_FILLING, IO_QUEUED };

/* Bytes of one sector of a piece that is being staged: the whole sector, or a part of it. */
struct io_buffer {
    struct io_buffer *next;      /* of whoever has it alone, or to be written */
    struct io_buffer *hash_next; /* to be hashed */
    struct staged_piece *piece;
    uint32_t offset; /* in the piece */
    uint32_t length;
    uint32_t size; /* of bytes[] */
    enum io_account account;
    unsigned holders; /* threads that have yet to write or hash it; under lock */
    char bytes[];
};

struct io_pool {
    struct thread threads[IO_THREADS];
    struct lock lock;
    pthread_cond_t work;
    pthread_cond_t woken;        /* the owner of a stage has been */
    struct io_job *first, *last; /* under lock */
    bool stopping;               /* under lock */
    struct io_buffer *unused;    /* of PIECE_SECTOR_BYTES; under lock */
    size_t unused_count;         /* under lock */
    _Atomic size_t queued_count; /* buffers charged to IO_QUEUED; changed under lock */
    size_t filling_bytes;        /* of buffers charged to IO_FILLING; under lock */
    struct waiter *waiters;      /* for IO_QUEUED, in order of arrival; under lock */
    struct waiter **waiters_end;
};

/* False: not enough threads; to be stopped all the same. */
bool io_pool_start(struct io_pool *pool);
/* Runs what is queued, then ends the threads. */
void io_pool_stop(struct io_pool *pool);
void io_pool_release(struct io_pool *pool);
void io_pool_add(struct io_pool *pool, struct io_job *job);
/* The caller holds pool.lock. */
void io_pool_add_locked(struct io_pool *pool, struct io_job *job);

/* A buffer to be filled, with room for some bytes now (at most PIECE_SECTOR_BYTES) and perhaps more
 * later. One charged to IO_QUEUED must be queued before the caller waits for anything. NULL: all
 * accounts are full; the waiter will be woken. */
struct io_buffer *io_buffer_take(struct io_pool *pool, size_t wanted, struct waiter *waiter);
/* A larger buffer with the same contents, in place of this one; NULL when no memory is granted
 * without waiting, or none larger. */
struct io_buffer *io_buffer_grow(struct io_pool *pool, struct io_buffer *buffer);
/* Charges a buffer that is about to be queued. False: too many are queued, and the waiter (NULL:
 * none) will be woken. Under pool.lock. */
bool io_buffer_charge_locked(struct io_pool *pool, struct io_buffer *buffer, struct waiter *waiter);
/* Releases a list of buffers (may be NULL), and wakes those who may try again. */
void io_buffers_give(struct io_pool *pool, struct io_buffer *list);
/* Takes a waiter back that was armed here, unless it has been woken. */
void io_buffer_forget(struct io_pool *pool, struct waiter *waiter);

#endif
