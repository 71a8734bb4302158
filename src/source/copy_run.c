/* See copy_run.h. A job reads the entire source into a stage, updates the progress from time to
 * time, and ends with one commit. After a restart or failure it starts again; the destination is
 * unchanged until the end. A copy in steps writes to content that is invisible until the end; a
 * job continues where the previous one stopped. rest: Copy-Blob */
#include "source/copy_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/gate.h"
#include "observe/access_log.h"
#include "source/copy_commit.h"
#include "source/page_walk.h"

/* Interval for checking that a copy is still running. */
#define LOOK_TICKS     (5 * TICKS_PER_SECOND)
/* Delay before retrying when there are too many jobs. */
#define FULL_TICKS     (30 * TICKS_PER_SECOND)
/* rest: Copy-Blob: aborted after two weeks. */
#define COPY_MAX_TICKS (14 * 24 * 3600 * TICKS_PER_SECOND)
/* Interval of progress updates. */
#define PROGRESS_TICKS TICKS_PER_SECOND
/* Limited by the memory for a list of its pieces. decision: 56 */
#define COPY_MAX       (UINT64_C(1) << 40)
/* For that list, or the changes of a step, at most about 1,000 units with 175 KiB of records each
 * (PAGES_DIFFERENCE_RANGES), plus a destination's record. decision: 245 */
#define ARENA_MAX      ((size_t)512 << 20)

/* A source may send so slowly that the copy never ends. */
static bool is_late(const struct copying *c, instant now)
{
    return now > c->found.pending->begun && now - c->found.pending->begun > COPY_MAX_TICKS;
}

/* Checks whether to continue, and updates the progress. */
static enum error look(struct source_watch *watch, uint64_t bytes_read)
{
    struct copying *c = (struct copying *)(void *)watch;
    const struct copy_verdict show = { .kind = COPY_SHOWS, .copied = bytes_read };
    instant now = clock_now();

    if (background_is_stopping(c->job->base.background) || is_late(c, now))
        return E_ServerBusy;
    if (now - c->shown < PROGRESS_TICKS)
        return OK;
    c->shown = now;
    return copy_commit(c, &show);
}

/* Returns the endpoint of the source's service. */
static const struct endpoint *endpoint_of(const struct copying *c)
{
    const struct endpoint *here = c->job->endpoint;

    for (size_t i = 0; c->found.pending->is_other && here->all && i < here->all->count; i++) {
        const struct endpoint *there = &here->all->endpoints[i];

        if (there->service != here->service && there->service->source)
            return there;
    }
    return here;
}

/* Creates a call that requests the source like the request that started the copy. */
static void make_call(struct copying *c, struct request *request, struct copy_source *source,
                      struct call *call)
{
    *request = (struct request){ .secure = source->url.secure, .peer = bytes_from_string("") };
    if (c->found.pending->is_own)
        request->authority = source->url.authority;
    *call = (struct call){ .endpoint = endpoint_of(c),
                           .arena = c->arena,
                           .inline_max = STORE_INLINE_BYTES,
                           .problem = &c->problem,
                           .version = bytes_from_string("2026-10-06") };
    call_set_request(call, request);
    call->input.account = c->found.pending->account;
    call->input.identity = (struct identity){ .kind = IDENTITY_ACCOUNT_KEY };
    if (c->found.pending->is_own)
        return;
    source->headers[source->header_count++] = (struct http_header){
        .name = bytes_from_string("x-ms-version"),
        .value = call->version,
        .name_as_sent = bytes_from_string("x-ms-version"),
    };
}

/* Checks that the source has not changed since the copy started. Another server may return the same
 * ETag for different data, so the steps already copied must be from a source of this length.
 * rest: Copy-Blob "Remarks" */
static enum error check_same(const struct copying *c, const struct open_source *source)
{
    struct bytes etag = c->found.pending->etag;

    if (etag.ptr && !bytes_equal(etag, source->etag))
        return E_SourceConditionNotMet;
    if (c->found.by_steps && !source->is_own &&
        (source->length > c->job->of->steps_max ||
         source->offset + source->length != c->found.total))
        return E_SourceConditionNotMet;
    return OK;
}

/* ---- all at once ---- */

/* Reads the entire source, and completes the copy. */
static enum error copy_bytes(struct copying *c, struct gathering *g,
                             const struct copy_source *source, struct open_source *open)
{
    struct copied_bytes bytes = { .block_count = 0 };
    const struct copy_verdict complete = { .kind = COPY_COMPLETES,
                                           .body = &g->call->input.body,
                                           .bytes = &bytes };
    enum error e = source_gather(g, source, open, COPY_MAX, &bytes, &c->watch);

    return e ? e : copy_commit(c, &complete);
}

/* ---- in steps ---- */

static enum error copy_step(struct copying *c, struct page_walk *walk)
{
    const uint64_t from = walk->position;
    struct gathering *g = walk->g;
    struct copied_bytes bytes = { .block_count = 0 };
    struct copied_step step = { .from = from, .body = &g->call->input.body, .bytes = &bytes };
    const struct copy_verdict verdict = { .kind = COPY_STEPS, .step = &step };
    enum error e = page_walk_find_ranges(walk);

    if (!e)
        e = page_walk_gather(walk);
    bytes.ranges = walk->ranges;
    bytes.range_count = walk->range_count;
    step.to = walk->position;
    step.length = walk->open->facts.content.length;
    if (!e)
        e = copy_commit(c, &verdict);
    if (!e)
        job_gate_pass(JOB_STEPPED);
    if (*g->stage)
        stage_close(*g->stage);
    *g->stage = NULL;
    return e;
}

static enum error copy_all_steps(struct copying *c, struct gathering *g, struct open_source *open)
{
    const struct copy_verdict complete = { .kind = COPY_COMPLETES };
    struct page_walk walk;
    enum error e;

    open->facts.content.length = open->offset + open->length;
    e = page_walk_begin(
        &walk, g, open,
        &(struct page_walk_from){ .position = c->found.copied, .previous = c->found.previous });
    while (!e && walk.position < open->facts.content.length) {
        struct arena_mark mark = arena_mark(c->arena);

        e = background_is_stopping(c->job->base.background) ? E_ServerBusy : copy_step(c, &walk);
        if (!e)
            arena_rewind(c->arena, mark);
    }
    page_walk_end(&walk);
    return e ? e : copy_commit(c, &complete);
}

/* Continues where an earlier job stopped. */
static void go_on_at(struct copying *c, struct copy_source *source)
{
    if (!c->found.pending->is_own && c->found.copied > 0)
        source->range = arena_printf(c->arena, "bytes=%" PRIu64 "-", c->found.copied);
}

/* ---- one run ---- */

static enum error copy(struct copying *c)
{
    struct copy_source source = { .rule = SOURCE_COPIED, .text = c->found.pending->url };
    struct open_source open = { .inner = NULL };
    const struct copy_verdict complete = { .kind = COPY_COMPLETES };
    struct request request;
    struct call call;
    struct decision d = { .arena = c->arena, .problem = &c->problem };
    struct stage *stage = NULL;
    struct gathering g = { .endpoint = c->job->endpoint,
                           .call = &call,
                           .decision = &d,
                           .stage = &stage,
                           .seen = &c->seen };
    enum error e;

    if (c->found.is_there)
        return copy_commit(c, &complete);
    if (!url_parse(source.text, &source.url))
        return E_InvalidUri;
    make_call(c, &request, &source, &call);
    if (c->found.by_steps)
        go_on_at(c, &source);
    e = source_open(&g, &source, &open);
    if (!e)
        e = check_same(c, &open);
    if (!e)
        e = c->found.by_steps ? copy_all_steps(c, &g, &open) : copy_bytes(c, &g, &source, &open);
    source_close(&open);
    if (stage)
        stage_close(stage);
    return e;
}

/* ---- ending ---- */

/* Returns true if a retry may succeed. */
static bool is_passing(const struct copying *c, enum error e)
{
    int status = c->problem.source_status;

    if (e != E_CannotVerifyCopySource)
        return e == E_ServerBusy || e == E_InsufficientStorage;
    return status == 0 || status >= 500 || status == 408 || status == 429;
}

/* Formats a description such as "404 BlobNotFound". */
static struct bytes describe(const struct copying *c, enum error e)
{
    const struct problem *problem = &c->problem;
    struct bytes code = bytes_from_string(error_code(e));
    int status = error_status(e);

    if (e == E_CannotVerifyCopySource && problem->source_status != 0) {
        status = problem->source_status;
        code = problem->source_code.ptr ? problem->source_code : code;
    }
    return arena_printf(c->arena, "%d %.*s \"Copy failed when reading the source.\"", status,
                        BYTES_ARG(code));
}

static void note_end(const struct copying *c, enum error e)
{
    const struct pending_source *pending = c->found.pending;

    access_log_copy(c->job->endpoint->service->name, &pending->id, pending->url, e);
}

static void give_up(struct copying *c, enum error e)
{
    bool late = is_late(c, clock_now());
    struct copy_verdict verdict = { .kind = COPY_SHOWS };

    if (c->refusal) { /* has ended already */
        note_end(c, c->refusal);
        return;
    }
    if (decision_is_unfinished(e))
        e = E_ServerBusy; /* the source's state was dropped: retry on a newer one */
    verdict.description = describe(c, e);
    if (background_is_stopping(c->job->base.background) || e == E_NoPendingCopyOperation)
        return;
    if (late || !is_passing(c, e)) {
        verdict.kind = COPY_ENDS;
        verdict.status = COPY_FAILED;
    }
    if (late)
        verdict.description =
            bytes_from_string("500 OperationCancelled \"Copy failed: it took too long.\"");
    if (!copy_commit(c, &verdict) && verdict.kind == COPY_ENDS)
        note_end(c, e);
}

static void run(struct background_job *base)
{
    struct copy_job *job = (struct copy_job *)(void *)base;
    struct copying c = {
        .watch = { .look = look },
        .job = job,
        .arena = arena_new_background(ARENA_MAX),
        .partition = { .space = job->space, .key = bytes_of(job->key, job->key_length) },
        .shown = clock_now(),
    };
    enum error e;

    if (copy_find_pending(&c)) {
        job_gate_pass(JOB_BEGUN);
        e = copy(&c);
        if (e)
            give_up(&c, e);
        else
            note_end(&c, OK);
        job_gate_pass(JOB_ENDED);
    }
    arena_free(c.arena);
}

/* ---- the task ---- */

static struct pool_owner owner_of(struct decision *d, const struct pending_source *pending)
{
    struct url url;

    if (!url_parse(pending->url, &url))
        return (struct pool_owner){ .account = 0 };
    return source_owner(d->arena, pending->account, &url, pending->is_own);
}

static enum background_begun begin(const struct deferred_task *task, const struct copy_job *job)
{
    const struct partition *at = &task->partition;
    struct copy_job *begun = xcalloc(1, sizeof *begun + at->key.len);

    *begun = *job;
    begun->space = at->space;
    begun->key_length = at->key.len;
    memcpy(begun->key, at->key.ptr, at->key.len);
    return background_begin(job->endpoint->background, &begun->base);
}

void copy_run(struct decision *d, const struct deferred_task *task,
              const struct pending_source *pending, const struct pending_copies *of,
              const struct endpoint *endpoint)
{
    const struct copy_job job = {
        .base = { .run = run, .id = pending->id, .owner = owner_of(d, pending) },
        .of = of,
        .endpoint = endpoint,
    };
    bool full = !endpoint || !endpoint->background || begin(task, &job) == BACKGROUND_FULL;

    changes_defer(d->changes, d->now + (full ? FULL_TICKS : LOOK_TICKS), task->kind, task->payload);
}
