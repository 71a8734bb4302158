/* Long jobs that no request waits for, run on a bounded number of threads; never two with the same
 * id. The store's list of deferred tasks records what must be done, so no work is lost when the
 * process ends or when there are too many jobs. */
#ifndef LAGRA_SERVICE_BACKGROUND_H
#define LAGRA_SERVICE_BACKGROUND_H

#include "base/ids.h"
#include "service/decide_pool.h"

/* Must be the first member of a struct that the caller allocated with malloc(). Freed after run()
 * has returned. */
struct background_job {
    void (*run)(struct background_job *job); /* called on a background thread */
    struct guid id;                          /* identifies the work */
    struct pool_owner owner;
    struct background_job *next; /* list of jobs */
    struct background *background;
};

struct background;

/* Creates the threads like decision_pool_new(). Returns NULL if no thread can be started. Called on
 * the main thread. */
struct background *background_new(unsigned threads_max, struct pool_shares shares);
/* Requests all jobs to end, and starts no more. Thread-safe. */
void background_stop(struct background *background);
bool background_is_stopping(struct background *background);
/* Waits until all jobs have ended. Must be called before the store is closed. */
void background_free(struct background *background);

enum background_begun {
    BACKGROUND_BEGUN,
    /* a job with this id is already queued or running; the new one is freed */
    BACKGROUND_UNDER_WAY,
    /* too many jobs are queued, in total or of this owner; the job is freed and can be tried
     * later */
    BACKGROUND_FULL,
};
/* Queues a job. Thread-safe. */
enum background_begun background_begin(struct background *background, struct background_job *job);

#endif
