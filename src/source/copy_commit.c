/* See copy_commit.h. */
#include "source/copy_commit.h"

#include "base/gate.h"
#include "service/driver.h"

static struct decision decision_of(struct copying *c)
{
    return (struct decision){ .arena = c->arena,
                              .store = c->job->endpoint->store,
                              .access = STORE_MAY_BLOCK,
                              .problem = &c->problem,
                              .attempt = arena_mark(c->arena) };
}

/* Opens the destination, and reads the remaining work as it is now. */
static enum error find(struct decision *d, const struct copying *c, struct copy_found *ret_found)
{
    decision_open_subject(d, c->partition);
    decision_read_clock(d);
    return c->job->of->find(d, &c->job->base.id, ret_found);
}

/* Test-build gates: between decision and commit, and after the last commit. */
static void pass_gates(const struct copy_verdict *verdict)
{
    bool is_last = verdict->kind == COPY_COMPLETES;

    if (is_last || verdict->kind == COPY_STEPS)
        job_gate_pass(is_last ? JOB_DECIDED : JOB_STEP);
    if (is_last)
        job_gate_commits();
}

static void pass_last_gate(const struct copy_verdict *verdict, bool committed)
{
    if (verdict->kind == COPY_COMPLETES && committed)
        job_gate_pass(JOB_APPLIED);
    else if (verdict->kind == COPY_COMPLETES)
        job_gate_committed_nothing();
}

struct attempt {
    struct copying *c;
    const struct copy_verdict *verdict;
};

static enum error attempt(struct decision *d, void *of)
{
    const struct attempt *attempt = of;
    struct copy_found found;
    enum error e;

    pass_last_gate(attempt->verdict, false); /* for the previous attempt */
    e = find(d, attempt->c, &found);
    if (!e)
        e = attempt->c->job->of->decide(d, &found, attempt->verdict);
    if (e)
        return e;
    attempt->c->refusal = found.refusal;
    if (d->leaves_more)
        decision_defer_collection(d);
    pass_gates(attempt->verdict);
    return OK;
}

/* Returns the service's errors, or E_NoPendingCopyOperation if the space was dropped. */
static enum error commit_once(struct decision *d, struct attempt *of)
{
    enum error e = deciding_run_unawaited(d, attempt, of);

    pass_last_gate(of->verdict, !e);
    deciding_end(d);
    arena_end_decision(d->arena);
    return e == DECIDE_GONE ? E_NoPendingCopyOperation : e;
}

enum error copy_commit(struct copying *c, const struct copy_verdict *verdict)
{
    struct decision d = decision_of(c);
    struct attempt of = { .c = c, .verdict = verdict };
    enum error e;

    if (store_await(d.store, c->seen))
        return E_ServerBusy; /* the task will be retried */
    e = commit_once(&d, &of);
    if (e)
        return e;
    arena_rewind(c->arena, d.attempt); /* a slow source causes a hundred thousand of these */
    return store_await(d.store, d.seen) ? E_ServerBusy : c->refusal;
}

static enum error find_first(struct decision *d, void *of)
{
    struct copying *c = of;

    return find(d, c, &c->found);
}

bool copy_find_pending(struct copying *c)
{
    struct decision d = decision_of(c);
    enum error e = deciding_run_unawaited(&d, find_first, c);

    deciding_end(&d);
    arena_end_decision(d.arena);
    return !e;
}
