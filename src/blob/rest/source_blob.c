/* See source_blob.h. */
#include "blob/rest/source_blob.h"

#include "blob/page_blob_operations.h"
#include "source/copy_run.h"

static bool is_blob(const struct operation *operation)
{
    return strcmp(operation->name, "Get Blob Properties") == 0;
}

static const struct blob *blob_of(const struct result *result)
{
    return &((const struct get_blob_properties_result *)(const void *)result)->blob;
}

static enum error read_facts(const struct operation *operation, const struct result *result,
                             struct source_facts *ret_facts)
{
    const struct blob *blob;

    if (!is_blob(operation))
        return E_InvalidUri; /* not a blob */
    blob = blob_of(result);
    *ret_facts = (struct source_facts){
        .content = blob->content,
        .etag = blob->etag,
        .http = blob->http,
        .metadata = blob->metadata,
        .archived = blob_refuse_archived(blob),
    };
    return blob->incremental.is_one && blob_ref_is_base(blob->ref)
               ? E_OperationNotAllowedOnIncrementalCopyBlob
               : OK;
}

static enum error write(struct decision *d, const struct result *result, struct text *out)
{
    (void)d;
    blob_encode(out, blob_of(result));
    return OK;
}

static const struct result *read(struct arena *arena, struct bytes text)
{
    struct get_blob_properties_result *result = arena_alloc(arena, sizeof *result);

    return blob_decode(text, &result->blob) ? &result->base : NULL;
}

/* Finds the earlier snapshot that an incremental copy is based on. */
static enum error find_older(struct decision *d, struct read_view *of, instant at,
                             const struct content *content, struct content *ret_older)
{
    struct blob previous;
    enum store_result result = blob_read(of, d->arena, blob_snapshot_ref(at), &previous);

    if (result == STORE_NOT_FOUND)
        return E_PreviousSnapshotNotFound;
    if (result)
        return decision_fail_store(d, result);
    if (previous.content.id != content->id)
        return E_BlobOverwritten;
    *ret_older = previous.content;
    return OK;
}

const struct source_functions blob_source_functions = {
    .facts = read_facts,
    .write = write,
    .read = read,
    .find_older = find_older,
};

/* Returns the number in a header, at most `max`; 0: none. */
static uint64_t number_of(const struct open_source *open, const char *name, uint64_t max)
{
    uint64_t number;

    return bytes_parse_u64(fetch_header(open->fetch, name), max, &number) ? number : 0;
}

/* Reads the headers that only append and page blobs have. */
static void read_type(const struct open_source *open, struct blob *blob)
{
    struct bytes type = fetch_header(open->fetch, "x-ms-blob-type");

    if (bytes_is(type, "PageBlob")) {
        blob->type = BLOB_PAGE;
        blob->sequence_number = number_of(open, "x-ms-blob-sequence-number", SEQUENCE_NUMBER_MAX);
    } else if (bytes_is(type, "AppendBlob")) {
        blob->type = BLOB_APPEND;
        blob->is_sealed = bytes_is_nocase(fetch_header(open->fetch, "x-ms-blob-sealed"), "true");
        blob->committed_blocks =
            (uint32_t)number_of(open, "x-ms-blob-committed-block-count", APPENDED_BLOCKS_MAX);
    }
}

struct blob source_blob(const struct open_source *open)
{
    struct blob blob = { .http = open->facts.http, .metadata = open->facts.metadata };

    if (open->is_own && is_blob(open->operation))
        return *blob_of(open->result);
    if (!open->is_own)
        read_type(open, &blob);
    return blob;
}

/* ---- pending copies: the Blob service's callbacks for source/copy_run.h. rest: Copy-Blob ---- */

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
    enum error e = OK;

    if (verdict->kind != COPY_ENDS)
        e = copy_permit(d, pending, &found->refusal);
    if (e || found->refusal)
        return e;
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
