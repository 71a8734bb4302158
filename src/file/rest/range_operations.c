/* Get File, Put Range and List Ranges: requests and responses. rest: Get-File, Put-Range,
 * List-Ranges */
#include "file/rest/range_request.h"
#include "file/rest/smb_headers.h"
#include "service/http_headers.h"
#include "service/range_list_xml.h"
#include "service/read_answer.h"

enum error file_refuse_structured(struct call *call)
{
    static const char *const names[] = { "x-ms-structured-body", "x-ms-structured-content-length" };

    for (size_t i = 0; i < sizeof names / sizeof names[0] && !call->loose; i++) {
        if (call_header(call, names[i]).ptr)
            return call_fail_header(call, E_UnsupportedHeader, names[i],
                                    call_header(call, names[i]));
    }
    return OK;
}

/* ---- Get File ---- */

enum error get_file_check(struct call *call, struct get_file_parameters *p)
{
    enum error e = file_refuse_structured(call);

    return e ? e : read_range_check(call, &p->range);
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

enum error range_read_change(struct call *call, struct put_range_parameters *p)
{
    enum error e = file_refuse_structured(call);

    if (!e)
        e = read_range(call, p);
    return e ? e : read_written(call, p);
}

/* Requires a body with the length of the range. decision: 302 */
enum error put_range_check(struct call *call, struct put_range_parameters *p)
{
    enum error e = range_read_change(call, p);

    if (e)
        return e;
    if (call->request->content_length != p->length)
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
        answer_file_time(a, "x-ms-file-last-write-time", written);
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
