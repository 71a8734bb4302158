/* Create Directory and Create File: requests and responses. */
#include "file/rest/range_request.h"
#include "file/rest/smb_headers.h"
#include "service/http_headers.h"
#include "service/metadata.h"

#define CONTENT_TYPE_DEFAULT BYTES("application/octet-stream")

enum error create_directory_check(struct call *call, struct create_directory_parameters *p)
{
    enum error e = smb_require(call);

    if (!e)
        e = smb_read(call, SMB_OF_NEW, TREE_DIRECTORY, &p->smb);

    return e ? e : metadata_from_headers(call, &p->metadata);
}

void create_directory_answer(struct answer *a, const struct create_directory_parameters *p,
                             const struct create_directory_result *r)
{
    (void)p;
    answer_encrypted(a);
    answer_smb(a, &r->shown);
}

/* rest: Create-File "x-ms-content-length" */
static enum error read_length(struct call *call, uint64_t *ret_length)
{
    static const char name[] = "x-ms-content-length";
    struct bytes text = call_header(call, name);

    if (!text.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, name, text);
    if (!bytes_parse_u64(text, FILE_LENGTH_MAX, ret_length))
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

/* Reads the length of initial data, allowed since 2026-02-06.
 * rest: Create-File "Beginning with version 2026-02-06"; decision: 875 */
static enum error read_content(struct call *call, struct create_file_parameters *p)
{
    uint64_t length = call->request->content_length;

    if (length == 0)
        return OK;
    if (!call_since(call, "2026-02-06") || length > p->length)
        return body_fail_length(call);
    p->has_content = true;
    return body_read_sums(call, SUMS_MD5, &p->sums);
}

enum error create_file_check(struct call *call, struct create_file_parameters *p)
{
    enum error e = file_refuse_structured(call);

    if (!e)
        e = read_length(call, &p->length);
    if (!e)
        e = read_content(call, p);
    if (!e)
        e = smb_require(call);
    if (!e)
        e = smb_read(call, SMB_OF_NEW, TREE_FILE, &p->smb);
    if (!e)
        e = http_properties_read(call, HTTP_HEADERS_OF_FILE, STANDARD_IGNORED, &p->http);
    if (!e && !p->http.content_type.ptr)
        p->http.content_type = (struct bytes)CONTENT_TYPE_DEFAULT;
    return e ? e : metadata_from_headers(call, &p->metadata);
}

void create_file_answer(struct answer *a, const struct create_file_parameters *p,
                        const struct create_file_result *r)
{
    answer_body_sums(a, &p->sums);
    answer_encrypted(a);
    answer_smb(a, &r->shown);
}
