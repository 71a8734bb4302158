#include "file/rest/source_file.h"

#include "acl/permission_store.h"
#include "base/codec.h"
#include "service/driver.h"
#include "source/copy_run.h"

#include <assert.h>

static bool is_file(const struct operation *operation)
{
    return strcmp(operation->name, "Get File Properties") == 0;
}

static const struct get_file_properties_result *result_of(const struct result *result)
{
    return (const struct get_file_properties_result *)(const void *)result;
}

static enum error read_facts(const struct operation *operation, const struct result *result,
                             struct source_facts *ret_facts)
{
    const struct file *file;

    if (!is_file(operation))
        return E_InvalidUri; /* share or directory */
    file = &result_of(result)->shown.file;
    *ret_facts = (struct source_facts){
        .content = file->content,
        .etag = file->etag,
        .http = file->http,
        .metadata = file->metadata,
    };
    return OK;
}

/* ---- for copies in other cells ---- */

struct finding {
    const struct get_file_properties_result *of;
    struct bytes descriptor;
};

static enum error find_descriptor(struct decision *d, void *context)
{
    struct finding *finding = context;
    uint64_t number = finding->of->shown.file.permission;

    return number == 0 ? OK : permission_find(d, finding->of->space, number, &finding->descriptor);
}

/* The permission's number means nothing in another cell, so its descriptor is sent. */
static enum error write(struct decision *d, const struct result *result, struct text *out)
{
    struct finding finding = { .of = result_of(result) };
    enum error e = deciding_run_unawaited(d, find_descriptor, &finding);

    deciding_end(d);
    if (e)
        return e;
    encode_bytes(out, file_encode(d->arena, &finding.of->shown.file));
    encode_bytes(out, finding.descriptor);
    return OK;
}

static const struct result *read(struct arena *arena, struct bytes text)
{
    struct get_file_properties_result *result = arena_alloc(arena, sizeof *result);
    struct decoder in;
    struct bytes file;

    decoder_init(&in, text);
    file = decode_bytes(&in);
    result->descriptor = decode_bytes(&in);
    return decoder_ok(&in) && file_decode(file, &result->shown.file) &&
                   result->shown.file.kind == TREE_FILE
               ? &result->base
               : NULL;
}

const struct source_functions file_source_functions = {
    .facts = read_facts,
    .write = write,
    .read = read,
};

const struct get_file_properties_result *source_file(const struct open_source *open)
{
    return open->is_own && is_file(open->operation) ? result_of(open->result) : NULL;
}

/* ---- Callbacks for copy jobs to files. rest: Copy-File ---- */

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
