#include "store/rados/outcomes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"

#define BUCKETS 1024u

/* A commit that has not ended, or that has failed. */
struct outcome {
    struct outcome *next;  /* in its bucket */
    struct outcome *newer; /* of those that have failed */
    uint64_t sequence;
    enum store_result result; /* STORE_WAIT: it has not ended */
    struct waiter *waiters;
};

struct outcomes {
    struct lock lock; /* all below under it */
    uint64_t newest;
    uint64_t forgotten; /* failures up to it may be */
    struct outcome *buckets[BUCKETS];
    struct outcome *oldest_failed, **end;
    unsigned failed;
};

struct outcomes *outcomes_new(void)
{
    struct outcomes *outcomes = xcalloc(1, sizeof *outcomes);

    lock_init(&outcomes->lock, RANK_SYNCER);
    outcomes->newest = 1;
    outcomes->end = &outcomes->oldest_failed;
    return outcomes;
}

void outcomes_free(struct outcomes *outcomes)
{
    for (unsigned i = 0; i < BUCKETS; i++)
        while (outcomes->buckets[i]) {
            struct outcome *outcome = outcomes->buckets[i];

            assert(outcome->result != STORE_WAIT && !outcome->waiters);
            outcomes->buckets[i] = outcome->next;
            free(outcome);
        }
    lock_release(&outcomes->lock);
    free(outcomes);
}

static struct outcome **find(struct outcomes *outcomes, uint64_t sequence)
{
    struct outcome **at = &outcomes->buckets[sequence / 2 % BUCKETS];

    while (*at && (*at)->sequence != sequence)
        at = &(*at)->next;
    return at;
}

static void take_out(struct outcomes *outcomes, struct outcome *outcome)
{
    struct outcome **at = find(outcomes, outcome->sequence);

    *at = outcome->next;
}

uint64_t outcomes_begin(struct outcomes *outcomes)
{
    struct outcome *outcome = xcalloc(1, sizeof *outcome), **at;

    lock_take(&outcomes->lock);
    outcomes->newest += 2;
    outcome->sequence = outcomes->newest;
    outcome->result = STORE_WAIT;
    at = &outcomes->buckets[outcome->sequence / 2 % BUCKETS];
    outcome->next = *at;
    *at = outcome;
    lock_give(&outcomes->lock);
    return outcome->sequence;
}

/* Under the lock. Returns one that is remembered no longer, or NULL. */
static struct outcome *remember(struct outcomes *outcomes, struct outcome *outcome)
{
    struct outcome *oldest;

    lock_assert_held(&outcomes->lock);
    *outcomes->end = outcome;
    outcomes->end = &outcome->newer;
    if (++outcomes->failed <= OUTCOMES_REMEMBERED)
        return NULL;
    oldest = outcomes->oldest_failed;
    outcomes->oldest_failed = oldest->newer;
    outcomes->failed--;
    if (oldest->sequence > outcomes->forgotten)
        outcomes->forgotten = oldest->sequence;
    take_out(outcomes, oldest);
    return oldest;
}

void outcomes_end(struct outcomes *outcomes, uint64_t sequence, enum store_result result)
{
    struct outcome *outcome, *over;
    struct waiter *waiters;

    assert(result != STORE_WAIT);
    lock_take(&outcomes->lock);
    outcome = *find(outcomes, sequence);
    assert(outcome && outcome->result == STORE_WAIT);
    outcome->result = result;
    waiters = outcome->waiters;
    outcome->waiters = NULL;
    if (result) {
        over = remember(outcomes, outcome);
    } else {
        take_out(outcomes, outcome);
        over = outcome;
    }
    lock_give(&outcomes->lock);
    free(over);
    while (waiters) {
        struct waiter *waiter = waiters;

        waiters = waiter->next;
        waiter->wake(waiter);
    }
}

void outcomes_wait(struct outcomes *outcomes, uint64_t sequence, struct waiter *waiter)
{
    struct outcome *outcome;
    bool is_over;

    lock_take(&outcomes->lock);
    outcome = *find(outcomes, sequence);
    is_over = !outcome || outcome->result != STORE_WAIT;
    if (!is_over) {
        waiter->next = outcome->waiters;
        outcome->waiters = waiter;
    }
    lock_give(&outcomes->lock);
    if (is_over)
        waiter->wake(waiter);
}

enum store_result outcomes_of(struct outcomes *outcomes, uint64_t sequence)
{
    const struct outcome *outcome;
    enum store_result result = STORE_OK;

    lock_take(&outcomes->lock);
    outcome = *find(outcomes, sequence);
    if (outcome)
        result = outcome->result;
    else if (sequence % 2 == 1 && sequence <= outcomes->forgotten)
        result = STORE_UNKNOWN;
    lock_give(&outcomes->lock);
    return result;
}
