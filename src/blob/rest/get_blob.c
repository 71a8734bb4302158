/* Get Blob as a request and as an answer.
 * rest: Get-Blob, Specifying-the-Range-Header-for-Blob-Service-Operations */
#include "blob/rest/request.h"

#include "base/encode.h"
#include "service/read_answer.h"

enum error get_blob_check(struct call *call, struct get_blob_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    return e ? e : read_range_check(call, &p->range);
}

static void answer_md5(struct answer *a, const char *name, const struct blob *blob)
{
    if (blob->http.has_md5)
        answer_header(a, name,
                      base64_encode(a->arena, bytes_of(blob->http.md5, blob->http.md5_size)));
}

void blob_answer_content(struct answer *a, const struct get_blob_parameters *p,
                         const struct get_blob_result *r)
{
    read_answer(a, &p->range, &r->part, &r->blob.content);
    if (!r->part.is_part)
        answer_md5(a, "Content-MD5", &r->blob);
    else if (call_since(a->call, "2016-05-31"))
        answer_md5(a, "x-ms-blob-content-md5", &r->blob);
}

void get_blob_answer(struct answer *a, const struct get_blob_parameters *p,
                     const struct get_blob_result *r)
{
    blob_answer_content(a, p, r);
    blob_answer_properties(a, &r->blob);
    if (call_since(a->call, "2026-10-06"))
        blob_answer_tier(a, &r->blob);
}
