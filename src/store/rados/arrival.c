#include "store/rados/arrival.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/sleeper.h"

struct arrival {
    struct lock lock;
    unsigned holders;      /* under lock */
    bool has_come;         /* under lock */
    struct waiter *waiter; /* under lock */
    bool is_telling;       /* under lock: it is being woken */
    pthread_cond_t woken;
    struct port_op *op;     /* NULL: none */
    struct arrival *passed; /* has the answer, in the place of op; or NULL */
};

struct arrival *arrival_new(void)
{
    struct arrival *arrival = xcalloc(1, sizeof *arrival);

    arrival->holders = 2;
    lock_condition_init(&arrival->woken);
    lock_init(&arrival->lock, RANK_SYNCER);
    return arrival;
}

/* Under the lock, which it gives. */
static void let_go(struct arrival *arrival)
{
    bool is_last;

    assert(arrival->holders > 0);
    is_last = --arrival->holders == 0;
    lock_give(&arrival->lock);
    if (!is_last)
        return;
    if (arrival->op)
        port_op_free(arrival->op);
    arrival_drop(arrival->passed);
    pthread_cond_destroy(&arrival->woken);
    lock_release(&arrival->lock);
    free(arrival);
}

void arrival_tell(struct arrival *arrival)
{
    struct waiter *waiter;

    lock_take(&arrival->lock);
    assert(!arrival->has_come);
    arrival->has_come = true;
    waiter = arrival->waiter;
    arrival->waiter = NULL;
    if (waiter) {
        arrival->is_telling = true;
        lock_give(&arrival->lock);
        waiter->wake(waiter);
        lock_take(&arrival->lock);
        arrival->is_telling = false;
        pthread_cond_broadcast(&arrival->woken);
    }
    let_go(arrival);
}

void arrival_pass(struct arrival *arrival, struct arrival *answer)
{
    assert(!arrival->op && !arrival->passed);
    arrival->passed = arrival_share(answer);
    arrival_tell(arrival);
}

void arrival_cancel(struct arrival *arrival)
{
    lock_take(&arrival->lock);
    arrival->waiter = NULL;
    while (arrival->is_telling)
        lock_wait(&arrival->lock, &arrival->woken, -1);
    lock_give(&arrival->lock);
}

struct arrival *arrival_share(struct arrival *arrival)
{
    lock_take(&arrival->lock);
    assert(arrival->holders > 0);
    arrival->holders++;
    lock_give(&arrival->lock);
    return arrival;
}

void arrival_drop(struct arrival *arrival)
{
    if (!arrival)
        return;
    lock_take(&arrival->lock);
    assert(!arrival->waiter || arrival->holders > 2); /* who tells, and who waits */
    let_go(arrival);
}

bool arrival_has_come(struct arrival *arrival)
{
    bool has_come;

    lock_take(&arrival->lock);
    has_come = arrival->has_come;
    lock_give(&arrival->lock);
    return has_come;
}

void arrival_wait(struct arrival *arrival, struct waiter *waiter)
{
    bool has_come;

    lock_take(&arrival->lock);
    assert(!arrival->waiter);
    has_come = arrival->has_come;
    if (!has_come)
        arrival->waiter = waiter;
    lock_give(&arrival->lock);
    if (has_come)
        waiter->wake(waiter);
}

void arrival_await(struct arrival **held, struct arrival *arrival, struct waiter *waiter,
                   void (*then)(struct waiter *waiter))
{
    arrival_drop(*held);
    *held = arrival;
    waiter->wake = then;
    arrival_wait(arrival, waiter);
}

void arrival_block(struct arrival *arrival)
{
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    arrival_wait(arrival, sleeper_arm(&sleeper));
    sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
}

static void answered(struct port_op *op)
{
    arrival_tell(op->context);
}

struct port_op *arrival_op(void)
{
    return port_op_new(answered, NULL);
}

struct arrival *arrival_send(struct port *port, const char *object, struct port_op *op)
{
    struct arrival *arrival = arrival_new();

    arrival->op = op;
    op->context = arrival;
    port_send(port, object, op);
    return arrival;
}

const struct port_op *arrival_answer(const struct arrival *arrival)
{
    const struct arrival *has = arrival->passed ? arrival->passed : arrival;

    assert(has->op && has->has_come);
    return has->op;
}
