/* Requests and responses of Put Block and Put Block From URL. rest: Put-Block,
 * Put-Block-From-URL */
#include "blob/rest/request.h"
#include "source/open_source.h"

#include "base/encode.h"

#define PUT_BLOCK_MAX (UINT64_C(4000) << 20)

/* Maximum block sizes by version; the operation table has the first. semantics 10.1 */
static const struct size_limit limits[] = {
    { "2019-12-12", PUT_BLOCK_MAX },
    { "2016-05-31", UINT64_C(100) << 20 },
    { "", UINT64_C(4) << 20 },
};

size_t block_id_length(struct arena *arena, struct bytes id)
{
    struct arena_mark mark = arena_mark(arena);
    struct bytes decoded = base64_decode(arena, id);

    arena_rewind(arena, mark);
    return decoded.ptr ? decoded.len : 0;
}

static enum error parse_id(struct call *call, struct put_block_parameters *p)
{
    struct bytes id = call_query(call, "blockid");
    size_t length;

    if (id.len == 0)
        return call_fail_query(call, E_MissingRequiredQueryParameter, "blockid", id, NULL);
    length = block_id_length(call->arena, id);
    if (length == 0)
        return call_fail_query(call, E_InvalidQueryParameterValue, "blockid", id,
                               "Not a valid base64 string.");
    if (length > BLOCK_ID_MAX)
        return call_fail_query(call, E_OutOfRangeInput, "blockid", id,
                               "At most 64 bytes before base64.");
    p->id = id;
    p->id_length = (uint32_t)length;
    return OK;
}

enum error put_block_check(struct call *call, struct put_block_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_BLOCK);

    if (e)
        return e;
    e = parse_id(call, p);
    if (e)
        return e;
    e = body_check_size(call, limits, call->request->content_length);
    if (e)
        return e;
    e = body_read_sums(call, SUMS_OF_PART, &p->sums);
    if (e)
        return e;
    if (call->inline_max > BLOCK_INLINE_MAX)
        call->inline_max = BLOCK_INLINE_MAX;
    return OK;
}

enum error put_block_parse(struct call *call, struct put_block_parameters *p)
{
    (void)p;
    return body_check_block(call, limits);
}

void put_block_answer(struct answer *a, const struct put_block_parameters *p,
                      const struct put_block_result *r)
{
    (void)r;
    blob_answer_written(a, &p->sums);
}

/* ---- Put Block From URL ---- */

enum error put_block_from_url_check(struct call *call, struct put_block_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_COPY);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    if (!e)
        e = parse_id(call, p);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    if (e)
        return e;
    p->sums = source_sums(call, p->source, SOURCE_SUM_SENT);
    if (call->inline_max > BLOCK_INLINE_MAX)
        call->inline_max = BLOCK_INLINE_MAX;
    return OK;
}

enum error put_block_from_url_gather(struct gathering *g, struct put_block_parameters *p)
{
    return source_gather_block(g, p->source, limits, PUT_BLOCK_MAX);
}
