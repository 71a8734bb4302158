/* See management_answer.h. */
#include "admin/management_answer.h"

enum http_step management_answer(struct exchange *exchange, int status, const char *type,
                                 struct bytes body)
{
    struct response *response = &exchange->response;

    response->status = status;
    response_header_string(response, "Server", "Lagra/" LAGRA_VERSION);
    response_header_string(response, "Content-Type", type);
    response_header_string(response, "Cache-Control", "no-store");
    response->body_kind = BODY_BYTES;
    response->body = body;
    return HTTP_RESPOND;
}
