/* Requests and responses of Put Blob for page blobs, Put Page, Put Page From URL and Get Page
 * Ranges. */
#include "base/encode.h"
#include "base/url.h"
#include "blob/page_blob_operations.h"
#include "blob/rest/request.h"
#include "service/read_answer.h"
#include "source/open_source.h"

/* ---- Put Blob ---- */

enum error blob_parse_page_length(struct call *call, bool *ret_has, uint64_t *ret_length)
{
    static const char name[] = "x-ms-blob-content-length";
    enum error e = call_read_number(call, name, PAGE_BLOB_MAX, ret_has, ret_length);

    if (!e && *ret_has && *ret_length % PAGE_SIZE != 0)
        e = call_fail_header(call, E_InvalidHeaderValue, name, call_header(call, name));
    return e;
}

enum error create_page_blob_check(struct call *call, struct create_page_blob_parameters *p)
{
    bool has;
    enum error e = create_blob_check(call, STANDARD_USED, SUMS_OF_NOTHING, &p->create);

    if (!e)
        e = blob_parse_page_length(call, &has, &p->length);
    if (!e && !has)
        e = call_fail_header(call, E_MissingRequiredHeader, "x-ms-blob-content-length",
                             bytes_of(NULL, 0));
    if (!e)
        e = call_read_number(call, "x-ms-blob-sequence-number", SEQUENCE_NUMBER_MAX, &has,
                             &p->sequence_number);
    return e;
}

/* rest: Put-Blob */
void create_page_blob_answer(struct answer *a, const struct create_page_blob_parameters *p,
                             const struct create_page_blob_result *r)
{
    blob_answer_version(a, r->version);
    blob_answer_written(a, &p->create.sums);
}

/* ---- Put Page ---- */

/* Parses the range, which must have both ends, at page boundaries. Errors name Range whichever of
 * the two headers was sent, as in the real service. rest: Put-Page "Range"; decision: 853 */
static enum error read_range(struct call *call, struct page_range *range)
{
    struct read_range asked;
    struct bytes text;
    enum error e = write_range_read(call, &asked, &text);

    if (e)
        return e;
    if (!asked.is_given || asked.first % PAGE_SIZE != 0 || (asked.last + 1) % PAGE_SIZE != 0)
        return call_fail_header(call, E_InvalidHeaderValue, "Range", text);
    if (asked.last >= PAGE_BLOB_MAX)
        return E_InvalidPageRange;
    range->start = asked.first;
    range->length = asked.last + 1 - asked.first;
    return OK;
}

/* A value that is not a number is InvalidInput without details, as in all ten recordings.
 * decision: 852 */
static enum error read_conditions(struct call *call, struct sequence_conditions *conditions)
{
    struct {
        const char *name;
        bool *has;
        uint64_t *number;
    } const all[] = {
        { "x-ms-if-sequence-number-le", &conditions->has_le, &conditions->le },
        { "x-ms-if-sequence-number-lt", &conditions->has_lt, &conditions->lt },
        { "x-ms-if-sequence-number-eq", &conditions->has_eq, &conditions->eq },
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct bytes text = call_condition(call, all[i].name);

        *all[i].has = text.ptr != NULL;
        if (text.ptr && !bytes_parse_u64(text, SEQUENCE_NUMBER_MAX, all[i].number))
            return E_InvalidInput;
    }
    return OK;
}

static enum error read_change(struct call *call, struct page_range *range,
                              struct sequence_conditions *conditions)
{
    enum error e = read_range(call, range);

    return e ? e : read_conditions(call, conditions);
}

/* The body must be as long as the range. decision: 72 */
enum error put_page_check(struct call *call, struct put_page_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_PAGES, KEY_WRITES);

    if (!e)
        e = read_change(call, &p->range, &p->conditions);
    if (e)
        return e;
    if (call->content_length != p->range.length)
        return E_InvalidPageRange;
    return body_read_sums(call, SUMS_OF_PART, &p->sums);
}

enum error clear_page_check(struct call *call, struct clear_page_parameters *p)
{
    enum error e = blob_read_key(call, REQUEST_PAGES, KEY_WRITES);

    return e ? e : read_change(call, &p->range, &p->conditions);
}

/* rest: Put-Page */
void put_page_answer(struct answer *a, const struct put_page_parameters *p,
                     const struct put_page_result *r)
{
    answer_u64(a, "x-ms-blob-sequence-number", r->sequence_number);
    blob_answer_written(a, &p->sums);
}

/* Sends no encryption header, as in the real service: nothing was written. */
void clear_page_answer(struct answer *a, const struct clear_page_parameters *p,
                       const struct clear_page_result *r)
{
    (void)p;
    answer_u64(a, "x-ms-blob-sequence-number", r->sequence_number);
}

/* ---- Put Page From URL ---- */

#define PUT_PAGE_MAX (UINT64_C(4) << 20)

static const struct size_limit limits[] = { { "", PUT_PAGE_MAX } };

/* The source range must have both ends and be as long as the destination range. decision: 98 */
static enum error check_source_range(struct call *call, const struct copy_source *source,
                                     const struct page_range *range)
{
    static const char name[] = "x-ms-source-range";
    uint64_t offset, length;

    if (!source->range.ptr)
        return call_fail_header(call, E_MissingRequiredHeader, name, source->range);
    if (range_parse(source->range, UINT64_MAX, &offset, &length) != RANGE_PART ||
        length == UINT64_MAX - offset)
        return call_fail_header(call, E_InvalidHeaderValue, name, source->range);
    return length == range->length ? OK : E_InvalidPageRange;
}

enum error put_page_from_url_check(struct call *call, struct put_page_parameters *p)
{
    const struct blob_key *source_key;
    enum error e = blob_read_source_key(call, REQUEST_PAGES_FROM, &source_key);

    p->source = arena_alloc(call->arena, sizeof *p->source);
    if (!e)
        e = read_change(call, &p->range, &p->conditions);
    if (!e)
        e = source_check_update(call, "x-ms-page-write");
    if (!e)
        e = copy_source_check(call, SOURCE_READ, p->source);
    p->source->key = source_key;
    if (!e)
        e = check_source_range(call, p->source, &p->range);
    if (!e)
        e = body_check_size(call, limits, p->range.length);
    if (!e)
        p->sums = source_sums(call, p->source, SOURCE_SUM_MD5);
    return e;
}

enum error put_page_from_url_gather(struct gathering *g, struct put_page_parameters *p)
{
    enum error e = source_gather_block(g, p->source, limits, PUT_PAGE_MAX);

    if (!e && g->call->input.body.length != p->range.length)
        e = source_cannot_verify(g, E_InvalidRange); /* the source is too short */
    return e;
}

/* ---- Get Page Ranges. rest: Get-Page-Ranges ---- */

/* ---- request ---- */

/* Parses the snapshot parameter, of which there must be exactly one. */
static bool read_snapshot(struct arena *arena, struct bytes query, instant *ret_snapshot)
{
    struct bytes name, value;
    bool found = false;

    while (url_take_parameter(&query, &name, &value)) {
        if (!bytes_is_nocase(name, "snapshot"))
            continue;
        value = query_decode(arena, value);
        if (found || !value.ptr || !instant_parse_iso(value, ret_snapshot))
            return false;
        found = true;
    }
    return found;
}

/* Parses the URL of a snapshot of the same blob: host and path must be the same. decision: 74 */
static bool read_previous_url(const struct call *call, struct bytes text, instant *ret_previous)
{
    struct bytes path, own_path = percent_decode(call->arena, call->request->path);
    struct url url;

    if (!url_parse(url_normal(call->arena, text), &url) ||
        !bytes_equal_nocase(url.authority, call->request->authority))
        return false;
    path = percent_decode(call->arena, url.path);
    return path.ptr && own_path.ptr &&
           bytes_equal(url_normalize_path(call->arena, path),
                       url_normalize_path(call->arena, own_path)) &&
           read_snapshot(call->arena, url.query, ret_previous);
}

static enum error read_previous(struct call *call, struct get_page_ranges_parameters *p)
{
    static const char header[] = "x-ms-previous-snapshot-url";
    struct bytes text = call_query(call, "prevsnapshot"), url = call_header(call, header);

    if (text.ptr && url.ptr)
        return call_fail_header(call, E_InvalidHeaderValue, header, url);
    if (text.ptr && !instant_parse_iso(text, &p->previous))
        return call_fail_query(call, E_InvalidQueryParameterValue, "prevsnapshot", text,
                               "Not a snapshot's date and time.");
    if (url.ptr && !read_previous_url(call, url, &p->previous))
        return call_fail_header(call, E_InvalidHeaderValue, header, url);
    return OK;
}

/* Extends a range to whole pages, as in the real service. decision: 854 */
static void widen_to_pages(struct read_range *range)
{
    range->first -= range->first % PAGE_SIZE;
    if (range->last < PAGE_BLOB_MAX)
        range->last += PAGE_SIZE - 1 - range->last % PAGE_SIZE;
}

enum error get_page_ranges_check(struct call *call, struct get_page_ranges_parameters *p)
{
    enum error e = blob_refuse_unbuilt(call, REQUEST_READ);

    if (!e)
        e = range_list_read_page(call, &p->list);
    if (!e)
        e = read_previous(call, p);
    read_range_positions(call, &p->list.range);
    widen_to_pages(&p->list.range);
    return e;
}

/* ---- response ---- */

void get_page_ranges_answer(struct answer *a, const struct get_page_ranges_parameters *p,
                            const struct get_page_ranges_result *r)
{
    static const struct range_list_names names = { .list = "PageList", .range = "PageRange" };

    range_list_answer(a, &p->list, &names, &r->ranges);
    answer_u64(a, "x-ms-blob-content-length", r->length);
}
