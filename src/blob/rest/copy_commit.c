/* See copy_commit.h. */
#include "blob/rest/copy_commit.h"

#include "base/gate.h"
#include "service/deciding.h"

static enum error decide(struct decision *d, const struct copying *c, const struct verdict *verdict)
{
    struct pending_copy pending;
    enum error e = copy_find(d, &c->job->base.id, &pending);

    if (e)
        return e;
    switch (verdict->kind) {
    case SHOW:
        copy_progress(d, verdict->copied, verdict->description);
        return OK;
    case PAGES:
        return copy_pages(d, &pending, verdict->pages);
    case COMPLETE:
        return copy_complete(d, &pending, verdict->body, verdict->bytes);
    case END:
        return copy_end(d, &pending, verdict->status, verdict->description);
    }
    return E_InternalError;
}

static struct decision decision_of(struct copying *c)
{
    return (struct decision){ .arena = c->arena,
                              .store = c->job->endpoint->store,
                              .access = STORE_MAY_BLOCK,
                              .problem = &c->problem,
                              .attempt = arena_mark(c->arena) };
}

static void open_target(struct decision *d, const struct copying *c)
{
    struct blob_state *state = arena_alloc(d->arena, sizeof *state);

    decision_open_subject(d, c->partition);
    decision_read_clock(d);
    d->state = &state->base;
}

/* Test builds stop between a decision and its commit, and behind the last commit. */
static void pass_gates(const struct verdict *verdict)
{
    bool is_last = verdict->kind == COMPLETE;

    if (is_last || verdict->kind == PAGES)
        job_gate_pass(is_last ? JOB_DECIDED : JOB_STEP);
    if (is_last)
        job_gate_commits();
}

static void pass_last_gate(const struct verdict *verdict, bool committed)
{
    if (verdict->kind == COMPLETE && committed)
        job_gate_pass(JOB_APPLIED);
    else if (verdict->kind == COMPLETE)
        job_gate_committed_nothing();
}

struct attempt {
    struct copying *c;
    const struct verdict *verdict;
};

static enum error attempt(struct decision *d, void *of)
{
    const struct attempt *attempt = of;
    enum error e;

    pass_last_gate(attempt->verdict, false); /* of the attempt before */
    open_target(d, attempt->c);
    e = decide(d, attempt->c, attempt->verdict);
    if (e)
        return e;
    if (d->leaves_more)
        decision_defer_collection(d);
    pass_gates(attempt->verdict);
    return OK;
}

/* returns as decide(); E_NoPendingCopyOperation also when the container is gone */
static enum error commit_once(struct decision *d, struct attempt *of)
{
    enum error e = deciding_run_unawaited(d, attempt, of);

    pass_last_gate(of->verdict, !e);
    deciding_end(d);
    if (e == DECIDE_GONE)
        return E_NoPendingCopyOperation;
    return e == DECIDE_UNKNOWN ? E_ServerBusy : e;
}

enum error copy_commit(struct copying *c, const struct verdict *verdict)
{
    struct decision d = decision_of(c);
    struct attempt of = { .c = c, .verdict = verdict };
    enum store_result result = STORE_CONFLICT;
    enum error e = OK;

    if (store_await(d.store, c->seen))
        return E_ServerBusy; /* the task comes again */
    while (!e && result == STORE_CONFLICT) {
        e = commit_once(&d, &of);
        result = e ? STORE_OK : store_await(d.store, d.seen);
    }
    if (!e)
        arena_rewind(c->arena, d.attempt); /* a slow source sees a hundred thousand of these */
    return result ? E_ServerBusy : e;
}

/* Reads what is left to do. */
static enum error find_now(struct decision *d, void *of)
{
    struct copying *c = of;
    enum error e;

    open_target(d, c);
    e = copy_find(d, &c->job->base.id, &c->pending);
    c->copied = blob_state(d)->blob.copy.copied;
    c->total = blob_state(d)->blob.copy.total;
    return e;
}

bool copy_find_pending(struct copying *c)
{
    struct decision d = decision_of(c);
    enum error e = deciding_run_unawaited(&d, find_now, c);

    deciding_end(&d);
    return !e;
}
