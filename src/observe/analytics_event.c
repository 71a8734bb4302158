/* Fills in the events of Storage Analytics: see analytics_event.h. */
#include "observe/analytics_event.h"

#include "observe/observed_request.h"

/* Converts a command name such as "QUERY_INFO" to "QueryInfo", as in the logs of Azure Files. */
static void command_name(const char *command, char buffer[ANALYTICS_NAME_SIZE])
{
    size_t length = 0;
    bool begins = true;

    for (; *command && length < ANALYTICS_NAME_SIZE - 1; command++) {
        if (*command != '_')
            buffer[length++] = begins ? *command : (char)(*command | 0x20);
        begins = *command == '_';
    }
    buffer[length] = '\0';
}

void analytics_name(const struct analytics_event *event, char buffer[ANALYTICS_NAME_SIZE])
{
    const struct operation *operation = event->operation;
    const char *name = "Unknown";
    size_t length = 0;

    if (event->command) {
        command_name(event->command, buffer);
        return;
    }
    if (operation)
        name = operation->logged_as ? operation->logged_as : operation->name;
    for (; *name && length < ANALYTICS_NAME_SIZE - 1; name++)
        if (*name != ' ')
            buffer[length++] = *name;
    buffer[length] = '\0';
}

/* ---- events that are only counted ---- */

bool analytics_counts(const struct account *account, unsigned service)
{
    return account_note(account) >> ANALYTICS_BITS * service & ANALYTICS_METRICS;
}

void analytics_count(const struct analytics_event *event)
{
    struct analytics_event *to;

    if (!(event_logs_on() & 1u << EVENTS_ANALYTICS))
        return;
    to = event_begin(1u << EVENTS_ANALYTICS, sizeof *event);
    if (!to)
        return;
    *to = *event;
    event_finish();
}

/* ---- description of the request ---- */

/* Returns the endpoint whose service has the settings, the logs and the metrics: for the Data Lake
 * endpoint, that of the Blob service. NULL if it is not served. decision: 1373 */
static const struct endpoint *settings_of(const struct call *call)
{
    const struct endpoint *endpoint = call->endpoint;

    if (!endpoint->all || !endpoint->service->data_of)
        return endpoint->all ? endpoint : NULL;
    return endpoint_find(endpoint->all, bytes_from_string(endpoint->service->data_of));
}

static uint32_t wanted(const struct call *call)
{
    const struct endpoint *settings = call->account ? settings_of(call) : NULL;

    if (!settings)
        return 0;
    return account_note(call->account) >> ANALYTICS_BITS * (settings - settings->all->endpoints);
}

void analytics_begins(struct observed_request *request)
{
    if (wanted(request->call) & (ANALYTICS_LOGS | ANALYTICS_METRICS))
        request->times.is_timed = true;
}

/* Returns the operation, even of a request that was refused before its operation was looked up. */
static const struct operation *operation_of(const struct call *call)
{
    enum error e;

    if (call->operation || !call->input.resource)
        return call->operation;
    return operation_find(call->service, call, &e);
}

static enum analytics_kind kind_of(const struct call *call, const struct operation *operation)
{
    if (call->method == METHOD_DELETE)
        return LOGS_DELETES;
    return operation && operation->rights.effect == WRITES ? LOGS_WRITES : LOGS_READS;
}

/* Returns the kind of authorization that the request claimed, even if it was refused. */
static enum analytics_who who_of(const struct call *call, bool *ret_is_bearer)
{
    struct bytes authorization = call_header(call, "authorization");

    *ret_is_bearer =
        authorization.len > 7 && bytes_is_nocase(bytes_of(authorization.ptr, 7), "Bearer ");
    if (authorization.ptr)
        return WHO_AUTHORIZED;
    return call_query(call, "sig").ptr ? WHO_SAS : WHO_ANONYMOUS;
}

static enum analytics_outcome outcome_of(int status, enum error error)
{
    if (status == 0)
        return OUTCOME_NETWORK;
    if (status == 503)
        return OUTCOME_THROTTLING;
    if (status >= 500)
        return error == E_OperationTimedOut ? OUTCOME_SERVER_TIMEOUT : OUTCOME_SERVER_OTHER;
    if (status == 401 || status == 403)
        return OUTCOME_AUTHORIZATION;
    return status >= 300 ? OUTCOME_CLIENT_OTHER : OUTCOME_SUCCESS;
}

/* Anonymous requests are logged only in these cases: "All other failed anonymous requests are not
 * logged." source: storage-analytics-logging */
static bool is_of_interest(const struct analytics_event *event)
{
    return event->who != WHO_ANONYMOUS || event->outcome == OUTCOME_SUCCESS ||
           event->status >= 500 || event->status == 304;
}

/* Describes the request and its response. */
static void describe(const struct call *call, int status, enum error error,
                     struct analytics_event *event)
{
    const struct endpoint *settings = settings_of(call);
    const struct operation *operation = operation_of(call);
    uint32_t bits = wanted(call);

    *event = (struct analytics_event){
        .account = call->account,
        .service = (unsigned)(settings - settings->all->endpoints),
        .service_name = settings->service->name,
        .operation = operation,
        .kind = kind_of(call, operation),
        .is_counted = bits & ANALYTICS_METRICS,
        .outcome = outcome_of(status, error),
        .error = error,
        .status = status,
        .says_code = call_since(call, "2017-04-17"),
        .ended = clock_wall(),
        .content_length = call->request->content_length,
        .request = call->request_id,
    };
    event->who = who_of(call, &event->is_bearer);
    event->is_logged = bits & event->kind && is_of_interest(event);
}

static void fill(const struct observed_request *request, uint64_t now_ns,
                 struct analytics_event *event)
{
    const struct call *call = request->call;
    struct exchange_sent sent = exchange_sent(request->exchange);

    describe(call, sent.head_bytes > 0 ? request->exchange->response.status : 0,
             request->answer->error, event);
    if (!sent.is_whole) {
        event->outcome = OUTCOME_NETWORK;
        event->is_logged = event->is_logged && is_of_interest(event);
    }
    event->all_ns = now_ns - request->began_ns;
    event->received = request->received;
    event->sent = sent.body_bytes;
    event->request_head_bytes = call->request->head_bytes;
    event->response_head_bytes = sent.head_bytes;
    if (request->times.is_timed)
        event->wire_ns = request->times.spent_ns[AT_BODY] + request->times.spent_ns[AT_SEND];
}

/* ---- strings ---- */

/* Adds the query, without the value of "sig". */
static void add_query(struct text *to, struct bytes query)
{
    char before = '?';

    while (query.ptr) {
        struct bytes parameter, name, value;

        bytes_cut(query, '&', &parameter, &query);
        bytes_cut(parameter, '=', &name, &value);
        text_add_char(to, before);
        if (bytes_is_nocase(name, "sig"))
            text_add_string(to, "sig=XXXXX");
        else
            text_add(to, parameter);
        before = '&';
    }
}

static struct bytes url_of(const struct call *call)
{
    const struct request *request = call->request;
    struct text url;

    text_init(&url, call->arena, request->path.len + request->query.len + 128);
    text_add_string(&url, request->secure ? "https://" : "http://");
    text_add(&url, request->authority);
    text_add(&url, request->path);
    add_query(&url, request->query);
    return text_bytes(&url);
}

static struct bytes key_of(const struct call *call)
{
    struct bytes container = { NULL, 0 }, object = { NULL, 0 };
    struct text key;

    if (call->input.resource && call->service->names)
        call->service->names(call->input.resource, &container, &object);
    text_init(&key, call->arena, container.len + object.len + 80);
    text_add_char(&key, '/');
    text_add(&key, call->account_name);
    if (container.ptr) {
        text_add_char(&key, '/');
        text_add(&key, container);
    }
    if (object.ptr) {
        text_add_char(&key, '/');
        text_add(&key, object);
    }
    return text_bytes(&key);
}

static struct bytes conditions_of(const struct call *call)
{
    static const char *const names[] = { "If-Modified-Since", "If-Unmodified-Since", "If-Match",
                                         "If-None-Match" };
    static const char *const headers[] = { "if-modified-since", "if-unmodified-since", "if-match",
                                           "if-none-match" };
    struct text text;

    text_init(&text, call->arena, 64);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = call_header(call, headers[i]);

        if (!value.ptr)
            continue;
        if (text.len > 0)
            text_add_char(&text, ';');
        text_add_string(&text, names[i]);
        text_add_char(&text, '=');
        text_add(&text, value);
    }
    return text_bytes(&text);
}

static struct bytes answered(const struct response *response, const char *name)
{
    const struct http_header *header = response_find_header(response, bytes_from_string(name));

    return header ? header->value : bytes_of(NULL, 0);
}

/* Truncates every string to its limit. Returns their total size in bytes. */
static size_t cut_texts(struct bytes texts[ANALYTICS_TEXTS])
{
    static const uint16_t most[ANALYTICS_TEXTS] = {
        [ANALYTICS_URL] = ANALYTICS_URL_MAX,
        [ANALYTICS_KEY] = ANALYTICS_URL_MAX,
        [ANALYTICS_SOURCE] = ANALYTICS_TEXT_MAX,
        [ANALYTICS_CLIENT] = 64,
        [ANALYTICS_VERSION] = 32,
        [ANALYTICS_REQUEST_MD5] = 64,
        [ANALYTICS_SERVER_MD5] = 64,
        [ANALYTICS_ETAG] = 64,
        [ANALYTICS_MODIFIED] = 64,
        [ANALYTICS_CONDITIONS] = ANALYTICS_TEXT_MAX,
        [ANALYTICS_AGENT] = ANALYTICS_TEXT_MAX,
        [ANALYTICS_REFERRER] = ANALYTICS_TEXT_MAX,
        [ANALYTICS_CLIENT_REQUEST] = ANALYTICS_TEXT_MAX,
        [ANALYTICS_OWNER] = 128,
        [ANALYTICS_TENANT] = 128,
    };
    size_t size = 0;

    for (size_t i = 0; i < ANALYTICS_TEXTS; i++) {
        if (texts[i].len > most[i])
            texts[i].len = most[i];
        size += texts[i].len;
    }
    return size;
}

/* Collects the strings of a request. Returns their total size in bytes. */
static size_t collect_texts(const struct call *call, const struct response *response,
                            struct bytes texts[ANALYTICS_TEXTS])
{
    const struct identity *identity = &call->input.identity;
    struct bytes source = call_header(call, "x-ms-copy-source"), query;
    struct bytes md5 = call_header(call, "content-md5");

    bytes_cut(source, '?', &source, &query); /* the query authorizes the read */
    texts[ANALYTICS_URL] = url_of(call);
    texts[ANALYTICS_KEY] = key_of(call);
    texts[ANALYTICS_SOURCE] = source;
    texts[ANALYTICS_CLIENT] = call->request->peer;
    texts[ANALYTICS_VERSION] = call->version;
    texts[ANALYTICS_REQUEST_MD5] = md5.ptr ? md5 : call_header(call, "x-ms-content-md5");
    texts[ANALYTICS_SERVER_MD5] = answered(response, "Content-MD5");
    texts[ANALYTICS_ETAG] = answered(response, "ETag");
    texts[ANALYTICS_MODIFIED] = answered(response, "Last-Modified");
    texts[ANALYTICS_CONDITIONS] = conditions_of(call);
    texts[ANALYTICS_AGENT] = call_header(call, "user-agent");
    texts[ANALYTICS_REFERRER] = call_header(call, "referer");
    texts[ANALYTICS_CLIENT_REQUEST] = call_header(call, "x-ms-client-request-id");
    texts[ANALYTICS_OWNER] = texts[ANALYTICS_TENANT] = bytes_of(NULL, 0);
    if (identity->kind == IDENTITY_BEARER) {
        texts[ANALYTICS_OWNER] = identity->oid;
        texts[ANALYTICS_TENANT] = identity->tid;
    }
    return cut_texts(texts);
}

static void put(struct analytics_event *event, const struct bytes texts[ANALYTICS_TEXTS])
{
    char *to = (char *)(event + 1);

    for (size_t i = 0; i < ANALYTICS_TEXTS; i++) {
        event->lengths[i] = (uint16_t)texts[i].len;
        if (texts[i].len > 0)
            memcpy(to, texts[i].ptr, texts[i].len);
        to += texts[i].len;
    }
}

/* ---- to the log ---- */

static bool is_wanted(const struct call *call)
{
    return wanted(call) & (ANALYTICS_LOGS | ANALYTICS_METRICS) &&
           event_logs_on() & 1u << EVENTS_ANALYTICS;
}

/* An entity group transaction is logged as one request, because Azure's lists of logged operations
 * and of billed transactions have no entry for its parts. Each part of a Blob Batch is logged.
 * decision: 576 */
struct bytes analytics_of_part(const struct call *whole, const struct answer *part)
{
    struct bytes texts[ANALYTICS_TEXTS] = { { NULL, 0 } };
    struct analytics_event event, *kept;
    size_t size = 0;

    if (whole->operation->functions->batch->whole || !is_wanted(part->call))
        return bytes_of(NULL, 0);
    describe(part->call, part->response->status, part->error, &event);
    if (!event.is_logged && !event.is_counted)
        return bytes_of(NULL, 0);
    if (event.is_logged)
        size = collect_texts(part->call, part->response, texts);
    kept = arena_alloc(whole->arena, sizeof event + size);
    *kept = event;
    put(kept, texts);
    return bytes_of(kept, sizeof event + size);
}

/* Logs the parts, each with the batch's end time. Their bytes are included in the batch's. */
static void log_parts(const struct observed_request *request, const struct analytics_event *whole)
{
    if (request->answer->error)
        return;
    for (const struct logged_part *kept = request->parts; kept; kept = kept->next) {
        size_t size = kept->analytics.len;
        struct analytics_event *event =
            kept->analytics.ptr ? event_begin(1u << EVENTS_ANALYTICS, size) : NULL;

        if (!event)
            continue;
        memcpy(event, kept->analytics.ptr, size);
        event->ended = whole->ended;
        event->all_ns = whole->all_ns;
        event->wire_ns = whole->wire_ns;
        if (whole->outcome == OUTCOME_NETWORK)
            event->outcome = OUTCOME_NETWORK;
        event_finish();
    }
}

void analytics_log(const struct observed_request *request, uint64_t now_ns)
{
    const struct call *call = request->call;
    struct bytes texts[ANALYTICS_TEXTS] = { { NULL, 0 } };
    struct analytics_event event, *left;
    size_t size = 0;

    if (!is_wanted(call))
        return;
    fill(request, now_ns, &event);
    if (event.is_logged)
        size = collect_texts(call, &request->exchange->response, texts);
    left = event.is_logged || event.is_counted
               ? event_begin(1u << EVENTS_ANALYTICS, sizeof event + size)
               : NULL;
    if (left) {
        *left = event;
        put(left, texts);
        event_finish();
    }
    log_parts(request, &event);
}
