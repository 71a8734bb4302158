#include "store/rados/outcomes.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/sleeper.h"

#define BUCKETS 1024u

/* A sequence: a number, what it is of, and whether it is above all that are not. */
#define STEP    4u
#define RESTS   (UINT64_C(1) << 62)
enum sequence_of { OF_DURABLE, OF_COMMIT, OF_READ, OF_READ_LATE };

/* A commit that has not ended, or that has failed. */
struct outcome {
    struct outcome *next;  /* in its bucket */
    struct outcome *newer; /* of those that have failed */
    uint64_t sequence;
    enum store_result result; /* STORE_WAIT: it has not ended */
    bool is_late;             /* nobody waits for it */
    uint64_t begun_ms;
    struct waiter *waiters;
};

struct outcomes {
    struct lock lock;   /* all below under it */
    uint64_t newest;    /* a multiple of STEP */
    uint64_t forgotten; /* failures up to it may be */
    struct outcome *buckets[BUCKETS];
    struct outcome *oldest_failed, **end;
    unsigned failed;
    unsigned open; /* that have not ended */
};

struct outcomes *outcomes_new(void)
{
    struct outcomes *outcomes = xcalloc(1, sizeof *outcomes);

    lock_init(&outcomes->lock, RANK_SYNCER);
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

static enum sequence_of sequence_of(uint64_t sequence)
{
    return (enum sequence_of)(sequence % STEP);
}

/* The commit that it is about. */
static uint64_t commit_of(uint64_t sequence)
{
    return (sequence & ~RESTS) / STEP * STEP + OF_COMMIT;
}

uint64_t outcomes_read(uint64_t commit)
{
    return RESTS | (commit - OF_COMMIT + OF_READ);
}

uint64_t outcomes_read_late(uint64_t sequence)
{
    return RESTS | (commit_of(sequence) - OF_COMMIT + OF_READ_LATE);
}

uint64_t outcomes_durable(uint64_t commit)
{
    return (commit & ~RESTS) - OF_COMMIT + STEP;
}

static struct outcome **find(struct outcomes *outcomes, uint64_t sequence)
{
    uint64_t commit = commit_of(sequence);
    struct outcome **at = &outcomes->buckets[commit / STEP % BUCKETS];

    while (*at && (*at)->sequence != commit)
        at = &(*at)->next;
    return at;
}

static void take_out(struct outcomes *outcomes, struct outcome *outcome)
{
    struct outcome **at = find(outcomes, outcome->sequence);

    *at = outcome->next;
}

uint64_t outcomes_begin(struct outcomes *outcomes, bool rests)
{
    struct outcome *outcome = xcalloc(1, sizeof *outcome), **at;
    uint64_t sequence;

    lock_take(&outcomes->lock);
    outcomes->newest += STEP;
    sequence = outcomes->newest + OF_COMMIT;
    outcome->sequence = sequence;
    outcome->result = STORE_WAIT;
    outcome->begun_ms = clock_monotonic_ms();
    outcomes->open++;
    at = &outcomes->buckets[sequence / STEP % BUCKETS];
    outcome->next = *at;
    *at = outcome;
    lock_give(&outcomes->lock);
    return rests ? RESTS | sequence : sequence;
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

static void wake_all(struct waiter *waiters)
{
    while (waiters) {
        struct waiter *waiter = waiters;

        waiters = waiter->next;
        waiter->wake(waiter);
    }
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
    outcomes->open--;
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
    wake_all(waiters);
}

/* Under the lock: takes the waiters of one that has become late, and adds them to others. */
static void expire_one(struct outcome *outcome, uint64_t before_ms, struct waiter **waiters)
{
    if (outcome->result != STORE_WAIT || outcome->is_late || outcome->begun_ms > before_ms)
        return;
    outcome->is_late = true;
    while (outcome->waiters) {
        struct waiter *waiter = outcome->waiters;

        outcome->waiters = waiter->next;
        waiter->next = *waiters;
        *waiters = waiter;
    }
}

void outcomes_expire(struct outcomes *outcomes, unsigned limit_ms)
{
    uint64_t now = clock_monotonic_ms();
    struct waiter *waiters = NULL;

    lock_take(&outcomes->lock);
    for (unsigned i = 0; outcomes->open > 0 && now > limit_ms && i < BUCKETS; i++)
        for (struct outcome *outcome = outcomes->buckets[i]; outcome; outcome = outcome->next)
            expire_one(outcome, now - limit_ms, &waiters);
    lock_give(&outcomes->lock);
    wake_all(waiters);
}

void outcomes_wait(struct outcomes *outcomes, uint64_t sequence, struct waiter *waiter)
{
    struct outcome *outcome;
    bool is_over;

    lock_take(&outcomes->lock);
    outcome = sequence_of(sequence) == OF_DURABLE ? NULL : *find(outcomes, sequence);
    is_over = !outcome || outcome->result != STORE_WAIT || outcome->is_late;
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
    bool is_late;

    if (sequence_of(sequence) == OF_DURABLE)
        return STORE_OK;
    lock_take(&outcomes->lock);
    outcome = *find(outcomes, sequence);
    is_late = outcome && outcome->result == STORE_WAIT && outcome->is_late;
    if (outcome)
        result = outcome->result;
    else if (commit_of(sequence) <= outcomes->forgotten)
        result = STORE_UNKNOWN;
    lock_give(&outcomes->lock);
    if (is_late) /* also of what was read: to read it again would be to wait again */
        return STORE_UNKNOWN;
    if (sequence_of(sequence) == OF_READ && result && result != STORE_WAIT)
        return STORE_CONFLICT; /* what was read never was, or may not have been */
    if (sequence_of(sequence) == OF_READ_LATE && result != STORE_WAIT)
        return STORE_CONFLICT;
    return result;
}

enum store_result outcomes_await(struct outcomes *outcomes, uint64_t sequence)
{
    enum store_result result;

    do {
        struct sleeper sleeper;

        sleeper_init(&sleeper);
        outcomes_wait(outcomes, sequence, sleeper_arm(&sleeper));
        sleeper_wait(&sleeper);
        sleeper_release(&sleeper);
        result = outcomes_of(outcomes, sequence);
    } while (result == STORE_WAIT);
    return result;
}
