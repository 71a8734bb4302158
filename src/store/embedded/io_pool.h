/* The threads that wait for disks on behalf of others, and the bounded buffers of staged bytes. */
#ifndef LAGRA_STORE_EMBEDDED_IO_POOL_H
#define LAGRA_STORE_EMBEDDED_IO_POOL_H

#include "base/lock.h"
#include "base/waiter.h"
#include "store/store.h"

#define IO_THREADS      2
#define IO_BUFFERS_MAX  1024 /* 64 MiB: the most that all stages together hold in memory */
#define IO_BUFFERS_KEPT 64   /* unused ones beyond this are given back to the system */

/* Something to do that waits for a disk; its owner embeds it. */
struct io_job {
    struct io_job *next;
    void (*run)(struct io_job *job);
};

/* One sector of a piece that is being staged. */
struct io_buffer {
    char bytes[PIECE_SECTOR_BYTES];
    struct io_buffer *next;     /* of whoever has it alone, or to be written */
    struct io_buffer *sum_next; /* to be summed up */
    struct staged_piece *piece;
    uint32_t offset; /* in the piece */
    uint32_t length;
    unsigned holders; /* threads that have yet to write it or sum it up; under lock */
};

struct io_pool {
    pthread_t threads[IO_THREADS];
    struct lock lock;
    pthread_cond_t work;
    pthread_cond_t woken;        /* the owner of a stage has been */
    struct io_job *first, *last; /* under lock */
    bool stopping;               /* under lock */
    struct io_buffer *unused;    /* under lock */
    size_t unused_count;         /* under lock */
    size_t buffer_count;         /* in use and unused; under lock */
    struct waiter *waiters;      /* for buffers, in order of arrival; under lock */
    struct waiter **waiters_end;
};

void io_pool_start(struct io_pool *pool);
/* Runs what is queued, then ends the threads. */
void io_pool_stop(struct io_pool *pool);
void io_pool_release(struct io_pool *pool);
void io_pool_add(struct io_pool *pool, struct io_job *job);
/* The caller holds pool.lock. */
void io_pool_add_locked(struct io_pool *pool, struct io_job *job);

/* NULL when all are in use: the waiter will be woken when one is given back. */
struct io_buffer *io_buffer_take(struct io_pool *pool, struct waiter *waiter);
/* Gives back a list of buffers (may be NULL), and wakes those who may try again. */
void io_buffers_give(struct io_pool *pool, struct io_buffer *list);
/* Takes a waiter back that io_buffer_take() has armed, unless it has been woken. */
void io_buffer_forget(struct io_pool *pool, struct waiter *waiter);

#endif
