/* Leases of all services as requests and responses; see lease_answer.h. */
#include "service/lease_answer.h"

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

/* Writes literal XML for speed, because each blob of a list has it. None of the values needs
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
