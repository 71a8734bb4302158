/* Long work that no request waits for: a bounded number of threads, and never two at the same
 * thing. What is to be done is kept elsewhere (the store's list of deferred tasks), so that
 * nothing is lost when the process ends, or when there are more than this can take. */
#ifndef LAGRA_SERVICE_BACKGROUND_H
#define LAGRA_SERVICE_BACKGROUND_H

#include "base/ids.h"
#include "service/decide_pool.h"

/* Lies at the beginning of what its starter allocated with malloc(); freed when run() has
 * returned. */
struct background_job {
    void (*run)(struct background_job *job); /* on a thread of its own */
    struct guid id;                          /* of what is done */
    struct pool_owner owner;
    struct background_job *next; /* of the list */
    struct background *background;
};

struct background;

/* As decide_pool_new(). NULL: no thread could be started. Main thread. */
struct background *background_new(unsigned threads_max, struct pool_shares shares);
/* Asks all jobs to end; none begins any more. Any thread. */
void background_stop(struct background *background);
bool background_is_stopping(struct background *background);
/* Waits until all have ended. Before the store is closed. */
void background_free(struct background *background);

enum background_begun {
    BACKGROUND_BEGUN,
    BACKGROUND_UNDER_WAY, /* one of this id was begun before: the job is freed */
    BACKGROUND_FULL,      /* others wait, or enough of its owner do; the job is freed: try later */
};
/* Any thread. */
enum background_begun background_begin(struct background *background, struct background_job *job);

#endif
