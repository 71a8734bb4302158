/* The operations on directories and files as requests and answers. */
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
