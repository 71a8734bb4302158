/* Parts of batches in the logs: each is kept as an event when it is answered, and logged behind the request that all
 * came by, once that is over. */
#include "service/access_event.h"

#define LOGS (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT)

/* Of one part: the newest answer to it counts, if it had to be decided again. */
struct logged_part {
    struct logged_part *next;
    const struct work *part;
    struct bytes event;
    bool is_audited;
};

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

void access_log_keep_part(struct work *whole, const struct work *part,
                          const struct response *response)
{
    const struct operation *operation = part->call.operation;
    struct bytes texts[EVENT_TEXTS];
    struct logged_part *kept;
    struct access_event *event;
    size_t size;

    if (!(event_logs_on() & LOGS))
        return;
    size = sizeof *event + access_event_texts(&part->call, response, texts);
    event = arena_alloc(whole->call.arena, size);
    *event = (struct access_event){
        .kind = EVENT_OF_PART,
        .began = clock_wall(),
        .service = whole->call.endpoint->service->name,
        .operation = operation,
        .request = part->call.request_id,
        .other = whole->call.request_id,
        .status = response->status,
        .error = part->answer.error,
    };
    access_event_identify(event, &part->call);
    access_event_put(event, texts);
    kept = place_of(whole, part);
    kept->event = bytes_of(event, size);
    kept->is_audited = operation && operation->rights.effect == WRITES;
}

/* Where the whole was refused, or nobody knows what became of it, nothing is said of its parts. */
void access_log_parts(const struct flow *flow)
{
    if (flow->work.answer.error || !flow->exchange->response.status)
        return;
    for (const struct logged_part *kept = flow->work.logged; kept; kept = kept->next) {
        unsigned logs = event_logs_on() & (kept->is_audited ? LOGS : 1u << EVENTS_ACCESS);
        void *event = logs ? event_begin(logs, kept->event.len) : NULL;

        if (!event)
            continue;
        memcpy(event, kept->event.ptr, kept->event.len);
        event_finish();
    }
}
