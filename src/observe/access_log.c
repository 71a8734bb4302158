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

/* ---- parts of a batch: stored when a part has its response, logged after the batch ---- */

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
static void access_log_parts(const struct observed_request *request)
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

/* ---- which logs want it ---- */

static unsigned logs_of(const struct observed_request *request, uint64_t now_ns)
{
    const struct operation *operation = request->call->operation;
    unsigned logs = event_logs_on() & ACCESS_LOGS;

    if (!operation || operation->rights.effect != WRITES)
        logs &= ~(1u << EVENTS_AUDIT);
    if (now_ns - request->began_ns < slow_ns)
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

/* Log events other than requests executed here: SMB commands, forwarded requests, background
 * copies. */

static void put_texts(unsigned logs, const struct access_event *filled,
                      struct bytes texts[EVENT_TEXTS])
{
    struct access_event *event;
    size_t size = sizeof *event;

    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        if (texts[i].len > EVENT_TEXT_MAX)
            texts[i].len = EVENT_TEXT_MAX;
        size += texts[i].len;
    }
    event = event_begin(logs, size);
    if (!event)
        return;
    *event = *filled;
    access_event_put(event, texts);
    event_finish();
}

static void put(unsigned logs, const struct access_event *filled, struct bytes account,
                struct bytes path, struct bytes client)
{
    struct bytes texts[EVENT_TEXTS] = {
        [TEXT_ACCOUNT] = account, [TEXT_PATH] = path, [TEXT_CLIENT] = client
    };

    put_texts(logs, filled, texts);
}

void access_log_forwarded(const struct forwarded_request *forwarded)
{
    const struct request *request = forwarded->request;
    const struct access_event event = { .kind = EVENT_OF_FORWARD,
                                        .began = clock_wall() - forwarded->ns / 100,
                                        .service = forwarded->service,
                                        .code = forwarded->result,
                                        .request = request->id,
                                        .cell = forwarded->cell,
                                        .waited_ns = forwarded->waited_ns,
                                        .is_direct = forwarded->is_direct,
                                        .status = forwarded->status,
                                        .all_ns = forwarded->ns,
                                        .received = forwarded->received,
                                        .sent = forwarded->sent };
    unsigned logs = event_logs_on() & (1u << EVENTS_ACCESS | 1u << EVENTS_SLOW);
    struct bytes texts[EVENT_TEXTS] = {
        [TEXT_METHOD] = request->method_text,
        [TEXT_PATH] = request->path,
        [TEXT_CLIENT] = request->peer,
        [TEXT_CLIENT_REQUEST] =
            request_find_header(request, (struct bytes)BYTES("x-ms-client-request-id")),
        [TEXT_VIA] = bytes_from_string(forwarded->to),
    };

    if (forwarded->ns < slow_ns)
        logs &= ~(1u << EVENTS_SLOW);
    if (logs)
        put_texts(logs, &event, texts);
}

void access_log_copy(const char *service, const struct guid *id, struct bytes source, enum error e)
{
    const struct access_event event = { .kind = EVENT_OF_SERVER,
                                        .began = clock_wall(),
                                        .what = e ? "a copy in the background has failed"
                                                  : "a copy in the background is complete",
                                        .service = service,
                                        .other = *id,
                                        .error = e };
    unsigned logs = event_logs_on() & (1u << EVENTS_ACCESS | 1u << EVENTS_AUDIT);
    struct bytes query;

    bytes_cut(source, '?', &source, &query); /* the query authorizes the read */
    if (logs)
        put(logs, &event, bytes_of(NULL, 0), source, bytes_of(NULL, 0));
}

bool access_log_wants_smb(bool changes)
{
    return event_logs_on() & (1u << EVENTS_ACCESS | (changes ? 1u << EVENTS_AUDIT : 0u));
}

void access_log_smb(const struct smb_logged *logged)
{
    const struct access_event event = { .kind = EVENT_OF_SMB,
                                        .began = clock_wall(),
                                        .what = logged->command,
                                        .service = "smb",
                                        .code = logged->status,
                                        .handle = logged->handle };
    unsigned logs =
        event_logs_on() & (1u << EVENTS_ACCESS | (logged->changes ? 1u << EVENTS_AUDIT : 0u));

    if (logs)
        put(logs, &event, logged->account, logged->path, logged->client);
}
