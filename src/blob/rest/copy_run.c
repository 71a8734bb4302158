/* See copy_run.h. A job reads all of the source into a stage, shows from time to time how far it is, and
 * ends in one commit. One that a restart or a failure interrupts begins anew; the destination has
 * nothing of it until the end. A page blob, which may be too long for one commit, is copied step by
 * step into a content that nobody sees before the end; a run goes on where one before it stopped.
 * rest: Copy-Blob */
#include "blob/rest/copy_run.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/gate.h"
#include "blob/page_blob_operations.h"
#include "blob/rest/copy_commit.h"
#include "source/page_walk.h"

/* How soon it is looked whether a copy is still under way. */
#define LOOK_TICKS     (5 * TICKS_PER_SECOND)
/* When there are more than can be done at once. */
#define FULL_TICKS     (30 * TICKS_PER_SECOND)
/* rest: Copy-Blob: given up after two weeks. */
#define COPY_MAX_TICKS (14 * 24 * 3600 * TICKS_PER_SECOND)
/* Progress is written so often. */
#define PROGRESS_TICKS TICKS_PER_SECOND
/* What a list of the pieces of so much takes in memory. decision: 56 */
#define COPY_MAX       (UINT64_C(1) << 40)
/* What it holds: that list, or what a step of a page blob changes, at most some 1,000 units with 175 KiB
 * of records each (PAGES_DIFFERENCE_RANGES), besides a blob's record. decision: 245 */
#define ARENA_MAX      ((size_t)512 << 20)

/* A source may send so slowly that it never ends. */
static bool is_late(const struct copying *c, instant now)
{
    return now > c->pending.begun && now - c->pending.begun > COPY_MAX_TICKS;
}

/* Is it to go on? Shows how far it is. */
static enum error look(struct source_watch *watch, uint64_t bytes_read)
{
    struct copying *c = (struct copying *)(void *)watch;
    const struct verdict show = { .kind = SHOW, .copied = bytes_read };
    instant now = clock_now();

    if (background_is_stopping(c->job->base.background) || is_late(c, now))
        return E_ServerBusy;
    if (now - c->shown < PROGRESS_TICKS)
        return OK;
    c->shown = now;
    return copy_commit(c, &show);
}

/* A call that asks for the source as the request did which began the copy. */
static void make_call(struct copying *c, struct request *request, struct copy_source *source,
                      struct call *call)
{
    *request = (struct request){ .secure = source->url.secure, .peer = bytes_from_string("") };
    if (c->pending.is_own)
        request->authority = source->url.authority;
    *call = (struct call){ .endpoint = c->job->endpoint,
                           .arena = c->arena,
                           .inline_max = store_limits(c->job->endpoint->store).inline_bytes,
                           .problem = &c->problem,
                           .version = bytes_from_string("2026-10-06") };
    call_set_request(call, request);
    call->input.account = c->pending.account;
    call->input.identity = (struct identity){ .kind = IDENTITY_ACCOUNT_KEY };
    if (c->pending.is_own)
        return;
    source->headers[source->header_count++] = (struct http_header){
        .name = bytes_from_string("x-ms-version"),
        .value = call->version,
        .name_as_sent = bytes_from_string("x-ms-version"),
    };
}

/* The source must be what it was when the copy began. A server of others may say the same ETag of
 * something else: the pages that are there must be those of a blob of this length. rest: Copy-Blob
 * "Remarks" */
static enum error check_same(const struct copying *c, const struct open_source *source)
{
    bool has_pages = c->pending.target.type == BLOB_PAGE && !source->is_own;

    if (c->pending.etag.ptr && !bytes_equal(c->pending.etag, source->etag))
        return E_SourceConditionNotMet;
    if (has_pages &&
        (source->length > PAGE_BLOB_MAX || source->offset + source->length != c->total))
        return E_SourceConditionNotMet;
    return OK;
}

/* ---- all at once ---- */

/* One reading of the whole source, and the commit that ends it. */
static enum error copy_bytes(struct copying *c, struct gathering *g,
                             const struct copy_source *source, struct open_source *open)
{
    struct copied_bytes bytes = { .block_count = 0 };
    const struct verdict complete = { .kind = COMPLETE,
                                      .body = &g->call->input.body,
                                      .bytes = &bytes };
    enum error e = source_gather(g, source, open, COPY_MAX, &bytes, &c->watch);

    return e ? e : copy_commit(c, &complete);
}

/* ---- page blobs, step by step ---- */

static enum error copy_step(struct copying *c, struct page_walk *walk)
{
    const uint64_t from = walk->position;
    struct gathering *g = walk->g;
    struct copied_bytes bytes = { .block_count = 0 };
    struct copied_pages pages = { .from = from, .body = &g->call->input.body, .bytes = &bytes };
    const struct verdict step = { .kind = PAGES, .pages = &pages };
    enum error e = page_walk_look(walk);

    if (!e)
        e = page_walk_gather(walk);
    bytes.ranges = walk->ranges;
    bytes.range_count = walk->range_count;
    pages.to = walk->position;
    pages.length = walk->open->facts.content.length;
    if (!e)
        e = copy_commit(c, &step);
    if (!e)
        job_gate_pass(JOB_STEPPED);
    if (*g->stage)
        stage_close(*g->stage);
    *g->stage = NULL;
    return e;
}

/* The snapshot that an incremental copy takes the differences to. */
static enum error find_previous(struct copying *c, struct gathering *g,
                                const struct open_source *open, struct content *ret_older)
{
    struct blob previous;
    enum store_result result;

    if (c->pending.previous == 0)
        return OK;
    result = blob_read(open->snapshot, c->arena, blob_snapshot_ref(c->pending.previous), &previous);
    if (result == STORE_NOT_FOUND)
        return E_PreviousSnapshotNotFound;
    if (result)
        return decision_fail_store(g->decision, result);
    if (previous.content.id != open->facts.content.id)
        return E_BlobOverwritten;
    *ret_older = previous.content;
    return OK;
}

static enum error copy_all_steps(struct copying *c, struct gathering *g, struct open_source *open)
{
    const struct verdict complete = { .kind = COMPLETE };
    struct content older = { .id = 0 };
    struct page_walk walk = { .buffer = NULL };
    enum error e = find_previous(c, g, open, &older);

    open->facts.content.length = open->offset + open->length;
    if (!e)
        page_walk_begin(&walk, g, open, c->copied);
    walk.older = older.id != 0 ? &older : NULL;
    while (!e && walk.position < open->facts.content.length) {
        struct arena_mark mark = arena_mark(c->arena);

        e = background_is_stopping(c->job->base.background) ? E_ServerBusy : copy_step(c, &walk);
        if (!e)
            arena_rewind(c->arena, mark);
    }
    page_walk_end(&walk);
    return e ? e : copy_commit(c, &complete);
}

/* Where an earlier run stopped. */
static void go_on_at(struct copying *c, struct copy_source *source)
{
    if (!c->pending.is_own && c->copied > 0)
        source->range = arena_printf(c->arena, "bytes=%" PRIu64 "-", c->copied);
}

/* ---- one run ---- */

static enum error copy(struct copying *c)
{
    bool is_page_blob = c->pending.target.type == BLOB_PAGE;
    struct copy_source source = { .rule = SOURCE_COPIED, .text = c->pending.url };
    struct open_source open = { .inner = NULL };
    const struct verdict complete = { .kind = COMPLETE };
    struct request request;
    struct call call;
    struct decision d = { .arena = c->arena, .problem = &c->problem };
    struct stage *stage = NULL;
    struct gathering g = { .endpoint = c->job->endpoint,
                           .call = &call,
                           .decision = &d,
                           .partition = c->partition,
                           .stage = &stage,
                           .seen = &c->seen };
    enum error e;

    if (is_page_blob && c->copied == c->pending.target.content.length && c->copied > 0)
        return copy_commit(c, &complete);
    if (!url_parse(source.text, &source.url))
        return E_InvalidUri;
    make_call(c, &request, &source, &call);
    if (is_page_blob)
        go_on_at(c, &source);
    e = source_open(&g, &source, &open);
    if (!e)
        e = check_same(c, &open);
    if (!e)
        e = is_page_blob ? copy_all_steps(c, &g, &open) : copy_bytes(c, &g, &source, &open);
    source_close(&open);
    if (stage)
        stage_close(stage);
    return e;
}

/* ---- how it ends ---- */

/* May it succeed later? */
static bool is_passing(const struct copying *c, enum error e)
{
    int status = c->problem.source_status;

    if (e != E_CannotVerifyCopySource)
        return e == E_ServerBusy || e == E_InsufficientStorage;
    return status == 0 || status >= 500 || status == 408 || status == 429;
}

/* "404 BlobNotFound" */
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

static void give_up(struct copying *c, enum error e)
{
    bool late = is_late(c, clock_now());
    struct verdict verdict = { .kind = SHOW };

    if (decision_is_unfinished(e))
        e = E_ServerBusy; /* the source's state went away: again, on a newer one */
    verdict.description = describe(c, e);
    if (background_is_stopping(c->job->base.background) || e == E_NoPendingCopyOperation)
        return;
    if (late || !is_passing(c, e)) {
        verdict.kind = END;
        verdict.status = COPY_FAILED;
    }
    if (late)
        verdict.description =
            bytes_from_string("500 OperationCancelled \"Copy failed: it took too long.\"");
    copy_commit(c, &verdict);
}

static void run(struct background_job *base)
{
    struct copy_job *job = (struct copy_job *)(void *)base;
    struct copying c = {
        .watch = { .look = look },
        .job = job,
        .arena = arena_new(ARENA_MAX),
        .partition = { .space = job->space, .key = bytes_of(job->key, job->key_length) },
        .shown = clock_now(),
    };
    enum error e;

    if (copy_find_pending(&c)) {
        job_gate_pass(JOB_BEGUN);
        e = copy(&c);
        if (e)
            give_up(&c, e);
        job_gate_pass(JOB_ENDED);
    }
    arena_free(c.arena);
}

/* ---- the task ---- */

static struct pool_owner owner_of(struct decision *d, const struct pending_copy *pending)
{
    struct url url;

    if (!url_parse(pending->url, &url))
        return (struct pool_owner){ .account = 0 };
    return source_owner(d->arena, pending->account, &url, pending->is_own);
}

static enum background_begun begin(const struct deferred_task *task, const struct guid *id,
                                   const struct pool_owner *owner, const struct endpoint *endpoint)
{
    const struct partition *at = &task->partition;
    struct copy_job *job = xcalloc(1, sizeof *job + at->key.len);

    job->base.run = run;
    job->base.id = *id;
    job->base.owner = *owner;
    job->endpoint = endpoint;
    job->space = at->space;
    job->key_length = at->key.len;
    memcpy(job->key, at->key.ptr, at->key.len);
    return background_begin(endpoint->background, &job->base);
}

enum store_result copy_blob_task(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    struct blob blob;
    struct guid id;
    struct pending_copy pending;
    struct pool_owner owner;
    enum store_result result = blob_read(d->before, d->arena, blob_base, &blob);
    instant due = d->now + LOOK_TICKS;

    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (task->payload.len != sizeof id.b)
        return STORE_CORRUPT;
    memcpy(id.b, task->payload.ptr, sizeof id.b);
    if (blob.copy.status != COPY_PENDING || !guid_equal(&blob.copy.id, &id))
        return STORE_OK;
    result = pending_copy_read(d->before, d->arena, &pending);
    if (result)
        return result;
    owner = owner_of(d, &pending);
    if (!endpoint || !endpoint->background)
        due = d->now + FULL_TICKS;
    else if (begin(task, &id, &owner, endpoint) == BACKGROUND_FULL)
        due = d->now + FULL_TICKS;
    changes_defer(d->changes, due, TASK_COPY_BLOB, task->payload);
    return STORE_OK;
}
