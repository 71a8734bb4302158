/* Put Blob of an append blob, Append Block and Append Blob Seal as requests and answers. */
#include "blob/rest/create_blob.h"

static const char position_header[] = "x-ms-blob-condition-appendpos";

/* ---- Put Blob ---- */

enum error create_append_blob_check(struct call *call, struct create_append_blob_parameters *p)
{
    enum error e = blob_refuse_page_headers(call);

    return e ? e : create_empty_blob_check(call, &p->create);
}

/* rest: Put-Blob */
void create_append_blob_answer(struct answer *a, const struct create_append_blob_parameters *p,
                               const struct create_append_blob_result *r)
{
    create_blob_answer(a, &p->create, r->etag, r->modified);
}

/* ---- Append Block ---- */

/* The most bytes of one block, by version; the row holds the first. rest: Append-Block */
static const struct size_limit limits[] = {
    { "2022-11-02", UINT64_C(100) << 20 },
    { "", UINT64_C(4) << 20 },
};

enum error append_block_check(struct call *call, struct append_block_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_APPEND);

    if (!e)
        e = blob_check_size(call, limits, call->request->content_length);
    if (!e)
        e = blob_parse_number(call, position_header, INT64_MAX, &p->has_position, &p->position);
    if (!e)
        e = blob_parse_number(call, "x-ms-blob-condition-maxsize", INT64_MAX, &p->has_size_max,
                              &p->size_max);
    return e ? e : blob_parse_sums(call, SUMS_OF_PART, &p->sums);
}

enum error append_block_parse(struct call *call, struct append_block_parameters *p)
{
    (void)p;
    return blob_check_block(call, limits);
}

/* rest: Append-Block */
void append_block_answer(struct answer *a, const struct append_block_parameters *p,
                         const struct append_block_result *r)
{
    answer_status(a, 201);
    answer_etag(a, r->etag, r->modified);
    blob_answer_sums(a, &p->sums);
    blob_answer_encrypted(a);
    answer_u64(a, "x-ms-blob-append-offset", r->offset);
    answer_u64(a, "x-ms-blob-committed-block-count", r->committed_blocks);
}

/* ---- Append Blob Seal ---- */

enum error seal_append_blob_check(struct call *call, struct seal_append_blob_parameters *p)
{
    struct bytes size_max = call_header(call, "x-ms-blob-condition-maxsize");
    enum error e = blob_refuse_unbuilt(call, REQUEST_APPEND);

    if (e)
        return e;
    if (size_max.ptr)
        return call_fail_header(call, E_UnsupportedHeader, "x-ms-blob-condition-maxsize", size_max);
    return blob_parse_number(call, position_header, INT64_MAX, &p->has_position, &p->position);
}

/* rest: Append-Blob-Seal */
void seal_append_blob_answer(struct answer *a, const struct seal_append_blob_parameters *p,
                             const struct seal_append_blob_result *r)
{
    (void)p;
    answer_status(a, 200);
    answer_etag(a, r->etag, r->modified);
    answer_string(a, "x-ms-blob-sealed", "true");
}
