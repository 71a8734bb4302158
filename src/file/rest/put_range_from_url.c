/* Put Range From URL: request. rest: Put-Range-From-URL */
#include "base/encode.h"
#include "file/rest/range_request.h"
#include "source/open_source.h"

static const struct size_limit limits[] = { { "", PUT_RANGE_MAX } };

/* Checks that the source range has both ends and the length of the destination range. decision:
 * 303 */
static enum error check_source_range(struct call *call, const struct put_range_parameters *p)
{
    static const char name[] = "x-ms-source-range";
    struct bytes range = p->source->range;
    uint64_t offset, length;

    if (!range.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, name, range);
    if (range_parse(range, UINT64_MAX, &offset, &length) != RANGE_PART || length != p->length)
        return call_fail_header(call, E_InvalidHeaderValue, name, range);
    return OK;
}

static enum error read_crc64(struct call *call, const char *name, bool *ret_has, char sum[8])
{
    struct bytes text = call_condition(call, name), decoded;

    *ret_has = text.ptr != NULL;
    if (!text.ptr)
        return OK;
    decoded = base64_decode(call->arena, text);
    if (!decoded.ptr || decoded.len != 8)
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    memcpy(sum, decoded.ptr, decoded.len);
    return OK;
}

static enum error read_conditions(struct call *call, struct crc64_conditions *conditions)
{
    enum error e =
        read_crc64(call, "x-ms-source-if-match-crc64", &conditions->has_match, conditions->match);

    return e ? e
             : read_crc64(call, "x-ms-source-if-none-match-crc64", &conditions->has_none_match,
                          conditions->none_match);
}

enum error put_range_from_url_check(struct call *call, struct put_range_parameters *p)
{
    enum error e = source_check_update(call, "x-ms-write");

    p->source = arena_alloc(call->arena, sizeof *p->source);
    if (!e)
        e = range_read_change(call, p);
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    if (!e)
        e = check_source_range(call, p);
    if (!e)
        e = body_check_size(call, limits, p->length);
    if (!e)
        e = read_conditions(call, &p->source_crc64);
    if (e)
        return e;
    p->sums = source_sums(call, p->source, SOURCE_SUM_SENT);
    call->wants_crc64 = true;
    return OK;
}

/* Checks the CRC64 conditions. Failures report the checksum details, as in the real service. */
static enum error check_conditions(struct gathering *g, const struct crc64_conditions *given)
{
    const uint64_t *sum = &g->call->input.body.crc64;
    bool differs = given->has_match && memcmp(given->match, sum, sizeof given->match) != 0;
    bool equals =
        given->has_none_match && memcmp(given->none_match, sum, sizeof given->none_match) == 0;

    if (!differs && !equals)
        return OK;
    call_fail_sum(g->call, E_Crc64Mismatch, differs ? given->match : given->none_match, sum,
                  sizeof *sum);
    return E_Crc64ConditionNotMet;
}

enum error put_range_from_url_gather(struct gathering *g, struct put_range_parameters *p)
{
    enum error e = source_gather_block(g, p->source, limits, PUT_RANGE_MAX);

    if (!e && g->call->input.body.length != p->length)
        e = source_cannot_verify(g, E_InvalidRange); /* the source ends early */
    return e ? e : check_conditions(g, &p->source_crc64);
}
