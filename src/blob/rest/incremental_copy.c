/* Request and response of Incremental Copy Blob. rest: Incremental-Copy-Blob */
#include "blob/incremental_copy.h"
#include "blob/rest/source_blob.h"
#include "service/copy_answer.h"

/* Refuses the headers that only Copy Blob has. */
static enum error refuse_others(struct call *call)
{
    static const char *const names[] = {
        "x-ms-source-range",
        "x-ms-source-content-md5",
        "x-ms-source-content-crc64",
        "x-ms-access-tier",
        "x-ms-rehydrate-priority",
        "x-ms-copy-source-tag-option",
        "x-ms-seal-blob",
        "x-ms-tags",
        "x-ms-blob-type",
        "x-ms-requires-sync",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = call_header(call, names[i]);

        if (value.ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i], value);
    }
    return OK;
}

enum error incremental_copy_blob_check(struct call *call,
                                       struct incremental_copy_blob_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_COPY_BLOB);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    p->id = guid_new();
    if (!e)
        e = refuse_others(call);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    call->wants_md5 = call->wants_crc64 = false;
    return e;
}

static enum error check_source(const struct blob *source)
{
    if (source->type != BLOB_PAGE)
        return E_InvalidSourceBlobType;
    return blob_ref_is_base(source->ref) ? E_IncrementalCopySourceMustBeSnapshot : OK;
}

/* Accepts only sources on this server. decision: 100 */
enum error incremental_copy_blob_gather(struct gathering *g,
                                        struct incremental_copy_blob_parameters *p)
{
    struct open_source source = { .inner = NULL };
    enum error e = source_endpoint(g->call, p->source) ? source_open(g, p->source, &source)
                                                       : E_InvalidSourceBlobUrl;

    if (!e)
        p->source_blob = source_blob(&source);
    if (!e)
        e = check_source(&p->source_blob);
    if (!e) {
        p->path = p->source->url.path;
        p->shown = url_without(g->call->arena, p->source->sent, "sig");
        p->pending = source_pending(g, p->source, &source, p->id);
    }
    source_close(&source);
    return e;
}

void incremental_copy_blob_answer(struct answer *a,
                                  const struct incremental_copy_blob_parameters *p,
                                  const struct incremental_copy_blob_result *r)
{
    answer_copy_id(a, &p->id, COPY_PENDING);
    blob_answer_version(a, r->version);
}
