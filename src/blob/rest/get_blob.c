/* Get Blob as a request and as an answer.
 * rest: Get-Blob, Specifying-the-Range-Header-for-Blob-Service-Operations */
#include "blob/rest/request.h"

#include <inttypes.h>

#include "base/encode.h"

static const char md5_header[] = "x-ms-range-get-content-md5";
static const char crc64_header[] = "x-ms-range-get-content-crc64";

static enum error parse_flag(struct call *call, const char *name, bool *ret_flag)
{
    struct bytes value = call_header(call, name);

    if (value.len > 0 && !bytes_is_nocase(value, "true") && !bytes_is_nocase(value, "false"))
        return call_fail_header(call, E_InvalidHeaderValue, name, value);
    *ret_flag = bytes_is_nocase(value, "true");
    return OK;
}

/* A sum is of a range: without a header for one it is refused, and so are both sums. */
static enum error check_sums(struct call *call, struct get_blob_parameters *p)
{
    bool ranged = call_header(call, "x-ms-range").ptr || call_header(call, "range").ptr;

    if (!p->md5 && !p->crc64)
        return OK;
    p->sum_source.name = p->crc64 ? crc64_header : md5_header;
    p->sum_source.value = call_header(call, p->sum_source.name);
    if (p->md5 && p->crc64)
        return E_BothCrc64AndMd5RangeHeaderPresent;
    if (!ranged)
        return call_fail_header(call, E_InvalidHeaderValue, p->sum_source.name,
                                p->sum_source.value);
    return OK;
}

enum error get_blob_check(struct call *call, struct get_blob_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    if (e)
        return e;
    blob_read_range(call, &p->has_range, &p->first, &p->last);
    e = parse_flag(call, md5_header, &p->md5);
    if (e)
        return e;
    e = parse_flag(call, crc64_header, &p->crc64);
    return e ? e : check_sums(call, p);
}

static void answer_md5(struct answer *a, const char *name, const struct blob *blob)
{
    if (blob->http.has_md5)
        answer_header(a, name,
                      base64_encode(a->arena, bytes_of(blob->http.md5, blob->http.md5_size)));
}

static void answer_range(struct answer *a, const struct get_blob_result *r)
{
    answer_status(a, 206);
    answer_header(a, "Content-Range",
                  arena_printf(a->arena, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, r->offset,
                               r->offset + r->length - 1, r->blob.content.length));
    if (call_since(a->call, "2016-05-31"))
        answer_md5(a, "x-ms-blob-content-md5", &r->blob);
}

void blob_answer_content(struct answer *a, const struct get_blob_parameters *p,
                         const struct get_blob_result *r)
{
    a->content = (struct answer_content){
        .wanted = true,
        .content = r->blob.content,
        .offset = r->offset,
        .length = r->length,
        .md5 = p->md5 && r->is_part,
        .crc64 = p->crc64 && r->is_part,
    };
    if (r->is_part)
        answer_range(a, r);
    else
        answer_md5(a, "Content-MD5", &r->blob);
}

void get_blob_answer(struct answer *a, const struct get_blob_parameters *p,
                     const struct get_blob_result *r)
{
    blob_answer_content(a, p, r);
    blob_answer_properties(a, &r->blob);
    if (call_since(a->call, "2026-10-06"))
        blob_answer_tier(a, &r->blob);
}
