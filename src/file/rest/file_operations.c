/* Operations on directories and files: requests and responses. */
#include "file/rest/smb_headers.h"
#include "service/http_headers.h"
#include "service/metadata.h"

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
