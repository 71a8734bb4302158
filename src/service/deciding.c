/* Attempts and commits: see deciding.h. */
#include "service/deciding.h"

#include <assert.h>

#include "base/episode.h"
#include "service/operation.h"
#include "service/waiting.h"
#include "store/states.h"

/* ---- attempts ---- */

void deciding_end(struct decision *d)
{
    while (d->part_count > 0)
        decision_leave(d, &d->parts[d->part_count - 1]);
    d->before = NULL;
    assert(d->part_count == 0);
}

/* Resets the decision for an attempt: closes the parts of the previous one and discards its
 * results. */
static void begin(struct decision *d)
{
    deciding_end(d);
    d->returns = store_returns(d->store);
    d->subject = (struct subject){ .exists = false };
    d->lease = (struct lease){ .kind = 0 };
    d->state = NULL;
    d->seen = d->seen_before;
    d->failed_ns = 0;
    d->changes = changes_new(d->arena);
    d->leaves_more = false;
    d->renders_long = false;
    d->wakes = NULL;
    d->on_commit = NULL;
    *d->problem = (struct problem){ .detail = NULL };
}

void deciding_pause(struct decision *d)
{
    deciding_end(d);
    *d->problem = (struct problem){ .detail = NULL };
    arena_rewind(d->arena, d->attempt);
    arena_end_decision(d->arena);
}

bool deciding_is_empty(const struct decision *d)
{
    for (unsigned i = 0; i < d->part_count; i++)
        if (d->parts[i].changes && !changes_empty(d->parts[i].changes))
            return false;
    return true;
}

/* Test builds: pretends that an attempt on a worker did not find everything in memory. */
static enum error or_wait(const struct decision *d, enum error e)
{
    return d->always_waits && !d->access.may_block ? DECIDE_BLOCKING : e;
}

enum error deciding_attempt(struct decision *d, attempt_fn *attempt, void *of)
{
    enum error e;

    arena_rewind(d->arena, d->attempt);
    arena_begin_decision(d->arena);
    begin(d);
    if (!arena_charge_again(d->arena)) /* charge memory of the request and of earlier steps */
        return decision_fail_store(d, STORE_SHORTAGE);
    /* this error does not depend on data that the last attempt read */
    if (++d->attempts > DECIDING_ATTEMPTS_MAX) {
        episode_refused(EPISODE_CONFLICTS);
        return E_ServerBusy;
    }
    assert(d->part_count == 0 && changes_empty(d->changes));
    e = or_wait(d, attempt(d, of));
    assert(e != DECIDE_BLOCKING || !d->access.may_block);
    assert(d->seen >= d->seen_before);
    if (e == DECIDE_BLOCKING || e == DECIDE_WAITS || e == DECIDE_PREPARED)
        d->attempts--; /* was not a conflict */
    assert(e != DECIDE_WAITS || d->waits_until > 0);
    if (arena_is_exhausted(d->arena))
        return decision_fail_store(d, STORE_SHORTAGE);
    return e;
}

/* ---- operations ---- */

/* Opens the partition of the operation's subject in its current state. */
static enum error open_subject(struct decision *d)
{
    enum error e = d->service->locate(d, &d->partition);

    if (!e)
        decision_open_subject(d, d->partition);
    decision_read_clock(d);
    return e;
}

enum error deciding_operation(struct decision *d, void *of)
{
    enum error e;

    (void)of;
    assert(d->operation->functions && d->parameters);
    d->result = arena_alloc(d->arena, d->operation->functions->result_size);
    e = open_subject(d);
    return e ? operation_missing(d, e) : operation_decide(d, d->parameters, d->result);
}

enum error deciding_check(struct decision *d)
{
    enum error e;

    begin(d);
    e = open_subject(d);
    e = e ? operation_missing(d, e) : operation_check(d);
    deciding_end(d);
    return or_wait(d, e);
}

/* ---- commits ---- */

static enum error outcome_of(struct decision *d, enum store_result result)
{
    switch (result) {
    case STORE_OK:
        return OK;
    case STORE_CONFLICT:
        return DECIDE_AGAIN;
    case STORE_NOT_FOUND:
        return DECIDE_GONE;
    case STORE_WAIT:
        return DECIDE_BLOCKING;
    case STORE_CORRUPT:
    case STORE_IO:
    case STORE_FULL:
    case STORE_SHORTAGE:
    case STORE_BUSY:
        break;
    }
    return decision_fail_store(d, result);
}

/* Delivers the notifications in the order in which they were added. */
static void tell_news(struct decision *d)
{
    struct commit_callback *in_order = NULL;

    while (d->on_commit) {
        struct commit_callback *callback = d->on_commit;

        d->on_commit = callback->next;
        callback->next = in_order;
        in_order = callback;
    }
    while (in_order) {
        struct commit_callback *next = in_order->next;

        in_order->run(in_order);
        in_order = next;
    }
}

/* Returns the access for the commit, with the value of store_returns() at the attempt. */
static struct store_access commit_access(const struct decision *d)
{
    struct store_access access = d->access;

    access.returns = d->returns;
    return access;
}

enum error deciding_commit(struct decision *d)
{
    struct commit_part parts[DECISION_PARTS_MAX];
    uint64_t sequence = 0;
    enum store_result result;

    assert(d->part_count > 0 && !deciding_is_empty(d));
    for (unsigned i = 0; i < d->part_count; i++)
        parts[i] = (struct commit_part){ d->parts[i].before, d->parts[i].changes };
    result = store_commit(d->store, parts, d->part_count, d->now, commit_access(d), &sequence);
    if (!result) {
        decision_saw(d, sequence);
        tell_news(d);
        for (const struct decision_wake *wake = d->wakes; wake; wake = wake->next)
            waiters_wake(&wake->key);
    }
    assert(result != STORE_WAIT || !d->access.may_block);
    return outcome_of(d, result);
}

enum error deciding_commit_together(struct decision *const *decisions, size_t count)
{
    struct decision *first = decisions[0];
    struct store_access access = commit_access(first);
    struct commit_part parts[COMMIT_PARTS_MAX];
    uint64_t sequence = 0;
    instant now = 0;
    enum store_result result;

    assert(count > 0 && count <= COMMIT_PARTS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct decision *d = decisions[i];

        assert(d->part_count == 1 && d->store == first->store && !d->on_commit);
        parts[i] = (struct commit_part){ d->before, d->changes };
        now = d->now > now ? d->now : now;
        if (d->returns < access.returns)
            access.returns = d->returns;
    }
    result = store_commit(first->store, parts, count, now, access, &sequence);
    for (size_t i = 0; i < count && !result; i++)
        decision_saw(decisions[i], sequence);
    return outcome_of(first, result);
}
