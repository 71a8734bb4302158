/* Requests and responses of Get Blob and of a page of a static website. rest: Get-Blob,
 * Specifying-the-Range-Header-for-Blob-Service-Operations */
#include "base/encode.h"
#include "blob/rest/access_note.h"
#include "blob/rest/request.h"
#include "blob/blob_operations.h"
#include "service/customer_key.h"
#include "service/read_answer.h"

enum error get_blob_check(struct call *call, struct get_blob_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_READ, KEY_READS);

    return e ? e : read_range_check(call, &p->range);
}

/* Adds status, body, range and MD5 of the result of Get Blob. */
static void blob_answer_content(struct answer *a, const struct get_blob_parameters *p,
                                const struct get_blob_result *r)
{
    read_answer(a, &p->range, &r->part, &r->blob.content);
    if (r->notes_access)
        access_note(a->call, &r->at);
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

/* ---- website ---- */

enum error website_check(struct call *call, struct website_parameters *p)
{
    if (call->request->method != METHOD_GET && call->request->method != METHOD_HEAD)
        return E_UnsupportedHttpVerb;
    if (customer_key_refuse(call))
        return E_UnsupportedHeader;
    read_range_positions(call, &p->read.range);
    return OK;
}

void website_answer(struct answer *a, const struct website_parameters *p,
                    const struct website_result *r)
{
    blob_answer_content(a, &p->read, &r->read);
    if (r->is_error_document) {
        answer_status(a, error_status(E_WebContentNotFound));
        a->error = E_WebContentNotFound;
        answer_code(a, a->error);
    }
    blob_answer_http_properties(a, &r->read.blob);
    if (a->call->request->method == METHOD_HEAD)
        a->response->body_length = r->read.part.length;
}

/* The page looks like that of Azure's web endpoint. */
bool website_answer_error(struct answer *a, enum error e, const struct problem *problem)
{
    char id[GUID_TEXT_SIZE], time[INSTANT_ISO_SIZE];

    (void)problem;
    if (!a->call->website)
        return false;
    guid_format(&a->call->request_id, id);
    instant_format_iso(answer_time(a), time);
    answer_status(a, error_status(e));
    answer_string(a, "Content-Type", "text/html");
    answer_code(a, e);
    a->response->body_kind = BODY_BYTES;
    a->response->body =
        arena_printf(a->arena,
                     "<!DOCTYPE html><html><head><title>%s</title></head><body><h1>%s</h1><p><ul>"
                     "<li>HttpStatusCode: %d</li><li>ErrorCode: %s</li><li>RequestId : %s</li>"
                     "<li>TimeStamp : %s</li></ul></p></body></html>",
                     error_code(e), error_message(e), error_status(e), error_code(e), id, time);
    return true;
}
