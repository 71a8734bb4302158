/* Request and response of Get Blob. rest: Get-Blob,
 * Specifying-the-Range-Header-for-Blob-Service-Operations */
#include "blob/rest/request.h"

#include "base/encode.h"
#include "service/read_answer.h"

enum error get_blob_check(struct call *call, struct get_blob_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    return e ? e : read_range_check(call, &p->range);
}

void blob_answer_content(struct answer *a, const struct get_blob_parameters *p,
                         const struct get_blob_result *r)
{
    read_answer(a, &p->range, &r->part, &r->blob.content);
    if (!r->part.is_part)
        answer_http_md5(a, "Content-MD5", &r->blob.http);
    else if (call_since(a->call, "2016-05-31"))
        answer_http_md5(a, "x-ms-blob-content-md5", &r->blob.http);
}

void get_blob_answer(struct answer *a, const struct get_blob_parameters *p,
                     const struct get_blob_result *r)
{
    blob_answer_content(a, p, r);
    blob_answer_properties(a, &r->blob);
    if (call_since(a->call, "2026-10-06"))
        blob_answer_tier(a, &r->blob);
}
