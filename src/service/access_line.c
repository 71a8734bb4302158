/* An event of the logs of requests as a line: see access_event.h. Nothing is allocated but the line. */
#include <inttypes.h>

#include "base/json.h"
#include "service/access_event.h"

static const char *const stage_names[REQUEST_STAGES] = {
    [AT_HEAD] = "head",     [AT_BODY] = "read",     [AT_STAGED] = "staged",
    [AT_THREAD] = "thread", [AT_DECIDE] = "decide", [AT_OTHERS] = "others",
    [AT_SYNC] = "sync",     [AT_ANSWER] = "answer", [AT_SEND] = "send",
};

struct texts {
    struct bytes of[EVENT_TEXTS];
};

static struct texts texts_of(const struct access_event *event)
{
    const char *at = (const char *)(event + 1);
    struct texts texts;

    for (size_t i = 0; i < EVENT_TEXTS; i++) {
        texts.of[i] = bytes_of(at, event->lengths[i]);
        at += event->lengths[i];
    }
    return texts;
}

static const char *operation_name(const struct access_event *event)
{
    return event->operation ? event->operation->name : "none";
}

static const char *identity_name(const struct access_event *event)
{
    static const char *const names[] = {
        [IDENTITY_ANONYMOUS] = "none", [IDENTITY_ACCOUNT_KEY] = "key", [IDENTITY_BEARER] = "bearer"
    };
    static const char *const sas_names[] = { [SAS_ACCOUNT] = "account sas",
                                             [SAS_SERVICE] = "service sas",
                                             [SAS_DELEGATION] = "user delegation sas" };

    return event->identity == IDENTITY_SAS ? sas_names[event->sas] : names[event->identity];
}

/* ---- JSON ---- */

/* Bytes that are no UTF-8 stand as %XX: a client has sent them so, or ought to have. */
static void write_text(struct json_writer *line, const char *name, struct bytes text)
{
    static const char hex[] = "0123456789ABCDEF";

    if (text.len == 0)
        return;
    if (bytes_is_utf8(text)) {
        json_write_member(line, name, text);
        return;
    }
    json_write_name(line, name);
    text_add_char(line->to, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        const char escaped[] = { '%', hex[c >> 4], hex[c & 15] };

        if (c < 0x80)
            json_write_text(line->to, bytes_of(text.ptr + i, 1));
        else
            text_add(line->to, bytes_of(escaped, sizeof escaped));
    }
    text_add_char(line->to, '"');
    line->follows = true;
}

static void write_name(struct json_writer *line, const char *name, const char *value)
{
    json_write_member(line, name, bytes_from_string(value));
}

/* With microseconds. */
static void write_ms(struct json_writer *line, const char *name, uint64_t ns)
{
    uint64_t us = ns / 1000;
    const char fraction[] = { '.', (char)('0' + us % 1000 / 100), (char)('0' + us % 100 / 10),
                              (char)('0' + us % 10) };

    json_write_number(line, name, us / 1000);
    text_add(line->to, bytes_of(fraction, sizeof fraction));
}

static void write_time(struct json_writer *line, instant time)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(time, text);
    write_name(line, "time", text);
}

static void write_who(struct json_writer *line, const struct access_event *event,
                      const struct texts *texts)
{
    static const char digits[] = "0123456789abcdef";
    char hash[2 * SAS_HASH_SIZE];

    write_text(line, "account", texts->of[TEXT_ACCOUNT]);
    write_name(line, "authorization", identity_name(event));
    if (event->identity == IDENTITY_SAS) {
        for (size_t i = 0; i < SAS_HASH_SIZE; i++) {
            hash[2 * i] = digits[event->sas_hash[i] >> 4];
            hash[2 * i + 1] = digits[event->sas_hash[i] & 15];
        }
        write_text(line, "sas", bytes_of(hash, sizeof hash));
    }
    write_text(line, "policy", texts->of[TEXT_POLICY]);
    write_text(line, "owner", texts->of[TEXT_OWNER]);
    write_text(line, "client", texts->of[TEXT_CLIENT]);
    if (event->is_forwarded)
        json_write_bool(line, "forwarded", true);
}

static void write_request(struct json_writer *line, const struct access_event *event,
                          const struct texts *texts)
{
    char request[GUID_TEXT_SIZE];

    guid_format(&event->request, request);
    write_name(line, "service", event->service);
    write_name(line, "operation", operation_name(event));
    write_who(line, event, texts);
    write_text(line, "method", texts->of[TEXT_METHOD]);
    write_text(line, "path", texts->of[TEXT_PATH]);
    write_name(line, "request", request);
    write_text(line, "clientRequest", texts->of[TEXT_CLIENT_REQUEST]);
    write_text(line, "trace", texts->of[TEXT_TRACE]);
    json_write_number(line, "status", (uint64_t)event->status);
    if (event->error)
        write_name(line, "code", error_code(event->error));
    write_text(line, "etag", texts->of[TEXT_ETAG]);
}

static void write_times(struct json_writer *line, const struct access_event *event)
{
    write_ms(line, "ms", event->all_ns);
    if (!event->is_timed)
        return;
    json_write_name(line, "stages");
    json_write_begin(line, '{');
    for (size_t i = 0; i < REQUEST_STAGES; i++) {
        if (event->spent_ns[i] > 0)
            write_ms(line, stage_names[i], event->spent_ns[i]);
    }
    json_write_end(line, '}');
}

static void write_json(enum event_log log, const struct access_event *event, struct text *to)
{
    const struct texts texts = texts_of(event);
    struct json_writer line = { .to = to };

    json_write_begin(&line, '{');
    write_time(&line, event->began);
    if (event->kind == EVENT_OF_SERVER) {
        write_name(&line, "event", event->what);
        write_text(&line, "account", texts.of[TEXT_ACCOUNT]);
        json_write_end(&line, '}');
        return;
    }
    write_request(&line, event, &texts);
    json_write_number(&line, "received", event->received);
    if (log == EVENTS_ACCESS) {
        json_write_number(&line, "sent", event->sent);
        if (event->attempts > 1)
            json_write_number(&line, "decided", event->attempts);
        write_times(&line, event);
    }
    if (event->was_cut)
        json_write_bool(&line, "cut", true);
    json_write_end(&line, '}');
}

/* ---- for people ---- */

static void add_ms(struct text *to, uint64_t ns)
{
    text_printf(to, "%" PRIu64 ".%" PRIu64 " ms", ns / 1000000, ns / 100000 % 10);
}

static void write_slow(const struct access_event *event, struct text *to)
{
    const struct texts texts = texts_of(event);
    char request[GUID_TEXT_SIZE];
    const char *before = ": ";

    guid_format(&event->request, request);
    text_add_string(to, "slow: ");
    add_ms(to, event->all_ns);
    text_printf(to, " for %s of the %s service, %.*s %.*s, %d%s%s, from %.*s",
                operation_name(event), event->service, BYTES_ARG(texts.of[TEXT_METHOD]),
                BYTES_ARG(texts.of[TEXT_PATH]), event->status, event->error ? " " : "",
                event->error ? error_code(event->error) : "", BYTES_ARG(texts.of[TEXT_CLIENT]));
    for (size_t i = 0; i < REQUEST_STAGES; i++) {
        if (event->spent_ns[i] < 100000)
            continue;
        text_printf(to, "%s%s ", before, stage_names[i]);
        add_ms(to, event->spent_ns[i]);
        before = ", ";
    }
    text_printf(to, "; decided %u times, request %s", event->attempts, request);
    if (texts.of[TEXT_CLIENT_REQUEST].len > 0)
        text_printf(to, ", of the client %.*s", BYTES_ARG(texts.of[TEXT_CLIENT_REQUEST]));
    if (texts.of[TEXT_TRACE].len > 0)
        text_printf(to, ", trace %.*s", BYTES_ARG(texts.of[TEXT_TRACE]));
    if (event->was_cut)
        text_add_string(to, "; its client did not get all of its answer");
}

void access_line_write(enum event_log log, struct bytes event, struct text *to)
{
    const struct access_event *logged = (const struct access_event *)(const void *)event.ptr;

    if (log == EVENTS_SLOW)
        write_slow(logged, to);
    else
        write_json(log, logged, to);
}
