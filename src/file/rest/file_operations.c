/* Operations on directories and files: requests and responses. */
#include "file/file_operations.h"
#include "file/rest/request.h"
#include "file/rest/smb_headers.h"
#include "service/http_headers.h"
#include "service/answer.h"
#include "service/metadata.h"
#include "service/operation.h"

/* ---- properties ---- */

OPERATION_CHECKS_NOTHING(get_file_properties)

/* rest: Get-File-Properties, Get-Directory-Properties */
void get_file_properties_answer(struct answer *a, const struct get_file_properties_parameters *p,
                                const struct get_file_properties_result *r)
{
    const struct file *file = &r->shown.file;

    (void)p;
    answer_file_properties(a, &r->shown);
    if (file->kind != TREE_FILE)
        return;
    answer_http_md5(a, "Content-MD5", &file->http);
    a->response->body_length = file->content.length;
}

static enum error read_length(struct call *call, bool *ret_has, uint64_t *ret_length)
{
    static const char name[] = "x-ms-content-length";
    struct bytes text = call_header(call, name);

    *ret_has = text.ptr != NULL;
    if (text.ptr && !bytes_parse_u64(text, FILE_LENGTH_MAX, ret_length))
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

/* Replaces all HTTP properties, which clears those not sent, as in the real service. A request
 * that changes the length and sends none of them leaves them unchanged. decision: 877 */
enum error set_file_properties_check(struct call *call, struct set_file_properties_parameters *p)
{
    enum error e = read_length(call, &p->has_length, &p->length);

    if (!e)
        e = smb_require(call);
    if (!e)
        e = smb_read(call, SMB_OF_CHANGE, TREE_FILE, &p->smb);
    p->keeps_http = p->has_length && !http_properties_are_sent(call, HTTP_HEADERS_OF_FILE);
    p->resize_writes = call_since(call, "2021-06-08");
    return e ? e : http_properties_read(call, HTTP_HEADERS_OF_FILE, STANDARD_IGNORED, &p->http);
}

void set_file_properties_answer(struct answer *a, const struct set_file_properties_parameters *p,
                                const struct set_file_properties_result *r)
{
    (void)p;
    answer_encrypted(a);
    answer_smb(a, &r->shown);
}

enum error set_directory_properties_check(struct call *call,
                                          struct set_directory_properties_parameters *p)
{
    enum error e = smb_require(call);

    return e ? e : smb_read(call, SMB_OF_CHANGE, TREE_DIRECTORY, &p->smb);
}

void set_directory_properties_answer(struct answer *a,
                                     const struct set_directory_properties_parameters *p,
                                     const struct set_directory_properties_result *r)
{
    (void)p;
    answer_encrypted(a);
    answer_smb(a, &r->shown);
}

/* ---- metadata ---- */

OPERATION_CHECKS_NOTHING(get_file_metadata)

void get_file_metadata_answer(struct answer *a, const struct get_file_metadata_parameters *p,
                              const struct get_file_metadata_result *r)
{
    (void)p;
    metadata_answer(a, r->metadata);
}

enum error set_file_metadata_check(struct call *call, struct set_file_metadata_parameters *p)
{
    return metadata_from_headers(call, &p->metadata);
}

void set_file_metadata_answer(struct answer *a, const struct set_file_metadata_parameters *p,
                              const struct set_file_metadata_result *r)
{
    (void)p;
    (void)r;
    answer_encrypted(a);
}

/* ---- deletion ---- */

OPERATION_CHECKS_NOTHING(delete_file)
OPERATION_ANSWERS_NOTHING(delete_file)

/* ---- Links as requests. rest: Create-Hard-Link, Create-Symbolic-Link, Read-Symbolic-Link ---- */

enum error link_check(struct call *call, struct link_parameters *p)
{
    p->restype = call_query(call, "restype");
    return OK;
}

OPERATION_ANSWERS_NOTHING(link)

/* ---- Lease File: request and response ---- */

/* Checks that an acquired lease is infinite and that no break period is sent: file leases have
 * neither durations nor break periods.
 * decision: 339; rest: Lease-File, "x-ms-lease-duration" */
static enum error check_endless(struct call *call, const struct lease_request *request)
{
    static const char duration[] = "x-ms-lease-duration", period[] = "x-ms-lease-break-period";

    if (request->action == LEASE_ACQUIRE && request->duration_s != LEASE_INFINITE)
        return call_fail_header(call, E_InvalidHeaderValue, duration, call_header(call, duration));
    if (call_header(call, period).ptr && !call->loose)
        return call_fail_header(call, E_UnsupportedHeader, period, call_header(call, period));
    return OK;
}

enum error lease_file_check(struct call *call, struct lease_file_parameters *p)
{
    enum error e = refuse_share_snapshot(call);

    if (!e)
        e = lease_read_request(call, &p->request);
    return e ? e : check_endless(call, &p->request);
}

void lease_file_answer(struct answer *a, const struct lease_file_parameters *p,
                       const struct lease_file_result *r)
{
    (void)p;
    answer_lease_outcome(a, &r->lease, &r->id);
}

/* ---- Create Directory and Create File: requests and responses ---- */

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

/* Like read_length(), but the header is required. rest: Create-File "x-ms-content-length" */
static enum error need_length(struct call *call, uint64_t *ret_length)
{
    bool is_there;
    enum error e = read_length(call, &is_there, ret_length);

    return e || is_there ? e
                         : call_fail_header(call, E_MissingRequiredHeader, "x-ms-content-length",
                                            bytes_of(NULL, 0));
}

/* Reads the length of initial data, allowed since 2026-02-06.
 * rest: Create-File "Beginning with version 2026-02-06"; decision: 875 */
static enum error read_content(struct call *call, struct create_file_parameters *p)
{
    uint64_t length = call->content_length;

    if (length == 0)
        return OK;
    if (!call_since(call, "2026-02-06") || length > p->length)
        return body_fail_length(call);
    p->has_content = true;
    return body_read_sums(call, SUMS_MD5, &p->sums);
}

enum error create_file_check(struct call *call, struct create_file_parameters *p)
{
    enum error e = need_length(call, &p->length);

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
