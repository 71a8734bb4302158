/* See request_body.h. */
#include "service/request_body.h"

#include <inttypes.h>

#include "base/encode.h"
#include "http/structured_body.h"
#include "service/operation.h"

enum error body_check_size(struct call *call, const struct size_limit *limits, uint64_t length)
{
    while (!call_since(call, limits->since))
        limits++;
    if (length == HTTP_LENGTH_UNKNOWN || length <= limits->bytes)
        return OK;
    problem_set_field(call->problem, "MaxLimit",
                      arena_printf(call->arena, "%" PRIu64, limits->bytes));
    return E_RequestBodyTooLarge;
}

enum error body_fail_length(struct call *call)
{
    struct bytes length = call_header(call, "content-length");

    return call_fail_header(call, E_InvalidHeaderValue, "Content-Length",
                            length.ptr ? length : bytes_from_string("-1"));
}

enum error body_check_block(struct call *call, const struct size_limit *limits)
{
    uint64_t length = call->input.body.length;

    if (length == 0)
        return call_fail_header(call, E_InvalidHeaderValue, "Content-Length",
                                bytes_from_string("0"));
    return body_check_size(call, limits, length);
}

/* ---- structured bodies. rest: Structured-Body-Format ---- */

static const char structured_name[] = "x-ms-structured-body";
static const char structured_length_name[] = "x-ms-structured-content-length";

static enum error refuse_structured(struct call *call, const char *name, struct bytes value)
{
    return call->loose ? OK : call_fail_header(call, E_UnsupportedHeader, name, value);
}

enum error body_read_structured(struct call *call)
{
    const struct operation *row = call->operation;
    struct bytes type = call_header(call, structured_name);
    struct bytes length = call_header(call, structured_length_name);
    bool uploads = row->body == BODY_STAGED;
    bool downloads = call->method == METHOD_GET && row->ok[1] == 206;

    if ((!type.ptr && !length.ptr) || call->website)
        return OK;
    if (type.ptr && !uploads && !downloads)
        return refuse_structured(call, structured_name, type);
    if (length.ptr && (!uploads || !type.ptr))
        return refuse_structured(call, structured_length_name, length);
    if (!bytes_is_nocase(type, STRUCTURED_BODY_TYPE))
        return call_fail_header(call, E_InvalidHeaderValue, structured_name, type);
    call->is_structured = true;
    if (downloads)
        return OK;
    if (!length.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, structured_length_name, length);
    if (!bytes_parse_u64(length, INT64_MAX, &call->content_length))
        return call_fail_header(call, E_InvalidHeaderValue, structured_length_name, length);
    return OK;
}

void answer_structured(struct answer *a)
{
    if (!a->call->is_structured || a->response->status >= 300)
        return;
    answer_string(a, structured_name, STRUCTURED_BODY_TYPE);
    if (a->content.wanted)
        answer_u64(a, structured_length_name, a->content.length);
}

/* ---- checksums ---- */

enum error body_read_sums(struct call *call, enum body_sums_rule rule, struct body_sums *ret_sums)
{
    bool md5_sent = call_header(call, "content-md5").len > 0;
    bool crc64_sent = call_header(call, "x-ms-content-crc64").len > 0;
    bool crc64_known = call_since(call, "2019-02-02");

    if (md5_sent && crc64_sent)
        return E_BothCrc64AndMd5HeaderPresent;
    if (rule == SUMS_OF_NOTHING) {
        *ret_sums = (struct body_sums){ .md5 = false };
        return OK;
    }
    ret_sums->md5 = rule == SUMS_OF_BLOB || rule == SUMS_MD5 || md5_sent || !crc64_known;
    /* Versions before 2026-10-06 do not return a CRC-64 if an MD5 was sent. */
    ret_sums->crc64 = rule != SUMS_MD5 && crc64_known &&
                      (rule == SUMS_OF_BLOB || rule == SUMS_OF_LIST || !md5_sent ||
                       call_since(call, "2026-10-06"));
    call->wants_md5 = ret_sums->md5;
    if (rule == SUMS_OF_LIST && crc64_known && !call_since(call, "2026-10-06"))
        ret_sums->md5 = false;
    call->wants_crc64 = ret_sums->crc64 || crc64_sent;
    return OK;
}

void answer_body_sums(struct answer *a, const struct body_sums *sums)
{
    const struct body *body = &a->call->input.body;
    char crc64[8];

    if (sums->md5)
        answer_header(a, "Content-MD5",
                      base64_encode(a->arena, bytes_of(body->md5, sizeof body->md5)));
    if (!sums->crc64)
        return;
    for (unsigned i = 0; i < sizeof crc64; i++)
        crc64[i] = (char)(body->crc64 >> (8 * i));
    answer_header(a, "x-ms-content-crc64", base64_encode(a->arena, bytes_of(crc64, sizeof crc64)));
}
