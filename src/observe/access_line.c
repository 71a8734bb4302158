/* Formats an event of the request logs as a line: see access_event.h. Allocates nothing except the
 * line. */
#include <inttypes.h>

#include "base/json.h"
#include "observe/access_event.h"

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

/* A line has about thirty members. Each name includes its punctuation, so that it is written with
 * one copy. The first member of an object is written without this macro. */
#define MEMBER(name) ((struct bytes)BYTES(",\"" name "\":"))

/* Writes a string of the server's own, which needs no escaping, without scanning it. */
static void write_plain(struct text *line, struct bytes member, struct bytes value)
{
    text_add(line, member);
    text_add_char(line, '"');
    text_add(line, value);
    text_add_char(line, '"');
}

static void write_name(struct text *line, struct bytes member, const char *value)
{
    write_plain(line, member, bytes_from_string(value));
}

static void write_number(struct text *line, struct bytes member, uint64_t number)
{
    text_add(line, member);
    text_add_u64(line, number);
}

static void write_true(struct text *line, struct bytes member)
{
    text_add(line, member);
    text_add_string(line, "true");
}

static void write_guid(struct text *line, struct bytes member, const struct guid *guid)
{
    char text[GUID_TEXT_SIZE];

    guid_format(guid, text);
    write_plain(line, member, bytes_of(text, GUID_TEXT_SIZE - 1));
}

/* Writes a string from the client. Bytes that are not valid UTF-8 are written as %XX, which is how
 * the client sent them or should have sent them. */
static void write_text(struct text *line, struct bytes member, struct bytes text)
{
    static const char hex[] = "0123456789ABCDEF";

    if (text.len == 0)
        return;
    text_add(line, member);
    if (bytes_is_utf8(text)) {
        json_write_string(line, text);
        return;
    }
    text_add_char(line, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        const char escaped[] = { '%', hex[c >> 4], hex[c & 15] };

        if (c < 0x80)
            json_write_text(line, bytes_of(text.ptr + i, 1));
        else
            text_add(line, bytes_of(escaped, sizeof escaped));
    }
    text_add_char(line, '"');
}

/* Writes milliseconds with three decimals. Most values are below ten milliseconds and need one
 * copy. */
static void write_ms(struct text *line, struct bytes member, uint64_t ns)
{
    uint64_t us = ns / 1000;
    unsigned rest = (unsigned)(us % 1000);
    const char digits[] = { (char)('0' + us / 1000 % 10), '.', (char)('0' + rest / 100),
                            (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };

    text_add(line, member);
    if (us >= 10000)
        text_add_u64(line, us / 10000);
    text_add(line, bytes_of(digits, sizeof digits));
}

/* Writes the time, which starts the line. */
static void write_time(struct text *line, instant time)
{
    char text[INSTANT_ISO_SIZE];

    instant_format_iso(time, text);
    write_plain(line, (struct bytes)BYTES("{\"time\":"), bytes_of(text, INSTANT_ISO_SIZE - 1));
}

static void write_who(struct text *line, const struct access_event *event,
                      const struct texts *texts)
{
    static const char digits[] = "0123456789abcdef";
    char hash[2 * SAS_HASH_SIZE];

    write_text(line, MEMBER("account"), texts->of[TEXT_ACCOUNT]);
    write_name(line, MEMBER("authorization"), identity_name(event));
    if (event->identity == IDENTITY_SAS) {
        for (size_t i = 0; i < SAS_HASH_SIZE; i++) {
            hash[2 * i] = digits[event->sas_hash[i] >> 4];
            hash[2 * i + 1] = digits[event->sas_hash[i] & 15];
        }
        write_plain(line, MEMBER("sas"), bytes_of(hash, sizeof hash));
    }
    write_text(line, MEMBER("policy"), texts->of[TEXT_POLICY]);
    write_text(line, MEMBER("owner"), texts->of[TEXT_OWNER]);
    write_text(line, MEMBER("client"), texts->of[TEXT_CLIENT]);
    if (event->is_forwarded)
        write_true(line, MEMBER("forwarded"));
    write_text(line, MEMBER("via"), texts->of[TEXT_VIA]);
}

static void write_request(struct text *line, const struct access_event *event,
                          const struct texts *texts)
{
    write_name(line, MEMBER("service"), event->service);
    write_name(line, MEMBER("operation"), operation_name(event));
    write_who(line, event, texts);
    if (event->kind == EVENT_OF_PART)
        write_guid(line, MEMBER("batch"), &event->other);
    write_text(line, MEMBER("method"), texts->of[TEXT_METHOD]);
    write_text(line, MEMBER("path"), texts->of[TEXT_PATH]);
    write_guid(line, MEMBER("request"), &event->request);
    write_text(line, MEMBER("clientRequest"), texts->of[TEXT_CLIENT_REQUEST]);
    write_text(line, MEMBER("trace"), texts->of[TEXT_TRACE]);
    write_number(line, MEMBER("status"), (uint64_t)event->status);
    if (event->error)
        write_name(line, MEMBER("code"), error_code(event->error));
    write_text(line, MEMBER("etag"), texts->of[TEXT_ETAG]);
}

static void write_times(struct text *line, const struct access_event *event)
{
    static const struct bytes stages[REQUEST_STAGES] = {
        [AT_HEAD] = BYTES(",\"head\":"),     [AT_BODY] = BYTES(",\"read\":"),
        [AT_STAGED] = BYTES(",\"staged\":"), [AT_THREAD] = BYTES(",\"thread\":"),
        [AT_DECIDE] = BYTES(",\"decide\":"), [AT_OTHERS] = BYTES(",\"others\":"),
        [AT_SYNC] = BYTES(",\"sync\":"),     [AT_ANSWER] = BYTES(",\"answer\":"),
        [AT_SEND] = BYTES(",\"send\":"),
    };
    bool is_first = true;

    write_ms(line, MEMBER("ms"), event->all_ns);
    if (!event->is_timed)
        return;
    text_add(line, MEMBER("stages"));
    text_add_char(line, '{');
    for (size_t i = 0; i < REQUEST_STAGES; i++) {
        if (event->spent_ns[i] == 0)
            continue;
        write_ms(line, is_first ? bytes_from(stages[i], 1) : stages[i], event->spent_ns[i]);
        is_first = false;
    }
    text_add_char(line, '}');
}

/* Writes an event of the server itself: about an account, or about a copy. */
static void write_event(struct text *line, const struct access_event *event,
                        const struct texts *texts)
{
    static const struct guid none;

    write_name(line, MEMBER("event"), event->what);
    write_text(line, MEMBER("account"), texts->of[TEXT_ACCOUNT]);
    if (event->service)
        write_name(line, MEMBER("service"), event->service);
    if (!guid_equal(&event->other, &none)) {
        write_guid(line, MEMBER("copy"), &event->other);
        write_text(line, MEMBER("source"), texts->of[TEXT_PATH]);
    }
    if (event->error)
        write_name(line, MEMBER("code"), error_code(event->error));
}

static void write_smb(struct text *line, const struct access_event *event,
                      const struct texts *texts)
{
    write_name(line, MEMBER("service"), event->service);
    write_name(line, MEMBER("operation"), event->what);
    write_text(line, MEMBER("account"), texts->of[TEXT_ACCOUNT]);
    write_text(line, MEMBER("client"), texts->of[TEXT_CLIENT]);
    write_text(line, MEMBER("path"), texts->of[TEXT_PATH]);
    if (event->handle > 0)
        write_number(line, MEMBER("handle"), event->handle);
    write_name(line, MEMBER("code"), event->code);
}

/* Writes a forwarded request. Authorization and operation are logged by the owner. */
static void write_forward(struct text *line, const struct access_event *event,
                          const struct texts *texts)
{
    write_name(line, MEMBER("service"), event->service);
    write_name(line, MEMBER("operation"), "forward");
    write_name(line, MEMBER("result"), event->code);
    write_number(line, MEMBER("cell"), event->cell);
    write_text(line, MEMBER("to"), texts->of[TEXT_VIA]);
    write_text(line, MEMBER("client"), texts->of[TEXT_CLIENT]);
    write_text(line, MEMBER("method"), texts->of[TEXT_METHOD]);
    write_text(line, MEMBER("path"), texts->of[TEXT_PATH]);
    write_guid(line, MEMBER("request"), &event->request);
    write_text(line, MEMBER("clientRequest"), texts->of[TEXT_CLIENT_REQUEST]);
    write_number(line, MEMBER("status"), (uint64_t)event->status);
    write_ms(line, MEMBER("waited"), event->waited_ns);
    if (event->is_direct)
        write_true(line, MEMBER("direct"));
    write_number(line, MEMBER("received"), event->received);
    write_number(line, MEMBER("sent"), event->sent);
    write_ms(line, MEMBER("ms"), event->all_ns);
}

static void write_bytes_and_times(enum event_log log, const struct access_event *event,
                                  struct text *line)
{
    write_number(line, MEMBER("received"), event->received);
    if (log == EVENTS_ACCESS) {
        write_number(line, MEMBER("sent"), event->sent);
        if (event->attempts > 1)
            write_number(line, MEMBER("decided"), event->attempts);
        write_times(line, event);
    }
    if (event->was_cut)
        write_true(line, MEMBER("cut"));
}

static void write_json(enum event_log log, const struct access_event *event, struct text *line)
{
    const struct texts texts = texts_of(event);

    write_time(line, event->began);
    if (event->kind == EVENT_OF_SERVER)
        write_event(line, event, &texts);
    else if (event->kind == EVENT_OF_SMB)
        write_smb(line, event, &texts);
    else if (event->kind == EVENT_OF_FORWARD)
        write_forward(line, event, &texts);
    else
        write_request(line, event, &texts);
    if (event->kind == EVENT_OF_REQUEST)
        write_bytes_and_times(log, event, line);
    text_add_char(line, '}');
}

/* ---- for people ---- */

static void add_ms(struct text *to, uint64_t ns)
{
    text_printf(to, "%" PRIu64 ".%" PRIu64 " ms", ns / 1000000, ns / 100000 % 10);
}

/* Writes a forwarded request; the stages are in the owner's log, under the same request id. */
static void write_slow_forward(const struct access_event *event, struct text *to)
{
    const struct texts texts = texts_of(event);
    char request[GUID_TEXT_SIZE];

    guid_format(&event->request, request);
    text_add_string(to, "slow: ");
    add_ms(to, event->all_ns);
    text_printf(
        to, " for a forwarded request of the %s service, %.*s %.*s, %d %s, from %.*s to cell %u",
        event->service, BYTES_ARG(texts.of[TEXT_METHOD]), BYTES_ARG(texts.of[TEXT_PATH]),
        event->status, event->code, BYTES_ARG(texts.of[TEXT_CLIENT]), (unsigned)event->cell);
    if (texts.of[TEXT_VIA].len > 0)
        text_printf(to, " at %.*s", BYTES_ARG(texts.of[TEXT_VIA]));
    text_add_string(to, ": sent after ");
    add_ms(to, event->waited_ns);
    text_printf(to, ", request %s", request);
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
    if (texts.of[TEXT_VIA].len > 0)
        text_printf(to, " via %.*s", BYTES_ARG(texts.of[TEXT_VIA]));
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

    if (log == EVENTS_SLOW && logged->kind == EVENT_OF_FORWARD)
        write_slow_forward(logged, to);
    else if (log == EVENTS_SLOW)
        write_slow(logged, to);
    else
        write_json(log, logged, to);
}
