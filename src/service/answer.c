/* See answer.h. */
#include "service/answer.h"

#include <assert.h>

#include "base/clock.h"

instant answer_time(const struct answer *a)
{
    return a->now > 0 ? a->now : clock_now();
}

void answer_status(struct answer *a, int status)
{
    assert(status >= 200 && status <= 599);
    a->response->status = status;
}

void answer_header(struct answer *a, const char *name, struct bytes value)
{
    response_header(a->response, bytes_from_string(name), value);
}

void answer_string(struct answer *a, const char *name, const char *value)
{
    response_header_string(a->response, name, value);
}

void answer_u64(struct answer *a, const char *name, uint64_t value)
{
    answer_header(a, name, bytes_decimal(value, arena_bytes(a->arena, DECIMAL_DIGITS)));
}

void answer_date(struct answer *a, const char *name, instant t)
{
    char text[INSTANT_HTTP_SIZE];

    instant_format_http(t, text);
    answer_header(a, name, arena_copy(a->arena, bytes_from_string(text)));
}

void answer_etag(struct answer *a, struct etag etag, instant modified)
{
    char tag[ETAG_TEXT_SIZE];

    etag_format(etag, tag);
    answer_header(a, "ETag", arena_copy(a->arena, bytes_from_string(tag)));
    answer_date(a, "Last-Modified", modified);
}

void answer_lease(struct answer *a, const struct lease *lease)
{
    const char *duration = lease_duration_text(lease, a->now);

    answer_string(a, "x-ms-lease-status", lease_status_text(lease, a->now));
    answer_string(a, "x-ms-lease-state", lease_state_text(lease, a->now));
    if (duration)
        answer_string(a, "x-ms-lease-duration", duration);
}

void answer_code(struct answer *a, enum error e)
{
    assert(e != OK);
    if (call_since(a->call, "2017-07-29"))
        answer_string(a, "x-ms-error-code", error_code(e));
}

void answer_cell_page(struct answer *a, struct text *page, const struct page_key *next)
{
    assert(a->response->body_kind == BODY_NONE && a->call->is_for_cell);
    cell_page_end(page, next);
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(page);
}

void answer_xml(struct answer *a, const struct text *xml)
{
    assert(a->response->body_kind == BODY_NONE);
    answer_string(a, "Content-Type", "application/xml");
    a->response->body_kind = BODY_BYTES;
    a->response->body = text_bytes(xml);
}

void answer_elsewhere(struct answer *a, struct placement where)
{
    a->error = E_MisdirectedRequest;
    answer_status(a, error_status(E_MisdirectedRequest));
    answer_u64(a, PLACEMENT_HEADER_CELL, where.cell);
    answer_u64(a, PLACEMENT_HEADER_INCARNATION, where.incarnation);
}
