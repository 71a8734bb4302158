/* Filling the events of the logs of requests: see access_log.h. */
#include "service/access_log.h"

#include <nettle/sha2.h>

#include "service/access_event.h"
#include "service/trace_parent.h"

/* Set at start-up: the threshold, as part of which logs there are. */
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

void access_log_begins(struct flow *flow)
{
    unsigned on = event_logs_on();

    flow->times.is_timed = on & (1u << EVENTS_ACCESS | 1u << EVENTS_SLOW);
    if (on)
        flow->began = clock_wall();
}

/* ---- what is kept ---- */

static struct bytes answered_etag(const struct response *response)
{
    const struct http_header *etag = response_find_header(response, bytes_from_string("ETag"));

    return etag ? etag->value : bytes_of(NULL, 0);
}

static void collect_texts(const struct flow *flow, struct bytes texts[EVENT_TEXTS])
{
    const struct request *request = &flow->exchange->request;
    const struct call *call = &flow->work.call;
    const struct identity *identity = &call->input.identity;

    texts[TEXT_ACCOUNT] = call->account_name;
    texts[TEXT_METHOD] = request->method_text;
    texts[TEXT_PATH] = request->path;
    texts[TEXT_CLIENT] = request->peer;
    texts[TEXT_CLIENT_REQUEST] = call_header(call, "x-ms-client-request-id");
    texts[TEXT_TRACE] = trace_parent_id(call_header(call, "traceparent"));
    texts[TEXT_OWNER] = identity->kind == IDENTITY_BEARER ? identity->oid : bytes_of(NULL, 0);
    texts[TEXT_POLICY] = identity->kind == IDENTITY_SAS ? identity->sas->policy : bytes_of(NULL, 0);
    texts[TEXT_ETAG] = answered_etag(&flow->exchange->response);
}

/* The rest of the room is for those whose length is bounded elsewhere; what is longer is cut. */
static size_t fit_texts(struct bytes texts[EVENT_TEXTS])
{
    static const uint16_t most[EVENT_TEXTS] = {
        [TEXT_ACCOUNT] = 64, [TEXT_METHOD] = 16, [TEXT_PATH] = EVENT_TEXT_MAX,
        [TEXT_CLIENT] = 64,  [TEXT_TRACE] = 32,  [TEXT_CLIENT_REQUEST] = EVENT_TEXT_MAX,
        [TEXT_OWNER] = 128,  [TEXT_POLICY] = 64, [TEXT_ETAG] = 64,
    };
    size_t size = 0;

    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        if (texts[i].len > most[i])
            texts[i].len = most[i];
        size += texts[i].len;
    }
    return size;
}

/* Which signature it was, without its being one. */
static void hash_signature(const struct call *call, uint8_t ret_hash[SAS_HASH_SIZE])
{
    struct bytes signature = call_query(call, "sig");
    struct sha256_ctx sha;

    sha256_init(&sha);
    sha256_update(&sha, signature.len, (const uint8_t *)signature.ptr);
    sha256_digest(&sha, SAS_HASH_SIZE, ret_hash);
}

static void fill(const struct flow *flow, uint64_t now_ns, struct access_event *event)
{
    const struct call *call = &flow->work.call;
    const struct exchange *exchange = flow->exchange;
    struct exchange_sent sent = exchange_sent(exchange);

    *event = (struct access_event){
        .began = flow->began,
        .service = call->endpoint->service->name,
        .operation = call->operation,
        .all_ns = now_ns - flow->began_ns,
        .received = flow->intake.received,
        .sent = sent.body_bytes,
        .request = call->request_id,
        .status = exchange->response.status,
        .error = flow->work.answer.error,
        .attempts = flow->work.decision.attempts,
        .identity = call->input.identity.kind,
        .is_timed = flow->times.is_timed,
        .is_forwarded = exchange->request.is_forwarded,
        .was_cut = !sent.is_whole,
    };
    memcpy(event->spent_ns, flow->times.spent_ns, sizeof event->spent_ns);
    if (event->identity != IDENTITY_SAS)
        return;
    event->sas = call->input.identity.sas->kind;
    hash_signature(call, event->sas_hash);
}

/* ---- which logs want it ---- */

static unsigned logs_of(const struct flow *flow, uint64_t now_ns)
{
    const struct operation *operation = flow->work.call.operation;
    unsigned logs = event_logs_on();

    if (!operation || operation->rights.effect != WRITES)
        logs &= ~(1u << EVENTS_AUDIT);
    if (now_ns - flow->began_ns < slow_ns)
        logs &= ~(1u << EVENTS_SLOW);
    return logs;
}

void access_log(const struct flow *flow, uint64_t now_ns)
{
    unsigned logs = logs_of(flow, now_ns);
    struct bytes texts[EVENT_TEXTS];
    struct access_event *event;
    char *to;

    if (logs == 0)
        return;
    collect_texts(flow, texts);
    event = event_begin(logs, sizeof *event + fit_texts(texts));
    if (!event)
        return;
    fill(flow, now_ns, event);
    to = (char *)(event + 1);
    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        event->lengths[i] = (uint16_t)texts[i].len;
        if (texts[i].len > 0)
            memcpy(to, texts[i].ptr, texts[i].len);
        to += texts[i].len;
    }
    event_finish();
}
