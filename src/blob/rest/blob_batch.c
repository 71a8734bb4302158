/* Blob Batch: parses the parts of the body, and combines their responses into one.
 *
 * The response to an invalid batch is also 202, with the error as its only part, which has no
 * Content-ID: recorded for empty and mixed batches. decisions: 60, 61
 * rest: Blob-Batch */
#include "blob/rest/blob_batch.h"

#include "blob/rest/request.h"
#include "http/multipart.h"
#include "service/operation.h"

#define PARTS_MAX 256u

enum error blob_batch_check(struct call *call, struct blob_batch_parameters *p)
{
    return batch_check(call, &p->base);
}

/* ---- the parts ---- */

static enum error refuse_part(struct call *call, size_t index, const char *reason)
{
    return call_fail(call, E_InvalidInput, "Part %zu: %s", index, reason);
}

static enum error read_part(struct call *call, const struct multipart_part *part, size_t index,
                            struct batch_part *ret_part)
{
    struct bytes body;

    if (!bytes_is_nocase(part->content_type, "application/http"))
        return refuse_part(call, index, "its Content-Type is not application/http.");
    if (part->transfer_encoding.ptr && !bytes_is_nocase(part->transfer_encoding, "binary"))
        return refuse_part(call, index, "its Content-Transfer-Encoding is not binary.");
    if (!multipart_request(call->arena, part->content, MULTIPART_STRICT, &ret_part->request, &body))
        return refuse_part(call, index, "it is not a well-formed request.");
    /* "A nested request body isn't supported." Some clients end the last line twice. */
    if (ret_part->request.content_length != 0 || (body.len > 0 && !bytes_is(body, "\r\n")))
        return refuse_part(call, index, "it has a body.");
    ret_part->id = part->id;
    ret_part->text = part->content;
    return OK;
}

static enum error read_parts(struct call *call, struct blob_batch_parameters *p,
                             struct bytes boundary)
{
    struct multipart reader;
    struct multipart_part part;
    enum multipart_step step;

    multipart_begin(&reader, call->arena, MULTIPART_STRICT, boundary,
                    call->input.body.inline_bytes);
    p->base.parts = arena_array(call->arena, PARTS_MAX, sizeof *p->base.parts);
    while ((step = multipart_next(&reader, call->arena, &part)) == MULTIPART_PART) {
        enum error e;

        if (p->base.count == PARTS_MAX)
            return E_ExceedsMaxBatchRequestCount;
        e = read_part(call, &part, p->base.count, &p->base.parts[p->base.count]);
        if (e)
            return e;
        p->base.count++;
    }
    if (step == MULTIPART_MALFORMED)
        return refuse_part(call, p->base.count, "it is malformed, or no boundary follows it.");
    return p->base.count > 0 ? OK : call_fail(call, E_InvalidInput, "There are no parts.");
}

enum error blob_batch_parse(struct call *call, struct blob_batch_parameters *p)
{
    struct bytes boundary;

    switch (multipart_type(p->base.content_type, &boundary)) {
    case MULTIPART_TYPE_OK:
        return read_parts(call, p, boundary);
    case MULTIPART_TYPE_AMBIGUOUS:
        return call_fail(call, E_InvalidInput, "Content-Type names several boundaries.");
    case MULTIPART_TYPE_OTHER:
        break;
    }
    return call_fail_header(call, E_InvalidHeaderValue, "Content-Type", p->base.content_type);
}

enum error blob_batch_admit(struct call *call, struct blob_batch_parameters *p,
                            const struct call *part)
{
    struct bytes container = blob_resource(call->input.resource)->container;

    if (!part->operation || !part->operation->listed)
        return call_fail(call, E_InvalidInput, "%.*s %.*s is not allowed in a batch.",
                         BYTES_ARG(part->request->method_text), BYTES_ARG(part->request->path));
    if (p->kind && strcmp(part->operation->name, p->kind->name) != 0)
        return E_AllBatchSubRequestsShouldBeSameApi;
    p->kind = part->operation;
    if (container.ptr && !bytes_equal(container, blob_resource(part->input.resource)->container))
        return call_fail(call, E_InvalidInput, "%.*s is not in the container of the batch.",
                         BYTES_ARG(part->request->path));
    return OK;
}

/* ---- response ---- */

struct bytes blob_batch_render(struct arena *arena, const struct blob_batch_parameters *p,
                               const struct batch_answer *answer)
{
    struct text part;

    text_init(&part, arena, 512);
    multipart_add(&part, p->base.boundary, answer->id, answer->response, answer->reason);
    return text_bytes(&part);
}

void blob_batch_answer(struct answer *a, const struct blob_batch_parameters *p,
                       const struct batch_result *r)
{
    struct text body;
    size_t size = 128;

    for (size_t i = 0; i < r->count; i++)
        size += r->answers[i].len;
    text_init(&body, a->arena, size);
    for (size_t i = 0; i < r->count; i++)
        text_add(&body, r->answers[i]);
    multipart_close(&body, p->base.boundary);
    batch_answer_body(a, &p->base, &body);
}
