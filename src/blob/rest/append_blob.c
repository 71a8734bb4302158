/* Requests and responses of Put Blob for append blobs, Append Block, Append Block From URL and
 * Append Blob Seal. */
#include "source/open_source.h"
#include "blob/rest/request.h"

static const char position_header[] = "x-ms-blob-condition-appendpos";

/* ---- Put Blob ---- */

enum error create_append_blob_check(struct call *call, struct create_append_blob_parameters *p)
{
    enum error e = blob_refuse_page_headers(call);
    struct bytes tier = call_header(call, "x-ms-access-tier");

    if (call->input.is_before_append_blobs)
        return E_FeatureVersionMismatch;
    if (!e && tier.ptr)
        e = call_fail_header(call, E_UnsupportedHeader, "x-ms-access-tier", tier);
    return e ? e : create_blob_check(call, STANDARD_USED, SUMS_OF_NOTHING, &p->create);
}

/* rest: Put-Blob */
void create_append_blob_answer(struct answer *a, const struct create_append_blob_parameters *p,
                               const struct create_append_blob_result *r)
{
    blob_answer_version(a, r->version);
    blob_answer_written(a, &p->create.sums);
}

/* ---- Append Block ---- */

#define APPEND_MAX (UINT64_C(100) << 20)

/* Maximum block sizes by version; the operation table has the first. rest: Append-Block */
static const struct size_limit limits[] = {
    { "2022-11-02", APPEND_MAX },
    { "", UINT64_C(4) << 20 },
};

static enum error parse_conditions(struct call *call, struct append_block_parameters *p)
{
    enum error e =
        call_read_bound(call, position_header, INT64_MAX, &p->has_position, &p->position);

    return e ? e
             : call_read_bound(call, "x-ms-blob-condition-maxsize", INT64_MAX, &p->has_size_max,
                               &p->size_max);
}

/* 1601-01-01 as an instant, the epoch of Windows file times. */
#define FILE_TIME_START UINT64_C(504911232000000000)

/* Refuses an unquoted ETag from before 1601, recorded for this operation only. decision: 850 */
static enum error refuse_ancient(struct call *call)
{
    const struct conditions *given = &call->input.conditions;
    const struct etag *tag = given->given & IF_MATCH ? given->match->tags : NULL;
    struct bytes text = bytes_trim(call_header(call, "if-match"));

    if (!tag || given->match->count != 1 || text.ptr[0] == '"' || tag->v == 0)
        return OK;
    return tag->v < FILE_TIME_START ? E_OutOfRangeInput : OK;
}

enum error append_block_check(struct call *call, struct append_block_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_APPEND, KEY_WRITES);

    if (!e)
        e = refuse_ancient(call);
    if (!e)
        e = body_check_size(call, limits, call->content_length);
    if (!e)
        e = parse_conditions(call, p);
    return e ? e : body_read_sums(call, SUMS_OF_PART, &p->sums);
}

enum error append_block_parse(struct call *call, struct append_block_parameters *p)
{
    (void)p;
    return body_check_block(call, limits);
}

/* rest: Append-Block */
void append_block_answer(struct answer *a, const struct append_block_parameters *p,
                         const struct append_block_result *r)
{
    blob_answer_written(a, &p->sums);
    answer_u64(a, "x-ms-blob-append-offset", r->offset);
    answer_u64(a, "x-ms-blob-committed-block-count", r->committed_blocks);
}

/* ---- Append Block From URL ---- */

enum error append_block_from_url_check(struct call *call, struct append_block_parameters *p)
{
    const struct blob_key *source_key;
    enum error e = blob_read_source_key(call, REQUEST_APPEND_FROM, &source_key);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    if (!e)
        e = parse_conditions(call, p);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    p->source->key = source_key;
    if (!e)
        p->sums = source_sums(call, p->source, SOURCE_SUM_MD5);
    return e;
}

enum error append_block_from_url_gather(struct gathering *g, struct append_block_parameters *p)
{
    return source_gather_block(g, p->source, limits, APPEND_MAX);
}

/* ---- Append Blob Seal ---- */

enum error seal_append_blob_check(struct call *call, struct seal_append_blob_parameters *p)
{
    struct bytes size_max = call_condition(call, "x-ms-blob-condition-maxsize");
    enum error e = blob_refuse_unbuilt(call, REQUEST_APPEND);

    if (e)
        return e;
    if (size_max.ptr)
        return call_fail_header(call, E_UnsupportedHeader, "x-ms-blob-condition-maxsize", size_max);
    return call_read_bound(call, position_header, INT64_MAX, &p->has_position, &p->position);
}

/* rest: Append-Blob-Seal */
void seal_append_blob_answer(struct answer *a, const struct seal_append_blob_parameters *p,
                             const struct seal_append_blob_result *r)
{
    (void)r;
    (void)p;
    answer_string(a, "x-ms-blob-sealed", "true");
}
