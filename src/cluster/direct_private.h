/* Declares the state of direct reads, for cluster/direct*.c only. See direct.h. */
#ifndef LAGRA_CLUSTER_DIRECT_PRIVATE_H
#define LAGRA_CLUSTER_DIRECT_PRIVATE_H

#include "base/lock.h"
#include "base/thread.h"
#include "cluster/direct.h"
#include "cluster/piece_list.h"

/* An open extent of a cell. */
struct direct_file {
    uint32_t cell, extent; /* cell 0: unused */
    int fd;
    unsigned users;
    bool is_bad; /* closed by its last user */
    uint64_t used_ms;
};

struct direct {
    const char *cluster;
    struct lock lock; /* RANK_DIRECT; protects everything below, and the reads' shared members */
    pthread_cond_t work;
    bool stopping;
    unsigned reads;
    struct direct_read *first, **end; /* reads with a window to fill */
    unsigned busy;                    /* threads in a step */
    uint64_t stepped_ms;              /* when a step was last started by an idle pool, or ended */
    unsigned open_count;
    struct direct_file files[DIRECT_FILES_MAX];
    struct thread threads[DIRECT_THREADS];
};

struct window_of_read {
    char *bytes; /* DIRECT_WINDOW_BYTES; allocated on first use */
    size_t from, to;
};

struct direct_read {
    struct direct *direct;
    uint32_t cell;
    /* Position of the thread that fills a window. */
    struct decoder in;
    struct listed listed;
    uint64_t done;     /* bytes of `listed` that were read */
    uint64_t left;     /* bytes of the body to be read */
    size_t step_bytes; /* read by this step */
    /* Under the lock. Windows filled..filled+count-1, modulo 2, contain bytes to use. */
    struct direct_read *next;
    struct waiter *waiter;
    bool is_queued; /* in the queue, or in a step */
    bool has_failed, has_ended;
    unsigned first, count;
    struct window_of_read windows[2];
    char list[];
};

/* Opens the file of an extent, or finds the open one (direct_files.c; without the lock). Returns NULL if it cannot be opened, or too
 * many are in use. */
struct direct_file *direct_file_take(struct direct *direct, uint32_t cell, uint32_t extent);
/* Releases a file. is_bad: it must not be used again. */
void direct_file_give(struct direct *direct, struct direct_file *file, bool is_bad);
/* Closes files that have not been used for DIRECT_IDLE_MS, or all unused ones. */
void direct_files_close(struct direct *direct, bool all);

/* Fills an empty window with the next bytes (direct_fill.c). Returns false if they cannot be read, or are not those
 * of the list. Called on a thread of direct.c. */
bool direct_fill(struct direct_read *read, struct window_of_read *window);

#endif
