/* See answer.h. */
#include "service/answer.h"

#include "base/clock.h"
#include "base/encode.h"

#include <assert.h>
#include <inttypes.h>

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

void answer_iso_date(struct answer *a, const char *name, instant t)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(t, text);
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

/* ---- lease answer ---- */

enum error lease_read_request(struct call *call, struct lease_request *ret_request)
{
    const struct lease_headers headers = {
        .action = call_header(call, "x-ms-lease-action"),
        .id = call_header(call, "x-ms-lease-id"),
        .proposed = call_header(call, "x-ms-proposed-lease-id"),
        .duration = call_header(call, "x-ms-lease-duration"),
        .break_period = call_header(call, "x-ms-lease-break-period"),
    };
    const char *at_fault;
    enum error e = lease_request_parse(call->arena, &headers, ret_request, &at_fault);

    return e ? call_fail_header(call, e, at_fault, call_header(call, at_fault)) : OK;
}

void answer_lease_outcome(struct answer *a, const struct lease_result *lease, const struct guid *id)
{
    char text[GUID_TEXT_SIZE];

    answer_status(a, lease->status);
    if (lease->has_id) {
        guid_format(id, text);
        answer_header(a, "x-ms-lease-id", arena_copy(a->arena, bytes_from_string(text)));
    }
    if (lease->has_time)
        answer_u64(a, "x-ms-lease-time", lease->time_s);
}

/* Writes literal XML for speed, because each blob of a list contains it. None of the values needs
 * escaping. */
void lease_xml(struct text *out, const struct lease *lease, instant now)
{
    const char *duration = lease_duration_text(lease, now);

    text_add_string(out, "<LeaseStatus>");
    text_add_string(out, lease_status_text(lease, now));
    text_add_string(out, "</LeaseStatus><LeaseState>");
    text_add_string(out, lease_state_text(lease, now));
    text_add_string(out, "</LeaseState>");
    if (!duration)
        return;
    text_add_string(out, "<LeaseDuration>");
    text_add_string(out, duration);
    text_add_string(out, "</LeaseDuration>");
}

/* ---- copy answer ---- */

void answer_copy_id(struct answer *a, const struct guid *id, enum copy_status status)
{
    char text[GUID_TEXT_SIZE];

    guid_format(id, text);
    answer_header(a, "x-ms-copy-id", arena_copy(a->arena, bytes_from_string(text)));
    answer_string(a, "x-ms-copy-status", copy_status_text(status));
}

void answer_copy(struct answer *a, const struct copy_state *copy)
{
    if (copy->status == COPY_NONE || !call_since(a->call, "2012-02-12"))
        return;
    answer_copy_id(a, &copy->id, copy->status);
    answer_header(a, "x-ms-copy-source", copy->source);
    answer_header(a, "x-ms-copy-progress",
                  arena_printf(a->arena, "%" PRIu64 "/%" PRIu64, copy->copied, copy->total));
    if (copy->completed > 0)
        answer_date(a, "x-ms-copy-completion-time", copy->completed);
    if (copy->description.len > 0)
        answer_header(a, "x-ms-copy-status-description", copy->description);
}

void answer_key_hash(struct answer *a, const uint8_t hash[KEY_HASH_SIZE])
{
    answer_header(a, "x-ms-encryption-key-sha256",
                  base64_encode(a->arena, bytes_of(hash, KEY_HASH_SIZE)));
}
