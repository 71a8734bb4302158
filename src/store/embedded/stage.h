/* Stages: a stream of bytes on its way to an extent.
 *
 * Its owner fills buffers of a sector or a part of one, with the CRC of what passes; a buffer is
 * small while little arrives, and counts against the bound of all stages only when it is queued. An
 * I/O thread, one at a time for each stage, assigns every piece a place and writes full buffers,
 * many in one call. When all is written the extent syncer makes it durable together with whatever
 * else waits. Where an MD5 is wanted, stage_hash.h computes it meanwhile; a buffer is free when
 * both have released it.
 *
 *    FILLING --stage_finish: last buffer queued--> WRITING --queue empty--> SYNCING --> DONE
 *       \                                             |
 *        `-------------- a write failed --------------+--> FAILED
 *
 * stage_finish() returns STORE_OK when the stage is DONE and hashed.
 * stage_close() in any state: the stage is ended by its closer, or where threads still use it, by
 * the last of them. */
#ifndef LAGRA_STORE_EMBEDDED_STAGE_H
#define LAGRA_STORE_EMBEDDED_STAGE_H

#include "store/embedded/extents.h"
#include "store/embedded/io_pool.h"
#include "store/store_private.h"

/* So many buffers of one stage may be queued (2 MiB); its owner goes on at half of it. */
#define STAGE_QUEUED_MAX 32

struct embedded;

enum stage_state { STAGE_FILLING, STAGE_WRITING, STAGE_SYNCING, STAGE_DONE, STAGE_FAILED };

struct embedded_stage {
    struct stage stage;

    /* Of the owner's thread. */
    uint64_t length_hint; /* UINT64_MAX: unknown */
    uint64_t total;       /* bytes taken so far */
    struct io_buffer *filling;
    struct piece *array; /* what stage_pieces() returns */
    size_t piece_count;
    struct waiter *buffer_waiter; /* given to io_pool.h, perhaps woken since */

    /* Pieces: appended by the owner; places given by the I/O thread before their bytes are written.
     */
    struct staged_piece *first, *last;

    /* Of the I/O thread that processes the stage, then of whoever ends it. */
    struct run run;              /* what is left of the one being filled; length 0: none */
    uint64_t written;            /* bytes given to the file */
    struct staged_piece *placed; /* the newest piece with a place; ends where `run` begins */

    /* Under io_pool.lock. */
    enum stage_state state;
    enum store_result result; /* of FAILED */
    bool in_io;               /* queued for or held by an I/O thread or the extent syncer */
    bool in_hash;             /* queued for or held by the hasher */
    bool closed;
    struct io_buffer *queue_first, *queue_last; /* to be written */
    struct io_buffer *hash_first, *hash_last;   /* to be hashed */
    size_t queued;                              /* buffers that somebody holds */
    struct waiter *waiter; /* of the owner: for the queue to shorten, or for DONE */
    unsigned waking;       /* threads that are about to wake one: stage_close() waits for them */
    struct io_job job;
    struct embedded_stage *sync_next;       /* of the extent syncer */
    struct embedded_stage *hash_stage_next; /* of the hasher */
};

/* For the table of operations. */
struct stage *embedded_stage_open(struct store *store, uint64_t length_hint);
enum store_result embedded_stage_write(struct stage *stage, struct bytes data,
                                       struct waiter *waiter, size_t *ret_taken);
enum store_result embedded_stage_finish(struct stage *stage, struct waiter *waiter);
const struct piece *embedded_stage_pieces(const struct stage *stage, size_t *ret_count);
void embedded_stage_close(struct stage *stage);

/* The job of a stage: writes what is queued. I/O thread. (stage_write.c) */
void stage_run(struct io_job *job);
/* Called by the extent syncer when it is done with the stage. */
void stage_synced(struct embedded_stage *stage, enum store_result result);
/* Returns the unused rest of the run. Of whoever processes or ends the stage. */
void stage_return_run(struct embedded *embedded, struct embedded_stage *stage);
/* A thread detaches from a stage, or from some of its buffers: what is left to be done without the
 * lock. */
struct stage_detach {
    struct embedded *embedded;
    struct io_buffer *unused;        /* no thread holds these any longer */
    struct waiter *waiter;           /* what it waits for has come */
    struct embedded_stage *waited;   /* the stage it waited for */
    struct embedded_stage *finished; /* closed, and no thread uses it */
};
/* The thread no longer holds the buffer. Under io_pool.lock. */
void stage_release_buffer_locked(struct stage_detach *detach, struct embedded_stage *stage,
                                 struct io_buffer *buffer);
/* Last under io_pool.lock: from here on the thread uses the stage only if in_io or in_hash says
 * so. */
void stage_detach_locked(struct stage_detach *detach, struct embedded_stage *stage);
void stage_detach_finish(const struct stage_detach *detach);
/* Frees a closed stage that no thread uses, and its pieces that no commit refers to. */
void stage_end(struct embedded_stage *stage);

#endif
