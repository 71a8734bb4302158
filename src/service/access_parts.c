/* Parts of batches in the logs: each is kept as an event when it is answered, and logged behind the request that all
 * came by, once that is over. */
#include "service/access_event.h"

#define LOGS (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT)

/* The newest answer to a part counts, if it had to be decided again. */
static struct logged_part *place_of(struct work *whole, const struct work *part)
{
    struct logged_part **at = &whole->logged;

    while (*at && (*at)->part != part)
        at = &(*at)->next;
    if (!*at)
        *at = arena_alloc(whole->call.arena, sizeof **at);
    (*at)->part = part;
    return *at;
}

static struct bytes access_event_of(const struct work *whole, const struct work *part,
                                    const struct response *response)
{
    struct bytes texts[EVENT_TEXTS];
    struct access_event *event;
    size_t size;

    if (!(event_logs_on() & LOGS))
        return bytes_of(NULL, 0);
    size = sizeof *event + access_event_texts(&part->call, response, texts);
    event = arena_alloc(whole->call.arena, size);
    *event = (struct access_event){
        .kind = EVENT_OF_PART,
        .began = clock_wall(),
        .service = whole->call.endpoint->service->name,
        .operation = part->call.operation,
        .request = part->call.request_id,
        .other = whole->call.request_id,
        .status = response->status,
        .error = part->answer.error,
    };
    access_event_identify(event, &part->call);
    access_event_put(event, texts);
    return bytes_of(event, size);
}

void access_log_keep_part(struct work *whole, const struct work *part,
                          const struct response *response)
{
    const struct operation *operation = part->call.operation;
    struct bytes event = access_event_of(whole, part, response);
    struct bytes analytics = analytics_of_part(whole, part, response);
    struct logged_part *kept;

    if (!event.ptr && !analytics.ptr)
        return;
    kept = place_of(whole, part);
    kept->event = event;
    kept->is_audited = operation && operation->rights.effect == WRITES;
    kept->analytics = analytics;
}

/* Where the whole was refused, or nobody knows what became of it, nothing is said of its parts. */
void access_log_parts(const struct flow *flow)
{
    if (flow->work.answer.error || !flow->exchange->response.status)
        return;
    for (const struct logged_part *kept = flow->work.logged; kept; kept = kept->next) {
        unsigned logs = event_logs_on() & (kept->is_audited ? LOGS : 1u << EVENTS_ACCESS);
        void *event = logs && kept->event.ptr ? event_begin(logs, kept->event.len) : NULL;

        if (!event)
            continue;
        memcpy(event, kept->event.ptr, kept->event.len);
        event_finish();
    }
}
