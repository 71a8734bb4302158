/* Stages: streams of bytes being written to extents.
 *
 * The owner fills buffers of a sector or a part of one, and computes the CRCs; a buffer is small
 * while data arrives slowly, and counts against the limit of all stages only when it is queued. An
 * I/O thread, one at a time per stage, assigns a place to every piece and writes full buffers, many
 * in one call. When everything is written, the extent syncer makes it durable together with other
 * waiting stages. If the stage encrypts, the I/O thread also does that, and computes the CRCs
 * (stage_encrypt.c). If an MD5 is requested, stage_hash.h computes it in parallel; a buffer is free
 * when both have released it.
 *
 *    FILLING --stage_finish: last buffer queued--> WRITING --queue empty--> SYNCING --> DONE
 *       \                                             |
 *        `-------------- a write failed --------------+--> FAILED
 *
 * stage_finish() returns STORE_OK when the stage is DONE and hashed. stage_close() is allowed in
 * any state: the stage is freed by the caller or, if threads still use it, by the last of them. */
#ifndef LAGRA_STORE_EMBEDDED_STAGE_H
#define LAGRA_STORE_EMBEDDED_STAGE_H

#include "store/embedded/extents.h"
#include "store/embedded/io_pool.h"
#include "store/store_private.h"

/* The maximum number of queued buffers of a stage (2 MiB); its owner continues at half of it. */
#define STAGE_QUEUED_MAX 32

struct embedded;

enum stage_state { STAGE_FILLING, STAGE_WRITING, STAGE_SYNCING, STAGE_DONE, STAGE_FAILED };

struct embedded_stage {
    struct stage stage;

    /* Used by the owner's thread: */
    uint64_t length_hint; /* UINT64_MAX: unknown */
    uint64_t total;       /* bytes taken so far */
    struct io_buffer *filling;
    struct piece *array; /* result of stage_pieces() */
    size_t piece_count;
    struct waiter *buffer_waiter; /* passed to io_pool.h; may have been woken since */

    /* Pieces: appended by the owner; the I/O thread assigns their places before it writes their
     * bytes. */
    struct staged_piece *first, *last;

    /* Used by the I/O thread that processes the stage, then by the thread that ends it: */
    struct run run;              /* rest of the run being filled; extent 0: none */
    uint64_t written;            /* bytes written to the file */
    struct staged_piece *placed; /* the newest piece with a place; `run` starts at its end */
    struct data_cipher *cipher;  /* of the piece being encrypted, or NULL */
    char *sector;                /* the sector being collected and encrypted */
    uint32_t sector_bytes;       /* collected so far; 0: none */
    uint32_t sector_number;      /* in the newest piece */

    /* Under io_pool.lock: */
    enum stage_state state;
    enum store_result result; /* of FAILED */
    bool in_io;               /* queued for or used by an I/O thread or the extent syncer */
    bool in_hash;             /* queued for or used by the hasher */
    bool closed;
    struct io_buffer *queue_first, *queue_last; /* to be written */
    struct io_buffer *hash_first, *hash_last;   /* to be hashed */
    size_t queued;                              /* buffers that some thread holds */
    struct waiter *waiter; /* of the owner: until the queue is shorter, or DONE */
    /* threads that are about to wake a waiter: stage_close() waits for them */
    unsigned waking;
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

/* The job of a stage: writes the queued buffers. Called on an I/O thread. (stage_write.c) */
void stage_run(struct io_job *job);
/* Encrypts and writes adjacent buffers of one piece, in order. Called on the I/O thread of the
 * stage. Returns STORE_OK, STORE_IO, STORE_FULL (stage_encrypt.c) */
enum store_result stage_write_encrypted(struct embedded_stage *stage, struct io_buffer *buffer,
                                        size_t count, const struct extent *extent);
/* Encrypts and writes the collected bytes, to which none will be added. */
enum store_result stage_write_last_sector(struct embedded *embedded, struct embedded_stage *stage);
/* Wipes the key. Called by the thread that ends the stage. */
void stage_end_encryption(struct embedded_stage *stage);
/* Called by the extent syncer when it is done with the stage. */
void stage_synced(struct embedded_stage *stage, enum store_result result);
/* Releases the unused rest of the run. Called by the thread that processes or ends the stage. */
void stage_return_run(struct embedded *embedded, struct embedded_stage *stage);
/* Work that remains to be done without the lock when a thread stops using a stage or some of its
 * buffers. */
struct stage_detach {
    struct embedded *embedded;
    struct io_buffer *unused;        /* held by no thread any more */
    struct waiter *waiter;           /* its condition is met */
    struct embedded_stage *waited;   /* the stage of that waiter */
    struct embedded_stage *finished; /* closed, and used by no thread */
};
/* Ends the thread's use of the buffer. Caller holds io_pool.lock. */
void stage_release_buffer_locked(struct stage_detach *detach, struct embedded_stage *stage,
                                 struct io_buffer *buffer);
/* Called last under io_pool.lock: after it the thread uses the stage only if in_io or in_hash is
 * set for it. */
void stage_detach_locked(struct stage_detach *detach, struct embedded_stage *stage);
void stage_detach_finish(const struct stage_detach *detach);
/* Frees a closed stage that no thread uses, and its pieces that no commit refers to. */
void stage_end(struct embedded_stage *stage);

#endif
