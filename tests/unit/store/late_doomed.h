/* Inside late.c's store: commits that readers see before they turn out never to have come to be. Such a
 * commit is applied to the inner store, and undone there before its sequence settles. Whoever reads the
 * partition meanwhile sees what never was, and whoever commits to it loses that commit too. store.h,
 * "A snapshot may show commits that are not settled" */
#ifndef LAGRA_TESTS_STORE_LATE_DOOMED_H
#define LAGRA_TESTS_STORE_LATE_DOOMED_H

#include <pthread.h>

#include "store/store.h"

struct doomed_list {
    struct store *inner;
    pthread_mutex_t
        mutex;            /* before all locks of the inner store; nothing is applied or undone while
                            * it is held */
    struct doomed *first; /* under mutex */
};

void doomed_init(struct doomed_list *list, struct store *inner);
/* What is there has been undone. */
void doomed_release(struct doomed_list *list);

void doomed_lock(struct doomed_list *list);
void doomed_unlock(struct doomed_list *list);
/* Is what the partition holds now to be undone? Under the lock. */
bool doomed_covers(const struct doomed_list *list, struct partition partition);

/* Can it be undone: changes of records alone, none of which has pieces? */
bool doomed_can(const struct changes *changes);
/* Applies a commit of the inner store's snapshot that doomed_can(). Returns as store_commit(). */
enum store_result doomed_commit(struct doomed_list *list, const struct commit_part *part,
                                struct partition partition, instant now, uint64_t *ret_sequence);
/* Undoes all. */
void doomed_undo(struct doomed_list *list);

#endif
