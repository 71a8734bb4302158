/* Lists whose bodies are multipart/mixed: what they have in common. See list.h.
 * rest: Blob-Batch, Performing-Entity-Group-Transactions */
#include "service/list.h"

#include "service/answer.h"

enum error list_check(struct call *call, struct list_parameters *parameters)
{
    char id[GUID_TEXT_SIZE];

    parameters->content_type = call_header(call, "content-type");
    if (!parameters->content_type.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, "Content-Type",
                                parameters->content_type);
    guid_format(&call->request_id, id);
    parameters->boundary = arena_printf(call->arena, "batchresponse_%s", id);
    return OK;
}

void list_answer_body(struct answer *a, const struct list_parameters *parameters,
                      const struct text *body)
{
    answer_header(
        a, "Content-Type",
        arena_printf(a->arena, "multipart/mixed; boundary=%.*s", BYTES_ARG(parameters->boundary)));
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(body);
}
