/* Callbacks for copy jobs to files. rest: Copy-File */
#include "file/rest/pending_files.h"

#include <assert.h>

#include "source/copy_run.h"

static enum error find(struct decision *d, const struct guid *id, struct copy_found *ret_found)
{
    struct pending_file *pending = arena_alloc(d->arena, sizeof *pending);
    enum error e = pending_file_find(d, id, pending);
    const struct copy_state *copy;

    if (e)
        return e;
    copy = &file_state(d)->file.copy;
    *ret_found = (struct copy_found){
        .pending = &pending->source,
        .by_steps = true,
        .copied = copy->copied,
        .total = copy->total,
        .is_there = copy->copied == copy->total,
    };
    return OK;
}

static enum error decide(struct decision *d, struct copy_found *found,
                         const struct copy_verdict *verdict)
{
    struct pending_file *pending = (struct pending_file *)(void *)found->pending;

    switch (verdict->kind) {
    case COPY_SHOWS:
        pending_file_show(d, verdict->description);
        return OK;
    case COPY_STEPS:
        return pending_file_step(d, pending, verdict->step);
    case COPY_COMPLETES:
        return pending_file_complete(d, pending);
    case COPY_ENDS:
        assert(verdict->status == COPY_FAILED);
        return pending_file_fail(d, verdict->description);
    }
    return E_InternalError;
}

static const struct pending_copies file_copies = {
    .find = find,
    .decide = decide,
    .steps_max = FILE_LENGTH_MAX,
};

/* The tree of a soft-deleted share is closed, so its tasks fail and are retried until the share
 * is restored or purged. */
enum store_result copy_file_task(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    struct pending_file pending, found;
    enum store_result result = pending_file_read(d->before, d->arena, &pending);
    enum error e;

    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    e = pending_file_find(d, &pending.source.id, &found);
    if (!e)
        copy_run(d, task, &pending.source, &file_copies, endpoint);
    else if (e == E_NoPendingCopyOperation)
        pending_file_delete(d, &pending);
    else
        return STORE_CONFLICT;
    if (d->leaves_more)
        decision_defer_collection(d);
    return STORE_OK;
}
