/* Logs the parts of a batch. The event of each part is stored when its response is ready, and
 * logged after the batch itself once that has ended. */
#include "observe/access_event.h"

#define LOGS (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT)

/* Finds or adds the entry of a part. If a part is decided again, its newest response replaces the
 * earlier one. */
static struct logged_part *entry_of(struct logged_part **parts, const struct call *whole,
                                    const struct call *part)
{
    struct logged_part **at = parts;

    while (*at && (*at)->part != part)
        at = &(*at)->next;
    if (!*at)
        *at = arena_alloc(whole->arena, sizeof **at);
    (*at)->part = part;
    return *at;
}

static struct bytes access_event_of(const struct call *whole, const struct answer *part)
{
    struct bytes texts[EVENT_TEXTS];
    struct access_event *event;
    size_t size;

    if (!(event_logs_on() & LOGS))
        return bytes_of(NULL, 0);
    size = sizeof *event + access_event_texts(part->call, part->response, texts);
    event = arena_alloc(whole->arena, size);
    *event = (struct access_event){
        .kind = EVENT_OF_PART,
        .began = clock_wall(),
        .service = whole->endpoint->service->name,
        .operation = part->call->operation,
        .request = part->call->request_id,
        .other = whole->request_id,
        .status = part->response->status,
        .error = part->error,
    };
    access_event_identify(event, part->call);
    access_event_put(event, texts);
    return bytes_of(event, size);
}

void observe_part(struct logged_part **parts, const struct call *whole, const struct answer *part)
{
    const struct operation *operation = part->call->operation;
    struct bytes event = access_event_of(whole, part);
    struct bytes analytics = analytics_of_part(whole, part);
    struct logged_part *kept;

    if (!event.ptr && !analytics.ptr)
        return;
    kept = entry_of(parts, whole, part->call);
    kept->event = event;
    kept->is_audited = operation && operation->rights.effect == WRITES;
    kept->analytics = analytics;
}

/* Logs the parts, unless the entire batch was refused or has no response, so that the outcome of
 * its parts is unknown. */
void access_log_parts(const struct observed_request *request)
{
    if (request->answer->error || !request->exchange->response.status)
        return;
    for (const struct logged_part *kept = request->parts; kept; kept = kept->next) {
        unsigned logs = event_logs_on() & (kept->is_audited ? LOGS : 1u << EVENTS_ACCESS);
        void *event = logs && kept->event.ptr ? event_begin(logs, kept->event.len) : NULL;

        if (!event)
            continue;
        memcpy(event, kept->event.ptr, kept->event.len);
        event_finish();
    }
}
