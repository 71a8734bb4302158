/* Fills in the events of the request logs: see access_log.h. */
#include "observe/access_log.h"

#include "observe/access_event.h"

/* Threshold of the slow log. Set at start-up, together with the set of enabled logs. */
static uint64_t slow_ns;

const char *access_logs_open(const struct access_log_options *options)
{
    const struct {
        enum event_log log;
        const char *path;
    } files[] = { { EVENTS_ACCESS, options->access_path }, { EVENTS_AUDIT, options->audit_path } };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path && !event_log_open(files[i].log, files[i].path, access_line_write))
            return files[i].path;
    }
    slow_ns = options->slow_ns;
    if (slow_ns > 0)
        event_log_open(EVENTS_SLOW, NULL, access_line_write);
    return NULL;
}

void audit_note(const char *what, struct bytes account)
{
    struct access_event *event;

    if (!(event_logs_on() & 1u << EVENTS_AUDIT))
        return;
    if (account.len > ACCOUNT_NAME_MAX)
        account.len = ACCOUNT_NAME_MAX;
    event = event_begin(1u << EVENTS_AUDIT, sizeof *event + account.len);
    if (!event)
        return;
    *event = (struct access_event){ .kind = EVENT_OF_SERVER, .began = clock_wall(), .what = what };
    event->lengths[TEXT_ACCOUNT] = (uint16_t)account.len;
    if (account.len > 0)
        memcpy(event + 1, account.ptr, account.len);
    event_finish();
}

void access_log_begins(struct observed_request *request)
{
    unsigned on = event_logs_on() & ACCESS_LOGS;

    request->times.is_timed = on & (1u << EVENTS_ACCESS | 1u << EVENTS_SLOW);
    if (on)
        request->began = clock_wall();
}

static void fill(const struct observed_request *request, uint64_t now_ns,
                 struct access_event *event)
{
    const struct call *call = request->call;
    const struct exchange *exchange = request->exchange;
    struct exchange_sent sent = exchange_sent(exchange);

    *event = (struct access_event){
        .began = request->began,
        .service = call->endpoint->service->name,
        .operation = call->operation,
        .all_ns = now_ns - request->began_ns,
        .received = request->received,
        .sent = sent.body_bytes,
        .request = call->request_id,
        .status = exchange->response.status,
        .error = request->answer->error,
        .attempts = request->attempts,
        .is_timed = request->times.is_timed,
        .was_cut = !sent.is_whole,
    };
    memcpy(event->spent_ns, request->times.spent_ns, sizeof event->spent_ns);
    access_event_identify(event, call);
}

/* ---- which logs want it ---- */

bool access_log_is_slow(uint64_t ns)
{
    return ns >= slow_ns;
}

static unsigned logs_of(const struct observed_request *request, uint64_t now_ns)
{
    const struct operation *operation = request->call->operation;
    unsigned logs = event_logs_on() & ACCESS_LOGS;

    if (!operation || operation->rights.effect != WRITES)
        logs &= ~(1u << EVENTS_AUDIT);
    if (!access_log_is_slow(now_ns - request->began_ns))
        logs &= ~(1u << EVENTS_SLOW);
    return logs;
}

void access_log(const struct observed_request *request, uint64_t now_ns)
{
    unsigned logs = logs_of(request, now_ns);
    struct bytes texts[EVENT_TEXTS];
    struct access_event *event;

    if (logs == 0)
        return;
    event =
        event_begin(logs, sizeof *event + access_event_texts(request->call,
                                                             &request->exchange->response, texts));
    if (!event)
        return;
    fill(request, now_ns, event);
    access_event_put(event, texts);
    event_finish();
    access_log_parts(request);
}
