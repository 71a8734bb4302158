/* See response_record.h. */
#include "request/response_record.h"

#define HEADERS_MAX 64u /* a response has about ten */

void header_encode(struct text *out, struct bytes name, struct bytes value)
{
    encode_bytes(out, name);
    encode_bytes(out, value);
}

void header_decode(struct decoder *in, struct bytes *ret_name, struct bytes *ret_value)
{
    *ret_name = decode_bytes(in);
    *ret_value = decode_bytes(in);
    in->bad = in->bad || ret_name->len == 0 || http_has_control(*ret_name, ' ') ||
              http_has_control(*ret_value, '\t');
}

void response_encode(struct text *out, const struct response *response)
{
    encode_u64(out, (uint64_t)response->status);
    encode_u64(out, response->header_count);
    for (size_t i = 0; i < response->header_count; i++)
        header_encode(out, response->headers[i].name, response->headers[i].value);
    encode_bytes(out, response->body_kind == BODY_BYTES ? response->body : bytes_of(NULL, 0));
}

void response_decode(struct decoder *in, struct arena *arena, struct response *ret_response)
{
    uint64_t status = decode_u64(in), count = decode_u64(in);

    response_init(ret_response, arena);
    in->bad = in->bad || status < 200 || status > 599 || count > HEADERS_MAX;
    for (uint64_t i = 0; i < count && !in->bad; i++) {
        struct bytes name, value;

        header_decode(in, &name, &value);
        if (!in->bad)
            response_header(ret_response, name, value);
    }
    ret_response->status = (int)status;
    ret_response->body = decode_bytes(in);
    ret_response->body_kind = ret_response->body.ptr ? BODY_BYTES : BODY_NONE;
}
