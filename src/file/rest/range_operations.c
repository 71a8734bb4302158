/* Get File, Put Range, Put Range From URL and List Ranges: requests and responses.
 * rest: Get-File, Put-Range, List-Ranges */
#include "base/encode.h"
#include "file/range_operations.h"
#include "file/rest/request.h"
#include "file/rest/smb_headers.h"
#include "service/http_headers.h"
#include "service/read_answer.h"
#include "source/open_source.h"

/* ---- Get File ---- */

enum error get_file_check(struct call *call, struct get_file_parameters *p)
{
    return read_range_check(call, &p->range);
}

void get_file_answer(struct answer *a, const struct get_file_parameters *p,
                     const struct get_file_result *r)
{
    const struct file *file = &r->shown.file;

    read_answer(a, &p->range, &r->part, &file->content);
    answer_file_properties(a, &r->shown);
    answer_string(a, "Accept-Ranges", "bytes");
    if (!r->part.is_part)
        answer_http_md5(a, "Content-MD5", &file->http);
    else if (call_since(a->call, "2016-05-31"))
        answer_http_md5(a, "x-ms-content-md5", &file->http);
}

/* ---- Put Range ---- */

/* Reads the range, which must have both ends. rest: Put-Range "Range" */
static enum error read_range(struct call *call, struct put_range_parameters *p)
{
    struct read_range asked;
    struct bytes text;
    enum error e = write_range_read(call, &asked, &text);

    if (e)
        return e;
    if (!asked.is_given || asked.last == UINT64_MAX)
        return call_fail_header(call, E_InvalidHeaderValue,
                                call_header(call, "x-ms-range").ptr ? "x-ms-range" : "Range", text);
    p->offset = asked.first;
    p->length = asked.last + 1 - asked.first;
    return OK;
}

/* Reads whether the write updates times. Before 2021-06-08 it updates neither last write nor change
 * time, as in the real service. The header was added in that version but is honoured in all.
 * rest: Put-Range "x-ms-file-last-write-time"; decision: 878 */
static enum error read_written(struct call *call, struct put_range_parameters *p)
{
    static const char name[] = "x-ms-file-last-write-time";
    struct bytes text = call_header(call, name);

    p->keeps_changed = text.len == 0 && !call_since(call, "2021-06-08");
    p->keeps_written = p->keeps_changed || bytes_is_nocase(text, "preserve");
    if (text.len > 0 && !p->keeps_written && !bytes_is_nocase(text, "now"))
        return call_fail_header(call, E_InvalidHeaderValue, name, text);
    return OK;
}

/* Reads the range and the last write time mode.
 * Returns OK, E_MissingRequiredHeader, E_InvalidHeaderValue, E_UnsupportedHeader. */
static enum error range_read_change(struct call *call, struct put_range_parameters *p)
{
    enum error e = read_range(call, p);

    return e ? e : read_written(call, p);
}

/* Requires a body with the length of the range. decision: 302 */
enum error put_range_check(struct call *call, struct put_range_parameters *p)
{
    enum error e = range_read_change(call, p);

    if (e)
        return e;
    if (call->content_length != p->length)
        return body_fail_length(call);
    return body_read_sums(call, SUMS_MD5, &p->sums);
}

enum error clear_range_check(struct call *call, struct clear_range_parameters *p)
{
    return range_read_change(call, &p->range);
}

/* Adds the last write time, recorded since 2021-06-08. */
static void answer_written(struct answer *a, instant written)
{
    if (call_since(a->call, "2021-06-08"))
        answer_iso_date(a, "x-ms-file-last-write-time", written);
}

void put_range_answer(struct answer *a, const struct put_range_parameters *p,
                      const struct put_range_result *r)
{
    answer_body_sums(a, &p->sums);
    answer_encrypted(a);
    answer_written(a, r->written);
}

/* Omits x-ms-request-server-encrypted, as in the real service, because no data was written. */
void clear_range_answer(struct answer *a, const struct clear_range_parameters *p,
                        const struct clear_range_result *r)
{
    (void)p;
    answer_written(a, r->written);
}

/* ---- List Ranges ---- */

enum error list_ranges_check(struct call *call, struct list_ranges_parameters *p)
{
    static const char name[] = "prevsharesnapshot";
    struct bytes previous = call_query(call, name);
    bool supports_rename; /* ignored: renamed files keep their content. decision: 305 */
    enum error e = call_read_flag(call, "x-ms-file-support-rename", &supports_rename);

    if (e)
        return e;
    read_range_positions(call, &p->list.range);
    if (previous.ptr && (!instant_parse_iso(previous, &p->previous) || p->previous == 0))
        return call_fail_query(call, E_InvalidQueryParameterValue, name, previous,
                               "Not a snapshot's date and time.");
    return range_list_read_page(call, &p->list);
}

void list_ranges_answer(struct answer *a, const struct list_ranges_parameters *p,
                        const struct list_ranges_result *r)
{
    static const struct range_list_names names = { .list = "Ranges", .range = "Range" };

    range_list_answer(a, &p->list, &names, &r->ranges);
    answer_u64(a, "x-ms-content-length", r->length);
}

/* ---- Put Range From URL: request. rest: Put-Range-From-URL ---- */

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
