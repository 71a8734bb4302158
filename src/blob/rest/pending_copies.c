/* See pending_copies.h: the functions for blobs of source/copy_run.h. rest: Copy-Blob */
#include "blob/rest/pending_copies.h"

#include "blob/page_blob_operations.h"
#include "source/copy_run.h"

static struct pending_copy *pending_of(struct copy_found *found)
{
    return (struct pending_copy *)(void *)found->pending;
}

static enum error find(struct decision *d, const struct guid *id, struct copy_found *ret_found)
{
    struct blob_state *state = arena_alloc(d->arena, sizeof *state);
    struct pending_copy *pending = arena_alloc(d->arena, sizeof *pending);
    const struct copy_state *copy = &state->blob.copy;
    bool is_page_blob;
    enum error e;

    d->state = &state->base;
    e = copy_find(d, id, pending);
    if (e)
        return e;
    is_page_blob = pending->target.type == BLOB_PAGE;
    *ret_found = (struct copy_found){
        .pending = &pending->source,
        .by_steps = is_page_blob,
        .previous = pending->previous,
        .copied = copy->copied,
        .total = copy->total,
        .is_there =
            is_page_blob && copy->copied > 0 && copy->copied == pending->target.content.length,
    };
    return OK;
}

static enum error decide(struct decision *d, struct copy_found *found,
                         const struct copy_verdict *verdict)
{
    struct pending_copy *pending = pending_of(found);

    switch (verdict->kind) {
    case COPY_SHOWS:
        copy_progress(d, verdict->copied, verdict->description);
        return OK;
    case COPY_STEPS:
        return copy_pages(d, pending, verdict->step);
    case COPY_COMPLETES:
        return copy_complete(d, pending, verdict->body, verdict->bytes);
    case COPY_ENDS:
        return copy_end(d, pending, verdict->status, verdict->description);
    }
    return E_InternalError;
}

static const struct pending_copies blob_copies = {
    .find = find,
    .decide = decide,
    .steps_max = PAGE_BLOB_MAX,
};

enum store_result copy_blob_task(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    struct blob blob;
    struct guid id;
    struct pending_copy pending;
    enum store_result result = blob_read(d->before, d->arena, blob_base, &blob);

    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    if (task->payload.len != sizeof id.b)
        return STORE_CORRUPT;
    memcpy(id.b, task->payload.ptr, sizeof id.b);
    if (blob.copy.status != COPY_PENDING || !guid_equal(&blob.copy.id, &id))
        return STORE_OK;
    result = pending_copy_read(d->before, d->arena, &pending);
    if (!result)
        copy_run(d, task, &pending.source, &blob_copies, endpoint);
    return result;
}
