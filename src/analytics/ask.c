/* Internal requests of Storage Analytics to the services: see analytics_private.h. */
#include "analytics/analytics_private.h"

enum error ask(struct analytics *a, const struct account *account, const char *service,
               struct arena *arena, struct own_request *asked, struct own_answer *ret_answer)
{
    const struct endpoint *endpoint = endpoint_find(a->endpoints, bytes_from_string(service));
    unsigned i = (unsigned)(endpoint - a->endpoints->endpoints);
    uint64_t began_ns = clock_monotonic_ns();
    struct analytics_event event = { .account = account, .service = i };

    asked->by_service = true;
    asked->path =
        arena_printf(arena, "/%.*s/%.*s", BYTES_ARG(account_name(account)), BYTES_ARG(asked->path));
    own_request_run(endpoint, arena, asked, ret_answer);
    event.operation = ret_answer->operation;
    event.outcome = !ret_answer->error                       ? OUTCOME_SUCCESS
                    : error_status(ret_answer->error) >= 500 ? OUTCOME_SERVER_OTHER
                                                             : OUTCOME_CLIENT_OTHER;
    event.ended = clock_wall();
    event.all_ns = clock_monotonic_ns() - began_ns;
    event.received = asked->source ? asked->source->length : asked->body.len;
    if (ret_answer->response.body_kind == BODY_BYTES)
        event.sent = ret_answer->response.body.len;
    collect_own(a, account, i, &event);
    return ret_answer->error;
}
